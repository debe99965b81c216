"""The estimator: equivalences, choices, labels, weights, messages."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenpath.estimators.projection_machine import KernelProjectionMachine as KPM
from eigenpath.kernels import RBF, Laplacian, Linear, Precomputed
from eigenpath.projection import directions


@parametrize_with_checks([KPM(cv=2), KPM(rule="penalty", cv=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def fitted(moons):
    return KPM(max_components=25).fit(*moons)


# The function


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_kernel_form_equals_direction_form_and_the_risk_is_its_hinge_loss(n_classes, weighted, rng):
    X = rng.standard_normal((70, 2))
    y = rng.integers(0, n_classes, 70)
    weight = rng.random(70) + 0.1 if weighted else np.ones(70)
    model = KPM(n_components=9, cv=None, rule="penalty").fit(X, y, weight)
    scores = model._scores(X)

    # The directions' values at the training rows are their eigenvectors; at any row they are sums of kernel values.
    assert_allclose(scores, model.components_ @ model.beta_.T + model.intercept_, atol=1e-7)
    alpha = weight * (model.beta_ / model.eigenvalues_ @ model.components_.T)
    assert_allclose(model.alpha_, alpha, rtol=1e-12)
    assert_allclose(model.kernel_(X) @ model.alpha_.T + model.intercept_, scores, rtol=1e-12)
    signs = np.where(y[:, None] == (np.arange(3) if n_classes == 3 else [1]), 1, -1)
    risk = weight @ np.maximum(1 - signs * scores, 0).mean(axis=1) / weight.sum()
    assert_allclose(model.path_.hinge_risk[8], risk, rtol=1e-9)


def test_directions_are_eigenvectors_of_the_uncentred_kernel_matrix(moons, fitted):
    K = fitted.kernel_(moons[0])

    assert_allclose(K @ fitted.components_, fitted.components_ * fitted.eigenvalues_, atol=1e-11)
    assert_allclose(fitted.components_.T @ fitted.components_, np.eye(25), atol=1e-12)
    assert fitted.beta_.shape == (1, fitted.n_components_)


def test_all_directions_of_a_positive_definite_kernel_reach_zero_risk(moons):
    X, y = moons
    model = KPM(kernel="laplacian", gamma=1.0, n_components=120, cv=None, rule="penalty").fit(X, y)

    assert model.score(X, y) == 1
    assert_allclose(model.path_.hinge_risk[-1], 0, atol=1e-9)
    assert model.path_.floor_from < 120


def test_a_given_dimension_gives_that_point_of_the_path(moons, fitted):
    X, y = moons
    alone = KPM(n_components=fitted.n_components_).fit(X, y)

    assert_allclose(alone.decision_function(X), fitted.decision_function(X), atol=1e-9)
    assert_allclose(alone.path_.fold_errors, fitted.path_.fold_errors[:, : fitted.n_components_])


def test_stages_are_the_fits_of_every_dimension(moons, fitted):
    X, y = moons
    scores, labels = list(fitted.staged_decision_function(X)), list(fitted.staged_predict(X))

    assert len(scores) == len(labels) == 25
    assert_allclose(scores[fitted.n_components_ - 1], fitted.decision_function(X), atol=1e-9)
    alone = KPM(n_components=3, cv=None).fit(X, y)
    assert_allclose(scores[2], alone.decision_function(X), atol=1e-9)
    assert_array_equal(labels[2], alone.predict(X))
    errors = [(stage != y).mean() for stage in labels]
    assert_allclose(errors, fitted.path_.training_error, atol=1e-12)


@pytest.mark.parametrize("form", ["name", "object", "function", "precomputed"])
def test_all_forms_of_a_kernel_are_one(moons, form):
    X, y = moons
    kernel = {
        "name": "rbf",
        "object": RBF(gamma=0.8),
        "function": lambda A, B: RBF(gamma=0.8)(A, B),
        "precomputed": "precomputed",
    }[form]
    train, test = X[:90], X[90:]
    if form == "precomputed":
        train, test = RBF(gamma=0.8)(train), RBF(gamma=0.8)(test, X[:90])
    model = KPM(kernel, gamma=0.8, max_components=10).fit(train, y[:90])
    reference = KPM(RBF(gamma=0.8), max_components=10).fit(X[:90], y[:90])

    assert_allclose(model.decision_function(test), reference.decision_function(X[90:]), atol=1e-9)


@pytest.mark.parametrize("kernel", ["poly", "laplacian", "linear", "cosine", "matern"])
@pytest.mark.parametrize("gamma", ["median", "auto"])
def test_named_kernels_fit_without_any_parameter(kernel, gamma, rng):
    X = rng.standard_normal((40, 3))
    y = X[:, 0] + X[:, 1] > 0

    assert KPM(kernel, gamma=gamma, cv=2).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("n", [40, 400])
def test_an_indefinite_kernel_needs_a_tolerance(n, rng):
    """Whether or not there are more points than directions."""
    X = rng.standard_normal((n, 3))
    y = X[:, 0] + X[:, 1] > 0

    with pytest.raises(ValueError, match="raise psd_tol"):
        KPM("sigmoid", cv=2).fit(X, y)
    model = KPM("sigmoid", cv=2, psd_tol=1.0).fit(X, y)
    assert (model.eigenvalues_ > 0).all() and model.score(X, y) > 0.8


def test_a_kernel_that_is_positive_semidefinite_by_its_formula_is_not_judged(moons, monkeypatch):
    judged = []
    monkeypatch.setattr(directions, "_judge_smallest", lambda *args: judged.append(args))
    KPM(max_components=5, cv=2).fit(*moons)

    assert not judged
    KPM(["sigmoid", "rbf"], max_components=5, cv=2).fit(*moons)
    assert len(judged) == 1


def test_sparse_rows(moons):
    from scipy.sparse import csr_matrix

    X, y = moons
    sparse = KPM(gamma=1.0, max_components=8).fit(csr_matrix(X), y)

    assert_allclose(
        sparse.decision_function(csr_matrix(X)),
        KPM(gamma=1.0, max_components=8).fit(X, y).decision_function(X),
        atol=1e-8,
    )


# Choices


def test_the_choice_is_the_least_mean_fold_error(fitted):
    path = fitted.path_

    assert len(path) == 25
    assert path.fold_errors.shape == (5, 25)
    assert fitted.n_components_ == path.fold_error.argmin() + 1


def test_of_several_kernels_the_pair_of_least_error_is_chosen(moons):
    X, y = moons
    kernels = [Linear(), RBF(gamma=1.0), Laplacian(gamma=1.0)]
    model = KPM(kernels).fit(X, y)
    alone = [KPM(kernel).fit(X, y) for kernel in kernels]
    # Of equal errors, those of fewer directions.
    best = min(range(3), key=lambda i: (round(alone[i].path_.criterion.min(), 12), alone[i].n_components_))

    assert best > 0
    assert model.kernel_ is not kernels[best] and repr(model.kernel_) == repr(kernels[best])
    assert model.n_components_ == alone[best].n_components_
    assert [len(path) for path in model.paths_] == [len(one.path_) for one in alone]


def test_gamma_auto_is_at_least_as_good_on_the_folds_as_the_median(moons):
    auto, median = KPM(gamma="auto").fit(*moons), KPM().fit(*moons)

    assert len(auto.kernels_) == 5
    assert repr(auto.kernels_[0]) == repr(median.kernel_)
    assert auto.path_.criterion.min() <= median.path_.criterion.min()


def test_the_penalty_needs_no_folds_and_chooses_by_its_criterion(moons):
    model = KPM(rule="penalty", cv=None, max_components=40).fit(*moons)

    assert model.path_.slope > 0
    assert_allclose(model.path_.criterion, model.path_.hinge_risk + 2 * model.path_.slope * np.arange(1, 41))
    assert model.n_components_ == model.path_.criterion.argmin() + 1 < 40
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("cv", [3, KFold(3), "splits"])
def test_folds_of_any_form(moons, cv):
    X, y = moons
    cv = list(KFold(3, shuffle=True, random_state=1).split(X)) if cv == "splits" else cv
    model = KPM(cv=cv, max_components=6).fit(X, y)

    assert model.path_.fold_errors.shape == (3, 6)


def test_equal_seeds_give_equal_folds(moons):
    one, same, other = (KPM(max_components=8, random_state=seed).fit(*moons) for seed in (1, 1, 2))

    assert_array_equal(one.path_.fold_errors, same.path_.fold_errors)
    assert (one.path_.fold_errors != other.path_.fold_errors).any()


def test_there_are_no_more_folds_than_rows_of_the_smallest_class(rng):
    X, y = rng.standard_normal((30, 2)), np.array([0] * 27 + [1] * 3)

    assert KPM(cv=5).fit(X, y).path_.fold_errors.shape[0] == 3


# Labels and weights


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [7, -3], np.array(["b", "a"], dtype=object)])
def test_labels_of_any_type(moons, fitted, labels):
    X, y = moons
    model = KPM(max_components=25).fit(X, np.asarray(labels)[y])
    flipped = -1 if labels[0] > labels[1] else 1

    assert_array_equal(model.predict(X), np.asarray(labels)[fitted.predict(X)])
    assert_allclose(model.decision_function(X), flipped * fitted.decision_function(X), atol=1e-7)


def repeat(counts, *arrays):
    return [np.repeat(array, counts, axis=0) for array in arrays]


@pytest.mark.parametrize(
    "params", [{}, {"rule": "penalty"}, {"class_weight": "balanced"}, {"kernel": ["rbf", "linear"]}]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repeated_rows(params, n_classes, rng):
    X = rng.standard_normal((45, 2))
    y = (np.arctan2(*X.T) > 0).astype(int) + (X[:, 0] > 1) * (n_classes == 3)
    y = np.where(rng.random(45) < 0.2, rng.integers(0, n_classes, 45), y)
    counts, groups = rng.integers(0, 4, 45), np.arange(45) % 3
    rows, labels, parts = repeat(counts, X, y, groups)
    splits = list(GroupKFold(3).split(X, groups=groups))
    # The same folds, in the same order, for the repeated rows.
    splits_of_rows = [
        (np.flatnonzero(~np.isin(parts, groups[test])), np.flatnonzero(np.isin(parts, groups[test])))
        for _, test in splits
    ]

    weighted = KPM(cv=splits, **params).fit(X, y, counts)
    repeated = KPM(cv=splits_of_rows, **params).fit(rows, labels)

    assert weighted.n_components_ == repeated.n_components_
    assert_allclose(weighted.path_.hinge_risk, repeated.path_.hinge_risk, atol=1e-9)
    assert_allclose(weighted.path_.fold_errors, repeated.path_.fold_errors, atol=1e-12)
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_weights_are_repeated_rows_of_a_given_matrix_too(moons, rng):
    X, y = moons
    K, counts = RBF(gamma=1.0)(X), rng.integers(0, 3, 120)
    weighted = KPM("precomputed", n_components=7, rule="penalty", cv=None).fit(K, y, counts)
    rows = np.repeat(np.arange(120), counts)
    repeated = KPM("precomputed", n_components=7, rule="penalty", cv=None).fit(K[np.ix_(rows, rows)], y[rows])

    assert_allclose(weighted.decision_function(K), repeated.decision_function(K[:, rows]), atol=1e-6)


def test_equal_rows_are_one_point(moons):
    X, y = moons
    model = KPM(n_components=4, gamma=1.0).fit(np.vstack([X, X]), np.concatenate([y, y]))

    assert model.X_fit_.shape == (120, 2)
    assert_allclose(
        model.decision_function(X), KPM(n_components=4, gamma=1.0).fit(X, y).decision_function(X), atol=1e-8
    )


def test_class_weights_are_weights(moons):
    X, y = moons
    y = np.where(np.arange(120) < 60, 0, y)
    model = KPM(class_weight={0: 1, 1: 3}, n_components=6).fit(X, y)
    balanced = KPM(class_weight="balanced", n_components=6).fit(X, y)

    assert_allclose(
        model.decision_function(X),
        KPM(n_components=6).fit(X, y, np.where(y == 1, 3, 1)).decision_function(X),
        atol=1e-9,
    )
    assert balanced.predict(X).mean() > KPM(n_components=6).fit(X, y).predict(X).mean()


# Probabilities


@pytest.mark.parametrize("params", [{}, {"rule": "penalty"}, {"n_components": 5}])
def test_probabilities_agree_with_the_labels_and_say_more(params):
    X, y = load_iris(return_X_y=True)
    model = KPM(**params).fit(X[::2], y[::2])
    p = model.predict_proba(X[1::2])

    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[1::2]))
    log_loss = -np.log(p[np.arange(75), y[1::2]]).mean()
    assert log_loss < 0.5 * np.log(3)


# Words


def test_summary_says_what_was_chosen_and_why(fitted):
    text = fitted.summary()

    assert f"n_components         {fitted.n_components_}" in text
    assert "the least mean error over 5 folds" in text
    assert "<- chosen" in text
    assert len(text.splitlines()[0]) == len(text.splitlines()[1])


def test_summary_says_when_the_risk_is_zero_and_when_the_path_was_short(moons):
    X, y = make_moons(60, noise=0.05, random_state=1)

    assert "the training risk is zero; later ones repeat that solution" in KPM().fit(X, y).summary()
    assert "a larger max_components may do better" in KPM(max_components=2, gamma=1.0).fit(*moons).summary()
    contradictory = KPM(kernel="laplacian", gamma=5.0).fit(np.vstack([X, X[:5]]), np.concatenate([y, 1 - y[:5]]))
    assert "the least that the contradictory labels allow" in " ".join(contradictory.summary().split())
    assert "slope" in KPM(rule="penalty").fit(*moons).summary()
    assert "kernel " in KPM(["linear", "rbf"], cv=2).fit(*moons).summary()


def test_record_is_a_table(fitted):
    pd = pytest.importorskip("pandas")

    assert pd.DataFrame(fitted.path_.as_dict()).shape == (25, 6)


# Messages


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, r"n_components=0 is not valid: it must be a whole number of at least 1"),
        ({"n_components": 2.5}, r"n_components=2.5 is not valid"),
        ({"max_components": True}, r"max_components=True is not valid"),
        ({"n_components": 9, "max_components": 4}, r"n_components=9 is more than max_components=4"),
        ({"psd_tol": -0.1}, r"psd_tol must be a number, not negative, or None, got -0.1"),
        ({"psd_tol": np.nan}, r"psd_tol must be a number, not negative, or None, got nan"),
        ({"psd_tol": "small"}, r"psd_tol must be a number, not negative, or None, got 'small'"),
        ({"rule": "bic"}, r"rule must be one of 'cv', 'penalty', got 'bic'"),
        ({"cv": None}, r"cv=None leaves rule='cv' without folds"),
        ({"cv": 1}, r"cv=1 must be at least 2 folds"),
        ({"kernel": []}, r"kernel is an empty list"),
        ({"kernel": ["rbf", "precomputed"]}, r"kernel='precomputed' cannot be one of several"),
        (
            {"kernel": "precomputed"},
            r"kernel='precomputed' needs a square matrix of kernel values, got X of shape \(120, 2\)",
        ),
        ({"kernel": "nope"}, r"kernel='nope' is not known"),
        ({"class_weight": "even"}, r"class_weight must be a dict, 'balanced' or None, got 'even'"),
        ({"class_weight": {5: 1}}, r"class_weight has a class 5 that is not in y"),
        ({"class_weight": {0: -1}}, r"class_weight=\{0: -1\} must hold positive numbers"),
        ({"kernel": "linear", "n_components": 3}, r"n_components=3 is more than the numerical rank 2"),
        ({"cv": [(np.arange(60, 120), np.arange(60))]}, r"the training part of fold 1 has no row of class"),
    ],
)
def test_messages_name_the_parameter(moons, params, message):
    X, y = moons
    order = np.argsort(y, kind="stable")

    with pytest.raises(ValueError, match=message):
        KPM(**params).fit(X[order], y[order])


def test_a_path_longer_than_the_rank_is_cut_with_a_warning(moons):
    with pytest.warns(
        UserWarning, match=r"max_components=30 is more than the numerical rank 2 of the matrix of Linear\(\)"
    ):
        model = KPM("linear", max_components=30).fit(*moons)

    assert len(model.path_) == 2
    with warnings.catch_warnings():
        # A kernel that was not chosen is not worth a warning.
        warnings.simplefilter("error")
        assert len(KPM(["rbf", "linear"], max_components=10).fit(*moons).path_) == 10


def test_one_class_only(moons):
    X, y = moons

    with pytest.raises(ValueError, match="y has one class only, 0"):
        KPM().fit(X, np.zeros(120, dtype=int))
    with pytest.raises(ValueError, match="y has one class only, 1 \\(in rows of positive weight\\)"):
        KPM().fit(X, y, (y == 1).astype(float))
    with pytest.raises(ValueError, match="at least one non-zero number"):
        KPM().fit(X, y, np.zeros(120))


def test_a_class_of_one_row_has_no_folds(moons):
    X = moons[0][:20]
    y = np.array(["many"] * 19 + ["one"])

    with pytest.raises(ValueError, match="cv=5 is not possible: class 'one' has a single row"):
        KPM().fit(X, y)
    assert KPM(rule="penalty", cv=None).fit(X, y).score(X, y) > 0.9


def test_folds_without_weight_are_left_out(moons):
    X, y = moons
    splits = list(StratifiedKFold(4).split(X, y))
    weight = np.ones(120)
    weight[splits[0][1]] = 0
    model = KPM(cv=splits, max_components=5).fit(X, y, weight)

    assert model.path_.fold_errors.shape == (3, 5)
    with pytest.raises(ValueError, match="holds out no row of positive sample_weight"):
        KPM(cv=splits[:1], max_components=5).fit(X, y, weight)


def test_unseen_labels_count_as_errors_with_a_warning(moons, fitted):
    X, y = moons
    strange = np.where(np.arange(120) < 12, 5, y)

    with pytest.warns(UserWarning, match=r"y has labels that fit has not seen: \[5\]; they count as errors"):
        score = fitted.score(X, strange)
    assert_allclose(score, (fitted.predict(X)[12:] == y[12:]).sum() / 120)


def test_missing_values_are_named(moons):
    X = moons[0].copy()
    X[3, 1] = np.nan

    with pytest.raises(ValueError, match="Input X contains NaN"):
        KPM().fit(X, moons[1])


def test_refitting_forgets(moons):
    X, y = moons
    model = KPM(max_components=5).fit(X, y)
    model.set_params(kernel="precomputed", cv=None, rule="penalty").fit(RBF(gamma=1.0)(X), y)

    assert not hasattr(model, "X_fit_") and not hasattr(model.set_params(cv=5), "predict_proba")
    model.set_params(cv=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).fit(RBF(gamma=1.0)(X), y)


def test_kernel_params_reach_a_callable():
    X, y = make_moons(60, noise=0.2, random_state=0)
    options = {"max_components": 5, "cv": 3}

    def bell(X, Z, gamma=1.0):
        return RBF(gamma=gamma)(X, Z)

    given = KPM(bell, kernel_params={"gamma": 0.01}, **options).fit(X, y)
    named = KPM(RBF(gamma=0.01), **options).fit(X, y)
    assert_allclose(given.eigenvalues_, named.eigenvalues_, rtol=1e-9)


def test_a_multiple_of_a_given_matrix_is_that_multiple():
    X, y = make_moons(60, noise=0.2, random_state=0)
    K = RBF(gamma=1.0)(X)
    options = {"max_components": 5, "cv": 3}
    named = KPM(3.0 * RBF(gamma=1.0), **options).fit(X, y)
    given = KPM(3.0 * Precomputed(), **options).fit(K, y)
    assert_allclose(given.decision_function(K), named.decision_function(X), rtol=1e-6, atol=1e-8)
