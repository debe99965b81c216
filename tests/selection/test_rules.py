"""What all rules share: names, ties, and what a choice is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from eigenpath.filters import TSVD, Landweber, Tikhonov
from eigenpath.selection import GCV, RULES, Choice, KFoldCV, Rule, Task, as_rule
from eigenpath.selection.base import first_best, pick


@pytest.mark.parametrize("name", RULES)
def test_a_name_becomes_a_rule_with_its_defaults(name):
    rule = as_rule(name)
    assert type(rule) is RULES[name]
    assert rule.get_params() == clone(RULES[name]()).get_params()


def test_a_rule_is_itself():
    rule = KFoldCV(cv=3)
    assert as_rule(rule) is rule


@pytest.mark.parametrize("wrong", ["aic", 3, None, GCV])
def test_other_things_are_named_with_all_names_to_choose_from(wrong):
    with pytest.raises(ValueError, match="rule must be a Rule or one of 'cv', 'loo', 'gcv', 'holdout',") as error:
        as_rule(wrong)
    assert repr(wrong) in str(error.value)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_chooses_on_every_filter(name, K, Y, path_for):
    rule = as_rule(name)
    for filter in (Tikhonov(), Landweber(), TSVD()):
        path = path_for(K, Y, rule, filter=filter)
        for task in (Task(kappa2=1e-3), Task(per_target=True, kappa2=1e-3)):
            choice = rule.choose(path, task)
            assert choice.filter is filter and 0 <= choice.index.min() <= choice.index.max() < len(path)
            assert choice.params.shape == choice.index.shape
            assert len(choice.why) > 10
            assert np.isfinite(choice.value) == rule.comparable
            assert type(choice.fixed) is type(filter)


@pytest.mark.parametrize("name", RULES)
def test_only_rules_that_hold_data_out_ask_for_folds(name, K, Y):
    assert bool(len(as_rule(name).splits(K, Y))) == (name in ("cv", "loo", "holdout"))


def test_a_rule_of_ones_own_needs_choose_alone(K, Y, path_for):
    class Middle(Rule):
        def choose(self, path, task):
            index = np.array([len(path) // 2])
            return Choice(path.filter, path.params[index], index, 0.0, "the middle")

    choice = Middle().choose(path_for(K, Y, Middle()), Task())
    assert choice.index == 4 and choice.fixed.lam == choice.params[0]


def test_a_choice_fixes_the_filters_parameter():
    one = Choice(Landweber(step=0.1), np.array([7]), np.array([3]), 0.5, "")
    assert one.fixed.get_params() == {"n_iter": 7, "step": 0.1}
    assert type(one.fixed.n_iter) is int
    two = Choice(Tikhonov(), np.array([0.1, 0.2]), np.array([3, 2]), 0.5, "")
    assert_array_equal(two.fixed.lam, [0.1, 0.2])
    assert one.filter.n_iter is None


def test_the_first_of_the_best_wins_and_rounding_breaks_no_tie():
    scores = np.array([[3.0, 0.3], [1.0, 0.1 + 0.2], [1.0 - 1e-15, 0.3 - 1e-16], [2.0, 0.5]])
    assert_array_equal(first_best(scores), [1, 0])
    assert_array_equal(first_best(-scores), [0, 3])


def test_a_margin_lets_more_regularization_win():
    scores = np.array([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]])
    assert_array_equal(first_best(scores, 1.0), [1, 1])
    assert_array_equal(first_best(scores, np.array([0.5, 5.0])), [2, 0])


def test_what_has_no_score_is_not_best():
    assert_array_equal(first_best(np.array([[np.nan], [2.0], [np.nan], [1.0], [np.inf]])), [3])
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="every parameter's score is NaN or infinite: check y, the scoring"):
            first_best(np.full((3, 1), bad))


@pytest.mark.parametrize("per_target", [False, True])
def test_targets_choose_together_or_alone(per_target):
    path = SimpleNamespace(filter=Tikhonov(), params=np.array([4.0, 3.0, 2.0]), scores=None)
    scores = np.array([[1.0, 9.0], [2.0, 5.0], [6.0, 4.0]])
    choice = pick(path, Task(per_target=per_target), scores, "because")
    assert path.scores is scores
    assert_array_equal(choice.index, [0, 2] if per_target else [1])
    assert_array_equal(choice.params, [4, 2] if per_target else [3])
    assert choice.value == (2.5 if per_target else 3.5) and choice.why == "because"


def test_margins_of_targets_that_choose_together_are_averaged():
    path = SimpleNamespace(filter=Tikhonov(), params=np.array([4.0, 3.0, 2.0]), scores=None)
    scores = np.array([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]])
    assert pick(path, Task(), scores, "", np.array([0.0, 2.0])).index[0] == 1
    assert_array_equal(pick(path, Task(per_target=True), scores, "", np.array([0.0, 2.0])).index, [2, 0])
