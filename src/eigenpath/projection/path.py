"""What one kernel says for every number of directions, and which number a rule prefers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._threads import run_tiles
from .classes import Machines, error_rates, fit_machines, held_out_scores, hinge_risks
from .penalty import penalized_risks

__all__ = ["RULES", "Fold", "ProjectionPath", "Study", "smallest_best", "study"]

RULES = ("cv", "penalty")
# Errors are counts over sums of weights; below this they differ by rounding.
TIE = 1e-12


class Fold(NamedTuple):
    """The weight of each class at each point, ``(points, classes)``, in the two parts of a split."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class ProjectionPath:
    """The record of one kernel, row j for D = j + 1 directions.

    Attributes
    ----------
    n_components : ndarray of shape (p,)
        1, 2, …, p.
    hinge_risk : ndarray of shape (p,)
        Weighted mean hinge loss on the training data; never rises with D. With more than two classes, the mean over the
        classes.
    training_error : ndarray of shape (p,)
        Weighted share of wrong labels on the training data.
    fold_errors : ndarray of shape (folds, p)
        Weighted share of wrong labels on each fold's held-out part; NaN where the folds were not asked.
    criterion : ndarray of shape (p,)
        What was minimized: the mean of ``fold_errors``, or the penalized hinge risk.
    floor_from : int or None
        The first size whose training risk is as low as any function's can be (zero, unless equal rows have different
        labels). All later sizes repeat its solution, since the path stops there.
    slope : float or None
        For the penalty: what one direction takes off the training risk by overfitting.
    """

    n_components: np.ndarray
    hinge_risk: np.ndarray
    training_error: np.ndarray
    fold_errors: np.ndarray
    criterion: np.ndarray
    floor_from: int | None = None
    slope: float | None = None

    def __len__(self) -> int:
        return len(self.n_components)

    @property
    def fold_error(self) -> np.ndarray:
        """The mean over the folds, shape (p,); NaN without folds."""
        return self.fold_errors.mean(axis=0) if len(self.fold_errors) else np.full(len(self), np.nan)

    @property
    def fold_error_std(self) -> np.ndarray:
        """The standard deviation between the folds, shape (p,); NaN with fewer than two."""
        several = len(self.fold_errors) > 1
        return self.fold_errors.std(axis=0, ddof=1) if several else np.full(len(self), np.nan)

    def as_dict(self) -> dict[str, np.ndarray]:
        """Columns of equal length, ready for a data frame.

        Examples
        --------
        >>> import numpy as np
        >>> path = ProjectionPath(np.array([1]), np.array([0.5]), np.array([0.25]), np.empty((0, 1)), np.array([0.5]))
        >>> sorted(path.as_dict())
        ['criterion', 'fold_error', 'fold_error_std', 'hinge_risk', 'n_components', 'training_error']
        """
        names = ("n_components", "hinge_risk", "training_error", "fold_error", "fold_error_std", "criterion")
        return {name: getattr(self, name) for name in names}


class Study(NamedTuple):
    """All about one kernel.

    Attributes
    ----------
    machines : Machines
        Of every size, on all the points.
    path : ProjectionPath
    chosen : int
        The number of directions.
    held_out : ndarray of shape (m, problems)
        Decision values at the chosen size on the folds' held-out points, one fold below the other.
    held_out_weight : ndarray of shape (m, classes)
    """

    machines: Machines
    path: ProjectionPath
    chosen: int
    held_out: np.ndarray
    held_out_weight: np.ndarray

    @property
    def value(self) -> float:
        """The criterion at the choice."""
        return float(self.path.criterion[self.chosen - 1])

    def beats(self, other: Study) -> bool:
        """Whether the criterion is less, by more than rounding, or as good with fewer directions."""
        tie = TIE * (1 + abs(other.value))
        return self.value < other.value - tie or (self.value <= other.value + tie and self.chosen < other.chosen)


def study(
    K: np.ndarray,
    W: np.ndarray,
    folds: Sequence[Fold],
    max_components: int,
    n_components: int | None = None,
    rule: str = "cv",
    psd_tol: float | None = None,
    psd: bool = False,
) -> Study:
    """Solve every size on all the points, hold the folds out, and choose a size (unless ``n_components`` is one).

    Parameters
    ----------
    K : ndarray of shape (points, points)
    W : ndarray of shape (points, classes)
        The weight of each class at each point.
    folds : sequence of Fold
        The rule ``"cv"`` holds them out at every size, ``"penalty"`` only at the chosen one.
    psd_tol, psd
        See `principal_directions`.
    """
    machines = fit_machines(K, W, max_components, psd_tol=psd_tol, psd=psd)
    rank = len(machines.directions.values)
    if n_components is not None and n_components > rank:
        raise ValueError(
            f"n_components={n_components!r} is more than the numerical rank {rank} of the kernel matrix (of {len(K)} "
            "distinct rows of positive weight). Lower it, or use a narrower kernel."
        )
    scores, sizes = machines.scores(machines.directions.features), machines.paths[0].sizes
    criterion = risks = hinge_risks(scores, W)
    slope, asked = None, sizes
    if rule == "penalty":
        criterion, slope = penalized_risks(risks, machines.floor_from)
        asked = np.array([n_components or smallest_best(criterion)])
    held_out = _hold_out(K, folds, max_components, asked, psd_tol)
    fold_errors = np.full((len(folds), len(sizes)), np.nan)
    for row, f, fold in zip(fold_errors, held_out, folds, strict=True):
        row[asked - 1] = error_rates(f, _present(fold.test))
    if rule == "cv":
        criterion = fold_errors.mean(axis=0) if len(folds) else np.full(len(sizes), np.nan)
    path = ProjectionPath(sizes, risks, error_rates(scores, W), fold_errors, criterion, machines.floor_from, slope)
    at = int(np.searchsorted(asked, chosen := n_components or smallest_best(criterion)))
    return Study(
        machines,
        path,
        chosen,
        np.concatenate([np.empty((0, len(machines.paths))), *(f[:, at] for f in held_out)]),
        np.concatenate([W[:0], *(_present(fold.test) for fold in folds)]),
    )


def _hold_out(
    K: np.ndarray, folds: Sequence[Fold], max_components: int, sizes: np.ndarray, psd_tol: float | None
) -> list[np.ndarray]:
    scores: list[np.ndarray] = [K[:0]] * len(folds)

    def work(i: int) -> None:
        scores[i] = held_out_scores(K, folds[i].train, folds[i].test, max_components, sizes, psd_tol)

    run_tiles(work, [(i,) for i in range(len(folds))])
    return scores


def _present(W: np.ndarray) -> np.ndarray:
    """The rows with some weight."""
    return W[W.any(axis=1)]


def smallest_best(criterion: np.ndarray) -> int:
    """The smallest size whose criterion is the least, up to rounding."""
    least = criterion.min()
    return int(np.flatnonzero(criterion <= least + TIE * (1 + abs(least)))[0]) + 1
