"""The Lanczos basis itself: its recurrence, its orthogonality, and what restarts and fresh blocks do to them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenpath.spectra import lanczos
from eigenpath.spectra.lanczos import BlockLanczos

N = 400
EPS = np.finfo(float).eps
SPECTRA = {
    "multiplicities": np.r_[np.full(50, 3.0), np.full(50, 2.0), 0.8 ** np.arange(N - 100)],
    "geometric": 0.9 ** np.arange(N),
    "steep": 0.5 ** np.arange(N),
    "one huge": np.r_[1e8, 1 / np.arange(1, N)],
}


def start(values, rng, block=8, **options):
    Q = np.linalg.qr(rng.standard_normal((N, N)))[0]
    A = (Q * values) @ Q.T
    A = (A + A.T) / 2
    basis = BlockLanczos(lambda rows: rows @ A, N, block=block, capacity=200, rng=np.random.RandomState(0), **options)
    return A, basis


def recurrence(A, basis):
    """The norm of ``A Q_j^T - Q_J^T H`` for each row."""
    Q = basis.Q[: basis.size]
    return np.linalg.norm(Q[: basis.done] @ A - basis.H[: basis.size, : basis.done].T @ Q, axis=1)


def run(basis, steps=6):
    """A chain of blocks, then a fresh one beside it: first by itself, then both by turns."""
    for _ in range(steps):
        basis.step()
    basis.inject()
    for i in range(14):
        basis.step(front=i < 4)


@pytest.mark.parametrize("name", SPECTRA)
def test_two_chains_share_one_orthonormal_basis_and_one_recurrence(name, rng):
    A, basis = start(SPECTRA[name], rng)
    run(basis)
    Q = basis.Q[: basis.size]
    assert_allclose(Q @ Q.T, np.eye(basis.size), atol=20 * EPS)
    assert np.all(recurrence(A, basis) <= basis.lost[: basis.done] + basis.floor)


@pytest.mark.parametrize("rounding", [1e-3, 1e-6])
def test_what_is_dropped_is_in_the_bounds(rounding, rng):
    """With rounding errors said to be large, directions are dropped that matter."""
    A, basis = start(SPECTRA["geometric"], rng)
    basis.rounding = rounding
    for _ in range(40):
        basis.step()
    assert basis.lost[: basis.done].max() > 0.01 * rounding
    assert np.all(recurrence(A, basis) <= basis.lost[: basis.done] + 100 * EPS)
    ritz = basis.ritz()
    V = basis.vectors(ritz, 30)
    assert np.all(np.linalg.norm(V @ A - ritz.values[:30, None] * V, axis=1) <= ritz.residuals[:30] + 100 * EPS)


@pytest.mark.parametrize("tangled", [False, True])
def test_a_restart_keeps_pairs_residuals_and_recurrence(tangled, rng):
    A, basis = start(SPECTRA["geometric"], rng)
    run(basis) if tangled else [basis.step() for _ in range(10)]
    before = basis.ritz()
    vectors = basis.vectors(before, 20)
    basis.restart(before, 20)
    after = basis.ritz()
    assert basis.done == 20
    assert_allclose(after.values, before.values[:20], rtol=1e-12)
    assert_allclose(after.residuals, before.residuals[:20], atol=1e-12)
    assert_allclose(np.abs(basis.vectors(after, 20) @ vectors.T), np.eye(20), atol=1e-10)
    for _ in range(5):
        basis.step()
    assert np.all(recurrence(A, basis) <= basis.lost[: basis.done] + basis.floor)
    assert_allclose(basis.Q[: basis.size] @ basis.Q[: basis.size].T, np.eye(basis.size), atol=50 * EPS)


def test_the_null_vector_stays_out(rng):
    null = np.ones(N) / np.sqrt(N)
    A, basis = start(SPECTRA["steep"], rng, null=null)
    run(basis)
    # Its products with A are not zero here: without the projection it would be found.
    assert np.abs(A @ null).max() > 1e-3
    assert_allclose(basis.Q[: basis.size] @ null, 0, atol=20 * EPS)


def test_an_invariant_space_is_left_by_a_fresh_block(rng):
    """The identity: each block is invariant, and the whole space is spanned in the end, and no further."""
    _, basis = start(np.ones(N), rng, block=64)
    while basis.step():
        assert np.count_nonzero(basis.H[: basis.size, : basis.done]) >= basis.done
    assert basis.done == basis.size == N
    assert_allclose(basis.ritz().values, 1, rtol=100 * EPS)
    assert_allclose(basis.ritz().residuals, 0, atol=1e4 * EPS)


def test_more_room_changes_nothing(rng):
    _, small = start(SPECTRA["geometric"], np.random.default_rng(1))
    _, large = start(SPECTRA["geometric"], np.random.default_rng(1))
    for basis in (small, large):
        for _ in range(4):
            basis.step()
    large.reserve(300)
    small.step(), large.step()
    assert large.capacity == 300 and small.capacity == 200
    assert np.array_equal(small.Q[: small.size], large.Q[: large.size])
    assert np.array_equal(small.H[: small.size, : small.done], large.H[: large.size, : large.done])


def test_strips_on_two_threads_give_what_one_whole_does(rng, monkeypatch):
    """Up to the order of a sum."""
    results = []
    for strip, threads in ((4096, 1), (64, 1), (64, 2)):
        monkeypatch.setattr(lanczos, "STRIP", strip)
        monkeypatch.setattr(lanczos, "FEW", 0)
        _, basis = start(SPECTRA["geometric"], np.random.default_rng(1))
        basis.n_threads = threads
        for _ in range(8):
            basis.step()
        basis.restart(basis.ritz(), 20)
        basis.step()
        results.append(basis.Q[: basis.size])
    whole, one, two = results
    assert np.array_equal(one, two)
    assert_allclose(one, whole, atol=1e-6)
