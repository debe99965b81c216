"""Rules for gamma: one over the number of features, the variance ("scale"), the median distance ("median")."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from .._threads import blocks
from ._inputs import as_matrix
from .distances import distance_matrix

__all__ = ["GAMMA_RULES", "N_SAMPLE", "median_gamma", "resolve_gamma", "scale_gamma"]

GAMMA_RULES = ("scale", "median", "auto")
# With at most so many rows all pairs count; with more, those of a sample of so many rows.
N_SAMPLE = 1000


def resolve_gamma(kernel: Any, X: Any, sample_weight: Any = None, random_state: Any = None) -> float:
    """Return the number that a kernel's gamma, None or a word, stands for on X."""
    X = as_matrix(X, "X", type(kernel).__name__)
    if kernel.gamma is None:
        return 1.0 / X.shape[1] if kernel._gamma_default is None else kernel._gamma_default
    if kernel.gamma == "scale":
        return scale_gamma(X, sample_weight)
    if kernel.gamma == "median" and kernel.metric is not None:
        return median_gamma(X, sample_weight, metric=kernel.metric, random_state=random_state)
    raise ValueError(_reason(type(kernel).__name__, kernel.gamma))


def _reason(name: str, gamma: str) -> str:
    """Why a word for gamma cannot be turned into a number here."""
    if gamma == "auto":
        return (
            f"gamma='auto' of {name} is chosen together with the filter's parameter, by an estimator. "
            "Pass the kernel to one, or use gamma='median', 'scale', None or a number."
        )
    if gamma == "median":
        return f"gamma='median' is for kernels of a distance, and {name} is not one. Use 'scale', None or a number."
    return f"gamma={gamma!r} of {name} is not known: use a number, None, 'scale', 'median' or 'auto'."


def scale_gamma(X: Any, sample_weight: Any = None) -> float:
    """One over (number of features × variance of all the entries of X); 1.0 if that is 0.

    Examples
    --------
    >>> scale_gamma([[0.0, 2.0], [2.0, 0.0]])
    0.5
    """
    X = as_matrix(X, "X", "gamma='scale'")
    weight = _weights(X, sample_weight)
    total = weight.sum() * X.shape[1]
    # From any of the entries, so that equal entries have variance 0 and not what rounding leaves of it.
    origin = 0.0 if sp.issparse(X) else float(X[np.argmax(weight > 0), 0])
    mean = _weighted_sum(X, weight, lambda x: x - origin) / total
    if sp.issparse(X):
        # The zeros that are not stored are entries too: each adds mean^2, which is taken out of the stored ones' sum.
        variance = _weighted_sum(X, weight, lambda x: (x - 2 * mean) * x) / total + mean**2
        variance = variance if variance > 1e-14 * mean**2 else 0.0
    else:
        variance = _weighted_sum(X, weight, lambda x: np.square(x - origin - mean)) / total
    return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0


def _weighted_sum(X: Any, weight: np.ndarray, of: Any) -> float:
    """Sum weight_i * of(x_ij) in float64, over the stored entries, a block of rows at a time."""
    total = 0.0
    for rows in blocks(X.shape[0], 2**14):
        block = X[rows].astype(np.float64)
        if sp.issparse(block):
            block.data = of(block.data)
            total += float(np.sum(block.T @ weight[rows]))
        else:
            total += float(np.sum(weight[rows] @ of(block)))
    return total


def median_gamma(X: Any, sample_weight: Any = None, *, metric: str = "sqeuclidean", random_state: Any = None) -> float:
    """One over the median of the positive distances between rows, a pair counting w_i w_j times; 1.0 if there are none.

    Examples
    --------
    >>> median_gamma([[0.0], [1.0], [3.0]])
    0.25
    """
    X = as_matrix(X, "X", "gamma='median'")
    X, weight = _sample(X, _weights(X, sample_weight), random_state)
    rows, cols = np.triu_indices(X.shape[0], k=1)
    distances = distance_matrix(X, metric=metric)[rows, cols].astype(np.float64)
    apart = distances > 0
    if not apart.any():
        return 1.0
    return 1.0 / _weighted_median(distances[apart], (weight[rows] * weight[cols])[apart])


def _weights(X: Any, sample_weight: Any) -> np.ndarray:
    if sample_weight is None:
        return np.ones(X.shape[0])
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (X.shape[0],):
        raise ValueError(f"sample_weight must have shape {(X.shape[0],)}, got {weight.shape}.")
    return weight


def _sample(X: Any, weight: np.ndarray, random_state: Any) -> tuple[Any, np.ndarray]:
    """Return the rows of positive weight and their weights, or, if they are many, rows drawn by their weights."""
    present = np.flatnonzero(weight > 0)
    if len(present) <= N_SAMPLE:
        return X[present], weight[present]
    # Places on the cumulated weights: a row of weight 2 and a row that stands there twice are drawn by the same places.
    ends = np.cumsum(weight[present])
    places = check_random_state(0 if random_state is None else random_state).uniform(0, ends[-1], N_SAMPLE)
    return X[present[np.searchsorted(ends, np.sort(places), side="right")]], np.ones(N_SAMPLE)


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The median of each value repeated ``weight`` times; the mean of the two middle ones when there are two."""
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(weights[order])
    half, slack = below[-1] / 2, 1e-12 * below[-1]
    middle = int(np.searchsorted(below, half - slack))
    two = below[middle] <= half + slack and middle + 1 < len(values)
    return float((values[middle] + values[middle + 1]) / 2 if two else values[middle])
