"""Rules that need the spectrum alone: no data are held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bounds import a_priori_lam
from ..path import Path
from .base import Choice, Rule, Task, first_best, pick

__all__ = ["GCV", "APriori", "Balancing", "Discrepancy", "estimate_noise"]


class GCV(Rule):
    r"""Generalized cross-validation (Craven and Wahba).

    .. math:: \mathrm{GCV}(\lambda) = \frac{\text{training error}}{(1 - \mathrm{df}(\lambda) / n)^2}
    """

    whole = True

    def choose(self, path: Path, task: Task) -> Choice:
        return pick(path, task, _gcv(path), "the least generalized cross-validation score")


def _gcv(path: Path) -> np.ndarray:
    return path.training_error / _left(path)[:, None] ** 2


def _left(path: Path) -> np.ndarray:
    """The share of the rows' degrees of freedom that the fits leave, ``(p,)``."""
    left = 1 - path.degrees_of_freedom / _rows(path)
    # Interpolation leaves 0/0: no score.
    return np.where(left > 1e-10, left, np.nan)


def _rows(path: Path) -> float:
    """The number of rows, repetitions counted."""
    total, weighty = path.sample.total, np.count_nonzero(path.sample.weight)
    # Where the parameter is given, nothing hangs on it.
    if total < 2 <= weighty and len(path) > 1:
        raise ValueError(
            f"sample_weight sums to {total:.6g}, but a weight counts a row so many times, and a rule that holds no rows "
            "out needs at least two. Multiply sample_weight by the number of rows."
        )
    return total


def estimate_noise(path: Path) -> np.ndarray:
    """The noise's standard deviation for each target, from the residual at the choice of generalized cross-validation."""
    index = first_best(_gcv(path))
    error = path.training_error[index, np.arange(len(index))]
    return np.sqrt(error / _left(path)[index])


def _noise(path: Path, noise: Any, rule: str) -> np.ndarray:
    if noise is None:
        return estimate_noise(path)
    noise = np.asarray(noise, dtype=np.float64)
    k = path.training_error.shape[1]
    if noise.shape not in ((), (k,)) or not np.all(noise >= 0):
        raise ValueError(
            f"noise of {rule} must be a standard deviation, not negative, or one for each of {k} targets, got {noise!r}."
        )
    return np.broadcast_to(noise, (k,))


class Discrepancy(Rule):
    """Morozov's principle: the most regularization whose training error does not exceed the noise.

    Parameters
    ----------
    noise : float or array-like of shape (k,), optional
        The noise's standard deviation; by default estimated at the choice of generalized cross-validation.
    tau : float, default=1.0
        The residual may be ``tau`` times the noise.
    """

    comparable = False

    @property
    def whole(self) -> bool:
        return self.noise is None

    def __init__(self, noise: Any = None, tau: float = 1.0) -> None:
        self.noise = noise
        self.tau = tau

    def choose(self, path: Path, task: Task) -> Choice:
        allowed = (self.tau * _noise(path, self.noise, "Discrepancy")) ** 2
        error = path.training_error
        path.scores = np.abs(error - allowed)
        if not task.per_target:
            error, allowed = error.mean(axis=1, keepdims=True), allowed.mean(keepdims=True)
        # The end of the path, where nothing on it comes down to the noise.
        met = np.vstack([error <= allowed, np.ones((1, error.shape[1]), dtype=bool)])
        index = np.minimum(met.argmax(axis=0), len(path) - 1)
        level = float(np.sqrt(allowed.mean()))
        why = f"the most regularization whose training error does not exceed {level:.4g} (root mean square)"
        return Choice(path.filter, path.params[index], index, np.nan, why)


class Balancing(Rule):
    r"""Lepskii's principle: the most regularization that differs from all less regularized fits by noise alone.

    Fit :math:`i` is admissible if :math:`\|f_i - f_j\| \le \kappa\, s_j` for every less regularized :math:`j`, in the
    empirical norm, with :math:`s_j^2 = \sigma^2 \sum_l (t_l g_j(t_l))^2 / n`.

    Parameters
    ----------
    noise : float or array-like of shape (k,), optional
        The noise's standard deviation :math:`\sigma`; by default estimated at the choice of generalized
        cross-validation.
    kappa : float, default=2.0
        The constant of the comparison. Theory takes 4, which regularizes more.
    """

    comparable = False
    whole = True

    def __init__(self, noise: Any = None, kappa: float = 2.0) -> None:
        self.noise = noise
        self.kappa = kappa

    def choose(self, path: Path, task: Task) -> Choice:
        noise = _noise(path, self.noise, "Balancing")
        together = not task.per_target
        gaps, spreads = self._gaps(path), self._spreads(path, noise)
        if together:
            gaps, spreads = gaps.sum(axis=2, keepdims=True), spreads.sum(axis=1, keepdims=True)
        # Rounding separates fits that are equal.
        slack = 1e-12 * gaps.max(initial=0)
        later = np.triu(np.ones((len(path), len(path)), dtype=bool))[:, :, None]
        admissible = np.all(~later | (gaps <= self.kappa**2 * spreads[None] + slack), axis=1)
        index = admissible.argmax(axis=0)
        why = f"the most regularization that differs from all weaker ones by at most {self.kappa:g} times their noise"
        return Choice(path.filter, path.params[index], index, np.nan, why)

    @staticmethod
    def _gaps(path: Path) -> np.ndarray:
        """Squared distances ``(p, p, k)`` between the fits on the training data."""
        columns = []
        for i, spectrum in enumerate(path.spectra):
            passed = path.gains(i) * spectrum.t
            for b in spectrum.b.T:
                fits = passed * b
                square = np.einsum("pr,pr->p", fits, fits)
                columns.append(np.maximum(square[:, None] + square - 2 * fits @ fits.T, 0))
        return np.stack(columns, axis=2)

    @staticmethod
    def _spreads(path: Path, noise: np.ndarray) -> np.ndarray:
        """The variance ``(p, k)`` of the fits."""
        passed = path.gains() * path.t
        return (passed**2).sum(axis=1)[:, None] * noise**2 / _rows(path)


class APriori(Rule):
    r"""The choice of Mosci, Rosasco and Verri's theorem 1, before the data are seen.

    .. math:: \lambda_n = \frac{2 \sqrt 2 \kappa^2 \log(4 / \eta)}{\sqrt n}

    Its constants make it pessimistic on small samples: it is there for study, never a default. Of parameters given as
    an array it takes the nearest, and one that is fixed it leaves alone.

    Parameters
    ----------
    eta : float, default=0.05
        The theorem holds with probability ``1 - eta``.
    kappa2 : float, optional
        A bound of ``k(x, x)``; by default the kernel's own, or the largest value on the training data.
    """

    comparable = False

    def __init__(self, eta: float = 0.05, kappa2: float | None = None) -> None:
        self.eta = eta
        self.kappa2 = kappa2

    def choose(self, path: Path, task: Task) -> Choice:
        if len(path) == 1:
            return Choice(path.filter, path.params, np.array([0]), np.nan, "the only parameter on the path")
        kappa2 = task.kappa2 if self.kappa2 is None else self.kappa2
        if not 0 < kappa2 < np.inf:
            raise ValueError(f"kappa2 of APriori must be a positive bound of k(x, x), got {kappa2!r}.")
        n = _rows(path)
        lam = float(a_priori_lam(n, kernel_bound=kappa2, eta=self.eta)) * n / path.sample.scale
        why = f"lam = {lam:.4g} a priori, from n = {n:g}, kappa^2 = {kappa2:.4g} and eta = {self.eta:g}"
        if path.filter.value is not None:
            index, why = _nearest(path, lam), f"of the parameters given the nearest to {why}"
            return Choice(path.filter, path.params[index], index, np.nan, why)
        param = np.array([path.filter.at_lam(lam, path.t)])
        index = np.abs(path.params - param).argmin(keepdims=True)
        return Choice(path.filter, param, index, np.nan, why)


def _nearest(path: Path, lam: float) -> np.ndarray:
    """The place ``(1,)`` on the path of what regularizes most like ``lam``."""
    # What learns nothing, or all, is infinitely far away.
    with np.errstate(divide="ignore"):
        away = np.log(path.filter.as_lam(path.params, path.t) / lam)
    return np.array([np.abs(away).argmin()])
