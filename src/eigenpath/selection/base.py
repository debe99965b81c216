"""What a rule sees, what it answers, and how ties are broken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from ..filters import Filter
from ..path import Path
from ..spectra.base import Folds

__all__ = ["Choice", "Rule", "Task", "first_best", "pick"]


@dataclass(frozen=True)
class Task:
    """What a rule may know besides the path.

    Attributes
    ----------
    classes : ndarray or None
        The class labels, None in regression.
    per_target : bool
        Whether each target gets a parameter of its own.
    kappa2 : float
        An upper bound of ``k(x, x)``.
    """

    classes: np.ndarray | None = None
    per_target: bool = False
    kappa2: float = np.nan


@dataclass(frozen=True)
class Choice:
    """What a rule chose.

    Attributes
    ----------
    filter : Filter
        The filter's family; `fixed` is the filter at the chosen parameter.
    params : ndarray of shape (1,) or (k,)
        The parameter, or one for each target.
    index : ndarray of the same shape
        Its place on the path (the nearest one if it is not on the path).
    value : float
        The score, lower is better; NaN if the rule's scores mean nothing outside their path.
    why : str
        The reason, in words.
    """

    filter: Filter
    params: np.ndarray
    index: np.ndarray
    value: float
    why: str

    @property
    def fixed(self) -> Filter:
        value = self.params[0].item() if len(self.params) == 1 else self.params
        return self.filter.with_value(value)


class Rule(BaseEstimator, ABC):
    """A way to choose one parameter of a path.

    Attributes
    ----------
    comparable : bool
        Whether scores may be compared between filters and between kernels.
    whole : bool
        Whether the rule needs all eigenvalues, and not only what the targets see of them.
    """

    comparable: ClassVar[bool] = True

    @property
    def whole(self) -> bool:
        return False

    def splits(self, X: Any, y: np.ndarray, *, classes: np.ndarray | None = None, groups: Any = None) -> Folds:
        """The folds that the rule needs decomposed."""
        return []

    @abstractmethod
    def choose(self, path: Path, task: Task) -> Choice:
        """Choose a parameter, and write the scores into the path."""


def first_best(scores: np.ndarray, margin: Any = 0.0) -> np.ndarray:
    """The first row, that is the most regularization, whose score ties with the best, for each column of scores."""
    if len(scores) == 1:
        return np.zeros(scores.shape[1], dtype=np.intp)
    scores = np.where(np.isnan(scores), np.inf, scores)
    best = scores.min(axis=0)
    if not np.all(np.isfinite(best)):
        raise ValueError("every parameter's score is NaN or infinite: check y, the scoring and the folds.")
    # Sums in another order must not break a tie.
    return np.argmax(scores <= best + margin + 1e-12 * np.abs(best), axis=0)


def pick(path: Path, task: Task, scores: np.ndarray, why: str, margin: Any = 0.0) -> Choice:
    """Write scores ``(p, k)`` into the path and choose the best, for all targets together or for each."""
    path.scores = scores
    if task.per_target and scores.shape[1] > 1:
        index = first_best(scores, margin)
    else:
        index = first_best(scores.mean(axis=1, keepdims=True), np.mean(margin))
    chosen = scores[index, np.arange(scores.shape[1])] if len(index) > 1 else scores[index[0]]
    # A given parameter needs no score, but one without a score must not win against others.
    value = float(np.nan_to_num(np.mean(chosen), nan=np.inf))
    return Choice(path.filter, path.params[index], index, value, why)
