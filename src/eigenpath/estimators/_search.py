"""Kernels x filters x parameters, judged by one rule; kernels of one metric share their distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..filters import Filter
from ..kernels import Kernel, distance_matrix
from ..path import Path
from ..selection import GCV, Choice, Rule, Task
from ..spectra.base import Coefficients, Decomposition, Folds, Sample
from ..spectra.exact import ExactDecomposition
from ..spectra.primal import PrimalDecomposition

__all__ = ["Candidate", "Search", "Winner"]


class Candidate(NamedTuple):
    """One kernel with one filter at its best parameter."""

    kernel: Kernel
    filter: Filter
    value: float


class Winner(NamedTuple):
    """The best candidate, with all that a fitted estimator keeps of it."""

    kernel: Kernel
    path: Path
    choice: Choice
    coefficients: Coefficients


@dataclass
class Search:
    """The data and the rule of one ``fit``; `run` tries the kernels.

    Attributes
    ----------
    candidates : list of Candidate
        All that was tried, in the order of trying.
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
    candidates: list[Candidate] = field(default_factory=list)
    winner: Winner | None = None
    _value: float = np.inf
    _distances: dict[str, np.ndarray] = field(default_factory=dict)
    _several: bool = False

    def run(self, kernels: list[Kernel]) -> Winner:
        """Try every kernel with every filter, and bandwidths on a grid where ``gamma="auto"``."""
        widths = [bandwidth_names(kernel) for kernel in kernels]
        self._several = len(kernels) * len(self.filters) > 1 or any(widths)
        for kernel, names in zip(kernels, widths):
            if names:
                self._try_bandwidths(kernel, names)
            else:
                self._try(self._resolve(kernel))
        self._distances.clear()
        assert self.winner is not None
        return self.winner

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
                values[power] = self._try(clone(start).set_params(**scaled))
            return values[power]

        for power in _coarse(value):
            value(power)
        best = min(values, key=lambda power: values[power])
        value(best - 1), value(best + 1)

    def _try(self, kernel: Kernel) -> float:
        """The best value over the filters."""
        decomposition = self._decompose(kernel)
        decomposition.prepare(self.filters)
        kappa2 = kernel.bound if np.isfinite(kernel.bound) else float(np.max(kernel.diag(self.X)))
        task = Task(self.classes, self.per_target, kappa2)
        return min(self._judge(kernel, filter, decomposition, task) for filter in self.filters)

    def _judge(self, kernel: Kernel, filter: Filter, decomposition: Decomposition, task: Task) -> float:
        path = Path(decomposition, filter)
        value = GCV().choose(path, task).value if self._several and not self.rule.comparable else np.nan
        choice = self.rule.choose(path, task)
        value = choice.value if self.rule.comparable else value
        self.candidates.append(Candidate(kernel, choice.fixed, value))
        if self.winner is None or value < self._value:
            coefficients = path.coefficients(choice.filter, choice.params)
            self.winner, self._value = Winner(kernel, path.release(), choice, coefficients), value
        return value

    def _decompose(self, kernel: Kernel) -> Decomposition:
        features = kernel.features(self.X)
        if features is not None and features.shape[1] < len(self.sample):
            return PrimalDecomposition(features, self.sample, self.folds)
        return ExactDecomposition(self._gram(kernel), self.sample, self.folds, self.psd_tol)

    def _gram(self, kernel: Kernel) -> np.ndarray:
        if not self._several or kernel.metric is None:
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
