"""Losses of all parameters at once, against scikit-learn's functions one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics as sk
from sklearn.metrics import get_scorer, make_scorer

from eigenpath.selection import METRICS, as_metric, probabilities

M = 40
WEIGHTS = {
    "unweighted": np.ones(M),
    "fractions": np.linspace(0.3, 2.7, M),
    "some absent": np.where(np.arange(M) % 3 == 0, 0.0, 1.0 + np.arange(M) % 2),
}
weighted = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
TWO, THREE = np.array([-1, 1]), np.array(["a", "b", "c"])


@pytest.fixture
def values(rng):
    """Predictions of 4 parameters for 2 targets, with ties among them, and targets."""
    Y = rng.standard_normal((M, 2))
    predictions = Y + rng.standard_normal((4, M, 2))
    predictions[1] = np.round(predictions[1])
    predictions[3] = 0.0
    return Y, predictions


@pytest.fixture(params=[2, 3])
def labelled(request, rng):
    """Codes of labels, decision values of 4 parameters, labels and classes; the last parameter says nothing."""
    c = request.param
    code = rng.permutation(np.arange(M) % c)
    classes = TWO if c == 2 else THREE
    Y = np.where(code[:, None] == np.arange(c), 1.0, -1.0)[:, 1 if c == 2 else 0 :]
    predictions = 0.7 * Y + rng.standard_normal((4, *Y.shape))
    predictions[1] = np.round(predictions[1])
    predictions[3] = 0.0
    return Y, predictions, classes[code], classes


@weighted
@pytest.mark.parametrize(
    ("name", "function", "sign"),
    [("mse", sk.mean_squared_error, 1), ("mae", sk.mean_absolute_error, 1), ("r2", sk.r2_score, -1)],
)
def test_regression_losses_are_scikit_learns(values, weight, name, function, sign):
    Y, predictions = values
    metric = as_metric(name, None)
    assert metric.name == name and metric.sign == sign
    expected = [[function(Y[:, j], f[:, j], sample_weight=weight) for j in range(2)] for f in predictions]
    assert_allclose(metric.sign * metric.loss(Y, predictions, weight), expected, rtol=1e-10)


@weighted
def test_r2_of_a_constant_target_is_scikit_learns(values, weight):
    predictions = values[1]
    Y = np.ones((M, 2))
    predictions[2] = Y
    expected = [[sk.r2_score(Y[:, j], f[:, j], sample_weight=weight) for j in range(2)] for f in predictions]
    assert_allclose(-as_metric("r2", None).loss(Y, predictions, weight), expected)


def labels_of(f, classes):
    return classes[(f[:, 0] > 0).astype(int) if len(classes) == 2 else f.argmax(axis=1)]


@weighted
def test_misclassification_is_one_minus_accuracy(labelled, weight):
    Y, predictions, labels, classes = labelled
    metric = as_metric(None, classes)
    expected = [[1 - sk.accuracy_score(labels, labels_of(f, classes), sample_weight=weight)] for f in predictions]
    assert metric.name == "error"
    assert_allclose(metric.loss(Y, predictions, weight), expected, atol=1e-14)


@weighted
def test_log_loss_is_scikit_learns(labelled, weight):
    Y, predictions, labels, classes = labelled
    predictions[0] *= 5
    expected = [[sk.log_loss(labels, probabilities(f), sample_weight=weight, labels=classes)] for f in predictions]
    assert_allclose(as_metric("log_loss", classes).loss(Y, predictions, weight), expected, rtol=1e-12)


@weighted
def test_auc_is_scikit_learns_one_class_against_the_rest(labelled, weight):
    Y, predictions, _, classes = labelled
    metric = as_metric("auc", classes)
    expected = [
        [np.mean([sk.roc_auc_score(y, v, sample_weight=weight) for y, v in zip(Y.T, f.T)])] for f in predictions
    ]
    assert_allclose(-metric.loss(Y, predictions, weight), expected, rtol=1e-12)
    assert metric.sign == -1
    assert_allclose(expected[3], 0.5)


def test_auc_of_one_class_alone_is_refused(labelled):
    Y, predictions, _, classes = labelled
    message = "scoring='auc' needs both classes in the test part of every fold: use fewer folds or a stratified cv"
    with pytest.raises(ValueError, match=message):
        as_metric("auc", classes).loss(np.ones_like(Y), predictions, np.ones(M))
    with pytest.raises(ValueError, match=message):
        as_metric("auc", classes).loss(Y, predictions, (Y[:, 0] > 0).astype(float))


@pytest.mark.parametrize("name", METRICS)
def test_integer_weights_are_repeated_rows(name, labelled):
    Y, predictions, _, _ = labelled
    repeats = np.arange(M) % 3 + 1
    metric = METRICS[name]
    once = metric.loss(Y, predictions, repeats.astype(float))
    again = metric.loss(np.repeat(Y, repeats, axis=0), np.repeat(predictions, repeats, axis=1), np.ones(repeats.sum()))
    assert_allclose(once, again, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", METRICS)
def test_the_unit_of_weights_does_not_matter(name, labelled):
    Y, predictions, _, _ = labelled
    weight = WEIGHTS["fractions"]
    assert_allclose(METRICS[name].loss(Y, predictions, weight), METRICS[name].loss(Y, predictions, 1e-3 * weight))


def test_zero_is_no_vote_for_the_positive_class():
    y, nothing = np.array([[1.0], [-1.0], [-1.0]]), np.zeros((1, 3, 1))
    assert_allclose(as_metric("error", TWO).loss(y, nothing, np.ones(3)), [[1 / 3]])


def test_probabilities_are_half_of_one_plus_the_value():
    assert_allclose(probabilities(np.array([[0.5], [-3.0], [7.0]])), [[0.25, 0.75], [1, 0], [0, 1]])
    assert_allclose(probabilities(np.array([[1.0, 0.0, -1.0]])), [[2 / 3, 1 / 3, 0]])
    assert_allclose(probabilities(np.full((2, 3), -5.0)), np.full((2, 3), 1 / 3))


def test_probabilities_sum_to_one_whatever_the_shape(rng):
    for k in (1, 2, 5):
        share = probabilities(3 * rng.standard_normal((4, 6, k)))
        assert share.shape == (4, 6, max(k, 2))
        assert_allclose(share.sum(axis=-1), 1)
        assert share.min() >= 0


REGRESSION = {
    "neg_root_mean_squared_error": lambda y, f, w: -sk.root_mean_squared_error(y, f, sample_weight=w),
    "explained_variance": lambda y, f, w: sk.explained_variance_score(y, f, sample_weight=w),
    "neg_median_absolute_error": lambda y, f, w: -sk.median_absolute_error(y, f, sample_weight=w),
}


@weighted
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", REGRESSION)
def test_scikit_learns_regression_scorers_see_the_predictions(values, weight, k, name):
    Y, predictions = values[0][:, :k], values[1][:, :, :k]
    metric = as_metric(name, None)
    expected = [[REGRESSION[name](Y, f, weight)] for f in predictions]
    assert_allclose(metric.sign * metric.loss(Y, predictions, weight), expected, rtol=1e-10)


TWO_CLASSES = {
    "f1_weighted": lambda y, f, w: sk.f1_score(y, labels_of(f, TWO), average="weighted", sample_weight=w),
    "balanced_accuracy": lambda y, f, w: sk.balanced_accuracy_score(y, labels_of(f, TWO), sample_weight=w),
    "roc_auc": lambda y, f, w: sk.roc_auc_score(y == 1, f[:, 0], sample_weight=w),
    "neg_brier_score": lambda y, f, w: -sk.brier_score_loss(y == 1, probabilities(f)[:, 1], sample_weight=w),
}
THREE_CLASSES = {
    "f1_macro": lambda y, f, w: sk.f1_score(y, labels_of(f, THREE), average="macro", sample_weight=w),
    "roc_auc_ovr": lambda y, f, w: sk.roc_auc_score(y, probabilities(f), multi_class="ovr", sample_weight=w),
    "top_k_accuracy": lambda y, f, w: sk.top_k_accuracy_score(y, f, k=2, sample_weight=w),
}


@weighted
def test_scikit_learns_classification_scorers_see_labels_values_and_probabilities(labelled, weight):
    Y, predictions, labels, classes = labelled
    predictions = predictions[:1] if len(classes) == 3 else predictions
    for name, function in (TWO_CLASSES if len(classes) == 2 else THREE_CLASSES).items():
        metric = as_metric(name, classes)
        expected = [[function(labels, f, weight)] for f in predictions]
        assert_allclose(metric.sign * metric.loss(Y, predictions, weight), expected, rtol=1e-10, err_msg=name)


@weighted
def test_the_fast_losses_agree_with_scikit_learns_scorers(labelled, weight):
    Y, predictions, _, classes = labelled
    pairs = [("log_loss", "neg_log_loss", 0.0), ("error", "accuracy", 1.0)]
    # Of several classes scikit-learn ranks the shares, not the values.
    pairs += [("auc", "roc_auc", 0.0)] if len(classes) == 2 else []
    for fast, slow, shift in pairs:
        one, other = (as_metric(scoring, classes).loss(Y, predictions, weight) for scoring in (fast, get_scorer(slow)))
        assert_allclose(one, other + shift, rtol=1e-10, atol=1e-14, err_msg=fast)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("neg_mean_squared_error", "mse"),
        ("neg_mean_absolute_error", "mae"),
        ("accuracy", "error"),
        ("neg_log_loss", "log_loss"),
    ],
)
def test_scikit_learns_names_of_what_is_fast_are_fast(name, ours):
    assert as_metric(name, None if ours in ("mse", "mae") else TWO) is METRICS[ours]


def largest_error(estimator, X, y):
    return -np.abs(estimator.predict(X) - y).max()


def test_a_callable_of_three_arguments_is_a_scorer(values):
    Y, predictions = values[0][:, :1], values[1][:, :, :1]
    metric = as_metric(largest_error, None)
    expected = np.abs(predictions - Y).max(axis=(1, 2))[:, None]
    assert metric.name == "largest_error" and metric.sign == -1
    assert_allclose(metric.loss(Y, predictions, np.ones(M)), expected)


@pytest.mark.parametrize(
    "scoring", [largest_error, make_scorer(sk.max_error, greater_is_better=False)], ids=["plain", "made"]
)
def test_a_scorer_that_takes_no_weights_sees_the_rows_that_have_some(values, scoring):
    Y, predictions = values[0][:, :1], values[1][:, :, :1]
    weight = WEIGHTS["some absent"]
    Y[weight == 0] = 1e6
    there = weight > 0
    expected = np.abs(predictions - Y)[:, there].max(axis=(1, 2))[:, None]
    assert_allclose(as_metric(scoring, None).loss(Y, predictions, weight), expected)


def test_absent_rows_are_shown_to_no_scorer(values):
    """Weights that are equal but for zeros are no weights, where a scorer takes none."""
    Y, predictions = values[0][:, :1], values[1][:, :, :1]
    weight = (np.arange(M) % 2).astype(float)
    seen = []

    def scorer(estimator, X, y, sample_weight=None):
        seen.append((len(X), len(y), len(estimator.predict(X)), sample_weight))
        return 0.0

    as_metric(scorer, None).loss(Y, predictions[:1], weight)
    assert seen == [(M // 2, M // 2, M // 2, None)]


def test_made_scorers_keep_their_arguments(labelled):
    Y, predictions, labels, classes = labelled
    scorer = make_scorer(sk.fbeta_score, beta=3, average="weighted", zero_division=0)
    expected = [
        [sk.fbeta_score(labels, labels_of(f, classes), beta=3, average="weighted", zero_division=0)]
        for f in predictions
    ]
    assert_allclose(-as_metric(scorer, classes).loss(Y, predictions, np.ones(M)), expected)


def test_defaults_depend_on_the_task():
    assert as_metric(None, None).name == "mse"
    assert as_metric(None, TWO).name == "error"


@pytest.mark.parametrize("name", ["error", "accuracy", "auc"])
def test_losses_of_labels_are_not_for_regression(name):
    with pytest.raises(ValueError, match=f"scoring={name!r} is for classification"):
        as_metric(name, None)


@pytest.mark.parametrize("name", ["mse", "neg_mean_squared_error", "r2"])
def test_losses_of_numbers_are_not_for_classification(name):
    with pytest.raises(ValueError, match=f"scoring={name!r} is for regression"):
        as_metric(name, TWO)


@pytest.mark.parametrize("wrong", ["msee", 3, ("mse",), ["mse"]])
def test_other_things_are_named_with_all_there_is_to_choose_from(wrong):
    with pytest.raises(
        ValueError, match=r"scoring must be one of 'mse', .*'auc', the name of a scikit-learn scorer, or"
    ) as error:
        as_metric(wrong, None)
    assert repr(wrong) in str(error.value)


def test_labels_of_any_type_reach_the_scorer(labelled):
    Y, predictions, labels, classes = labelled
    seen = {}

    def scorer(estimator, X, y):
        seen.update(y=y, labels=estimator.predict(X), classes=estimator.classes_)
        return sk.accuracy_score(y, estimator.predict(X))

    as_metric(scorer, classes).loss(Y, predictions[:1], np.ones(M))
    assert_array_equal(seen["y"], labels)
    assert_array_equal(seen["labels"], labels_of(predictions[0], classes))
    assert_array_equal(seen["classes"], classes)
