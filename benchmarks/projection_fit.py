"""A tuned kernel projection machine beside a tuned support vector machine: the same kernel and folds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.job import Contender, Job, Setting
from benchmarks.machine import cores
from benchmarks.projection_path import LENGTH, two_arcs

GAMMA = 2.0
C_GRID = np.linspace(0, 30, 101)[1:]


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def data(size: int) -> Data:
    """Two arcs, and 2000 more rows for the test error."""
    X, y = two_arcs(np.random.default_rng(size), size + 2000)
    return Data(X[:size], y[:size], X[size:], y[size:])


def folds() -> Any:
    """The same five folds for everyone."""
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(5, shuffle=True, random_state=0)


def eigenpath(data: Data, rule: str = "cv") -> Any:
    """D among 60 values."""
    from eigenpath.estimators.projection_machine import KernelProjectionMachine

    return KernelProjectionMachine(gamma=GAMMA, max_components=LENGTH, rule=rule, cv=folds()).fit(data.X, data.y)


def grid_search(data: Data, n_jobs: int = 1) -> Any:
    """C among 100 values."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    return GridSearchCV(SVC(gamma=GAMMA), {"C": C_GRID}, cv=folds(), n_jobs=n_jobs).fit(data.X, data.y)


def answers(model: Any, data: Data) -> dict[str, float]:
    """What the choice is worth on new rows."""
    return {"test error": float(np.mean(model.predict(data.X_test) != data.y_test))}


CORES = cores()
ONE_THREAD = Setting("1 thread", threads=1)

JOB = Job(
    module=__name__,
    title=f"Tuned classifiers: 5 folds, D among {LENGTH} values or C among {len(C_GRID)}, RBF kernel, two classes",
    data=data,
    contenders={
        "eigenpath": Contender(
            eigenpath,
            requires=("eigenpath",),
            settings=(
                ONE_THREAD,
                Setting(f"{CORES} threads"),
            ),
        ),
        "eigenpath, penalty": Contender(
            eigenpath, requires=("eigenpath",), settings=(Setting("1 thread", threads=1, options={"rule": "penalty"}),)
        ),
        "GridSearchCV(SVC)": Contender(
            grid_search,
            requires=("sklearn.svm",),
            settings=(ONE_THREAD, Setting(f"{CORES} jobs", options={"n_jobs": CORES})),
        ),
    },
    answers=answers,
    sizes=(400, 700, 1300),
    warm_size=80,
    # Different methods: their errors agree within what 2000 test rows can tell.
    tolerance=0.2,
)
