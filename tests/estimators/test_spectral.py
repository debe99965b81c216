"""What regressor, classifier and component regression share: every option counts, errors name it, scikit-learn fits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from eigenpath import (
    TSVD,
    APriori,
    IteratedTikhonov,
    KernelPCR,
    KernelRidge,
    NuMethod,
    SpectralClassifier,
    SpectralRegressor,
    Tikhonov,
)
from eigenpath.kernels import RBF, Linear, Matern

# A change of each option, from a model on which it can be seen.
OPTIONS = {
    "kernel": ({}, {"kernel": "laplacian"}),
    "gamma": ({}, {"gamma": 0.1}),
    "degree": ({"kernel": "poly"}, {"degree": 2}),
    "coef0": ({"kernel": "poly"}, {"coef0": 5}),
    "kernel_params": ({"kernel": "matern"}, {"kernel_params": {"nu": 0.5}}),
    "filter": ({}, {"filter": "landweber"}),
    "rule": ({}, {"rule": "gcv"}),
    "cv": ({}, {"cv": 2}),
    "scoring": ({}, {"scoring": "mae"}),
    "center": ({}, {"center": None}),
    "per_target": ({}, {"per_target": True}),
    "random_state": ({}, {"random_state": 1}),
}


@pytest.fixture
def data(rng):
    X = rng.standard_normal((60, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1] + 3, X[:, 2] ** 2]) + 0.4 * rng.standard_normal((60, 2))
    return X[:40], Y[:40], X[40:]


# --- options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_changes_something(option, data):
    X, Y, new = data
    base, change = OPTIONS[option]
    before = SpectralRegressor(gamma=0.4).set_params(**base)
    after = clone(before).set_params(**change)
    assert not np.allclose(before.fit(X, Y).predict(new), after.fit(X, Y).predict(new), rtol=1e-6)


def test_psd_tol_decides_which_negative_eigenvalues_are_cut_off(data):
    X, Y, _ = data
    K = X @ X.T - 0.01 * np.outer(Y[:, 0], Y[:, 0])
    low, high = np.linalg.eigvalsh(K)[[0, -1]]
    with pytest.raises(ValueError, match="smallest eigenvalue is"):
        SpectralRegressor("precomputed", psd_tol=0.9 * -low / high).fit(K, Y)
    SpectralRegressor("precomputed", psd_tol=1.1 * -low / high).fit(K, Y)


BAD = [
    ({"kernel": "gauss"}, r"kernel='gauss' is not known: use one of \[.*'rbf'"),
    ({"kernel": None}, r"kernel=None is not valid"),
    ({"kernel": RBF}, r"Write RBF\(\), not RBF"),
    ({"kernel": []}, r"kernel is an empty list: name at least one kernel"),
    ({"kernel": ["rbf", "precomputed"]}, r"kernel='precomputed' cannot stand in a list of kernels"),
    ({"kernel": "precomputed"}, r"kernel='precomputed' needs a square matrix of kernel values in fit, .*\(40, 3\)"),
    ({"gamma": "wide"}, r"gamma='wide' of RBF is not known: use a number, None, 'scale', 'median' or 'auto'"),
    ({"gamma": -1.0}, r"gamma=-1.0 is not valid: it must be a finite number of at least 0"),
    ({"kernel": "poly", "degree": -1}, r"degree=-1 is not valid"),
    ({"kernel": "poly", "coef0": "one"}, r"coef0='one' is not valid"),
    ({"kernel_params": {"nu": 1}}, r"kernel='rbf' has no parameter 'nu'; it has \['gamma'\]"),
    ({"kernel_params": "nu"}, r"kernel_params must be a dict of the kernel's parameters or None, got 'nu'"),
    ({"filter": "ridge"}, r"filter must be a Filter or one of 'tikhonov', .* got 'ridge'"),
    ({"filter": Tikhonov}, r"filter must be a Filter or one of .* got <class"),
    ({"filter": []}, r"filter is an empty list: name at least one filter"),
    ({"filter": Tikhonov(-1.0)}, r"lam of Tikhonov must be positive, got -1.0"),
    ({"filter": TSVD(2.5)}, r"n_components of TSVD must be whole numbers, or shares of variance .* got 2.5"),
    ({"filter": IteratedTikhonov(order=0)}, r"order of IteratedTikhonov must be a whole number of at least 1, got 0"),
    ({"rule": "best"}, r"rule must be a Rule or one of 'cv', 'loo', .* got 'best'"),
    ({"rule": None}, r"rule must be a Rule or one of .* got None"),
    ({"cv": 1}, r"cv=1 must lie between 2 and the number of rows, n_samples = 40"),
    ({"cv": 41}, r"cv=41 must lie between 2 and the number of rows, n_samples = 40"),
    ({"cv": "five"}, r"Expected `cv` as an integer, .* Got five"),
    ({"cv": GroupKFold(3)}, r"'groups' parameter should not be None"),
    ({"scoring": "rmse"}, r"scoring must be one of 'mse', 'mae', 'r2', .* got 'rmse'"),
    ({"scoring": "log_loss"}, r"scoring='log_loss' is for classification"),
    ({"center": "rows"}, r"center must be one of 'target', 'features', None, got 'rows'"),
    ({"per_target": "yes"}, r"per_target must be True or False, got 'yes'"),
    ({"psd_tol": -0.1}, r"psd_tol must be a number, not negative, or None, got -0.1"),
    ({"psd_tol": "small"}, r"psd_tol must be a number, not negative, or None, got 'small'"),
    ({"random_state": "luck"}, r"'luck' cannot be used to seed"),
]


@pytest.mark.parametrize(("params", "message"), BAD, ids=[repr(params) for params, _ in BAD])
def test_mistakes_are_named(params, message, data):
    X, Y, _ = data
    with pytest.raises((ValueError, TypeError), match=message):
        SpectralRegressor(**params).fit(X, Y)


def test_constructor_parameters_are_left_as_given(data):
    X, Y, _ = data
    for base, change in OPTIONS.values():
        model = SpectralRegressor(**(base | change))
        kept = {name: repr(value) for name, value in model.get_params().items()}
        model.fit(X, Y)
        assert {name: repr(value) for name, value in model.get_params().items()} == kept


# --- data --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("Model", [SpectralRegressor, KernelPCR, SpectralClassifier])
def test_data_that_cannot_be_used_are_refused(Model, data):
    X, Y, new = data
    y = Y[:, 0] if Model is not SpectralClassifier else Y[:, 0] > 3
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        hole = X.copy()
        hole[3, 1] = value
        with pytest.raises(ValueError, match=f"Input X contains {word}"):
            Model().fit(hole, y)
        with pytest.raises(ValueError, match=f"Input X contains {word}"):
            Model(gamma=1.0).fit(X, y).predict(hole)
    with pytest.raises(ValueError, match=r"1 sample.* minimum of 2 is required by"):
        Model().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Model().fit(X, y[:-1])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        Model().fit(X, y, -np.ones(40))
    with pytest.raises(ValueError, match=r"[Ss]ample.weight"):
        Model().fit(X, y, np.zeros(40))
    with pytest.raises(ValueError, match=r"sample_weight.shape"):
        Model().fit(X, y, np.ones(39))
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3"):
        Model(gamma=1.0).fit(X, y).predict(new[:, :2])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        Model().predict(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        Model().summary()


def test_targets_must_be_finite(data):
    X, Y, _ = data
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        with pytest.raises(ValueError, match=f"Input y contains {word}"):
            SpectralRegressor().fit(X, np.where(Y > 4, value, Y))


@pytest.mark.parametrize("filter", ["tikhonov", "tsvd", "landweber", "nu_method"])
@pytest.mark.parametrize(("kernel", "center"), [("linear", "features"), ("rbf", "features"), ("linear", "target")])
def test_constant_rows_leave_nothing_to_learn(filter, kernel, center, data):
    """In the linear kernel without centring, only rows of zeros do."""
    _, Y, _ = data
    X = np.zeros((40, 3)) if center == "target" else np.full((40, 3), 7.1)
    with pytest.raises(ValueError, match=r"kernel matrix is zero, so there is nothing to learn.* constant data"):
        SpectralRegressor(kernel, filter=filter, center=center).fit(X, Y)


def test_constant_rows_get_the_mean_where_the_kernel_has_a_constant(data):
    _, Y, new = data
    model = SpectralRegressor().fit(np.full((40, 3), 7.1), Y)
    assert_allclose(model.predict(new), np.broadcast_to(Y.mean(axis=0), (20, 2)), rtol=1e-6)


@pytest.mark.parametrize("rule", ["cv", "loo", "gcv", "holdout", "discrepancy", "balancing", "a_priori"])
def test_a_constant_target_is_learned_at_once(rule, data):
    X, _, new = data
    model = SpectralRegressor(rule=rule).fit(X, np.full(40, 3.0))
    assert_allclose(model.predict(new), 3.0, rtol=1e-12)
    assert "of the target's variance  0 %" in model.summary()


@pytest.mark.parametrize("filter", ["tikhonov", "tsvd", "landweber", "nu_method", "showalter", "iterated_tikhonov"])
def test_two_rows_are_enough(filter, data):
    X, Y, _ = data
    model = SpectralRegressor(filter=filter, cv=2).fit(X[:2], Y[:2])
    assert np.all(np.isfinite(model.predict(X)))


def test_folds_without_weight_are_passed_over(data):
    X, Y, new = data
    weight = np.r_[np.zeros(10), np.ones(30)]
    folds = list(KFold(4).split(X))
    model = SpectralRegressor(gamma=0.4, cv=folds).fit(X, Y, weight)
    assert len(model.path_.fold_scores) == 3
    with pytest.raises(ValueError, match="no fold has a test row with positive sample_weight"):
        SpectralRegressor(cv=folds[:1]).fit(X, Y, weight)
    assert np.all(np.isfinite(model.predict(new)))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("filter", ["tikhonov", "tsvd"])
@pytest.mark.parametrize("solver", ["exact", "krylov"])
def test_folds_that_leave_nothing_to_train_on_are_refused(kernel, filter, solver, data):
    X, Y, _ = data
    weight = np.r_[np.zeros(20), np.ones(20)]
    first, second, none = np.arange(20), np.arange(20, 40), np.arange(0)
    for folds, fold in (([(second, first), (first, second)], 1), ([(none, np.arange(40))], 0)):
        with pytest.raises(ValueError, match=f"fold {fold} has no training row with positive sample_weight"):
            SpectralRegressor(kernel, filter=filter, cv=folds, solver=solver).fit(X, Y, weight)


def test_r2_needs_two_test_rows(data):
    X, Y, _ = data
    with pytest.raises(ValueError, match="scoring='r2' needs at least two rows in the test part of every fold"):
        SpectralRegressor(cv=40, scoring="r2").fit(X, Y)
    assert SpectralRegressor(gamma=0.4, cv=20, scoring="r2").fit(X, Y).choice_.index[0] > 0


def test_predictions_in_parts_equal_one_product(data, rng):
    X, Y, _ = data
    many = rng.standard_normal((5000, 3))
    model = SpectralRegressor(gamma=0.4).fit(X, Y)
    whole = model.kernel_(many, X) @ model.dual_coef_ + model.intercept_
    assert_allclose(model.predict(many), whole, rtol=1e-10, atol=1e-10)
    assert_allclose(np.vstack([model.predict(part) for part in np.array_split(many, 7)]), whole, rtol=1e-10, atol=1e-10)


# --- scikit-learn ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("Model", [SpectralRegressor, KernelPCR, SpectralClassifier, KernelRidge])
def test_pickles_and_clones_fit_and_predict_the_same(Model, data):
    X, Y, new = data
    y = Y[:, 0] if Model is not SpectralClassifier else Y[:, 0] > 3
    model = Model(kernel=2.0 * RBF(0.4) + Linear()).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(new), model.predict(new))
    assert_array_equal(clone(model).fit(X, y).predict(new), model.predict(new))
    assert_array_equal(model.fit(X, y).predict(new), clone(model).fit(X, y).predict(new))


def test_a_fitted_model_does_not_carry_the_kernel_matrix(rng):
    X = rng.standard_normal((400, 2))
    model = SpectralRegressor(gamma=1.0, filter="landweber").fit(X, X[:, 0])
    assert len(pickle.dumps(model)) < 400 * 400 * 8 / 2


def test_equal_seeds_give_equal_fits(data):
    X, Y, new = data
    for seeds in ((0, 0), (np.random.RandomState(5), np.random.RandomState(5))):
        assert_array_equal(*[SpectralRegressor(random_state=seed).fit(X, Y).predict(new) for seed in seeds])
    SpectralRegressor(random_state=None).fit(X, Y)


def test_nested_parameters_go_through_a_grid_search(data):
    X, Y, _ = data
    model = SpectralRegressor(2.0 * Matern(gamma=1.0) + RBF(1.0), filter=NuMethod(), rule=APriori())
    assert {"kernel__k1__kernel__nu", "kernel__k2__gamma", "filter__nu", "rule__eta"} <= set(model.get_params())
    grid = {"kernel__k2__gamma": [0.1, 0.5], "filter__nu": [1.0, 2.0], "kernel__k1__scale": [1.0]}
    search = GridSearchCV(model.set_params(rule="gcv"), grid, cv=3).fit(X, Y)
    best = search.best_estimator_
    assert best.filter_.nu == search.best_params_["filter__nu"]
    assert best.kernel_.k2.gamma == search.best_params_["kernel__k2__gamma"]
    assert len(set(search.cv_results_["mean_test_score"])) == 4


def test_feature_names_are_kept_and_checked(data):
    pd = pytest.importorskip("pandas")
    X, Y, new = data
    columns = ["a", "b", "c"]
    model = SpectralRegressor(gamma=0.4).fit(pd.DataFrame(X, columns=columns), pd.DataFrame(Y))
    assert_array_equal(model.feature_names_in_, columns)
    assert model.n_features_in_ == 3
    assert_array_equal(
        model.predict(pd.DataFrame(new, columns=columns)), model.predict(pd.DataFrame(new, columns=columns))
    )
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(new, columns=["a", "c", "b"]))


def test_weights_and_groups_are_routed_through_pipelines_and_searches(data, rng):
    X, Y, new = data
    weight, groups = rng.random(40), rng.integers(0, 8, 40)
    with sklearn.config_context(enable_metadata_routing=True):
        model = SpectralRegressor(gamma=0.4, cv=GroupKFold(3)).set_fit_request(sample_weight=True, groups=True)
        scale = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scale, model).fit(X, Y, sample_weight=weight, groups=groups)
        by_hand = clone(model).fit(StandardScaler().fit_transform(X), Y, weight, groups)
        assert_allclose(routed.predict(new), by_hand.predict(StandardScaler().fit(X).transform(new)), rtol=1e-12)

        model.set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"gamma": [0.05, 0.4]}, cv=GroupKFold(2))
        search.fit(X, Y, sample_weight=weight, groups=groups)
        scores = []
        for train, test in GroupKFold(2).split(X, Y, groups):
            part = clone(model).fit(X[train], Y[train], weight[train], groups[train])
            scores.append(part.score(X[test], Y[test], weight[test]))
        assert_allclose(search.cv_results_["mean_test_score"][1], np.mean(scores), rtol=1e-9)
        params = {"sample_weight": weight, "groups": groups}
        assert_allclose(cross_validate(model, X, Y, cv=GroupKFold(2), params=params)["test_score"], scores, rtol=1e-9)


def test_the_notebook_shows_the_estimator_with_its_parts():
    html = estimator_html_repr(SpectralRegressor(RBF(gamma=0.125), filter=[Tikhonov(), NuMethod(nu=2.5)]))
    assert "SpectralRegressor" in html and "0.125" in html and "nu=2.5" in html
    assert repr(SpectralRegressor(filter=NuMethod(nu=2.5))) == "SpectralRegressor(filter=NuMethod(nu=2.5))"


def test_tags_say_what_is_accepted():
    for kernel, pairwise in (("rbf", False), ("precomputed", True), (RBF(), False)):
        tags = SpectralRegressor(kernel).__sklearn_tags__()
        assert tags.input_tags.sparse and tags.input_tags.pairwise is pairwise
        assert tags.target_tags.multi_output
    assert not SpectralClassifier().__sklearn_tags__().target_tags.multi_output


# --- summary -----------------------------------------------------------------------------------------------------


def test_the_summary_says_what_was_chosen_and_why(data):
    X, Y, _ = data
    model = SpectralRegressor(["rbf", "linear"], filter=["tikhonov", NuMethod(nu=2.0)], scoring="mae").fit(X, Y)
    text, path, at = model.summary(), model.path_, model.choice_.index[0]
    name = model.filter_.parameter
    for part in (
        f"SpectralRegressor: {type(model.filter_).__name__} on 40 rows",
        "40 rows, 3 columns, 2 targets",
        "the best mean mae over 5 folds",
        f"{at + 1} of {len(path)}",
        f"{path.params[at]:.4g}",
        f"{path.degrees_of_freedom[at]:.4g}",
        f"{path.training_error[at].mean():.4g}",
        f"{100 * path.training_error[at].sum() / Y.var(axis=0).sum():.3g} %",
        f"The best of {len(model.candidates_)} pairs of kernel and filter",
        f"{model.choice_.value:.4g}",
    ):
        assert part in text
    marked = [line for line in text.splitlines() if line.endswith("<- chosen")]
    assert len(marked) == 1 and f"{path.params[at]:.4g}" in marked[0]
    assert any(line.startswith(f"{name} ") for line in text.splitlines())


def test_the_summary_of_one_parameter_for_each_target_shows_each(data):
    X, Y, _ = data
    model = SpectralRegressor(gamma=0.4, per_target=True).fit(X, Y)
    text, path, at = model.summary(), model.path_, model.choice_.index
    assert len(set(at)) == 2
    for part in (
        ", ".join(f"{value:.4g}" for value in path.params[at]),
        ", ".join(f"{value:.4g}" for value in path.degrees_of_freedom[at]),
        f"{at[0] + 1}, {at[1] + 1} of {len(path)}",
        f"training error (mse)      {path.training_error[at, [0, 1]].mean():.4g}\n",
        f"{100 * path.training_error[at, [0, 1]].sum() / Y.var(axis=0).sum():.3g} %",
    ):
        assert part in text
    assert sum(line.endswith("<- chosen") for line in text.splitlines()) == 2


@pytest.mark.parametrize(
    ("lams", "sentence"),
    [
        ([1e-1, 1e-3], "The choice is the end of the path with the least regularization (0.001)."),
        ([1e-1, 1e-9], "The choice is the end of the path with the most regularization."),
        ([1e5, 1e-12], "The choice is the end of the path with the most regularization: nothing is learned."),
        ([1e2, 1e-3, 1e-9], None),
    ],
)
def test_the_summary_warns_of_choices_at_the_ends(lams, sentence, data, rng):
    X, Y, _ = data
    y = Y[:, 0] if lams[0] < 1e3 else rng.standard_normal(40)
    text = SpectralRegressor(gamma=0.4, filter=Tikhonov(lams)).fit(X, y).summary()
    assert (sentence in text) if sentence else ("The choice is the end" not in text)
    single = SpectralRegressor(gamma=0.4, filter=Tikhonov(lams[0])).fit(X, y).summary()
    assert "The choice is the end" not in single
