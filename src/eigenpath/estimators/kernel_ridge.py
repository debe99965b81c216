"""Kernel ridge regression with scikit-learn's interface, and the choice of alpha from one decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from ..filters import Tikhonov
from ..kernels import Kernel
from ..spectra.base import Coefficients, Sample
from ..spectra.direct import solve_features, solve_gram
from ._callable import callable_kernel
from ._plan import Job, Plan, plan_of_one_solve
from ._spectral import SpectralEstimator, brief
from ._summary import summary_text

__all__ = ["KernelRidge"]


class KernelRidge(MultiOutputMixin, RegressorMixin, SpectralEstimator):
    r"""Kernel ridge regression, as scikit-learn's class of that name, that can choose its own penalty.

    .. math:: f(x) = \sum_i c_i k(x, x_i), \qquad c = (K + \alpha I)^{-1} y

    With ``alphas`` it replaces ``GridSearchCV(KernelRidge(), {"alpha": alphas})``: same folds and, by the same
    ``scoring``, same choice; one decomposition for each fold instead of one solve for each fold and alpha.

    Parameters
    ----------
    alpha : float or array-like of shape (targets,), default=1.0
        The penalty, on the scale of K: ``alpha = n * lam``. Ignored when ``alphas`` is given.
    kernel : str, Kernel or callable, default="linear"
        A name, a `Kernel`, ``"precomputed"``, or a function of two rows as in scikit-learn. (Vectorized functions go in
        as ``kernels.CallableKernel``.)
    gamma, degree, coef0, kernel_params
        As in scikit-learn; ``gamma`` also takes ``"scale"`` and ``"median"``.
    alphas : array-like or "auto", optional
        Penalties to choose from; ``"auto"`` derives them from the spectrum.
    rule : str or Rule, default="cv"
        How to choose: by ``cv`` folds, or another rule.
    cv : int, splitter or iterable, default=5
        As in ``GridSearchCV``: a number means consecutive folds, not shuffled.
    scoring : str or callable, optional
        ``"mse"`` by default; that of ``GridSearchCV`` is ``"r2"``.
    per_target : bool, default=False
        Whether each target gets a penalty of its own from ``alphas``.
    psd_tol, solver, precision, tol, max_iter, warm_start, intervals
        As in `SpectralRegressor`, with ``alphas``.
    memory_limit : int or str, optional
        As in `SpectralRegressor`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, targets)
    X_fit_ : {ndarray, CSR matrix} of shape (n, d)
    alpha_ : float or ndarray of shape (targets,)
        The penalty used.
    kernel_ : Kernel
    path_, choice_
        As in `SpectralRegressor`, if ``alphas`` is given.
    coef_ : ndarray of shape (d,) or (targets, d)
        For the linear kernel, if there are fewer columns than rows.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath import KernelRidge
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = KernelRidge(kernel="rbf", alphas=np.logspace(-6, 2, 50)).fit(X, np.sin(X[:, 0]))
    >>> float(model.predict([[1.5]]).round(1)[0])
    1.0
    """

    # Not parameters here: scikit-learn's class centres nothing, and neither does this one.
    center = None
    random_state = 0
    _said = "alpha"

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        alphas: Any = None,
        rule: Any = "cv",
        cv: Any = 5,
        scoring: Any = None,
        per_target: bool = False,
        psd_tol: float | None = None,
        solver: str = "auto",
        precision: str = "double",
        tol: float = 1e-3,
        max_iter: int = 500,
        memory_limit: Any = None,
        warm_start: bool = False,
        intervals: bool = False,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alphas = alphas
        self.rule = rule
        self.cv = cv
        self.scoring = scoring
        self.per_target = per_target
        self.psd_tol = psd_tol
        self.solver = solver
        self.precision = precision
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.intervals = intervals

    @property
    def filter(self) -> Tikhonov:
        return Tikhonov(None if isinstance(self.alphas, str) else self.alphas)

    def _kernels(self) -> list[Kernel]:
        kernel = callable_kernel(self.kernel, self.kernel_params)
        return super()._kernels() if kernel is None else [kernel]

    def _folding(self) -> Any:
        # Consecutive folds, as GridSearchCV takes them.
        return check_cv(self.cv)

    def _sample(self, Y: np.ndarray, weight: np.ndarray | None) -> Sample:
        return Sample(Y, weight, center=None, normalize=False)

    def fit(self, X, y, sample_weight=None, groups=None):
        """Solve for one alpha, or decompose and choose one of ``alphas``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Or the kernel matrix (n, n), if ``kernel="precomputed"``.
        y : array-like of shape (n,) or (n, targets)
        sample_weight : float or array-like of shape (n,), optional
        groups : array-like of shape (n,), optional
            For splitters that keep groups together, with ``alphas``.

        Returns
        -------
        self
        """
        X, y = self._validate(X, y, multi_output=True, y_numeric=True, ensure_min_samples=1)
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        weight = self._weights(sample_weight, X)
        if self.alphas is None:
            self._solve(X, Y, weight, flat=y.ndim == 1)
            return self
        self._check_alphas()
        coefficients = self._search(X, Y, weight, groups).coefficients
        chosen = self.choice_.params
        self.alpha_ = chosen[0] if len(chosen) == 1 else chosen
        self._keep(*self._in_full(coefficients, Y, weight), flat=y.ndim == 1)
        return self

    def _check_alphas(self) -> None:
        if isinstance(self.alphas, str) and self.alphas == "auto":
            return
        alphas = np.atleast_1d(self.alphas)
        if alphas.ndim != 1 or alphas.dtype.kind not in "uif" or not np.all((alphas > 0) & (alphas < np.inf)):
            raise ValueError(f"alphas must be an array of positive penalties, 'auto' or None, got {self.alphas!r}.")

    def _in_full(self, coefficients: Coefficients, Y: np.ndarray, weight: np.ndarray | None) -> Coefficients:
        """With ``(K + alpha W^-1)^-1 Y`` for dual coefficients, which primal ones know up to what K maps to 0."""
        _, intercept, primal = coefficients
        if primal is None:
            return coefficients
        residual = Y - self.kernel_.features(self.X_fit_) @ primal
        return Coefficients((1 if weight is None else weight[:, None]) * residual / self.alpha_, intercept, primal)

    def _solve(self, X: Any, Y: np.ndarray, weight: np.ndarray | None, flat: bool) -> None:
        """One penalty, or a given one for each target: no path is needed."""
        for name in (
            "path_",
            "choice_",
            "filter_",
            "candidates_",
            "solver_",
            "_fold_functions",
            "_space",
            "dual_coef_",
        ):
            self.__dict__.pop(name, None)
        self._plan(X, Y, None)
        alpha, self.n_iter_ = self._alpha(Y.shape[1]), 1
        self.kernel_ = self._kernels()[0].resolve(X, weight)
        self.X_fit_, self.alpha_ = X, alpha[0] if len(alpha) == 1 else alpha
        features = self.kernel_.features(X)
        if features is not None and features.shape[1] < len(Y) and len(alpha) == 1 and alpha[0] > 0:
            dual, primal = solve_features(features, Y, alpha[0], weight)
        else:
            K = self.kernel_(X)
            dual, primal = solve_gram(K.copy() if K is X else K, Y, alpha, weight), None
        self._keep(dual, np.zeros(Y.shape[1]), primal, flat)

    def _plan(self, X: Any, Y: np.ndarray, groups: Any) -> Plan:
        if self.alphas is not None:
            return super()._plan(X, Y, groups)
        if len(self._kernels()) > 1:
            raise ValueError("kernel is a list, but alpha is given, so nothing is chosen: pass alphas, or one kernel.")
        kernel, alpha = self._kernels()[0], self._alpha(Y.shape[1])
        features = kernel.features(X) if len(alpha) == 1 and alpha[0] > 0 else None
        job = Job(
            n=X.shape[0],
            d=X.shape[1],
            targets=Y.shape[1],
            folds=0,
            features=None if features is None else features.shape[1],
            stored=kernel.pairwise,
            several=len(np.unique(alpha)) > 1,
        )
        return plan_of_one_solve(job, self._options())

    def _alpha(self, k: int) -> np.ndarray:
        alpha = np.atleast_1d(self.alpha)
        fits = alpha.shape in ((1,), (k,)) and alpha.dtype.kind in "uif"
        if not fits or not np.all((alpha >= 0) & (alpha < np.inf)):
            raise ValueError(
                f"alpha must be a number, not negative, or one for each of the {k} targets, got {self.alpha!r}. "
                "To choose among several penalties, pass them as alphas."
            )
        return alpha.astype(np.float64)

    def _missed(self, dual: np.ndarray) -> np.ndarray:
        if self.alphas is not None:
            return super()._missed(dual)
        return self.alpha_ * np.linalg.norm(dual, axis=0) / np.sqrt(len(dual))

    def predict(self, X, interval=None):
        """Values of the function at the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            Or kernel values (m, n) between new rows and the training rows, if ``kernel="precomputed"``.
        interval : float, optional
            The coverage of prediction intervals, such as 0.9, by CV+; needs ``intervals=True`` in the constructor.

        Returns
        -------
        ndarray of shape (m,) or (m, targets), or Interval
            With ``interval``, a named tuple ``(prediction, lower, upper)`` of such arrays.
        """
        if interval is not None and self.alphas is None:
            raise ValueError(
                "there are no folds to make intervals of: choose a penalty by setting alphas, and intervals=True."
            )
        return self._values(X) if interval is None else self._interval(X, interval)

    def summary(self) -> str:
        """What was fitted, in words and numbers."""
        check_is_fitted(self)
        if self.alphas is not None:
            return super().summary()
        facts = [
            ("kernel", brief(self.kernel_)),
            ("alpha", self.alpha_),
            ("lam = alpha / n", self.alpha_ / self._n_rows),
        ]
        return summary_text(f"KernelRidge on {self._n_rows} rows", facts, "Pass alphas='auto' to have alpha chosen.")

    @property
    def _n_rows(self) -> int:
        return len(self.dual_coef_)
