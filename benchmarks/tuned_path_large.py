"""The tuned path at larger sizes, beside a single solve of the same size: what tuning costs compared with one fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks import tuned_path
from benchmarks.job import Contender, Job, Setting
from benchmarks.tuned_path import ALL_THREADS, ALPHAS, CORES, GAMMA, Data, eigenpath, grid_search, himalaya

ALPHA = 1.0


class System(NamedTuple):
    K: np.ndarray
    y: np.ndarray


def system(data: Data) -> System:
    """The kernel matrix, in the order in which LAPACK works without a copy."""
    from sklearn.metrics.pairwise import rbf_kernel

    return System(rbf_kernel(data.X, gamma=GAMMA).T, data.y)


def solve(given: System) -> None:
    """SciPy: ``(K + alpha I) c = y`` by one Cholesky factorization in place, for one alpha; nothing is chosen."""
    from scipy.linalg import cho_factor, cho_solve

    given.K[np.diag_indices_from(given.K)] += ALPHA
    cho_solve(cho_factor(given.K, lower=True, overwrite_a=True, check_finite=False), given.y, check_finite=False)


def build_and_solve(data: Data) -> None:
    """The same, from the rows."""
    solve(system(data))


def single_fit(data: Data) -> None:
    """scikit-learn: one alpha; nothing is chosen."""
    from sklearn.kernel_ridge import KernelRidge

    KernelRidge(alpha=ALPHA, kernel="rbf", gamma=GAMMA).fit(data.X, data.y)


def answers(result: tuple[float, Any] | None, data: Data) -> dict[str, float]:
    """A single solve has chosen nothing."""
    return {} if result is None else tuned_path.answers(result, data)


def ours(largest: float = float("inf"), **options: Any) -> Contender:
    """eigenpath with options of the estimator."""
    setting = Setting(ALL_THREADS.label, options=options)
    return Contender(eigenpath, requires=("eigenpath",), settings=(setting,), largest=largest)


JOB = Job(
    module=__name__,
    title=f"Tuned path (5 folds x {len(ALPHAS)} alphas and the final fit) beside one solve, RBF kernel, d = 20, one target",
    data=tuned_path.data,
    contenders={
        "eigenpath, mixed precision": ours(precision="mixed"),
        "eigenpath, double precision": ours(precision="double"),
        "eigenpath, exact": ours(solver="exact", largest=5000),
        "one Cholesky solve, K given": Contender(
            solve, requires=("scipy.linalg", "sklearn"), settings=(ALL_THREADS,), prepare=system
        ),
        "one Cholesky solve": Contender(
            build_and_solve, requires=("scipy.linalg", "sklearn"), settings=(ALL_THREADS,), largest=10_000
        ),
        "scikit-learn, one fit": Contender(
            single_fit, requires=("sklearn.kernel_ridge",), settings=(ALL_THREADS,), largest=10_000
        ),
        "GridSearchCV": Contender(
            grid_search,
            requires=("sklearn.model_selection",),
            settings=(Setting(f"{CORES} jobs", options={"n_jobs": CORES}),),
            largest=2000,
        ),
        "himalaya": Contender(
            himalaya,
            requires=("himalaya.kernel_ridge",),
            settings=(Setting(f"{ALL_THREADS.label}, 10 alphas at a time", options={"n_alphas_batch": 10}),),
            largest=5000,
        ),
    },
    answers=answers,
    sizes=(1000, 2000, 5000, 10_000, 20_000),
    warm_size=100,
    # The choice must be the same, and so must three digits of the test error.
    tolerance=1e-3,
)
