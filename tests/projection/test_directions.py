"""Principal directions of weighted points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenpath.kernels import RBF
from eigenpath.projection.directions import RANK_TOL, principal_directions
from eigenpath.spectra.top import TopSolver


@pytest.fixture
def points(rng):
    X = rng.standard_normal((20, 3))
    return X, RBF(gamma=0.3)(X)


def test_they_are_eigenvectors_of_the_kernel_matrix(points):
    _, K = points
    found = principal_directions(K, np.ones(20), 7)

    assert found.values.shape == (7,) and found.vectors.shape == (20, 7)
    assert_allclose(K @ found.vectors, found.vectors * found.values, atol=1e-13)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(7), atol=1e-13)
    assert_allclose((found.features**2).mean(axis=0), 1, rtol=1e-12)


def test_a_weight_is_that_many_points(points, rng):
    X, K = points
    counts = rng.integers(1, 5, 20)
    weighted = principal_directions(K, counts.astype(float), 6)
    repeated = principal_directions(RBF(gamma=0.3)(np.repeat(X, counts, axis=0)), np.ones(counts.sum()), 6)

    assert_allclose(weighted.values, repeated.values, rtol=1e-12)
    signs = np.sign((np.repeat(weighted.vectors, counts, axis=0) * repeated.vectors).sum(axis=0))
    # Errors of eigenvectors grow with one over the gap to the next eigenvalue.
    assert_allclose(np.repeat(weighted.vectors, counts, axis=0) * signs, repeated.vectors, atol=1e-11)


def test_the_lift_gives_the_same_values_at_the_points(points, rng):
    _, K = points
    weight = rng.random(20) + 0.1
    found = principal_directions(K, weight, 6)

    assert_allclose(K @ found.lift(weight), found.features, rtol=1e-9)


def test_directions_end_at_the_numerical_rank(rng):
    X = rng.standard_normal((30, 4))
    found = principal_directions(X @ X.T, np.ones(30), 10)

    assert len(found.values) == 4
    noisy = np.diag([1.0, 2 * RANK_TOL, RANK_TOL / 2])
    assert len(principal_directions(noisy, np.ones(3)).values) == 2


@pytest.mark.parametrize("converged", [True, False])
def test_few_directions_of_many_points_are_the_same_by_either_route(converged, rng, monkeypatch):
    X = rng.standard_normal((800, 2))
    K, weight = RBF(gamma=0.5)(X), rng.random(800) + 0.5
    before = K.copy()
    # Twenty of 800 are few enough for Lanczos, thirty are not.
    exact = principal_directions(K, weight, 30)
    solve, asked = TopSolver.solve, []

    def watched(self, k, **options):
        asked.append(k)
        pairs = solve(self, k, **options)
        return pairs if converged else pairs._replace(converged=k - 1)

    monkeypatch.setattr(TopSolver, "solve", watched)
    found = principal_directions(K, weight, 20)

    assert asked == [20]
    assert_allclose(found.values, exact.values[:20], rtol=1e-9)
    # Residuals of 1e-10, over gaps of a few percent.
    assert_allclose(found.vectors, exact.vectors[:, :20], atol=1e-8)
    assert_array_equal(K, before)


def test_a_zero_kernel_has_no_directions():
    with pytest.raises(ValueError, match="kernel matrix is zero"):
        principal_directions(np.zeros((3, 3)), np.ones(3))
