"""Machines for points with a weight for each class."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenpath.kernels import RBF
from eigenpath.projection.classes import (
    decide,
    error_rates,
    fit_machines,
    held_out_scores,
    hinge_risks,
)


@pytest.fixture
def three(rng):
    """30 points of three classes, a few of them with rows of two."""
    X = rng.standard_normal((30, 2))
    W = np.eye(3)[rng.integers(0, 3, 30)] * rng.integers(1, 4, (30, 1))
    W[:5, 0] += 1
    return RBF(gamma=0.5)(X), W


def test_one_class_against_the_rest_is_a_problem_of_two_classes(three):
    K, W = three
    shared = fit_machines(K, W, 8)

    assert len(shared.paths) == 3
    for c, path in enumerate(shared.paths):
        alone = fit_machines(K, np.column_stack([W.sum(axis=1) - W[:, c], W[:, c]]), 8)
        assert_allclose(path.values, alone.paths[0].values)
        assert_allclose(path.beta, alone.paths[0].beta, atol=1e-9)


def test_two_classes_are_one_problem_of_the_second_against_the_first(three):
    K, W = three
    there, back = fit_machines(K, W[:, :2] + 1, 5), fit_machines(K, W[:, 1::-1] + 1, 5)

    assert len(there.paths) == 1
    assert_allclose(there.scores(there.directions.features), -back.scores(back.directions.features), atol=1e-7)


def test_risks_and_errors_by_hand(three):
    K, W = three
    machines = fit_machines(K, W, 4)
    scores = machines.scores(machines.directions.features)
    risks, errors = hinge_risks(scores, W), error_rates(scores, W)

    for j in range(4):
        risk = error = 0.0
        for i, c in np.argwhere(W > 0):
            signs = np.where(np.arange(3) == c, 1, -1)
            risk += W[i, c] * np.maximum(1 - signs * scores[i, j], 0).mean()
            error += W[i, c] * (scores[i, j].argmax() != c)
        assert_allclose(risks[j], risk / W.sum())
        assert_allclose(errors[j], error / W.sum(), atol=1e-15)
    assert_allclose(risks, np.mean([path.values for path in machines.paths], axis=0) / W.sum())


def test_held_out_scores_are_those_of_a_fit_without_the_points(three, rng):
    K, W = three
    train, test = W * (np.arange(30) < 20)[:, None], W * (np.arange(30) >= 20)[:, None]
    scores = held_out_scores(K, train, test, 6, [2, 5])
    machines = fit_machines(K[:20, :20], W[:20], 6)

    assert scores.shape == (10, 2, 3)
    for j, D in enumerate([2, 5]):
        for c, path in enumerate(machines.paths):
            # Through the dual coefficients of the kernel expansion.
            alpha = machines.directions.lift(W[:20].sum(axis=1)) @ path.beta[D - 1]
            assert_allclose(scores[:, j, c], K[20:, :20] @ alpha + path.intercept[D - 1], rtol=1e-8, atol=1e-9)


def test_sizes_beyond_the_rank_are_answered_by_the_rank(three, rng):
    _, W = three
    X = rng.standard_normal((30, 2))
    machines = fit_machines(X @ X.T, W, 10, [1, 2, 3, 9])

    assert machines.paths[0].beta.shape == (4, 2)
    assert_array_equal(machines.paths[0].beta[1], machines.paths[0].beta[3])


def test_the_floor_of_several_problems_is_where_the_last_one_arrives():
    K = np.diag([5.0, 4.0, 3.0, 2.0])
    machines = fit_machines(K, np.eye(3)[[0, 1, 2, 2]])
    single = [path.floor_from for path in machines.paths]

    assert machines.floor_from == max(single)
    assert fit_machines(K, np.eye(4), 1).floor_from is None


def test_decisions():
    assert_array_equal(decide(np.array([[-1.0], [0.0], [2.0]])), [0, 0, 1])
    assert_array_equal(decide(np.array([[1.0, 3.0, 2.0], [0.0, -1.0, -2.0]])), [1, 0])
