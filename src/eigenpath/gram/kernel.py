"""The Gram matrix of a kernel: its triangle stored, or recomputed tile by tile, or stored as far as memory reaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._threads import blocks, run_tiles
from ..kernels import Kernel
from ..kernels.distances import prepare_distance
from ._product import STRIP, rounding_error, symmetric_product
from .base import Gram
from .cross import KernelCross

__all__ = ["DistanceTriangle", "KernelGram", "triangle_bytes"]

_FILL_WIDTH = 512
_SAMPLED_ROWS = 8


def triangle_bytes(n: int, dtype: Any) -> int:
    """The bytes of a stored triangle: half a matrix, and half a strip along the diagonal."""
    return sum((s.stop - s.start) * (n - s.start) for s in blocks(n, STRIP)) * np.dtype(dtype).itemsize


class DistanceTriangle:
    """The distances between rows that several kernels are functions of, in strips above the diagonal.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
    metric : str
        As in `distance_matrix`.
    """

    def __init__(self, X: Any, metric: str) -> None:
        n = X.shape[0]
        distances = prepare_distance(X.astype(np.float64, copy=False), None, metric)
        strips = blocks(n, STRIP)
        self._panels = _allocate(strips, n, np.dtype(np.float64), None)

        def work(panel: np.ndarray, rows: slice, cols: slice) -> None:
            tile = np.empty((rows.stop - rows.start, cols.stop - cols.start))
            distances(rows, cols, tile)
            panel[:, cols.start - rows.start : cols.stop - rows.start] = tile

        run_tiles(work, _jobs(strips, self._panels))

    def filler(self, kernel: Kernel) -> Callable[[slice, slice, np.ndarray], None]:
        """Write the tiles of a kernel of this metric, of rows that are a strip, on and above the diagonal."""

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            panel = self._panels[rows.start // STRIP]
            kernel.from_distance(panel[:, cols.start - rows.start : cols.stop - rows.start], out=out)

        return fill


class KernelGram(Gram):
    """K = k(X, X) in strips of its upper triangle.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : {ndarray, CSR matrix} of shape (n, d)
    dtype : {float64, float32}
        float32 halves memory and time. Entries that are stored are computed in float64 first; entries that are not are
        computed in float32.
    budget : int, optional
        Bytes that may be kept. Strips that do not fit are recomputed in every product. All are kept by default.
    distances : DistanceTriangle, optional
        Of the kernel's metric: what is kept is computed from it, in one pass.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> KernelGram(Linear(), X) @ np.array([1.0, 2.0])
    array([3., 5.])
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        dtype: Any = np.float64,
        budget: int | None = None,
        distances: DistanceTriangle | None = None,
    ) -> None:
        super().__init__(X.shape[0])
        self.kernel = kernel
        self.dtype = np.dtype(dtype)
        self.X = X.astype(np.float64, copy=False)
        self._n_threads = None if getattr(kernel, "_threaded", True) else 1
        self._fill = kernel.filler(self.X)
        self._spare: dict = {}
        self._strips = blocks(len(self), STRIP)
        self._panels = _allocate(self._strips, len(self), self.dtype, budget)
        # Recomputing is the price of a product: let it be in float32 if its result is.
        single = self.dtype == np.float32 and len(self._panels) < len(self._strips)
        self._refill = kernel.filler(self.X.astype(np.float32)) if single else self._fill
        self._store(self._fill if distances is None else distances.filler(kernel))

    @property
    def storage(self) -> str:
        """What was kept: "stored", "tiled" or, where the budget ended, "partial"."""
        if len(self._panels) == len(self._strips):
            return "stored"
        return "partial" if self._panels else "tiled"

    def _store(self, fill: Callable[[slice, slice, np.ndarray], None]) -> None:
        jobs = _jobs(self._strips, self._panels)
        squares = np.zeros(len(jobs))

        def work(panel: np.ndarray, rows: slice, cols: slice, job: int) -> None:
            tile = np.empty((rows.stop - rows.start, cols.stop - cols.start))
            fill(rows, cols, tile)
            if rows == cols:
                _mirror(tile)
            squares[job] = np.vdot(tile, tile) * (1 if rows == cols else 2)
            panel[:, cols.start - rows.start : cols.stop - rows.start] = tile

        run_tiles(work, [(*job, i) for i, job in enumerate(jobs)], self._n_threads)
        self._square = float(squares.sum())

    def _tile(self, i: int, cols: slice, work: np.ndarray) -> np.ndarray:
        rows = self._strips[i]
        if i < len(self._panels):
            return self._panels[i][:, cols.start - rows.start : cols.stop - rows.start]
        out = work.reshape(-1)[: (rows.stop - rows.start) * (cols.stop - cols.start)]
        out = out.reshape(rows.stop - rows.start, -1)
        self._refill(rows, cols, out)
        return out

    def product(self, V: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        # A kernel that is not safe with threads only matters where it is called.
        if self.storage != "stored" and self._n_threads is not None:
            n_threads = self._n_threads
        return symmetric_product(self._tile, len(self), V, self.dtype, self._spare, n_threads)

    def diagonal(self) -> np.ndarray:
        return np.asarray(self.kernel.diag(self.X), dtype=np.float64)

    def rows(self, index: Any) -> np.ndarray:
        index = np.arange(len(self))[index]
        out = np.empty((len(index), len(self)))
        if len(index) == 0:
            return out
        # Runs of neighbours are one tile each.
        starts = np.flatnonzero(np.diff(index, prepend=-2) != 1)
        for start, stop in zip(starts, [*starts[1:], len(index)]):
            self._fill(slice(int(index[start]), int(index[stop - 1]) + 1), slice(0, len(self)), out[start:stop])
        return out

    def cross(self, X: Any) -> KernelCross:
        return KernelCross(self.kernel, X, self.X)

    def dense(self) -> np.ndarray:
        if self.storage != "stored":
            return self.kernel(self.X).astype(self.dtype, copy=False)
        K = np.empty(self.shape, self.dtype)
        for rows, panel in zip(self._strips, self._panels):
            K[rows, rows.start :] = panel
            K[rows.stop :, rows] = panel[:, rows.stop - rows.start :].T
        return K

    @property
    def nbytes(self) -> int:
        return sum(panel.nbytes for panel in self._panels)

    @property
    def product_error(self) -> float:
        rounded = self.dtype == np.float32 and self.storage == "stored"
        return rounding_error(len(self), self.dtype, self._norm(), rounded) + self._evaluation_error()

    def _norm(self) -> float:
        """A bound on the Frobenius norm, or without one, twice what a few rows show."""
        if self.storage == "stored":
            return float(np.sqrt(self._square))
        if self.kernel.psd:
            return self.trace()
        rows = self.rows(np.random.default_rng(0).permutation(len(self))[:_SAMPLED_ROWS])
        return 2 * float(np.sqrt(len(self) * (rows**2).sum(axis=1).mean()))

    def _evaluation_error(self) -> float:
        """Twice the Frobenius norm of what float32 does to the kernel's formula, extrapolated from a few rows."""
        if self._refill is self._fill:
            return 0.0
        n, error = len(self), 0.0
        for i in np.random.default_rng(0).integers(n, size=_SAMPLED_ROWS):
            single, double = np.empty((1, n), np.float32), np.empty((1, n))
            self._refill(slice(i, i + 1), slice(0, n), single)
            self._fill(slice(i, i + 1), slice(0, n), double)
            error += float(((single - double) ** 2).mean())
        return 2 * n * float(np.sqrt(error / _SAMPLED_ROWS))


def _allocate(strips: list[slice], n: int, dtype: np.dtype, budget: int | None) -> list[np.ndarray]:
    """The longest strips first, while they fit the budget."""
    panels, left = [], np.inf if budget is None else budget
    for rows in strips:
        left -= (rows.stop - rows.start) * (n - rows.start) * dtype.itemsize
        if left < 0:
            break
        panels.append(np.empty((rows.stop - rows.start, n - rows.start), dtype))
    return panels


def _jobs(strips: list[slice], panels: list[np.ndarray]) -> list[tuple[np.ndarray, slice, slice]]:
    """The tiles to fill: panel, rows, columns."""
    return [
        (panel, rows, slice(rows.start + cols.start, rows.start + cols.stop))
        for rows, panel in zip(strips, panels)
        for cols in _split(panel.shape)
    ]


def _split(shape: tuple[int, int]) -> list[slice]:
    """Columns of a panel in tiles; the first is the square on the diagonal."""
    height, width = shape
    return [slice(0, height), *(slice(c.start + height, c.stop + height) for c in blocks(width - height, _FILL_WIDTH))]


def _mirror(tile: np.ndarray) -> None:
    """Copy the upper triangle to the lower one: BLAS may round the two differently."""
    np.copyto(tile, tile.T.copy(), where=np.tri(len(tile), k=-1, dtype=bool))
