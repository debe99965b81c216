"""One penalty, one solve: cheaper than a spectrum when there is no path to follow."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, cho_factor, cho_solve, lstsq

__all__ = ["solve_features", "solve_gram"]


def solve_gram(K: np.ndarray, Y: np.ndarray, alphas: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """``(K + alpha W^-1)^-1 Y`` for one alpha, or one for each column of ``Y (n, k)``.

    ``K`` is overwritten. A singular matrix gets the least-squares solution, with a warning.
    """
    root = np.ones(len(K), dtype=K.dtype) if weight is None else np.sqrt(weight).astype(K.dtype)
    if weight is not None:
        K *= root
        K *= root[:, None]
    Y = root[:, None] * Y
    distinct = np.unique(alphas)
    out = np.empty(Y.shape, dtype=K.dtype)
    diagonal = K.diagonal().copy()
    for i, alpha in enumerate(distinct):
        columns = np.broadcast_to(alphas, Y.shape[1]) == alpha
        last = i == len(distinct) - 1
        np.fill_diagonal(K, diagonal + K.dtype.type(alpha))
        out[:, columns] = _solve(K if last else K.copy(), Y[:, columns])
    return root[:, None] * out


def _solve(A: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """A symmetric solve that may overwrite ``A``."""
    diagonal = A.diagonal().copy()
    try:
        # The transpose of a symmetric matrix in C order is itself in Fortran order, which LAPACK overwrites in place.
        # Only its lower triangle is touched, so that the upper one can restore it.
        factor = cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)
        return cho_solve(factor, Y, check_finite=False)
    except LinAlgError:
        # In C order the overwritten triangle is the upper one.
        upper = np.triu_indices_from(A, 1)
        A[upper] = A.T[upper]
        np.fill_diagonal(A, diagonal)
        warnings.warn(
            "the kernel matrix plus alpha is singular: using the least-squares solution. Raise alpha to avoid this.",
            LinAlgWarning,
            stacklevel=4,
        )
        return lstsq(A, Y, check_finite=False)[0]


def solve_features(
    Z: np.ndarray, Y: np.ndarray, alpha: float, weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The same for ``K = Z Z.T`` with fewer features than rows: dual and primal coefficients."""
    w = np.ones(len(Y)) if weight is None else weight
    weighted = Z.multiply(w[:, None]).tocsr() if hasattr(Z, "multiply") else w[:, None] * Z
    moment = weighted.T @ Z
    moment = moment.toarray() if hasattr(moment, "toarray") else moment
    np.fill_diagonal(moment, moment.diagonal() + alpha)
    primal = cho_solve(cho_factor(moment, check_finite=False), weighted.T @ Y, check_finite=False)
    return w[:, None] * (Y - Z @ primal) / alpha, primal
