"""Prediction intervals by CV+ (Barber, Candes, Ramdas and Tibshirani), from the folds that chose the parameter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Interval", "cv_plus"]

_ENTRIES = 4_000_000


class Interval(NamedTuple):
    """Predictions and the ends of their intervals, each ``(m,)`` or ``(m, targets)``."""

    prediction: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def cv_plus(
    values: np.ndarray, missed: np.ndarray, fold: np.ndarray, coverage: float, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of intervals for one target.

    Parameters
    ----------
    values : ndarray of shape (m, folds)
        Predictions of each fold's function.
    missed : ndarray of shape (n,)
        By how much each training row's own fold missed it.
    fold : ndarray of shape (n,)
        Which fold that is.
    coverage : float
    weight : ndarray of shape (n,), optional
        Row i counts as ``weight[i]`` rows.

    Returns
    -------
    lower, upper : ndarray of shape (m,)
        Infinite where there are too few rows for the coverage asked.
    """
    n = len(missed)
    if weight is not None:
        return _weighted(values, missed, fold, coverage, weight)
    rank = int(np.ceil(coverage * (n + 1)))
    lower, upper = np.full(len(values), -np.inf), np.full(len(values), np.inf)
    if rank > n:
        return lower, upper
    size = max(1, _ENTRIES // n)
    for start in range(0, len(values), size):
        part = slice(start, start + size)
        centre = values[part][:, fold]
        upper[part] = np.partition(centre + missed, rank - 1, axis=1)[:, rank - 1]
        lower[part] = np.partition(centre - missed, n - rank, axis=1)[:, n - rank]
    return lower, upper


def _weighted(
    values: np.ndarray, missed: np.ndarray, fold: np.ndarray, coverage: float, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same where rows have weights: ranks become sums of weights."""
    total = float(weight.sum())
    rank = coverage * (total + 1)
    lower, upper = np.full(len(values), -np.inf), np.full(len(values), np.inf)
    if rank > total:
        return lower, upper
    size = max(1, _ENTRIES // len(missed))
    for start in range(0, len(values), size):
        part = slice(start, start + size)
        centre = values[part][:, fold]
        upper[part] = _reached(centre + missed, weight, rank)
        lower[part] = -_reached(missed - centre, weight, rank)
    return lower, upper


def _reached(ends: np.ndarray, weight: np.ndarray, rank: float) -> np.ndarray:
    """For each row of ``ends``, the smallest at which the weights of it and of those below come to ``rank``."""
    order = np.argsort(ends, axis=1)
    # Sums of weights are rounded.
    place = np.argmax(np.cumsum(weight[order], axis=1) >= rank * (1 - 1e-12), axis=1)
    return np.take_along_axis(ends, np.take_along_axis(order, place[:, None], axis=1), axis=1)[:, 0]
