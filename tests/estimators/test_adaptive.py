"""How far the Krylov space grows: until the choice is certified, and the rest of the path can no longer beat it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold

from eigenpath import TSVD, KFoldCV, SpectralRegressor, Tikhonov
from eigenpath._threads import single_threaded_blas
from eigenpath.estimators import _adaptive
from eigenpath.estimators._adaptive import Follower, follow, relative_errors
from eigenpath.filters import FILTERS
from eigenpath.gram import PrecomputedGram
from eigenpath.path import Path
from eigenpath.selection import APriori, Task
from eigenpath.spectra.base import Sample
from eigenpath.spectra.exact import ExactDecomposition
from eigenpath.spectra.krylov import KrylovDecomposition

RULE, TASK = KFoldCV(), Task()


@pytest.fixture
def problem(rng):
    """A kernel matrix, two targets, folds."""
    X = rng.standard_normal((150, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] + X[:, 2] ** 2]) + 0.3 * rng.standard_normal((150, 2))
    return rbf_kernel(X, gamma=0.4), Y, list(KFold(4, shuffle=True, random_state=0).split(X))


def start(problem, **options):
    K, Y, folds = problem
    return KrylovDecomposition(PrecomputedGram(K), Sample(Y, **options), folds)


def waves(n, d, rng):
    """Rows in many dimensions, with a smooth part and one that weaker regularization goes on to learn."""
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0]) * X[:, 1] + np.abs(X[:, 2]) + 0.1 * rng.standard_normal(n)


# --- where to stop -------------------------------------------------------------------------------------------------


def exact_ratio(K, y, **options):
    """Krylov's choice on the exact curve of scores: its score over the best, and the curve."""
    exact = SpectralRegressor(solver="exact", **options).fit(K, y)
    krylov = SpectralRegressor(solver="krylov", filter=Tikhonov(exact.path_.params), **options).fit(K, y)
    scores = exact.path_.scores[:, 0]
    return scores[krylov.choice_.index[0]] / scores.min(), scores, krylov


@pytest.mark.parametrize(("n", "gamma"), [(600, 0.2), (2000, 0.02)])
def test_many_dimensions_do_not_end_the_run_early(n, gamma, rng):
    X, y = waves(n, 20, rng)
    ratio, _, krylov = exact_ratio(X, y, gamma=gamma, cv=3 if n > 1000 else 5)
    assert ratio <= 1.005
    assert krylov.n_iter_ < n / 5


@pytest.mark.parametrize(("scale", "dims", "seed"), [(1e-2, 150, 2), (1e-3, 30, 1), (1e-4, 30, 1)])
def test_the_run_does_not_stop_at_a_first_local_minimum(scale, dims, seed):
    """Two directions matter, then come directions of noise, and then groups that explain nearly all that is left."""
    rng, n = np.random.default_rng(seed), 600
    Z, group = rng.standard_normal((n, dims)), rng.integers(0, n // 8, n)
    y = 2 * Z[:, 0] + Z[:, 1] + rng.standard_normal(n // 8)[group] + 0.1 * rng.standard_normal(n)
    Z[:, :2] *= 5
    K = Z @ Z.T / 60 + scale * (group[:, None] == group)
    ratio, scores, _ = exact_ratio(K, y, kernel="precomputed")
    inner = np.flatnonzero((scores[1:-1] < scores[:-2]) & (scores[1:-1] < scores[2:])) + 1
    assert scores[inner[0]] > 10 * scores.min(), "the first minimum is far from the least"
    assert np.any(scores[inner[0] : inner[0] + 20] > 1.01 * scores[inner[0]])
    assert ratio <= 1.005


def test_looks_go_on_until_the_choice_is_certain(problem):
    krylov = start(problem)
    (one,) = follow(krylov, [Tikhonov()], RULE, TASK, tol=1e-3, max_iter=140)
    assert 24 < krylov.steps < 140 and one.steps == krylov.steps
    assert one.error <= 1e-3
    lam = one.choice.params[0]
    assert one.reach <= lam / 2, "known with a margin"
    tighter = start(problem)
    (other,) = follow(tighter, [Tikhonov()], RULE, TASK, tol=1e-9, max_iter=140)
    assert tighter.steps > krylov.steps and other.error <= 1e-9
    looser = start(problem)
    follow(looser, [Tikhonov()], RULE, TASK, tol=10.0, max_iter=140)
    assert looser.steps < krylov.steps


def test_a_given_parameter_needs_no_more_than_itself(problem):
    krylov = start(problem)
    (one,) = follow(krylov, [Tikhonov(1.0)], RULE, TASK, tol=1e-3, max_iter=140)
    assert krylov.steps == 24 and one.error < 1e-3 and one.reach == 1.0


def test_every_filter_is_looked_at_on_the_last_space(problem):
    krylov = start(problem)
    filters = [Tikhonov(1.0), FILTERS["nu_method"](), TSVD(np.arange(25))]
    found = follow(krylov, filters, RULE, TASK, tol=1e-3, max_iter=150)
    assert krylov.steps > 40
    for one in found:
        assert one.steps == krylov.steps
        assert len(one.path.t) == krylov.steps
        # The coefficients are those of this space.
        assert one.path.coefficients(one.choice.filter, one.choice.params).dual.shape == (150, 2)


def test_a_choice_between_the_points_of_the_path_is_certified_itself(problem):
    (one,) = follow(start(problem), [Tikhonov()], APriori(), Task(kappa2=1e-3), tol=1e-3, max_iter=140)
    assert one.choice.params[0] not in one.params
    krylov = one.path.decomposition
    error, rounding = relative_errors(krylov, Tikhonov(), one.choice.params)
    assert (one.error, one.rounding) == (error[0], rounding[0])


# --- bounds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", ["target", "features", None])
@pytest.mark.parametrize("name", FILTERS)
def test_errors_are_bounds_for_all_folds_targets_and_parameters(name, center, problem):
    K, Y, folds = problem
    # Whole components converge later than sums of them.
    krylov = start(problem, center=center).extend(70 if name == "tsvd" else 18)
    exact = ExactDecomposition(K, Sample(Y, center=center), folds)
    filter = FILTERS[name]()
    params = np.array([1, 2, 4, 60]) if filter.parameter == "n_components" else filter.path(exact.spectra[0].t)[::7]
    params = params[params <= 3000] if filter.parameter == "n_iter" else params
    bound, rounding = relative_errors(krylov, filter, params)
    # Default steps are 1 / t[0], whose Ritz value is as good as the square of its residual.
    actual = np.zeros(len(params))
    rows = [*(train for train, _ in folds), np.arange(150)]
    for p, param in enumerate(params):
        found = [*krylov.fold_coefficients(filter, params[p : p + 1]), whole(krylov, filter, param)]
        right = [*exact.fold_coefficients(filter, params[p : p + 1]), whole(exact, filter, param)]
        for a, b, train in zip(found, right, rows):
            gap = (K[train] @ (a.dual - b.dual)) + (a.intercept - b.intercept)
            target = Y[train] - (Y[train].mean(axis=0) if center else 0)
            actual[p] = max(actual[p], np.max(np.sqrt((gap**2).mean(axis=0) / (target**2).mean(axis=0))))
    assert np.all(actual <= bound + rounding + 1e-8)
    assert bound.max() > 1e-3, "not all is converged"
    assert bound.min() < 1e-3, "and some is"


def whole(decomposition, filter, param):
    return Path(decomposition, filter, [param]).coefficients(filter, np.array([param]))


def test_polynomials_of_lower_degree_are_exact(problem):
    krylov = start(problem).extend(12)
    error, _ = relative_errors(krylov, FILTERS["landweber"](step=0.5), np.array([1, 11, 12, 13, 100]))
    assert np.all(error[:3] == 0) and np.all(error[3:] > 0)


# --- the end of the run --------------------------------------------------------------------------------------------


def test_the_warning_names_the_filters_the_bound_and_what_set_the_limit(problem):
    filters = [Tikhonov(1e-6), Tikhonov(10.0), FILTERS["showalter"](1e-6)]
    for remedy in ("max_iter", "memory_limit"):
        message = rf"Tikhonov, Showalter: not certain .* after 25 Krylov steps, .* {remedy} allows.* Raise {remedy}"
        with pytest.warns(ConvergenceWarning, match=message):
            found = follow(start(problem), filters, RULE, TASK, tol=1e-6, max_iter=25, remedy=remedy)
        assert max(one.error for one in found) > 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        follow(start(problem), filters, RULE, TASK, tol=1e-6, max_iter=25, remedy=remedy, quiet=True)


def test_memory_ends_a_run_and_is_named(rng):
    X, y = waves(900, 4, rng)
    model = SpectralRegressor(gamma=1.0, solver="krylov", filter=Tikhonov(1e-8), memory_limit="8MB")
    # Each thread takes some of it.
    with single_threaded_blas():
        room = model.plan(X).room
        assert 48 <= room < 500
        with pytest.warns(ConvergenceWarning, match=rf"after {room} Krylov steps, which is what memory_limit allows"):
            model.fit(X, y)
    assert model.n_iter_ == room


def test_looks_are_few(problem, monkeypatch):
    """Their number grows as the logarithm of the steps."""
    looks = []
    genuine = Follower.look
    monkeypatch.setattr(_adaptive.Follower, "look", lambda self, *a: looks.append(1) or genuine(self, *a))
    krylov = start(problem)
    follow(krylov, [Tikhonov()], RULE, TASK, tol=1e-8, max_iter=150)
    assert 2 <= len(looks) <= 2 + np.log(krylov.steps / 24) / np.log(1.1)


def test_an_exact_space_ends_the_run(problem):
    K, Y, folds = problem
    K = K[:5, :5].repeat(30, axis=0).repeat(30, axis=1)
    krylov = KrylovDecomposition(PrecomputedGram(K), Sample(Y), folds)
    (one,) = follow(krylov, [Tikhonov()], RULE, TASK, tol=1e-12, max_iter=150)
    assert krylov.exact and krylov.steps <= 6
    assert (one.error, one.rounding) == (0, 0)
    exact = ExactDecomposition(K, Sample(Y), folds)
    assert_allclose(
        whole(krylov, Tikhonov(), 0.1).dual.sum(axis=0), whole(exact, Tikhonov(), 0.1).dual.sum(axis=0), atol=1e-9
    )
