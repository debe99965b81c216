"""Probabilities from held-out decision values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from eigenpath.projection.calibration import LEAST, fit_sharpness, probabilities
from eigenpath.projection.classes import decide


def drawn(rng, classes, sharpness, m=4000):
    """Decision values, and labels drawn from their probabilities, as weights."""
    scores = 3 * rng.standard_normal((m, classes if classes > 2 else 1))
    labels = (rng.random((m, 1)) > probabilities(scores, sharpness).cumsum(axis=1)).sum(axis=1)
    return scores, np.eye(classes)[np.minimum(labels, classes - 1)]


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("sharpness", [0.3, 1.7])
def test_the_sharpness_that_drew_the_labels_is_found(classes, sharpness, rng):
    # The standard error of a maximum-likelihood estimate from 4000 labels is about 2 %.
    assert_allclose(fit_sharpness(*drawn(rng, classes, sharpness)), sharpness, rtol=0.1)


def test_it_maximizes_the_likelihood_of_softened_labels(rng):
    scores, W = drawn(rng, 2, 0.8, m=50)
    n_minus, n_plus = W.sum(axis=0)
    targets = W[:, 1] * (n_plus + 1) / (n_plus + 2) + W[:, 0] / (n_minus + 2)

    def cost(a):
        p = probabilities(scores, a)[:, 1]
        return -(targets @ np.log(p) + (1 - targets) @ np.log(1 - p))

    # A minimum is found to the square root of the precision only.
    assert_allclose(fit_sharpness(scores, W), minimize_scalar(cost, (0.1, 1.0)).x, rtol=1e-6)


def test_a_weight_is_that_many_labels(rng):
    scores, W = drawn(rng, 3, 1.0, m=40)
    counts = rng.integers(1, 5, 40)

    one = fit_sharpness(scores, counts[:, None] * W)
    other = fit_sharpness(np.repeat(scores, counts, axis=0), np.repeat(W, counts, axis=0))
    assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("problems", [1, 4])
def test_the_likeliest_class_is_the_predicted_one(problems, rng):
    scores = np.sinh(10 * rng.standard_normal((200, problems)))
    p = probabilities(scores, LEAST)

    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(p.argmax(axis=1), decide(scores))


def test_separated_classes_have_a_finite_sharpness():
    scores = np.array([[-5.0], [-4.0], [4.0], [5.0]])
    p = probabilities(scores, fit_sharpness(scores, np.eye(2)[[0, 0, 1, 1]]))

    # Two labels of a class count as three to one.
    assert_allclose(p[:, 1], [0.25, 0.25, 0.75, 0.75], atol=0.02)


def test_values_that_point_the_wrong_way_say_nothing():
    assert fit_sharpness(np.array([[-1.0], [1.0]]), np.eye(2)[[1, 0]]) == LEAST
    assert fit_sharpness(np.zeros((2, 1)), np.eye(2)) == LEAST
