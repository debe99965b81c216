"""The record of one kernel, and the choice."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenpath.kernels import RBF
from eigenpath.projection.classes import decide, fit_machines
from eigenpath.projection.path import Fold, smallest_best, study
from eigenpath.projection.penalty import penalized_risks


@pytest.fixture
def data(rng):
    """60 noisy points of two classes in three folds."""
    X = rng.standard_normal((60, 2))
    y = (np.hypot(*X.T) > 1.1) ^ (rng.random(60) < 0.15)
    W = np.eye(2)[y.astype(int)]
    part = rng.integers(0, 3, 60)
    folds = [Fold(W * (part != f)[:, None], W * (part == f)[:, None]) for f in range(3)]
    return RBF(gamma=0.7)(X), W, folds


def test_fold_errors_are_those_of_separate_fits(data):
    K, W, folds = data
    found = study(K, W, folds, 8)

    for f, fold in enumerate(folds):
        train, test = fold.train.any(axis=1), fold.test.any(axis=1)
        machines = fit_machines(K[np.ix_(train, train)], W[train], 8)
        labels = decide(machines.scores(K[np.ix_(test, train)] @ machines.directions.lift(np.ones(train.sum()))))
        assert_allclose(found.path.fold_errors[f], (labels != W[test].argmax(axis=1)[:, None]).mean(axis=0))
    assert_array_equal(found.path.criterion, found.path.fold_errors.mean(axis=0))
    assert_allclose(found.path.fold_error_std, found.path.fold_errors.std(axis=0, ddof=1))


def test_training_risk_falls_and_the_choice_is_the_best(data):
    found = study(*data, 20)

    assert (np.diff(found.path.hinge_risk) <= 1e-12).all()
    assert found.chosen == found.path.criterion.argmin() + 1
    assert found.value == found.path.criterion.min()
    assert_array_equal(found.path.n_components, np.arange(1, 21))


def test_the_penalty_asks_the_folds_at_its_choice_only(data):
    by_folds, by_penalty = study(*data, 20), study(*data, 20, rule="penalty")
    criterion, slope = penalized_risks(by_folds.path.hinge_risk, by_folds.path.floor_from)

    assert_array_equal(by_penalty.path.criterion, criterion)
    assert by_penalty.path.slope == slope
    asked = ~np.isnan(by_penalty.path.fold_errors)
    assert_array_equal(np.flatnonzero(asked.any(axis=0)), [by_penalty.chosen - 1])
    assert_allclose(by_penalty.path.fold_errors[asked], by_folds.path.fold_errors[asked])


@pytest.mark.parametrize("rule", ["cv", "penalty"])
def test_held_out_values_at_the_choice(data, rule):
    K, W, folds = data
    found = study(K, W, folds, 12, rule=rule)
    wrong = decide(found.held_out) != found.held_out_weight.argmax(axis=1)

    assert found.held_out.shape == (60, 1)
    sizes = [int(fold.test.sum()) for fold in folds]
    per_fold = [part.mean() for part in np.split(wrong, np.cumsum(sizes)[:-1])]
    assert_allclose(per_fold, found.path.fold_errors[:, found.chosen - 1])


def test_a_given_size_is_kept(data):
    K, W, folds = data

    assert study(K, W, folds, 5, n_components=5).chosen == 5
    assert study(K, W, [], 5, n_components=3).chosen == 3
    assert np.isnan(study(K, W, [], 5, n_components=3).path.fold_error).all()


def test_a_size_beyond_the_rank_is_an_error_that_names_the_rank(data, rng):
    _, W, folds = data
    X = rng.standard_normal((60, 2))

    with pytest.raises(ValueError, match=r"n_components=3 is more than the numerical rank 2 of the kernel matrix"):
        study(X @ X.T, W, folds, 3, n_components=3)


def test_a_kernel_matrix_is_judged_as_a_whole_unless_it_is_known(data, psd_matrix):
    """The folds' parts are not: no part has a smaller eigenvalue, but its largest may be smaller too."""
    _, W, folds = data
    K = psd_matrix(np.append(np.linspace(2, 1, 59), -0.5))

    with pytest.raises(ValueError, match=r"its smallest eigenvalue is -0\.5"):
        study(K, W, folds, 4)
    allowed, known = study(K, W, folds, 4, psd_tol=0.2501), study(K, W, folds, 4, psd=True)
    assert_array_equal(allowed.path.fold_errors, known.path.fold_errors)


def test_ties_go_to_the_smaller_size():
    third = 1 / 3
    criterion = np.array([0.5, third + 1e-16, third, 1 - 2 * third, 0.4])

    assert smallest_best(criterion) == 2


def test_of_two_kernels_the_better_wins_and_of_equal_ones_the_smaller(data):
    found = study(*data, 6)
    better = found._replace(path=replace(found.path, criterion=found.path.criterion - 0.01))
    rounding = found._replace(path=replace(found.path, criterion=found.path.criterion - 1e-16))
    smaller, larger = (
        found._replace(chosen=D, path=replace(found.path, criterion=np.full(6, found.value))) for D in (2, 5)
    )

    assert better.beats(found) and not found.beats(better)
    assert not rounding.beats(found)
    assert smaller.beats(larger) and not larger.beats(smaller)


def test_record_as_columns(data):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(study(*data, 6).path.as_dict())

    assert list(table) == ["n_components", "hinge_risk", "training_error", "fold_error", "fold_error_std", "criterion"]
    assert len(table) == 6
