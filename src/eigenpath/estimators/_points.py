"""Rows as weighted points: equal rows are one point, rows without weight are none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold, check_cv

from ..projection.path import Fold

__all__ = ["Points", "class_folds", "class_weights", "make_points"]


class Points(NamedTuple):
    """Where the rows went.

    Attributes
    ----------
    rows : ndarray of shape (points,)
        A row for each point.
    place : ndarray of shape (n,)
        The point of each row; some point for those without weight, which add nothing to it.
    """

    rows: np.ndarray
    place: np.ndarray

    def weigh(self, code: np.ndarray, weight: np.ndarray, n_classes: int, part: np.ndarray | None = None) -> np.ndarray:
        """The weight of each class at each point, ``(points, classes)``, of all rows or a part of them."""
        part = np.arange(len(code)) if part is None else part
        W = np.zeros((len(self.rows), n_classes))
        np.add.at(W, (self.place[part], code[part]), weight[part])
        return W


def make_points(X: Any, weight: np.ndarray, *, merge: bool) -> Points:
    """Number the rows of positive weight in their order; with ``merge``, equal ones (of a dense X) get one number."""
    present = np.flatnonzero(weight > 0)
    rows, number = present, np.arange(len(present))
    if merge and not sp.issparse(X):
        _, first, inverse = np.unique(X[present], axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rows, number = present[first[order]], np.argsort(order)[inverse.ravel()]
    place = np.zeros(len(weight), dtype=int)
    place[present] = number
    return Points(rows, place)


def class_weights(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """A factor for each class, from its name; "balanced" makes the sums of weights, now ``totals``, equal."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        return totals.sum() / (len(classes) * totals)
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}.")
    names = classes.tolist()
    if unknown := [name for name in class_weight if name not in names]:
        raise ValueError(f"class_weight has a class {unknown[0]!r} that is not in y, whose classes are {names}.")
    factors = np.array([float(class_weight.get(name, 1)) for name in names])
    if not (np.isfinite(factors) & (factors > 0)).all():
        raise ValueError(f"class_weight={class_weight!r} must hold positive numbers.")
    return factors


def class_folds(
    cv: Any, X: Any, code: np.ndarray, weight: np.ndarray, classes: np.ndarray, points: Points, random_state: Any
) -> list[Fold]:
    """The folds of ``cv`` as weights of the classes at the points; folds that hold out nothing are left out."""
    if cv is None:
        return []
    if isinstance(cv, (int, np.integer)):
        splits = _stratified(int(cv), code, weight, classes, random_state)
    else:
        splits = check_cv(cv, classifier=True).split(X, code)
    folds = [Fold(*(points.weigh(code, weight, len(classes), np.asarray(part)) for part in split)) for split in splits]
    folds = [fold for fold in folds if fold.test.any()]
    if not folds:
        raise ValueError(f"cv={cv!r} holds out no row of positive sample_weight.")
    for i, fold in enumerate(folds):
        if missing := np.flatnonzero(~fold.train.any(axis=0)).tolist():
            raise ValueError(
                f"cv={cv!r}: the training part of fold {i + 1} has no row of class {classes.tolist()[missing[0]]!r}. "
                "Use fewer folds, or a splitter that keeps every class in every training part."
            )
    return folds


def _stratified(
    cv: int, code: np.ndarray, weight: np.ndarray, classes: np.ndarray, random_state: Any
) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Shuffled folds with equal shares of the classes, not more of them than the smallest class has rows."""
    rows = np.flatnonzero(weight > 0)
    counts = np.bincount(code[rows])
    if cv < 2:
        raise ValueError(f"cv={cv!r} must be at least 2 folds, a scikit-learn splitter, splits, or None for no folds.")
    if counts.min() < 2:
        raise ValueError(
            f"cv={cv!r} is not possible: class {classes.tolist()[counts.argmin()]!r} has a single row, so either part "
            "of a fold must do without it. Give it more rows, or set cv=None with n_components or rule='penalty'."
        )
    folds = StratifiedKFold(min(cv, int(counts.min())), shuffle=True, random_state=random_state)
    return [(rows[train], rows[test]) for train, test in folds.split(rows[:, None], code[rows])]
