"""Distances against sums of differences in extended precision, also where a product would lose every digit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from eigenpath.kernels import RBF, distance_matrix, distances

METRICS = {
    "sqeuclidean": lambda difference, total: difference**2,
    "cityblock": lambda difference, total: np.abs(difference),
    "chi2": lambda difference, total: np.where(total > 0, difference**2 / np.where(total > 0, total, 1), 0),
}
SPARSE_METRICS = ["sqeuclidean", "cityblock"]


def by_differences(X, Z, metric="sqeuclidean"):
    """The definition, in long double."""
    X, Z = X.astype(np.longdouble)[:, None], Z.astype(np.longdouble)
    return METRICS[metric](X - Z, X + Z).sum(axis=2)


def far_clusters(rng, d, dtype=np.float64):
    """Two clusters at +-1e6 with differences of about 1 within each, in random order."""
    return (rng.choice([-1e6, 1e6], (60, 1)) + rng.standard_normal((60, d))).astype(dtype)


@pytest.mark.parametrize("d", [1, 3, 12])
@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_sums_over_the_features(metric, d, rng):
    X, Z = rng.uniform(size=(50, d)), rng.uniform(size=(30, d))
    # Rounding of a sum of d terms, and of a product where it is used.
    assert_allclose(distance_matrix(X, Z, metric), by_differences(X, Z, metric), rtol=1e-10)


@pytest.mark.parametrize("n", [1, 5, 500])
@pytest.mark.parametrize("metric", METRICS)
def test_a_matrix_of_distances_is_symmetric_with_a_zero_diagonal(metric, n, rng):
    """500 rows are more than one tile."""
    X = rng.uniform(size=(n, 7))
    D = distance_matrix(X, metric=metric)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diagonal(D), 0)
    assert_allclose(D, distance_matrix(X, X, metric), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("d", [1, 2, 8, 30])
def test_near_duplicates_at_a_large_offset(d, rng):
    """Differences of 1e-4 at 1e6 are exact in the data, so the distances must be good to rounding."""
    X = 1e6 + 1e-4 * rng.integers(-5, 6, (80, d))
    assert_allclose(distance_matrix(X), by_differences(X, X), rtol=1e-12)
    assert_allclose(distance_matrix(X[:20], X), by_differences(X[:20], X), rtol=1e-12)


@pytest.mark.parametrize("d", [2, 8, 30])
def test_two_far_clusters(d, rng):
    """No common centre helps here: |x|^2 is 1e12 for every row, and 1e12 * eps is 1e-4."""
    X = far_clusters(rng, d)
    expected = by_differences(X, X)
    assert_allclose(distance_matrix(X), expected, rtol=1e-11)
    assert_allclose(RBF(gamma=1 / d)(X), np.exp(-expected / d).astype(float), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("d", [8, 30])
def test_a_few_near_duplicates_among_far_rows(d, rng):
    """The pairs that cancel are recomputed one by one, the rest are not."""
    X = rng.standard_normal((60, d))
    X[1], X[50] = X[0] + 1e-9, X[30]
    D = distance_matrix(X)
    assert_allclose(D, by_differences(X, X), rtol=1e-11)
    assert D[50, 30] == 0


def test_near_duplicates_in_float32(rng):
    """Float32 rows keep about 1e-5 of the distance, also in clusters where a product would keep nothing."""
    X = (rng.choice([-1e3, 1e3], (60, 1)) + rng.standard_normal((60, 12))).astype(np.float32)
    D = distance_matrix(X)
    assert D.dtype == np.float32
    assert_allclose(D, by_differences(X, X).astype(float), rtol=5e-5)


def test_near_duplicates_in_sparse_rows(rng):
    X = np.where(rng.uniform(size=(60, 40)) < 0.2, 1e6 + rng.standard_normal((60, 40)), 0)
    X[5:10] = X[:5]
    X[10:15] = np.where(X[:5] != 0, X[:5] + 1e-3, 0)
    D = distance_matrix(sp.csr_array(X))
    assert_allclose(D, by_differences(X, X), rtol=1e-11)
    assert_array_equal(D[range(5), range(5, 10)], 0)


def test_a_common_offset_costs_nothing(rng, monkeypatch):
    """Rows far from the origin and not close to each other are left to the product: nothing is recomputed."""
    X, Z = 1e6 + rng.standard_normal((40, 30)), 1e6 + rng.standard_normal((20, 30))
    monkeypatch.setattr(distances, "_repair", None)
    assert_allclose(distance_matrix(X, Z), by_differences(X, Z), rtol=1e-12)


def test_memory_for_pairs_is_bounded_without_changing_them(rng, monkeypatch):
    X = sp.random_array((60, 30), density=0.1, format="csr", rng=rng)
    X = sp.vstack([X, X], format="csr")
    expected = distance_matrix(X)
    monkeypatch.setattr(distances, "_PAIR_ENTRIES", 60)
    assert_array_equal(distance_matrix(X), expected)


@pytest.mark.parametrize("tile", [5, 64])
def test_the_size_of_tiles_changes_only_rounding(tile, rng):
    X = rng.standard_normal((100, 9))
    out = np.empty((100, 100))
    distances.fill_matrix(distances.prepare_distance(X, None, "sqeuclidean"), out, symmetric=True, size=tile)
    assert_allclose(out, distance_matrix(X), rtol=1e-11, atol=1e-12)


def test_distances_are_never_negative(rng):
    """Rows that differ in the last digits: the product alone gives about as many negative values as positive ones."""
    X = rng.standard_normal((1, 40)) * (1 + 1e-15 * rng.integers(0, 9, (300, 1)))
    left = np.einsum("ij,ij->i", X, X)
    assert (left[:, None] + left - 2 * X @ X.T).min() < 0
    assert distance_matrix(X).min() >= 0
    assert distance_matrix(sp.csr_array(X)).min() >= 0


@pytest.mark.parametrize("metric", SPARSE_METRICS)
@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_rows(metric, form, rng):
    X = np.where(rng.uniform(size=(30, 12)) < 0.3, rng.standard_normal((30, 12)), 0)
    Z = np.where(rng.uniform(size=(20, 12)) < 0.3, rng.standard_normal((20, 12)), 0)
    expected = distance_matrix(X, Z, metric)
    assert_allclose(distance_matrix(form(X), form(Z), metric), expected, rtol=1e-11, atol=1e-13)
    assert_allclose(distance_matrix(form(X), Z, metric), expected, rtol=1e-11, atol=1e-13)
    assert_allclose(distance_matrix(X, form(Z), metric), expected, rtol=1e-11, atol=1e-13)
    assert_array_equal(np.diagonal(distance_matrix(form(X), metric=metric)), 0)


def test_sparse_rows_with_an_entry_stored_twice():
    X = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert_allclose(distance_matrix(X), [[0, 34], [34, 0]])
    assert X.nnz == 3


def test_scikit_learn_agrees(rng):
    X, Z = rng.standard_normal((40, 9)), rng.standard_normal((30, 9))
    assert_allclose(distance_matrix(X, Z), euclidean_distances(X, Z, squared=True), rtol=1e-10)
    assert_allclose(distance_matrix(X, Z, "cityblock"), manhattan_distances(X, Z), rtol=1e-12)


def test_chi2_of_two_zeros_is_zero():
    X = np.array([[0.0, 1.0], [0.0, 3.0], [0.0, 0.0]])
    assert_allclose(distance_matrix(X, metric="chi2"), [[0, 1, 1], [1, 0, 3], [1, 3, 0]])


@pytest.mark.parametrize("order", ["C", "F"])
def test_out_is_filled_and_returned(order, rng):
    X = rng.standard_normal((20, 8))
    out = np.empty((20, 20), order=order)
    assert distance_matrix(X, out=out) is out
    assert_array_equal(out, distance_matrix(X))


def test_integers_and_lists_become_float64():
    D = distance_matrix([[0, 0], [1, 2]])
    assert D.dtype == np.float64
    assert_array_equal(D, [[0, 5], [5, 0]])


def test_mixed_precision_is_float64(rng):
    X = rng.standard_normal((4, 3))
    assert distance_matrix(X.astype(np.float32), X).dtype == np.float64


def test_nan_stays_nan(rng):
    X = rng.standard_normal((6, 9))
    X[2, 0] = np.nan
    D = distance_matrix(X)
    assert np.isnan(np.delete(D[2], 2)).all()


def test_errors_say_what_to_do(rng):
    X = rng.standard_normal((4, 3))
    with pytest.raises(ValueError, match=r"metric='euclid' is not known: use one of \['chi2', 'cityblock', 'sqeuc"):
        distance_matrix(X, metric="euclid")
    with pytest.raises(ValueError, match=r"X has negative values \(the smallest is -"):
        distance_matrix(X, metric="chi2")
    with pytest.raises(ValueError, match="Z has negative values"):
        distance_matrix(abs(X), X, metric="chi2")
    with pytest.raises(TypeError, match=r"chi2 distance needs dense data, got a sparse matrix of shape \(4, 3\)"):
        distance_matrix(sp.csr_array(abs(X)), metric="chi2")
    with pytest.raises(ValueError, match="X has 3 features and Z has 2"):
        distance_matrix(X, X[:, :2])
    with pytest.raises(ValueError, match=r"X must be 2-dimensional \(rows, features\), got an array of shape \(3,\)"):
        distance_matrix(X[0])
    with pytest.raises(ValueError, match="Z must hold real numbers, got dtype complex128"):
        distance_matrix(X, X * 1j)
    with pytest.raises(ValueError, match=r"out must be an array of shape \(4, 4\) and dtype float64, got one of shape"):
        distance_matrix(X, out=np.empty((4, 3)))
    with pytest.raises(ValueError, match=r"got one of shape .* and dtype float32"):
        distance_matrix(X, out=np.empty((4, 4), np.float32))
    with pytest.raises(ValueError, match=r"out must be .* got 'here'"):
        distance_matrix(X, out="here")
