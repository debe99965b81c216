"""Projection machines for points that carry a weight for each class: every dimension, one class against the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .directions import Directions, principal_directions
from .lp import HingePath, hinge_path

__all__ = ["Machines", "decide", "error_rates", "fit_machines", "held_out_scores", "hinge_risks"]


class Machines(NamedTuple):
    """The path of one problem (two classes) or one for each class, on shared directions.

    Attributes
    ----------
    directions : Directions
    paths : list of HingePath
        For two classes one path, of the second against the first.
    """

    directions: Directions
    paths: list[HingePath]

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Decision values ``(m, p, problems)`` at rows of features."""
        return np.stack([path.scores(features) for path in self.paths], axis=2)

    @property
    def floor_from(self) -> int | None:
        """The first size at which no problem has anything left to gain."""
        sizes = [path.floor_from for path in self.paths]
        return None if None in sizes else max(size for size in sizes if size is not None)


def targets(W: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The (positive, negative) weights of the points in each problem."""
    if W.shape[1] == 2:
        return [(W[:, 1], W[:, 0])]
    return [(W[:, c], np.delete(W, c, axis=1).sum(axis=1)) for c in range(W.shape[1])]


def fit_machines(
    K: np.ndarray,
    W: np.ndarray,
    n_components: int | None = None,
    sizes: Iterable[int] | None = None,
    psd_tol: float | None = None,
    psd: bool = False,
) -> Machines:
    """Solve every size (or ``sizes``, where those above the rank are answered by the rank) for every problem.

    Parameters
    ----------
    K : ndarray of shape (m, m)
    W : ndarray of shape (m, C)
        The weight of each class at each point; every row and every column has a positive entry.
    psd_tol, psd
        See `principal_directions`.
    """
    directions = principal_directions(K, W.sum(axis=1), n_components, psd_tol, psd)
    F, spread = directions.features, directions.values / directions.total
    paths = [_one_path(F, positive, negative, spread, sizes) for positive, negative in targets(W)]
    return Machines(directions, paths)


def _one_path(
    F: np.ndarray, positive: np.ndarray, negative: np.ndarray, spread: np.ndarray, sizes: Iterable[int] | None
) -> HingePath:
    plus, minus = np.flatnonzero(positive), np.flatnonzero(negative)
    y = np.repeat([1.0, -1.0], [len(plus), len(minus)])
    weight = np.concatenate([positive[plus], negative[minus]])
    # Where a point has both labels, the hinge losses add up to at least twice the lighter one.
    floor = 2 * float(np.minimum(positive, negative).sum())
    sizes = None if sizes is None else np.minimum(list(sizes), F.shape[1])
    return hinge_path(F[np.concatenate([plus, minus])], y, weight, sizes=sizes, spread=spread, floor=floor)


def held_out_scores(
    K: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    n_components: int,
    sizes: Iterable[int],
    psd_tol: float | None = None,
) -> np.ndarray:
    """Decision values ``(points, p, problems)`` where ``test`` has weight, by machines that saw ``train`` alone.

    Sizes beyond the rank of the training part are answered by its whole span.
    """
    seen, asked = np.flatnonzero(train.any(axis=1)), np.flatnonzero(test.any(axis=1))
    W = train[seen]
    # Whether K is positive semidefinite is judged on the whole of it.
    machines = fit_machines(K[np.ix_(seen, seen)], W, n_components, sizes, psd_tol, psd=True)
    return machines.scores(K[np.ix_(asked, seen)] @ machines.directions.lift(W.sum(axis=1)))


def decide(scores: np.ndarray) -> np.ndarray:
    """Class numbers from decision values whose last axis is the problems."""
    return (scores[..., 0] > 0).astype(int) if scores.shape[-1] == 1 else scores.argmax(axis=-1)


def error_rates(scores: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The weighted share of wrong labels for each size, from decision values ``(m, p, problems)``."""
    right = np.take_along_axis(W, decide(scores), axis=1).sum(axis=0)
    # Rounding must not make an error of -1e-17 out of none.
    return np.maximum(1 - right / W.sum(), 0)


def hinge_risks(scores: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The weighted mean hinge loss for each size, averaged over the problems."""
    risks = [
        positive @ np.maximum(1 - f, 0) + negative @ np.maximum(1 + f, 0)
        for (positive, negative), f in zip(targets(W), np.moveaxis(scores, 2, 0), strict=True)
    ]
    return np.mean(risks, axis=0) / W.sum()
