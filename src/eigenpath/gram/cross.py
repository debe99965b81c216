"""Kernel values between new rows and training rows, multiplied by coefficients in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._threads import blocks, run_tiles
from ..kernels import Kernel
from .base import Cross

__all__ = ["FactorCross", "KernelCross"]

_TILE = 384


class KernelCross(Cross):
    """k(X, X_train), computed tile by tile for each product.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : {ndarray, CSR matrix} of shape (m, d)
    Z : {ndarray, CSR matrix} of shape (n, d)
        The training rows.
    dtype : {float64, float32}
        In what precision kernel values are computed and tiles multiplied; tiles are added up in float64.
    """

    def __init__(self, kernel: Kernel, X: Any, Z: Any, dtype: Any = np.float64) -> None:
        super().__init__((X.shape[0], Z.shape[0]))
        self.dtype = np.dtype(dtype)
        self.kernel, self.X, self.Z = kernel, X.astype(dtype, copy=False), Z.astype(dtype, copy=False)
        self._fill = kernel.filler(self.X, self.Z)
        self._n_threads = None if getattr(kernel, "_threaded", True) else 1

    def product(self, C: np.ndarray) -> np.ndarray:
        m, n = self.shape
        out = np.zeros((m, C.shape[1]))
        C = np.ascontiguousarray(C, self.dtype)
        columns = blocks(n, _TILE)

        def work(rows: slice) -> None:
            space = np.empty((rows.stop - rows.start) * min(n, _TILE), self.dtype)
            for cols in columns:
                width = cols.stop - cols.start
                tile = space[: (rows.stop - rows.start) * width].reshape(-1, width)
                self._fill(rows, cols, tile)
                out[rows] += tile @ C[cols]

        run_tiles(work, [(rows,) for rows in blocks(m, _TILE)], self._n_threads)
        return out

    def dense(self) -> np.ndarray:
        return self.kernel(self.X, self.Z)


class FactorCross(Cross):
    """A given matrix, or one of features times those of the training rows.

    Parameters
    ----------
    left : {ndarray, CSR matrix} of shape (m, n) or (m, d)
    right : {ndarray, CSR matrix} of shape (n, d), optional
    """

    def __init__(self, left: Any, right: Any = None) -> None:
        super().__init__((left.shape[0], left.shape[1] if right is None else right.shape[0]))
        self._left, self._right = left, right

    def product(self, C: np.ndarray) -> np.ndarray:
        C = np.asarray(C, dtype=np.float64)
        return np.asarray(self._left @ (C if self._right is None else self._right.T @ C), dtype=np.float64)

    def dense(self) -> np.ndarray:
        if self._right is None:
            return np.asarray(self._left)
        K = self._left @ self._right.T
        return K.toarray() if hasattr(K, "toarray") else K
