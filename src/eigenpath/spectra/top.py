"""The largest eigenpairs of a symmetric operator, each with a certificate."""

from __future__ import annotations

import warnings
from typing import NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .eigen import fix_signs
from .lanczos import BlockLanczos, Ritz

__all__ = ["Operator", "TopPairs", "TopSolver", "exact_is_faster", "top_eigenpairs"]

TOL = 1e-8
BLOCK = 32  # wide enough for matrix products to run near their peak


class Operator(Protocol):
    """Anything symmetric with a shape, a dtype and ``@`` on blocks of vectors."""

    shape: tuple[int, ...]
    dtype: np.dtype

    def __matmul__(self, V: np.ndarray) -> np.ndarray: ...


class TopPairs(NamedTuple):
    """The largest eigenpairs.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Decreasing. Not clipped: an indefinite operator may have negative ones.
    vectors : ndarray of shape (n, k)
        Orthonormal; the entry of largest size of each is positive.
    residuals : ndarray of shape (k,)
        Bounds on ``norm(A v - value v)``: an eigenvalue of A lies within this distance of the value.
    converged : int
        How many of the pairs, from the first, meet ``tol``.
    n_products : int
        How many vectors the operator was applied to; 0 if it was decomposed outright.
    gap : float
        The distance from the last value to the next one, as far as that is known (nan if it is not).
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    converged: int
    n_products: int
    gap: float


def exact_is_faster(n: int, k: int) -> bool:
    """Whether LAPACK finds the top ``k`` of ``n`` eigenpairs sooner than block Lanczos does (measured, two threads)."""
    return n <= 200 or k > n // 5


class TopSolver:
    r"""The largest eigenpairs of ``A`` or, centred and weighted, of ``H S A S H``, by block Lanczos.

    .. math:: S = \operatorname{diag}(\sqrt{w}), \qquad H = I - s s^T / s^T s, \quad s = \sqrt{w}

    Centring and weights are applied to vectors. What one call of `solve` learned, the next one starts from.

    Parameters
    ----------
    operator : Operator
    center : bool
    sample_weight : ndarray of shape (n,), optional
    random_state : int, RandomState or None
    block_size : int, optional
        The number of vectors multiplied at a time; by default a little more than the first ``k``, and at most 32.
    """

    def __init__(self, operator, *, center=False, sample_weight=None, random_state=None, block_size=None) -> None:
        self.operator, self.n = operator, operator.shape[0]
        self.dtype = np.dtype(np.float32) if operator.dtype == np.float32 else np.dtype(np.float64)
        self.root = None if sample_weight is None else np.sqrt(np.asarray(sample_weight)).astype(self.dtype)
        s = np.ones(self.n, dtype=self.dtype) if self.root is None else self.root
        self.null = s / np.linalg.norm(s) if center else None
        self.rng = check_random_state(random_state)
        self.block_size = block_size
        self.basis: BlockLanczos | None = None

    def multiply(self, rows: np.ndarray) -> np.ndarray:
        """Rows ``(b, n)`` to their products with the weighted, not yet centred, operator."""
        A = self.operator
        scaled = rows if self.root is None else rows * self.root
        if isinstance(A, np.ndarray):
            # Rows from the left are the faster order, for a symmetric matrix in C order.
            W = scaled @ (A if A.flags.c_contiguous else A.T)
        else:
            W = np.array((A @ scaled.T).T, dtype=self.dtype, order="C", copy=None)
        return W if self.root is None else np.multiply(W, self.root, out=W)

    def solve(self, k: int, *, tol: float = TOL, max_iter: int | None = None) -> TopPairs:
        """The top ``k``, with residuals at most ``tol`` times their values or at rounding level; no warnings.

        Parameters
        ----------
        k : int
        tol : float
        max_iter : int, optional
            The most products with a block of vectors; by default what takes about the time of decomposing the matrix.
        """
        basis = self._basis(k)
        block = basis.block
        limit = basis.products + block * (max_iter or max(20, 5 * self.n // (2 * block)))
        seen: float | None = None
        while True:
            ritz = self._advance(basis, k, tol, limit)
            out = basis.products >= limit or basis.done == self.n
            if _met(ritz, basis, tol)[:k].all() and len(ritz.values) >= k:
                settled = seen is not None and ritz.values[k - 1] <= seen + tol * abs(seen) + basis.floor
                if block >= k or settled or out or not self._probe(basis, ritz, k):
                    break
                seen = float(ritz.values[k - 1])
            elif out:
                break
        return self._pairs(basis, ritz, k, tol)
