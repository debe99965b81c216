r"""The linear programs of the kernel projection machine for every dimension, one warm-started HiGHS model.

.. math:: \min_{\beta \in R^D, b} \sum_i w_i \bigl(1 - y_i (\beta^T F_i + b)\bigr)_+

The dual, maximize :math:`\sum a_i` subject to :math:`0 \le a_i \le w_i`, :math:`\sum_i a_i y_i = 0` and
:math:`\sum_i a_i y_i F_{ij} = 0` for :math:`j \le D`, gets one row more when D grows by one. The last optimal basis,
with that row's slack added to it, stays dual feasible, so the dual simplex method goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import highspy
import numpy as np

from .margin import largest_margin

__all__ = ["HingePath", "hinge_path"]

# The two simplex methods, in the solver's numbers.
DUAL, PRIMAL = 1, 4
# One thread for each model: these programs are small, and callers run several of them side by side. HiGHS keeps that
# number for the Python thread: a later program of the user's there must ask for as many or for 0, or call
# Highs.resetGlobalScheduler first. Presolve would throw the last basis away. Scaling can hide that a basis is near to
# singular, and the rows are of one size already. Devex weights (1) are the fastest here. Entries below 1e-9 would be
# dropped by default, which moves scores as soon as coefficients are large.
OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",
    "solver": "simplex",
    "simplex_strategy": DUAL,
    "simplex_scale_strategy": 0,
    "simplex_dual_edge_weight_strategy": 1,
    "small_matrix_value": 1e-12,
}
# Coefficients of directions of unit mean square stay below this. It matters only where rows are told apart by digits
# that are rounding errors; without it such programs have no reliable optimum. The second number is for those that
# still have none.
LARGEST = 1e7
LARGEST_ILL = 1e5
# HiGHS holds bounds to 1e-7, so a multiplier this near to a bound (relative to it) may as well be on it.
AT_BOUND = 1e-7
# What a loss, for each row of weight one, may differ by.
FLOOR_TOL = 1e-9


class HingePath(NamedTuple):
    """The best functions ``beta @ F[i] + intercept`` in 1, 2, 3, … directions.

    Attributes
    ----------
    sizes : ndarray of shape (p,)
        Numbers of directions D.
    values : ndarray of shape (p,)
        The weighted sums of hinge losses of the functions; they never rise.
    bounds : ndarray of shape (p,)
        The values of the dual programs, as the solver reports them: no function does better, up to its tolerance.
    beta : ndarray of shape (p, d)
        Row for size D: zero from column D on.
    intercept : ndarray of shape (p,)
    floor_from : int or None
        The first size whose value is the least that any function can have; the sizes after it repeat its solution.
    n_pivots : int
        Simplex iterations in all.
    """

    sizes: np.ndarray
    values: np.ndarray
    bounds: np.ndarray
    beta: np.ndarray
    intercept: np.ndarray
    floor_from: int | None
    n_pivots: int

    def scores(self, F: np.ndarray) -> np.ndarray:
        """Values of all the functions at rows ``F (m, d)``, shape (m, p)."""
        return F @ self.beta.T + self.intercept


def hinge_path(
    F: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    *,
    sizes: Iterable[int] | None = None,
    spread: np.ndarray | None = None,
    floor: float = 0.0,
) -> HingePath:
    """Minimize the weighted hinge loss over the first D columns of F and an intercept, for every D in ``sizes``.

    Where the optimum is not one point but a face, its point of largest margin is returned: the least
    ``sum(beta**2 / spread)``. So equal problems have equal answers, however their rows are written.

    Parameters
    ----------
    F : ndarray of shape (n, d)
        Columns of about unit mean square, so that the program is well conditioned.
    y : ndarray of shape (n,)
        Signs.
    weight : ndarray of shape (n,)
        Positive.
    sizes : iterable of int, optional
        Increasing; 1, 2, …, d by default. Sizes left out are not solved.
    spread : ndarray of shape (d,), optional
        The variances of the directions, all one by default.
    floor : float
        A lower bound of the value that no function can beat: twice the weight of contradicted labels.

    Returns
    -------
    path : HingePath

    Examples
    --------
    >>> import numpy as np
    >>> F = np.array([[-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0]])
    >>> path = hinge_path(F, np.array([-1.0, -1.0, 1.0, -1.0]), np.ones(4))
    >>> path.values.round(9).tolist(), path.floor_from
    ([2.0, 0.0], 2)
    """
    # The solver's tolerances are absolute: let them meet weights of about one.
    unit = float(weight.mean())
    sizes = np.arange(1, F.shape[1] + 1) if sizes is None else np.asarray(list(sizes))
    spread = np.ones(F.shape[1]) if spread is None else spread
    rows = y[:, None] * np.column_stack([np.ones(len(F)), F])
    path = _follow(rows, weight / unit, sizes, spread, floor / unit)
    return path._replace(values=unit * path.values, bounds=unit * path.bounds)


def _follow(rows: np.ndarray, weight: np.ndarray, sizes: np.ndarray, spread: np.ndarray, floor: float) -> HingePath:
    values, bounds, x = np.empty(len(sizes)), np.empty(len(sizes)), np.zeros((len(sizes), rows.shape[1]))
    model, floor_from = _Dual(rows[:, 0], weight), None
    for i, size in enumerate(sizes):
        model.extend(rows[:, 1 + model.size : 1 + size])
        optimum = model.solve()
        bounds[i] = optimum.value
        x[i, : size + 1] = _solution(rows[:, : size + 1], weight, optimum, spread[:size], floor)
        values[i] = _loss(rows, weight, x[i])
        if i and values[i] > values[i - 1]:
            # What was best without the new direction is still there; only rounding can make something else look worse.
            values[i], x[i] = values[i - 1], x[i - 1]
        if values[i] <= floor + FLOOR_TOL * len(rows):
            values[i:], bounds[i:], x[i:], floor_from = values[i], bounds[i], x[i], int(size)
            break
    return HingePath(sizes, values, bounds, x[:, 1:], x[:, 0], floor_from, model.n_pivots)


class _Optimum(NamedTuple):
    """Value, multipliers of the n rows, prices (the intercept and beta) and their bound."""

    value: float
    a: np.ndarray
    prices: np.ndarray
    largest: float


class _Dual:
    """The dual program, as a model that grows by rows.

    Columns 0 to n - 1 are the multipliers. Two more for each direction, n + 2(j - 1) and the next, let its row miss
    zero at a cost of ``largest``, which bounds the direction's price, that is its coefficient, by as much.
    """

    def __init__(self, y: np.ndarray, weight: np.ndarray) -> None:
        self.solver = highspy.Highs()
        self.solver.disableCallbacks()
        for name, value in OPTIONS.items():
            self.solver.setOptionValue(name, value)
        self.columns = np.arange(len(y), dtype=np.int32)
        self.size, self.n_pivots, self.largest = 0, 0, LARGEST
        n, none = len(y), np.empty(0)
        index = none.astype(np.int32)
        self.solver.addCols(n, -np.ones(n), np.zeros(n), weight, 0, np.zeros(n, np.int32), index, none)
        self._add_row(y)

    def extend(self, rows: np.ndarray) -> None:
        """Ask that the multipliers be orthogonal to the columns of ``rows`` too."""
        for row in rows.T:
            self._add_row(np.ascontiguousarray(row))
            self.size += 1
            for sign in (1.0, -1.0):
                self.solver.addCol(self.largest, 0.0, np.inf, 1, np.array([self.size], np.int32), np.array([sign]))

    def _add_row(self, row: np.ndarray) -> None:
        self.solver.addRow(0.0, 0.0, len(row), self.columns, row)

    def solve(self) -> _Optimum:
        """Go on from the last basis."""
        if self._run() != highspy.HighsModelStatus.kOptimal and not self._rescued():
            raise RuntimeError(
                f"the linear program in {self.size} directions ended with HiGHS status "
                f"{self.solver.modelStatusToString(self.solver.getModelStatus())!r}, not 'Optimal'. Lower "
                "max_components, or look for a kernel whose width does not fit the data and for extreme values in "
                "sample_weight."
            )
        solution = self.solver.getSolution()
        value = -self.solver.getInfo().objective_function_value
        a, prices = np.array(solution.col_value)[self.columns], -np.array(solution.row_dual)
        return _Optimum(value, a, prices, self.largest)

    def _rescued(self) -> bool:
        """Start afresh: a basis that was good for the last program may be too near to singular for this one."""
        return any(self._afresh(*how) for how in ((DUAL, self.largest), (PRIMAL, self.largest), (DUAL, LARGEST_ILL)))

    def _afresh(self, strategy: int, largest: float) -> bool:
        self.solver.clearSolver()
        if largest != self.largest:
            self.largest = largest
            for column in range(len(self.columns), len(self.columns) + 2 * self.size):
                self.solver.changeColCost(column, largest)
        self.solver.setOptionValue("simplex_strategy", strategy)
        status = self._run()
        self.solver.setOptionValue("simplex_strategy", DUAL)
        return status == highspy.HighsModelStatus.kOptimal

    def _run(self) -> highspy.HighsModelStatus:
        if self.solver.run() == highspy.HighsStatus.kError:
            # An earlier program of this Python thread may have set another number of threads, and HiGHS refuses ours.
            # With 0 it takes what is there, of which this simplex method uses one.
            self.solver.setOptionValue("threads", 0)
            self.solver.run()
        self.n_pivots += max(self.solver.getInfo().simplex_iteration_count, 0)
        return self.solver.getModelStatus()


def _solution(rows: np.ndarray, weight: np.ndarray, optimum: _Optimum, spread: np.ndarray, floor: float) -> np.ndarray:
    """The intercept and beta: the prices if they are the only optimum, else the point of largest margin."""
    x, slack = optimum.prices, FLOOR_TOL * len(rows)
    above, below = optimum.a > AT_BOUND * weight, optimum.a < (1 - AT_BOUND) * weight
    several = optimum.value <= floor + slack or np.count_nonzero(above & below) < rows.shape[1]
    if not several:
        return x
    other = largest_margin(rows, above & below, ~above, spread, start=x)
    as_good = _loss(rows, weight, other) <= _loss(rows, weight, x) + slack
    return other if as_good and np.abs(other[1:]).max() <= optimum.largest else x


def _loss(rows: np.ndarray, weight: np.ndarray, x: np.ndarray) -> float:
    return float(weight @ np.maximum(1 - rows @ x, 0))
