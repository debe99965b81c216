"""How far a Krylov space must grow: until the choice is certified, and the rest of the path can no longer beat it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._threads import single_threaded_blas
from ..filters import Filter, IterativeFilter
from ..path import Path
from ..selection import Choice, Rule, Task
from ..spectra.krylov import KrylovDecomposition

__all__ = ["Follower", "follow"]

# Steps before the first look, and the growth from one look to the next.
_FIRST, _GROWTH = 24, 1.12
# The certified part must go on this far beyond the choice (as a ratio of lam) if the score has risen there by _RISE,
# and this much farther if it has not.
_MARGIN, _FAR, _RISE = 3.0, 100.0, 0.01
# Beyond the choice it is enough to know the curve, this much less precisely.
_LOOSE = 20.0
# How many parameters from the choice on are certified.
_PROBES = 12


@dataclass
class Follower:
    """One filter's path, as the Krylov space grows.

    Attributes
    ----------
    filter : Filter
    params : ndarray of shape (p,)
        The path. It stays as it is, so that looks can be compared.
    path, choice
        Of the latest look.
    error : float
        A bound on the error of the chosen function on the training rows and folds, as a share of the target's root
        mean square.
    rounding : float
        What rounding in the products with K may add to ``error``; a first-order bound, and a pessimistic one in mixed
        precision.
    reach : float
        The path is certified down to this ``lam``.
    steps : int
        How many there were at the latest look.
    """

    filter: Filter
    params: np.ndarray
    path: Path | None = None
    choice: Choice | None = None
    error: float = np.inf
    rounding: float = np.inf
    reach: float = np.inf
    steps: int = 0

    def look(self, krylov: KrylovDecomposition, rule: Rule, task: Task, tol: float) -> bool:
        """Follow the path on the space as it is now; return whether that is far enough."""
        if self.filter.cuts and self.filter.value is None:
            # There are more components to keep as the space grows.
            self.params = self.filter.path(krylov.spectra[0].t)
        self.path, self.steps = Path(krylov, self.filter, self.params), krylov.steps
        self.choice = rule.choose(self.path, task)
        first, last = int(self.choice.index.min()), int(self.choice.index.max())
        probes = np.unique(np.linspace(last, len(self.params) - 1, _PROBES).astype(int))
        probes = np.unique(np.concatenate([[first, last], np.arange(last, min(last + 8, len(self.params))), probes]))
        errors, rounding = relative_errors(krylov, self.filter, self.params[probes])
        # What a choice is based on may be as uncertain as the choice matters: errors well below the residual.
        allowed = tol * self._residual()
        needed = np.where(probes <= last, allowed, _LOOSE * allowed)
        good = np.append(np.maximum.accumulate(errors) <= needed, False)
        self.error, self.rounding = float(errors[probes == last][0]), float(rounding[probes == last][0])
        if not np.array_equal(self.choice.params, self.params[self.choice.index]):
            # The choice lies between two points of the path.
            worst = relative_errors(krylov, self.choice.filter, self.choice.params)
            self.error, self.rounding = float(worst[0].max()), float(worst[1].max())
        certified = probes[: int(np.argmin(good))]
        return krylov.exact or self._settled(certified, last)

    def _residual(self) -> float:
        """The training error at the choice as a share of the target's root mean square, not less than 1 %."""
        assert self.path is not None and self.choice is not None
        path = self.path
        power = float((path.sample.target**2).sum() / path.sample.total)
        error = float(path.training_error[self.choice.index].mean(axis=0).sum())
        return max(np.sqrt(error / power), 1e-2) if power > 0 else 1.0

    def _settled(self, certified: np.ndarray, last: int) -> bool:
        assert self.path is not None
        if len(certified) == 0 or certified[-1] < last:
            return False
        end = int(certified[-1])
        lam = self.filter.as_lam(self.params, self.path.t)
        self.reach = float(lam[end])
        # A choice without scores was not made by comparing: the rest of the path does not matter.
        if end == len(self.params) - 1 or self.path.scores is None:
            return True
        scores = self.path.scores.mean(axis=1)
        beyond = lam[last] / lam[end]
        risen = scores[end] - scores[last] >= _RISE * abs(scores[last])
        return bool(beyond >= _FAR or (beyond >= _MARGIN and risen))


def relative_errors(krylov: KrylovDecomposition, filter: Filter, params: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds ``(p,)`` on the errors of the functions at ``params``, for the worst fold and target, as shares of it.

    Those of the Krylov space, and those of rounding.
    """
    worst = np.zeros((2, len(params)))
    for i, problem in enumerate(krylov.problems):
        scale = np.sqrt((problem.sample.target**2).sum(axis=0) / problem.sample.total)
        bounds = np.stack(_bounds(krylov, filter, i, params))
        worst = np.maximum(worst, (bounds / np.where(scale > 0, scale, np.inf)).max(axis=2))
    if isinstance(filter, IterativeFilter):
        # A polynomial of lower degree than the space's is exact in it.
        worst[0, params <= krylov.steps] = 0
    return worst[0], worst[1]


def _bounds(
    krylov: KrylovDecomposition, filter: Filter, problem: int, params: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    nothing = np.zeros((len(params), len(krylov.columns[problem])))
    t = krylov.columns[problem][0].ritz.values
    # There may be nothing to learn in a fold.
    if krylov.exact or t[0] <= 0:
        return nothing, nothing
    if filter.cuts:
        return krylov.cut_bound(problem, _gaps(filter, params, t)), nothing
    if filter.resolvent:
        bound = krylov.tikhonov_bound(problem, params)
    else:
        top = float(t[0]) * (1 + 1e-6)
        frozen = filter.frozen(top)
        bound = krylov.filter_bound(problem, lambda values: frozen.gains(values, params), top)
    return bound.training, bound.rounding


def _gaps(filter: Filter, params: np.ndarray, t: np.ndarray) -> np.ndarray:
    """A threshold in the middle of the gap below the components that each of ``params`` keeps."""
    counts = np.clip(filter.components(np.maximum(t, 0), params), 0, len(t) - 1)
    above = np.append(2 * t[0], t)[counts]
    return (above + t[counts]) / 2


# Threads of BLAS that have just been used spin on for a while, and would keep those of the products off their cores.
@single_threaded_blas()
def follow(
    krylov: KrylovDecomposition,
    filters: list[Filter],
    rule: Rule,
    task: Task,
    *,
    tol: float,
    max_iter: int,
    remedy: str = "max_iter",
    quiet: bool = False,
) -> list[Follower]:
    """Grow the space until every filter's choice is settled, or up to ``max_iter`` steps, and then say so.

    ``remedy`` is the parameter that sets this number.
    """
    # There may be some steps already.
    krylov.extend(min(_FIRST, max_iter) - krylov.steps)
    # A kernel that is zero has no path, and this says so.
    Path(krylov, filters[0], ())
    t = _full_range(krylov)
    followers = [Follower(filter, filter.path(t)) for filter in filters]
    waiting = followers
    while True:
        waiting = [one for one in waiting if not one.look(krylov, rule, task, tol)]
        if not waiting or krylov.exact or krylov.steps >= max_iter:
            break
        krylov.extend(min(int(np.ceil(krylov.steps * (_GROWTH - 1))), max_iter - krylov.steps))
    if waiting and not krylov.exact and not quiet:
        names = ", ".join(type(one.filter).__name__ for one in waiting)
        worst = max(one.error for one in waiting)
        warnings.warn(
            f"{names}: not certain of the choice after {max_iter} Krylov steps, which is what {remedy} allows; the chosen "
            f"function is within {worst:.1g} of the exact one (root mean square, as a share of the target's). Raise "
            f"{remedy}, end the path at stronger regularization, or use solver='exact'.",
            ConvergenceWarning,
            stacklevel=7,
        )
    for one in followers:
        if one.steps != krylov.steps:
            # Settled on a smaller space, which is no longer there.
            one.look(krylov, rule, task, tol)
    return followers


def _full_range(krylov: KrylovDecomposition) -> np.ndarray:
    """Eigenvalues that make a filter's default path end where it would on the whole spectrum of a smooth kernel."""
    t = krylov.spectra[0].t
    rounding = float(np.finfo(np.float64).eps) * len(krylov.sample) * float(t[0])
    return np.append(t[t > rounding], np.full(1, 2 * rounding)) if not krylov.exact else t
