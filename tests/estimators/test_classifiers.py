"""SpectralClassifier: least squares on signs, one spectrum for all classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_predict

from eigenpath import KFoldCV, SpectralClassifier, SpectralRegressor, Tikhonov
from eigenpath.filters import FILTERS
from eigenpath.selection import RULES

GAMMA = 0.4
LABELS = {
    "words": np.array(["late", "early", "never"]),
    "numbers": np.array([7, -2, 30]),
    "floats": np.array([2.0, -1.0, 3.0]),
    "truths": np.array([True, False, True]),
    "objects": np.array(["b", "a", "c"], dtype=object),
}


@pytest.fixture
def data(rng):
    """60 rows of three overlapping classes, coded 0, 1, 2, and 30 new rows."""
    X = rng.standard_normal((90, 3))
    f = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(90)
    return X[:60], np.digitize(f, [-0.5, 0.6])[:60], X[60:]


def signs(y, label):
    return np.where(y == label, 1.0, -1.0)


# --- the function ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("center", ["target", "features", None])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_two_classes_are_one_regression_on_signs(name, center, kernel, data):
    X, y, new = data
    y = np.where(y == 0, "no", "yes")
    folds = list(StratifiedKFold(4).split(X, y))
    shared = {"kernel": kernel, "gamma": GAMMA, "filter": name, "center": center, "cv": folds}
    model = SpectralClassifier(**shared, scoring="log_loss").fit(X, y)
    shared["filter"] = FILTERS[name]().with_value(model.choice_.params[0].item())
    regressor = SpectralRegressor(**shared).fit(X, signs(y, "yes"))
    values = model.decision_function(new)
    assert values.shape == (30,)
    assert_allclose(values, regressor.predict(new), rtol=1e-8, atol=1e-10)
    assert_array_equal(model.predict(new), np.where(values > 0, "yes", "no"))


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_several_classes_are_one_against_the_rest_on_one_spectrum(name, kernel, data):
    X, y, new = data
    model = SpectralClassifier(kernel, gamma=GAMMA, filter=name).fit(X, y)
    filter = FILTERS[name]().with_value(model.choice_.params[0].item())
    apart = [SpectralRegressor(kernel, gamma=GAMMA, filter=filter).fit(X, signs(y, c)) for c in range(3)]
    values = model.decision_function(new)
    assert_allclose(values, np.column_stack([one.predict(new) for one in apart]), rtol=1e-7, atol=1e-9)
    assert_array_equal(model.predict(new), values.argmax(axis=1))
    assert len(model.path_.spectra) == 1 and model.path_.spectra[0].b.shape[1] == 3


@pytest.mark.parametrize("kind", LABELS)
def test_labels_may_be_of_any_type(kind, data):
    X, code, new = data
    y = LABELS[kind][code]
    model = SpectralClassifier().fit(X, y)
    assert_array_equal(model.classes_, np.unique(y))
    predicted = model.predict(new)
    assert predicted.dtype == y.dtype
    assert set(predicted) <= set(y)
    # Only the names of the classes differ; with two names, two classes are merged.
    renamed = SpectralClassifier().fit(X, np.unique(y, return_inverse=True)[1]).predict(new)
    assert_array_equal(predicted, model.classes_[renamed])
    assert model.score(X, y) > 0.7


def test_decision_values_have_the_sign_and_the_order_of_the_classes(data):
    X, y, _ = data
    model = SpectralClassifier(gamma=GAMMA).fit(X, y == 2)
    values = model.decision_function(X)
    assert values[y == 2].mean() > 0 > values[y != 2].mean()
    several = SpectralClassifier(gamma=GAMMA).fit(X, y).decision_function(X)
    for label in range(3):
        assert several[y == label].mean(axis=0).argmax() == label


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_half_of_one_plus_f_cut_to_the_unit_interval(classes, data):
    X, y, new = data
    far = np.vstack([new, 0.5 * new])
    model = SpectralClassifier(gamma=GAMMA, filter=Tikhonov(1e-3)).fit(X, np.minimum(y, classes - 1))
    values, share = model.decision_function(far), model.predict_proba(far)
    assert share.shape == (60, classes)
    assert_allclose(share.sum(axis=1), 1, rtol=1e-12)
    assert share.min() >= 0 and np.abs(values).max() > 1, "some values must lie outside"
    half = np.clip((1 + values) / 2, 0, 1)
    if classes == 2:
        assert_allclose(share, np.column_stack([1 - half, half]), atol=1e-12)
    else:
        assert_allclose(share, half / half.sum(axis=1, keepdims=True), atol=1e-12)
    clear = np.ptp(np.sort(share, axis=1)[:, -2:], axis=1) > 1e-9
    assert_array_equal(model.predict(far)[clear], share.argmax(axis=1)[clear])


def test_probabilities_estimate_the_conditional_probability(rng):
    """f of least squares on signs is 2 P(y = 1 | x) - 1; 4000 draws leave 0.03, and smoothing some bias."""
    X = rng.uniform(-1, 1, (4000, 1))
    truth = 0.5 + 0.4 * np.sin(3 * X[:, 0])
    y = rng.random(4000) < truth
    model = SpectralClassifier(gamma=2.0, filter="tsvd", rule="holdout", scoring="log_loss").fit(X[:800], y[:800])
    assert np.abs(model.predict_proba(X[800:])[:, 1] - truth[800:]).mean() < 0.06


# --- scores ------------------------------------------------------------------------------------------------------

SCORERS = {
    "error": lambda y, values, share: 1 - metrics.accuracy_score(y, values.argmax(axis=1)),
    "log_loss": lambda y, values, share: metrics.log_loss(y, share, labels=[0, 1, 2]),
    "auc": lambda y, values, share: -np.mean([metrics.roc_auc_score(y == c, values[:, c]) for c in range(3)]),
    "balanced_accuracy": lambda y, values, share: -metrics.balanced_accuracy_score(y, values.argmax(axis=1)),
    "roc_auc_ovr": lambda y, values, share: -metrics.roc_auc_score(y, share, multi_class="ovr"),
}


@pytest.mark.parametrize("scoring", SCORERS)
def test_fold_scores_are_those_of_refits(scoring, data):
    X, y, _ = data
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    model = SpectralClassifier(gamma=GAMMA, cv=folds, scoring=scoring).fit(X, y)
    for at in (20, 45, 70):
        refit = SpectralClassifier(gamma=GAMMA, filter=Tikhonov(model.path_.params[at]), rule="gcv")
        values = cross_val_predict(refit, X, y, cv=folds, method="decision_function")
        share = cross_val_predict(refit, X, y, cv=folds, method="predict_proba")
        expected = [SCORERS[scoring](y[test], values[test], share[test]) for _, test in folds]
        assert_allclose(model.path_.fold_scores[:, at].mean(axis=1), expected, rtol=1e-7)


def test_fold_errors_of_two_classes_are_those_of_refits(data):
    X, y, _ = data
    y, folds = y == 2, list(StratifiedKFold(3).split(X, y == 2))
    model = SpectralClassifier(gamma=GAMMA, cv=folds).fit(X, y)
    for at in range(0, 100, 9):
        refit = SpectralClassifier(gamma=GAMMA, filter=Tikhonov(model.path_.params[at]), rule="gcv")
        wrong = cross_val_predict(refit, X, y, cv=folds) != y
        assert_allclose(model.path_.fold_scores[:, at, 0], [wrong[test].mean() for _, test in folds], rtol=1e-12)


def test_the_scoring_changes_the_choice(data):
    X, y, _ = data
    y = y > 0
    scorings = [None, "error", "accuracy", "log_loss", "neg_log_loss", "auc", "roc_auc"]
    chosen = [SpectralClassifier(gamma=GAMMA, scoring=s).fit(X, y).choice_ for s in scorings]
    none, error, accuracy, log_loss, neg_log_loss, auc, roc_auc = (one.params[0] for one in chosen)
    assert none == error == accuracy
    assert log_loss == neg_log_loss
    assert auc == roc_auc
    assert len({error, log_loss, auc}) == 3
    assert [one.why.split()[3] for one in chosen] == ["error"] * 3 + ["log_loss"] * 2 + ["auc", "roc_auc"]


def test_a_scorer_may_be_any_function_of_estimator_rows_and_labels(data):
    X, y, _ = data
    y = np.array(["a", "b", "c"])[y]

    def wrongs(estimator, rows, truth):
        assert set(truth) <= {"a", "b", "c"}
        return -np.sum(estimator.predict(rows) != truth)

    model = SpectralClassifier(gamma=GAMMA, cv=StratifiedKFold(4), scoring=wrongs).fit(X, y)
    counts = SpectralClassifier(gamma=GAMMA, cv=StratifiedKFold(4)).fit(X, y)
    # 15 rows in each fold.
    assert_allclose(model.path_.scores, 15 * counts.path_.scores, rtol=1e-12)
    assert model.choice_.params == counts.choice_.params


def test_ties_go_to_more_regularization(data):
    X, y, _ = data
    model = SpectralClassifier(gamma=GAMMA).fit(X, y == 2)
    scores = model.path_.scores[:, 0]
    assert np.sum(scores == scores.min()) > 1
    assert model.choice_.index[0] == np.flatnonzero(scores == scores.min())[0]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_chooses_a_classifier_better_than_guessing(rule, data):
    """But for the a-priori one, which regularizes too much on 45 rows."""
    X, y, _ = data
    model = SpectralClassifier(gamma=GAMMA, rule=rule).fit(X[:45], y[:45])
    guess = np.mean(y[45:] == np.bincount(y[:45]).argmax())
    score = model.score(X[45:], y[45:])
    assert score > guess or (rule == "a_priori" and score == guess)


def test_folds_by_number_keep_the_shares_of_the_classes():
    """Sorted labels, 10 of 150 in the last class: plain folds would miss it in training or in test."""
    X, y = load_iris(return_X_y=True)
    X, y = X[:110], y[:110]
    for cv in (5, None):
        model = SpectralClassifier(gamma=0.3, cv=cv, scoring="auc").fit(X, y)
        assert model.path_.fold_scores.shape[0] == 5
    assert model.score(X, y) > 0.95
    with pytest.raises(ValueError, match="scoring='auc' needs both classes in the test part of every fold"):
        SpectralClassifier(cv=KFold(5), scoring="auc").fit(X, y)
    sizes = [np.bincount(y[test]) for _, test in KFoldCV(5).splits(X, y, classes=np.arange(3))]
    assert_array_equal(sizes, [[10, 10, 2]] * 5)


def test_groups_reach_the_splitter(data, rng):
    X, y, _ = data
    groups = rng.integers(0, 9, 60)
    by_group = SpectralClassifier(gamma=GAMMA, cv=GroupKFold(3)).fit(X, y, groups=groups)
    by_folds = SpectralClassifier(gamma=GAMMA, cv=list(GroupKFold(3).split(X, y, groups))).fit(X, y)
    assert_array_equal(by_group.path_.fold_scores, by_folds.path_.fold_scores)


# --- weights -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [False, True])
def test_class_weights_are_weights_of_rows(own, data, rng):
    X, y, new = data
    weight = rng.random(60) if own else np.ones(60)
    by_class = {0: 1.0, 1: 5.0, 2: 0.5}
    given = SpectralClassifier(gamma=GAMMA, class_weight=by_class).fit(X, y, weight if own else None)
    by_row = SpectralClassifier(gamma=GAMMA).fit(X, y, weight * np.array([1.0, 5.0, 0.5])[y])
    assert_allclose(given.decision_function(new), by_row.decision_function(new), rtol=1e-9)
    plain = SpectralClassifier(gamma=GAMMA).fit(X, y)
    assert not np.allclose(given.decision_function(new), plain.decision_function(new), rtol=1e-3)


def test_a_class_weight_of_zero_leaves_the_rows_of_a_class_out(data):
    X, y, new = data
    model = SpectralClassifier(gamma=GAMMA, class_weight={0: 1, 1: 0, 2: 1})
    by_row = SpectralClassifier(gamma=GAMMA).fit(X, y, 1.0 * (y != 1))
    assert_allclose(model.fit(X, y).decision_function(new), by_row.decision_function(new), rtol=1e-9)
    with pytest.raises(ValueError, match=r"class_weight=.* and a positive one for a class whose rows have weight"):
        model.fit(X, y, 1.0 * (y == 1))


def test_labels_name_the_classes_in_class_weights(data):
    X, y, new = data
    words = np.array(["b", "a", "c"])[y]
    by_word = SpectralClassifier(gamma=GAMMA, class_weight={"a": 5.0, "c": 0.5}).fit(X, words)
    by_row = SpectralClassifier(gamma=GAMMA).fit(X, words, np.array([1.0, 5.0, 0.5])[y])
    assert_allclose(by_word.decision_function(new), by_row.decision_function(new), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_balanced_classes_weigh_the_same_and_repetitions_count(kernel, data, rng):
    X, y, new = data
    counts = np.bincount(y)
    # GCV sees the sum of the weights, too.
    balanced = SpectralClassifier(kernel, gamma=GAMMA, class_weight="balanced", rule="gcv")
    by_row = SpectralClassifier(kernel, gamma=GAMMA, rule="gcv").fit(X, y, (60 / 3 / counts)[y])
    assert_allclose(balanced.fit(X, y).decision_function(new), by_row.decision_function(new), rtol=1e-9)

    weight = rng.integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    folds = list(StratifiedKFold(3).split(X, y))
    repeated = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    weighted = balanced.set_params(cv=folds, rule="cv").fit(X, y, weight).decision_function(new)
    assert_allclose(
        balanced.set_params(cv=repeated).fit(X[rows], y[rows]).decision_function(new), weighted, rtol=1e-6, atol=1e-8
    )


def test_balancing_finds_the_rare_class(rng):
    X = np.vstack([rng.standard_normal((180, 2)), rng.standard_normal((20, 2)) + 1.5])
    y = np.repeat([0, 1], [180, 20])
    recalls = [
        metrics.recall_score(y, SpectralClassifier(gamma=0.2, class_weight=w).fit(X, y).predict(X))
        for w in (None, "balanced")
    ]
    assert recalls[0] + 0.2 < recalls[1]


# --- mistakes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"class_weight": "even"}, r"class_weight must be a dict, 'balanced' or None, got 'even'"),
        ({"class_weight": {9: 1.0}}, r"The classes, \[0, 1, 2\], are not in class_weight"),
        ({"class_weight": {0: -1, 1: 1, 2: 1}}, r"class_weight=\{0: -1, 1: 1, 2: 1\} must hold finite numbers, not"),
        ({"class_weight": {0: np.inf, 1: 1, 2: 1}}, r"class_weight=\{0: inf, .*\} must hold finite numbers, not neg"),
        ({"class_weight": {0: 1, 1: np.nan, 2: 1}}, r"class_weight=\{.* 1: nan, .*\} must hold finite numbers, not"),
        ({"class_weight": {0: 0, 1: 0, 2: 0}}, r"class_weight=\{0: 0, .*\} must hold .*, and a positive one for"),
        ({"scoring": "mse"}, r"scoring='mse' is for regression"),
        ({"scoring": "accurate"}, r"scoring must be one of .* got 'accurate'"),
        ({"cv": 70}, r"cv=70 must lie between 2 and the number of rows, n_samples = 60"),
        ({"center": "rows"}, r"center must be one of 'target', 'features', None, got 'rows'"),
        ({"filter": "svm"}, r"filter must be a Filter or one of .* got 'svm'"),
    ],
)
def test_mistakes_are_named(params, message, data):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        SpectralClassifier(**params).fit(X, y)


@pytest.mark.parametrize(("label", "shown"), [("yes", r"'yes'"), (1, "1"), (True, "True")])
def test_one_class_is_too_few(label, shown, data):
    X, _, _ = data
    with pytest.raises(ValueError, match=f"y has one class only, {shown}: a classifier needs at least two classes"):
        SpectralClassifier().fit(X, np.full(60, label))


def test_a_continuous_target_is_refused(data):
    X, _, _ = data
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        SpectralClassifier().fit(X, X[:, 0])


def test_the_summary_says_what_was_chosen(data):
    X, y, _ = data
    text = SpectralClassifier(scoring="log_loss").fit(X, y).summary()
    for part in ("SpectralClassifier: Tikhonov on 60 rows", "3 targets", "the best mean log_loss over 5 folds"):
        assert part in text
