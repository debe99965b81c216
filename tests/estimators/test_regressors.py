"""SpectralRegressor: the function it fits, by dense algebra that knows neither paths nor folds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenpath import TSVD, KFoldCV, Landweber, NuMethod, SpectralRegressor, Tikhonov
from eigenpath.filters import FILTERS
from eigenpath.kernels import RBF, Laplacian, Linear, Matern, Polynomial, Precomputed
from eigenpath.selection import RULES
from eigenpath.spectra.base import CENTERINGS

GAMMA = 0.4


@pytest.fixture
def data(rng):
    X = rng.standard_normal((55, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1] + 3, X[:, 2] ** 2]) + 0.2 * rng.standard_normal((55, 2))
    return X[:40], Y[:40], X[40:]


def folds_of(X, k=4):
    return list(KFold(k, shuffle=True, random_state=1).split(X))


def dense(K, rows, y, filter, center):
    """``f = b + k~(x) (1/n) g(K~/n) (y - b)`` with every matrix formed; ``rows`` are kernel values of new rows."""
    n = len(K)
    b = y.mean(axis=0) if center else 0.0
    if center == "features":
        H = np.eye(n) - 1 / n
        rows = (rows - K.mean(axis=0)) @ H
        K = H @ K @ H
    t, U = np.linalg.eigh(K / n)
    t, U = np.maximum(t[::-1], 0), U[:, ::-1]
    return b + rows @ (U * filter.gains(t, [filter.value])[0]) @ U.T @ (y - b) / n


# --- the function ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", CENTERINGS)
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("targets", [0, slice(0, 1), slice(None)], ids=["flat", "one column", "two columns"])
def test_each_filter_gives_its_function(name, center, targets, data):
    X, Y, new = data
    Y = Y[:, targets]
    model = SpectralRegressor(gamma=GAMMA, filter=name, center=center).fit(X, Y)
    assert isinstance(model.filter_, FILTERS[name])
    expected = dense(rbf_kernel(X, gamma=GAMMA), rbf_kernel(new, X, gamma=GAMMA), Y, model.filter_, center)
    assert model.predict(new).shape == expected.shape == (15, *Y.shape[1:])
    # The least eigenvalues kept are about 1e-5 of the largest.
    assert_allclose(model.predict(new), expected, rtol=1e-8, atol=1e-8)
    same = SpectralRegressor(gamma=GAMMA, filter=FILTERS[name](), center=center).fit(X, Y)
    assert_array_equal(same.predict(new), model.predict(new))


@pytest.mark.parametrize("center", CENTERINGS)
@pytest.mark.parametrize("name", FILTERS)
def test_explicit_features_give_the_function_of_their_kernel(name, center, data):
    """X has fewer columns than rows: the d x d route, against the n x n one."""
    X, Y, new = data
    model = SpectralRegressor("linear", filter=name, center=center).fit(X, Y)
    assert model.coef_.shape == (2, 3)
    # Landweber and the nu-method step by the largest eigenvalue, the same on both routes.
    expected = dense(X @ X.T, new @ X.T, Y, model.filter_, center)
    assert_allclose(model.predict(new), expected, rtol=1e-8, atol=1e-9)
    assert_allclose(new @ X.T @ model.dual_coef_ + model.intercept_, expected, rtol=1e-8, atol=1e-9)
    assert_allclose(new @ model.coef_.T + model.intercept_, expected, rtol=1e-8, atol=1e-9)


def test_with_the_linear_kernel_and_centred_features_it_is_ridge_regression(data):
    X, Y, new = data
    model = SpectralRegressor("linear", filter=Tikhonov(0.1), center="features").fit(X, Y)
    ridge = Ridge(alpha=0.1 * len(X)).fit(X, Y)
    assert_allclose(model.coef_, ridge.coef_, rtol=1e-9)
    assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-9)
    assert_allclose(model.predict(new), ridge.predict(new), rtol=1e-9)


def test_without_centring_it_is_kernel_ridge_with_alpha_n_lam(data):
    X, Y, new = data
    ridge = KernelRidge(alpha=0.01 * len(X), kernel="rbf", gamma=GAMMA)
    model = SpectralRegressor(gamma=GAMMA, filter=Tikhonov(0.01), center=None).fit(X, Y)
    assert_allclose(model.predict(new), ridge.fit(X, Y).predict(new), rtol=1e-9)
    mean = Y.mean(axis=0)
    model.set_params(center="target").fit(X, Y)
    assert_allclose(model.predict(new), ridge.fit(X, Y - mean).predict(new) + mean, rtol=1e-9)
    assert_allclose(model.intercept_, mean, rtol=1e-12)


def test_centred_features_leave_the_intercept_unpenalized(data):
    """The normal equations of min |y - b - K c|^2 / n + lam c' K c, bordered by the equation of b."""
    X, Y, _ = data
    n, lam, K = len(X), 0.01, rbf_kernel(X, gamma=GAMMA)
    system = np.block([[K + n * lam * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.vstack([Y, np.zeros((1, 2))]))
    model = SpectralRegressor(gamma=GAMMA, filter=Tikhonov(lam), center="features").fit(X, Y)
    assert_allclose(model.dual_coef_, solved[:-1], rtol=1e-8, atol=1e-10)
    assert_allclose(model.intercept_, solved[-1], rtol=1e-8)


@pytest.mark.parametrize("name", FILTERS)
def test_a_constant_in_the_kernel_vanishes_with_centred_features_only(name, data):
    X, Y, new = data
    plain, lifted = RBF(GAMMA), RBF(GAMMA) + Polynomial(degree=0)
    for center in CENTERINGS:
        one, other = (SpectralRegressor(k, filter=name, center=center, rule="gcv").fit(X, Y) for k in (plain, lifted))
        if center == "features":
            assert_allclose(other.predict(new), one.predict(new), rtol=1e-7, atol=1e-8)
        else:
            assert np.abs(other.path_.t[0] - one.path_.t[0]) > 0.5


@pytest.mark.parametrize("center", CENTERINGS)
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_fold_scores_are_those_of_refits(kernel, name, center, data):
    """The path's folds come from one pass or from a formula; here each is an estimator of its own."""
    X, Y, _ = data
    folds = folds_of(X)
    model = SpectralRegressor(kernel, gamma=GAMMA, filter=name, center=center, cv=folds).fit(X, Y)
    for at in range(0, len(model.path_), 17):
        filter = FILTERS[name]().with_value(model.path_.params[at].item())
        refit = SpectralRegressor(kernel, gamma=GAMMA, filter=filter, center=center, rule="gcv")
        scores = cross_val_score(refit, X, Y, cv=folds, scoring="neg_mean_squared_error")
        # Late on the path, errors of rounding are multiplied by up to 1e6.
        assert_allclose(model.path_.fold_scores[:, at].mean(axis=1), -scores, rtol=1e-6)


def test_the_path_says_what_refits_say(data):
    X, Y, _ = data
    model = SpectralRegressor(gamma=GAMMA, center="features").fit(X, Y)
    K = rbf_kernel(X, gamma=GAMMA)
    for at in (0, 30, 60):
        refit = SpectralRegressor(gamma=GAMMA, filter=Tikhonov(model.path_.params[at]), center="features").fit(X, Y)
        residual = Y - refit.predict(X)
        c = refit.dual_coef_
        assert_allclose(model.path_.training_error[at], (residual**2).mean(axis=0), rtol=1e-8, atol=1e-14)
        assert_allclose(model.path_.norm[at], np.sqrt(np.einsum("ij,ik,kj->j", c, K, c)), rtol=1e-7)
        hat = np.array([refit.fit(X, e).predict(X) for e in np.eye(40)])
        assert_allclose(model.path_.degrees_of_freedom[at], np.trace(hat), rtol=1e-8)


# --- kernels -----------------------------------------------------------------------------------------------------


def test_a_function_of_two_tables_is_a_kernel(data):
    X, Y, new = data

    def bump(X, Z, gamma, power=1):
        return rbf_kernel(X, Z, gamma=gamma) ** power

    model = SpectralRegressor(bump, kernel_params={"gamma": GAMMA / 2, "power": 2}).fit(X, Y)
    assert_allclose(model.predict(new), SpectralRegressor(RBF(GAMMA)).fit(X, Y).predict(new), rtol=1e-6)


def test_a_gaussian_process_kernel_keeps_its_parameters(data):
    X, Y, new = data
    theirs = SpectralRegressor(2.0 * gp.RBF(length_scale=1.5) + gp.DotProduct(sigma_0=0)).fit(X, Y)
    ours = SpectralRegressor(2.0 * RBF(1 / (2 * 1.5**2)) + Linear()).fit(X, Y)
    assert_allclose(theirs.predict(new), ours.predict(new), rtol=1e-6)


@pytest.mark.parametrize("factor", [None, 2.5])
@pytest.mark.parametrize("center", CENTERINGS)
def test_a_precomputed_matrix_stands_for_its_kernel(center, factor, data):
    X, Y, new = data
    kernel = "precomputed" if factor is None else factor * Precomputed()
    named = (factor or 1.0) * RBF(GAMMA)
    K, rows = rbf_kernel(X, gamma=GAMMA), rbf_kernel(new, X, gamma=GAMMA)
    given = SpectralRegressor(kernel, center=center).fit(K, Y)
    assert_allclose(given.predict(rows), SpectralRegressor(named, center=center).fit(X, Y).predict(new), rtol=1e-6)
    assert_allclose(given.predict(sparse.csr_array(rows)), given.predict(rows), rtol=1e-9)
    # Cross-validation takes rows and columns.
    fixed = SpectralRegressor(kernel, filter=Tikhonov(0.01), center=center)
    assert_allclose(cross_val_score(fixed, K, Y), cross_val_score(fixed.set_params(kernel=named), X, Y), rtol=1e-7)


def test_a_precomputed_matrix_in_single_precision_may_be_indefinite_by_rounding(data):
    X, Y, new = data
    K = rbf_kernel(X, gamma=0.01)
    assert np.linalg.eigvalsh(K.astype(np.float32).astype(float))[0] < -1e-9
    model = SpectralRegressor("precomputed").fit(K.astype(np.float32), Y)
    assert model.predict(rbf_kernel(new, X, gamma=0.01).astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="not positive semidefinite"):
        SpectralRegressor("precomputed", psd_tol=1e-12).fit(K.astype(np.float32), Y)


@pytest.mark.parametrize(
    "kernel", [RBF(GAMMA), Linear(), Laplacian(0.3), Matern(0.5), Polynomial(2, gamma=0.1)], ids=str
)
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_give_what_dense_rows_give(kernel, container, data):
    X, Y, new = data
    X, new = np.where(X > 0.3, X, 0), np.where(new > 0.3, new, 0)
    for center in CENTERINGS:
        thin = SpectralRegressor(kernel, center=center).fit(container(X), Y).predict(container(new))
        # A path's late part multiplies rounding, and sparse sums round otherwise.
        assert_allclose(thin, SpectralRegressor(kernel, center=center).fit(X, Y).predict(new), rtol=1e-5, atol=1e-7)


def test_single_precision_data_give_single_precision_predictions_of_the_same_function(data):
    X, Y, new = data
    for kernel in ("rbf", "linear"):
        double = SpectralRegressor(kernel, gamma=GAMMA, filter=Tikhonov(0.01)).fit(X, Y)
        single = SpectralRegressor(kernel, gamma=GAMMA, filter=Tikhonov(0.01)).fit(X.astype(np.float32), Y)
        assert single.predict(new.astype(np.float32)).dtype == single.dual_coef_.dtype == np.float32
        # eps = 1e-7 times the condition number 1e2.
        assert_allclose(single.predict(new), double.predict(new), rtol=1e-4, atol=1e-4)


# --- weights -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", CENTERINGS)
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize(
    ("kernel", "gamma"), [("rbf", "auto"), ("rbf", "median"), ("laplacian", "scale"), ("linear", None)]
)
def test_weights_are_repetitions_from_end_to_end(kernel, name, center, gamma, data, rng):
    """Bandwidth, path, folds, choice and function; weight zero is absence."""
    X, Y, new = data
    weight = rng.integers(0, 4, len(X))
    rows, present = np.repeat(np.arange(len(X)), weight), np.flatnonzero(weight)
    filter = NuMethod(np.arange(0, 300, 7)) if name == "nu_method" else name
    model = SpectralRegressor(kernel, gamma=gamma, filter=filter, center=center)
    weighted = model.set_params(cv=folds_of(X, 3)).fit(X, Y, weight).predict(new)
    kernel_, choice = model.kernel_, model.choice_.params
    for index, repeated in ((rows, None), (present, weight[present])):
        folds = [tuple(np.flatnonzero(np.isin(index, part)) for part in fold) for fold in folds_of(X, 3)]
        model.set_params(cv=folds).fit(X[index], Y[index], repeated)
        assert_allclose(model.choice_.params, choice, rtol=1e-5)
        assert model.kernel_.get_params() == pytest.approx(kernel_.get_params(), rel=1e-12)
        # Smooth kernels' paths end where rounding errors are multiplied by 1e10.
        assert_allclose(model.predict(new), weighted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rule", ["gcv", "discrepancy", "balancing", "a_priori"])
def test_rules_without_folds_see_repetitions_too(rule, data, rng):
    X, Y, new = data
    Y = Y + rng.standard_normal(Y.shape)
    weight = rng.integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    # A path of one's own: repeated rows can be interpolated, and these rules would see no noise at its end.
    model = SpectralRegressor(gamma="median", filter=Tikhonov(np.geomspace(10, 1e-2, 50)), rule=rule)
    weighted = model.fit(X, Y, weight).predict(new)
    assert_allclose(weighted, model.fit(X[rows], Y[rows]).predict(new), rtol=1e-8)
    assert not np.allclose(weighted, model.fit(X, Y).predict(new), rtol=1e-3)


def test_the_scale_of_weights_does_not_matter_to_folds(data, rng):
    X, Y, new = data
    weight = rng.random(len(X))
    one, other = (SpectralRegressor().fit(X, Y, scale * weight).predict(new) for scale in (1.0, 1000.0))
    assert_allclose(one, other, rtol=1e-6)


# --- choices -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULES)
def test_a_rule_by_name_takes_what_it_needs_from_the_estimator(name, data):
    X, Y, new = data
    named = SpectralRegressor(gamma=GAMMA, rule=name, cv=3, scoring="mae", random_state=7).fit(X, Y)
    options = {"cv": 3, "scoring": "mae", "random_state": 7}
    rule = RULES[name]()
    rule.set_params(**{key: value for key, value in options.items() if key in rule.get_params()})
    given = SpectralRegressor(gamma=GAMMA, rule=rule).fit(X, Y)
    assert_array_equal(named.predict(new), given.predict(new))
    assert named.choice_.why == given.choice_.why


def test_a_rule_given_as_an_object_keeps_its_own_options(data):
    X, Y, _ = data
    model = SpectralRegressor(gamma=GAMMA, rule=KFoldCV(3, scoring="mae"), cv=7, scoring="r2").fit(X, Y)
    assert model.path_.fold_scores.shape[0] == 3
    assert "mae over 3 folds" in model.choice_.why


def test_groups_reach_the_splitter(data, rng):
    X, Y, _ = data
    groups = rng.integers(0, 6, len(X))
    by_group = SpectralRegressor(gamma=GAMMA, cv=GroupKFold(3)).fit(X, Y, groups=groups)
    by_folds = SpectralRegressor(gamma=GAMMA, cv=list(GroupKFold(3).split(X, Y, groups))).fit(X, Y)
    assert_array_equal(by_group.path_.fold_scores, by_folds.path_.fold_scores)
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        SpectralRegressor(gamma=GAMMA, cv=GroupKFold(3)).fit(X, Y)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("rule", ["cv", "gcv", "discrepancy", "balancing"])
def test_per_target_is_one_fit_for_each_target(name, rule, data, rng):
    X, Y, new = data
    # So much noise that no rule chooses the end of the path, where digits are rounding errors.
    Y = Y + rng.standard_normal(Y.shape)
    model = SpectralRegressor(gamma=GAMMA, filter=name, rule=rule, per_target=True).fit(X, Y)
    apart = [SpectralRegressor(gamma=GAMMA, filter=name, rule=rule).fit(X, y) for y in Y.T]
    assert_allclose(model.choice_.params, [one.choice_.params[0] for one in apart], rtol=1e-12)
    assert_allclose(model.predict(new), np.column_stack([one.predict(new) for one in apart]), rtol=1e-7, atol=1e-8)
    together = SpectralRegressor(gamma=GAMMA, filter=name, rule=rule).fit(X, Y)
    assert together.choice_.params.shape == (1,)


@pytest.mark.parametrize("filter", [Tikhonov(0.02), TSVD(5), TSVD(0.9), TSVD(lam=0.01), Landweber(30), NuMethod(7)])
def test_a_fixed_parameter_is_kept(filter, data):
    X, Y, new = data
    model = SpectralRegressor(gamma=GAMMA, filter=filter).fit(X, Y)
    assert_array_equal(model.choice_.params, [filter.value])
    assert len(model.path_) == 1
    other = SpectralRegressor(gamma=GAMMA, filter=filter, rule="gcv").fit(X, Y)
    assert_array_equal(model.predict(new), other.predict(new))


def test_a_path_of_ones_own_is_searched_from_most_to_least_regularization(data):
    X, Y, _ = data
    model = SpectralRegressor(gamma=GAMMA, filter=Tikhonov([1e-3, 1.0, 1e-2])).fit(X, Y)
    assert_array_equal(model.path_.params, [1.0, 1e-2, 1e-3])
    assert model.choice_.params[0] == model.path_.params[model.path_.scores.mean(axis=1).argmin()]


# --- on data -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["concrete", "yacht"])
def test_it_predicts_as_well_as_a_grid_search_over_kernel_ridge(name, data_dir):
    """On a published split. The grid has 64 pairs; 10 % are allowed for other folds and the grid's gaps."""
    table = np.load(data_dir / f"{name}.npz")
    train, test = table["train_index"][0][:300], table["test_index"][0]
    X, y, new, truth = table["X"][train], table["y"][train], table["X"][test], table["y"][test]
    scale = StandardScaler().fit(X)
    grid = {"alpha": np.logspace(-5, 1, 8), "gamma": np.logspace(-3, 1, 8)}
    search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=KFold(5, shuffle=True, random_state=0))
    search.fit(scale.transform(X), y - y.mean())
    theirs = np.mean((search.predict(scale.transform(new)) + y.mean() - truth) ** 2)
    ours = make_pipeline(StandardScaler(), SpectralRegressor()).fit(X, y)
    assert np.mean((ours.predict(new) - truth) ** 2) < 1.1 * theirs


def test_single_precision_is_kept_where_it_is_enough(rng):
    """Without noise the best penalty is tiny and coefficients cancel; in more dimensions with noise they are small."""
    X = np.linspace(0, 6, 200)[:, None]
    single = X.astype(np.float32)
    smooth = np.sin(X[:, 0])
    double = SpectralRegressor(gamma=1.0).fit(single.astype(float), smooth)
    model = SpectralRegressor(gamma=1.0).fit(single, smooth)
    assert model.predict(single).dtype == np.float32
    assert_allclose(model.predict(single), double.predict(single.astype(float)), atol=1e-6)
    assert model.dual_coef_.dtype == np.float64
    X = rng.standard_normal((200, 3))
    noisy = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(200)
    model = SpectralRegressor(gamma=0.3).fit(X.astype(np.float32), noisy)
    assert model.dual_coef_.dtype == np.float32
    double = SpectralRegressor(gamma=0.3).fit(X, noisy)
    assert_allclose(model.predict(X.astype(np.float32)), double.predict(X), atol=1e-3)


def test_a_summary_of_a_choice_between_the_points_of_the_path_says_so(data):
    X, Y, _ = data
    assert "the nearest; what follows is its own" in SpectralRegressor(gamma=GAMMA, rule="a_priori").fit(X, Y).summary()
    assert "the nearest" not in SpectralRegressor(gamma=GAMMA).fit(X, Y).summary()
