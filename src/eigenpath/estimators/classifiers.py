"""Classification by spectral regularization of the labels -1 and +1."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from ..selection import probabilities
from ._spectral import SpectralEstimator

__all__ = ["SpectralClassifier"]


class SpectralClassifier(ClassifierMixin, SpectralEstimator):
    r"""Kernel classification by any spectral filter, tuned on its whole path from one decomposition.

    Least squares on labels -1 and +1; several classes are one target each on the same spectrum. The probability of a
    class is :math:`(1 + f(x)) / 2`.

    Parameters
    ----------
    kernel, gamma, degree, coef0, kernel_params, filter, rule, cv, center, psd_tol, random_state, solver, \
    precision, tol, max_iter, memory_limit, warm_start
        As in `SpectralRegressor`; folds given by a number are stratified.
    scoring : str or callable, optional
        ``"error"`` (misclassification, the default; ties go to more regularization), ``"log_loss"``, ``"auc"``, or a
        scikit-learn scorer.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, times ``sample_weight``.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
    kernel_, filter_, choice_, path_, candidates_, dual_coef_, intercept_, coef_, X_fit_
        As in `SpectralRegressor`; two classes have one target.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenpath import SpectralClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SpectralClassifier().fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "auto",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        filter: Any = "tikhonov",
        rule: Any = "cv",
        cv: Any = 5,
        scoring: Any = None,
        center: str | None = "target",
        class_weight: Any = None,
        psd_tol: float | None = None,
        random_state: Any = 0,
        solver: str = "auto",
        precision: str = "double",
        tol: float = 1e-3,
        max_iter: int = 500,
        memory_limit: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.filter = filter
        self.rule = rule
        self.cv = cv
        self.scoring = scoring
        self.center = center
        self.class_weight = class_weight
        self.psd_tol = psd_tol
        self.random_state = random_state
        self.solver = solver
        self.precision = precision
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.warm_start = warm_start

    def fit(self, X, y, sample_weight=None, groups=None):
        """Decompose, filter, choose.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n, d)
            Or the kernel matrix (n, n), if ``kernel="precomputed"``.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            A weight counts like that many repetitions of the row.
        groups : array-like of shape (n,), optional
            For splitters that keep groups together.

        Returns
        -------
        self
        """
        X, y = self._validate(X, y)
        check_classification_targets(y)
        weight = self._weights(sample_weight, X)
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class only, {self.classes_.tolist()[0]!r}: a classifier needs at least two classes."
            )
        if self.class_weight is not None:
            weight = self._by_class(code, weight)
        Y = np.where(code[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        if len(self.classes_) == 2:
            Y = Y[:, 1:]
        winner = self._search(X, Y, weight, groups, self.classes_)
        self._keep(*winner.coefficients, flat=Y.shape[1] == 1)
        return self

    def _by_class(self, code: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """The weights of rows: of their classes, times their own. Repetitions count in ``"balanced"``."""
        own = np.ones(len(code)) if weight is None else weight
        if not isinstance(self.class_weight, str):
            factor = compute_sample_weight(self.class_weight, self.classes_[code])
            if not np.all((factor >= 0) & (factor < np.inf)) or not np.any(own * factor):
                raise ValueError(
                    f"class_weight={self.class_weight!r} must hold finite numbers, not negative, and a positive one for "
                    "a class whose rows have weight."
                )
            return own * factor
        if self.class_weight != "balanced":
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {self.class_weight!r}.")
        total = np.bincount(code, own)
        return own * (own.sum() / np.count_nonzero(total) / np.where(total > 0, total, 1))[code]

    def _targets_like(self, n, y):
        classes = 2 if y is None else len(np.unique(y))
        return np.zeros((n, 1 if classes == 2 else classes))

    def decision_function(self, X):
        """The function(s) whose sign, or largest value, is the label.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (m, d)

        Returns
        -------
        ndarray of shape (m,), or (m, classes) for more than two classes
        """
        return self._values(X)

    def predict(self, X):
        """Labels of the rows of X, shape (m,)."""
        values = self._values(X)
        code = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[code]

    def predict_proba(self, X):
        """Class probabilities ``(1 + f) / 2``, cut to [0, 1], shape (m, classes)."""
        values = self._values(X)
        return probabilities(values.reshape(len(values), -1))
