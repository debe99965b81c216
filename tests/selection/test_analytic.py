"""Rules that need the spectrum alone, against dense matrices and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from eigenpath.filters import FILTERS, TSVD, Landweber, NuMethod, Tikhonov
from eigenpath.path import Path
from eigenpath.selection import GCV, APriori, Balancing, Discrepancy, Task, estimate_noise
from eigenpath.spectra.base import CENTERINGS, Sample
from eigenpath.spectra.exact import ExactDecomposition

N = 48
LAMS = np.geomspace(1, 1e-4, 9)
WEIGHTS = {"unweighted": None, "fractions": np.linspace(0.3, 2.7, N), "absent": np.arange(N) % 3 * 1.0}
# Coefficients up to 1e4 as large as the targets.
CLOSE = {"rtol": 1e-6, "atol": 1e-8}

centered = pytest.mark.parametrize("center", CENTERINGS)
weighted = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
any_filter = pytest.mark.parametrize("name", FILTERS)
per_target = pytest.mark.parametrize("per_target", [False, True])


def make_path(K, Y, weight=None, center="target", filter=None, normalize=True):
    return Path(ExactDecomposition(K, Sample(Y, weight, center, normalize)), filter or Tikhonov(lam=LAMS))


def hat_matrices(K, path):
    """From targets to fits, one for each parameter: column i is fitted to the i-th unit target."""
    sample = path.sample
    units = ExactDecomposition(K, Sample(np.eye(N), sample.sample_weight, sample.center, sample.normalize))
    functions = [Path(units, path.filter).coefficients(path.filter, path.params[i : i + 1]) for i in range(len(path))]
    return np.array([K @ one.dual + one.intercept for one in functions])


def thinned(path):
    """Few parameters, away from rounding level."""
    places = np.unique(np.linspace(1, 0.6 * len(path), 8).astype(int))
    return Path(path.decomposition, path.filter, path.params[places])


@any_filter
@centered
@weighted
def test_generalized_cross_validation_is_its_formula_on_the_dense_matrix(K, Y, name, center, weight):
    path = thinned(make_path(K, Y, weight, center, FILTERS[name]()))
    choice = GCV().choose(path, Task())
    w = np.ones(N) if weight is None else weight
    expected = []
    for hat in hat_matrices(K, path):
        error = np.average((Y - hat @ Y) ** 2, axis=0, weights=w)
        expected.append(error / (1 - np.trace(hat) / w.sum()) ** 2)
    assert_allclose(path.scores, expected, **CLOSE)
    assert choice.index[0] == np.mean(expected, axis=1).argmin()
    assert choice.params[0] == path.params[choice.index[0]]
    assert_allclose(choice.value, np.mean(expected, axis=1).min(), **CLOSE)
    assert choice.why == "the least generalized cross-validation score"


@any_filter
def test_generalized_cross_validation_of_each_target_is_that_of_each_alone(K, Y, name):
    choice = GCV().choose(make_path(K, Y, filter=FILTERS[name]()), Task(per_target=True))
    alone = [GCV().choose(make_path(K, Y[:, j : j + 1], filter=FILTERS[name]()), Task()) for j in (0, 1)]
    assert_array_equal(choice.index, [one.index[0] for one in alone])
    assert choice.params.shape == (2,)


@centered
def test_interpolation_has_no_score_and_everything_before_it_has(rng, center):
    K, y = rbf_kernel(rng.standard_normal((N, 3)), gamma=20), rng.standard_normal((N, 1))
    path = make_path(K, y, None, center, TSVD())
    choice = GCV().choose(path, Task())
    has_score = np.isfinite(path.scores[:, 0])
    assert choice.index[0] < len(path) - 1
    # With targets alone centred the last component may still leave a part of the intercept's degree.
    assert np.all(has_score[:-2])
    assert has_score[-1] == (path.degrees_of_freedom[-1] < N * (1 - 1e-10))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.05, 0.5])
@pytest.mark.parametrize("name", ["tikhonov", "landweber", "tsvd"])
def test_the_noise_is_estimated_about_right(seed, noise, name):
    """To 15 %: the estimate from 300 residuals has a standard error of 4 % of its own, and the fit has a bias."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (300, 1))
    Y = np.column_stack([np.sin(2 * X[:, 0]), np.abs(X[:, 0])]) + noise * np.array([1, 2]) * rng.standard_normal(
        (300, 2)
    )
    path = make_path(rbf_kernel(X, gamma=1.0), Y, filter=FILTERS[name]())
    assert_allclose(estimate_noise(path), [noise, 2 * noise], rtol=0.15)


def test_the_noise_is_estimated_where_generalized_cross_validation_chooses(K, Y):
    path = make_path(K, Y)
    index = GCV().choose(path, Task(per_target=True)).index
    expected = [path.training_error[i, j] / (1 - path.degrees_of_freedom[i] / N) for j, i in enumerate(index)]
    assert_allclose(estimate_noise(path), np.sqrt(expected))


@any_filter
@weighted
@per_target
@pytest.mark.parametrize("tau", [1.0, 1.5])
def test_discrepancy_stops_at_the_noise(K, Y, name, weight, per_target, tau):
    path = make_path(K, Y, weight, filter=FILTERS[name]())
    noise = np.array([0.2, 0.3])
    choice = Discrepancy(noise=noise, tau=tau).choose(path, Task(per_target=per_target))
    error, allowed = path.training_error, (tau * noise) ** 2
    if not per_target:
        error, allowed = error.mean(axis=1, keepdims=True), [allowed.mean()]
    assert len(choice.index) == len(allowed)
    for j, i in enumerate(choice.index):
        assert error[i, j] <= allowed[j]
        assert i == 0 or np.all(error[:i, j] > allowed[j])
    level = np.sqrt(np.mean(allowed))
    assert choice.why == f"the most regularization whose training error does not exceed {level:.4g} (root mean square)"
    assert np.isnan(choice.value) and not Discrepancy.comparable


def test_one_noise_is_that_of_every_target(K, Y):
    one = Discrepancy(noise=0.2).choose(make_path(K, Y), Task(per_target=True))
    both = Discrepancy(noise=[0.2, 0.2]).choose(make_path(K, Y), Task(per_target=True))
    assert_array_equal(one.index, both.index)


def test_without_a_noise_it_is_estimated(K, Y):
    path = make_path(K, Y)
    noise = estimate_noise(path)
    for rule in (Discrepancy, Balancing):
        given, estimated = (rule(noise=value).choose(path, Task(per_target=True)) for value in (noise, None))
        assert_array_equal(given.index, estimated.index)


def test_a_noise_below_the_path_takes_its_end_and_a_large_one_its_start(K, Y):
    path = make_path(K, Y)
    assert Discrepancy(noise=0.0).choose(path, Task()).index[0] == len(path) - 1
    assert Discrepancy(noise=100.0).choose(path, Task()).index[0] == 0


@pytest.mark.parametrize("rule", [Discrepancy, Balancing])
@pytest.mark.parametrize("noise", [-0.1, [0.1, -0.1], [0.1, 0.1, 0.1], np.nan])
def test_noises_that_make_no_sense_are_named(K, Y, rule, noise):
    message = f"noise of {rule.__name__} must be a standard deviation, not negative, or one for each of 2 targets, got "
    with pytest.raises(ValueError, match=message):
        rule(noise=noise).choose(make_path(K, Y), Task())


@pytest.mark.parametrize("filter", [Tikhonov(), Landweber(), TSVD(), NuMethod()], ids=repr)
@centered
@weighted
@per_target
@pytest.mark.parametrize("kappa", [1.0, 2.0, 4.0])
def test_balancing_takes_the_first_fit_that_differs_from_later_ones_by_noise(
    K, Y, filter, center, weight, per_target, kappa
):
    """Pair by pair, with fits and their variances from dense matrices."""
    path = thinned(make_path(K, Y, weight, center, filter))
    noise = np.array([0.2, 0.3])
    choice = Balancing(noise=noise, kappa=kappa).choose(path, Task(per_target=per_target))
    w = np.ones(N) if weight is None else weight
    hats = hat_matrices(K, path)
    mean = (w @ Y / w.sum()) if center else np.zeros(2)
    fits = hats @ Y - mean
    passed = path.gains() * path.t

    def admissible(i, columns):
        for j in range(i, len(path)):
            gap = np.average((fits[i] - fits[j])[:, columns] ** 2, axis=0, weights=w).sum()
            spread = (noise[columns] ** 2).sum() * (passed[j] ** 2).sum() / w.sum()
            if gap > kappa**2 * spread * (1 + 1e-9) + 1e-12:
                return False
        return True

    columns = [[0], [1]] if per_target else [[0, 1]]
    expected = [next(i for i in range(len(path)) if admissible(i, which)) for which in columns]
    assert_array_equal(choice.index, expected)
    assert_array_equal(choice.params, path.params[expected])
    assert choice.why.endswith(f"by at most {kappa:g} times their noise")
    assert np.isnan(choice.value)


def test_the_variance_of_a_fit_is_that_of_its_matrix(K, Y):
    """Without centring: ``sigma^2 trace(H^T H) / n`` is the mean variance of ``H (y + noise)``."""
    path = make_path(K, Y, None, None)
    spreads = Balancing._spreads(path, np.array([0.2, 0.3]))
    expected = [[s**2 * np.trace(hat.T @ hat) / N for s in (0.2, 0.3)] for hat in hat_matrices(K, path)]
    assert_allclose(spreads, expected, **CLOSE)


def test_balancing_regularizes_more_the_larger_kappa_and_the_noise(K, Y):
    path = make_path(K, Y, filter=Tikhonov())
    by_kappa = [Balancing(noise=0.2, kappa=kappa).choose(path, Task()).index[0] for kappa in (0.5, 1, 2, 4)]
    by_noise = [Balancing(noise=noise).choose(path, Task()).index[0] for noise in (0.01, 0.1, 1.0, 100.0)]
    for indices in (by_kappa, by_noise):
        assert np.all(np.diff(indices) <= 0) and indices[0] > indices[-1]
    assert by_noise[-1] == 0


def test_balancing_without_noise_does_not_regularize(K, Y):
    """Only what equals the last fit is admissible."""
    path = make_path(K, Y)
    assert Balancing(noise=0.0).choose(path, Task()).index[0] == len(path) - 1


@pytest.mark.parametrize("seed", range(3))
def test_balancing_comes_near_the_best_error(seed):
    """Within a factor of 3 of the least distance from the truth over the path, as the oracle inequality has it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (200, 1))
    truth = np.sin(2 * X)
    y = truth + 0.3 * rng.standard_normal((200, 1))
    K = rbf_kernel(X, gamma=1.0)
    path = make_path(K, y, filter=Tikhonov())
    choice = Balancing(noise=0.3).choose(path, Task())
    errors = []
    for i in range(len(path)):
        function = path.coefficients(path.filter, path.params[i : i + 1])
        errors.append(np.linalg.norm(K @ function.dual + function.intercept - truth))
    assert errors[choice.index[0]] < 3 * min(errors)


@weighted
@pytest.mark.parametrize("eta", [0.01, 0.5])
def test_the_a_priori_choice_is_the_theorems(K, Y, weight, eta):
    """On the scale of K/n with n the sum of weights, and times n where the scale is that of K."""
    n = N if weight is None else weight.sum()
    lam = 2 * np.sqrt(2) * 1.7 * np.log(4 / eta) / np.sqrt(n)
    path = make_path(K, Y, weight, filter=Tikhonov())
    choice = APriori(eta=eta).choose(path, Task(kappa2=1.7))
    assert_allclose(choice.params, [lam])
    assert choice.why == f"lam = {lam:.4g} a priori, from n = {n:g}, kappa^2 = 1.7 and eta = {eta:g}"
    assert_allclose(APriori(eta=eta, kappa2=3.4).choose(path, Task(kappa2=1.7)).params, [2 * lam])
    by_k = APriori(eta=eta).choose(make_path(K, Y, weight, filter=Tikhonov(), normalize=False), Task(kappa2=1.7))
    assert_allclose(by_k.params, [lam * n])
    assert np.isnan(choice.value) and not APriori.comparable


@any_filter
def test_the_a_priori_choice_is_turned_into_every_filters_parameter(K, Y, name):
    filter = FILTERS[name]()
    path = make_path(K, Y, filter=filter)
    rule = APriori(kappa2=1e-3)
    choice = rule.choose(path, Task())
    lam = 2 * np.sqrt(2) * 1e-3 * np.log(4 / 0.05) / np.sqrt(N)
    assert_allclose(choice.params, filter.at_lam(lam, path.t), rtol=1e-12)
    nearest = np.abs(path.params - choice.params[0])
    assert nearest[choice.index[0]] == nearest.min()
    assert choice.fixed.value == choice.params[0]
    # It is the filter's, also where it is not on the path.
    assert path.coefficients(choice.filter, choice.params).dual.shape == (N, 2)


@any_filter
@pytest.mark.parametrize("normalize", [True, False])
def test_the_a_priori_choice_is_the_nearest_of_the_parameters_given(K, Y, name, normalize):
    """Near as ratios of lam: 0.02 is nearer to 0.1 than to 0.001."""
    scale = 1 if normalize else N
    t = make_path(K, Y, normalize=normalize).t
    given = [FILTERS[name]().at_lam(scale * lam, t) for lam in (0.001, 0.1)]
    path = make_path(K, Y, filter=FILTERS[name]().with_value(given), normalize=normalize)
    unit = 2 * np.sqrt(2) * np.log(4 / 0.05) / np.sqrt(N)
    for lam, nearest in ((0.005, 0), (0.02, 1), (50.0, 1), (1e-9, 0)):
        choice = APriori(kappa2=lam / unit).choose(path, Task())
        assert choice.params[0] == path.params[choice.index[0]] == given[nearest]
        assert choice.index.shape == (1,)
        assert choice.why.startswith(f"of the parameters given the nearest to lam = {scale * lam:.4g} a priori, from n")


def test_parameters_that_learn_nothing_or_all_are_far_from_any_lam(K, Y):
    path = make_path(K, Y, filter=TSVD(n_components=[0, 5, 1000]))
    assert APriori(kappa2=1.0).choose(path, Task()).params.tolist() == [5]


@any_filter
def test_a_parameter_that_is_fixed_is_the_a_priori_choice_too(K, Y, name):
    path = make_path(K, Y, filter=FILTERS[name]().with_value(6))
    choice = APriori().choose(path, Task())
    assert choice.params.tolist() == [6] and choice.index.tolist() == [0] and choice.fixed.value == 6
    assert choice.why == "the only parameter on the path"


@pytest.mark.parametrize("eta", [0.0, 1.0, -0.1, 5.0, np.nan])
def test_probabilities_that_make_no_sense_are_named(K, Y, eta):
    with pytest.raises(ValueError, match=f"eta={eta} must lie between 0 and 1"):
        APriori(eta=eta).choose(make_path(K, Y), Task(kappa2=1.0))


@pytest.mark.parametrize("kappa2", [0.0, -1.0, np.nan, np.inf])
def test_bounds_of_the_kernel_that_make_no_sense_are_named(K, Y, kappa2):
    with pytest.raises(ValueError, match=r"kappa2 of APriori must be a positive bound of k\(x, x\), got"):
        APriori(kappa2=kappa2).choose(make_path(K, Y), Task(kappa2=1.0))


@pytest.mark.parametrize(
    "rule", [GCV(), Discrepancy(), Balancing(), Discrepancy(noise=0.1), Balancing(noise=0.1)], ids=repr
)
@any_filter
def test_a_constant_target_is_fitted_by_its_mean(K, rule, name):
    path = make_path(K, np.full((N, 1), 3.0), filter=FILTERS[name]())
    assert rule.choose(path, Task()).index[0] == 0


BY_NUMBER_OF_ROWS = pytest.mark.parametrize(
    "rule", [GCV(), Discrepancy(), Balancing(), Balancing(noise=0.1), APriori(kappa2=1.0)], ids=repr
)


@BY_NUMBER_OF_ROWS
@any_filter
@centered
def test_weights_that_sum_to_one_are_named(K, Y, rule, name, center):
    path = make_path(K, Y, np.full(N, 1 / N), center, FILTERS[name]())
    message = r"sample_weight sums to 1, but a weight counts .* Multiply sample_weight by the number of rows\."
    with pytest.raises(ValueError, match=message):
        rule.choose(path, Task())


@BY_NUMBER_OF_ROWS
def test_a_given_parameter_needs_no_number_of_rows(K, Y, rule):
    path = make_path(K, Y, np.full(N, 1 / N), filter=Tikhonov(0.1))
    assert rule.choose(path, Task()).params.tolist() == [0.1]


@BY_NUMBER_OF_ROWS
def test_one_row_is_not_a_matter_of_weights(rule):
    for center, weight in ((None, None), (None, np.ones(1)), ("target", None)):
        sample = Sample(np.ones((1, 1)), weight, center)
        path = Path(ExactDecomposition(np.ones((1, 1)), sample), Landweber(n_iter=[0, 1]))
        try:
            rule.choose(path, Task())
        except ValueError as error:
            assert "sample_weight" not in str(error)
