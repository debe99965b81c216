r"""How far what a Krylov space says may be from the truth.

With Ritz pairs :math:`(\theta_j, u_j)` of the tridiagonal matrix and the unit vector v that comes next,

.. math:: g(A) y - \|y\| V g(T) e_1 = \|y\| \, \beta \, h(A) \, v, \qquad
          h(x) = \sum_j u_{1j} \, u_{sj} \, \frac{g(x) - g(\theta_j)}{x - \theta_j},

so that the largest values of ``|h|`` on the spectrum bound the error, for any filter g.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .krylov_column import Column, Ritz

__all__ = ["ErrorBound", "cut_bound", "filter_bound", "tikhonov_bound"]

# Ritz values closer than this share of the largest are one, where differences are divided by their distance.
_CLOSE = 1e-9


class ErrorBound(NamedTuple):
    """Bounds on the difference between a function found and the exact one, arrays ``(p,)`` or ``(p, targets)``.

    Attributes
    ----------
    training : ndarray
        The root mean square, weighted, of its values on the training rows: in the units of y.
    norm : ndarray
        Its norm in the kernel's space.
    held_out : ndarray
        The root mean square of its values on the test rows. Zero where there are none.
    rounding : ndarray
        What the products' rounding errors may add to ``training``, to first order.
    """

    training: np.ndarray
    norm: np.ndarray
    held_out: np.ndarray
    rounding: np.ndarray


def tikhonov_bound(column: Column, lams: np.ndarray) -> ErrorBound:
    """From the residual of ``(A + N lam) z = y``, which is ``beta |e_s^T (T + N lam)^-1 e_1| norm(y)``."""
    sample, ritz = column.problem.sample, column.ritz
    shift = lams * sample.scale
    if column.steps == 0 or column.norm == 0:
        return ErrorBound(*(np.zeros(len(lams)) for _ in range(4)))
    residual = column.norm * _tail(np.asarray(column.alpha), np.asarray(column.beta), shift)
    norm = residual / (2 * np.sqrt(shift))
    with np.errstate(divide="ignore"):
        solution = column.norm / sample.scale * np.sqrt((1 / (ritz.values + lams[:, None])) ** 2 @ ritz.vectors[0] ** 2)
    rounding = np.sqrt(np.sum(np.square(column.noise))) * solution
    root = np.sqrt(sample.total)
    return ErrorBound(residual / root, norm, _held_out(column, norm), rounding / root)


def _held_out(column: Column, norm: np.ndarray) -> np.ndarray:
    reach = column.problem.reach
    return norm * reach if reach else np.zeros_like(norm)


def _tail(alpha: np.ndarray, beta: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """``beta_s |e_s^T (T + shift)^-1 e_1|`` from pivots: a product of positive numbers cancels nothing."""
    pivot = alpha[0] + shift
    tail = beta[0] / pivot
    for a, before, after in zip(alpha[1:], beta, beta[1:]):
        pivot = a + shift - before**2 / pivot
        tail = tail * (after / pivot)
        # Where rounding made the matrix indefinite nothing is known.
        pivot = np.where(pivot > 0, pivot, np.nan)
    return np.where(np.isnan(tail), np.inf, np.abs(tail))


def filter_bound(column: Column, gains: Callable[[np.ndarray], np.ndarray], top: float | None = None) -> ErrorBound:
    """From the largest values of ``|h|`` on the interval that holds the spectrum, weighted for each norm.

    ``gains`` must be continuous in t. It is called once, with ``top``, no eigenvalue being larger, first.
    """
    sample, ritz = column.problem.sample, column.ritz
    x = _grid(ritz, column.problem.trace / sample.scale if top is None else top)
    both = gains(np.concatenate([x, np.maximum(ritz.values, 0)]))
    at_x, at_ritz = both[:, : len(x)], both[:, len(x) :]
    if column.steps == 0 or column.norm == 0:
        return ErrorBound(*(np.zeros(len(both)) for _ in range(4)))
    kernel = ritz.vectors[0] * ritz.vectors[-1] / (x[:, None] - ritz.values)
    h = np.abs(at_x * kernel.sum(axis=1) - at_ritz @ kernel.T)
    factor = column.norm * ritz.coupling
    training = factor / np.sqrt(sample.total) * (x * h).max(axis=1)
    norm = factor / np.sqrt(sample.scale) * (np.sqrt(x) * h).max(axis=1)
    slope = np.abs(np.diff(x * at_x) / np.diff(x)).max(axis=1)
    noise = np.sqrt(np.sum(np.square(column.noise))) / sample.scale
    rounding = 2 * noise * slope * column.norm / np.sqrt(sample.total)
    return ErrorBound(training, norm, _held_out(column, norm), rounding)


def _grid(ritz: Ritz, top: float) -> np.ndarray:
    """Points from ``top`` to 0, between the Ritz values and above and below them."""
    values = np.maximum(ritz.values[::-1], 0)
    close = _CLOSE * values[-1]
    top = max(top, values[-1] + 2 * close)
    knots = np.concatenate([[0.0], values, [top]])
    low, high = knots[:-1], knots[1:]
    wide = high - low > close
    low, high = low[wide], high[wide]
    points = [low + share * (high - low) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    # The outer gaps may span orders of magnitude.
    if values[0] > close:
        points += [np.zeros(1), np.geomspace(close, values[0], 12)[1:-1]]
    if close > 0:
        points.append(np.geomspace(values[-1] + close, top, 12)[1:])
    return np.unique(np.concatenate([*points, [top]]))[::-1]


def cut_bound(column: Column, lams: np.ndarray) -> np.ndarray:
    """Training error ``(p,)`` of the fit by the components with ``t >= lam``.

    The filter jumps at ``lam``: what is far from it counts little, and components at ``lam`` cannot be told apart.
    """
    ritz, sample = column.ritz, column.problem.sample
    if column.exact:
        return np.zeros(len(lams))
    weights = np.abs(ritz.vectors[0] * ritz.vectors[-1])
    apart = ritz.values - lams[:, None]
    with np.errstate(divide="ignore"):
        terms = weights / np.abs(apart)
    kept = np.sum(np.where(apart >= 0, terms, 0), axis=1)
    dropped = np.sum(np.where(apart < 0, terms, 0), axis=1)
    return column.norm * ritz.coupling / np.sqrt(sample.total) * np.maximum(kept, dropped)
