"""Points of the input space whose images are near a point of the feature space."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import RBF, Kernel, Linear
from ..spectra.direct import solve_gram
from ._kpca_space import FeatureSpan

__all__ = ["check_fixed_point", "fixed_point", "learn_preimages", "nearest_rows", "preimages"]

TILE = 2**21  # kernel values held at a time
STEPS = 300
TOL = 1e-7
HALVINGS = 12


def learn_preimages(
    kernel: Kernel, T: np.ndarray, X: np.ndarray, alpha: float, weight: np.ndarray | None
) -> np.ndarray:
    """Dual coefficients of the ridge regression of rows ``X`` on their coordinates ``T``."""
    return solve_gram(kernel(T), X, np.array([alpha]), weight)


def preimages(kernel: Kernel, X: Any, span: FeatureSpan, T: np.ndarray) -> np.ndarray:
    """Rows whose images are nearest to the points with coordinates ``T (m, k)``, searched from training rows ``X``."""
    check_fixed_point(kernel, X)
    dual = span.dual()
    if T.shape[1] != dual.shape[1]:
        raise ValueError(f"X has {T.shape[1]} columns, but there are {dual.shape[1]} components.")
    start, step = X[nearest_rows(T, span.training())], max(1, TILE // len(X))
    parts = [
        fixed_point(kernel, X, span.pi + T[i : i + step] @ dual.T, start[i : i + step]) for i in range(0, len(T), step)
    ]
    return np.concatenate(parts).astype(T.dtype, copy=False)


def check_fixed_point(kernel: Kernel, X: Any) -> None:
    """Raise unless there is a fixed-point formula for this kernel and these data."""
    if type(kernel) not in (RBF, Linear) or hasattr(X, "tocsr"):
        raise ValueError(
            f"preimage='fixed_point' needs the RBF or the linear kernel and dense data, got {kernel!r} on "
            f"{type(X).__name__}. Use preimage='ridge' with fit_inverse_transform=True."
        )


def nearest_rows(T: np.ndarray, training: np.ndarray) -> np.ndarray:
    """For each row of ``T (m, k)`` the row of ``training (n, k)`` nearest to it."""
    squares = np.einsum("ij,ij->i", training, training)
    step = max(1, TILE // len(training))
    parts = [(squares - 2 * T[i : i + step] @ training.T).argmin(axis=1) for i in range(0, len(T), step)]
    return np.concatenate(parts)


def fixed_point(kernel: Kernel, X: np.ndarray, expansion: np.ndarray, start: np.ndarray) -> np.ndarray:
    r"""Rows z whose images are nearest to :math:`\psi = \sum_i a_i \phi(x_i)`.

    For the RBF kernel, :math:`\|\phi(z) - \psi\|^2` is stationary where

    .. math:: z = \frac{\sum_i a_i k(z, x_i) x_i}{\sum_i a_i k(z, x_i)},

    which is iterated; a step that leads away from :math:`\psi` is halved until it does not. For the linear kernel
    :math:`z = \sum_i a_i x_i` at once.

    Parameters
    ----------
    kernel : RBF or Linear
    X : ndarray of shape (n, d)
    expansion : ndarray of shape (m, n)
        The coefficients a, for each point.
    start : ndarray of shape (m, d)

    Returns
    -------
    ndarray of shape (m, d)
    """
    if isinstance(kernel, Linear):
        return expansion @ X
    return _climb(kernel, X, expansion, start.astype(np.float64))


def _climb(kernel: Kernel, X: np.ndarray, A: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Raise ``sum_i a_i k(z, x_i)``, by which the distance falls, for each row of Z until it stands."""
    height, target = _step(kernel, X, A, Z)
    active = np.flatnonzero(height > 0)
    scale = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    for _ in range(STEPS):
        move = target[active] - Z[active]
        active = active[np.linalg.norm(move, axis=1) > TOL * scale]
        if not len(active):
            break
        active = _advance(kernel, X, A, Z, height, target, active)
    return Z


def _advance(
    kernel: Kernel,
    X: np.ndarray,
    A: np.ndarray,
    Z: np.ndarray,
    height: np.ndarray,
    target: np.ndarray,
    active: np.ndarray,
) -> np.ndarray:
    """One step for the active rows, in place, each as long as it does not lead down; the rows that moved."""
    left, moved, length = active, [], 1.0
    for _ in range(HALVINGS):
        trial = Z[left] + length * (target[left] - Z[left])
        high, aim = _step(kernel, X, A[left], trial)
        up = high >= height[left]
        rows = left[up]
        Z[rows], height[rows], target[rows] = trial[up], high[up], aim[up]
        moved.append(rows)
        left, length = left[~up], length / 2
        if not len(left):
            break
    return np.sort(np.concatenate(moved))


def _step(kernel: Kernel, X: np.ndarray, A: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``sum_i a_i k(z, x_i)`` for each row z, and where the formula leads from there."""
    W = A * kernel(Z, X)
    height = W.sum(axis=1)
    safe = np.where(height > 0, height, 1)
    return height, np.where(height[:, None] > 0, (W @ X) / safe[:, None], Z)
