"""Kernel PCA, 20 components of an RBF kernel, against scikit-learn's solvers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.job import Contender, Job, Setting

FEATURES = 20
GAMMA = 1 / FEATURES
SOLVERS = ("arpack", "dense", "randomized")


def data(size: int) -> np.ndarray:
    """Gaussian rows: the spectrum falls in steps of many nearly equal eigenvalues, where solvers differ most."""
    return np.random.default_rng(size).standard_normal((size, FEATURES))


def eigenpath(X: np.ndarray, n_components: int) -> Any:
    """As a user types it."""
    from eigenpath import KernelPCA

    return KernelPCA(n_components, kernel="rbf", gamma=GAMMA, random_state=0).fit(X)


def scikit_learn(X: np.ndarray, n_components: int, eigen_solver: str) -> Any:
    """The same with scikit-learn's class."""
    from sklearn.decomposition import KernelPCA

    return KernelPCA(n_components, kernel="rbf", gamma=GAMMA, eigen_solver=eigen_solver, random_state=0).fit(X)


def answers(model: Any, X: np.ndarray) -> dict[str, float]:
    """The ends and the sum of the spectrum."""
    values = model.eigenvalues_
    return {"eigenvalue 1": values[0], f"eigenvalue {len(values)}": values[-1], "sum": values.sum()}


def make_job(module: str, n_components: int, sizes: tuple[int, ...] = (2000, 5000, 10_000, 20_000)) -> Job:
    """The job for so many components; the warm-up is at a size that takes the same routes."""
    return Job(
        module=module,
        title=f"Kernel PCA: {n_components} components, RBF kernel, d = {FEATURES}",
        data=data,
        contenders={
            "eigenpath": Contender(partial(eigenpath, n_components=n_components), requires=("eigenpath",)),
            **{
                f"scikit-learn {solver}": Contender(
                    partial(scikit_learn, n_components=n_components, eigen_solver=solver),
                    requires=("sklearn.decomposition",),
                    settings=(Setting(), Setting("1 thread", threads=1)),
                )
                for solver in SOLVERS
            },
        },
        answers=answers,
        sizes=sizes,
        warm_size=max(600, 3 * n_components),
        tolerance=1e-6,
    )


JOB = make_job(__name__, 20)
