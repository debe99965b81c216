"""What a spectral filter is: one formula ``g(t)``, its parameter, its path, its qualification."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

__all__ = ["Filter", "IterativeFilter", "rank_of"]

_POINTS = 100
# "Nothing learned" passes less than 1 % of the largest component; "interpolation" misses less than 1 % of the smallest.
_MARGIN = 100.0


def rank_of(t: np.ndarray) -> int:
    """The number of eigenvalues above rounding level."""
    t = np.asarray(t)
    return int(np.count_nonzero(t > _rounding_level(t))) if t.size else 0


def _rounding_level(t: np.ndarray) -> float:
    # LAPACK's eigenvalues are off by a few eps of the largest, hardly more for larger matrices. A level that grew with
    # len(t) would let rows of weight zero, and rows repeated instead of weighted, move the path.
    return 128 * float(np.finfo(np.float64).eps) * float(t[0])


class Filter(BaseEstimator, ABC):
    r"""A family of functions :math:`g_\lambda(t)` that approach :math:`1/t` as the regularization vanishes.

    A subclass gives the formula, the name of its parameter and its qualification. The parameter is a constructor
    argument that is ``None`` (chosen on the path), a number (fixed) or an array (the path to choose from).

    Attributes
    ----------
    parameter : str
        The name of the constructor argument that regularizes.
    qualification : float
        The largest ``q`` with ``sup |1 - t g(t)| t**q <= const * lam**q``.
    resolvent : bool
        Whether ``g(t) = 1 / (t + lam)``: folds are then linear solves and leave-one-out has a closed form.
    cuts : bool
        Whether ``g`` jumps, so that it keeps or drops whole components.
    whole : bool
        Whether a parameter refers to the whole spectrum, as shares of variance do.
    """

    resolvent: ClassVar[bool] = False
    cuts: ClassVar[bool] = False

    # Properties only so that a subclass may compute them; most say `parameter = "lam"` and `qualification = 1.0`.
    @property
    def parameter(self) -> str:
        return "lam"

    @property
    def qualification(self) -> float:
        return np.inf

    @property
    def whole(self) -> bool:
        return False

    @abstractmethod
    def formula(self, t: np.ndarray, param: np.ndarray) -> np.ndarray:
        """``g(t)`` for ``t (r,)`` and ``param (p, 1)``; finite at ``t = 0``."""

    def gains(self, t: np.ndarray, params: Any) -> np.ndarray:
        """The filter's table of gains.

        Parameters
        ----------
        t : ndarray of shape (r,)
            Eigenvalues of K/n, decreasing.
        params : array-like of shape (p,)
            Values of the filter's parameter.

        Returns
        -------
        ndarray of shape (p, r)
        """
        return self.formula(np.asarray(t, dtype=np.float64), np.atleast_1d(params)[:, None])

    @property
    def value(self) -> Any:
        """The parameter as the user gave it: ``None``, a number or an array."""
        return getattr(self, self.parameter)

    def with_value(self, value: Any) -> Self:
        """The same filter with its parameter fixed."""
        return clone(self).set_params(**{self.parameter: value})

    def path(self, t: np.ndarray) -> np.ndarray:
        """The parameters to consider, from most to least regularization."""
        if self.value is None:
            return self.default_path(np.asarray(t))
        values = np.atleast_1d(self.value)
        if values.ndim != 1 or values.size == 0:
            raise ValueError(f"{self._name} must be a number or a one-dimensional array, got {self.value!r}.")
        self._check(values)
        return self._ordered(values)

    def default_path(self, t: np.ndarray) -> np.ndarray:
        """From "nothing learned" to interpolation or to rounding level, whichever comes first."""
        low = max(t[rank_of(t) - 1] / _MARGIN, _rounding_level(t))
        return np.geomspace(self._strongest * t[0], low, _POINTS)

    @property
    def _strongest(self) -> float:
        """Where the path starts, in multiples of the largest eigenvalue."""
        return _MARGIN

    def at_lam(self, lam: float, t: np.ndarray) -> float:
        """The value of the parameter that regularizes like ``lam``."""
        return lam

    def as_lam(self, params: Any, t: np.ndarray) -> np.ndarray:
        """The inverse of `at_lam`: which ``lam`` each of ``params`` regularizes like."""
        return np.asarray(params, dtype=np.float64)

    def frozen(self, top: float) -> Self:
        """The same filter where the largest eigenvalue is ``top``, with no default left that depends on it."""
        return self

    def components(self, t: np.ndarray, params: Any) -> np.ndarray:
        """How many components survive: those of which at least half is kept, ``t g(t) >= 1/2``."""
        return np.count_nonzero(self.gains(t, params) * t >= 0.5, axis=1)

    def by_components(self) -> Filter | None:
        """The same family by number of components, if its parameter is a threshold that whole components survive."""
        return None

    @property
    def _name(self) -> str:
        return f"{self.parameter} of {type(self).__name__}"

    def _check(self, values: np.ndarray) -> None:
        if not (np.issubdtype(values.dtype, np.number) and np.all(np.isfinite(values)) and np.all(values > 0)):
            raise ValueError(f"{self._name} must be positive, got {self.value!r}.")

    def _ordered(self, values: np.ndarray) -> np.ndarray:
        return np.sort(values.astype(np.float64))[::-1]


class IterativeFilter(Filter):
    """A filter whose parameter counts steps: few steps regularize, ``n_iter = 0`` learns nothing."""

    parameter = "n_iter"
    n_iter: Any

    def default_path(self, t: np.ndarray) -> np.ndarray:
        low = max(t[rank_of(t) - 1] / _MARGIN, _rounding_level(t))
        steps = np.rint(np.geomspace(1, self._most_steps(low, t), _POINTS - 1)).astype(np.int64)
        return np.concatenate([[0], np.unique(steps)])

    @staticmethod
    def _largest(t: np.ndarray) -> float:
        """The largest eigenvalue, zero where there is none: a fold may hold equal rows only."""
        return float(t[0]) if len(t) else 0.0

    def _most_steps(self, lam: float, t: np.ndarray) -> float:
        return self.at_lam(lam, t)

    def _check(self, values: np.ndarray) -> None:
        numeric = np.issubdtype(values.dtype, np.number) and np.all(np.isfinite(values))
        if not (numeric and np.all(values >= 0) and np.all(values == np.floor(values))):
            raise ValueError(f"{self._name} must be a whole number of steps, not negative, got {self.value!r}.")

    def _ordered(self, values: np.ndarray) -> np.ndarray:
        return np.sort(values.astype(np.int64))
