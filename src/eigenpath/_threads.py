"""Tiles of a matrix, and threads to work on them while BLAS keeps to one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["available_threads", "blocks", "run_tiles", "single_threaded_blas", "tiles"]

_state = threading.Lock()
_depth = 0
_limiter = None


@cache
def _controller() -> ThreadpoolController:
    """The BLAS libraries of this process; finding them takes milliseconds, so they are looked for once."""
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController().select(user_api="blas")


def available_threads() -> int:
    """How many threads a tile loop started here may use: what BLAS may use, and no more than the cores we are given.

    Limits set by the user (``threadpoolctl.threadpool_limits``, ``OPENBLAS_NUM_THREADS``, joblib's workers) so hold for
    the tile loops too. Inside a tile loop the answer is 1.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min([cores, *(library.num_threads for library in _controller().lib_controllers)]))


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread; the limit is that of the process, so the last one to leave restores it."""
    global _depth, _limiter
    with _state:
        if _depth == 0:
            _limiter = _controller().limit(limits=1)
        _depth += 1
    try:
        yield
    finally:
        with _state:
            _depth -= 1
            if _depth == 0 and _limiter is not None:
                _limiter.restore_original_limits()
                _limiter = None


def blocks(n: int, size: int) -> list[slice]:
    """Cut ``range(n)`` into slices of ``size``, the last one shorter.

    >>> blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def tiles(n_rows: int, n_cols: int, size: tuple[int, int], *, triangle: bool = False) -> list[tuple[slice, slice]]:
    """List the (rows, columns) of a matrix's tiles; with ``triangle`` those on and above the diagonal."""
    return [
        (rows, cols)
        for rows in blocks(n_rows, size[0])
        for cols in blocks(n_cols, size[1])
        if not triangle or cols.start >= rows.start
    ]


def run_tiles(work: Callable[..., object], jobs: Iterable[tuple], n_threads: int | None = None) -> None:
    """Call ``work(*job)`` for every job, on threads that take the next job when they are free.

    Pays when ``work`` releases the GIL, as ufuncs and matrix products do. With several threads, BLAS is limited to one
    in each. The first exception is raised, and no job is started after it.

    Parameters
    ----------
    work : callable
        Must write to places of its own in every call.
    jobs : iterable of tuple
    n_threads : int, optional
        `available_threads` by default.

    Examples
    --------
    >>> import numpy as np
    >>> squares = np.zeros(4)
    >>> def work(i):
    ...     squares[i] = i**2
    >>> run_tiles(work, [(i,) for i in range(4)])
    >>> squares
    array([0., 1., 4., 9.])
    """
    jobs = list(jobs)
    n_threads = min(len(jobs), available_threads() if n_threads is None else n_threads)
    if n_threads <= 1:
        for job in jobs:
            work(*job)
        return
    queue, turn, failed = iter(jobs), threading.Lock(), threading.Event()

    def worker() -> None:
        while not failed.is_set():
            with turn:
                job = next(queue, None)
            if job is None:
                return
            try:
                work(*job)
            except BaseException:
                failed.set()
                raise

    with single_threaded_blas(), ThreadPoolExecutor(n_threads - 1) as pool:
        # A worker runs in a copy of the caller's context, so that np.errstate holds in it. The caller is one of them.
        futures = [pool.submit(copy_context().run, worker) for _ in range(n_threads - 1)]
        worker()
    for future in futures:
        future.result()
