"""Rules that hold data out: K folds, one split, one row at a time."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit, check_cv

from ..path import Path
from ..spectra.base import Folds
from ..spectra.holdout import leave_one_out, smoother_diagonal
from .base import Choice, Rule, Task, first_best, pick
from .metrics import Metric, as_metric

__all__ = ["HoldOut", "KFoldCV", "LeaveOneOut"]


class _Folds(Rule):
    """Mean losses over folds; a subclass says which folds, and how to read the means."""

    scoring: Any
    random_state: Any

    @abstractmethod
    def splitter(self, n: int, classes: np.ndarray | None) -> Any:
        """A scikit-learn splitter for ``n`` rows."""

    def splits(self, X: Any, y: np.ndarray, *, classes: np.ndarray | None = None, groups: Any = None) -> Folds:
        splitter, rows = self.splitter(len(y), classes), np.arange(len(y))
        try:
            # Lists, masks and places counted from the end all become row numbers.
            return [(rows[train], rows[test]) for train, test in splitter.split(X, y, groups)]
        except (ValueError, IndexError) as error:
            raise ValueError(f"{self!r} cannot split n_samples={len(y)}: {error}") from error

    def _score(self, path: Path, task: Task) -> tuple[np.ndarray, str]:
        """Fill the path with the folds' losses; return their means ``(p, k)`` and what they are."""
        metric = as_metric(self.scoring, task.classes)
        used = _used(path)
        folds = path.decomposition.folds
        path.fold_scores = np.stack([_loss(metric, path, folds[i][1], path.held_out(i)) for i in used])
        path.scores_std = path.fold_scores.std(axis=0, ddof=1 if len(used) > 1 else 0)
        what = f"{metric.name} over {len(used)} folds" if len(used) > 1 else metric.name
        return path.fold_scores.mean(axis=0), what


def _used(path: Path) -> list[int]:
    """The folds that say something: some of their test rows have weight."""
    weight, folds = path.sample.weight, path.decomposition.folds
    used = [i for i, (_, test) in enumerate(folds) if weight[test].sum() > 0]
    if not used:
        raise ValueError("no fold has a test row with positive sample_weight: check cv and sample_weight.")
    for i in used:
        if not weight[folds[i][0]].sum() > 0:
            raise ValueError(f"fold {i} has no training row with positive sample_weight: check cv and sample_weight.")
    return used


class KFoldCV(_Folds):
    """Cross-validation over the whole path.

    Parameters
    ----------
    cv : int, scikit-learn splitter or iterable of (train, test), default=5
        A number means that many shuffled folds, stratified in classification.
    scoring : str or callable, optional
        ``"mse"`` (default in regression), ``"mae"``, ``"r2"``, ``"error"`` (default in classification), ``"log_loss"``,
        ``"auc"``, or any scikit-learn scorer, which is slower.
    one_standard_error : bool, default=False
        Take the most regularization whose mean score is within one standard error of the best.
    median_components : bool, default=False
        For `TSVD` by threshold: keep as many components as survived the chosen threshold in the median fold.
    random_state : int, RandomState or None, default=0
        Seeds the shuffling when ``cv`` is a number.
    """

    def __init__(
        self,
        cv: Any = 5,
        scoring: Any = None,
        one_standard_error: bool = False,
        median_components: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.median_components = median_components
        self.random_state = random_state

    def splitter(self, n: int, classes: np.ndarray | None) -> Any:
        folds = 5 if self.cv is None else self.cv
        if not isinstance(folds, (int, np.integer)):
            return check_cv(folds)
        if not 2 <= folds <= n:
            raise ValueError(f"cv={folds!r} must lie between 2 and the number of rows, n_samples = {n}.")
        kind = KFold if classes is None else StratifiedKFold
        return kind(int(folds), shuffle=True, random_state=self.random_state)

    def choose(self, path: Path, task: Task) -> Choice:
        scores, what = self._score(path, task)
        if not self.one_standard_error:
            choice = pick(path, task, scores, f"the best mean {what}")
        else:
            why = f"the most regularization within one standard error of the best mean {what}"
            choice = pick(path, task, scores, why, self._standard_error(path, task))
        return self._with_median(choice, path) if self.median_components else choice

    @staticmethod
    def _standard_error(path: Path, task: Task) -> np.ndarray:
        assert path.fold_scores is not None
        folds = path.fold_scores if task.per_target else path.fold_scores.mean(axis=2, keepdims=True)
        if len(folds) < 2:
            raise ValueError("one_standard_error=True needs at least 2 folds with weight in their test parts, got 1.")
        spread = folds.std(axis=0, ddof=1) / np.sqrt(len(folds))
        best = first_best(folds.mean(axis=0))
        return spread[best, np.arange(len(best))]

    @staticmethod
    def _with_median(choice: Choice, path: Path) -> Choice:
        by_count = path.filter.by_components()
        if by_count is None:
            raise ValueError(
                f"median_components=True goes with TSVD(lam=...): {path.filter!r} has no threshold that whole components "
                "survive."
            )
        counts = [path.filter.components(path.decomposition.fold(i)[0].t, choice.params) for i in _used(path)]
        median = np.median(counts, axis=0).astype(int)
        why = f"{choice.why}; then the median number of components over the folds"
        return Choice(by_count, median, choice.index, choice.value, why)


class HoldOut(_Folds):
    """One split: train on one part, score on the other.

    Parameters
    ----------
    test_size : float, default=0.25
        The share of rows held out.
    scoring, random_state
        As in `KFoldCV`.
    """

    def __init__(self, test_size: float = 0.25, scoring: Any = None, random_state: Any = 0) -> None:
        self.test_size = test_size
        self.scoring = scoring
        self.random_state = random_state

    def splitter(self, n: int, classes: np.ndarray | None) -> Any:
        kind = ShuffleSplit if classes is None else StratifiedShuffleSplit
        return kind(1, test_size=self.test_size, random_state=self.random_state)

    def choose(self, path: Path, task: Task) -> Choice:
        scores, what = self._score(path, task)
        return pick(path, task, scores, f"the best {what} on the rows held out (test_size={self.test_size})")


class LeaveOneOut(Rule):
    """Leave one row out: a closed form for Tikhonov, refits or an approximation for other filters.

    For filters other than Tikhonov, up to ``exact_below`` rows are left out by refits; above, the eigenvectors are kept
    fixed when a row is left out, ``r_i / (1 - h_i)``, and the choice says so.

    Parameters
    ----------
    scoring : str or callable, optional
        As in `KFoldCV`.
    exact_below : int, default=100
    """

    whole = True

    def __init__(self, scoring: Any = None, exact_below: int = 100) -> None:
        self.scoring = scoring
        self.exact_below = exact_below

    def splits(self, X: Any, y: np.ndarray, *, classes: np.ndarray | None = None, groups: Any = None) -> Folds:
        n = len(y)
        if n < 2:
            raise ValueError(f"LeaveOneOut needs at least 2 rows, got n_samples = {n}.")
        rows = np.arange(n)
        return [(np.delete(rows, i), rows[i : i + 1]) for i in rows] if n <= self.exact_below else []

    def choose(self, path: Path, task: Task) -> Choice:
        weighty = np.count_nonzero(path.sample.weight)
        if weighty < 2:
            raise ValueError(f"LeaveOneOut needs at least 2 rows with positive sample_weight, got {weighty}.")
        metric = as_metric(self.scoring, task.classes)
        predictions, how = self._predictions(path)
        scores = _loss(metric, path, np.arange(len(path.sample)), predictions)
        return pick(path, task, scores, f"the best leave-one-out {metric.name} ({how})")

    def _predictions(self, path: Path) -> tuple[np.ndarray, str]:
        decomposition, sample = path.decomposition, path.sample
        if path.filter.resolvent:
            return leave_one_out(decomposition.vectors, path.t, sample, path.params), "exact, in closed form"
        if decomposition.folds:
            rows = [path.held_out(i) for i in range(len(decomposition.folds))]
            return np.concatenate(rows, axis=1), "exact, by refits"
        return _fixed_basis(path), "fixed-eigenbasis approximation"


def _fixed_basis(path: Path) -> np.ndarray:
    """Leave-one-out predictions ``(p, n, k)`` if leaving a row out left the eigenvectors as they are."""
    U, sample, spectrum = path.decomposition.vectors, path.sample, path.spectra[0]
    passed = path.gains() * spectrum.t
    left = 1 - smoother_diagonal(U, passed, sample)[:, :, None]
    # Interpolation leaves 0/0: no score.
    left = np.where(left > 1e-8, left, np.nan)
    fitted = np.einsum("nr,pr,rk->pnk", U, passed, spectrum.b, optimize=True) * np.sqrt(sample.total)
    residual = (sample.target - fitted) / left
    root = np.where(sample.root > 0, sample.root, 1)[:, None]
    return sample.y - residual / root


def _loss(metric: Metric, path: Path, rows: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """The losses ``(p, k)`` or ``(p, 1)``; NaN, unseen by the metric, where a row with weight has no prediction."""
    y, weight = path.sample.y[rows], path.sample.weight[rows]
    known = np.all(np.isfinite(predictions).all(axis=2) | (weight == 0), axis=1)
    if np.all(known):
        return metric.loss(y, predictions, weight)
    some = metric.loss(y, predictions[known], weight)
    losses = np.full((len(known), some.shape[1]), np.nan)
    losses[known] = some
    return losses
