"""Top eigenpairs: against prescribed spectra and LAPACK, and certificates against the residuals themselves."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from eigenpath.spectra.top import TopSolver, exact_is_faster, exact_pairs, top_eigenpairs, warn_of_doubts

N = 300
EPS = np.finfo(float).eps
SPECTRA = {
    "flat": np.ones(N),
    "geometric": 0.9 ** np.arange(N),
    "steep": 0.4 ** np.arange(N),
    "polynomial": 1 / np.arange(1, N + 1) ** 2,
    "two clusters": np.r_[np.linspace(10, 10.001, 40)[::-1], np.linspace(1, 1.001, N - 40)[::-1]],
    "rank deficient": np.r_[np.linspace(5, 1, 25), np.zeros(N - 25)],
    "one huge": np.r_[1e8, 1 / np.arange(1, N)],
    "multiplicities": np.r_[np.full(50, 3.0), np.full(50, 2.0), 0.8 ** np.arange(N - 100)],
    "one": np.r_[1.0, np.zeros(N - 1)],
    "zero": np.zeros(N),
    "indefinite": np.linspace(1, -2, N),
}


def matrix(values, rng):
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


@cache
def solved(name, k):
    """The matrix of a spectrum, and its top pairs by Lanczos."""
    A = matrix(SPECTRA[name], np.random.default_rng(20070620))
    return A, TopSolver(A, random_state=0).solve(k)


def residuals(A, pairs):
    return np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0)


class Operator:
    """Nothing but products, and a count of them."""

    def __init__(self, A):
        self.A, self.shape, self.dtype, self.products = A, A.shape, A.dtype, 0

    def __matmul__(self, V):
        self.products += V.shape[1]
        return self.A @ V


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("k", [1, 10, 60])
def test_the_largest_eigenvalues_are_found_with_their_copies(name, k):
    """Also with a block narrower than k (60), which by itself sees as many copies of an eigenvalue as it is wide."""
    pairs = solved(name, k)[1]
    top = np.sort(SPECTRA[name])[::-1][:k]
    # A residual of tol = 1e-8 bounds an eigenvalue's error; rounding is relative to the largest.
    assert_allclose(pairs.values, top, rtol=1e-8, atol=100 * EPS * np.abs(SPECTRA[name]).max())
    assert pairs.converged == k


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("k", [1, 10, 60])
def test_certificates_bound_the_residuals(name, k):
    A, pairs = solved(name, k)
    assert np.all(residuals(A, pairs) <= pairs.residuals)
    # ... and say no less than was asked, up to rounding.
    assert np.all(pairs.residuals <= 1e-8 * np.abs(pairs.values) + 1e3 * EPS * np.abs(SPECTRA[name]).max())


@pytest.mark.parametrize("name", SPECTRA)
def test_vectors_are_orthonormal(name):
    vectors = solved(name, 60)[1].vectors
    assert_allclose(vectors.T @ vectors, np.eye(60), atol=100 * EPS)


@pytest.mark.parametrize("name", ["geometric", "two clusters"])
def test_certificates_hold_when_little_has_converged(name, rng):
    """What the pairs lack is in their certificates, and in the count."""
    A = matrix(SPECTRA[name], rng)
    pairs = TopSolver(A, random_state=0, block_size=4).solve(20, max_iter=8)
    true = residuals(A, pairs)
    assert np.all(true <= pairs.residuals)
    assert true.max() > 1e-4
    met = pairs.residuals <= 1e-8 * pairs.values + 1e3 * EPS
    assert pairs.converged == np.argmin(met) < 20


def test_all_pairs_are_there_however_early_the_end(rng):
    pairs = TopSolver(matrix(SPECTRA["geometric"], rng), random_state=0, block_size=4).solve(50, max_iter=1)
    assert len(pairs.values) == len(pairs.residuals) == pairs.vectors.shape[1] == 50


def test_every_eigenvalue_is_within_its_certificate(rng):
    """Of a run that stopped early: the theorem behind the word."""
    values = 0.9 ** np.arange(N)
    pairs = TopSolver(matrix(values, rng), random_state=0, block_size=4).solve(10, tol=1e-2)
    distance = np.abs(pairs.values[:, None] - values).min(axis=1)
    assert np.all(distance <= pairs.residuals)


def test_restarts_lose_nothing(rng):
    """A spectrum that needs more room than there is."""
    values = np.linspace(1, 2, N)[::-1]
    A = matrix(values, rng)
    solver = TopSolver(A, random_state=0, block_size=2)
    pairs = solver.solve(3)
    assert pairs.n_products > solver.basis.capacity + 3 * solver.basis.block
    assert_allclose(pairs.values, values[:3], rtol=1e-8)
    assert np.all(residuals(A, pairs) <= pairs.residuals)


def test_asking_for_more_goes_on_from_what_is_known(rng):
    A = Operator(matrix(SPECTRA["geometric"], rng))
    solver = TopSolver(A, random_state=0, block_size=8)
    few = solver.solve(8)
    spent = A.products
    more = solver.solve(30)
    assert spent == few.n_products and A.products == more.n_products
    fresh = TopSolver(Operator(A.A), random_state=0, block_size=8).solve(30)
    assert more.n_products - spent < fresh.n_products
    assert_allclose(more.values, fresh.values, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_centring_and_weights_on_vectors_are_those_of_the_matrix(center, weighted, rng):
    X = rng.standard_normal((N, 3))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 4)
    weight = rng.integers(0, 3, N).astype(float) if weighted else None
    s = np.ones(N) if weight is None else np.sqrt(weight)
    H = np.eye(N) - center * np.outer(s, s) / (s @ s)
    A = H @ (s[:, None] * K * s) @ H
    values = np.linalg.eigvalsh(A)[::-1][:12]
    options = {"center": center, "sample_weight": weight}
    krylov = TopSolver(K, random_state=0, **options).solve(12)
    exact = exact_pairs(K.copy(), 12, **options)
    for pairs in (krylov, exact):
        assert_allclose(pairs.values, values, rtol=1e-8)
        assert np.all(residuals(A, pairs) <= pairs.residuals)
    assert_allclose(krylov.vectors, exact.vectors, atol=1e-5)  # a residual of 1e-8 over gaps of 1e-3


@pytest.mark.parametrize("n", [200, 500])
@pytest.mark.parametrize("k", [3, 10])
def test_lapack_finds_all_pairs_of_a_centred_identity(n, k):
    """Of which its fastest driver finds none, without a word, at some sizes."""
    A = np.eye(n) - 1 / n
    pairs = exact_pairs(A.copy(), k)
    assert_allclose(pairs.values, np.ones(k), rtol=100 * EPS)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=100 * EPS)
    assert np.all(residuals(A, pairs) <= pairs.residuals)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_is_read_in_either_order_and_left_alone(order, rng):
    A = np.array(matrix(SPECTRA["geometric"], rng), order=order)
    before = A.copy()
    exact = exact_pairs(A.copy(), 3)
    for pairs in (TopSolver(A, random_state=0).solve(3), top_eigenpairs(A, 3)):
        assert_allclose(pairs.values, exact.values, rtol=1e-8)
    assert np.array_equal(A, before)


@pytest.mark.parametrize("n", [100, 600])
def test_an_operator_needs_no_more_than_products(n, rng):
    """By LAPACK on what it does to the unit vectors, or by Lanczos."""
    values = 1 / np.arange(1, n + 1) ** 2
    operator = Operator(matrix(values, rng))
    pairs = top_eigenpairs(operator, 3, random_state=0)
    assert_allclose(pairs.values, values[:3], rtol=1e-8)
    assert (pairs.n_products > 0) == (n == 600) and operator.products == (pairs.n_products or n)


def test_a_matrix_in_single_precision_is_multiplied_so_and_certified(rng):
    """Rounding of the products is part of the certificates: they are for the matrix as it was given."""
    A = matrix(SPECTRA["polynomial"], rng).astype(np.float32)
    pairs = TopSolver(A, random_state=0).solve(10)
    assert np.all(residuals(A.astype(float), pairs) <= pairs.residuals)
    assert pairs.residuals.min() > 1e-8
    assert_allclose(pairs.values, SPECTRA["polynomial"][:10], rtol=1e-4)


def test_equal_seeds_give_equal_results(rng):
    A = matrix(SPECTRA["geometric"], rng)
    one, two, other = (TopSolver(A, random_state=seed).solve(5) for seed in (3, 3, 4))
    assert np.array_equal(one.vectors, two.vectors)
    assert not np.array_equal(one.vectors, other.vectors)
    assert_allclose(np.abs(one.vectors), np.abs(other.vectors), atol=1e-6)  # a residual of 1e-8 over gaps of 0.1


def test_the_largest_entry_of_a_vector_is_positive(rng):
    vectors = top_eigenpairs(matrix(SPECTRA["geometric"], rng), 5, random_state=0).vectors
    assert np.all(vectors[np.abs(vectors).argmax(axis=0), range(5)] > 0)


def test_a_product_with_nan_is_an_error(rng):
    A = matrix(SPECTRA["geometric"], rng)
    A[3, 4] = A[4, 3] = np.nan
    with pytest.raises(ValueError, match="kernel matrix is not finite: look for NaN"):
        top_eigenpairs(A, 3)
    with pytest.raises(ValueError, match="kernel matrix contains NaN or infinity"):
        TopSolver(A).solve(3)
    with pytest.raises(ValueError, match="a product with the kernel matrix is not finite: look for NaN"):
        TopSolver(Operator(A)).solve(3)


@pytest.mark.parametrize("k", [0, N + 1])
def test_k_has_a_range(k, rng):
    with pytest.raises(ValueError, match=f"k={k} is not valid: it must be between 1 and n = {N}"):
        top_eigenpairs(np.eye(N), k)


def test_a_run_that_ends_too_early_says_so_with_the_remedy(rng):
    A = matrix(np.linspace(1, 2, 600), rng)
    with pytest.warns(ConvergenceWarning, match=r"of 5 eigenpairs reached tol=1e-08.*Raise max_iter or tol"):
        top_eigenpairs(A, 5, max_iter=3, random_state=0)


def test_a_gap_that_cannot_be_seen_is_told(rng):
    """Eigenvalues 3 to 6 are equal: two components stand, the next two are any of a four-dimensional space."""
    A = matrix(np.r_[5.0, 4.0, np.full(4, 3.0), 0.5 ** np.arange(594)], rng)
    with pytest.warns(ConvergenceWarning, match=r"components 3 to 4 are one choice of many. Ask for 2 or for more"):
        pairs = top_eigenpairs(A, 4, random_state=0)
    assert_allclose(pairs.values, [5, 4, 3, 3], rtol=1e-8)
    with pytest.warns(ConvergenceWarning, match=r"components 3 to 4 are one choice of many"):
        warn_of_doubts(exact_pairs(A.copy(), 4), 1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in (2, 6):
            assert top_eigenpairs(A, k, random_state=0).gap > 0.5


def test_no_doubts_about_the_null_space(rng):
    """Beyond the rank all eigenvalues are zero: that any vectors will do goes without saying."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_doubts(TopSolver(matrix(SPECTRA["rank deficient"], rng), random_state=0).solve(40), 1e-8)


def test_lanczos_is_left_to_large_problems_and_few_pairs():
    assert exact_is_faster(100, 1) and exact_is_faster(1000, 80) and exact_is_faster(5000, 4000)
    assert not exact_is_faster(1000, 10) and not exact_is_faster(5000, 200)
