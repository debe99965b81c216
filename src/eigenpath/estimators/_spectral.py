"""What the regressor and the classifier share: from a kernel's name to a function, and its prediction by tiles."""

from __future__ import annotations

import re
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..filters import Filter, as_filter
from ..gram import KernelCross
from ..kernels import Kernel
from ..selection import RULES, Rule, as_rule
from ..spectra.base import CENTERINGS, Sample
from ._callable import kernel_of
from ._interval import Interval, cv_plus
from ._plan import Options, Plan
from ._search import FoldFunctions, Search, Winner
from ._summary import Table, percent, show, summary_text

__all__ = ["SpectralEstimator", "brief"]

# What rounding may do beside the residuals for predictions to be in single precision.
_BESIDE = 0.1


def brief(part: Any) -> str:
    """A kernel or filter on one line, its numbers to four digits."""
    line = " ".join(str(part).split())
    return re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda number: f"{float(number[0]):.4g}", line)


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}{'' if n == 1 else 's'}"


class SpectralEstimator(BaseEstimator):
    """A kernel, a filter and a rule; subclasses say what the targets are."""

    kernel: Any
    gamma: Any
    degree: float
    coef0: float
    kernel_params: dict | None
    cv: Any
    scoring: Any
    psd_tol: float | None
    random_state: Any
    solver: str
    precision: str
    tol: float
    max_iter: int
    memory_limit: Any
    warm_start: bool
    # What the user calls the filter's parameter, where that is not the filter's name for it.
    _said: str | None = None

    def _kernels(self) -> list[Kernel]:
        given = self.kernel if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        if not given:
            raise ValueError("kernel is an empty list: name at least one kernel.")
        kernels = [kernel_of(self, kernel) for kernel in given]
        if len(kernels) > 1 and any(kernel.pairwise for kernel in kernels):
            raise ValueError("kernel='precomputed' cannot stand in a list of kernels: X is one matrix.")
        return kernels

    def _filters(self) -> list[Filter]:
        given = self.filter if isinstance(self.filter, (list, tuple)) else [self.filter]
        if not given:
            raise ValueError("filter is an empty list: name at least one filter.")
        return [as_filter(filter) for filter in given]

    def _rule(self) -> Rule:
        if not isinstance(self.rule, str) or self.rule not in RULES:
            return as_rule(self.rule)
        mine = {"cv": self._folding(), "scoring": self.scoring, "random_state": self.random_state}
        kind = RULES[self.rule]
        takes = signature(kind).parameters
        return kind(**{name: value for name, value in mine.items() if name in takes})

    def _folding(self) -> Any:
        return self.cv

    def _sample(self, Y: np.ndarray, weight: np.ndarray | None) -> Sample:
        return Sample(Y, weight, self._centering())

    def _centering(self) -> str | None:
        if self.center not in CENTERINGS:
            raise ValueError(f"center must be one of {', '.join(map(repr, CENTERINGS))}, got {self.center!r}.")
        return self.center

    def _validate(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        return validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], **({"ensure_min_samples": 2} | options)
        )

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not np.any(weight):
            raise ValueError("sample_weight is zero for every row: at least one must be positive.")
        return weight

    def _psd_tol(self, X: Any, kernel: Kernel) -> float | None:
        """A matrix given in single precision has negative eigenvalues of that precision."""
        if self.psd_tol is not None and not (isinstance(self.psd_tol, Real) and self.psd_tol >= 0):
            raise ValueError(f"psd_tol must be a number, not negative, or None, got {self.psd_tol!r}.")
        rounded = kernel.pairwise and X.dtype == np.float32
        return 4 * X.shape[0] * float(np.finfo(np.float32).eps) if self.psd_tol is None and rounded else self.psd_tol

    def _per_target(self) -> bool:
        per_target = getattr(self, "per_target", False)
        if not isinstance(per_target, (bool, np.bool_)):
            raise ValueError(f"per_target must be True or False, got {per_target!r}.")
        return bool(per_target)

    def _search(
        self, X: Any, Y: np.ndarray, weight: np.ndarray | None, groups: Any, classes: np.ndarray | None = None
    ) -> Winner:
        """Find the best kernel, filter and parameter for targets ``Y (n, k)``, and keep what was found."""
        # A fit that is interrupted leaves the estimator unfitted.
        self.__dict__.pop("dual_coef_", None)
        kernels, rule = self._kernels(), self._rule()
        if kernels[0].pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square matrix of kernel values in fit, got X of shape {X.shape}."
            )
        X = X.toarray() if kernels[0].pairwise and issparse(X) else X
        labels = Y[:, 0] if Y.shape[1] == 1 else Y.argmax(axis=1) if classes is not None else Y
        search = Search(
            # Spectra are taken in double precision, whatever the precision of the data and of predictions.
            X=X.astype(np.float64, copy=False),
            sample=self._sample(Y, weight),
            filters=self._filters(),
            rule=rule,
            folds=rule.splits(X, labels, classes=classes, groups=groups),
            classes=classes,
            per_target=self._per_target(),
            psd_tol=self._psd_tol(X, kernels[0]),
            random_state=check_random_state(self.random_state).randint(2**31 - 1),
            options=self._options(),
            intervals=getattr(self, "intervals", False),
            warm_start=self.warm_start,
            space=self.__dict__.pop("_space", None),
        )
        winner = search.run(kernels)
        if search.space is not None:
            self._space = search.space
        self.kernel_, self.path_, self.choice_ = winner.kernel, winner.path, winner.choice
        self.filter_ = winner.choice.fixed
        self.candidates_ = search.candidates
        self.solver_, self._fold_functions = winner.solver, winner.folds
        self.n_iter_ = winner.solver.steps
        self.X_fit_ = X
        return winner

    def _options(self) -> Options:
        return Options(self.solver, self.precision, self.tol, self.max_iter, self.memory_limit)

    def plan(self, X: Any, y: Any = None, groups: Any = None) -> Plan:
        """The route that ``fit`` would take, its memory, operations and time, without fitting.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n, d)
        y : array-like of shape (n,) or (n, targets), optional
            Only its shape, and in classification the number of classes, matters; one target by default.
        groups : array-like of shape (n,), optional
            For splitters that keep groups together.

        Returns
        -------
        Plan
            Of one kernel or bandwidth; print it.
        """
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
        return self._plan(X, self._targets_like(X.shape[0], y), groups)

    def _plan(self, X: Any, Y: np.ndarray, groups: Any) -> Plan:
        rule = self._rule()
        kernels = self._kernels()
        search = Search(
            X=X,
            sample=self._sample(Y, None),
            filters=self._filters(),
            rule=rule,
            folds=rule.splits(X, Y[:, 0], groups=groups),
            options=self._options(),
        )
        search.announce(kernels)
        return search.plan(kernels[0], kernels[0].features(X))

    def _targets_like(self, n: int, y: Any) -> np.ndarray:
        k = 1 if y is None or np.ndim(y) == 1 else np.shape(y)[1]
        return np.zeros((n, k))

    def _keep(self, dual: np.ndarray, intercept: np.ndarray, primal: np.ndarray | None, flat: bool) -> None:
        """Store the function, in the data's precision; a single target given flat gets flat coefficients."""
        dtype = self.X_fit_.dtype if self._single_is_enough(dual) else np.dtype(np.float64)
        self.dual_coef_ = (dual[:, 0] if flat else dual).astype(dtype, copy=False)
        self.intercept_ = (intercept[0] if flat else intercept).astype(dtype, copy=False)
        if primal is not None:
            self.coef_ = (primal[:, 0] if flat else primal.T).astype(dtype, copy=False)
        elif hasattr(self, "coef_"):
            del self.coef_

    def _single_is_enough(self, dual: np.ndarray) -> bool:
        """Whether rounding in float32 is small beside what the function misses anyway; large coefficients cancel."""
        if self.X_fit_.dtype != np.float32:
            return False
        bound = self.kernel_.bound if np.isfinite(self.kernel_.bound) else self.kernel_.diag(self.X_fit_).max()
        rounding = float(np.finfo(np.float32).eps) * bound * np.linalg.norm(dual, axis=0)
        return bool(np.all(rounding <= _BESIDE * self._missed(dual)))

    def _missed(self, dual: np.ndarray) -> np.ndarray:
        """The root mean square ``(k,)`` of the residuals."""
        return np.sqrt(self.path_.training_error[self.choice_.index, np.arange(dual.shape[1])])

    def _values(self, X: Any) -> np.ndarray:
        """The function at the rows of X, ``(m,)`` or ``(m, k)``."""
        X = self._validate_new(X)
        if hasattr(self, "coef_"):
            values = self.kernel_.features(X) @ self.coef_.T + self.intercept_
        else:
            values = self._product(X, self.dual_coef_) + self.intercept_
        return values.astype(np.result_type(X.dtype, self.X_fit_.dtype), copy=False)

    def _validate_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)

    def _product(self, X: Any, dual: np.ndarray) -> np.ndarray:
        """``k(X, X_fit) @ dual`` by tiles, in the precision of the data."""
        if self.kernel_.pairwise:
            # Not X itself: the kernel may be a multiple of it.
            return self.kernel_(X, self.X_fit_) @ dual
        dtype = np.float32 if X.dtype == dual.dtype == np.float32 else np.float64
        out = KernelCross(self.kernel_, X, self.X_fit_, dtype) @ dual
        return out.astype(dtype, copy=False)

    def _interval(self, X: Any, coverage: float) -> Interval:
        """Predictions with their CV+ intervals."""
        if not (isinstance(coverage, Real) and 0 < coverage < 1):
            raise ValueError(f"interval must be the coverage wanted, between 0 and 1, got {coverage!r}.")
        check_is_fitted(self)
        folds = getattr(self, "_fold_functions", None)
        if folds is None:
            raise ValueError(
                "there are no folds to make intervals of: fit with intervals=True and a rule that holds every row out "
                "once, as rule='cv' does."
            )
        prediction, X = self._values(X), self._validate_new(X)
        each = [np.stack(cv_plus(v, r, folds.fold, coverage, folds.weight)) for v, r in self._fold_values(X, folds)]
        ends = np.stack(each, axis=2)
        shape = prediction.shape
        return Interval(prediction, ends[0].reshape(shape), ends[1].reshape(shape))

    def _fold_values(self, X: Any, folds: FoldFunctions) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each target, the values ``(m, folds)`` of all folds' functions, and what the folds missed."""
        functions = folds.functions
        if functions[0].primal is not None:
            features = self.kernel_.features(X)
            each = [features @ one.primal + one.intercept for one in functions]
        else:
            k = functions[0].dual.shape[1]
            together = self._product(X, np.hstack([one.dual for one in functions]))
            each = [together[:, f * k : (f + 1) * k] + one.intercept for f, one in enumerate(functions)]
        values = np.stack(each, axis=1)
        return [(values[:, :, target], folds.missed[:, target]) for target in range(values.shape[2])]

    def __getstate__(self) -> dict[str, Any]:
        # A Krylov space is as large as the kernel matrix, and of this process.
        return {name: value for name, value in super().__getstate__().items() if name != "_space"}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dual_coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed" or getattr(self.kernel, "pairwise", False)
        return tags

    def summary(self) -> str:
        """What was chosen and why, in words and numbers.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        path, choice = self.path_, self.choice_
        n, k = path.sample.y.shape
        at = choice.index
        mine = at, np.arange(k)
        nearest = "" if np.array_equal(choice.params, path.params[at]) else ", the nearest; what follows is its own"
        facts = [
            ("data", f"{n} rows, {_count(self.n_features_in_, 'column')}, {_count(k, 'target')}"),
            ("kernel", brief(self.kernel_)),
            ("filter", brief(choice.filter.with_value(None))),
            (self._said or choice.filter.parameter, choice.params),
            ("chosen as", choice.why),
            ("solver", self._solved()),
            ("place on the path", f"{show(at + 1)} of {len(path)}{nearest}"),
            ("degrees of freedom", path.degrees_of_freedom[at]),
            ("components kept", path.components[at]),
            ("norm of the function", float(np.sqrt((path.norm[mine] ** 2).mean()))),
            ("training error (mse)", float(path.training_error[mine].mean())),
            ("of the target's variance", percent(self._unexplained(path.training_error[mine]))),
        ]
        return summary_text(
            f"{type(self).__name__}: {type(choice.filter).__name__} on {n} rows", facts, *self._tables(at)
        )

    def _solved(self) -> str:
        solver = self.solver_
        bound = "" if solver.error is None else f"; within {solver.error:.1g} of the exact function"
        rounding = f", and {solver.rounding:.1g} for rounding" if self.precision == "mixed" and solver.rounding else ""
        return f"{solver.route}: {solver.how}{bound}{rounding}"

    def _unexplained(self, error: np.ndarray) -> float:
        sample = self.path_.sample
        power = float((sample.target**2).sum() / sample.total)
        return float(error.sum()) / power if power > 0 else 0.0

    def _tables(self, at: np.ndarray) -> list[Table | str]:
        path = self.path_
        columns = path.as_dict()
        header = [self._said or path.filter.parameter, *list(columns)[1:], ""]
        # The choice, its neighbours, and the ends of the path.
        near = (at[:, None] + [-10, -3, 0, 3, 10]).ravel()
        places = np.union1d([0, len(path) - 1], near[(near >= 0) & (near < len(path))])
        rows = [[*(column[p] for column in columns.values()), "<- chosen" if p in at else ""] for p in places]
        parts: list[Table | str] = [Table(header, rows)]
        if len(self.candidates_) > 1:
            best = sorted(self.candidates_, key=lambda one: one.value)[:8]
            parts.append(f"The best of {len(self.candidates_)} pairs of kernel and filter (lower scores are better):")
            parts.append(
                Table(["kernel", "filter", "score"], [(brief(c.kernel), brief(c.filter), c.value) for c in best])
            )
        if len(path) - 1 in at and len(path) > 1:
            parts.append(f"The choice is the end of the path with the least regularization ({show(path.params[-1])}).")
        if 0 in at and len(path) > 1:
            nothing = "" if path.components[0] else ": nothing is learned"
            parts.append(f"The choice is the end of the path with the most regularization{nothing}.")
        return parts
