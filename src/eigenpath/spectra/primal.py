"""The spectrum of explicit features: d x d work instead of n x n where d < n."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..filters import Filter, rank_of
from .base import Coefficients, Decomposition, Folds, HeldOut, Sample, Spectrum
from .eigen import symmetric_eigen

__all__ = ["PrimalDecomposition"]


class PrimalDecomposition(Decomposition):
    """The same spectrum from the second moment of features ``Z``, where ``K = Z Z.T``.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (n, d)
    sample : Sample
    folds : sequence of (train, test) index arrays
    """

    def __init__(self, Z: Any, sample: Sample, folds: Folds = ()) -> None:
        super().__init__(sample, folds)
        self.Z = Z if sparse.issparse(Z) else np.asarray(Z, dtype=np.float64)
        self._folds: dict[int, list[HeldOut]] = {}

    @cached_property
    def _whole(self) -> _Moments:
        return _Moments(self.Z, self.sample)

    @cached_property
    def spectra(self) -> list[Spectrum]:
        whole, sample = self._whole, self.sample
        power = (sample.target**2).sum(axis=0) / sample.total
        outside = np.maximum(power - (whole.b**2).sum(axis=0), 0)
        return [Spectrum(whole.t, whole.b, outside, constant=whole.constant)]

    @cached_property
    def vectors(self) -> np.ndarray:
        whole = self._whole
        centred = self.Z @ whole.V - whole.center @ whole.V
        return self.sample.root[:, None] * centred / np.sqrt(whole.t * self.sample.scale)

    def lift(self, coordinates: list[np.ndarray]) -> Coefficients:
        whole, sample = self._whole, self.sample
        primal = whole.weights(coordinates[0])
        # The same function over the rows: c = S Z' V (g b / sqrt(t)) / sqrt(scale), times the scale of b.
        by_row = np.sqrt(sample.total) / sample.scale * sample.root[:, None]
        dual = by_row * (self.vectors @ coordinates[0])
        return Coefficients(dual, sample.mean - whole.center @ primal, primal)

    def fold_coefficients(self, filter: Filter, params: np.ndarray) -> list[Coefficients]:
        functions = []
        for part in (self._part(i) for i in range(len(self.folds))):
            primal = part.weights(filter.gains(part.t, params).T * part.b)
            functions.append(
                Coefficients(np.empty((0, primal.shape[1])), part.sample.mean - part.center @ primal, primal)
            )
        return functions

    def _part(self, i: int) -> _Moments:
        train = self.folds[i][0]
        return _Moments(self.Z[train], self.sample.take(train))

    def fold(self, i: int) -> list[HeldOut]:
        if i not in self._folds:
            test, part = self.folds[i][1], self._part(i)
            carry = part.weights(np.eye(len(part.t)))
            rows = self.Z[test] @ carry - part.center @ carry
            self._folds[i] = [HeldOut(part.t, part.b, rows, part.sample.mean)]
        return self._folds[i]


class _Moments:
    """Mean and second moment of weighted features, decomposed."""

    def __init__(self, Z: Any, sample: Sample) -> None:
        self.sample = sample
        d = Z.shape[1]
        self.center = (sample.weight @ Z) / sample.total if sample.center == "features" else np.zeros(d)
        if sparse.issparse(Z):
            moment = (Z.T @ Z.multiply(sample.weight[:, None])).toarray()
            moment -= sample.total * np.outer(self.center, self.center)
            cross = Z.T @ (sample.root[:, None] * sample.target) - np.outer(self.center, sample.root @ sample.target)
        else:
            rows = sample.root[:, None] * (Z - self.center)
            moment, cross = rows.T @ rows, rows.T @ sample.target
        if not np.isfinite(moment.sum()):
            raise ValueError("the features contain NaN or infinity, or are so large that their squares overflow.")
        name = "second moment of the features"
        t, V = symmetric_eigen(moment / sample.scale, overwrite=True, name=name, level=self._level(Z) / sample.scale)
        # Directions below rounding level hold noise alone, and 1/sqrt(t) would blow it up.
        rank = rank_of(t)
        self.t, self.V = t[:rank], V[:, :rank]
        size = np.sqrt(self.t * sample.scale * sample.total)
        self.b = self.V.T @ cross / size[:, None]
        self.constant = self.V.T @ (sample.weight @ Z - sample.total * self.center) / size

    def _level(self, Z: Any) -> float:
        """What rounding leaves of rows that are all equal: more, where squares were subtracted from squares."""
        eps = float(np.finfo(np.float64).eps)
        share = sum(Z.shape) * eps if sparse.issparse(Z) else Z.shape[0] * (2 * eps) ** 2
        return share * self.sample.total * float(self.center @ self.center)

    def weights(self, coordinates: np.ndarray) -> np.ndarray:
        """Primal coefficients of the function with these filtered coordinates."""
        ratio = np.sqrt(self.sample.total / self.sample.scale)
        return self.V @ (ratio * np.sqrt(self.t)[:, None] * coordinates)
