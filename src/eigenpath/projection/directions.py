"""Kernel principal directions of weighted points, uncentred."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigvalsh

from ..spectra.eigen import Eigen, clip_spectrum, symmetric_eigen
from ..spectra.top import TopSolver, exact_is_faster

__all__ = ["RANK_TOL", "Directions", "principal_directions"]

# Values of a direction at new points carry rounding errors of eps * largest / own eigenvalue: beyond this share of the
# largest eigenvalue they have fewer than half of their digits, and the direction counts as absent.
RANK_TOL = float(np.sqrt(np.finfo(np.float64).eps))
# Of each eigenvalue, what its residual may be when only the leading pairs are computed.
TOP_TOL = 1e-10
# The least that `clip_spectrum` takes for psd_tol if nothing is said.
PSD_TOL = 1e-10


class Directions(NamedTuple):
    """Directions of m points with weights w, as if every point were there w times.

    Attributes
    ----------
    values : ndarray of shape (D,)
        Eigenvalues of ``S K S``, S = diag(sqrt(w)); those of K when all weights are one. Decreasing.
    vectors : ndarray of shape (m, D)
        V, the value of each direction at each point, with ``V.T @ diag(w) @ V = I``.
    total : float
        The sum of the weights.
    """

    values: np.ndarray
    vectors: np.ndarray
    total: float

    @property
    def features(self) -> np.ndarray:
        """Values at the points, scaled to unit mean square."""
        return np.sqrt(self.total) * self.vectors

    def lift(self, weight: np.ndarray) -> np.ndarray:
        """The (m, D) matrix L with ``k(x, points) @ L`` = `features` at x."""
        return weight[:, None] * self.features / self.values


def principal_directions(
    K: np.ndarray,
    weight: np.ndarray,
    n_components: int | None = None,
    psd_tol: float | None = None,
    psd: bool = False,
) -> Directions:
    """Decompose the kernel matrix of points with positive weights; at most so many directions, and none past the rank.

    ``psd_tol`` is the share of the largest eigenvalue that others may fall below zero; those are no directions. With
    ``psd`` the matrix is known to be positive semidefinite, and no eigenvalue past ``n_components`` is looked at.

    Examples
    --------
    >>> import numpy as np
    >>> principal_directions(np.diag([4.0, 1.0, 0.0]), np.array([1.0, 9.0, 1.0])).values
    array([9., 4.])
    """
    eigen = _leading(K, weight, n_components, psd_tol)
    if not psd and len(eigen.values) < len(K):
        _judge_smallest(K, weight, eigen.values, psd_tol)
    if eigen.values[0] <= 0:
        raise ValueError(
            "the kernel matrix is zero, so there is no direction to project on. Check X for rows that are all zero and "
            "the parameters of kernel."
        )
    rank = int(np.count_nonzero(eigen.values > RANK_TOL * eigen.values[0]))
    return Directions(eigen.values[:rank], eigen.vectors[:, :rank] / np.sqrt(weight)[:, None], float(weight.sum()))


def _leading(K: np.ndarray, weight: np.ndarray, k: int | None, psd_tol: float | None) -> Eigen:
    """The leading eigenpairs of ``S K S``: by block Lanczos if these are few of many, and if it finds them."""
    if k is not None and not exact_is_faster(len(K), k):
        pairs = TopSolver(K, sample_weight=weight, random_state=0).solve(k, tol=TOP_TOL)
        if pairs.converged == k:
            return Eigen(clip_spectrum(pairs.values, psd_tol=psd_tol), pairs.vectors)
    return symmetric_eigen(_scaled(K, weight), k, overwrite=True, psd_tol=psd_tol)


def _judge_smallest(K: np.ndarray, weight: np.ndarray, values: np.ndarray, psd_tol: float | None) -> None:
    """Make sure that no eigenvalue of ``S K S`` is too far below zero, given the leading ones."""
    shifted = _scaled(K, weight)
    shifted.flat[:: len(K) + 1] += (PSD_TOL if psd_tol is None else psd_tol) * values[0]
    # Eigenvalues next to zero are many, and iterations take long to tell how far below they go. A Cholesky factor
    # takes a fraction of what the leading pairs take, and exists if none is below the shift.
    try:
        cholesky(shifted.T, overwrite_a=True, check_finite=False)
    except LinAlgError:
        low = eigvalsh(_scaled(K, weight).T, overwrite_a=True, check_finite=False, subset_by_index=(0, 0))
        clip_spectrum(np.append(values, low), psd_tol=psd_tol)


def _scaled(K: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """``S K S``; a product with roots of one is a copy too, and exact."""
    root = np.sqrt(weight)
    scaled = root[:, None] * K
    scaled *= root
    return scaled
