"""Centred rows and their singular values: products, and every route against the SVD of the table it never forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from eigenpath.spectra import rows as module
from eigenpath.spectra.rows import centred_rows, column_deviations, column_means
from eigenpath.spectra.svd import principal_axes

SHAPES = [(60, 7), (7, 60), (25, 25)]
KINDS = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_matrix}


def holed(shape, rng):
    """A table with zeros, an offset and columns of different spread."""
    X = rng.standard_normal(shape) * np.linspace(1, 3, shape[1]) + 0.5
    return np.where(rng.random(shape) < 0.5, X, 0.0)


@pytest.fixture
def rows_and_table(rng):
    """Make centred rows as the package makes them, and the same table by hand."""

    def make(kind, shape, weighted=True, scaled=True):
        X, w = holed(shape, rng), rng.uniform(0.5, 2, shape[0]) if weighted else None
        stored, v = KINDS[kind](X), np.ones(shape[0]) if w is None else w
        mean = column_means(stored, w)
        scale = column_deviations(stored, mean, w) if scaled else None
        A = np.sqrt(v)[:, None] * (X - (v @ X) / v.sum())
        if scaled:
            A /= np.sqrt((A**2).sum(axis=0) / v.sum())
        return centred_rows(stored, mean, scale, w), A

    return make


@pytest.fixture(params=[(kind, shape) for kind in KINDS for shape in SHAPES], ids=str)
def centred(request, rows_and_table, monkeypatch):
    # Tiles of a few rows, so that their seams are part of every test.
    monkeypatch.setattr(module, "TILE", 64)
    return rows_and_table(*request.param)


def test_products_are_those_of_the_centred_scaled_weighted_table(centred, rng):
    rows, A = centred
    U, V = rng.standard_normal((len(A), 3)), rng.standard_normal((3, A.shape[1]))
    assert_allclose(rows.scatter(), A.T @ A, atol=1e-11)
    assert_allclose(rows.gram(), A @ A.T, atol=1e-11)
    assert_allclose(rows.lift(U), A.T @ U, atol=1e-12)
    assert_allclose(rows.project(V), A @ V.T, atol=1e-12)
    assert_allclose(np.vstack([tile.copy() for _, tile in rows.tiles()]), A, atol=1e-13)
    assert rows.sum_of_squares() == pytest.approx((A**2).sum())
    assert_allclose(rows.operator() @ V.T, A @ V.T, atol=1e-12)
    assert_allclose(rows.operator().T @ U, A.T @ U, atol=1e-12)


def test_centring_before_multiplying_loses_nothing_to_an_offset(rng):
    """The sum of squares less the squared mean would be wrong in its first digit."""
    X = rng.standard_normal((500, 3))
    rows = centred_rows(X + 1e8, column_means(X + 1e8))
    expected = (len(X) - 1) * np.cov(X.T)
    assert_allclose(rows.scatter(), expected, rtol=1e-6, atol=1e-6 * 500)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_a_constant_column_has_deviation_one(kind):
    X = kind(np.column_stack([np.full(1000, 0.1), np.arange(1000.0)]))
    deviations = column_deviations(X, column_means(X))
    assert deviations[0] == 1
    assert deviations[1] == pytest.approx(np.arange(1000.0).std())


def test_means_of_float32_are_summed_in_float64():
    X = np.full((2**18, 1), 0.1, np.float32)
    assert column_means(X)[0] == pytest.approx(float(np.float32(0.1)), rel=1e-12)
    assert column_means(X, np.full(len(X), 2.0))[0] == pytest.approx(float(np.float32(0.1)), rel=1e-12)


@pytest.mark.parametrize("route", ["full", "covariance_eigh", "gram_eigh", "arpack", "randomized"])
def test_every_route_finds_the_singular_values_and_directions(centred, route):
    rows, A = centred
    if rows.sparse and route in ("full", "randomized"):
        with pytest.raises(ValueError, match=f"svd_solver='{route}' needs a dense X"):
            principal_axes(rows, 3, route)
        return
    axes = principal_axes(rows, 3, route, random_state=0)
    values, right = np.linalg.svd(A)[1:]
    V = axes.vectors(3)
    assert axes.route == route
    assert axes.total == pytest.approx((A**2).sum(), rel=1e-12)
    assert axes.left(3) == pytest.approx((values[3:] ** 2).sum(), rel=1e-9 if route != "randomized" else 1e-2)
    if route != "randomized":  # which only approximates
        assert_allclose(axes.values[:3], values[:3], rtol=1e-12)
        assert_allclose(np.abs(np.sum(V * right[:3].T, axis=0)), 1, rtol=1e-10)
    assert_allclose(axes.values[:3], values[:3], rtol=1e-2)
    assert_allclose(V.T @ V, np.eye(3), atol=1e-12)


def test_the_full_route_keeps_digits_that_the_squares_lose(rng):
    """Singular values over 12 orders: squared, all below 1e-8 of the largest drown in rounding."""
    values = np.geomspace(1, 1e-12, 7)
    Q = np.linalg.qr(rng.standard_normal((80, 7)) - rng.standard_normal((80, 7)).mean(axis=0))[0]
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
    X = Q * values @ np.linalg.qr(rng.standard_normal((7, 7)))[0]
    rows = centred_rows(X, X.mean(axis=0))
    full, squared = principal_axes(rows, route="full"), principal_axes(rows, route="covariance_eigh")
    assert_allclose(full.values, values, rtol=1e-3)
    assert full.trusted == 0
    above = values > squared.trusted
    assert 2 <= above.sum() <= 4
    assert_allclose(squared.values[above], values[above], rtol=1e-7)
    assert squared.values[-1] <= squared.rounding < values[3]
    assert full.rounding < values[-1]


def test_equal_seeds_give_equal_lanczos_and_randomized_results(rows_and_table):
    rows, _ = rows_and_table("dense", (80, 30))
    for route in ("arpack", "randomized"):
        first, second, other = (principal_axes(rows, 3, route, random_state=seed) for seed in (1, 1, 2))
        assert np.array_equal(first.values, second.values)
        assert not np.array_equal(first.values, other.values)


@pytest.mark.parametrize(
    ("kind", "shape", "n_components", "route"),
    [
        ("dense", (50, 10), None, "full"),
        ("dense", (3000, 100), None, "covariance_eigh"),
        ("dense", (100, 3000), 5, "gram_eigh"),
        ("csr", (200, 50), 10, "covariance_eigh"),
        ("csr", (50, 200), None, "gram_eigh"),
        ("csr", (200, 100), 5, "arpack"),
    ],
)
def test_auto_takes_the_cheapest_exact_route(kind, shape, n_components, route, rows_and_table):
    rows, _ = rows_and_table(kind, shape, weighted=False, scaled=False)
    assert principal_axes(rows, n_components).route == route


def test_lost_directions_of_the_gram_route_are_completed_to_an_orthonormal_set(rng):
    X = np.repeat(rng.standard_normal((3, 20)), 3, axis=0)
    axes = principal_axes(centred_rows(X, X.mean(axis=0)), route="gram_eigh")
    V = axes.vectors(6)
    assert np.count_nonzero(axes.values > axes.rounding) == 2
    assert axes.left(2) == 0 < axes.left(1)
    assert_allclose(V.T @ V, np.eye(6), atol=1e-12)
