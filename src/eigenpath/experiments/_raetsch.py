"""The six binary classification sets of the experiment, as stored, with what was published about them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = ["PUBLISHED", "SPLITS", "BenchmarkSet", "Published", "load_set"]

SPLITS = ("published", "random", "all")


class Published(NamedTuple):
    """Parameters of the benchmark and figures of the paper: error in percent, its deviation over 100 splits."""

    width: float
    C: float
    table1_kpm: tuple[float, float]
    table1_components: int
    table1_svm: tuple[float, float]
    table2_kpm: tuple[float, float]
    table2_svm: tuple[float, float]


PUBLISHED = {
    "banana": Published(1, 316.2, (10.73, 0.42), 15, (11.53, 0.66), (11.14, 0.73), (10.69, 0.67)),
    "breast-cancer": Published(50, 15.19, (26.51, 4.75), 24, (26.04, 4.74), (26.55, 4.43), (26.68, 5.23)),
    "diabetis": Published(20, 1, (23.37, 1.92), 11, (23.53, 1.73), (24.14, 1.86), (23.79, 2.01)),
    "flare-solar": Published(30, 1.023, (32.43, 1.85), 6, (32.43, 1.82), (32.70, 1.97), (32.62, 1.86)),
    "german": Published(55, 3.162, (23.59, 2.15), 14, (23.61, 2.07), (23.82, 2.23), (23.79, 2.12)),
    "heart": Published(120, 3.162, (16.89, 3.53), 10, (15.95, 3.26), (17.59, 3.30), (16.23, 3.18)),
}


class BenchmarkSet(NamedTuple):
    """Inputs ``X (n, d)``, labels ``y (n,)``, and rows of training and test part for each split."""

    name: str
    X: np.ndarray
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray


def load_set(folder: Path, name: str, splits: str = "published") -> BenchmarkSet:
    """Read ``name.npz``: the published splits it has, its random ones, or all, published first."""
    file = Path(folder) / f"{name}.npz"
    if not file.is_file():
        raise FileNotFoundError(f"--data {str(folder)!r} has no file {file.name}: name the folder that holds it.")
    with np.load(file) as arrays:
        kinds = {"published": ("",), "random": ("random_",), "all": ("", "random_")}[splits]
        try:
            train, test = (
                np.concatenate([arrays[f"{kind}{part}_index"] for kind in kinds]) for part in ("train", "test")
            )
            return BenchmarkSet(name, arrays["X"].astype(np.float64), arrays["y"], train.astype(int), test.astype(int))
        except KeyError as error:
            raise ValueError(f"{file.name} in --data lacks an array: {error}.") from error
