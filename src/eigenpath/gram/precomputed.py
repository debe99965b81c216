"""The user's own Gram matrix, used where it lies."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .._threads import blocks, run_tiles
from ._product import STRIP, rounding_error, symmetric_product
from .base import Gram
from .cross import FactorCross

__all__ = ["PrecomputedGram"]

# How far entries above and below the diagonal may differ, as a share of the largest.
_ASYMMETRY = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}
_TILE = 512


class PrecomputedGram(Gram):
    """A matrix that is given. It is not copied if it is contiguous and of the precision asked for.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric: the triangle above the diagonal is used.
    dtype : {float64, float32}, optional
        float32 keeps a copy of the triangle in that precision, a quarter of a float64 matrix: products take half the
        time. By default that of K.

    Examples
    --------
    >>> import numpy as np
    >>> PrecomputedGram(np.array([[2.0, 1.0], [1.0, 2.0]])) @ np.array([1.0, 0.0])
    array([2., 1.])
    """

    def __init__(self, K: Any, dtype: Any = None) -> None:
        K = np.asarray(K)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"a precomputed kernel matrix must be square, got an array of shape {K.shape}.")
        super().__init__(len(K))
        K = K if K.dtype == np.float32 else K.astype(np.float64, copy=False)
        # A symmetric matrix in Fortran order is the same matrix in C order.
        self._K = K.T if K.flags.f_contiguous else np.ascontiguousarray(K)
        self.dtype = np.dtype(K.dtype if dtype is None else dtype)
        self._spare: dict = {}
        self._strips = blocks(len(self), STRIP)
        _check_symmetric(self._K)
        self._panels = [self._K[rows, rows.start :].astype(self.dtype, copy=False) for rows in self._strips]

    def product(self, V: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        return symmetric_product(self._tile, len(self), V, self.dtype, self._spare, n_threads)

    def _tile(self, i: int, cols: slice, work: np.ndarray) -> np.ndarray:
        start = self._strips[i].start
        return self._panels[i][:, cols.start - start : cols.stop - start]

    def diagonal(self) -> np.ndarray:
        return np.diagonal(self._K).astype(np.float64)

    def rows(self, index: Any) -> np.ndarray:
        return np.asarray(self._K[index], dtype=np.float64)

    def cross(self, X: Any) -> FactorCross:
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(self):
            raise ValueError(
                f"with a precomputed kernel, X must hold kernel values between new rows and the {len(self)} training "
                f"rows, got an array of shape {X.shape}."
            )
        return FactorCross(X)

    def dense(self) -> np.ndarray:
        return self._K

    @property
    def nbytes(self) -> int:
        return 0 if self.dtype == self._K.dtype else sum(panel.nbytes for panel in self._panels)

    @cached_property
    def product_error(self) -> float:
        norm = np.sqrt(sum(float(np.vdot(row, row)) for row in (self._K[r].astype(np.float64) for r in self._strips)))
        return rounding_error(len(self), self.dtype, norm, entries=self.dtype != self._K.dtype)


def _check_symmetric(K: np.ndarray) -> None:
    """Raise if the matrix differs from its transpose by more than rounding."""
    cuts = blocks(len(K), _TILE)
    pairs = [(i, j) for i in range(len(cuts)) for j in range(i, len(cuts))]
    gaps, sizes = np.zeros(len(pairs)), np.zeros(len(pairs))

    def work(job: int, i: int, j: int) -> None:
        tile = K[cuts[i], cuts[j]]
        sizes[job] = max(tile.max(), -tile.min())
        gap = tile - K[cuts[j], cuts[i]].T
        gaps[job] = max(gap.max(), -gap.min())

    with np.errstate(invalid="ignore"):
        run_tiles(work, [(job, *pair) for job, pair in enumerate(pairs)])
    if not np.isfinite(sizes).all():
        raise ValueError("the precomputed kernel matrix contains NaN or infinity: check the data it was computed from.")
    if gaps.max() > _ASYMMETRY[K.dtype] * sizes.max():
        raise ValueError(
            f"the precomputed kernel matrix is not symmetric: entries above and below the diagonal differ by up to "
            f"{gaps.max():.3g}. Pass k(X, X), or its symmetric part (K + K.T) / 2."
        )
