"""Rules for gamma: one over the number of features, the variance ("scale"), the median distance ("median")."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ._inputs import as_pair, check_number
from .distances import distance_matrix

__all__ = ["GAMMA_RULES", "N_SAMPLE", "median_gamma", "resolve_gamma", "scale_gamma"]

GAMMA_RULES = ("scale", "median", "auto")
# With at most so many rows all pairs count, with more a sample of so many rows is drawn.
N_SAMPLE = 1000


def resolve_gamma(kernel: Any, X: Any, sample_weight: Any = None, random_state: Any = None) -> float:
    """Return the number that ``kernel.gamma`` stands for on X."""
    gamma = kernel.gamma
    if gamma is None:
        default = kernel._gamma_default
        return 1.0 / np.shape(X)[1] if default is None else default
    if not isinstance(gamma, str):
        return check_number("gamma", gamma, 0.0)
    if gamma == "scale":
        return scale_gamma(X, sample_weight)
    if gamma == "median" and kernel.metric is not None:
        return median_gamma(X, sample_weight, metric=kernel.metric, random_state=random_state)
    raise ValueError(_reason(kernel, gamma))


def _reason(kernel: Any, gamma: str) -> str:
    """Why a word for gamma cannot be turned into a number here."""
    name = type(kernel).__name__
    if gamma == "auto":
        return (
            f"gamma='auto' of {name} is chosen together with the filter's parameter, by an estimator. "
            "Pass the kernel to one, or use gamma='median', 'scale', None or a number."
        )
    if gamma == "median":
        return f"gamma='median' is for kernels of a distance, and {name} is not one. Use 'scale', None or a number."
    return f"gamma={gamma!r} of {name} is not known: use a number, None, 'scale', 'median' or 'auto'."


def scale_gamma(X: Any, sample_weight: Any = None) -> float:
    """One over (number of features × variance of all the entries of X); 1.0 if that is 0."""
    X, weight = _weighted_rows(X, sample_weight)
    total = weight.sum() * X.shape[1]
    mean = (weight @ X).sum() / total
    if sp.issparse(X):
        # Zeros are entries too: the sum over the stored ones of (x - mean)^2 - mean^2, and mean^2 for all.
        spread = X.astype(np.float64)
        spread.data = (spread.data - 2 * mean) * spread.data
        variance = (weight @ spread).sum() / total + mean**2
    else:
        variance = weight @ np.square(X - mean).sum(axis=1) / total
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def median_gamma(X: Any, sample_weight: Any = None, *, metric: str = "sqeuclidean", random_state: Any = None) -> float:
    """One over the median of the positive distances between rows; 1.0 if there are none.

    A pair counts w_i w_j times. With more than `N_SAMPLE` rows, so many are drawn, by their weights.
    """
    X, weight = _weighted_rows(X, sample_weight)
    if X.shape[0] > N_SAMPLE:
        # Places in the cumulated weight: a row repeated and a row of that weight are drawn by the same numbers.
        ends = np.cumsum(weight)
        places = np.sort(check_random_state(0 if random_state is None else random_state).uniform(0, ends[-1], N_SAMPLE))
        X, weight = X[np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1)], np.ones(N_SAMPLE)
    rows, cols = np.triu_indices(X.shape[0], k=1)
    distances, pairs = distance_matrix(X, metric=metric)[rows, cols], weight[rows] * weight[cols]
    positive = distances > 0
    if not positive.any():
        return 1.0
    return float(1.0 / _weighted_median(distances[positive].astype(np.float64), pairs[positive]))


def _weighted_rows(X: Any, sample_weight: Any) -> tuple[Any, np.ndarray]:
    """Return the rows of positive weight, in float64 or CSR, and their weights."""
    X, _ = as_pair(X, None, "gamma")
    if sample_weight is None:
        return X, np.ones(X.shape[0])
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (X.shape[0],):
        raise ValueError(f"sample_weight must have shape {(X.shape[0],)}, got {weight.shape}.")
    present = weight > 0
    return X[present], weight[present]


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The median of each value repeated ``weight`` times; the mean of the two middle ones when there are two."""
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(weights[order])
    half = below[-1] / 2
    middle = int(np.searchsorted(below, half * (1 - 1e-12)))
    tie = below[middle] <= half * (1 + 1e-12) and middle + 1 < len(values)
    return float((values[middle] + values[middle + 1]) / 2 if tie else values[middle])
