"""Kernel PCA, 20 components of an RBF kernel, against scikit-learn's solvers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.job import Contender, Job, Setting

FEATURES = 20
GAMMA = 1 / FEATURES
# The largest size for each of scikit-learn's solvers.
SOLVERS = {"arpack": 20_000, "dense": 10_000, "randomized": 20_000}
RESIDUAL = "largest residual"


def data(size: int) -> np.ndarray:
    """Gaussian rows: the spectrum falls in steps of many nearly equal eigenvalues, where solvers differ most."""
    return np.random.default_rng(size).standard_normal((size, FEATURES))


def eigenpath(X: np.ndarray, n_components: int, **options: Any) -> Any:
    """As a user types it."""
    from eigenpath import KernelPCA

    return KernelPCA(n_components, kernel="rbf", gamma=GAMMA, random_state=0, **options).fit(X)


def scikit_learn(X: np.ndarray, n_components: int, eigen_solver: str) -> Any:
    """The same with scikit-learn's class."""
    from sklearn.decomposition import KernelPCA

    return KernelPCA(n_components, kernel="rbf", gamma=GAMMA, eigen_solver=eigen_solver, random_state=0).fit(X)


def answers(model: Any, X: np.ndarray) -> dict[str, float]:
    """The ends and the sum of the spectrum, and how far values may be from exact ones, as a share of them."""
    values, vectors = model.eigenvalues_, model.eigenvectors_
    residuals = np.linalg.norm(centred_product(X, vectors) - values * vectors, axis=0)
    return {
        "eigenvalue 1": values[0],
        f"eigenvalue {len(values)}": values[-1],
        "sum": values.sum(),
        RESIDUAL: float((residuals / values).max()),
    }


def centred_product(X: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The centred kernel matrix times ``V``, by tiles."""
    from sklearn.metrics.pairwise import rbf_kernel

    V = V - V.mean(axis=0)
    products = np.concatenate([rbf_kernel(X[i : i + 500], X, gamma=GAMMA) @ V for i in range(0, len(X), 500)])
    return products - products.mean(axis=0)


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
                    largest=largest,
                )
                for solver, largest in SOLVERS.items()
            },
        },
        answers=answers,
        own=(RESIDUAL,),
        sizes=sizes,
        warm_size=max(1000, 10 * n_components),
        tolerance=1e-6,
    )


JOB = make_job(__name__, 20)
