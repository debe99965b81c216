"""The kernel projection machine: hinge loss in the leading principal directions, without a penalty."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..projection.calibration import fit_sharpness, probabilities
from ..projection.classes import decide
from ..projection.path import RULES, Study, study
from ._points import class_folds, class_weights, make_points
from ._projection import candidate_kernels, projection_summary

__all__ = ["KernelProjectionMachine"]

# The length of the path when nothing is said; see docs/projection-machine.md for what it costs.
MAX_COMPONENTS = 60
CHUNK = 2048


def _has_folds(model: KernelProjectionMachine) -> bool:
    # After fit it is the fit that counts, not what cv was set to since.
    if getattr(model, "sharpness_", model.cv) is None:
        raise AttributeError("predict_proba is calibrated on held-out folds, and cv=None asks for none.")
    return True


class KernelProjectionMachine(ClassifierMixin, BaseEstimator):
    r"""A classifier regularized by dimension alone.

    .. math:: f_D = \arg\min \frac{1}{N} \sum_i w_i \bigl(1 - y_i f(x_i)\bigr)_+
        \quad\text{over}\quad f(x) = \sum_{j \le D} \beta_j v_j(x) + b,

    where :math:`v_1, v_2, \ldots` are the principal directions of the (uncentred) kernel matrix, in order of decreasing
    eigenvalue. There is no penalty; D regularizes. All D are solved in one pass, each linear program from the last
    one's optimal basis, and D is chosen from the whole path, together with the kernel if there are several.

    Parameters
    ----------
    kernel : str, Kernel, callable, or a list of these, default="rbf"
        Of a list, the pair of kernel and D with the best criterion is chosen.
    gamma : float, "scale", "median", "auto" or None, default="median"
        Parameter of kernels given by name. ``"median"`` is one over the median distance of rows; ``"auto"`` chooses
        among five widths around it. For kernels of dot products both mean ``"scale"``.
    degree, coef0 : float, default=3, 1
        Parameters of kernels given by name.
    kernel_params : dict, optional
        Further parameters of kernels given by name, or keyword arguments of a callable.
    n_components : int, optional
        The dimension D; None lets ``rule`` choose.
    max_components : int, optional
        The last dimension of the path. By default 60, or ``n_components`` if that is given.
    rule : {"cv", "penalty"}, default="cv"
        ``"cv"``: the least mean error on held-out folds. ``"penalty"``: the least training hinge risk plus
        :math:`2 \hat\kappa D`, where the slope :math:`\hat\kappa` is read off the far end of the path (slope
        heuristic); no folds are needed for it. In both, ties go to the smaller D.
    cv : int, scikit-learn splitter, iterable of (train, test), or None, default=5
        A number asks for that many shuffled stratified folds; there are fewer if a class has fewer rows. With
        ``rule="penalty"``, or one kernel and a given ``n_components``, folds only serve `predict_proba`; None then
        leaves both out.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of classes. ``"balanced"`` gives all classes the same total weight.
    psd_tol : float, optional
        The share of the largest eigenvalue of the kernel matrix that others may fall below zero. Those are left out.
        The default allows for rounding only.
    random_state : int, RandomState or None, default=0
        Seeds the shuffling of folds, and the sample of rows from which a median distance is taken.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
    n_components_ : int
        The chosen D.
    kernel_ : Kernel
        The chosen kernel, with all parameters in numbers.
    path_ : ProjectionPath
        Training hinge risk, training error, and the folds' errors for every D; ``path_.as_dict()`` makes a data frame.
    paths_ : list of ProjectionPath
        Of all kernels, in the order of ``kernels_``.
    kernels_ : list of Kernel
    eigenvalues_ : ndarray of shape (p,)
        Of the kernel matrix (weights count as repetitions), for all directions on the path.
    components_ : ndarray of shape (points, p)
        The principal directions' values at the rows of ``X_fit_``.
    beta_ : ndarray of shape (problems, D)
        One problem for two classes, else one for each class.
    intercept_ : ndarray of shape (problems,)
    beta_path_ : ndarray of shape (p, problems, p)
        Those of every dimension; zero beyond it.
    intercept_path_ : ndarray of shape (p, problems)
    alpha_ : ndarray of shape (problems, points)
        The same functions in terms of the kernel: ``kernel_(X, X_fit_) @ alpha_.T + intercept_``.
    X_fit_ : ndarray of shape (points, d)
        The distinct training rows of positive weight.
    fit_rows_ : ndarray of shape (points,)
        Which row of X each of them is (the first of equal ones).
    sharpness_ : float or None
        How fast probabilities rise with the decision function; None without folds.

    Notes
    -----
    Weights count as repeated rows, exactly: in the linear programs, in the spectrum, in fold errors and in
    probabilities. Rows that repeat are one point with a weight, so repetitions cost nothing.

    Where several functions are optimal, which is the rule once the training risk is zero, the one of largest margin is
    taken. From there on the path repeats it.

    References
    ----------
    G. Blanchard, P. Massart, R. Vert, L. Zwald, "Kernel Projection Machine: a New Tool for Pattern Recognition",
    NIPS 17, 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigenpath import KernelProjectionMachine
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelProjectionMachine().fit(X[:100], y[:100])
    >>> model.score(X[100:], y[100:]) > 0.9
    True
    >>> bool((model.path_.hinge_risk[1:] <= model.path_.hinge_risk[:-1] + 1e-9).all())
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "median",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        n_components: int | None = None,
        max_components: int | None = None,
        rule: str = "cv",
        cv: Any = 5,
        class_weight: Any = None,
        psd_tol: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.max_components = max_components
        self.rule = rule
        self.cv = cv
        self.class_weight = class_weight
        self.psd_tol = psd_tol
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Decompose, solve every dimension, choose.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n, d)
            Or the kernel matrix (n, n), if ``kernel="precomputed"``.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; a weight of k counts like k equal rows, zero like none.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        code, weight = self._encode(y, weight)
        pairwise = self.__sklearn_tags__().input_tags.pairwise
        if pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square matrix of kernel values, got X of shape {X.shape}.")
        # A fit that is interrupted leaves the estimator unfitted.
        self.__dict__.pop("alpha_", None)
        points = make_points(X, weight, merge=not pairwise)
        W = points.weigh(code, weight, len(self.classes_))
        folds = class_folds(self.cv, X, code, weight, self.classes_, points, self.random_state)
        self.fit_rows_ = points.rows
        self.X_fit_ = X[np.ix_(points.rows, points.rows)] if pairwise else X[points.rows]
        self._choose(W, folds)
        if pairwise:
            del self.X_fit_
        return self

    def _check_parameters(self) -> None:
        for name in ("n_components", "max_components"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value < 1):
                raise ValueError(f"{name}={value!r} is not valid: it must be a whole number of at least 1, or None.")
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}, got {self.rule!r}.")
        if self.n_components and self.max_components and self.n_components > self.max_components:
            raise ValueError(f"n_components={self.n_components!r} is more than max_components={self.max_components!r}.")
        several = isinstance(self.kernel, (list, tuple)) or (isinstance(self.gamma, str) and self.gamma == "auto")
        if self.cv is None and self.rule == "cv" and (several or self.n_components is None):
            raise ValueError(
                "cv=None leaves rule='cv' without folds: give cv, use rule='penalty', or set n_components and a kernel."
            )

    def _encode(self, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Class numbers, and weights with those of the classes in them."""
        present = weight > 0
        self.classes_ = np.unique(y[present])
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class only, {self.classes_.tolist()[0]!r} (in rows of positive weight): a classifier needs "
                "at least two classes."
            )
        # Labels of absent rows may be anything; they are never looked at.
        code = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        totals = np.bincount(code[present], weight[present])
        return code, weight * class_weights(self.class_weight, self.classes_, totals)[code]

    def _choose(self, W: np.ndarray, folds: list) -> None:
        """Study every kernel; keep the best of them."""
        best: Study | None = None
        self.kernels_ = candidate_kernels(self, self.X_fit_, W.sum(axis=1))
        self.paths_ = []
        for kernel in self.kernels_:
            new = self._study(kernel, W, folds)
            self.paths_.append(new.path)
            if best is None or new.beats(best):
                best, self.kernel_, self.path_ = new, kernel, new.path
        assert best is not None
        self._warn_of_rank()
        self._keep(best, W)

    def _study(self, kernel: Any, W: np.ndarray, folds: list) -> Study:
        if self.psd_tol is not None and not (isinstance(self.psd_tol, Real) and self.psd_tol >= 0):
            raise ValueError(f"psd_tol must be a number, not negative, or None, got {self.psd_tol!r}.")
        longest = min(self.n_components or self.max_components or MAX_COMPONENTS, len(W))
        K = kernel(self.X_fit_)
        return study(K, W, folds, longest, self.n_components, self.rule, self.psd_tol, kernel.psd)

    def _warn_of_rank(self) -> None:
        if self.max_components is not None and len(self.path_) < (self.n_components or self.max_components):
            warnings.warn(
                f"max_components={self.max_components!r} is more than the numerical rank {len(self.path_)} of the matrix "
                f"of {self.kernel_!r}: the path ends there.",
                UserWarning,
                stacklevel=4,
            )

    def _keep(self, best: Study, W: np.ndarray) -> None:
        self.n_components_ = D = best.chosen
        directions, paths = best.machines
        self.eigenvalues_, self.components_ = directions.values, directions.vectors
        # The programs are in directions of unit mean square, the attributes in those of unit length.
        self.beta_path_ = np.sqrt(directions.total) * np.stack([path.beta for path in paths], axis=1)
        self.intercept_path_ = np.stack([path.intercept for path in paths], axis=1)
        self.beta_, self.intercept_ = self.beta_path_[D - 1, :, :D], self.intercept_path_[D - 1]
        self._lift = W.sum(axis=1)[:, None] * self.components_ / self.eigenvalues_
        self.sharpness_ = fit_sharpness(best.held_out, best.held_out_weight) if len(best.held_out) else None
        self.alpha_ = self.beta_ @ self._lift[:, :D].T

    def decision_function(self, X):
        """The function(s) whose sign, or largest value, is the label.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (m, d)
            Or the kernel's values (m, n) against all rows that were given to `fit`, if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (m,), or (m, classes) for more than two classes
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X) -> np.ndarray:
        """Decision values (m, problems), in blocks of rows."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._blocks(X, self.alpha_.T) + self.intercept_

    def _blocks(self, X, coefficients: np.ndarray) -> np.ndarray:
        """Kernel values against the training points, times their coefficients."""
        blocks = (X[start : start + CHUNK] for start in range(0, X.shape[0], CHUNK))
        return np.concatenate([self._cross(block) @ coefficients for block in blocks])

    def _cross(self, X) -> np.ndarray:
        if not self.kernel_.pairwise:
            return self.kernel_(X, self.X_fit_)
        # The kernel may be a multiple of X; of the training rows it only needs the number.
        return self.kernel_(X[:, self.fit_rows_], self.fit_rows_)

    def predict(self, X):
        """Labels of the rows of X, shape (m,)."""
        scores = self._scores(X)
        return self.classes_[decide(scores)]

    def staged_decision_function(self, X):
        """Decision functions of D = 1, 2, … in turn, each as `decision_function` would give it."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        features = self._blocks(X, self._lift)
        for beta, intercept in zip(self.beta_path_, self.intercept_path_, strict=True):
            scores = features @ beta.T + intercept
            yield scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_predict(self, X):
        """Labels by D = 1, 2, … in turn, each of shape (m,).

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from eigenpath import KernelProjectionMachine
        >>> X, y = make_moons(200, noise=0.2, random_state=0)
        >>> model = KernelProjectionMachine(max_components=12).fit(X[:100], y[:100])
        >>> errors = [(labels != y[100:]).mean() for labels in model.staged_predict(X[100:])]
        >>> len(errors), bool(errors[0] > min(errors))
        (12, True)
        """
        for scores in self.staged_decision_function(X):
            yield self.classes_[decide(scores.reshape(len(scores), -1))]

    @available_if(_has_folds)
    def predict_proba(self, X):
        r"""Class probabilities, proportional to :math:`\exp(a \operatorname{asinh} f_c(x))`.

        For two classes, the decision values are 0 and f(x). The one number a, ``sharpness_``, maximizes the likelihood
        of the folds' held-out labels. The class of largest probability is that of `predict`.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (m, d)

        Returns
        -------
        ndarray of shape (m, classes)
        """
        scores = self._scores(X)
        assert self.sharpness_ is not None
        return probabilities(scores, self.sharpness_)

    def score(self, X, y, sample_weight=None):
        """The weighted share of right labels.

        Labels that `fit` has not seen cannot be predicted: they count as errors, with a warning.
        """
        check_is_fitted(self)
        unseen = np.setdiff1d(unique_labels(y), self.classes_)
        if len(unseen):
            warnings.warn(
                f"y has labels that fit has not seen: {unseen.tolist()}; they count as errors.",
                UserWarning,
                stacklevel=2,
            )
        return super().score(X, y, sample_weight)

    def summary(self) -> str:
        """What was chosen and why, in words and numbers."""
        check_is_fitted(self)
        return projection_summary(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "alpha_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed" or getattr(self.kernel, "pairwise", False)
        return tags
