"""What a benchmark is made of: a job, its contenders, and the settings each may be run at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Setting:
    """One way to run a contender. ``threads`` limits BLAS and OpenMP; None leaves them alone."""

    label: str = "default"
    threads: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """``run(data, **setting.options)`` does the timed work; ``requires`` names the modules it imports.

    ``prepare``, if there is one, turns the data into what ``run`` gets, and is not timed. At sizes above ``largest`` the
    contender is left out.
    """

    run: Callable[..., Any]
    requires: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = (Setting(),)
    prepare: Callable[[Any], Any] | None = None
    largest: float = float("inf")

    def input(self, data: Any) -> Any:
        return data if self.prepare is None else self.prepare(data)


@dataclass(frozen=True)
class Job:
    """A task at several sizes. The first contender is the one that the others are compared with.

    ``data(size)`` makes the input and ``answers(result, data)`` turns what a contender returned into named numbers;
    neither is timed. Two answers agree if they differ by at most ``tolerance`` (relative to the first contender's); what
    solves a part of the task only gives none. Answers named in ``own`` are shown, and not compared.
    ``module`` is the ``__name__`` of the module that holds the job as ``JOB``: child processes import it from there.
    ``table`` makes a table of its own from the outcomes, ``draw`` writes a picture of them to a path.
    """

    module: str
    title: str
    data: Callable[[int], Any]
    contenders: Mapping[str, Contender]
    answers: Callable[[Any, Any], Mapping[str, float]]
    sizes: tuple[int, ...]
    warm_size: int
    tolerance: float = 1e-6
    own: tuple[str, ...] = ()
    table: Callable[[Sequence[Any]], list[list[str]]] | None = None
    draw: Callable[[Sequence[Any], Path], None] | None = None

    @property
    def name(self) -> str:
        return self.module.rpartition(".")[2]


def load_job(name: str) -> Job:
    """The job called ``name`` here, or the one in the module ``name`` if that has a dot."""
    return import_module(name if "." in name else f"benchmarks.{name}").JOB
