"""Fixed points: the equation they solve, and the way there."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from eigenpath.estimators._preimage import fixed_point, nearest_rows
from eigenpath.kernels import RBF, Linear

KERNEL = RBF(gamma=0.5)


def height(Z, A, X):
    """The inner product of each image with its point of the feature space: the distance falls as it rises."""
    return np.array([a @ np.exp(-0.5 * ((z - X) ** 2).sum(axis=1)) for z, a in zip(Z, A)])


def test_a_fixed_point_solves_its_equation(rng):
    X = rng.standard_normal((50, 2))
    A = rng.random((4, 50))
    for z, a in zip(fixed_point(KERNEL, X, A, X[:4]), A):
        weights = a * np.exp(-0.5 * ((z - X) ** 2).sum(axis=1))
        # Steps end at 1e-7 of the data's size.
        assert_allclose(z, weights @ X / weights.sum(), atol=1e-6)


def test_no_step_leads_away_whatever_the_signs(rng):
    """With negative coefficients the formula by itself overshoots."""
    X = rng.standard_normal((50, 2))
    A = rng.standard_normal((300, 50))
    start = X[np.arange(300) % 50]
    Z = fixed_point(KERNEL, X, A, start)
    before, after = height(start, A, X), height(Z, A, X)
    assert np.all(after >= before - 1e-12)
    assert np.mean(after > before + 1e-3) > 0.3
    # Where nothing pulls, there is nowhere to go.
    assert np.array_equal(Z[before <= 0], start[before <= 0])


def test_the_linear_kernel_has_its_preimages_at_once(rng):
    X, A = rng.standard_normal((50, 2)), rng.standard_normal((4, 50))
    assert_allclose(fixed_point(Linear(), X, A, X[:4]), A @ X)


def test_the_nearest_rows_are_those_of_a_search(rng):
    T, training = rng.standard_normal((7, 3)), rng.standard_normal((20, 3))
    expected = ((T[:, None] - training) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(nearest_rows(T, training), expected)
