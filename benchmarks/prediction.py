"""Prediction of many rows by a model of a twentieth as many, beside the bare arithmetic of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.job import Contender, Job, Setting
from benchmarks.machine import cores
from benchmarks.tuned_path import FEATURES, GAMMA
from benchmarks.tuned_path import data as rows

# A tile of the bare reference stays in the second-level cache: 0.8 MB in double precision.
TILE = 312


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray


class Fitted(NamedTuple):
    model: Any
    X_new: np.ndarray


def data(size: int) -> Data:
    """``size`` rows to predict, and a twentieth of that to learn from."""
    made = rows(size + max(size // 20, 10))
    return Data(made.X[size:], made.y[size:], np.ascontiguousarray(made.X[:size]))


def single(data: Data) -> Data:
    """The same in float32."""
    return Data(*(part.astype(np.float32) for part in data))


def fit_eigenpath(data: Data) -> Fitted:
    from eigenpath import KernelRidge

    return Fitted(KernelRidge(alpha=1.0, kernel="rbf", gamma=GAMMA).fit(data.X, data.y), data.X_new)


def fit_sklearn(data: Data) -> Fitted:
    from sklearn.kernel_ridge import KernelRidge

    return Fitted(KernelRidge(alpha=1.0, kernel="rbf", gamma=GAMMA).fit(data.X, data.y), data.X_new)


def predict(fitted: Fitted) -> np.ndarray:
    """The estimator's own method."""
    return fitted.model.predict(fitted.X_new)


def bare_tiles(fitted: Fitted) -> np.ndarray:
    """What no NumPy program can leave out: a product, an exponential and a sum for each tile, on all cores.

    The exponent comes out of the product itself, from two more columns. It checks nothing.
    """
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_limits

    model, X_new = fitted
    Z, coef = model.X_fit_, model.dual_coef_
    dtype = X_new.dtype
    left = np.column_stack([X_new, (X_new**2).sum(axis=1), np.ones(len(X_new), dtype)])
    right = np.column_stack([2 * GAMMA * Z, np.full(len(Z), -GAMMA, dtype), -GAMMA * (Z**2).sum(axis=1)])
    left, right = left.astype(dtype, order="C"), np.asfortranarray(right.astype(dtype).T)
    out = np.zeros(len(X_new), dtype)

    def work(start: int) -> None:
        rows = slice(start, start + TILE)
        space = np.empty((TILE, TILE), dtype)
        for at in range(0, len(coef), TILE):
            cols = slice(at, at + TILE)
            height, width = len(left[rows]), len(coef[cols])
            tile = space.reshape(-1)[: height * width].reshape(height, width)
            np.matmul(left[rows], right[:, cols], out=tile)
            np.exp(tile, out=tile)
            out[rows] += tile @ coef[cols]

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cores()) as pool:
        list(pool.map(work, range(0, len(X_new), TILE)))
    return out


def answers(values: np.ndarray, data: Data) -> dict[str, float]:
    """Enough of the predictions to tell whether they are the same."""
    return {"mean square": float(np.mean(values.astype(np.float64) ** 2)), "first": float(values[0])}


def contenders() -> dict[str, Contender]:
    """Every way in both precisions."""
    ways = {
        "eigenpath": (predict, fit_eigenpath, "eigenpath"),
        "bare tiles": (bare_tiles, fit_sklearn, "sklearn.kernel_ridge"),
        "scikit-learn": (predict, fit_sklearn, "sklearn.kernel_ridge"),
    }
    setting = (Setting(f"{cores()} threads"),)
    made = {}
    for precision in ("double", "float32"):
        for name, (run, fit, module) in ways.items():
            prepare = fit if precision == "double" else lambda data, fit=fit: fit(single(data))
            made[f"{name}, {precision}"] = Contender(run, requires=(module,), settings=setting, prepare=prepare)
    return made


JOB = Job(
    module=__name__,
    title=f"Prediction of n rows by a model of n / 20 rows, RBF kernel, d = {FEATURES}",
    data=data,
    contenders=contenders(),
    answers=answers,
    sizes=(100_000,),
    warm_size=1000,
    # Single precision keeps about four digits of a sum of thousands of terms.
    tolerance=1e-3,
)
