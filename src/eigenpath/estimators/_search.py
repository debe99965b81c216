"""Kernels x filters x parameters, judged by one rule; kernels of one metric share their distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pickle import PicklingError
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone

from ..filters import Filter
from ..gram import DistanceTriangle, build_gram
from ..kernels import Kernel, distance_matrix
from ..path import Path
from ..selection import GCV, Choice, Rule, Task
from ..spectra.base import Coefficients, Decomposition, Folds, Sample
from ..spectra.exact import ExactDecomposition
from ..spectra.krylov import KrylovDecomposition
from ..spectra.primal import PrimalDecomposition
from ._adaptive import follow, relative_errors
from ._plan import Job, Options, Plan, make_plan

__all__ = ["Candidate", "FoldFunctions", "Search", "Solver", "Space", "Winner"]

# How much coarser the Krylov route is while kernels are compared.
_COARSE = 10.0


class Candidate(NamedTuple):
    """One kernel with one filter at its best parameter."""

    kernel: Kernel
    filter: Filter
    value: float


class Solver(NamedTuple):
    """How the winner was computed.

    Attributes
    ----------
    route : {"primal", "exact", "krylov"}
    how : str
    steps : int
        Of the Krylov method; other routes take one.
    error : float or None
        On the Krylov route a bound on the error of the function chosen, over folds and targets: its root mean square on
        the training rows as a share of the target's.
    rounding : float or None
        What rounding in the products with K may add to ``error``: pessimistic in mixed precision.
    """

    route: str
    how: str
    steps: int = 1
    error: float | None = None
    rounding: float | None = None


class Space(NamedTuple):
    """A Krylov space that a later fit may go on from, and a digest of all that it depends on."""

    key: str
    krylov: KrylovDecomposition


class FoldFunctions(NamedTuple):
    """The functions of all folds, what each row's own fold ``fold (n,)`` misses of it, ``missed (n, k)``, weights."""

    functions: list[Coefficients]
    missed: np.ndarray
    fold: np.ndarray
    weight: np.ndarray | None = None


class Winner(NamedTuple):
    """The best candidate, with all that a fitted estimator keeps of it."""

    kernel: Kernel
    path: Path
    choice: Choice
    coefficients: Coefficients
    solver: Solver
    folds: FoldFunctions | None = None


@dataclass
class Search:
    """The data and the rule of one ``fit``; `run` tries the kernels.

    Attributes
    ----------
    candidates : list of Candidate
        All that was tried, in the order of trying.
    space : Space or None
        With ``warm_start`` and one kernel, where to go on from, and afterwards what there is to go on from.
    """

    X: Any
    sample: Sample
    filters: list[Filter]
    rule: Rule
    folds: Folds
    classes: np.ndarray | None = None
    per_target: bool = False
    psd_tol: float | None = None
    random_state: Any = None
    options: Options = field(default_factory=Options)
    intervals: bool = False
    warm_start: bool = False
    space: Space | None = None
    candidates: list[Candidate] = field(default_factory=list)
    winner: Winner | None = None
    _value: float = np.inf
    _distances: dict[str, np.ndarray] = field(default_factory=dict)
    _triangles: dict[str, DistanceTriangle] = field(default_factory=dict)
    _several: bool = False
    _kernels: bool = False

    def run(self, kernels: list[Kernel]) -> Winner:
        """Try every kernel with every filter, and bandwidths on a grid where ``gamma="auto"``."""
        widths = self.announce(kernels)
        for kernel, names in zip(kernels, widths):
            if names:
                self._try_bandwidths(kernel, names)
            else:
                self._try(self._resolve(kernel), self._coarse)
        assert self.winner is not None
        if self._kernels and self.winner.solver.route == "krylov":
            self._refine()
        self._distances.clear()
        self._triangles.clear()
        return self.winner

    def announce(self, kernels: list[Kernel]) -> list[list[str]]:
        """See whether there will be several candidates; return the names of the bandwidths to look for."""
        widths = [bandwidth_names(kernel) for kernel in kernels]
        self._kernels = len(kernels) > 1 or any(widths)
        self._several = self._kernels or len(self.filters) > 1
        return widths

    @property
    def _coarse(self) -> float:
        """The precision that tells most kernels apart; the contenders come again."""
        return self.options.tol * (_COARSE if self._kernels else 1.0)

    def _refine(self) -> None:
        """Once more in full precision: the best at coarse precision, and what is as good up to that precision."""
        tried, self.candidates = self.candidates, []
        worst = self._value + self._coarse * abs(self._value)
        contenders = {id(one.kernel): one.kernel for one in tried if one.value <= worst}
        self._value = np.inf
        for kernel in contenders.values():
            self._try(kernel, self.options.tol)
        finer = iter(self.candidates)
        self.candidates = [next(finer) if id(one.kernel) in contenders else one for one in tried]

    def _resolve(self, kernel: Kernel) -> Kernel:
        return kernel.resolve(self.X, self.sample.sample_weight, self.random_state)

    def _try_bandwidths(self, kernel: Kernel, names: list[str]) -> None:
        """Walk from the median distance's bandwidth, or else the variance's, downhill, in steps of 4, then of 2."""
        start = self._resolve(clone(kernel).set_params(**{name: _start(kernel, name) for name in names}))
        base = {name: start.get_params()[name] for name in names}
        values: dict[int, float] = {}

        def value(power: int) -> float:
            if power not in values:
                scaled = {name: gamma * 2.0**power for name, gamma in base.items()}
                values[power] = self._try(clone(start).set_params(**scaled), self._coarse)
            return values[power]

        for power in _coarse(value):
            value(power)
        best = min(values, key=lambda power: values[power])
        value(best - 1), value(best + 1)

    def _try(self, kernel: Kernel, tol: float) -> float:
        """The best value over the filters."""
        seen = self.sample.weight > 0
        kappa2 = kernel.bound if np.isfinite(kernel.bound) else float(np.max(kernel.diag(self.X)[seen]))
        task = Task(self.classes, self.per_target, kappa2)
        features = kernel.features(self.X)
        plan = self.plan(kernel, features)
        if plan.route == "krylov":
            return self._try_krylov(kernel, task, plan, tol)
        if plan.route == "primal":
            decomposition: Decomposition = PrimalDecomposition(features, self.sample, self.folds)
        else:
            decomposition = ExactDecomposition(self._gram(kernel), self.sample, self.folds, self.psd_tol)
        decomposition.prepare(self.filters)
        values = []
        for filter in self.filters:
            path = Path(decomposition, filter)
            value = self._compared(path, task)
            choice = self.rule.choose(path, task)
            solver = Solver(plan.route, f"all {len(path.t)} eigenvalues")
            values.append(self._judge(kernel, path, choice, choice.value if self.rule.comparable else value, solver))
        return min(values)

    def _compared(self, path: Path, task: Task) -> float:
        """The least GCV score, where kernels and filters are compared and the rule's own scores do not serve."""
        if not self._several or self.rule.comparable:
            return np.nan
        value = GCV().choose(path, task).value
        # The path shows what the rule thinks.
        path.scores = path.scores_std = None
        return value

    def _try_krylov(self, kernel: Kernel, task: Task, plan: Plan, tol: float) -> float:
        options = self.options
        krylov = self._space(kernel, plan)
        assert plan.room is not None
        followers = follow(
            krylov,
            self.filters,
            self.rule,
            task,
            tol=tol,
            max_iter=min(options.max_iter, plan.room),
            remedy="max_iter" if options.max_iter <= plan.room else "memory_limit",
            quiet=tol > options.tol,
        )
        values = []
        for one in followers:
            assert one.path is not None and one.choice is not None
            how = f"{krylov.steps} Krylov steps, K {plan.storage} in {options.precision} precision"
            solver = Solver(plan.route, how, krylov.steps, one.error, one.rounding)
            values.append(self._judge(kernel, one.path, one.choice, one.choice.value, solver))
            if self.winner is not None and self.winner.path is one.path:
                one.path.error_bound = relative_errors(krylov, one.filter, one.params)[0]
        return min(values)

    def _space(self, kernel: Kernel, plan: Plan) -> KrylovDecomposition:
        """A new Krylov space, or the one of the last fit if it was of the same problem."""
        key = self._digest(kernel) if self.warm_start and not self._kernels else None
        if self.space is not None and self.space.key == key:
            return self.space.krylov
        self.space = None
        gram = build_gram(
            kernel,
            self.X,
            storage="tiled" if plan.storage == "tiled" else "auto",
            precision=self.options.precision,
            budget=plan.budget,
            distances=self._triangle(kernel) if plan.shared else None,
        )
        krylov = KrylovDecomposition(gram, self.sample, self.folds, self.psd_tol)
        self.space = None if key is None else Space(key, krylov)
        return krylov

    def _digest(self, kernel: Kernel) -> str | None:
        """None for a kernel whose function cannot be told from another."""
        try:
            return str(joblib.hash((kernel, self.X, self.sample, self.folds, self.psd_tol, self.options.precision)))
        except (PicklingError, AttributeError, TypeError):
            return None

    def _triangle(self, kernel: Kernel) -> DistanceTriangle:
        assert kernel.metric is not None
        if kernel.metric not in self._triangles:
            self._triangles[kernel.metric] = DistanceTriangle(self.X, kernel.metric)
        return self._triangles[kernel.metric]

    def plan(self, kernel: Kernel, features: Any = None) -> Plan:
        """The route for one kernel."""
        whole = f"rule={self.rule!r}" if self.rule.whole else None
        if self._several and not self.rule.comparable:
            whole = "comparing kernels and filters by GCV"
        if any(filter.whole for filter in self.filters):
            whole = "a share of the variance"
        job = Job(
            n=len(self.sample),
            d=self.X.shape[1],
            targets=self.sample.y.shape[1],
            folds=len(self.folds),
            features=None if features is None else features.shape[1],
            whole=whole,
            stored=kernel.pairwise,
            several=self._kernels and kernel.metric is not None,
            cuts=any(filter.cuts for filter in self.filters),
            vectors=not all(filter.resolvent for filter in self.filters),
        )
        return make_plan(job, self.options)

    def _judge(self, kernel: Kernel, path: Path, choice: Choice, value: float, solver: Solver) -> float:
        """Note a candidate, and keep it if it is the best so far."""
        self.candidates.append(Candidate(kernel, choice.fixed, value))
        if self.winner is None or value < self._value:
            coefficients = path.coefficients(choice.filter, choice.params)
            folds = self._fold_functions(path, choice)
            self.winner = Winner(kernel, path.release(), choice, coefficients, solver, folds)
            self._value = value
        return value

    def _fold_functions(self, path: Path, choice: Choice) -> FoldFunctions | None:
        """The folds' functions at the choice and what they miss, if every row is held out once."""
        n = len(self.sample)
        held_out = np.concatenate([test for _, test in self.folds]) if self.folds else np.empty(0, dtype=int)
        if not self.intervals or len(held_out) != n or len(np.unique(held_out)) != n:
            return None
        functions = path.decomposition.fold_coefficients(choice.filter, choice.params)
        weight = self.sample.sample_weight
        missed, fold = np.empty_like(self.sample.y), np.empty(n, dtype=int)
        for i, (_, test) in enumerate(self.folds):
            found = [path.decomposition.held_out(i, choice.filter, np.atleast_1d(param)) for param in choice.params]
            predicted = found[0][0] if len(found) == 1 else np.column_stack([f[0][:, k] for k, f in enumerate(found)])
            missed[test], fold[test] = np.abs(self.sample.y[test] - predicted), i
        return FoldFunctions(functions, missed, fold, weight)

    def _gram(self, kernel: Kernel) -> np.ndarray:
        if not self._kernels or kernel.metric is None:
            return kernel(self.X)
        if kernel.metric not in self._distances:
            self._distances[kernel.metric] = distance_matrix(self.X, metric=kernel.metric)
        return kernel.from_distance(self._distances[kernel.metric])


def bandwidth_names(kernel: Kernel) -> list[str]:
    """The parameters of a kernel, or of its parts, that are ``"auto"``."""
    return [name for name, value in kernel.get_params().items() if isinstance(value, str) and value == "auto"]


def _start(kernel: Kernel, name: str) -> str:
    """The rule for the bandwidth to start from, where that parameter is."""
    part = name.rpartition("__")[0]
    owner = kernel.get_params()[part] if part else kernel
    return "scale" if owner.metric is None else "median"


def _coarse(value: Any) -> Iterator[int]:
    """Powers of 2 to try, two at a time, outwards from 0 until the best has two that are no better on each side."""
    low, high = -2, 2
    yield from (0, low, high)
    while True:
        tried = range(low, high + 1, 2)
        best = _clearly_best(value, tried)
        # Where all bandwidths do alike, nothing may have been learned yet: look farther before giving up.
        least = 8 if _level(value, tried) else 2
        if low > -16 and (best - low < 4 or -low < least):
            low -= 2
            yield low
        elif high < 16 and (high - best < 4 or high < least):
            high += 2
            yield high
        else:
            return


def _level(value: Any, powers: range) -> bool:
    values = [value(power) for power in powers]
    return max(values) - min(values) < 0.05 * abs(min(values))


def _clearly_best(value: Any, powers: range) -> int:
    """The best power; only a gain of 0.1 % is worth being farther from the start, or flat ground would never end."""
    best = 0
    for power in sorted(powers, key=abs):
        if value(power) < value(best) - 1e-3 * abs(value(best)):
            best = power
    return best
