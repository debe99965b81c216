"""Rows of a table, centred, scaled and weighted without being stored: what they do to vectors and to each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import qr
from scipy.sparse import diags_array, issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._threads import available_threads, blocks, run_tiles

__all__ = ["DenseRows", "Rows", "SparseRows", "centred_rows", "column_deviations", "column_means"]

TILE = 2**19  # entries of a tile of rows: some megabytes, so that it is centred and multiplied in cache


@dataclass(frozen=True)
class DenseRows:
    """The matrix ``A = diag(root) (X - mean) / scale``, tile by tile and never stored unless a route asks for it."""

    sparse: ClassVar[bool] = False

    X: np.ndarray
    mean: np.ndarray
    scale: np.ndarray | None = None
    root: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def offset(self) -> float:
        """Size of the largest mean, in units of the columns' scales."""
        return float(np.abs(self.mean if self.scale is None else self.mean / self.scale).max())

    @property
    def cancelled(self) -> float:
        """What the squares are the difference of, above their own size."""
        return 0.0

    def tiles(self, rows: slice | None = None, least: int = 1) -> Iterator[tuple[slice, np.ndarray]]:
        """The given rows of A (all), at least so many at a time, in one buffer that the next tile overwrites."""
        start, stop, _ = (rows or slice(None)).indices(self.shape[0])
        step = max(least, TILE // self.shape[1])
        buffer = np.empty((min(step, stop - start), self.shape[1]), np.result_type(self.X, self.mean))
        for first in range(start, stop, step):
            part = slice(first, min(first + step, stop))
            yield part, self._centre(part, buffer[: part.stop - first])

    def _strips(self) -> list[slice]:
        """One share of the rows for each thread, if they are many more than the columns; else BLAS has the threads."""
        n, d = self.shape
        return blocks(n, -(-n // max(1, min(available_threads(), n // (4 * d)))))

    def _centre(self, part: slice, out: np.ndarray) -> np.ndarray:
        np.subtract(self.X[part], self.mean, out=out)
        if self.scale is not None:
            out /= self.scale
        if self.root is not None:
            out *= self.root[part, None]
        return out

    def dense(self) -> np.ndarray:
        """A itself."""
        return self._centre(slice(None), np.empty(self.shape, np.result_type(self.X, self.mean)))

    def scatter(self) -> np.ndarray:
        """``A.T @ A``; the mean is taken off before, so large offsets cancel no digits."""
        strips = self._strips()
        parts = np.zeros((len(strips), self.shape[1], self.shape[1]), self.X.dtype)

        def work(part: np.ndarray, strip: slice) -> None:
            for _, tile in self.tiles(strip):
                part += tile.T @ tile

        run_tiles(work, zip(parts, strips, strict=True))
        return parts.sum(axis=0)

    def gram(self) -> np.ndarray:
        """``A @ A.T``."""
        A = self.dense()
        return A @ A.T

    def triangle(self) -> np.ndarray:
        """R of ``A = Q R``, by QR of one tile after the other below the R so far."""
        d = self.shape[1]
        R = np.zeros((0, d), self.X.dtype)
        for _, tile in self.tiles(least=d):
            R = qr(np.vstack([R, tile]), mode="r", overwrite_a=True, check_finite=False)[0][:d]
        return R

    def lift(self, U: np.ndarray) -> np.ndarray:
        """``A.T @ U``."""
        out = np.zeros((self.shape[1], U.shape[1]), self.X.dtype)
        for part, tile in self.tiles():
            out += tile.T @ U[part]
        return out

    def project(self, components: np.ndarray) -> np.ndarray:
        """``A @ components.T``."""
        out = np.empty((self.shape[0], len(components)), np.result_type(self.X, self.mean, components))

        def work(strip: slice) -> None:
            for part, tile in self.tiles(strip):
                np.matmul(tile, components.T, out=out[part])

        run_tiles(work, [(strip,) for strip in self._strips()])
        return out

    def sum_of_squares(self) -> float:
        """Squared Frobenius norm of A."""
        return float(sum(np.einsum("ij,ij->", tile, tile) for _, tile in self.tiles()))

    def operator(self) -> LinearOperator:
        """A, held, as something that multiplies."""
        A = self.dense()
        return aslinearoperator(A)


@dataclass(frozen=True)
class SparseRows:
    """``A = S - root mean^T``, where ``S = diag(root) X / scale`` stays sparse and ``mean`` is in the same units."""

    sparse: ClassVar[bool] = True

    S: Any  # CSR or CSC, matrix or array
    mean: np.ndarray
    root: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.S.shape

    @property
    def offset(self) -> float:
        """Size of the largest mean, in units of the columns' scales."""
        return float(np.abs(self.mean).max())

    @property
    def cancelled(self) -> float:
        """What the squares are the difference of, above their own size."""
        return float((self.root @ self.root) * (self.mean @ self.mean))

    def tiles(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of A, dense, a few at a time."""
        n, d = self.shape
        rows = self.S.tocsr()
        step = max(1, TILE // d)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            yield part, rows[part].toarray() - np.outer(self.root[part], self.mean)

    def scatter(self) -> np.ndarray:
        """``A.T @ A``, the mean taken off after: a mean far above the spread costs digits."""
        return (self.S.T @ self.S).toarray() - (self.root @ self.root) * np.outer(self.mean, self.mean)

    def gram(self) -> np.ndarray:
        """``A @ A.T``, likewise."""
        u = np.outer(self.S @ self.mean, self.root)
        return (self.S @ self.S.T).toarray() - u - u.T + (self.mean @ self.mean) * np.outer(self.root, self.root)

    def lift(self, U: np.ndarray) -> np.ndarray:
        """``A.T @ U``."""
        return self.S.T @ U - np.outer(self.mean, self.root @ U)

    def project(self, components: np.ndarray) -> np.ndarray:
        """``A @ components.T``."""
        return self.S @ components.T - np.outer(self.root, components @ self.mean)

    def sum_of_squares(self) -> float:
        """Squared Frobenius norm of A."""
        return float(self.S.multiply(self.S).sum() - self.cancelled)

    def operator(self) -> LinearOperator:
        """A as something that multiplies."""
        S, St = self.S, self.S.T.tocsr()

        def forward(v):
            v = np.ravel(v)  # scipy passes columns of shape (d, 1) too
            return S @ v - self.root * (self.mean @ v)

        def backward(u):
            u = np.ravel(u)
            return St @ u - self.mean * (self.root @ u)

        return LinearOperator(self.shape, matvec=forward, rmatvec=backward, dtype=self.mean.dtype)


Rows = DenseRows | SparseRows


def column_means(X, weights: np.ndarray | None = None) -> np.ndarray:
    """Weighted mean of every column, summed in float64."""
    if issparse(X):
        return mean_variance_axis(X, axis=0, weights=weights)[0].astype(np.float64)
    if weights is None:
        return X.mean(axis=0, dtype=np.float64)
    return np.einsum("i,ij->j", weights, X) / weights.sum()


def column_deviations(X, mean: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Weighted standard deviation of every column, over the sum of the weights; 1 for a constant column."""
    if issparse(X):
        variance = mean_variance_axis(X, axis=0, weights=weights)[1]
    else:
        rows = DenseRows(X, mean, root=None if weights is None else np.sqrt(weights))
        variance = sum(np.einsum("ij,ij->j", tile, tile) for _, tile in rows.tiles())
        variance = variance / (len(X) if weights is None else weights.sum())
    deviation = np.sqrt(variance)
    # What rounding alone leaves of a constant column, in its entries and in the sum that made its mean.
    level = (4 * np.finfo(X.dtype).eps + X.shape[0] * np.finfo(float).eps) * np.abs(mean)
    return np.where(deviation <= level, 1, deviation)


def centred_rows(X, mean: np.ndarray, scale: np.ndarray | None = None, weights: np.ndarray | None = None) -> Rows:
    """The rows of X, centred, scaled and multiplied by the roots of their weights, dense or sparse as X is."""
    root = None if weights is None else np.sqrt(weights).astype(X.dtype)
    if not issparse(X):
        return DenseRows(X, mean, scale, root)
    if scale is not None:
        X, mean = X @ diags_array(1 / scale), mean / scale
    if root is not None:
        X = diags_array(root) @ X
    return SparseRows(X, mean, np.ones(X.shape[0], X.dtype) if root is None else root)
