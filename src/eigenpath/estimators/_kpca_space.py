"""The span of the components in feature space: coordinates of rows in it, and what they leave outside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..spectra.centring import Means
from ._kpca_routes import Components

__all__ = ["FeatureSpan", "clean_values", "left_over", "signs"]

# Shares of the largest eigenvalue below which a negative one is not rounding, and a positive one is.
NEGATIVE = {np.dtype(np.float64): 1e-5, np.dtype(np.float32): 5e-3}
TINY = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2e-7}
# Negative eigenvalues up to this size are rounding whatever the largest is.
SMALL = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 5e-3}


class FeatureSpan(NamedTuple):
    """Eigenpairs of the centred, weighted Gram matrix, as a map from kernel values to coordinates."""

    values: np.ndarray
    vectors: np.ndarray
    root: np.ndarray | None
    means: Means

    @property
    def pi(self) -> np.ndarray:
        """Weights of the training rows, summing to one."""
        n = len(self.vectors)
        return np.full(n, 1 / n) if self.root is None else self.root**2 / (self.root**2).sum()

    def dual(self) -> np.ndarray:
        """Coefficients ``C (n, k)`` whose columns sum to zero: coordinates are ``(k(x) - means) C``."""
        root = np.sqrt(self.values.astype(np.float64))
        C = self.vectors * np.divide(1, root, out=np.zeros_like(root), where=root > 0)
        if self.root is None:
            return C - C.mean(axis=0)
        C *= self.root[:, None]
        return C - np.outer(self.pi, C.sum(axis=0))

    def training(self) -> np.ndarray:
        """Coordinates of the training rows, (n, k); zero for rows without weight."""
        coordinates = self.vectors * np.sqrt(self.values)
        if self.root is not None:
            present = (self.root > 0)[:, None]
            np.divide(coordinates, self.root[:, None], out=coordinates, where=present, casting="same_kind")
        return coordinates

    def coordinates(self, cross) -> np.ndarray:
        """Coordinates (m, k) of rows known by their kernel values ``cross (m, n)``."""
        dual = self.dual()
        return cross @ dual - self.means.columns @ dual

    def with_lengths(self, cross, diagonal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates, and the squared distance (m,) of each image to the mean of the training images."""
        dual = self.dual()
        both = cross @ np.column_stack([dual, self.pi])
        lengths = diagonal - 2 * both[:, -1] + self.means.whole
        return both[:, :-1] - self.means.columns @ dual, np.maximum(lengths, 0)


def clean_values(found: Components, dtype: np.dtype) -> np.ndarray:
    """Eigenvalues without what is rounding, or an error if negative ones are more than that."""
    high, low = float(found.values.max()), float(found.values.min())
    if low < -max(NEGATIVE[dtype] * high, SMALL[dtype]):
        raise ValueError(
            f"There are significant negative eigenvalues: of {len(found.values)} components the smallest is {low:.3g}, "
            f"the largest {high:.3g}. Use a positive semidefinite kernel, or fewer components."
        )
    # Rounding is relative to the matrix that was centred.
    tiny = max(TINY[dtype] * high, 4 * np.finfo(dtype).eps * found.power)
    return np.where(found.values > tiny, found.values, 0)


def signs(vectors: np.ndarray, root: np.ndarray | None) -> np.ndarray:
    """Factors of columns that make the largest coordinate of each positive, however often a row is repeated."""
    sizes = np.abs(vectors)
    if root is not None:
        sizes = np.divide(sizes, root[:, None], out=np.zeros_like(sizes), where=root[:, None] > 0)
    largest = sizes.argmax(axis=0)
    return np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1).astype(vectors.dtype)


def left_over(parts: np.ndarray, whole: float) -> np.ndarray:
    """What the first 0, 1, ... parts leave of the whole."""
    return np.maximum(whole - np.append(0, np.cumsum(parts)), 0)
