"""Exact held-out predictions of Tikhonov from the spectrum of all the data: no fold is decomposed.

Delete the rows and columns of a block B from ``A + s I`` and the residual on B of the model fitted without it is
``(G_BB)^-1 (G z)_B`` with ``G = (A + s I)^-1``. Centring the features borders the matrix with a row of ones, which
turns ``G`` into ``G - u u.T / s`` for the unit vector ``u`` of the root weights. It is a null vector of ``A``, so that
taking it out of the eigenvectors does the same, without a difference of large numbers.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .base import Sample

__all__ = ["held_out_block", "leave_one_out", "smoother_diagonal"]


def held_out_block(
    U: np.ndarray, t: np.ndarray, sample: Sample, train: np.ndarray, test: np.ndarray, lams: np.ndarray
) -> np.ndarray:
    """Predictions ``(p, m, k)`` for ``test`` by Tikhonov on ``train``, its complement."""
    part = sample.take(train)
    root = sample.root[:, None]
    # The border absorbs constants, if what it is given is orthogonal to it.
    mean = sample.mean if sample.center == "features" else part.mean
    z = U.T @ (root * (sample.y - mean))
    rows, sigma = U[test] - _constant_part(U, sample, test), t * sample.scale
    seen = sample.root[test] > 0
    out = np.empty((len(lams), len(test), sample.y.shape[1]))
    for i, lam in enumerate(lams):
        shift = lam * part.scale
        weights = 1 / (sigma + shift)
        half = rows * np.sqrt(weights)
        residual = _solve(half @ half.T, rows @ (weights[:, None] * z))
        with np.errstate(invalid="ignore", divide="ignore"):
            out[i] = sample.y[test] - residual / root[test]
    # A row without weight is in no model, and no score counts it; it is given the mean.
    out[:, ~seen] = part.mean
    return out


def _constant_part(U: np.ndarray, sample: Sample, rows: np.ndarray | slice = slice(None)) -> np.ndarray | float:
    """What rows of ``U`` hold of the unit vector that centring the features makes a null vector."""
    if sample.center != "features":
        return 0.0
    unit = sample.root / np.sqrt(sample.total)
    return np.outer(unit[rows], unit @ U)


def _solve(block: np.ndarray, right: np.ndarray) -> np.ndarray:
    try:
        return cho_solve(cho_factor(block, lower=True, check_finite=False), right)
    except LinAlgError:
        # At rounding level of the spectrum the block may lose rank.
        return np.linalg.pinv(block, hermitian=True) @ right


def leave_one_out(U: np.ndarray, t: np.ndarray, sample: Sample, lams: np.ndarray) -> np.ndarray:
    """Predictions ``(p, n, k)`` for every row by Tikhonov on all other rows."""
    w, root, y = sample.weight, sample.root[:, None], sample.y
    rest = sample.total - w
    means = _means_without(sample, rest)
    constant = w / sample.total if sample.center == "features" else 0.0
    U = U - _constant_part(U, sample)
    z, one = U.T @ (root * y), U.T @ root
    away = root * (y - means) - (U @ z - means * (U @ one))
    squares, sigma = U**2, t * sample.scale
    # With a full basis nothing lies outside it, and what rounding leaves there must not be divided by the shift.
    full = len(t) == len(y)
    outside = np.zeros(len(y)) if full else np.maximum(1 - squares.sum(axis=1) - constant, 0)
    out = np.empty((len(lams), *y.shape))
    for i, lam in enumerate(lams):
        # Each row's own shift: lam times the weight that is left without it.
        shift = lam * (rest if sample.normalize else np.ones_like(rest))
        weights = _inverse(sigma, shift)
        diagonal = np.sum(squares * weights, axis=1) + outside / shift
        numerator = (U * weights) @ z - means * ((U * weights) @ one)
        if not full:
            numerator += away / shift[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            out[i] = y - numerator / diagonal[:, None] / root
    out[:, w == 0] = sample.mean
    return out


def _means_without(sample: Sample, rest: np.ndarray) -> np.ndarray:
    """What each row's model subtracts from the targets."""
    if sample.center == "target":
        return (sample.mean * sample.total - sample.weight[:, None] * sample.y) / rest[:, None]
    return np.broadcast_to(sample.mean, sample.y.shape)


def _inverse(sigma: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """``1 / (sigma + shift)``, as one row where all shifts are equal."""
    if np.all(shift == shift[0]):
        return 1 / (sigma[None, :] + shift[0])
    return 1 / (sigma[None, :] + shift[:, None])


def smoother_diagonal(U: np.ndarray, passed: np.ndarray, sample: Sample) -> np.ndarray:
    """The diagonal ``(p, n)`` of the matrices that map targets to fits, for a ``(p, r)`` table ``t g(t)``."""
    diagonal = passed @ (U**2).T
    if sample.center is None:
        return diagonal
    # The intercept's share, without what the kernel would fit of a constant.
    unit = sample.root / np.sqrt(sample.total)
    return diagonal + unit * (unit - (passed * (unit @ U)) @ U.T)
