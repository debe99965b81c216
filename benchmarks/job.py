"""What a benchmark is made of: a job, its contenders, and the settings each may be run at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Setting:
    """One way to run a contender. ``threads`` limits BLAS and OpenMP; None leaves them alone."""

    label: str = "default"
    threads: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """``run(data, **setting.options)`` does the timed work; ``requires`` names the modules it imports."""

    run: Callable[..., Any]
    requires: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = (Setting(),)


@dataclass(frozen=True)
class Job:
    """A task at several sizes. The first contender is the one that the others are compared with.

    ``data(size)`` makes the input and ``answers(result, data)`` turns what a contender returned into named numbers;
    neither is timed. Two answers agree if they differ by at most ``tolerance`` (relative to the first contender's).
    ``module`` is the ``__name__`` of the module that holds the job as ``JOB``: child processes import it from there.
    """

    module: str
    title: str
    data: Callable[[int], Any]
    contenders: Mapping[str, Contender]
    answers: Callable[[Any, Any], Mapping[str, float]]
    sizes: tuple[int, ...]
    warm_size: int
    tolerance: float = 1e-6

    @property
    def name(self) -> str:
        return self.module.rpartition(".")[2]


def load_job(name: str) -> Job:
    """The job called ``name`` here, or the one in the module ``name`` if that has a dot."""
    return import_module(name if "." in name else f"benchmarks.{name}").JOB
