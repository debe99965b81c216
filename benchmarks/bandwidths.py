"""Bandwidth and penalty together: 10 RBF kernels, 50 alphas, 5 folds, and the final fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.job import Contender, Job, Setting
from benchmarks.tuned_path import CORES, Data, data, folds

GAMMAS = np.geomspace(0.001, 0.2, 10)
ALPHAS = np.geomspace(1e-4, 1e3, 50)


class Chosen(NamedTuple):
    gamma: float
    alpha: float
    predict: Any


def eigenpath(data: Data, **options: Any) -> Chosen:
    """One estimator with a list of kernels."""
    from eigenpath import KernelRidge
    from eigenpath.kernels import RBF

    kernels = [RBF(gamma=float(gamma)) for gamma in GAMMAS]
    model = KernelRidge(kernel=kernels, alphas=ALPHAS, cv=folds(), **options).fit(data.X, data.y)
    return Chosen(model.kernel_.gamma, model.alpha_, model.predict)


def grid_search(data: Data, n_jobs: int = 1) -> Chosen:
    """scikit-learn: a refit for every bandwidth, alpha and fold."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    grid = {"gamma": GAMMAS, "alpha": ALPHAS}
    search = GridSearchCV(
        KernelRidge(kernel="rbf"), grid, cv=folds(), scoring="neg_mean_squared_error", n_jobs=n_jobs
    ).fit(data.X, data.y)
    return Chosen(search.best_params_["gamma"], search.best_params_["alpha"], search.predict)


def answers(chosen: Chosen, data: Data) -> dict[str, float]:
    """The choice and what it is worth on new rows."""
    error = float(np.mean((chosen.predict(data.X_test) - data.y_test) ** 2))
    return {"gamma": chosen.gamma, "alpha": chosen.alpha, "test mse": error}


def ours(precision: str) -> Contender:
    """eigenpath on all threads."""
    setting = Setting(f"{CORES} threads", options={"precision": precision})
    return Contender(eigenpath, requires=("eigenpath",), settings=(setting,))


JOB = Job(
    module=__name__,
    title=f"{len(GAMMAS)} bandwidths x {len(ALPHAS)} alphas x 5 folds and the final fit, RBF kernel, d = 20, one target",
    data=data,
    contenders={
        "eigenpath, mixed precision": ours("mixed"),
        "eigenpath, double precision": ours("double"),
        "GridSearchCV": Contender(
            grid_search,
            requires=("sklearn.kernel_ridge", "sklearn.model_selection"),
            settings=(Setting(f"{CORES} jobs", options={"n_jobs": CORES}),),
            largest=2000,
        ),
    },
    answers=answers,
    sizes=(500, 1000, 2000, 5000),
    warm_size=100,
    tolerance=1e-3,
)
