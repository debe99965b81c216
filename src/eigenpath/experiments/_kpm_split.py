"""One split of one set: the whole KPM path, and support vector machines over a grid of C."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from ..estimators.projection_machine import KernelProjectionMachine
from ..kernels import RBF
from ._raetsch import PUBLISHED, BenchmarkSet

__all__ = ["SplitResult", "c_grid", "run_split"]

FOLDS = 5


class SplitResult(NamedTuple):
    """Errors as shares. KPM arrays have one entry for each D, SVM arrays one for each C of the grid.

    Attributes
    ----------
    chosen : int
        D by cross-validation on the training part.
    hinge_risk, training_error, test_error : ndarray of shape (p,)
    svm_fold_error : ndarray of shape (grid,)
    svm_published : float
        Test error with the published C.
    svm_tuned : float
        Test error with the C of least fold error.
    svm_training_error, svm_test_error : ndarray of shape (grid,) or (0,)
        Only where curves were asked for.
    """

    chosen: int
    hinge_risk: np.ndarray
    training_error: np.ndarray
    test_error: np.ndarray
    svm_fold_error: np.ndarray
    svm_published: float
    svm_tuned: float
    svm_training_error: np.ndarray
    svm_test_error: np.ndarray


def c_grid(published: float, size: int) -> np.ndarray:
    """``size`` values from zero, which is no machine and left out, to three times the published one."""
    return np.linspace(0, 3 * published, size + 1)[1:]


def run_split(data: BenchmarkSet, split: int, max_components: int, grid_size: int, curves: bool) -> SplitResult:
    """Both methods with the published width, tuned on the same five folds of the training part."""
    known = PUBLISHED[data.name]
    train, test = data.train[split], data.test[split]
    X, y, X_test, y_test = data.X[train], data.y[train], data.X[test], data.y[test]
    kernel = RBF(gamma=1 / known.width)
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=split).split(X, y))

    machine = KernelProjectionMachine(kernel, max_components=_longest(X, max_components), cv=folds).fit(X, y)
    errors = [np.mean(labels != y_test) for labels in machine.staged_predict(X_test)]

    K, K_test = kernel(X), kernel(X_test, X)
    grid = c_grid(known.C, grid_size)
    fold_error = np.mean([_svm_errors(grid, K, y, *fold) for fold in folds], axis=0)
    # As for D, ties go to the more regularized machine.
    best = grid[np.flatnonzero(fold_error <= fold_error.min() + 1e-12)[0]]
    fits = {C: _svm(C, K, y) for C in {known.C, best, *(grid if curves else ())}}
    on_test = {C: np.mean(svm.predict(K_test) != y_test) for C, svm in fits.items()}
    shown = grid if curves else grid[:0]
    return SplitResult(
        chosen=machine.n_components_,
        hinge_risk=machine.path_.hinge_risk,
        training_error=machine.path_.training_error,
        test_error=np.array(errors),
        svm_fold_error=fold_error,
        svm_published=float(on_test[known.C]),
        svm_tuned=float(on_test[best]),
        svm_training_error=np.array([np.mean(fits[C].predict(K) != y) for C in shown]),
        svm_test_error=np.array([on_test[C] for C in shown]),
    )


def _longest(X: np.ndarray, max_components: int) -> int:
    """Repeated rows lower the rank; half as many directions as there are distinct rows is far beyond any choice."""
    return min(max_components, len(np.unique(X, axis=0)) // 2)


def _svm(C: float, K: np.ndarray, y: np.ndarray) -> SVC:
    return SVC(C=C, kernel="precomputed", cache_size=500).fit(K, y)


def _svm_errors(grid: np.ndarray, K: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[float]:
    """Errors on a fold's held-out part for every C."""
    inner, outer = K[np.ix_(train, train)], K[np.ix_(test, train)]
    return [float(np.mean(_svm(C, inner, y[train]).predict(outer) != y[test])) for C in grid]
