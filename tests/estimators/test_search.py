"""The search over kernels, bandwidths and filters: one rule judges all, and what it needs is computed once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenpath import GCV, TSVD, KFoldCV, LeaveOneOut, NuMethod, SpectralRegressor, Tikhonov
from eigenpath.estimators import _search
from eigenpath.estimators._search import Search, bandwidth_names
from eigenpath.kernels import RBF, Laplacian, Linear, Matern, Polynomial, RationalQuadratic, Sigmoid
from eigenpath.spectra.base import Sample

KERNELS = [RBF(gamma=0.3), Laplacian(gamma=0.2), Linear(), RBF(gamma=3.0)]
FILTERS = [Tikhonov(), TSVD(), NuMethod()]
AUTO = {
    "rbf": RBF("auto"),
    "laplacian": Laplacian("auto"),
    "matern": Matern(gamma="auto", nu=1.5),
    "rational_quadratic": RationalQuadratic(gamma="auto"),
    "poly": Polynomial(2, gamma="auto"),
}


@pytest.fixture
def data(rng):
    X = rng.standard_normal((60, 3))
    return X[:45], np.sin(2 * X[:45, 0]) + X[:45, 1] + 0.2 * rng.standard_normal(45), X[45:]


def median_gamma(X, power=2):
    """One over the median distance between different rows, to the power given."""
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    return 1 / np.median(distance[distance > 0] ** power)


# --- lists -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["cv", "gcv", "holdout", LeaveOneOut(exact_below=10)], ids=str)
def test_the_best_pair_of_kernel_and_filter_is_the_best_of_separate_fits(rule, data):
    X, y, new = data
    together = SpectralRegressor(KERNELS, filter=FILTERS, rule=rule).fit(X, y)
    apart = [SpectralRegressor(k, filter=f, rule=rule).fit(X, y) for k in KERNELS for f in FILTERS]
    assert len(together.candidates_) == len(apart)
    assert_allclose(
        [one.value for one in together.candidates_], [one.choice_.value for one in apart], rtol=1e-6, atol=1e-12
    )
    best = min(apart, key=lambda one: one.choice_.value)
    assert repr(together.kernel_) == repr(best.kernel_)
    assert type(together.filter_) is type(best.filter_)
    assert_allclose(together.predict(new), best.predict(new), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rule", ["discrepancy", "balancing", "a_priori"])
def test_rules_whose_scores_say_nothing_elsewhere_leave_the_comparison_to_gcv(rule, data):
    X, y, new = data
    together = SpectralRegressor(KERNELS, filter=FILTERS, rule=rule).fit(X, y)
    judged = SpectralRegressor(KERNELS, filter=FILTERS, rule="gcv").fit(X, y)
    assert_allclose([c.value for c in together.candidates_], [c.value for c in judged.candidates_], rtol=1e-9)
    assert repr(together.kernel_) == repr(judged.kernel_)
    # The parameter is still the rule's own choice.
    alone = SpectralRegressor(together.kernel_, filter=type(together.filter_)(), rule=rule).fit(X, y)
    assert_allclose(together.choice_.params, alone.choice_.params, rtol=1e-9)
    assert_allclose(together.predict(new), alone.predict(new), rtol=1e-7, atol=1e-9)
    assert np.isnan(alone.candidates_[0].value)


def test_candidates_are_listed_in_the_order_of_trying_with_their_parameters(data):
    X, y, _ = data
    model = SpectralRegressor(KERNELS, filter=FILTERS, rule="gcv").fit(X, y)
    tried = [(repr(one.kernel), type(one.filter)) for one in model.candidates_]
    assert tried == [(repr(k), type(f)) for k in KERNELS for f in FILTERS]
    assert all(one.filter.value is not None for one in model.candidates_)
    best = min(model.candidates_, key=lambda one: one.value)
    assert repr(model.filter_) == repr(best.filter)
    assert model.choice_.value == best.value


def test_distances_are_computed_once_for_each_metric(data, monkeypatch):
    X, y, new = data
    seen = []
    genuine = _search.distance_matrix

    def counted(X, Z=None, metric="sqeuclidean"):
        seen.append(metric)
        return genuine(X, Z, metric=metric)

    monkeypatch.setattr(_search, "distance_matrix", counted)
    kernels = [RBF("auto"), Matern(gamma="auto"), Laplacian("auto"), RationalQuadratic(gamma=1.0) + RBF(0.1), Linear()]
    model = SpectralRegressor(kernels, filter=FILTERS, rule="gcv").fit(X, y)
    assert len(model.candidates_) > 3 * 20
    assert sorted(seen) == ["cityblock", "sqeuclidean"]
    alone = SpectralRegressor(model.kernel_, filter=type(model.filter_)(), rule="gcv").fit(X, y)
    assert len(seen) == 2
    assert_allclose(model.predict(new), alone.predict(new), rtol=1e-7, atol=1e-9)


def test_krylov_runs_share_their_distances_if_there_is_room(data, monkeypatch):
    X, y, new = data
    seen = []
    genuine = _search.DistanceTriangle

    def counted(X, metric):
        seen.append(metric)
        return genuine(X, metric)

    monkeypatch.setattr(_search, "DistanceTriangle", counted)
    kernels = [RBF(0.3), Matern(gamma=0.3), Laplacian("auto"), Polynomial(2, gamma=0.1)]
    options = {"filter": [Tikhonov(), NuMethod()], "solver": "krylov"}
    model = SpectralRegressor(kernels, **options).fit(X, y)
    assert sorted(seen) == ["cityblock", "sqeuclidean"]
    alone = SpectralRegressor(model.kernel_, filter=type(model.filter_)(), solver="krylov").fit(X, y)
    assert len(seen) == 2, "one kernel has nobody to share with"
    assert_allclose(model.predict(new), alone.predict(new), rtol=1e-7, atol=1e-9)
    tight = SpectralRegressor(kernels, memory_limit="450 kB", **options)
    assert not tight.plan(X).shared
    assert_allclose(tight.fit(X, y).predict(new), model.predict(new), rtol=1e-7, atol=1e-9)
    assert len(seen) == 2


def test_kernels_are_compared_coarsely_and_contenders_once_more(rng, monkeypatch):
    """The best two are alike; the third is far off and need not be known precisely."""
    X = rng.standard_normal((300, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(300)
    kernels = [RBF(1.0), RBF(1.001), RBF(50.0)]
    runs = []
    genuine = _search.follow
    monkeypatch.setattr(_search, "follow", lambda *a, tol, **k: runs.append(tol) or genuine(*a, tol=tol, **k))
    model = SpectralRegressor(kernels, solver="krylov", tol=1e-3).fit(X, y)
    assert_allclose(runs, [1e-2, 1e-2, 1e-2, 1e-3, 1e-3])
    apart = [SpectralRegressor(k, solver="krylov", tol=1e-3).fit(X, y) for k in kernels]
    assert [repr(one.kernel) for one in model.candidates_] == [repr(kernel) for kernel in kernels]
    assert_allclose([one.value for one in model.candidates_[:2]], [one.choice_.value for one in apart[:2]], rtol=1e-12)
    best = min(apart, key=lambda one: one.choice_.value)
    assert repr(model.kernel_) == repr(best.kernel_)
    assert_allclose(model.predict(X), best.predict(X), rtol=1e-12)


@pytest.mark.parametrize("rule", ["balancing", "a_priori"])
def test_scores_of_the_comparison_are_not_shown_as_those_of_the_rule(rule, data):
    X, y, _ = data
    assert SpectralRegressor(rule=rule).fit(X, y).path_.scores is None
    assert SpectralRegressor(rule="gcv").fit(X, y).path_.scores is not None


def test_absent_rows_do_not_bound_the_kernel(data):
    """The a priori choice depends on the largest k(x, x) that is there."""
    X, y, _ = data
    weight = np.ones(len(X) + 1)
    weight[-1] = 0
    padded = np.vstack([X, 1e3 * np.ones((1, 3))]), np.append(y, 0.0)
    choices = [
        SpectralRegressor("linear", rule="a_priori").fit(*given, sample_weight=w).choice_.params
        for given, w in (((X, y), None), (padded, weight))
    ]
    assert_allclose(*choices)


def test_shares_of_the_variance_need_the_whole_spectrum(data):
    X, y, _ = data
    assert SpectralRegressor(filter=TSVD(0.9), gamma=1.0).plan(np.zeros((5000, 2))).route == "exact"
    with pytest.raises(
        ValueError, match=r"solver='krylov' finds a part of the spectrum only, and a share of the varia"
    ):
        SpectralRegressor(filter=TSVD(0.9), gamma=1.0, solver="krylov").fit(X, y)


def test_one_pair_alone_needs_no_comparison(data):
    X, y, _ = data
    model = SpectralRegressor("rbf", gamma=0.5).fit(X, y)
    assert len(model.candidates_) == 1
    assert model.candidates_[0].value == model.choice_.value


# --- bandwidths --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", AUTO)
def test_auto_walks_powers_of_two_from_the_rule_of_thumb(kernel, data):
    X, y, _ = data
    model = SpectralRegressor(AUTO[kernel], rule="gcv").fit(X, y)
    if kernel == "poly":
        start = 1 / (X.shape[1] * X.var())
    elif kernel == "laplacian":
        cityblock = np.abs(X[:, None] - X).sum(axis=2)
        start = 1 / np.median(cityblock[cityblock > 0])
    else:
        start = median_gamma(X)
    gammas = np.array([one.kernel.gamma for one in model.candidates_])
    powers = np.log2(gammas / start)
    assert_allclose(powers, np.rint(powers), atol=1e-9)
    assert len(set(np.rint(powers))) == len(powers), "no bandwidth is tried twice"
    values = np.array([one.value for one in model.candidates_])
    assert model.kernel_.gamma == gammas[values.argmin()]
    # Steps of 4, then both neighbours of the best.
    powers = np.rint(powers).astype(int)
    coarse = powers % 2 == 0
    best = powers[coarse][values[coarse].argmin()]
    assert sorted(powers[~coarse]) == [best - 1, best + 1]


def test_each_bandwidth_is_judged_as_if_it_were_given(data):
    X, y, new = data
    model = SpectralRegressor("rbf", gamma="auto").fit(X, y)
    for one in model.candidates_:
        alone = SpectralRegressor("rbf", gamma=one.kernel.gamma).fit(X, y)
        assert_allclose(one.value, alone.choice_.value, rtol=1e-7)
    alone = SpectralRegressor("rbf", gamma=model.kernel_.gamma).fit(X, y)
    assert_allclose(model.predict(new), alone.predict(new), rtol=1e-7)


@pytest.mark.parametrize("waves", [0.2, 100.0])
def test_auto_finds_the_scale_of_the_target_far_from_that_of_the_data(waves, rng):
    """The median distance knows X only; at 100 radians on [0, 1] nothing is learned within a factor of 4 of it."""
    X = np.sort(rng.random((150, 1)), axis=0)
    y = np.sin(waves * X[:, 0]) + 0.05 * rng.standard_normal(150)
    auto = SpectralRegressor().fit(X, y)
    thumb = SpectralRegressor(gamma="median").fit(X, y)
    assert auto.choice_.value <= thumb.choice_.value
    if waves == 100.0:
        assert auto.kernel_.gamma > 8 * thumb.kernel_.gamma
        assert auto.choice_.value < 0.1 * thumb.choice_.value


def test_auto_scales_with_the_data(data):
    X, y, new = data
    one, other = (SpectralRegressor().fit(scale * X, y) for scale in (1.0, 1024.0))
    assert_allclose(other.kernel_.gamma * 1024.0**2, one.kernel_.gamma, rtol=1e-12)
    assert_allclose(other.predict(1024 * new), one.predict(new), rtol=1e-9)


def test_flat_ground_does_not_lead_away_from_the_start(data):
    X, y, _ = data
    model = SpectralRegressor().fit(X, np.ones_like(y))
    assert len(model.candidates_) <= 7
    assert_allclose(model.kernel_.gamma, median_gamma(X), rtol=1e-9)


@pytest.mark.parametrize("low", [-40, 40])
def test_a_slope_without_end_is_left_somewhere(low):
    """Powers of two are tried in both directions, but not for ever."""
    tried = []

    def value(power):
        return 1.0 + abs(power - low)

    for power in _search._coarse(value):
        tried.append(power)
    assert len(tried) < 20
    assert np.sign(low) * min(tried, key=value) == 16


def test_level_ground_is_searched_farther():
    assert {-8, 8} <= set(_search._coarse(lambda power: 1.0 + 0.001 * power))
    assert not {-8, 8} & set(_search._coarse(lambda power: 1.0 + 0.1 * abs(power)))


@pytest.mark.parametrize("at", [-9, -4, 0, 1, 6, 11])
def test_the_walk_ends_around_the_lowest_point_of_a_valley(at):
    tried = list(_search._coarse(lambda power: 1.0 + (power - at) ** 2))
    assert {2 * (at // 2), 2 * (-(-at // 2))} <= set(tried)
    assert len(tried) == len(set(tried))
    assert set(np.diff(sorted(tried))) == {2}


def test_parts_of_a_composite_kernel_are_scaled_together(data):
    X, y, new = data
    kernel = 2.0 * RBF("auto") + Polynomial(2, gamma="auto") * Laplacian(0.01)
    names = bandwidth_names(kernel)
    assert sorted(names) == ["k1__kernel__gamma", "k2__k1__gamma"]
    model = SpectralRegressor(kernel, rule="gcv").fit(X, y)
    found = np.array([[one.kernel.get_params()[name] for name in sorted(names)] for one in model.candidates_])
    starts = np.array([median_gamma(X), 1 / (X.shape[1] * X.var())])
    ratios = found / starts
    assert_allclose(ratios[:, 0], ratios[:, 1], rtol=1e-9)
    assert model.kernel_.k2.k2.gamma == 0.01
    assert np.all(np.isfinite(model.predict(new)))


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (RBF("auto"), ["gamma"]),
        (RBF("median"), []),
        (RBF(2.0), []),
        (Linear(), []),
        (RBF("auto") * RBF("scale"), ["k1__gamma"]),
    ],
)
def test_only_auto_is_searched_for(kernel, names):
    assert bandwidth_names(kernel) == names


@pytest.mark.parametrize("gamma", ["scale", "median", None, 0.7])
def test_other_rules_for_gamma_are_one_number(gamma, data):
    X, y, _ = data
    model = SpectralRegressor(gamma=gamma, rule="gcv").fit(X, y)
    number = {"scale": 1 / (3 * X.var()), "median": median_gamma(X), None: 1 / 3}.get(gamma, gamma)
    assert len(model.candidates_) == 1
    assert_allclose(model.kernel_.gamma, number, rtol=1e-9)


def test_the_walk_follows_the_best_of_the_filters(data):
    X, y, _ = data
    alone = SpectralRegressor(rule="gcv").fit(X, y)
    second = SpectralRegressor(filter=[Tikhonov(1e6), Tikhonov()], rule="gcv").fit(X, y)
    assert [one.kernel.gamma for one in second.candidates_[1::2]] == [one.kernel.gamma for one in alone.candidates_]
    assert_array_equal(second.choice_.params, alone.choice_.params)


def test_an_auto_bandwidth_among_several_kernels_and_filters(data):
    X, y, new = data
    model = SpectralRegressor(["rbf", "linear", "laplacian"], filter=["tikhonov", "tsvd"]).fit(X, y)
    kinds = [type(one.kernel).__name__ for one in model.candidates_]
    assert kinds.count("Linear") == 2
    assert min(kinds.count("RBF"), kinds.count("Laplacian")) >= 10
    assert model.choice_.value == min(one.value for one in model.candidates_)
    alone = SpectralRegressor(model.kernel_, filter=type(model.filter_)()).fit(X, y)
    assert_allclose(model.predict(new), alone.predict(new), rtol=1e-6)


# --- the search itself -------------------------------------------------------------------------------------------


def test_search_keeps_the_record_of_the_best_and_lets_go_of_matrices(data):
    X, y, _ = data
    rule = KFoldCV(4)
    search = Search(X, Sample(y[:, None]), [Tikhonov()], rule, rule.splits(X, y))
    winner = search.run([RBF(0.1), RBF(0.5)])
    assert search.winner is winner
    assert not search._distances
    with pytest.raises(RuntimeError, match="this path was released after fit: refit"):
        winner.path.held_out(0)
    assert_allclose(winner.path.training_error.shape, (len(winner.path), 1))


def test_few_explicit_features_take_the_primal_route_and_many_the_dual(data):
    X, y, _ = data
    rule = GCV()
    search = Search(X, Sample(y[:, None]), [Tikhonov()], rule, [])
    assert search.run([Linear()]).coefficients.primal.shape == (3, 1)
    wide = Search(X[:3], Sample(y[:3, None]), [Tikhonov()], rule, [])
    assert wide.run([Linear()]).coefficients.primal is None


def test_an_indefinite_kernel_is_refused_unless_its_negative_part_may_be_cut(data):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"kernel matrix is not positive semidefinite.*raise psd_tol"):
        SpectralRegressor(Sigmoid(gamma=0.5)).fit(X, y)
    model = SpectralRegressor(Sigmoid(gamma=0.5), psd_tol=1.0).fit(X, y)
    assert np.all(model.path_.t >= 0)


def test_equal_seeds_give_equal_searches(data):
    X, y, new = data
    fits = [SpectralRegressor(["rbf", "matern"], random_state=seed).fit(X, y) for seed in (3, 3, 4)]
    assert_array_equal(fits[0].predict(new), fits[1].predict(new))
    assert not np.array_equal(fits[0].path_.fold_scores, fits[2].path_.fold_scores)
