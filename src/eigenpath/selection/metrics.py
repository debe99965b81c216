"""Losses of all parameters at once: ``(y (m, k), predictions (p, m, k), weight (m,)) -> (p, k)`` or ``(p, 1)``.

Lower is better. In classification ``y`` is coded -1/+1, in one column for two classes and one a class for more.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

__all__ = ["METRICS", "Metric", "as_metric", "probabilities"]

Loss = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Metric(NamedTuple):
    """A loss; ``sign`` turns it back into what the name says, ``loss * sign``."""

    name: str
    loss: Loss
    sign: int = 1
    for_classes: bool | None = None


def probabilities(values: np.ndarray) -> np.ndarray:
    """Class probabilities ``(..., classes)`` from values ``(..., k)`` by ``(1 + f) / 2``, cut to [0, 1]."""
    positive = np.clip((1 + values) / 2, 0, 1)
    if values.shape[-1] == 1:
        return np.concatenate([1 - positive, positive], axis=-1)
    total = positive.sum(axis=-1, keepdims=True)
    even = np.full_like(positive, 1 / positive.shape[-1])
    return np.where(total > 0, positive / np.where(total > 0, total, 1), even)


def _mean(losses: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted means over rows, ``(p, m, k) -> (p, k)``."""
    return np.einsum("m,pmk->pk", weight / weight.sum(), losses)


def _mse(y: np.ndarray, predictions: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return _mean((predictions - y) ** 2, weight)


def _mae(y: np.ndarray, predictions: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return _mean(np.abs(predictions - y), weight)


def _minus_r2(y: np.ndarray, predictions: np.ndarray, weight: np.ndarray) -> np.ndarray:
    if np.count_nonzero(weight) < 2:
        raise ValueError(
            "scoring='r2' needs at least two rows in the test part of every fold: use fewer folds or 'mse'."
        )
    spread = weight @ (y - np.average(y, axis=0, weights=weight)) ** 2 / weight.sum()
    error = _mse(y, predictions, weight)
    # The weighted mean of equal numbers is equal to them but for rounding.
    constant = np.ptp(y[weight > 0], axis=0) == 0
    # As scikit-learn has it: a constant target is fitted perfectly, or not at all.
    ratio = np.where(constant, (error > 0).astype(float), error / np.where(constant, 1, spread))
    return ratio - 1


def _misclassification(y: np.ndarray, predictions: np.ndarray, weight: np.ndarray) -> np.ndarray:
    if y.shape[1] == 1:
        wrong = (predictions > 0) != (y > 0)
    else:
        wrong = (predictions.argmax(axis=2) != y.argmax(axis=1))[:, :, None]
    return _mean(wrong.astype(float), weight)


def _log_loss(y: np.ndarray, predictions: np.ndarray, weight: np.ndarray) -> np.ndarray:
    share = probabilities(predictions)
    label = (y[:, 0] > 0).astype(int) if y.shape[1] == 1 else y.argmax(axis=1)
    chosen = share[:, np.arange(len(y)), label]
    # The clipping of scikit-learn's log loss: a sure mistake costs much, not infinitely much.
    eps = np.finfo(np.float64).eps
    return _mean(-np.log(np.clip(chosen, eps, 1 - eps))[:, :, None], weight)


def _minus_auc(y: np.ndarray, predictions: np.ndarray, weight: np.ndarray) -> np.ndarray:
    columns = [[_auc(y[:, j] > 0, f, weight) for f in predictions[:, :, j]] for j in range(y.shape[1])]
    return -np.mean(columns, axis=0)[:, None]


def _auc(positive: np.ndarray, values: np.ndarray, weight: np.ndarray) -> float:
    """The share of pairs ranked rightly; ties count half."""
    levels, place = np.unique(values, return_inverse=True)
    high = np.bincount(place, weight * positive, minlength=len(levels))
    low = np.bincount(place, weight * ~positive, minlength=len(levels))
    if high.sum() == 0 or low.sum() == 0:
        raise ValueError(
            "scoring='auc' needs both classes in the test part of every fold: use fewer folds or a stratified cv."
        )
    below = np.cumsum(low) - low / 2
    return float(high @ below / (high.sum() * low.sum()))


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("mse", _mse, for_classes=False),
        Metric("mae", _mae, for_classes=False),
        Metric("r2", _minus_r2, sign=-1, for_classes=False),
        Metric("error", _misclassification, for_classes=True),
        Metric("log_loss", _log_loss, for_classes=True),
        Metric("auc", _minus_auc, sign=-1, for_classes=True),
    )
}

# scikit-learn's names for what is computed here for all parameters at once.
_FAST = {
    "neg_mean_squared_error": "mse",
    "neg_mean_absolute_error": "mae",
    "accuracy": "error",
    "neg_log_loss": "log_loss",
}


def as_metric(scoring: Any, classes: np.ndarray | None) -> Metric:
    """A `Metric` from a name of ours, a name of scikit-learn's, or a scorer ``f(estimator, X, y)``.

    A scorer sees the predictions at hand as an estimator, the rows that have weight, their weights if they differ and
    it takes ``sample_weight``, and nothing of X.
    """
    if scoring is None:
        scoring = "mse" if classes is None else "error"
    name = _FAST.get(scoring, scoring) if isinstance(scoring, str) else None
    if name in METRICS:
        metric = METRICS[name]
        if metric.for_classes is not (classes is not None):
            kind = "classification" if metric.for_classes else "regression"
            raise ValueError(f"scoring={scoring!r} is for {kind}.")
        return metric
    if callable(scoring):
        return Metric(getattr(scoring, "__name__", repr(scoring)), _scorer_loss(scoring, classes), sign=-1)
    if scoring in get_scorer_names():
        return Metric(scoring, _scorer_loss(get_scorer(scoring), classes), sign=-1)
    raise ValueError(
        f"scoring must be one of {', '.join(map(repr, METRICS))}, the name of a scikit-learn scorer, or a callable "
        f"f(estimator, X, y), got {scoring!r}."
    )


def _scorer_loss(scorer: Callable, classes: np.ndarray | None) -> Loss:
    """Any scorer, one parameter at a time, shown an estimator that returns the predictions at hand."""

    weighs = _takes_weight(scorer)

    def loss(y: np.ndarray, predictions: np.ndarray, weight: np.ndarray) -> np.ndarray:
        view: Callable = _RegressorView if classes is None else _ClassifierView
        there = weight > 0
        truth, weight = _as_given(y[there], classes), weight[there]
        extra = {"sample_weight": weight} if weighs and np.any(weight != weight[0]) else {}
        rows = np.zeros((len(weight), 1))
        losses = [-float(scorer(view(f, classes), rows, truth, **extra)) for f in predictions[:, there]]
        return np.array(losses).reshape(-1, 1)

    return loss


def _takes_weight(scorer: Callable) -> bool:
    """Scorers of scikit-learn pass on what their metric takes."""
    parameters = signature(getattr(scorer, "_score_func", scorer)).parameters.values()
    return any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters)


def _as_given(y: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    if classes is not None:
        return classes[(y[:, 0] > 0).astype(int)] if y.shape[1] == 1 else classes[y.argmax(axis=1)]
    return y[:, 0] if y.shape[1] == 1 else y


class _RegressorView(RegressorMixin, BaseEstimator):
    """A fitted regressor whose predictions are already there."""

    def __init__(self, values: np.ndarray, classes: np.ndarray | None = None) -> None:
        self.values = values
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: np.ndarray) -> np.ndarray:
        return _as_given(self.values, None)


class _ClassifierView(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose decision values are already there."""

    def __init__(self, values: np.ndarray, classes: np.ndarray | None) -> None:
        self.values = values
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> np.ndarray | None:
        return self.classes

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return _as_given(self.values, None)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return _as_given(self.values, self.classes)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return probabilities(self.values)
