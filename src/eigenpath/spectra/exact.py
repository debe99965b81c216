"""The exact spectrum of a Gram matrix, by LAPACK."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsyr2

from .._threads import run_tiles
from ..filters import Filter
from .base import Coefficients, Decomposition, Folds, HeldOut, Sample, Spectrum
from .eigen import clip_spectrum
from .holdout import held_out_block
from .tridiagonal import Tridiagonal

__all__ = ["ExactDecomposition"]


class ExactDecomposition(Decomposition):
    """The spectrum of a dense Gram matrix; each fold costs one more tridiagonal form.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The Gram matrix, neither centred nor weighted. It is read only.
    sample : Sample
    folds : sequence of (train, test) index arrays
    psd_tol : float, optional
        See `clip_spectrum`.
    """

    def __init__(self, K: np.ndarray, sample: Sample, folds: Folds = (), psd_tol: float | None = None) -> None:
        super().__init__(sample, folds)
        # The sum is read once, with no table of flags; infinities of both signs make it NaN.
        with np.errstate(invalid="ignore"):
            finite = np.isfinite(K.sum())
        if not finite:
            raise ValueError("the kernel matrix contains NaN or infinity: check the kernel's parameters and the data.")
        self.K = K
        self.psd_tol = psd_tol
        self._folds: dict[int, _Fold] = {}

    def prepare(self, filters: list[Filter]) -> None:
        """Decompose the whole and the folds side by side, each on one thread."""
        vectors = not all(filter.resolvent for filter in filters)
        lengths = [np.size(filter.value) if filter.value is not None else 100 for filter in filters]
        # Rules say what is wrong with folds that leave nothing to train on.
        sound = [i for i, (train, _) in enumerate(self.folds) if self.sample.weight[train].any()]
        jobs = [i for i in sound if vectors or not self._block_is_cheaper(i, max(lengths))]
        run_tiles(self._prepare, [(None, vectors), *((i, vectors) for i in jobs)])

    def _prepare(self, i: int | None, vectors: bool) -> None:
        if i is None:
            _ = self.spectra
        elif vectors:
            self.fold(i)
        else:
            self._fold(i)

    @cached_property
    def _eigen(self) -> _TridiagonalEigen:
        return _eigen(_tridiagonal(self.K.astype(np.float64), self.sample), self.sample, self.psd_tol)

    @cached_property
    def spectra(self) -> list[Spectrum]:
        form, t, U = self._eigen
        sample = self.sample
        both = U.T @ form.into(np.column_stack([sample.target, sample.root])) / np.sqrt(sample.total)
        b, power = both[:, :-1], (sample.target**2).sum(axis=0) / sample.total
        return [Spectrum(t, b, np.maximum(power - (b**2).sum(axis=0), 0), constant=both[:, -1])]

    @cached_property
    def vectors(self) -> np.ndarray:
        return self._eigen.form.back(self._eigen.U)

    def lift(self, coordinates: list[np.ndarray]) -> Coefficients:
        sample = self.sample
        scaled = self._eigen.U @ (coordinates[0] / _lift_scale(sample))
        dual = sample.root[:, None] * self._eigen.form.back(scaled)
        return self._with_intercept(dual, sample, np.arange(len(sample)))

    def _with_intercept(self, part: np.ndarray, sample: Sample, rows: np.ndarray) -> Coefficients:
        """The function with coefficients ``part`` on some rows; a row that occurs twice has the sum of its own."""
        pi = sample.weight / sample.total
        if sample.center == "features":
            # Zero but for rounding, which the kernel's constant part would blow up.
            part = part - pi[:, None] * part.sum(axis=0)
        dual = np.zeros((len(self.sample), part.shape[1]))
        np.add.at(dual, rows, part)
        if sample.center != "features":
            return Coefficients(dual, sample.mean)
        means = np.bincount(rows, weights=pi, minlength=len(dual))
        return Coefficients(dual, sample.mean - means @ (self.K @ dual))

    def fold_coefficients(self, filter: Filter, params: np.ndarray) -> list[Coefficients]:
        return [self._fold_coefficients(i, filter, params) for i in range(len(self.folds))]

    def _fold_coefficients(self, i: int, filter: Filter, params: np.ndarray) -> Coefficients:
        fold = self._fold(i)
        _, t, U = _eigen(fold.form, fold.sample, self.psd_tol)
        scaled = U @ (filter.gains(t, params).T * (U.T @ fold.target)) / fold.sample.scale
        part = fold.sample.root[:, None] * fold.form.back(scaled)
        return self._with_intercept(part, fold.sample, self.folds[i][0])

    def fold(self, i: int) -> list[HeldOut]:
        return [self._fold(i).held_out(self.psd_tol)]

    def _fold(self, i: int) -> _Fold:
        if i not in self._folds:
            self._folds[i] = _Fold(self.K, self.sample, *self.folds[i])
        return self._folds[i]

    def held_out(self, i: int, filter: Filter, params: np.ndarray) -> np.ndarray:
        if not filter.resolvent:
            return super().held_out(i, filter, params)
        if i not in self._folds and self._block_is_cheaper(i, len(params)):
            train, test = self.folds[i]
            return held_out_block(self.vectors, self.spectra[0].t, self.sample, train, test, params)
        fold = self._fold(i)
        predictions = fold.solve(params)
        return super().held_out(i, filter, params) if predictions is None else predictions

    def _block_is_cheaper(self, i: int, p: int) -> bool:
        """Whether the block hold-out formula needs less time than the tridiagonal form of the fold's training part."""
        train, test = self.folds[i]
        n, m = len(self.sample), len(test)
        if len(train) + m != n or len(np.union1d(train, test)) != n:
            return False
        # Operation counts over the rates these routines reach, in GFLOP/s.
        form = 4 / 3 * len(train) ** 3 / 25 + 4 * m * len(train) ** 2 / 60
        block = p * (m**2 * n / 60 + m**3 / 20 + 3e4)
        return block < form


class _TridiagonalEigen(NamedTuple):
    form: Tridiagonal
    t: np.ndarray
    U: np.ndarray


class _Fold:
    """One fold's training part in tridiagonal form, and its test rows in the same basis."""

    def __init__(self, K: np.ndarray, sample: Sample, train: np.ndarray, test: np.ndarray) -> None:
        self.sample = sample.take(train)
        part = K[np.ix_(train, train)].astype(np.float64, copy=False)
        rows = K[np.ix_(test, train)]
        if sample.center == "features":
            pi = self.sample.weight / self.sample.total
            rows = rows - pi @ part
            # Coefficients sum to zero but for rounding, which the rows' constant part would blow up.
            rows -= (rows @ pi)[:, None]
        self.form = _tridiagonal(part, self.sample)
        # Rows and targets go through the reflectors in one call.
        if sample.sample_weight is not None:
            rows = rows * self.sample.root
        both = self.form.into(np.hstack([rows.T, self.sample.target]))
        self.rows, self.target = both[:, : len(test)].T, both[:, len(test) :]
        self._spectrum: HeldOut | None = None

    def held_out(self, psd_tol: float | None) -> HeldOut:
        if self._spectrum is None:
            _, t, U = _eigen(self.form, self.sample, psd_tol)
            b = U.T @ self.target / np.sqrt(self.sample.total)
            rows = self.rows @ U * (np.sqrt(self.sample.total) / self.sample.scale)
            self._spectrum = HeldOut(t, b, rows, self.sample.mean)
        return self._spectrum

    def solve(self, lams: np.ndarray) -> np.ndarray | None:
        """Tikhonov's predictions: one tridiagonal solve for each ``lam``, no eigenvectors."""
        solutions = []
        for lam in lams:
            one = self.form.solve(lam * self.sample.scale, self.target)
            if one is None:
                return None
            solutions.append(one)
        p, k = len(lams), self.target.shape[1]
        predictions = self.rows @ np.column_stack(solutions)
        return predictions.reshape(-1, p, k).transpose(1, 0, 2) + self.sample.mean


def _tridiagonal(K: np.ndarray, sample: Sample) -> Tridiagonal:
    """The form of the weighted, centred Gram matrix; ``K`` in C order is overwritten."""
    # A symmetric matrix read in Fortran order is itself.
    A = K.T
    s, level = sample.root, 0.0
    if sample.sample_weight is not None:
        A *= s
        A *= s[:, None]
    if sample.center == "features":
        unit = s / np.sqrt(sample.total)
        v = A @ unit
        removed = unit @ v
        v -= removed / 2 * unit
        A = dsyr2(-1.0, unit, v, a=A, lower=1, overwrite_a=1)
        # What is left is no more exact than what was taken away: by the same level as the rank of a spectrum.
        level = 128 * float(np.finfo(np.float64).eps) * abs(removed)
    return Tridiagonal(A, level)


def _eigen(form: Tridiagonal, sample: Sample, psd_tol: float | None) -> _TridiagonalEigen:
    values, U = form.eigen()
    t = clip_spectrum(values, psd_tol=psd_tol, level=form.level) / sample.scale
    # Rows without weight, and centring, leave null vectors: LAPACK finds rounding errors there, of either sign.
    t[np.count_nonzero(sample.weight) - (sample.center == "features") :] = 0
    return _TridiagonalEigen(form, t, U)


def _lift_scale(sample: Sample) -> float:
    """From coordinates ``g(t) b`` to ``(1/n) g(K/n) y`` in the basis of eigenvectors."""
    return sample.scale / np.sqrt(sample.total)
