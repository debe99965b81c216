"""Tuned kernel ridge regression: 5-fold cross-validation over 100 alphas, then the final fit, one fixed RBF kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.job import Contender, Job, Setting
from benchmarks.machine import cores

FEATURES = 20
GAMMA = 1 / FEATURES
ALPHAS = np.geomspace(1e-4, 1e3, 100)


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def data(size: int) -> Data:
    """A smooth function of a few of 20 features, with noise; 1000 more rows for the test error."""
    rng = np.random.default_rng(size)
    X = rng.standard_normal((size + 1000, FEATURES))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3:8].sum(axis=1) / 2 + 0.5 * rng.standard_normal(len(X))
    return Data(X[:size], y[:size], X[size:], y[size:])


def folds() -> Any:
    """The same five folds for everyone."""
    from sklearn.model_selection import KFold

    return KFold(5, shuffle=True, random_state=0)


def estimator(**options: Any) -> Any:
    """The estimator that tunes itself, not fitted."""
    from eigenpath import KernelRidge

    return KernelRidge(kernel="rbf", gamma=GAMMA, alphas=ALPHAS, cv=folds(), **options)


def eigenpath(data: Data, **options: Any) -> tuple[float, Any]:
    """One estimator: the path, the choice and the fit; ``options`` of the estimator."""
    model = estimator(**options).fit(data.X, data.y)
    return model.alpha_, model.predict


def grid_search(data: Data, n_jobs: int = 1) -> tuple[float, Any]:
    """scikit-learn: a refit for every alpha and fold."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    ridge = KernelRidge(kernel="rbf", gamma=GAMMA)
    search = GridSearchCV(ridge, {"alpha": ALPHAS}, cv=folds(), scoring="neg_mean_squared_error", n_jobs=n_jobs)
    search.fit(data.X, data.y)
    return search.best_params_["alpha"], search.predict


def himalaya(data: Data, n_alphas_batch: int | None = None) -> tuple[float, Any]:
    """himalaya: an eigendecomposition for every fold. Its score is the mean squared error by default, as here."""
    from himalaya.kernel_ridge import KernelRidgeCV

    model = KernelRidgeCV(
        alphas=ALPHAS,
        kernel="rbf",
        kernel_params={"gamma": GAMMA},
        cv=folds(),
        solver_params={"n_alphas_batch": n_alphas_batch},
    )
    model.fit(data.X, data.y)
    return model.best_alphas_[0], model.predict


def answers(result: tuple[float, Any], data: Data) -> dict[str, float]:
    """The choice and what it is worth on new rows."""
    alpha, predict = result
    return {"alpha": alpha, "test mse": np.mean((predict(data.X_test) - data.y_test) ** 2)}


CORES = cores()
ONE_THREAD = Setting("1 thread", threads=1)
ALL_THREADS = Setting(f"{CORES} threads")

JOB = Job(
    module=__name__,
    title=f"Tuned path: 5 folds x {len(ALPHAS)} alphas and the final fit, RBF kernel, d = {FEATURES}, one target",
    data=data,
    contenders={
        "eigenpath": Contender(eigenpath, requires=("eigenpath",), settings=(ALL_THREADS,)),
        "GridSearchCV": Contender(
            grid_search,
            requires=("sklearn.kernel_ridge", "sklearn.model_selection"),
            settings=(ONE_THREAD, ALL_THREADS, Setting(f"{CORES} jobs", options={"n_jobs": CORES})),
        ),
        "himalaya": Contender(
            himalaya,
            requires=("himalaya.kernel_ridge",),
            # All alphas at once is its default; ten at a time keeps its matrices in memory it has touched before.
            settings=tuple(
                Setting(f"{threads.label}{label}", threads.threads, {"n_alphas_batch": batch})
                for threads in (ONE_THREAD, ALL_THREADS)
                for label, batch in (("", None), (", 10 alphas at a time", 10))
            ),
        ),
    },
    answers=answers,
    sizes=(500, 1000, 2000),
    # The Krylov route, where it is taken, follows the path to tol=1e-3.
    tolerance=1e-4,
    warm_size=100,
)
