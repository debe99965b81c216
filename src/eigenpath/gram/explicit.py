"""The Gram matrix of explicit features: two thin products, and no n x n matrix at all."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._threads import blocks
from ..kernels import Kernel
from ._product import run_in_turn
from .base import Gram
from .cross import FactorCross

__all__ = ["ExplicitGram"]

_ROWS = 1024
_GROUPS = 8


class ExplicitGram(Gram):
    """K = Z Z^T.

    Parameters
    ----------
    Z : {ndarray, CSR matrix} of shape (n, d)
        Features of the rows.
    kernel : Kernel, optional
        Computes the features of new rows; without it new rows are features already.

    Examples
    --------
    >>> import numpy as np
    >>> ExplicitGram(np.array([[1.0, 0.0], [1.0, 1.0]])) @ np.array([1.0, 2.0])
    array([3., 5.])
    """

    def __init__(self, Z: Any, kernel: Kernel | None = None) -> None:
        super().__init__(Z.shape[0])
        self.kernel = kernel
        self.dtype = np.dtype(np.float32 if Z.dtype == np.float32 else np.float64)
        self.Z = sparse.csr_array(Z, dtype=self.dtype) if sparse.issparse(Z) else np.asarray(Z, self.dtype)

    def product(self, V: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        V = np.asarray(V, self.dtype)
        if sparse.issparse(self.Z):
            return np.asarray(self.Z @ (self.Z.T @ V), dtype=np.float64)
        rows = blocks(len(self), _ROWS)
        parts = np.zeros((min(_GROUPS, len(rows)), self.Z.shape[1], V.shape[1]))
        out = np.empty((V.shape[1], len(self)))

        def gather(group: int) -> None:
            for r in rows[group :: len(parts)]:
                parts[group] += self.Z[r].T @ V[r]

        def scatter(r: slice) -> None:
            out[:, r] = (self.Z[r] @ moment).T

        run_in_turn(gather, [(group,) for group in range(len(parts))], n_threads)
        moment = parts.sum(axis=0).astype(self.dtype)
        run_in_turn(scatter, [(r,) for r in rows], n_threads)
        return out.T

    def diagonal(self) -> np.ndarray:
        Z: Any = self.Z
        squares = Z.multiply(Z).sum(axis=1) if sparse.issparse(Z) else np.einsum("ij,ij->i", Z, Z)
        return np.asarray(squares, dtype=np.float64).ravel()

    def rows(self, index: Any) -> np.ndarray:
        return np.asarray(FactorCross(self.Z[index], self.Z).dense(), dtype=np.float64)

    def cross(self, X: Any) -> FactorCross:
        return FactorCross(X if self.kernel is None else self.kernel.features(X), self.Z)

    def dense(self) -> np.ndarray:
        return FactorCross(self.Z, self.Z).dense()

    @property
    def nbytes(self) -> int:
        return self.Z.data.nbytes

    @cached_property
    def product_error(self) -> float:
        # |Z| |Z|^T has the trace of Z Z^T.
        n, d = self.Z.shape
        return float((np.sqrt(n) + np.sqrt(d) + 2) * np.finfo(self.dtype).eps / 2 * self.trace())
