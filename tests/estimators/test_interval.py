"""Prediction intervals: CV+ against refits by hand, its coverage, and the folds' functions behind it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import kernel_ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, ShuffleSplit

from eigenpath import KernelPCR, KernelRidge, SpectralRegressor, Tikhonov
from eigenpath.estimators._interval import cv_plus
from eigenpath.filters import FILTERS
from eigenpath.gram import PrecomputedGram
from eigenpath.spectra.base import CENTERINGS, Sample
from eigenpath.spectra.exact import ExactDecomposition
from eigenpath.spectra.krylov import KrylovDecomposition
from eigenpath.spectra.primal import PrimalDecomposition

GAMMA, LAM = 0.5, 1e-2


@pytest.fixture
def data(rng):
    X = rng.standard_normal((90, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + 3, X[:, 1] ** 2]) + 0.3 * rng.standard_normal((90, 2))
    return X[:60], Y[:60], X[60:]


def folds_of(X, k=4):
    return list(KFold(k, shuffle=True, random_state=3).split(X))


def by_hand(values, missed, fold, coverage):
    """The definition: sort all ``mu_fold(i)(x) +- missed_i``, and take the k-th from either end."""
    n = len(missed)
    k = int(np.ceil(coverage * (n + 1)))
    lower, upper = [], []
    for row in values:
        high = sorted(row[fold[i]] + missed[i] for i in range(n))
        low = sorted((row[fold[i]] - missed[i] for i in range(n)), reverse=True)
        upper.append(high[k - 1] if k <= n else np.inf)
        lower.append(low[k - 1] if k <= n else -np.inf)
    return np.array(lower), np.array(upper)


# --- the quantiles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coverage", [0.05, 0.5, 0.8, 0.9, 0.999])
@pytest.mark.parametrize("n", [1, 7, 19, 40])
def test_ends_are_the_ranks_of_the_definition(n, coverage, rng):
    values, missed, fold = rng.standard_normal((9, 5)), np.abs(rng.standard_normal(n)), rng.integers(0, 5, n)
    assert_allclose(cv_plus(values, missed, fold, coverage), by_hand(values, missed, fold, coverage))


def test_many_rows_are_worked_on_by_parts(monkeypatch, rng):
    values, missed, fold = rng.standard_normal((50, 3)), np.abs(rng.standard_normal(30)), rng.integers(0, 3, 30)
    whole, weighted = cv_plus(values, missed, fold, 0.8), cv_plus(values, missed, fold, 0.8, np.ones(30))
    monkeypatch.setattr("eigenpath.estimators._interval._ENTRIES", 30 * 7)
    assert_array_equal(cv_plus(values, missed, fold, 0.8), whole)
    assert_array_equal(cv_plus(values, missed, fold, 0.8, np.ones(30)), whole)
    assert_array_equal(weighted, whole)


@pytest.mark.parametrize("coverage", [0.3, 0.55, 0.9, 0.97, 0.99])
def test_weights_are_repetitions(coverage, rng):
    values, missed, fold = rng.standard_normal((9, 3)), np.abs(rng.standard_normal(30)), rng.integers(0, 3, 30)
    weight = rng.integers(0, 4, 30)
    repeated = np.repeat(np.arange(30), weight)
    expected = by_hand(values, missed[repeated], fold[repeated], coverage)
    assert_allclose(cv_plus(values, missed, fold, coverage, weight.astype(float)), expected)


# --- against refits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["exact", "krylov"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_intervals_are_those_of_refits_by_scikit_learn(kernel, solver, data):
    X, Y, new = data
    folds = folds_of(X)
    if kernel == "precomputed":
        rows, X = rbf_kernel(new, X, gamma=GAMMA), rbf_kernel(X, gamma=GAMMA)
    else:
        rows = new
    model = SpectralRegressor(
        kernel, gamma=GAMMA, filter=Tikhonov(LAM), cv=folds, solver=solver, tol=1e-8, intervals=True
    )
    found = model.fit(X, Y).predict(rows, interval=0.8)
    expected_route = "primal" if kernel == "linear" and solver == "exact" else solver
    assert model.solver_.route == expected_route
    assert_array_equal(found.prediction, model.predict(rows))
    for target in range(2):
        y, fold = Y[:, target], np.empty(60, dtype=int)
        missed, values = np.empty(60), np.empty((30, 4))
        for f, (train, test) in enumerate(folds):
            fit = kernel_ridge.KernelRidge(alpha=LAM * len(train), kernel=kernel, gamma=GAMMA)
            if kernel == "precomputed":
                part, at_test, at_rows = X[np.ix_(train, train)], X[np.ix_(test, train)], rows[:, train]
            else:
                part, at_test, at_rows = X[train], X[test], rows
            mean = y[train].mean()
            fit.fit(part, y[train] - mean)
            missed[test], fold[test] = np.abs(y[test] - mean - fit.predict(at_test)), f
            values[:, f] = fit.predict(at_rows) + mean
        lower, upper = by_hand(values, missed, fold, 0.8)
        assert_allclose(found.lower[:, target], lower, atol=1e-6)
        assert_allclose(found.upper[:, target], upper, atol=1e-6)


@pytest.mark.parametrize("solver", ["exact", "krylov"])
def test_a_row_without_weight_is_absent_and_weights_are_repetitions(solver, data, rng):
    X, Y, new = data
    weight = rng.integers(0, 3, 60)
    place = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weight)

    def folds(place):
        return [(np.flatnonzero(place != f), np.flatnonzero(place == f)) for f in range(3)]

    model = SpectralRegressor(gamma=GAMMA, filter=Tikhonov(LAM), solver=solver, intervals=True, tol=1e-9)
    weighted = model.set_params(cv=folds(place)).fit(X, Y, sample_weight=weight).predict(new, interval=0.9)
    model.set_params(cv=folds(place[repeated])).fit(X[repeated], Y[repeated])
    for one, other in zip(weighted, model.predict(new, interval=0.9)):
        assert_allclose(one, other, atol=1e-6)


def test_per_target_parameters_make_intervals_of_their_own(data):
    X, Y, new = data
    options = {"gamma": GAMMA, "filter": Tikhonov(np.logspace(-5, 1, 25)), "intervals": True}
    own = SpectralRegressor(per_target=True, **options).fit(X, Y)
    assert len(set(own.choice_.params)) == 2
    together = own.predict(new, interval=0.9)
    for k in range(2):
        alone = SpectralRegressor(**options).fit(X, Y[:, k]).predict(new, interval=0.9)
        assert alone.lower.shape == (30,)
        for one, other in zip(together, alone):
            assert_allclose(one[:, k], other, atol=1e-9)


@pytest.mark.parametrize("name", FILTERS)
def test_krylov_intervals_are_the_exact_ones(name, data):
    X, Y, new = data
    options = {"gamma": GAMMA, "intervals": True, "cv": folds_of(X)}
    exact = SpectralRegressor(filter=name, solver="exact", **options).fit(X, Y[:, 0])
    krylov = SpectralRegressor(filter=exact.filter_, solver="krylov", tol=1e-8, **options).fit(X, Y[:, 0])
    for one, other in zip(krylov.predict(new, interval=0.9), exact.predict(new, interval=0.9)):
        assert_allclose(one, other, atol=1e-5)


def test_kernel_ridge_and_kernel_pcr_have_them_too(data):
    X, Y, new = data
    for model in (
        KernelRidge(kernel="rbf", gamma=GAMMA, alphas="auto", intervals=True),
        KernelPCR(gamma=GAMMA, intervals=True),
    ):
        found = model.fit(X, Y).predict(new, interval=0.9)
        assert_array_equal(found.prediction, model.predict(new))
        assert found.lower.shape == found.upper.shape == (30, 2)
        assert np.all(found.lower < found.upper)


# --- coverage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["exact", "krylov"])
def test_coverage(solver, rng):
    """1 - alpha is what one sees: here the mean over 20 fits of 80 rows.

    Proved is 1 - 2 alpha - sqrt(2 / n) for equal folds, if these do not choose the parameter as well, which they do here.
    """
    covered = np.zeros((20, 2))
    for share in covered:
        X = rng.uniform(-2, 2, (1080, 1))
        Y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 0]])
        Y = Y + np.column_stack([0.3 * rng.standard_normal(1080), rng.exponential(0.2, 1080)])
        model = SpectralRegressor(gamma=2.0, filter=Tikhonov(np.logspace(-4, 0, 15)), solver=solver, intervals=True)
        found = model.fit(X[:80], Y[:80]).predict(X[80:], interval=0.8)
        share[:] = ((found.lower <= Y[80:]) & (Y[80:] <= found.upper)).mean(axis=0)
    # The share of one fit varies by about 0.05; the mean of 20 by 0.012.
    assert np.all(np.abs(covered.mean(axis=0) - 0.8) < 0.05)
    assert covered.min() > 0.6


# --- the functions of folds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("center", CENTERINGS)
@pytest.mark.parametrize("name", ["tikhonov", "tsvd", "nu_method"])
@pytest.mark.parametrize("route", [ExactDecomposition, PrimalDecomposition, KrylovDecomposition])
def test_the_functions_of_folds_are_refits(route, name, center, weighted, data, rng):
    X, Y, new = data
    weight = rng.integers(1, 4, 60).astype(float) if weighted else None
    sample, folds = Sample(Y, weight, center), folds_of(X, 3)
    filter = FILTERS[name]()
    params = {"tikhonov": np.array([LAM]), "tsvd": np.array([2]), "nu_method": np.array([2])}[name]
    K = X @ X.T
    if route is KrylovDecomposition:
        decomposition = route(PrecomputedGram(K), sample, folds).extend(10)
    else:
        decomposition = route(X if route is PrimalDecomposition else K, sample, folds)
    functions = decomposition.fold_coefficients(filter, params)
    assert len(functions) == 3
    for i, (function, (train, test)) in enumerate(zip(functions, folds)):
        refit = ExactDecomposition(K[np.ix_(train, train)], sample.take(train))
        spectrum = refit.spectra[0]
        dual, intercept, _ = refit.lift([filter.gains(spectrum.t, params).T * spectrum.b])
        expected = new @ X[train].T @ dual + intercept
        if route is PrimalDecomposition:
            values, at_test = (rows @ function.primal + function.intercept for rows in (new, X[test]))
        else:
            assert not function.dual[test].any(), "zero on rows that the fold did not see"
            values, at_test = (rows @ X.T @ function.dual + function.intercept for rows in (new, X[test]))
        assert_allclose(values, expected, atol=1e-8)
        assert_allclose(decomposition.held_out(i, filter, params)[0], at_test, atol=1e-8)


def test_fold_functions_at_one_parameter_for_each_target(data):
    X, Y, _ = data
    K, folds, params = rbf_kernel(X, gamma=GAMMA), folds_of(X, 3), np.array([1e-1, 1e-3])
    sample = Sample(Y)
    for decomposition in (
        ExactDecomposition(K, sample, folds),
        KrylovDecomposition(PrecomputedGram(K), sample, folds).extend(60),
    ):
        both = decomposition.fold_coefficients(Tikhonov(), params)
        for k in range(2):
            one = decomposition.fold_coefficients(Tikhonov(), params[k : k + 1])
            for together, alone in zip(both, one):
                assert_allclose(K @ together.dual[:, k], K @ alone.dual[:, k], atol=1e-9)


# --- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rule": "gcv", "intervals": True},
        {"rule": "holdout", "intervals": True},
        {"cv": ShuffleSplit(3, test_size=0.3, random_state=0), "intervals": True},
    ],
    ids=["not asked for", "no folds", "one split", "rows held out twice or never"],
)
def test_without_folds_that_hold_every_row_out_once_there_are_no_intervals(options, data):
    X, Y, new = data
    model = SpectralRegressor(gamma=GAMMA, **options).fit(X, Y)
    with pytest.raises(ValueError, match=r"no folds to make intervals of: fit with intervals=True .* rule='cv'"):
        model.predict(new, interval=0.9)


def test_kernel_ridge_without_alphas_forgets_the_folds_of_the_fit_before(data):
    X, Y, new = data
    model = KernelRidge(kernel="rbf", alphas="auto", intervals=True).fit(X, Y)
    model.predict(new, interval=0.9)
    model.set_params(alphas=None).fit(X, Y)
    with pytest.raises(ValueError, match="no folds to make intervals of"):
        model.predict(new, interval=0.9)


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, np.nan, "0.9", True])
def test_a_coverage_lies_between_zero_and_one(coverage, data):
    X, Y, new = data
    model = SpectralRegressor(gamma=GAMMA, intervals=True).fit(X, Y)
    with pytest.raises(ValueError, match="interval must be the coverage wanted, between 0 and 1"):
        model.predict(new, interval=coverage)


def test_too_few_rows_for_the_coverage_make_infinite_intervals(data):
    X, Y, new = data
    found = SpectralRegressor(gamma=GAMMA, intervals=True).fit(X, Y).predict(new, interval=0.99)
    assert np.all(found.lower == -np.inf) and np.all(found.upper == np.inf)
