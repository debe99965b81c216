"""One penalty, one solve: cheaper than a spectrum when there is no path to follow."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, cho_factor, cho_solve, eigh, lstsq

from ..filters import rank_of

__all__ = ["solve_features", "solve_gram"]

_SINGULAR = "the kernel matrix plus alpha is singular: using the least-squares solution. Raise alpha to avoid this."


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
        warnings.warn(_SINGULAR, LinAlgWarning, stacklevel=5)
        # The default bound, eps, lets rounding in zero eigenvalues pass once there are hundreds of them.
        return lstsq(A, Y, cond=len(A) * float(np.finfo(A.dtype).eps), check_finite=False)[0]


def solve_features(
    Z: np.ndarray, Y: np.ndarray, alpha: float, weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The same for ``K = Z Z.T`` with fewer features than rows: dual and primal coefficients."""
    w = np.ones(len(Y)) if weight is None else weight
    weighted = Z.multiply(w[:, None]).tocsr() if hasattr(Z, "multiply") else w[:, None] * Z
    moment, right = weighted.T @ Z, weighted.T @ Y
    moment = moment.toarray() if hasattr(moment, "toarray") else moment
    np.fill_diagonal(moment, moment.diagonal() + alpha)
    try:
        primal = cho_solve(cho_factor(moment, check_finite=False), right, check_finite=False)
    except LinAlgError:
        warnings.warn(_SINGULAR, LinAlgWarning, stacklevel=4)
        primal, dual = _without_null_space(moment, right, alpha)
        return weighted @ dual, primal
    return w[:, None] * (Y - Z @ primal) / alpha, primal


def _without_null_space(moment: np.ndarray, right: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """The primal coefficients of least norm, and what the weighted features turn into the dual ones."""
    shifted, V = eigh(moment, check_finite=False)
    shifted, V = shifted[::-1], V[:, ::-1]
    rank = rank_of(shifted - alpha)
    shifted, V = shifted[:rank, None], V[:, :rank]
    solved = V.T @ right / shifted
    return V @ solved, V @ (solved / (shifted - alpha))
