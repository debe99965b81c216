"""KernelRidge: scikit-learn's class with another import, and the choice of alpha that GridSearchCV makes."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn import kernel_ridge as sk
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneOut, ShuffleSplit, cross_val_predict
from sklearn.svm import SVR

from eigenpath import GCV, KernelRidge, kernels

# alpha exceeds the negative eigenvalues of the two kernels that have them: the systems are definite and well posed.
KERNELS = {
    "linear": 0.1,
    "poly": 0.1,
    "polynomial": 0.1,
    "rbf": 0.1,
    "laplacian": 0.1,
    "cosine": 0.1,
    "sigmoid": 20.0,
    "chi2": 0.1,
    "additive_chi2": 200.0,
}
ALPHAS = np.logspace(-4, 2, 13)


@pytest.fixture
def data(rng):
    """50 rows and 20 new ones, four columns, two targets; X is not negative, as the chi-squared kernels ask."""
    X = rng.random((70, 4))
    Y = np.column_stack([np.sin(6 * X[:, 0]) + X[:, 1], X[:, 2] ** 2 - X[:, 3]]) + 0.1 * rng.standard_normal((70, 2))
    return X[:50], Y[:50], X[50:]


def both(X, y, *, fit=None, **params):
    """The same fit by scikit-learn's class and by ours."""
    return sk.KernelRidge(**params).fit(X, y, **(fit or {})), KernelRidge(**params).fit(X, y, **(fit or {}))


# --- drop-in -----------------------------------------------------------------------------------------------------


def test_every_parameter_of_scikit_learn_is_here_with_its_default_and_its_place():
    theirs = inspect.signature(sk.KernelRidge).parameters
    ours = inspect.signature(KernelRidge).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, parameter in theirs.items():
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind)
    assert all(one.kind is one.KEYWORD_ONLY for one in list(ours.values())[len(theirs) :])


@pytest.mark.parametrize("targets", [0, slice(0, 1), slice(None)], ids=["flat", "one column", "two columns"])
@pytest.mark.parametrize(("kernel", "alpha"), KERNELS.items())
def test_coefficients_and_predictions_are_those_of_scikit_learn(kernel, alpha, targets, data):
    X, Y, new = data
    theirs, ours = both(X, Y[:, targets], kernel=kernel, alpha=alpha, gamma=0.3)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-9, atol=1e-11)
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9, atol=1e-11)
    assert ours.predict(new).shape == theirs.predict(new).shape
    for name in vars(theirs):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("params", [{}, {"gamma": 2.0}, {"degree": 2}, {"coef0": 3}, {"degree": 2.5}])
def test_kernel_parameters_mean_what_they_mean_in_scikit_learn(kernel, params, data):
    X, Y, new = data
    theirs, ours = both(X, Y, kernel=kernel, alpha=20.0, **params)
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("alpha", [[0.01, 10.0], [1.0, 1.0], (0.5,)])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_target_may_have_an_alpha_of_its_own(kernel, alpha, weighted, data, rng):
    X, Y, new = data
    fit = {"sample_weight": rng.random(len(X))} if weighted else {}
    theirs, ours = both(X, Y, kernel=kernel, alpha=alpha, fit=fit)
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("weight", ["random", "scalar", "some zero"])
def test_sample_weights_are_those_of_scikit_learn(kernel, weight, data, rng):
    X, Y, new = data
    weight = {"random": rng.random(50), "scalar": 2.5, "some zero": rng.integers(0, 3, 50).astype(float)}[weight]
    theirs, ours = both(X, Y, kernel=kernel, alpha=0.1, fit={"sample_weight": weight})
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("alphas", [None, [0.3]])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_are_repetitions_and_weight_zero_is_absence(kernel, alphas, data, rng):
    X, Y, new = data
    weight = rng.integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    model = KernelRidge(0.3, kernel=kernel, alphas=alphas)
    weighted, repeated = clone(model).fit(X, Y, weight), clone(model).fit(X[rows], Y[rows])
    assert_allclose(weighted.predict(new), repeated.predict(new), rtol=1e-9)
    assert_array_equal(weighted.dual_coef_[weight == 0], 0)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "laplacian"])
@pytest.mark.parametrize("alphas", [None, [0.1, 1.0]])
def test_sparse_rows_give_what_dense_rows_give(container, kernel, alphas, data):
    X, Y, new = (np.where(part > 0.4, part, 0) for part in data)
    model = KernelRidge(kernel=kernel, alphas=alphas)
    thin = clone(model).fit(container(X), Y).predict(container(new))
    assert_allclose(thin, clone(model).fit(X, Y).predict(new), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("alphas", [None, [0.1, 1.0]])
def test_a_precomputed_matrix_stands_for_its_kernel_and_is_left_alone(alphas, data):
    X, Y, new = data
    K = pairwise_kernels(X, metric="rbf", gamma=0.5)
    kept = K.copy()
    given = KernelRidge(0.2, kernel="precomputed", alphas=alphas).fit(K, Y)
    named = KernelRidge(0.2, kernel="rbf", gamma=0.5, alphas=alphas).fit(X, Y)
    assert_allclose(
        given.predict(pairwise_kernels(new, X, metric="rbf", gamma=0.5)), named.predict(new), rtol=1e-8, atol=1e-10
    )
    assert_array_equal(K, kept)


@pytest.mark.parametrize("alphas", [None, [0.1, 1.0]])
def test_a_callable_takes_two_rows_as_in_scikit_learn(alphas, data):
    X, Y, new = data
    shapes = set()

    def overlap(a, b, power):
        shapes.add((np.shape(a), np.shape(b)))
        return np.minimum(a, b).sum() ** power

    ours = KernelRidge(0.1, kernel=overlap, kernel_params={"power": 2}, alphas=alphas).fit(X, Y)
    theirs = sk.KernelRidge(alpha=getattr(ours, "alpha_", 0.1), kernel=overlap, kernel_params={"power": 2}).fit(X, Y)
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-8)
    assert shapes == {((4,), (4,))}


def test_a_gaussian_process_kernel_is_taken_as_in_scikit_learn(data):
    X, Y, new = data
    theirs, ours = both(X, Y, kernel=2.0 * gp.RBF(0.7) + gp.DotProduct(), alpha=0.1)
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
def test_single_precision_stays_single(kernel, data):
    """sqrt(eps)-like tolerance: alpha = 1 and eigenvalues up to 50 cost two of seven digits."""
    X, Y, new = (part.astype(np.float32) for part in data)
    theirs, ours = both(X, Y, kernel=kernel)
    assert ours.dual_coef_.dtype == ours.X_fit_.dtype == np.float32
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-4, atol=1e-4)


def test_a_singular_matrix_gets_the_least_squares_solution_with_a_warning(data):
    X, Y, new = data
    with pytest.warns(LinAlgWarning, match="singular: using the least-squares solution. Raise alpha"):
        ours = KernelRidge(0).fit(X, Y)
    slope = np.linalg.lstsq(X, Y, rcond=None)[0]
    assert_allclose(ours.predict(new), new @ slope, rtol=1e-8)


@pytest.mark.parametrize("kernel", ["sigmoid", "additive_chi2"])
@pytest.mark.parametrize("alpha", [1e-3, [1e-3, 1e-2]])
def test_an_indefinite_matrix_gets_its_solution_too(kernel, alpha, data):
    """The matrix is neither definite nor singular; conditioning of 1e5 leaves 1e-9."""
    X, Y, _ = data
    with pytest.warns(LinAlgWarning, match="least-squares"):
        ours = KernelRidge(alpha, kernel=kernel).fit(X, Y)
    K = pairwise_kernels(X, metric=kernel)
    K = np.stack([K + one * np.eye(50) for one in np.broadcast_to(alpha, 2)])
    assert_allclose(np.einsum("kij,jk->ik", K, ours.dual_coef_), Y, atol=1e-8)


def test_alpha_zero_interpolates_where_the_matrix_is_regular(data):
    X, Y, _ = data
    model = KernelRidge(0, kernel="laplacian", gamma=5.0).fit(X, Y)
    assert_allclose(model.predict(X), Y, rtol=1e-8)


def test_one_row_is_enough_as_in_scikit_learn(data):
    X, Y, new = data
    theirs, ours = both(X[:1], Y[:1], kernel="rbf")
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-12)


# --- more than drop-in -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("alphas", [None, [0.1]])
@pytest.mark.parametrize("targets", [0, slice(None)])
def test_fewer_columns_than_rows_give_primal_coefficients_of_the_same_function(kernel, alphas, targets, data):
    X, Y, new = data
    model = KernelRidge(0.1, kernel=kernel, alphas=alphas).fit(X, Y[:, targets])
    rows, others = (part / (np.linalg.norm(part, axis=1)[:, None] if kernel == "cosine" else 1) for part in (X, new))
    assert_allclose(model.coef_, model.dual_coef_.T @ rows, rtol=1e-8, atol=1e-11)
    assert_allclose(model.predict(new), others @ model.coef_.T, rtol=1e-9)


@pytest.mark.parametrize(("kernel", "rows"), [("linear", 4), ("rbf", 50)])
def test_else_there_are_dual_coefficients_only(kernel, rows, data):
    X, Y, new = data
    model = KernelRidge(kernel=kernel).fit(X[:rows], Y[:rows])
    assert not hasattr(model, "coef_")
    assert_allclose(model.predict(new), pairwise_kernels(new, X[:rows], metric=kernel) @ model.dual_coef_, rtol=1e-9)


def test_a_refit_forgets_what_the_last_fit_alone_had(data):
    X, Y, new = data
    model = KernelRidge(alphas=ALPHAS).fit(X, Y)
    again = clone(model.set_params(alphas=None, kernel="rbf"))
    assert set(vars(model.fit(X, Y))) == set(vars(again.fit(X, Y)))
    assert_array_equal(model.predict(new), again.predict(new))


def test_gamma_by_rule_is_the_number_the_rule_gives(data):
    X, Y, new = data
    d = ((X[:, None] - X) ** 2).sum(axis=2)
    for rule, number in (
        ("scale", SVR(gamma="scale").fit(X, Y[:, 0])._gamma),
        ("median", 1 / np.median(d[d > 0])),
        (None, 0.25),
    ):
        named, given = (KernelRidge(kernel="rbf", gamma=gamma).fit(X, Y) for gamma in (rule, number))
        assert_allclose(named.kernel_.gamma, number, rtol=1e-12)
        assert_allclose(named.predict(new), given.predict(new), rtol=1e-9)


def test_kernel_objects_and_our_other_kernels_are_welcome(data):
    X, Y, new = data
    named = KernelRidge(kernel="matern", gamma=2.0, kernel_params={"nu": 0.5}).fit(X, Y)
    given = KernelRidge(kernel=kernels.Matern(gamma=2.0, nu=0.5)).fit(X, Y)
    assert_array_equal(named.predict(new), given.predict(new))
    assert KernelRidge(kernel=kernels.RBF(gamma=1.0)).set_params(kernel__gamma=3.0).fit(X, Y).kernel_.gamma == 3.0


# --- alphas ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
@pytest.mark.parametrize(
    "scoring",
    ["r2", "neg_mean_squared_error", "neg_mean_absolute_error", "neg_median_absolute_error", "explained_variance"],
)
@pytest.mark.parametrize("targets", [0, slice(None)])
def test_alphas_choose_what_grid_search_chooses(kernel, scoring, targets, data):
    """Fold by fold; alphas from 1e-4 with eigenvalues up to 50 lose six of sixteen digits."""
    X, Y, new = data
    Y = Y[:, targets]
    grid = GridSearchCV(sk.KernelRidge(kernel=kernel), {"alpha": ALPHAS}, scoring=scoring, cv=4).fit(X, Y)
    ours = KernelRidge(kernel=kernel, alphas=ALPHAS, scoring=scoring, cv=4).fit(X, Y)
    assert ours.alpha_ == grid.best_params_["alpha"]
    theirs = np.array([grid.cv_results_[f"split{fold}_test_score"] for fold in range(4)])
    assert_allclose(-ours.path_.fold_scores.mean(axis=2), theirs[:, ::-1], rtol=1e-7, atol=1e-9)
    assert_allclose(ours.choice_.value, -grid.best_score_, rtol=1e-7)
    assert_allclose(ours.predict(new), grid.predict(new), rtol=1e-7)
    assert_allclose(ours.dual_coef_, grid.best_estimator_.dual_coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "cv", [3, ShuffleSplit(4, test_size=0.3, random_state=1), GroupKFold(5)], ids=["3", "shuffle", "group"]
)
def test_folds_are_those_of_grid_search(cv, data, rng):
    X, Y, _ = data
    fit = {"groups": rng.integers(0, 8, len(X))} if isinstance(cv, GroupKFold) else {}
    grid = GridSearchCV(sk.KernelRidge(kernel="rbf"), {"alpha": ALPHAS}, cv=cv, scoring="neg_mean_squared_error")
    grid.fit(X, Y, **fit)
    ours = KernelRidge(kernel="rbf", alphas=ALPHAS, cv=cv).fit(X, Y, **fit)
    assert_allclose(ours.path_.scores.mean(axis=1), -grid.cv_results_["mean_test_score"][::-1], rtol=1e-7)
    assert ours.alpha_ == grid.best_params_["alpha"]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weighted_fold_scores_are_those_of_weighted_refits(kernel, data, rng):
    X, Y, _ = data
    weight = rng.random(len(X))
    folds = list(ShuffleSplit(3, random_state=0).split(X))
    ours = KernelRidge(kernel=kernel, alphas=ALPHAS, cv=folds).fit(X, Y, weight)
    for (train, test), scores in zip(folds, ours.path_.fold_scores, strict=True):
        for alpha, score in zip(ours.path_.params, scores, strict=True):
            refit = sk.KernelRidge(alpha=alpha, kernel=kernel).fit(X[train], Y[train], weight[train])
            error = np.average((refit.predict(X[test]) - Y[test]) ** 2, axis=0, weights=weight[test])
            assert_allclose(score, error, rtol=1e-6)


def test_leave_one_out_scores_are_those_of_refits_without_one_row(data):
    X, Y, _ = data
    ours = KernelRidge(kernel="rbf", alphas=[0.01, 0.1, 1.0], rule="loo").fit(X, Y)
    for alpha, score in zip(ours.path_.params, ours.path_.scores, strict=True):
        predictions = cross_val_predict(sk.KernelRidge(alpha=alpha, kernel="rbf"), X, Y, cv=LeaveOneOut())
        assert_allclose(score, ((predictions - Y) ** 2).mean(axis=0), rtol=1e-8)
    assert "exact" in ours.choice_.why


def test_the_rule_and_the_scoring_change_the_choice(data):
    X, Y, _ = data
    y = Y[:, 0] + 0.5 * np.sign(np.sin(50 * X[:, 1]))
    grid = np.logspace(-6, 2, 200)
    chosen = {
        KernelRidge(kernel="rbf", alphas=grid, **how).fit(X, y).alpha_
        for how in ({}, {"scoring": "mae"}, {"rule": "gcv"}, {"rule": "discrepancy"}, {"cv": 3}, {"rule": "loo"})
    }
    assert len(chosen) == 6
    named, given = (KernelRidge(kernel="rbf", alphas=grid, rule=rule).fit(X, y).alpha_ for rule in ("gcv", GCV()))
    assert named == given


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_per_target_is_one_fit_for_each_target(kernel, data):
    X, Y, new = data
    together = KernelRidge(kernel=kernel, alphas=ALPHAS, per_target=True).fit(X, Y)
    apart = [KernelRidge(kernel=kernel, alphas=ALPHAS).fit(X, y) for y in Y.T]
    assert_array_equal(together.alpha_, [one.alpha_ for one in apart])
    assert_allclose(together.predict(new), np.column_stack([one.predict(new) for one in apart]), rtol=1e-8)
    shared = KernelRidge(kernel=kernel, alphas=ALPHAS).fit(X, Y)
    assert np.ndim(shared.alpha_) == 0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_automatic_alphas_run_from_nothing_learned_to_the_least_squares_fit(kernel, data):
    X, Y, new = data
    model = KernelRidge(kernel=kernel, alphas="auto").fit(X, Y)
    path = model.path_
    assert_allclose(path.training_error[0], (Y**2).mean(axis=0), rtol=0.03)
    design = X if kernel == "linear" else np.eye(len(X))
    least = Y - design @ np.linalg.lstsq(design, Y, rcond=None)[0]
    assert_allclose(path.training_error[-1], (least**2).mean(axis=0), rtol=0.01, atol=1e-6)
    assert model.alpha_ == path.params[path.scores.mean(axis=1).argmin()]
    single = KernelRidge(model.alpha_, kernel=kernel).fit(X, Y)
    assert_allclose(model.predict(new), single.predict(new), rtol=1e-6)


def test_alpha_is_ignored_when_alphas_are_given(data):
    X, Y, new = data
    fits = [KernelRidge(alpha, alphas=ALPHAS).fit(X, Y).predict(new) for alpha in (1.0, 1e6)]
    assert_array_equal(*fits)


# --- what it says ------------------------------------------------------------------------------------------------


def test_the_summary_names_the_kernel_and_the_penalty(data):
    X, Y, _ = data
    text = KernelRidge([0.5, 5.0], kernel="rbf").fit(X, Y).summary()
    assert all(part in text for part in ("50 rows", "RBF(gamma=0.25)", "0.5, 5", "0.01, 0.1", "alphas='auto'"))
    model = KernelRidge(kernel="rbf", alphas=ALPHAS).fit(X, Y)
    text = model.summary()
    assert all(part in text for part in ("the best mean mse over 5 folds", "<- chosen", "2 targets"))
    # alpha is on the scale of K, and lam, the filter's word, would be taken for alpha / n.
    assert f"alpha                     {model.alpha_:.4g}\n" in text
    assert "lam" not in text


def test_an_indefinite_kernel_needs_a_tolerance_to_be_searched(data):
    X, Y, new = data
    model = KernelRidge(kernel="sigmoid", alphas=ALPHAS)
    with pytest.raises(ValueError, match=r"not positive semidefinite: .* raise psd_tol \(now"):
        model.fit(X, Y)
    assert np.all(np.isfinite(model.set_params(psd_tol=1.0).fit(X, Y).predict(new)))


def test_a_pickled_model_predicts_the_same(data):
    X, Y, new = data
    for alphas in (None, ALPHAS):
        model = KernelRidge(kernel="rbf", alphas=alphas).fit(X, Y)
        assert_array_equal(pickle.loads(pickle.dumps(model)).predict(new), model.predict(new))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": -1.0}, r"alpha must be a number, not negative, .* of the 2 targets, got -1.0. To choose"),
        ({"alpha": np.nan}, r"alpha must be a number, not negative, .* got nan"),
        ({"alpha": [1.0, 2.0, 3.0]}, r"each of the 2 targets, got \[1.0, 2.0, 3.0\]. .* pass them as alphas"),
        ({"alpha": "small"}, r"alpha must be a number, .* got 'small'"),
        ({"alphas": [1.0, 0.0]}, r"alphas must be an array of positive penalties, .* got \[1.0, 0.0\]"),
        ({"alphas": [[1.0]]}, r"alphas must be an array of positive penalties, .* got \[\[1.0\]\]"),
        ({"alphas": ["few"]}, r"alphas must be an array of positive penalties, .* got \['few'\]"),
        ({"alphas": "all"}, r"alphas must be an array of positive penalties, 'auto' or None, got 'all'"),
        ({"kernel": "gaussian"}, r"kernel='gaussian' is not known: use one of"),
        ({"kernel": "rbf", "gamma": -1.0}, r"gamma=-1.0 is not valid"),
        ({"kernel": None}, r"kernel=None is not valid"),
        ({"alphas": [1.0], "rule": "best"}, r"rule must be a Rule or one of 'cv', .* got 'best'"),
        ({"alphas": [1.0], "scoring": "accurate"}, r"scoring must be one of 'mse', .* got 'accurate'"),
        ({"alphas": [1.0], "scoring": "error"}, r"scoring='error' is for classification"),
        ({"alphas": [1.0], "cv": 1}, r"n_splits=1"),
        ({"alphas": [1.0], "cv": 51}, r"n_splits=51 .* number of samples: n_samples=50|n_samples=50"),
    ],
)
def test_mistakes_are_named(params, message, data):
    X, Y, _ = data
    with pytest.raises((ValueError, TypeError), match=message):
        KernelRidge(**params).fit(X, Y)


def test_data_that_cannot_be_used_are_refused(data):
    X, Y, new = data
    hole = X.copy()
    hole[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        KernelRidge().fit(hole, Y)
    with pytest.raises(ValueError, match="Input y contains infinity"):
        KernelRidge().fit(X, np.where(Y > 0.5, np.inf, Y))
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        KernelRidge().fit(X, Y, -np.ones(50))
    with pytest.raises(ValueError, match=r"[Ss]ample.weight"):
        KernelRidge().fit(X, Y, np.zeros(50))
    with pytest.raises(ValueError, match="X has 3 features, but KernelRidge is expecting 4"):
        KernelRidge().fit(X, Y).predict(new[:, :3])
    with pytest.raises(ValueError, match=r"needs a square matrix|must be square"):
        KernelRidge(kernel="precomputed").fit(X, Y)


def test_a_well_posed_fit_warns_of_nothing(data):
    X, Y, _ = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelRidge(kernel="rbf", alphas="auto").fit(X, Y)
