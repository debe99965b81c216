"""Eigenpairs of symmetric positive semidefinite matrices; the one place where negative eigenvalues are judged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, eigh

__all__ = ["Eigen", "clip_spectrum", "fix_signs", "symmetric_eigen"]


class Eigen(NamedTuple):
    """Eigenvalues ``values (r,)``, decreasing and not negative, and orthonormal ``vectors (n, r)``."""

    values: np.ndarray
    vectors: np.ndarray


def clip_spectrum(
    values: np.ndarray, *, psd_tol: float | None = None, name: str = "kernel matrix", level: float = 0.0
) -> np.ndarray:
    """Set negative eigenvalues to zero, after making sure that they are rounding errors.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues in any order.
    psd_tol : float, optional
        The share of the largest eigenvalue that the smallest may fall below zero. The default allows for rounding:
        ``64 * n * eps`` of the values' precision, and never less than 1e-10.
    name : str
        What the matrix is called in the message.
    level : float
        The rounding errors of whatever the matrix was made from: eigenvalues up to this size are zero.
    """
    # LAPACK may return from NaN without a word.
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{name} could not be decomposed. Look for NaN or infinite entries.")
    low, high = float(values.min()), float(np.abs(values).max())
    if psd_tol is None:
        psd_tol = max(64 * len(values) * float(np.finfo(values.dtype).eps), 1e-10)
    if low < -max(psd_tol * high, level):
        raise ValueError(
            f"{name} is not positive semidefinite: its smallest eigenvalue is {low:.3g} and its largest "
            f"{float(values.max()):.3g}. Use a positive semidefinite kernel, or raise psd_tol (now {psd_tol:.3g}) to "
            "cut the negative part off."
        )
    return np.where(values > level, values, 0)


def fix_signs(vectors: np.ndarray) -> np.ndarray:
    """Flip columns, in place, so that the entry of largest size is positive: equal input, equal output."""
    top = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[top, np.arange(vectors.shape[1])] < 0, -1, 1).astype(vectors.dtype)
    return vectors


def symmetric_eigen(
    A: np.ndarray,
    n_components: int | None = None,
    *,
    overwrite: bool = False,
    psd_tol: float | None = None,
    name: str = "kernel matrix",
    level: float = 0.0,
) -> Eigen:
    """Decompose a symmetric positive semidefinite matrix, ``A = vectors @ diag(values) @ vectors.T``.

    Parameters
    ----------
    A : ndarray of shape (n, n)
    n_components : int, optional
        Keep only the largest so many eigenpairs (all by default).
    overwrite : bool
        Whether ``A`` may be destroyed.
    psd_tol, name, level
        See `clip_spectrum`.

    Examples
    --------
    >>> import numpy as np
    >>> symmetric_eigen(np.array([[2.0, 1.0], [1.0, 2.0]])).values
    array([3., 1.])
    """
    n = len(A)
    k = n if n_components is None else min(n_components, n)
    # Divide and conquer is the fastest route to all vectors, relatively robust representations to a few of them.
    driver, subset = ("evd", None) if k == n else ("evr", (n - k, n - 1))
    try:
        values, vectors = eigh(A, overwrite_a=overwrite, check_finite=False, driver=driver, subset_by_index=subset)
    except LinAlgError as error:
        raise ValueError(f"{name} could not be decomposed: {error}. Look for NaN or infinite entries.") from error
    if len(values) < k:
        values = np.full(k, np.nan)
    values = clip_spectrum(values, psd_tol=psd_tol, name=name, level=level)[::-1].copy()
    return Eigen(values, fix_signs(np.ascontiguousarray(vectors[:, ::-1])))
