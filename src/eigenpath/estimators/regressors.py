"""Regression by spectral regularization."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from ..filters import TSVD
from ._spectral import SpectralEstimator

__all__ = ["KernelPCR", "SpectralRegressor"]


class SpectralRegressor(MultiOutputMixin, RegressorMixin, SpectralEstimator):
    r"""Kernel regression by any spectral filter, tuned on its whole path from one decomposition.

    .. math:: f(x) = b + \sum_i c_i k(x, x_i), \qquad c = \tfrac1n g_\lambda(K / n) (y - b)

    Parameters
    ----------
    kernel : str, Kernel, callable or list of them, default="rbf"
        A name, a `Kernel`, a vectorized function ``f(X, Z) -> matrix``, a Gaussian-process kernel of scikit-learn, or
        ``"precomputed"``. From a list, the rule chooses.
    gamma : float, {"auto", "scale", "median"} or None, default="auto"
        The kernel's bandwidth, where it has one. ``"auto"`` is chosen together with the filter's parameter, ``"scale"``
        is 1 / (d var(X)), ``"median"`` the inverse of the median squared distance, None 1 / d.
    degree, coef0 : float
        Of the polynomial and sigmoid kernels.
    kernel_params : dict, optional
        Further parameters of a kernel given by name.
    filter : str, Filter or list of them, default="tikhonov"
        A name in `FILTERS` or a `Filter`, whose own parameter may be fixed, a path, or None: the default path. From a
        list, the rule chooses.
    rule : str or Rule, default="cv"
        How the parameter is chosen: a name in `RULES`, which then takes ``cv``, ``scoring`` and ``random_state`` from
        here, or a `Rule`.
    cv : int, splitter or iterable, default=5
        Folds, where the rule needs them. A number means that many shuffled folds.
    scoring : str or callable, optional
        ``"mse"`` (default), ``"mae"``, ``"r2"``, or a scikit-learn scorer.
    center : {"target", "features", None}, default="target"
        Centre the targets; or the targets and the kernel's features, which leaves the intercept unpenalized; or nothing.
    per_target : bool, default=False
        Whether each target gets a parameter of its own.
    psd_tol : float, optional
        How far eigenvalues of the kernel matrix may fall below zero, as a share of the largest, and be cut off there.
        The default allows for rounding.
    random_state : int, RandomState or None, default=0
        Seeds the folds and subsamples. The default makes every fit reproducible.
    solver : {"auto", "exact", "krylov"}, default="auto"
        All eigenvalues by LAPACK, or as much of the spectrum as the choice needs by a Krylov method. ``"auto"`` takes
        the first up to 1500 rows (4000 for `TSVD`), or if the rule needs all eigenvalues. A kernel with few explicit
        features needs neither.
    precision : {"double", "mixed"}, default="double"
        ``"mixed"`` keeps the kernel matrix in float32 on the Krylov route: half the memory, up to twice the speed.
    tol : float, default=1e-3
        How large the Krylov route's error may be at the choice, as a share of what the function misses of the targets.
    max_iter : int, default=500
        The most Krylov steps.
    memory_limit : int or str, optional
        Bytes that a fit may take besides the data, or text like ``"8GB"``; by default 70 % of what is free.
    warm_start : bool, default=False
        Whether to keep the Krylov space of a single kernel, so that the next fit to the same data with the same folds
        goes on from it, as after raising ``max_iter`` or lowering ``tol``.
    intervals : bool, default=False
        Whether to keep the folds' functions, so that ``predict(X, interval=...)`` gives prediction intervals.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel chosen, all its parameters numbers.
    filter_ : Filter
        The filter chosen, with its parameter.
    choice_ : Choice
        The parameter, its place on the path, its score, and why it was chosen.
    path_ : Path
        Training error, norm, degrees of freedom and fold scores for every parameter.
    candidates_ : list of Candidate
        Every pair of kernel and filter tried, with its score (lower is better).
    dual_coef_ : ndarray of shape (n,) or (n, targets)
    intercept_ : float or ndarray of shape (targets,)
    coef_ : ndarray of shape (d,) or (targets, d)
        Only if the kernel has explicit features and there are fewer of them than rows.
    X_fit_ : {ndarray, CSR matrix} of shape (n, d)
    solver_ : Solver
        How it was computed: the route, in words, and on the Krylov route a bound on the error of the function.
    n_iter_ : int
        The number of Krylov steps, 1 on other routes.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath import SpectralRegressor
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = SpectralRegressor(filter="landweber").fit(X, np.sin(X[:, 0]))
    >>> float(model.predict([[1.5]]).round(3)[0])
    0.997
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
        per_target: bool = False,
        psd_tol: float | None = None,
        random_state: Any = 0,
        solver: str = "auto",
        precision: str = "double",
        tol: float = 1e-3,
        max_iter: int = 500,
        memory_limit: Any = None,
        warm_start: bool = False,
        intervals: bool = False,
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
        self.per_target = per_target
        self.psd_tol = psd_tol
        self.random_state = random_state
        self.solver = solver
        self.precision = precision
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.intervals = intervals

    def fit(self, X, y, sample_weight=None, groups=None):
        """Decompose, filter, choose.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n, d)
            Or the kernel matrix (n, n), if ``kernel="precomputed"``.
        y : array-like of shape (n,) or (n, targets)
        sample_weight : array-like of shape (n,), optional
            A weight counts like that many repetitions of the row.
        groups : array-like of shape (n,), optional
            For splitters that keep groups together.

        Returns
        -------
        self
        """
        X, y = self._validate(X, y, multi_output=True, y_numeric=True)
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        winner = self._search(X, Y, self._weights(sample_weight, X), groups)
        self._keep(*winner.coefficients, flat=y.ndim == 1)
        return self

    def predict(self, X, interval=None):
        """Values of the function at the rows of X.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (m, d)
            Or kernel values (m, n) between new rows and the training rows, if ``kernel="precomputed"``.
        interval : float, optional
            The coverage of prediction intervals, such as 0.9, by CV+; needs ``intervals=True`` in the constructor.

        Returns
        -------
        ndarray of shape (m,) or (m, targets), or Interval
            With ``interval``, a named tuple ``(prediction, lower, upper)`` of such arrays.
        """
        return self._values(X) if interval is None else self._interval(X, interval)


class KernelPCR(SpectralRegressor):
    r"""Kernel principal component regression: ordinary least squares on the leading kernel principal components.

    The same function, point by point, as spectral cut-off with centred features; no further penalty.

    Parameters
    ----------
    n_components : int, float or array-like, optional
        How many components; a float below 1 is the share of variance that they must reach; from an array, or by
        default from the whole path, the rule chooses.
    lam : float or array-like, optional
        A threshold on the eigenvalues of the centred K/n, instead of ``n_components``.
    kernel, gamma, degree, coef0, kernel_params, rule, cv, scoring, per_target, psd_tol, random_state, solver, \
    precision, tol, max_iter, memory_limit, warm_start, intervals
        As in `SpectralRegressor`.

    Attributes
    ----------
    n_components_ : int or ndarray of shape (targets,)
        The number of components kept.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath import KernelPCR
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = KernelPCR(n_components=6, gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> model.n_components_, float(model.predict([[1.5]]).round(1)[0])
    (6, 1.0)
    """

    def __init__(
        self,
        n_components: Any = None,
        *,
        lam: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "auto",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        rule: Any = "cv",
        cv: Any = 5,
        scoring: Any = None,
        per_target: bool = False,
        psd_tol: float | None = None,
        random_state: Any = 0,
        solver: str = "auto",
        precision: str = "double",
        tol: float = 1e-3,
        max_iter: int = 500,
        memory_limit: Any = None,
        warm_start: bool = False,
        intervals: bool = False,
    ) -> None:
        self.n_components = n_components
        self.lam = lam
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.rule = rule
        self.cv = cv
        self.scoring = scoring
        self.per_target = per_target
        self.psd_tol = psd_tol
        self.random_state = random_state
        self.solver = solver
        self.precision = precision
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.intervals = intervals

    @property
    def filter(self) -> TSVD:
        return TSVD(n_components=self.n_components, lam=self.lam)

    center = "features"

    def fit(self, X, y, sample_weight=None, groups=None):
        """Decompose and choose the number of components; see `SpectralRegressor.fit`."""
        super().fit(X, y, sample_weight, groups)
        counts = self.choice_.filter.components(self.path_.t, self.choice_.params)
        self.n_components_ = int(counts[0]) if len(counts) == 1 else counts
        return self
