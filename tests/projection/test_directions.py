"""Principal directions of weighted points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenpath.kernels import RBF
from eigenpath.projection import directions
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


@pytest.mark.parametrize("n", [100, 800])
def test_an_eigenvalue_far_below_zero_is_found_beyond_the_leading_ones(n, psd_matrix):
    """Twenty of 100 are LAPACK's, twenty of 800 Lanczos's. Weights of 2 double the eigenvalues."""
    K, weight = psd_matrix(np.append(np.linspace(2, 1, n - 1), -0.5)), np.full(n, 2.0)
    before = K.copy()

    for psd_tol in (None, 0.0, 0.2499):
        with pytest.raises(ValueError, match=r"its smallest eigenvalue is -1 and its largest 4\. .* raise psd_tol"):
            principal_directions(K, weight, 20, psd_tol)
    leading = principal_directions(K, weight, 20, psd=True)
    for psd_tol in (0.2501, 1.0, np.inf):
        assert_array_equal(principal_directions(K, weight, 20, psd_tol).values, leading.values)
    assert_array_equal(K, before)


def test_an_eigenvalue_below_zero_by_rounding_is_none(psd_matrix):
    K = psd_matrix(np.append(np.ones(30), np.zeros(70)))

    assert np.linalg.eigvalsh(K)[0] < 0
    assert len(principal_directions(K, np.ones(100), 10).values) == 10


@pytest.mark.parametrize("least", [-0.9, -5.0])
def test_all_of_the_negative_part_may_be_cut_off(least, psd_matrix):
    """Also one that is larger than the rest."""
    K = psd_matrix(np.append(np.linspace(1, 0, 49), least))

    assert_allclose(principal_directions(K, np.ones(50), 5, 1.0).values, np.linspace(1, 0, 49)[:5], rtol=1e-12)


def test_what_is_known_to_be_positive_semidefinite_is_not_looked_at_twice(points, monkeypatch):
    judged = []
    monkeypatch.setattr(directions, "_judge_smallest", lambda *args: judged.append(args))
    _, K = points

    for n_components, psd, calls in [(7, True, 0), (20, False, 0), (7, False, 1)]:
        principal_directions(K, np.ones(20), n_components, psd=psd)
        assert len(judged) == calls
