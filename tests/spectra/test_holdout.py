"""Closed forms for rows left out, against models that never saw them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from eigenpath.filters import FILTERS, Tikhonov
from eigenpath.spectra.base import CENTERINGS, Sample
from eigenpath.spectra.exact import ExactDecomposition
from eigenpath.spectra.holdout import held_out_block, leave_one_out, smoother_diagonal

N = 30
LAMS = np.array([1.0, 1e-2, 1e-5])
# Solves with condition numbers up to 1e5 n; weights add two digits.
REFIT = {"rtol": 1e-7, "atol": 1e-8}

WEIGHTS = {
    "unweighted": None,
    "fractions": np.linspace(0.3, 2.7, N),
    "repetitions": np.arange(N) % 3 + 1.0,
    "some absent": np.arange(N) % 4 * 0.5,
}

centered = pytest.mark.parametrize("center", CENTERINGS)
weighted = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
normalized = pytest.mark.parametrize("normalize", [True, False])


@pytest.fixture
def K(rng):
    return rbf_kernel(rng.standard_normal((N, 3)), gamma=0.3)


@pytest.fixture
def Y(rng):
    return rng.normal([3.0, 0.0], 1.0, (N, 2))


def decompose(K, sample):
    whole = ExactDecomposition(K, sample)
    return whole.vectors, whole.spectra[0].t


@centered
@weighted
@normalized
@pytest.mark.parametrize("held", [slice(0, 1), slice(5, 12), slice(2, None, 3)], ids=["one", "seven", "every third"])
def test_blocks_held_out_are_refits_without_them(K, Y, held, center, weight, normalize, solve_path):
    sample = Sample(Y, weight, center, normalize)
    test = np.arange(N)[held]
    train = np.setdiff1d(np.arange(N), test)
    predictions = held_out_block(*decompose(K, sample), sample, train, test, LAMS)
    refits = solve_path(K, Y, LAMS, train, weight, center, normalize)[:, test]
    there = sample.weight[test] > 0
    assert_allclose(predictions[:, there], refits[:, there], **REFIT)


@centered
@weighted
@normalized
def test_leave_one_out_is_n_refits(K, Y, center, weight, normalize, solve_path):
    sample = Sample(Y, weight, center, normalize)
    predictions = leave_one_out(*decompose(K, sample), sample, LAMS)
    for i in np.flatnonzero(sample.weight):
        refit = solve_path(K, Y, LAMS, np.delete(np.arange(N), i), weight, center, normalize)[:, i]
        assert_allclose(predictions[:, i], refit, **REFIT)


@centered
def test_rows_without_weight_are_given_the_mean(K, Y, center):
    sample = Sample(Y, WEIGHTS["some absent"], center)
    U, t = decompose(K, sample)
    absent = sample.weight == 0
    assert_allclose(leave_one_out(U, t, sample, LAMS)[:, absent], np.broadcast_to(sample.mean, (3, absent.sum(), 2)))
    train, test = np.arange(10, N), np.arange(10)
    block = held_out_block(U, t, sample, train, test, LAMS)[:, absent[test]]
    assert_allclose(block, np.broadcast_to(sample.take(train).mean, block.shape))


@pytest.mark.parametrize("weight", [None, WEIGHTS["fractions"]], ids=["unweighted", "weighted"])
def test_centred_features_do_not_see_a_constant_in_the_kernel(rng, weight):
    """However small lam is, and however large the constant: what it costs is the digits of ``constant / (n lam)``."""
    X = rng.standard_normal((60, 5))
    Y, K = X[:, :1] + 0.1 * rng.standard_normal((60, 1)), rbf_kernel(X, gamma=1e-3)
    w = None if weight is None else np.tile(weight, 2)
    sample = Sample(Y, w, "features")
    lams, train, test = np.array([1e-4, 1e-6, 1e-8]), np.arange(12, 60), np.arange(12)
    without, plus = (decompose(kernel, sample) for kernel in (K - K.min(), K + 10))
    tolerance = {"rtol": 0, "atol": 1e-5}
    blocks = [held_out_block(*one, sample, train, test, lams) for one in (without, plus)]
    assert_allclose(*blocks, **tolerance)
    ones = [leave_one_out(*one, sample, lams) for one in (without, plus)]
    assert_allclose(*ones, **tolerance)


@centered
def test_rounding_level_is_no_error(rng, center):
    """A kernel so smooth that most of its spectrum is rounding errors."""
    X = rng.standard_normal((200, 2))
    K, y = rbf_kernel(X, gamma=1e-3), X[:, :1]
    sample, lams = Sample(y, None, center), np.geomspace(1e-2, 1e-18, 20)
    predictions = held_out_block(*decompose(K, sample), sample, np.arange(50, 200), np.arange(50), lams)
    assert np.all(np.isfinite(predictions))
    assert np.abs(predictions[0] - y[:50]).max() < 3


@centered
def test_a_block_that_rounding_makes_singular_is_no_error(rng, center):
    """Three directions, of which two rows show two, and a penalty that vanishes beside them."""
    X = rng.standard_normal((40, 3))
    sample = Sample(X[:, :1], None, center)
    whole = decompose(X @ X.T, sample)
    predictions = held_out_block(*whole, sample, np.arange(2), np.arange(2, 40), np.array([1e-30]))
    assert np.all(np.isfinite(predictions)) and np.abs(predictions).max() < 10


@centered
@weighted
@pytest.mark.parametrize("name", FILTERS)
def test_the_smoother_diagonal_is_that_of_the_matrix_from_targets_to_fits(K, center, weight, name):
    """Column i of that matrix is what is fitted to the i-th unit target."""
    sample = Sample(np.eye(N), weight, center)
    whole = ExactDecomposition(K, sample)
    filter, t = FILTERS[name](), whole.spectra[0].t
    params = np.array([filter.at_lam(lam, t) for lam in (0.1, 1e-3)])
    diagonal = smoother_diagonal(whole.vectors, filter.gains(t, params) * t, sample)
    for param, row in zip(params, diagonal):
        function = whole.lift([filter.gains(t, [param]).T * whole.spectra[0].b])
        assert_allclose(row, np.diag(K @ function.dual + function.intercept), atol=1e-9)


def test_a_larger_penalty_moves_predictions_towards_the_mean_of_the_others(K, Y):
    sample = Sample(Y)
    predictions = leave_one_out(*decompose(K, sample), sample, np.array([1e12]))
    assert_allclose(predictions[0], (Y.sum(axis=0) - Y) / (N - 1), atol=1e-10)
    assert Tikhonov.resolvent
