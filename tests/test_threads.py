"""Tiles cover a matrix once; threads do every job, keep BLAS single-threaded meanwhile, and report errors."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from eigenpath._threads import available_threads, blocks, run_tiles, single_threaded_blas, tiles


@pytest.mark.parametrize("triangle", [False, True])
@pytest.mark.parametrize("n", [1, 7, 8, 9])
def test_tiles_cover_each_entry_once(n, triangle):
    count = np.zeros((n, n), dtype=int)
    for rows, cols in tiles(n, n, (4, 4), triangle=triangle):
        count[rows, cols] += 1
        if triangle and rows != cols:
            count[cols, rows] += 1
    assert (count == 1).all()


def test_blocks_of_nothing():
    assert blocks(0, 4) == []
    assert tiles(0, 5, (4, 4)) == []


@pytest.mark.parametrize("n_threads", [None, 1, 2, 5])
def test_every_job_is_done_once(n_threads):
    done = np.zeros(50, dtype=int)

    def work(i, by):
        done[i] += by

    run_tiles(work, ((i, 2) for i in range(50)), n_threads)
    assert (done == 2).all()


def test_blas_has_one_thread_inside_and_its_own_number_again_outside():
    before, inside = available_threads(), []
    run_tiles(lambda i: inside.append(available_threads()), [(i,) for i in range(6)], n_threads=2)
    assert set(inside) == {1}
    assert available_threads() == before


def test_nested_limits_are_lifted_by_the_last_one_out():
    before = available_threads()
    first, second = single_threaded_blas(), single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert available_threads() == 1
    second.__exit__(None, None, None)
    assert available_threads() == before


def test_limits_set_by_the_user_hold():
    with threadpool_limits(1):
        assert available_threads() == 1


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_first_error_is_raised_and_stops_the_rest(n_threads):
    started, failed = [], threading.Event()

    def work(i):
        started.append(i)
        if i == 0:
            failed.set()
            raise ZeroDivisionError("no such tile")
        # The other threads may finish the job they have, and one more if they are faster than the news.
        failed.wait(timeout=10)
        time.sleep(0.01)

    before = available_threads()
    with pytest.raises(ZeroDivisionError, match="no such tile"):
        run_tiles(work, [(i,) for i in range(100)], n_threads)
    assert len(started) < 50
    assert available_threads() == before


def test_error_settings_of_numpy_hold_in_the_threads():
    names = set()

    def work(i):
        names.add(threading.current_thread().name)
        np.log(np.zeros(3) * i)

    with np.errstate(divide="ignore"):
        run_tiles(work, [(i,) for i in range(20)], n_threads=2)
    assert threading.current_thread().name not in names
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        run_tiles(work, [(i,) for i in range(20)], n_threads=2)
