"""The product of a symmetric matrix with a block of vectors, from the tiles of its upper triangle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._threads import available_threads, blocks, run_tiles, single_threaded_blas

__all__ = ["STRIP", "rounding_error", "run_in_turn", "symmetric_product"]

# tile(i, cols, work) -> K[strip i, cols]; work is an array that it may use, as large as the widest tile.
Tiles = Callable[[int, slice, np.ndarray], np.ndarray]

# Rows of a strip. With the width below, a tile fits the second-level cache and is used twice there.
STRIP = 256
_WIDEST = 1024
# OpenBLAS multiplies small matrices in place, and copies large ones first, which costs more than the product when there
# are few vectors. It draws the line at so many multiplications.
_SMALL = 1_000_000
# Vectors multiplied at a time while a tile is in cache.
_TOGETHER = 16
# Fewer are not padded: for one vector, BLAS has routines of its own.
_FEW_VECTORS = 3
# Sums are formed apart for so many groups of strips, and added in order: the number of threads does not matter.
_GROUPS = 8
# Fewer multiplications than this are done sooner than a second thread is started.
_FEW = 30_000_000
_SUMS_BYTES = 2**28


def symmetric_product(
    tile: Tiles, n: int, V: np.ndarray, dtype: np.dtype, spare: dict, n_threads: int | None = None
) -> np.ndarray:
    """Return ``K @ V`` in float64, reading each tile above the diagonal once and using it twice.

    Parameters
    ----------
    tile : callable
    n : int
    V : ndarray of shape (n, k)
    dtype : dtype
        Of the tiles, and of the products within a group of strips.
    spare : dict
        Of the caller: large arrays wait here for its next product. New ones would be paid for page by page.
    """
    k, strips, parts = V.shape[1], blocks(n, STRIP), _by_rows(V, dtype)
    n_groups = int(np.clip(_SUMS_BYTES // sum(part.nbytes for part in parts), 2, min(_GROUPS, len(strips) + 1)))
    own = [np.empty_like(part) for part in parts]
    width = _tile_width(parts[0].shape[1])
    shapes = tuple((n_groups, *part.shape) for part in parts)
    mirrored, spaces = spare.pop(shapes, None) or ([np.empty(shape, dtype) for shape in shapes], [])

    def work(group: int) -> None:
        # As many as there are threads.
        try:
            space = spaces.pop()
        except IndexError:
            space = np.empty((STRIP, max(width, STRIP)), dtype)
        for sums in mirrored:
            sums[group] = 0
        for i in range(group, len(strips), n_groups):
            rows = strips[i]
            # The block on the diagonal is whole.
            block = tile(i, rows, space)
            for part, out in zip(parts, own):
                np.matmul(block, part[rows], out=out[rows])
            for cols in blocks(n - rows.stop, width):
                cols = slice(cols.start + rows.stop, cols.stop + rows.stop)
                block = tile(i, cols, space)
                for part, out, sums in zip(parts, own, mirrored):
                    out[rows] += block @ part[cols]
                    sums[group, cols] += block.T @ part[rows]
        spaces.append(space)

    run_in_turn(work, [(group,) for group in range(n_groups)], 1 if n * n * k < _FEW else n_threads)
    total = _total(own, mirrored, k)
    spare.clear()
    spare[shapes] = mirrored, spaces
    return total


def _total(own: list[np.ndarray], mirrored: list[np.ndarray], k: int) -> np.ndarray:
    """The sums of all groups, of the first ``k`` columns, which are contiguous."""
    total = np.empty((k, len(own[0])))
    for start, out, sums in zip(range(0, k, _TOGETHER), own, mirrored):
        rows, whole = total[start : start + _TOGETHER], sums.sum(axis=0, dtype=np.float64)
        whole += out
        rows[:] = whole[:, : len(rows)].T
    return total.T


def _by_rows(V: np.ndarray, dtype: np.dtype) -> list[np.ndarray]:
    """``V`` in parts of so many columns that are multiplied at a time, by rows, as BLAS takes them fastest.

    Zero columns fill them up to a number that BLAS multiplies at once: an odd one takes longer.
    """
    parts = []
    for columns in blocks(V.shape[1], _TOGETHER):
        k = columns.stop - columns.start
        part = np.zeros((len(V), k if k < _FEW_VECTORS else -(-k // 4) * 4), dtype)
        part[:, :k] = V[:, columns]
        parts.append(part)
    return parts


def run_in_turn(work: Callable[..., object], jobs: list[tuple], n_threads: int | None = None) -> None:
    """`run_tiles` with BLAS limited to one thread even if there is only one of ours: it would split every tile."""
    n_threads = available_threads() if n_threads is None else n_threads
    with single_threaded_blas():
        run_tiles(work, jobs, n_threads)


def _tile_width(k: int) -> int:
    """The widest tile whose product with ``k`` vectors BLAS takes for a small one."""
    return int(np.clip(_SMALL // (STRIP * k) // 32 * 32, 32, _WIDEST))


def rounding_error(n: int, dtype: np.dtype, norm: float, entries: bool) -> float:
    """Bound the error of `symmetric_product` for a unit vector; ``norm`` bounds that of the matrix of absolute values.

    ``entries`` says whether those of the matrix were rounded too.
    """
    # Errors of a sum grow as the root of the number of terms: in a tile, and over tiles.
    growth = np.sqrt(min(n, _WIDEST) + n / STRIP) + 2 + entries
    return float(growth * np.finfo(dtype).eps / 2 * norm)
