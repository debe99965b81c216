"""The programs of the kernel projection machine for D = 1, …, 60: one warm-started model, or each from scratch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.job import Contender, Job, Setting

LENGTH = 60


class Data(NamedTuple):
    """Principal directions of unit mean square ``(n, 60)``, their variances, and labels."""

    F: np.ndarray
    spread: np.ndarray
    y: np.ndarray


def two_arcs(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two interlocking arcs in the plane, with noise: about one row in ten lies among the others."""
    angle, y = np.pi * rng.random(n), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = np.column_stack([np.cos(angle) + 0.5 * (y > 0), y * np.sin(angle) - 0.25 * y])
    return X + 0.4 * rng.standard_normal((n, 2)), y


def data(size: int) -> Data:
    """The leading directions of an RBF kernel."""
    from eigenpath.kernels import RBF
    from eigenpath.projection.directions import principal_directions

    X, y = two_arcs(np.random.default_rng(size), size)
    found = principal_directions(RBF(gamma=2.0)(X), np.ones(size), LENGTH, psd=True)
    return Data(found.features, found.values / size, y)


def warm(data: Data) -> np.ndarray:
    """From D to D + 1 by one more row in the dual."""
    from eigenpath.projection.lp import hinge_path

    return hinge_path(data.F, data.y, np.ones(len(data.y)), spread=data.spread).values


def cold_primal(data: Data) -> np.ndarray:
    """Over (intercept, beta, slacks), as the machine is defined."""
    from scipy.optimize import linprog

    n = len(data.y)
    rows, values = data.y[:, None] * np.column_stack([np.ones(n), data.F]), []
    for D in range(1, data.F.shape[1] + 1):
        found = linprog(
            np.concatenate([np.zeros(D + 1), np.ones(n)]),
            A_ub=-np.hstack([rows[:, : D + 1], np.eye(n)]),
            b_ub=-np.ones(n),
            bounds=[(None, None)] * (D + 1) + [(0, None)] * n,
            method="highs",
        )
        values.append(found.fun)
    return np.array(values)


def cold_dual(data: Data) -> np.ndarray:
    """Over the multipliers: far fewer rows."""
    from scipy.optimize import linprog

    n = len(data.y)
    rows = data.y[:, None] * np.column_stack([np.ones(n), data.F])
    sizes = range(1, data.F.shape[1] + 1)
    programs = (
        linprog(-np.ones(n), A_eq=rows[:, : D + 1].T, b_eq=np.zeros(D + 1), bounds=(0, 1), method="highs")
        for D in sizes
    )
    return np.array([-found.fun for found in programs])


def answers(values: np.ndarray, data: Data) -> dict[str, float]:
    """Training risks along the path."""
    risks = values / len(data.y)
    shown: dict[str, Any] = {f"risk at D = {D}": risks[D - 1] for D in (1, 10, 30, len(risks))}
    return shown | {"mean risk": risks.mean()}


ONE_THREAD = (Setting("1 thread", threads=1),)

JOB = Job(
    module=__name__,
    title=f"Kernel projection machine: the linear programs for D = 1, ..., {LENGTH}",
    data=data,
    contenders={
        "eigenpath": Contender(warm, requires=("eigenpath",), settings=ONE_THREAD),
        "linprog, primal": Contender(cold_primal, requires=("scipy.optimize",), settings=ONE_THREAD),
        "linprog, dual": Contender(cold_dual, requires=("scipy.optimize",), settings=ONE_THREAD),
    },
    answers=answers,
    sizes=(400, 700, 1300),
    warm_size=80,
)
