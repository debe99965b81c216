"""The spectrum of explicit features, against that of the Gram matrix they make."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from eigenpath.filters import FILTERS, Tikhonov, rank_of
from eigenpath.path import Path
from eigenpath.spectra.base import CENTERINGS, Decomposition, Sample
from eigenpath.spectra.exact import ExactDecomposition
from eigenpath.spectra.holdout import leave_one_out
from eigenpath.spectra.primal import PrimalDecomposition

N, D = 30, 4
WEIGHTS = {"unweighted": None, "fractions": np.linspace(0.3, 2.7, N), "some absent": np.arange(N) % 4 * 0.5}
KINDS = {"dense": np.asarray, "csr": sparse.csr_matrix, "csr_array": sparse.csr_array}
FOLDS = [(np.r_[0:5, 12:N], np.arange(5, 12)), (np.arange(20), np.arange(20, N))]
# Rounding errors of second moments, amplified by the condition of the features.
CLOSE = {"rtol": 1e-8, "atol": 1e-9}

centered = pytest.mark.parametrize("center", CENTERINGS)
normalized = pytest.mark.parametrize("normalize", [True, False])
weighted = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
stored = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
any_filter = pytest.mark.parametrize("name", FILTERS)


@pytest.fixture
def Z(rng):
    """Features with zeros, an offset and different spreads."""
    Z = rng.standard_normal((N + 8, D)) * [3.0, 1.0, 0.3, 1.0] + 0.5
    return np.where(rng.random(Z.shape) < 0.3, 0.0, Z)


@pytest.fixture
def Y(rng):
    return rng.normal([3.0, 0.0], 1.0, (N, 2))


def both(Z, sample, kind=np.asarray):
    return PrimalDecomposition(kind(Z[:N]), sample, FOLDS), ExactDecomposition(Z[:N] @ Z[:N].T, sample, FOLDS)


@centered
@normalized
@weighted
@stored
def test_the_non_zero_spectrum_is_that_of_the_gram_matrix(Z, Y, center, normalize, weight, kind):
    primal, dual = both(Z, Sample(Y, weight, center, normalize), kind)
    r = len(primal.spectra[0].t)
    assert r == D == rank_of(dual.spectra[0].t)
    assert_allclose(primal.spectra[0].t, dual.spectra[0].t[:r], **CLOSE)
    # Coordinates have the signs of their eigenvectors.
    assert_allclose(np.abs(primal.spectra[0].b), np.abs(dual.spectra[0].b[:r]), **CLOSE)
    assert_allclose(primal.spectra[0].outside, (dual.spectra[0].b[r:] ** 2).sum(axis=0), **CLOSE)
    U, W = primal.vectors, dual.vectors[:, :r]
    assert_allclose(U.T @ U, np.eye(r), atol=1e-10)
    assert_allclose(U @ U.T, W @ W.T, atol=1e-9)


@centered
@normalized
@weighted
@stored
def test_new_rows_are_predicted_alike_by_three_routes(Z, Y, center, normalize, weight, kind):
    primal, dual = (Path(one, Tikhonov()) for one in both(Z, Sample(Y, weight, center, normalize), kind))
    cross = Z[N:] @ Z[:N].T
    for lam in np.array([1e-1, 1e-4]) * primal.t[0]:
        one, other = (path.coefficients(path.filter, np.array([lam])) for path in (primal, dual))
        expected = cross @ other.dual + other.intercept
        assert_allclose(Z[N:] @ one.primal + one.intercept, expected, **CLOSE)
        assert_allclose(cross @ one.dual + one.intercept, expected, **CLOSE)


@any_filter
@centered
@weighted
def test_paths_are_the_same(Z, Y, name, center, weight):
    primal, dual = both(Z, Sample(Y, weight, center))
    filter = FILTERS[name]()
    params = filter.path(primal.spectra[0].t)[::9]
    one, other = Path(primal, filter, params), Path(dual, filter, params)
    assert_allclose(one.training_error, other.training_error, rtol=1e-6, atol=1e-9)
    assert_allclose(one.norm, other.norm, rtol=1e-6, atol=1e-9)
    assert_allclose(one.degrees_of_freedom, other.degrees_of_freedom, rtol=1e-6)


@any_filter
@centered
@weighted
def test_folds_are_the_same(Z, Y, name, center, weight):
    primal, dual = both(Z, Sample(Y, weight, center))
    filter = FILTERS[name]()
    params = filter.path(primal.spectra[0].t)[::9]
    for i in range(len(FOLDS)):
        assert_allclose(
            primal.held_out(i, filter, params), Decomposition.held_out(dual, i, filter, params), rtol=1e-6, atol=1e-7
        )


@stored
@normalized
def test_folds_of_sparse_features_are_linear_solves(Z, Y, kind, normalize, solve_path):
    lams, weight = np.array([1.0, 1e-2]), WEIGHTS["fractions"]
    for center in CENTERINGS:
        primal, _ = both(Z, Sample(Y, weight, center, normalize), kind)
        for i, (train, test) in enumerate(FOLDS):
            expected = solve_path(Z[:N] @ Z[:N].T, Y, lams, train, weight, center, normalize)[:, test]
            assert_allclose(primal.held_out(i, Tikhonov(), lams), expected, **CLOSE)


@centered
@normalized
@weighted
def test_leave_one_out_knows_what_lies_outside_the_features_span(Z, Y, center, normalize, weight, solve_path):
    """The closed form from D eigenvectors instead of all N."""
    lams = np.array([1.0, 1e-2])
    primal, _ = both(Z, Sample(Y, weight, center, normalize))
    predictions = leave_one_out(primal.vectors, primal.spectra[0].t, primal.sample, lams)
    for i in np.flatnonzero(primal.sample.weight):
        rest = np.delete(np.arange(N), i)
        expected = solve_path(Z[:N] @ Z[:N].T, Y, lams, rest, weight, center, normalize)[:, i]
        assert_allclose(predictions[:, i], expected, **CLOSE)


@centered
def test_more_features_than_rows_have_no_more_directions_than_rows(rng, center):
    Z, y = rng.standard_normal((8, 20)), rng.standard_normal((8, 1))
    primal = PrimalDecomposition(Z, Sample(y, None, center))
    dual = ExactDecomposition(Z @ Z.T, Sample(y, None, center))
    r = 7 if center == "features" else 8
    assert len(primal.spectra[0].t) == r
    assert_allclose(primal.spectra[0].t, dual.spectra[0].t[:r], **CLOSE)
    lams = np.array([0.1])
    exact = leave_one_out(dual.vectors, dual.spectra[0].t, dual.sample, lams)
    assert_allclose(leave_one_out(primal.vectors, primal.spectra[0].t, primal.sample, lams), exact, **CLOSE)


@stored
@centered
def test_dependent_features_add_no_direction(Z, Y, kind, center):
    twice = np.hstack([Z, Z @ np.ones((D, 1)), Z[:, :1]])
    primal, dual = both(twice, Sample(Y, None, center), kind)
    assert len(primal.spectra[0].t) == D
    one, other = (Path(path, Tikhonov()).coefficients(Tikhonov(), np.array([1e-3])) for path in (primal, dual))
    assert_allclose(
        twice[N:] @ one.primal + one.intercept, twice[N:] @ twice[:N].T @ other.dual + other.intercept, **CLOSE
    )


@stored
def test_centred_features_do_not_see_an_offset(Z, Y, kind):
    """Of size 1e3: a second moment that is centred afterwards loses six digits by it."""
    sample, lam = Sample(Y, WEIGHTS["fractions"], "features"), np.array([1e-2])
    near, far = (PrimalDecomposition(kind(Z[:N] + offset), sample, FOLDS) for offset in (0.0, 1e3))
    one, other = (Path(path, Tikhonov()).coefficients(Tikhonov(), lam) for path in (near, far))
    assert_allclose(other.primal, one.primal, rtol=1e-5, atol=1e-6)
    assert_allclose(near.held_out(0, Tikhonov(), lam), far.held_out(0, Tikhonov(), lam), rtol=1e-5, atol=1e-5)


@stored
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_features_with_holes_are_refused(Z, Y, kind, bad):
    Z[3, 2] = bad
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="features contain NaN or infinity, or are so large"),
    ):
        _ = PrimalDecomposition(kind(Z[:N]), Sample(Y)).spectra


@stored
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 0.3, 1e6])
@pytest.mark.parametrize("n", [1, 2, 5, 50])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_rows_leave_nothing_to_learn(kind, value, n, weighted, rng):
    sample = Sample(rng.standard_normal((n, 1)), rng.uniform(0.1, 2, n) if weighted else None, "features")
    with pytest.raises(ValueError, match="nothing to learn from: after centring, all rows of X look equal"):
        Path(PrimalDecomposition(kind(np.full((n, 3), value)), sample), Tikhonov())


@stored
@any_filter
def test_a_fold_of_equal_rows_predicts_their_mean(rng, kind, name):
    Z, y = rng.standard_normal((12, 2)), rng.standard_normal((12, 1))
    Z[4:] = Z[4]
    folds = [(np.arange(4, 12), np.arange(4))]
    whole, filter = PrimalDecomposition(kind(Z), Sample(y, None, "features"), folds), FILTERS[name]()
    predictions = whole.held_out(0, filter, filter.path(whole.spectra[0].t)[::9])
    assert_allclose(predictions, np.broadcast_to(y[4:].mean(), predictions.shape), atol=1e-8)
