"""What every route from data to a spectrum fills in, and what filters and rules see of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..filters import Filter

__all__ = ["CENTERINGS", "Coefficients", "Decomposition", "Folds", "HeldOut", "Sample", "Spectrum"]

CENTERINGS = ("target", "features", None)
Folds = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and the coordinates of the targets in their basis.

    Attributes
    ----------
    t : ndarray of shape (r,)
        Eigenvalues of K/n, decreasing, not negative.
    b : ndarray of shape (r, k)
        Coordinates of the centred targets, scaled so that ``(b**2).sum(0)`` is their mean square inside the span.
    outside : ndarray of shape (k,)
        The mean square of the targets outside the span, which no filter reaches.
    columns : slice
        Which targets these are.
    constant : ndarray of shape (r,) or None
        Coordinates of a constant target whose mean square is 1, not centred; None if unknown.
    """

    t: np.ndarray
    b: np.ndarray
    outside: np.ndarray
    columns: slice = field(default_factory=lambda: slice(None))
    constant: np.ndarray | None = None


class HeldOut(NamedTuple):
    """The spectrum of one fold's training part, and the rows that carry it to the fold's test part."""

    t: np.ndarray
    b: np.ndarray
    rows: np.ndarray
    mean: np.ndarray
    columns: slice = slice(None)

    def predict(self, gains: np.ndarray) -> np.ndarray:
        """Predictions ``(p, m, k)`` for a ``(p, r)`` table of gains."""
        (p, r), k = gains.shape, self.b.shape[1]
        coordinates = (gains[:, :, None] * self.b).transpose(1, 0, 2).reshape(r, p * k)
        return (self.rows @ coordinates).reshape(-1, p, k).transpose(1, 0, 2) + self.mean


class Coefficients(NamedTuple):
    """A function ``k(x)^T dual + intercept``, equal to ``phi(x)^T primal + intercept`` where features are explicit."""

    dual: np.ndarray
    intercept: np.ndarray
    primal: np.ndarray | None = None


@dataclass(frozen=True)
class Sample:
    """Targets ``(n, k)``, weights, and how they are centred.

    Attributes
    ----------
    normalize : bool
        Whether eigenvalues and ``lam`` are on the scale of K/n (True) or of K, as scikit-learn's ``alpha`` is.
    """

    y: np.ndarray
    sample_weight: np.ndarray | None = None
    center: str | None = "target"
    normalize: bool = True

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: np.ndarray) -> Sample:
        """The same for some of the rows."""
        weight = None if self.sample_weight is None else self.sample_weight[index]
        return Sample(self.y[index], weight, self.center, self.normalize)

    @cached_property
    def weight(self) -> np.ndarray:
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight

    @cached_property
    def total(self) -> float:
        """The sum of the weights: the number of rows, repetitions counted."""
        return float(self.weight.sum())

    @property
    def scale(self) -> float:
        """What eigenvalues of K are divided by."""
        return self.total if self.normalize else 1.0

    @cached_property
    def root(self) -> np.ndarray:
        return np.sqrt(self.weight)

    @cached_property
    def mean(self) -> np.ndarray:
        """What is subtracted from the targets."""
        return self.weight @ self.y / self.total if self.center else np.zeros(self.y.shape[1])

    @cached_property
    def target(self) -> np.ndarray:
        """Centred targets times root weights, ``(n, k)``."""
        return self.root[:, None] * (self.y - self.mean)


class Decomposition(ABC):
    """One data set, decomposed: the spectrum of the whole, of every fold, and the way back to coefficients.

    Parameters
    ----------
    sample : Sample
    folds : sequence of (train, test) index arrays
    """

    # Whether `spectra` have all eigenvalues, multiple ones as often as they occur.
    complete: bool = True

    def __init__(self, sample: Sample, folds: Folds = ()) -> None:
        self.sample = sample
        self.folds = [(np.asarray(train), np.asarray(test)) for train, test in folds]

    def prepare(self, filters: list[Filter]) -> None:
        """Compute what these filters will need of the folds, where that pays to be done together."""
        return None

    @property
    @abstractmethod
    def spectra(self) -> list[Spectrum]:
        """The spectrum of the whole: one for all targets, or one for each."""

    @abstractmethod
    def fold(self, i: int) -> list[HeldOut]:
        """The spectra of fold ``i``'s training part, split over targets as `spectra` is."""

    @abstractmethod
    def lift(self, coordinates: list[np.ndarray]) -> Coefficients:
        """The function with filtered coordinates ``g(t) * b``, one array ``(r, k)`` for each of `spectra`."""

    @property
    def vectors(self) -> np.ndarray:
        """Orthonormal eigenvectors ``(n, r)`` of the weighted, centred Gram matrix."""
        raise NotImplementedError(f"{type(self).__name__} has no eigenvectors")

    def fold_coefficients(self, filter: Filter, params: np.ndarray) -> list[Coefficients]:
        """The functions of all folds at one parameter, or one for each target; zero on rows that a fold did not see."""
        raise NotImplementedError(f"{type(self).__name__} keeps no coefficients of folds")

    def held_out(self, i: int, filter: Filter, params: np.ndarray) -> np.ndarray:
        """Predictions ``(p, m, k)`` for fold ``i``'s test part by filters that saw its training part alone."""
        parts = [part.predict(filter.gains(part.t, params)) for part in self.fold(i)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
