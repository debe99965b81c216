"""Fill a kernel matrix tile by tile, over threads; a symmetric one by one triangle and its mirror image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._threads import run_tiles, tiles

__all__ = ["TILE", "Fill", "fill_matrix", "set_diagonal", "write_product"]

# fill(rows, cols, out) writes the tile K[rows, cols] to ``out``; it may be called from several threads at once.
Fill = Callable[[slice, slice, np.ndarray], None]

# A square tile of float64 with this side is 0.8 MB: it stays in the second-level cache of current processors while the
# passes go over it, and is large enough for BLAS and for the interpreter's overhead to vanish. Its rows are an odd
# number of cache lines long, so that a column's entries do not compete for places when the tile is transposed.
TILE = 312


def fill_matrix(fill: Fill, out: np.ndarray, *, symmetric: bool, size: int = TILE, threaded: bool = True) -> np.ndarray:
    """Write the whole matrix to ``out``; if ``symmetric``, only tiles on and above the diagonal are computed."""

    def work(rows: slice, cols: slice) -> None:
        # A tile of its own, not a view of out: strided rows would fall on the same cache lines pass after pass.
        tile = np.empty((rows.stop - rows.start, cols.stop - cols.start), out.dtype)
        fill(rows, cols, tile)
        if symmetric and rows == cols:
            _mirror(tile)
        out[rows, cols] = tile
        if symmetric and rows != cols:
            out[cols, rows] = tile.T

    n_rows, n_cols = out.shape
    jobs = tiles(n_rows, n_cols, (size, size), triangle=symmetric)
    run_tiles(work, jobs, None if threaded else 1)
    return out


def _mirror(tile: np.ndarray) -> None:
    """Copy the upper triangle to the lower one, in place."""
    lower = np.tri(len(tile), k=-1, dtype=bool)
    np.copyto(tile, tile.T.copy(), where=lower)


def set_diagonal(out: np.ndarray, rows: slice, cols: slice, values: np.ndarray) -> None:
    """Write ``values``, one per row of the whole matrix, where the tile meets the matrix's diagonal."""
    start, stop = max(rows.start, cols.start), min(rows.stop, cols.stop)
    if start < stop:
        index = np.arange(start, stop)
        out[index - rows.start, index - cols.start] = values[start:stop]


def write_product(X: Any, Z: Any, out: np.ndarray) -> None:
    """Write X Z^T to ``out``."""
    if sp.issparse(X):
        out[...] = (X @ Z.T).toarray()
    else:
        np.matmul(X, Z.T, out=out)
