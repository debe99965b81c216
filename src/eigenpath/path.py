"""What one spectrum and one filter say for every value of the filter's parameter."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .filters import Filter
from .spectra.base import Coefficients, Decomposition, Sample

__all__ = ["Path"]


class Path:
    """The whole regularization path, from most to least regularization.

    Parameters
    ----------
    decomposition : Decomposition
    filter : Filter
    params : array-like of shape (p,), optional
        Values of the filter's parameter; the filter's own path by default.

    Attributes
    ----------
    params : ndarray of shape (p,)
    training_error : ndarray of shape (p, k)
        Weighted mean squared error on the training data, for each of k targets.
    norm : ndarray of shape (p, k)
        The norm of the function (without its intercept) in the kernel's space.
    degrees_of_freedom : ndarray of shape (p,)
        The trace of the matrix that maps targets to fits. NaN where only a part of the spectrum is known.
    components : ndarray of shape (p,)
        How many components survive the filter.
    scores, scores_std : ndarray of shape (p, k) or None
        What the rule that chose thought of each parameter: lower is better. Set by the rule.
    fold_scores : ndarray of shape (folds, p, k) or None
    error_bound : ndarray of shape (p,) or None
        Of the path that an estimator chose from a part of the spectrum: how far each function may be from the exact one,
        for the worst fold and target, as a root mean square over the training rows and a share of the target's.
    """

    def __init__(self, decomposition: Decomposition, filter: Filter, params: Any = None) -> None:
        self.filter = filter
        self.sample: Sample = decomposition.sample
        self.spectra = decomposition.spectra
        self.complete = decomposition.complete
        if not np.any(self.t > 0):
            raise ValueError(
                "the kernel matrix is zero, so there is nothing to learn from: after centring, all rows of X look "
                "equal to the kernel. Check X for constant data and the kernel's parameters."
            )
        self.params = filter.path(self.t) if params is None else np.asarray(params)
        self.scores: np.ndarray | None = None
        self.scores_std: np.ndarray | None = None
        self.fold_scores: np.ndarray | None = None
        self.error_bound: np.ndarray | None = None
        self._decomposition: Decomposition | None = decomposition

    def __len__(self) -> int:
        return len(self.params)

    def __repr__(self) -> str:
        return f"Path({self.filter!r}, {len(self)} values of {self.filter.parameter})"

    @property
    def t(self) -> np.ndarray:
        """Eigenvalues of K/n, decreasing."""
        return self.spectra[0].t

    @property
    def decomposition(self) -> Decomposition:
        """Where the path comes from, while a rule is choosing."""
        if self._decomposition is None:
            raise RuntimeError("this path was released after fit: refit to evaluate it on other folds.")
        return self._decomposition

    def release(self) -> Path:
        """Let go of the data, so that a fitted estimator holds the record alone."""
        for name in ("training_error", "norm", "degrees_of_freedom", "components"):
            getattr(self, name)
        vars(self).pop("_tables", None)
        self._decomposition = None
        return self

    def gains(self, spectrum: int = 0) -> np.ndarray:
        """The ``(p, r)`` table of gains on one of the spectra."""
        return self.filter.gains(self.spectra[spectrum].t, self.params)

    @cached_property
    def _tables(self) -> list[np.ndarray]:
        return [self.gains(i) for i in range(len(self.spectra))]

    @cached_property
    def training_error(self) -> np.ndarray:
        return np.hstack([(1 - s.t * g) ** 2 @ s.b**2 + s.outside for s, g in zip(self.spectra, self._tables)])

    @cached_property
    def norm(self) -> np.ndarray:
        ratio = self.sample.total / self.sample.scale
        return np.sqrt(ratio * np.hstack([(s.t * g**2) @ s.b**2 for s, g in zip(self.spectra, self._tables)]))

    @cached_property
    def degrees_of_freedom(self) -> np.ndarray:
        if not self.complete:
            return np.full(len(self), np.nan)
        if not self.sample.center:
            return self._tables[0] @ self.t
        # One for the intercept; what the kernel fits of a constant is not counted again.
        constant = self.spectra[0].constant
        new = self.t if constant is None else self.t * (1 - constant**2)
        return 1 + self._tables[0] @ new

    @cached_property
    def components(self) -> np.ndarray:
        return self.filter.components(self.t, self.params)

    def held_out(self, fold: int) -> np.ndarray:
        """Predictions ``(p, m, k)`` on a fold's test part, by models that saw its training part alone."""
        return self.decomposition.held_out(fold, self.filter, self.params)

    def coefficients(self, filter: Filter, params: np.ndarray) -> Coefficients:
        """The function of a filter at one parameter, or at one for each target."""
        coordinates = []
        for spectrum in self.spectra:
            mine = params if len(params) == 1 else params[spectrum.columns]
            coordinates.append(filter.gains(spectrum.t, mine).T * spectrum.b)
        return self.decomposition.lift(coordinates)

    def as_dict(self) -> dict[str, np.ndarray]:
        """Columns of equal length, ready for a data frame; targets are averaged."""
        columns = {
            self.filter.parameter: self.params,
            "training_error": self.training_error.mean(axis=1),
            "norm": np.sqrt((self.norm**2).mean(axis=1)),
            "degrees_of_freedom": self.degrees_of_freedom,
            "components": self.components,
        }
        if self.scores is not None:
            columns["score"] = self.scores.mean(axis=1)
        if self.scores_std is not None:
            columns["score_std"] = self.scores_std.mean(axis=1)
        if self.error_bound is not None:
            columns["error_bound"] = self.error_bound
        return columns
