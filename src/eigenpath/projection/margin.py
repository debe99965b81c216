"""The point of largest margin on the optimal face of a hinge-loss program."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq, qr
from scipy.optimize import nnls

__all__ = ["largest_margin"]

# The intercept is free in principle. A share of a millionth in the norm makes the norm strictly convex in it too.
INTERCEPT_SCALE = 1e3


def largest_margin(
    rows: np.ndarray, equal: np.ndarray, outside: np.ndarray, spread: np.ndarray, start: np.ndarray
) -> np.ndarray:
    r"""Find the function of least norm among those with the given optimal multipliers.

    .. math:: \min_{b, \beta} \sum_j \beta_j^2 / s_j
        \quad\text{where the margin } (b, \beta)^T r_i \text{ is } 1,\ \ge 1 \text{ or } \le 1

    on rows whose multiplier is inside its bounds, zero, or at its upper bound. With all multipliers zero (separable
    data) this is the hard-margin support vector machine.

    Parameters
    ----------
    rows : ndarray of shape (n, d + 1)
        Signed rows, ``y_i * (1, F_i)``.
    equal, outside : ndarray of bool, shape (n,)
        Rows with margin one and with margin at least one; the others' is at most one.
    spread : ndarray of shape (d,)
    start : ndarray of shape (d + 1,)
        A point of the face.

    Returns
    -------
    x : ndarray of shape (d + 1,)
        The intercept and beta.
    """
    scale = np.concatenate([[INTERCEPT_SCALE], np.sqrt(spread / spread[0])])
    G, sign = rows * scale, np.where(outside, 1.0, -1.0)[~equal]
    fixed, free = _split(G[equal])
    # In coordinates z = fixed + free @ t, all that is left is the shortest t with free_rows @ t >= need.
    free_rows, need = sign[:, None] * (G[~equal] @ free), sign * (1 - G[~equal] @ fixed)
    t = _shortest(free_rows, need, size=float(np.linalg.norm((start / scale) @ free)))
    return start if t is None else scale * (fixed + free @ t)


def _split(G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shortest z with ``G @ z = 1``, and an orthonormal basis of the directions that leave ``G @ z`` alone."""
    if not len(G):
        return np.zeros(G.shape[1]), np.eye(G.shape[1])
    Q, R, _ = qr(G.T, pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = int(np.count_nonzero(sizes > 1e-10 * sizes[0]))
    return lstsq(G, np.ones(len(G)))[0], Q[:, rank:]


def _shortest(rows: np.ndarray, need: np.ndarray, size: float) -> np.ndarray | None:
    """The shortest t with ``rows @ t >= need``, whose length is at most ``size``; None if rounding hides it."""
    slack = 1e-9 * (1 + size)
    if (need <= slack).all():
        return np.zeros(rows.shape[1])
    if size == 0:
        return None
    # Least distance programming: the residual of a non-negative least-squares problem points along t. Dividing by the
    # size keeps its last entry away from cancellation.
    system = np.vstack([rows.T, need / size])
    target = np.zeros(len(system))
    target[-1] = 1.0
    try:
        multipliers, _ = nnls(system, target)
    except RuntimeError:
        return None
    active = multipliers > 0
    t = lstsq(rows[active], need[active])[0]
    return t if (rows @ t >= need - slack).all() else None
