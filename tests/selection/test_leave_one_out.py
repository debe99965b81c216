"""One row left out at a time: closed form, refits, and the approximation that says it is one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics as sk
from sklearn.metrics.pairwise import rbf_kernel

from eigenpath.filters import FILTERS, TSVD, Landweber, Tikhonov
from eigenpath.path import Path
from eigenpath.selection import LeaveOneOut, Task, as_metric
from eigenpath.spectra.base import CENTERINGS, Sample
from eigenpath.spectra.exact import ExactDecomposition
from eigenpath.spectra.primal import PrimalDecomposition

N = 48
LAMS = np.geomspace(1, 1e-4, 9)
FRACTIONS = np.linspace(0.3, 2.7, N)
# Condition numbers up to 1e4 n.
REFIT = {"rtol": 1e-6, "atol": 1e-8}

centered = pytest.mark.parametrize("center", CENTERINGS)
any_filter = pytest.mark.parametrize("name", FILTERS)


@centered
@any_filter
@pytest.mark.parametrize("weight", [None, np.arange(N) % 3 * 1.0], ids=["unweighted", "absent"])
def test_leave_one_out_is_n_refits(K, Y, center, name, weight, dense_path, path_for):
    rule, filter = LeaveOneOut(), FILTERS[name]()
    path = path_for(K, Y, rule, weight, center, filter)
    path = Path(path.decomposition, filter, path.params[[1, 5, 9, 14]])
    choice = rule.choose(path, Task())
    w = np.ones(N) if weight is None else weight
    total = np.zeros((4, 2))
    for i in np.flatnonzero(w):
        prediction = dense_path(K, Y, filter, path.params, np.delete(np.arange(N), i), weight, center)[:, i]
        total += w[i] * (prediction - Y[i]) ** 2
    assert_allclose(path.scores, total / w.sum(), **REFIT)
    how = "exact, in closed form" if name == "tikhonov" else "exact, by refits"
    assert choice.why == f"the best leave-one-out mse ({how})"


def test_the_closed_form_needs_no_folds(K, Y, path_for):
    rule = LeaveOneOut(exact_below=10)
    path = path_for(K, Y, rule)
    assert path.decomposition.folds == []
    one = rule.choose(path, Task())
    slow = LeaveOneOut()
    refits = path_for(K, Y, slow)
    predictions = np.concatenate([refits.held_out(i) for i in range(N)], axis=1)
    assert_allclose(path.scores, ((predictions - Y) ** 2).mean(axis=1), **REFIT)
    assert "exact, in closed form" in one.why


@pytest.mark.parametrize("scoring", ["r2", "mae", "neg_root_mean_squared_error"])
def test_leave_one_out_pools_rows_before_it_scores(K, Y, scoring, path_for):
    rule = LeaveOneOut(scoring=scoring)
    path = path_for(K, Y[:, :1], rule)
    rule.choose(path, Task())
    predictions = np.concatenate([path.held_out(i) for i in range(N)], axis=1)[:, :, 0]
    functions = {
        "r2": lambda y, f: -sk.r2_score(y, f),
        "mae": sk.mean_absolute_error,
        "neg_root_mean_squared_error": sk.root_mean_squared_error,
    }
    assert_allclose(path.scores[:, 0], [functions[scoring](Y[:, 0], f) for f in predictions], **REFIT)


@pytest.mark.parametrize("name", [name for name in FILTERS if name != "tikhonov"])
@centered
@pytest.mark.parametrize("weight", [None, FRACTIONS, np.arange(N) % 3 * 1.0], ids=["unweighted", "fractions", "absent"])
def test_above_a_size_other_filters_keep_the_eigenvectors_and_say_so(K, Y, name, center, weight, path_for):
    """Residuals over one minus the diagonal of the matrix from targets to fits."""
    rule, filter = LeaveOneOut(exact_below=N - 1), FILTERS[name]()
    assert rule.splits(K, Y) == [] and len(LeaveOneOut(exact_below=N).splits(K, Y)) == N
    path = path_for(K, Y, rule, weight, center, filter)
    path = Path(path.decomposition, filter, path.params[[1, 5, 9]])
    choice = rule.choose(path, Task())
    w = np.ones(N) if weight is None else weight
    units = Path(ExactDecomposition(K, Sample(np.eye(N), weight, center)), filter)
    for param, scores in zip(path.params, path.scores):
        function = units.coefficients(filter, np.array([param]))
        hat = K @ function.dual + function.intercept
        left = 1 - np.diag(hat)
        # The nu-method may fit a row more than fully: the formula has no answer.
        expected = np.average(((Y - hat @ Y) / np.where(left > 0, left, np.nan)[:, None]) ** 2, axis=0, weights=w)
        assert_allclose(scores, expected, **REFIT)
    assert not np.any(np.isnan(path.scores[0]))
    assert choice.why == "the best leave-one-out mse (fixed-eigenbasis approximation)"


def test_interpolation_has_no_approximate_leave_one_out_score(K, Y, path_for):
    rule = LeaveOneOut(exact_below=0)
    path = path_for(K, Y, rule, None, None, TSVD())
    choice = rule.choose(path, Task())
    assert np.all(np.isnan(path.scores[-1])) and choice.index[0] < len(path) - 1


SCORINGS = {
    "numbers": (None, ["mse", "mae", "r2", "neg_root_mean_squared_error", "explained_variance"]),
    "two classes": (np.array([0, 1]), ["error", "log_loss", "auc", "f1", "roc_auc", "neg_brier_score"]),
    "three classes": (np.array([0, 1, 2]), ["error", "log_loss", "auc", "f1_macro", "top_k_accuracy"]),
}


@pytest.mark.parametrize(
    ("kind", "scoring"), [(kind, scoring) for kind, (_, scorings) in SCORINGS.items() for scoring in scorings]
)
@pytest.mark.parametrize("weight", [None, np.arange(N) % 3 * 1.0], ids=["unweighted", "absent"])
def test_interpolation_has_no_score_by_any_measure(K, Y, kind, scoring, weight, path_for):
    """Where a row's prediction is unknown no label is made of it, and no scorer sees it."""
    classes = SCORINGS[kind][0]
    if classes is not None:
        Y = np.where((np.arange(N) * 5 // 7 % len(classes))[:, None] == classes, 1.0, -1.0)
    y = Y[:, 1:] if kind == "two classes" else Y[:, :1] if classes is None else Y
    rule = LeaveOneOut(scoring=scoring, exact_below=0)
    path = path_for(K, y, rule, weight, None, TSVD())
    choice = rule.choose(path, Task(classes=classes))
    predictions = rule._predictions(path)[0]
    unknown = np.isnan(predictions).any(axis=(1, 2))
    assert unknown[-1] and not unknown[:20].any()
    assert_array_equal(np.isnan(path.scores).all(axis=1), unknown)
    metric = as_metric(scoring, classes)
    expected = metric.loss(y, predictions[~unknown], path.sample.weight)
    assert_allclose(path.scores[~unknown], expected, rtol=1e-12)
    assert not unknown[choice.index[0]]


@pytest.mark.parametrize(("scoring", "classes"), [("neg_root_mean_squared_error", None), ("error", np.array([0, 1]))])
def test_interpolation_that_is_given_is_the_choice_without_a_score(K, Y, scoring, classes, path_for):
    rule = LeaveOneOut(scoring=scoring, exact_below=0)
    path = path_for(K, np.sign(Y[:, :1]), rule, None, None, TSVD(n_components=N))
    choice = rule.choose(path, Task(classes=classes))
    assert np.isnan(path.scores).all() and choice.params.tolist() == [N] and choice.value == np.inf


def test_leave_one_out_of_features(X, Y, solve_loo):
    """From d eigenvectors, with centred features."""
    rule = LeaveOneOut(exact_below=0)
    for weight in (None, FRACTIONS):
        path = Path(PrimalDecomposition(X, Sample(Y, weight, "features")), Tikhonov(lam=LAMS))
        rule.choose(path, Task())
        assert_allclose(path.scores, solve_loo(X, Y, LAMS, weight), **REFIT)


@pytest.fixture
def solve_loo():
    """Leave-one-out errors of linear ridge regression with an unpenalized intercept, refit by refit."""

    def errors(X, Y, lams, weight):
        w = np.ones(len(X)) if weight is None else weight
        out = np.zeros((len(lams), Y.shape[1]))
        for i in range(len(X)):
            rest = np.delete(np.arange(len(X)), i)
            v = w[rest, None]
            mean, level = (v * X[rest]).sum(axis=0) / v.sum(), (v * Y[rest]).sum(axis=0) / v.sum()
            Z = X[rest] - mean
            for j, lam in enumerate(lams):
                A = (v * Z).T @ Z + lam * v.sum() * np.eye(X.shape[1])
                prediction = level + (X[i] - mean) @ np.linalg.solve(A, (v * Z).T @ (Y[rest] - level))
                out[j] += w[i] * (Y[i] - prediction) ** 2
        return out / w.sum()

    return errors


def test_leave_one_out_leaves_one(X, Y, K, path_for):
    with pytest.raises(ValueError, match="LeaveOneOut needs at least 2 rows, got n_samples = 1"):
        LeaveOneOut().splits(X[:1], Y[:1])
    weight = np.zeros(N)
    weight[3] = 1.0
    for filter in (Tikhonov(lam=LAMS), Landweber(n_iter=[1, 2])):
        rule = LeaveOneOut()
        with pytest.raises(ValueError, match="LeaveOneOut needs at least 2 rows with positive sample_weight, got 1"):
            rule.choose(path_for(K, Y, rule, weight, "target", filter), Task())


def test_leave_one_out_of_two_rows(X, Y, path_for):
    rule = LeaveOneOut()
    for filter in (Tikhonov(lam=LAMS), Landweber(n_iter=[0, 2]), TSVD()):
        for center in CENTERINGS:
            rule.choose(path_for(rbf_kernel(X[:2]), Y[:2], rule, None, center, filter), Task())
