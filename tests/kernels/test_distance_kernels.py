"""Kernels of distances: formulas, limits and relations to each other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as gp

from eigenpath.kernels import (
    KERNELS,
    RBF,
    AdditiveChi2,
    Chi2,
    Laplacian,
    Matern,
    RationalQuadratic,
    distance_matrix,
)

OF_DISTANCE = sorted(name for name in KERNELS if KERNELS[name]().metric is not None)


@pytest.fixture
def X(rng):
    return rng.standard_normal((30, 7))


@pytest.mark.parametrize("length", [0.5, 3.0])
@pytest.mark.parametrize("nu", [0.3, 0.5, 1.0, 1.5, 2.5, 4.2, 30.0, np.inf])
def test_matern_is_that_of_gaussian_processes(nu, length, X):
    """1e-11: scikit-learn's Bessel functions lose digits at the larger orders."""
    ours = Matern(nu=nu, gamma=1 / (2 * length**2))
    assert_allclose(ours(X), gp.Matern(length_scale=length, nu=nu)(X), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_rational_quadratic_is_that_of_gaussian_processes(alpha, X):
    ours = RationalQuadratic(alpha=alpha, gamma=1 / (2 * 1.7**2))
    assert_allclose(ours(X), gp.RationalQuadratic(length_scale=1.7, alpha=alpha)(X), rtol=1e-12)


def test_rational_quadratic_is_a_mixture_of_gaussians(X):
    """Widths gamma * u, u of the Gamma distribution with shape alpha and mean 1, by Gauss-Laguerre quadrature."""
    nodes, weights = np.polynomial.laguerre.laggauss(60)
    mixture = sum(w * u * RBF(gamma=0.05 * u / 2)(X) for u, w in zip(nodes, weights))
    assert_allclose(RationalQuadratic(alpha=2.0, gamma=0.05)(X), mixture, rtol=1e-9)


@pytest.mark.parametrize(
    "kernel, error",
    [
        (Matern(nu=np.inf, gamma=0.3), 1e-15),
        # The distance to the limit falls as 1 / nu and as 1 / alpha.
        (Matern(nu=1e7, gamma=0.3), 1e-7),
        (RationalQuadratic(alpha=1e7, gamma=0.3), 1e-7),
    ],
)
def test_limits_are_gaussian(kernel, error, X):
    assert_allclose(kernel(X), RBF(gamma=0.3)(X), rtol=0, atol=error)


def test_a_large_alpha_keeps_its_digits():
    """(1 + D / alpha) ** -alpha would have lost half of them."""
    D = np.array([0.1, 1.0, 3.0])
    expected = np.exp(-D) * (1 + D**2 / 2e8)
    assert_allclose(RationalQuadratic(alpha=1e8, gamma=1.0).from_distance(D), expected, rtol=1e-14)


def test_laplacian_factors_over_the_features(X):
    factors = [Laplacian(gamma=0.3)(X[:, [j]]) for j in range(7)]
    assert_allclose(Laplacian(gamma=0.3)(X), np.prod(factors, axis=0), rtol=1e-12)


def test_matern_one_half_is_exponential(X):
    distance = np.sqrt(distance_matrix(X))
    assert_allclose(Matern(nu=0.5, gamma=0.5)(X), np.exp(-distance), rtol=1e-13)


def test_additive_chi2_is_conditionally_positive(rng):
    """Negative eigenvalues, which centring takes away."""
    X = rng.dirichlet(np.ones(6), 30)
    K = AdditiveChi2()(X)
    H = np.eye(30) - 1 / 30
    assert np.linalg.eigvalsh(K)[0] < -0.1
    assert np.linalg.eigvalsh(H @ K @ H)[0] > -1e-12
    assert_allclose(Chi2(gamma=2.0)(X), np.exp(2 * K), rtol=1e-13)


@pytest.mark.parametrize("shape", [(0,), (3,), (4, 5)])
@pytest.mark.parametrize("name", OF_DISTANCE)
def test_from_distance_keeps_the_shape(name, shape, rng):
    kernel = KERNELS[name]()
    if "gamma" in kernel.get_params():
        kernel.set_params(gamma=0.4)
    D = np.asarray(rng.uniform(size=shape))
    original = D.copy()
    K = kernel.from_distance(D)
    assert K.shape == shape
    assert_array_equal(D, original)
    assert kernel.from_distance(D, out=D) is D
    assert_array_equal(D, K)


@pytest.mark.parametrize("name", [n for n in OF_DISTANCE if n != "additive_chi2"])
def test_values_fall_from_one_to_zero(name):
    kernel = KERNELS[name]().set_params(gamma=0.4)
    values = kernel.from_distance(np.concatenate([[0.0], np.logspace(-12, 6, 200)]))
    assert values[0] == 1
    assert (np.diff(values) <= 1e-15).all()
    assert 0 <= values[-1] < 1e-5


@pytest.mark.parametrize(
    "kernel, message",
    [
        (Matern(nu=0), "nu=0 is not valid: it must be a number greater than 0"),
        (Matern(nu=np.nan), "nu=nan is not valid"),
        (Matern(nu="smooth"), "nu='smooth' is not valid"),
        (RationalQuadratic(alpha=-2), "alpha=-2 is not valid: it must be a finite number greater than 0"),
        (RationalQuadratic(alpha=np.inf), "alpha=inf is not valid"),
    ],
)
def test_parameters_out_of_range(kernel, message, X):
    with pytest.raises(ValueError, match=message):
        kernel(X)
    with pytest.raises(ValueError, match=message):
        (RBF() + 2 * kernel).resolve(X)
