"""A progress bar on standard error, and jobs spread over processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import Any

from joblib import Parallel, delayed

__all__ = ["progress", "run_jobs"]

WIDTH = 30


def progress(items: Iterable[Any], total: int, what: str = "", stream: Any = None) -> Iterator[Any]:
    """Pass items on, and draw how many of ``total`` have come. Not a terminal: one line at the end."""
    stream = sys.stderr if stream is None else stream
    start, live = monotonic(), stream.isatty()
    for done, item in enumerate(items, 1):
        yield item
        if live or done == total:
            filled = WIDTH * done // total
            bar = "#" * filled + "-" * (WIDTH - filled)
            line = f"{what} [{bar}] {done}/{total}, {monotonic() - start:.0f} s"
            print(("\r" if live else "") + line, end="\n" if done == total else "", file=stream, flush=True)


def run_jobs(function: Callable[..., Any], jobs: Sequence[tuple], n_jobs: int, what: str) -> list[Any]:
    """``[function(*job) for job in jobs]`` on ``n_jobs`` processes, with a progress bar."""
    tasks = (delayed(_numbered)(function, i, job) for i, job in enumerate(jobs))
    results: list[Any] = [None] * len(jobs)
    for i, result in progress(Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks), len(jobs), what):
        results[i] = result
    return results


def _numbered(function: Callable[..., Any], i: int, job: tuple) -> tuple[int, Any]:
    return i, function(*job)
