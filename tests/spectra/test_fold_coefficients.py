"""The functions of folds: the same predictions as those kept for the test parts, and on any other row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import laplacian_kernel

from eigenpath.filters import FILTERS, Tikhonov
from eigenpath.spectra.base import CENTERINGS, Sample
from eigenpath.spectra.exact import ExactDecomposition
from eigenpath.spectra.primal import PrimalDecomposition

N = 30
# A training part need not be the complement, and may hold rows twice.
FOLDS = [(np.arange(10, N), np.arange(10)), (np.r_[0:15, 3:8, 3], np.arange(20, N)), (np.arange(4), np.array([7]))]
WEIGHTS = {"unweighted": None, "fractions": np.linspace(0.3, 2.7, N), "absent": np.arange(N) % 4 * 0.5}

centered = pytest.mark.parametrize("center", CENTERINGS)
weighted = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
normalized = pytest.mark.parametrize("normalize", [True, False])
any_filter = pytest.mark.parametrize("name", FILTERS)


@pytest.fixture
def X(rng):
    return rng.standard_normal((N, 3))


@pytest.fixture
def Y(rng):
    return rng.normal([3.0, 0.0], 1.0, (N, 2))


def middle(filter, t):
    path = filter.path(t)
    return path[[len(path) // 3, len(path) // 2]]


@any_filter
@centered
@weighted
@normalized
def test_dual_coefficients_predict_what_was_held_out(X, Y, name, center, weight, normalize):
    K, filter = laplacian_kernel(X, gamma=0.2), FILTERS[name]()
    whole = ExactDecomposition(K, Sample(Y, weight, center, normalize), FOLDS)
    pair = middle(filter, whole.spectra[0].t)
    functions = whole.fold_coefficients(filter, pair)
    for i, (function, (train, test)) in enumerate(zip(functions, FOLDS, strict=True)):
        predictions = K[test] @ function.dual + function.intercept
        held_out = whole.held_out(i, filter, pair)
        # One parameter for each target.
        expected = np.column_stack([held_out[0, :, 0], held_out[1, :, 1]])
        assert_allclose(predictions, expected, rtol=1e-8, atol=1e-9)
        unseen = np.setdiff1d(np.arange(N), train)
        assert_array_equal(function.dual[unseen], 0)


@any_filter
@centered
@weighted
def test_primal_coefficients_predict_what_was_held_out(X, Y, name, center, weight):
    filter, whole = FILTERS[name](), PrimalDecomposition(X, Sample(Y, weight, center), FOLDS[:2])
    pair = middle(filter, whole.spectra[0].t)
    for i, function in enumerate(whole.fold_coefficients(filter, pair)):
        predictions = X[FOLDS[i][1]] @ function.primal + function.intercept
        held_out = whole.held_out(i, filter, pair)
        assert_allclose(predictions, np.column_stack([held_out[0, :, 0], held_out[1, :, 1]]), rtol=1e-8, atol=1e-9)


def test_one_parameter_serves_all_targets(X, Y):
    K = laplacian_kernel(X, gamma=0.2)
    whole = ExactDecomposition(K, Sample(Y, None, "features"), FOLDS)
    shared, twice = (whole.fold_coefficients(Tikhonov(), np.array(lams)) for lams in ([0.1], [0.1, 0.1]))
    for one, other in zip(shared, twice):
        assert_allclose(one.dual, other.dual)
        assert_allclose(one.intercept, other.intercept)
