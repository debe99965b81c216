"""Rules that hold data out, against scikit-learn's grid search and against refits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics as sk
from sklearn import model_selection as ms
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from eigenpath.filters import FILTERS, TSVD, Landweber, NuMethod, Tikhonov
from eigenpath.path import Path
from eigenpath.selection import HoldOut, KFoldCV, Task
from eigenpath.spectra.base import CENTERINGS, Sample
from eigenpath.spectra.exact import ExactDecomposition

N = 48
LAMS = np.geomspace(1, 1e-4, 9)
FRACTIONS = np.linspace(0.3, 2.7, N)
# Condition numbers up to 1e4 n.
REFIT = {"rtol": 1e-6, "atol": 1e-8}

centered = pytest.mark.parametrize("center", CENTERINGS)
any_filter = pytest.mark.parametrize("name", FILTERS)


def codes(Y, c):
    """Labels, coded as the classifier does."""
    code = np.digitize(Y[:, 0], np.quantile(Y[:, 0], np.arange(1, c) / c))
    return np.where(code[:, None] == np.arange(c), 1.0, -1.0)[:, 1 if c == 2 else 0 :]


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "neg_mean_absolute_error", "r2", "explained_variance"])
@pytest.mark.parametrize(
    ("cv", "k"),
    [(ms.KFold(5), 1), (ms.KFold(4, shuffle=True, random_state=1), 2), (ms.ShuffleSplit(3, random_state=0), 1)],
    ids=["consecutive", "shuffled", "random"],
)
def test_cross_validation_is_scikit_learns_grid_search(X, Y, cv, scoring, k, path_for):
    """Same folds, scores of every fold, means and choice."""
    alphas = np.geomspace(100, 1e-3, 8)
    Y = Y[:, :k]
    grid = ms.GridSearchCV(KernelRidge(kernel="rbf", gamma=0.3), {"alpha": alphas}, cv=cv, scoring=scoring)
    grid.fit(X, Y if k > 1 else Y[:, 0])
    rule = KFoldCV(cv=cv, scoring=scoring)
    path = path_for(rbf_kernel(X, gamma=0.3), Y, rule, None, None, Tikhonov(lam=alphas), normalize=False)
    choice = rule.choose(path, Task())
    for i, fold in enumerate(path.fold_scores):
        assert_allclose(fold.mean(axis=1), -grid.cv_results_[f"split{i}_test_score"], **REFIT)
    assert_allclose(path.scores.mean(axis=1), -grid.cv_results_["mean_test_score"], **REFIT)
    assert choice.params[0] == grid.best_params_["alpha"] and choice.index[0] == grid.best_index_
    assert_allclose(choice.value, -grid.best_score_, **REFIT)
    assert choice.fixed.lam == choice.params[0]


SPLITTERS = {
    "KFold": ms.KFold(3),
    "StratifiedKFold": ms.StratifiedKFold(3),
    "GroupKFold": ms.GroupKFold(3),
    "LeaveOneGroupOut": ms.LeaveOneGroupOut(),
    "GroupShuffleSplit": ms.GroupShuffleSplit(2, random_state=0),
    "RepeatedKFold": ms.RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "PredefinedSplit": ms.PredefinedSplit(np.arange(N) % 4 - 1),
    "TimeSeriesSplit": ms.TimeSeriesSplit(3),
    "LeavePGroupsOut": ms.LeavePGroupsOut(2),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_any_splitter_gives_its_folds(X, Y, K, name, dense_path, path_for):
    y, groups = codes(Y, 2), np.arange(N) // 12 if "Group" in name else None
    rule = KFoldCV(cv=SPLITTERS[name])
    expected = list(SPLITTERS[name].split(X, y[:, 0], groups))
    folds = rule.splits(X, y[:, 0], groups=groups)
    assert len(folds) == len(expected)
    for (train, test), (left, right) in zip(folds, expected):
        assert_array_equal(train, left)
        assert_array_equal(test, right)
    path = path_for(K, y, rule, groups=groups)
    rule.choose(path, Task())
    for scores, (train, test) in zip(path.fold_scores, expected):
        predictions = dense_path(K, y, path.filter, LAMS, train)[:, test]
        assert_allclose(scores, ((predictions - y[test]) ** 2).mean(axis=1), **REFIT)


def test_folds_may_be_listed(K, Y, dense_path, path_for):
    """As lists, arrays or masks, counted from the end; overlapping, and not covering."""
    mask = np.arange(N) < 20
    given = [(list(range(30)), [40, 41, 45]), (np.arange(10, 40), np.arange(5)), (mask, ~mask), ([0, 3, 4], [-1, -2])]
    rule = KFoldCV(cv=given)
    path = path_for(K, Y, rule)
    rule.choose(path, Task())
    for scores, (train, test) in zip(path.fold_scores, given):
        predictions = dense_path(K, Y, path.filter, LAMS, np.arange(N)[train])[:, test]
        assert_allclose(scores, ((predictions - Y[test]) ** 2).mean(axis=1), **REFIT)


def test_folds_with_rows_that_do_not_exist_are_named(X, Y):
    with pytest.raises(ValueError, match=r"KFoldCV\(cv=.*\) cannot split n_samples=48: index 48 is out of bounds"):
        KFoldCV(cv=[([0, 1], [48])]).splits(X, Y)


def test_a_number_of_folds_shuffles_and_stratifies_labels(X, Y):
    y = codes(Y, 2)[:, 0]
    for classes, splitter in ((None, ms.KFold), (np.array([0, 1]), ms.StratifiedKFold)):
        for cv in (4, np.int64(4)):
            folds = KFoldCV(cv=cv).splits(X, y, classes=classes)
            expected = splitter(4, shuffle=True, random_state=0).split(X, y)
            assert all(np.array_equal(mine[1], other[1]) for mine, other in zip(folds, expected, strict=True))
    other = KFoldCV(cv=4, random_state=1).splits(X, y)
    assert not np.array_equal(other[0][1], KFoldCV(cv=4).splits(X, y)[0][1])


@pytest.mark.parametrize("cv", [0, 1, -3, N + 1])
def test_numbers_of_folds_that_make_no_sense_are_named(X, Y, cv):
    with pytest.raises(ValueError, match=rf"cv={cv} must lie between 2 and the number of rows, n_samples = {N}"):
        KFoldCV(cv=cv).splits(X, Y)


def test_a_splitter_that_cannot_split_is_named(X, Y):
    with pytest.raises(
        ValueError, match=rf"KFoldCV\(cv=KFold.*\) cannot split n_samples={N}: Cannot have number of splits"
    ):
        KFoldCV(cv=ms.KFold(N + 1)).splits(X, Y)
    with pytest.raises(ValueError, match=r"cannot split n_samples=48: The 'groups' parameter should not be None"):
        KFoldCV(cv=ms.GroupKFold(2)).splits(X, Y)


LOSSES = {
    "mse": lambda y, f, w: sk.mean_squared_error(y, f, sample_weight=w, multioutput="raw_values"),
    "mae": lambda y, f, w: sk.mean_absolute_error(y, f, sample_weight=w, multioutput="raw_values"),
    "r2": lambda y, f, w: -sk.r2_score(y, f, sample_weight=w, multioutput="raw_values"),
}


@pytest.mark.parametrize("scoring", LOSSES)
@pytest.mark.parametrize("weight", [None, FRACTIONS, np.arange(N) % 3 * 1.0], ids=["unweighted", "fractions", "absent"])
def test_scores_of_folds_are_those_of_weighted_refits(K, Y, scoring, weight, path_for):
    rule = KFoldCV(cv=3, scoring=scoring)
    path = path_for(K, Y, rule, weight, None)
    choice = rule.choose(path, Task())
    w = np.ones(N) if weight is None else weight
    for scores, (train, test) in zip(path.fold_scores, path.decomposition.folds):
        kept = train[w[train] > 0]
        for lam, score in zip(LAMS, scores):
            c = np.linalg.solve(K[np.ix_(kept, kept)] + np.diag(w[train].sum() * lam / w[kept]), Y[kept])
            assert_allclose(score, LOSSES[scoring](Y[test], K[np.ix_(test, kept)] @ c, w[test]), **REFIT)
    assert_allclose(path.scores, path.fold_scores.mean(axis=0))
    assert_allclose(path.scores_std, path.fold_scores.std(axis=0, ddof=1))
    assert choice.index[0] == path.scores.mean(axis=1).argmin()
    assert choice.why == f"the best mean {scoring} over 3 folds"


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("scoring", ["error", "log_loss", "auc", "balanced_accuracy"])
def test_labels_are_scored_in_every_fold(K, Y, c, scoring, dense_path, path_for):
    y, classes = codes(Y, c), np.arange(c)
    rule = KFoldCV(cv=3, scoring=scoring)
    path = path_for(K, y, KFoldCV(cv=ms.KFold(3)), classes=classes)
    rule.choose(path, Task(classes=classes))
    labels = (y[:, 0] > 0).astype(int) if c == 2 else y.argmax(axis=1)
    for scores, (train, test) in zip(path.fold_scores, path.decomposition.folds):
        values = dense_path(K, y, path.filter, LAMS, train)[:, test]
        chosen = (values[:, :, 0] > 0).astype(int) if c == 2 else values.argmax(axis=2)
        if scoring == "error":
            assert_allclose(scores[:, 0], (chosen != labels[test]).mean(axis=1))
        elif scoring == "balanced_accuracy":
            assert_allclose(-scores[:, 0], [sk.balanced_accuracy_score(labels[test], one) for one in chosen])
        else:
            assert scores.shape == (len(LAMS), 1)


@any_filter
@centered
def test_every_filter_is_cross_validated(K, Y, name, center, dense_path, path_for):
    rule, filter = KFoldCV(cv=3), FILTERS[name]()
    path = path_for(K, Y, rule, None, center, filter)
    choice = rule.choose(path, Task())
    params = path.params[[0, 5, 12]]
    for scores, (train, test) in zip(path.fold_scores, path.decomposition.folds):
        predictions = dense_path(K, Y, filter, params, train, None, center)[:, test]
        assert_allclose(scores[[0, 5, 12]], ((predictions - Y[test]) ** 2).mean(axis=1), **REFIT)
    assert 0 < choice.index[0] < len(path) - 1


def test_ties_go_to_more_regularization(K, Y, path_for):
    """Misclassification has few values, and many parameters share the least."""
    y = codes(Y, 2)
    rule, filter = KFoldCV(cv=3), Tikhonov(lam=np.geomspace(10, 1e-6, 300))
    path = path_for(K, y, rule, classes=np.array([0, 1]), filter=filter)
    choice = rule.choose(path, Task(classes=np.array([0, 1])))
    best = np.flatnonzero(np.isclose(path.scores[:, 0], path.scores.min()))
    assert len(best) > 1 and choice.index[0] == best[0]


@pytest.mark.parametrize("per_target", [False, True])
def test_one_standard_error_takes_the_most_regularization_that_is_as_good(K, Y, per_target, path_for):
    rule = KFoldCV(cv=6, one_standard_error=True)
    path = path_for(K, Y, rule, filter=Tikhonov(lam=np.geomspace(1, 1e-4, 60)))
    choice = rule.choose(path, Task(per_target=per_target))
    plain = KFoldCV(cv=6).choose(path, Task(per_target=per_target))
    folds = path.fold_scores if per_target else path.fold_scores.mean(axis=2, keepdims=True)
    for j, index in enumerate(choice.index):
        mean, error = folds.mean(axis=0)[:, j], folds.std(axis=0, ddof=1)[:, j] / np.sqrt(6)
        allowed = mean.min() + error[mean.argmin()]
        assert index == np.flatnonzero(mean <= allowed)[0]
        assert index < plain.index[j] == mean.argmin()
    assert len(choice.index) == (2 if per_target else 1)
    assert "within one standard error of the best mean mse over 6 folds" in choice.why


def test_one_standard_error_needs_folds_to_differ(K, Y, path_for):
    rule = KFoldCV(cv=ms.ShuffleSplit(1, random_state=0), one_standard_error=True)
    with pytest.raises(ValueError, match="one_standard_error=True needs at least 2 folds with weight"):
        rule.choose(path_for(K, Y, rule), Task())


class Holes:
    """A scorer that knows no answer for some parameters, in the order in which it sees them."""

    def __init__(self, where):
        self.where, self.calls = where, 0

    def __call__(self, estimator, X, y):
        self.calls += 1
        at = (self.calls - 1) % len(LAMS)
        return np.nan if at in self.where else -np.mean((estimator.predict(X) - y) ** 2)


@pytest.mark.parametrize("one_standard_error", [False, True])
def test_parameters_without_a_score_are_not_chosen(K, Y, one_standard_error, path_for):
    y = Y[:, :1]
    rule = KFoldCV(cv=3, one_standard_error=one_standard_error)
    path = path_for(K, y, rule)
    best = int(rule.choose(path, Task()).index[0])
    holes = {0, 1, best}
    rule.scoring = Holes(holes)
    choice = rule.choose(path, Task())
    assert set(np.flatnonzero(np.isnan(path.scores[:, 0]))) == holes
    assert choice.index[0] not in holes and abs(choice.index[0] - best) < 3


def test_no_score_at_all_is_an_error(K, Y, path_for):
    rule = KFoldCV(cv=3, scoring=Holes(set(range(len(LAMS)))))
    with pytest.raises(
        ValueError, match="every parameter's score is NaN or infinite: check y, the scoring and the folds"
    ):
        rule.choose(path_for(K, Y[:, :1], rule), Task())


def test_one_parameter_for_each_target_is_what_each_would_get_alone(K, Y, path_for):
    rule = KFoldCV(cv=4)
    filter = Tikhonov(lam=np.geomspace(1, 1e-5, 60))
    choice = rule.choose(path_for(K, Y, rule, filter=filter), Task(per_target=True))
    alone = [rule.choose(path_for(K, Y[:, j : j + 1], rule, filter=filter), Task()) for j in (0, 1)]
    assert_array_equal(choice.index, [one.index[0] for one in alone])
    assert_allclose(choice.value, np.mean([one.value for one in alone]))
    assert choice.index[0] != choice.index[1]
    together = rule.choose(path_for(K, Y, rule, filter=filter), Task())
    assert len(together.params) == 1 and choice.params.shape == (2,)
    assert_array_equal(choice.fixed.lam, choice.params)


def test_a_score_of_all_targets_together_gives_all_the_same_parameter(K, Y, path_for):
    """A scorer of scikit-learn says one number."""
    rule = KFoldCV(cv=4, scoring="neg_root_mean_squared_error")
    assert len(rule.choose(path_for(K, Y, rule), Task(per_target=True)).params) == 1


@centered
def test_folds_whose_test_part_has_no_weight_say_nothing(K, Y, center, path_for):
    weight = np.ones(N)
    folds = [
        (np.arange(16, N), np.arange(16)),
        (np.r_[0:16, 32:N], np.arange(16, 32)),
        (np.arange(32), np.arange(32, N)),
    ]
    weight[:16] = 0
    rule, some = KFoldCV(cv=folds), KFoldCV(cv=folds[1:])
    path, other = path_for(K, Y, rule, weight, center), path_for(K, Y, some, weight, center)
    choice, same = rule.choose(path, Task()), some.choose(other, Task())
    assert path.fold_scores.shape == (2, len(LAMS), 2)
    assert_allclose(path.scores, other.scores, rtol=1e-7)
    assert choice.params == same.params and choice.why == same.why == "the best mean mse over 2 folds"


def test_folds_that_leave_no_weight_are_errors(K, Y, path_for):
    folds = [(np.arange(16, N), np.arange(16)), (np.arange(16), np.arange(16, N))]
    weight = np.zeros(N)
    weight[:16] = 1
    for filter in (Tikhonov(lam=LAMS), Landweber(n_iter=[1, 2])):
        rule = KFoldCV(cv=folds)
        with pytest.raises(ValueError, match="fold 0 has no training row with positive sample_weight"):
            rule.choose(path_for(K, Y, rule, weight, "target", filter), Task())
    rule = KFoldCV(cv=[(np.arange(16), np.arange(16, N))])
    with pytest.raises(ValueError, match="no fold has a test row with positive sample_weight"):
        rule.choose(path_for(K, Y, rule, weight), Task())


@centered
@pytest.mark.parametrize("filter", [Tikhonov(), NuMethod(), TSVD()], ids=repr)
def test_weights_are_repeated_rows_in_folds_too(K, Y, center, filter, path_for):
    """Rows repeated within their folds: the same scores, on the same path."""
    repeats = np.arange(N) % 3
    rows = np.repeat(np.arange(N), repeats)
    groups = np.arange(N) % 4
    rule = KFoldCV(cv=ms.LeaveOneGroupOut())
    path = path_for(K, Y, rule, repeats.astype(float), center, filter, groups=groups)
    params = path.params[:: len(path.params) // 8][:7]
    path = Path(path.decomposition, filter, params)
    folds = rule.splits(rows, Y[rows], groups=groups[rows])
    other = Path(ExactDecomposition(K[np.ix_(rows, rows)], Sample(Y[rows], None, center), folds), filter, params)
    rule.choose(path, Task())
    rule.choose(other, Task())
    assert_allclose(path.fold_scores, other.fold_scores, **REFIT)
    assert_allclose(path.training_error, other.training_error, **REFIT)
    assert_allclose(path.degrees_of_freedom, other.degrees_of_freedom, **REFIT)


def test_the_median_number_of_components_survives_the_threshold(K, Y, path_for):
    """The number that Mosci, Rosasco and Verri keep."""
    lams = np.geomspace(0.5, 1e-4, 40)
    rule = KFoldCV(cv=5, median_components=True)
    path = path_for(K, Y, rule, None, "features", TSVD(lam=lams))
    choice = rule.choose(path, Task())
    plain = KFoldCV(cv=5).choose(path, Task())
    survive = []
    for train, _ in path.decomposition.folds:
        H = np.eye(len(train)) - 1 / len(train)
        sigma = np.linalg.eigvalsh(H @ K[np.ix_(train, train)] @ H) / len(train)
        survive.append((sigma >= plain.params[0]).sum())
    assert choice.params.tolist() == [np.median(survive)]
    assert choice.filter.parameter == "n_components" and choice.fixed.n_components == int(np.median(survive))
    assert choice.value == plain.value and choice.index == plain.index
    assert choice.why == "the best mean mse over 5 folds; then the median number of components over the folds"


def test_each_target_may_have_its_own_median(K, Y, path_for):
    rule = KFoldCV(cv=5, median_components=True)
    path = path_for(K, Y, rule, None, "features", TSVD(lam=np.geomspace(0.5, 1e-4, 40)))
    choice = rule.choose(path, Task(per_target=True))
    alone = [
        rule.choose(path_for(K, Y[:, j : j + 1], rule, None, "features", path.filter), Task()).params[0] for j in (0, 1)
    ]
    assert_array_equal(choice.params, alone)


@pytest.mark.parametrize("filter", [Tikhonov(), TSVD(), Landweber()], ids=repr)
def test_only_a_threshold_has_a_median_of_survivors(K, Y, filter, path_for):
    rule = KFoldCV(cv=3, median_components=True)
    with pytest.raises(ValueError, match=r"median_components=True goes with TSVD\(lam=\.\.\.\): .* has no threshold"):
        rule.choose(path_for(K, Y, rule, filter=filter), Task())


@pytest.mark.parametrize("classes", [None, np.array([0, 1])], ids=["numbers", "labels"])
def test_hold_out_is_one_split(X, K, Y, classes, path_for):
    y = codes(Y, 2)
    rule = HoldOut(test_size=0.3, random_state=5)
    [(train, test)] = rule.splits(X, y[:, 0], classes=classes)
    stratify = None if classes is None else y[:, 0]
    expected = ms.train_test_split(np.arange(N), test_size=0.3, random_state=5, stratify=stratify)
    assert_array_equal(train, expected[0])
    assert_array_equal(test, expected[1])
    path = path_for(K, y, rule, classes=classes)
    choice = rule.choose(path, Task(classes=classes))
    predictions = path.held_out(0)
    loss = ((predictions - y[test]) ** 2) if classes is None else (predictions > 0) != (y[test] > 0)
    assert_allclose(path.scores, loss.mean(axis=1))
    assert choice.index[0] == path.scores.argmin()
    assert np.all(path.scores_std == 0)
    name = "mse" if classes is None else "error"
    assert choice.why == f"the best {name} on the rows held out (test_size=0.3)"


def test_a_share_that_holds_out_everything_is_named(X, Y):
    with pytest.raises(ValueError, match=r"HoldOut\(test_size=1\.5\) cannot split n_samples=48"):
        HoldOut(test_size=1.5).splits(X, Y)
