"""The parent's side: run every configuration of a job in a process of its own, by turns, and keep the best."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product

from benchmarks.job import Job, Setting

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """What one configuration took: seconds, bytes above the data, bytes in all; ``status`` says if it ran at all."""

    contender: str
    setting: str
    size: int
    status: str
    seconds: float = float("inf")
    memory: int = 0
    absolute: int = 0
    answers: Mapping[str, float] = field(default_factory=dict)
    detail: str = ""


def run_job(
    job: Job,
    sizes: Iterable[int] | None = None,
    contenders: Iterable[str] | None = None,
    repeats: int = 3,
    timeout: float = 600.0,
    progress: Callable[[str], None] = lambda line: None,
    repeat_under: float = float("inf"),
) -> list[Outcome]:
    """Every configuration at every size, the best of ``repeats`` each, in the order of the job.

    Repeats go round all configurations in turn, so that a disturbance of the machine meets all of them. What failed, ran
    out of time or took ``repeat_under`` seconds is not repeated, and what ran out of time is not tried at a larger size.
    """
    chosen = list(configurations(job, contenders))
    given_up: set[tuple[str, str]] = set()
    outcomes: list[Outcome] = []
    for size in sorted(job.sizes if sizes is None else sizes):
        best: dict[tuple[str, str], Outcome] = {}
        fitting = [(name, setting) for name, setting in chosen if size <= job.contenders[name].largest]
        for turn, (name, setting) in product(range(repeats), fitting):
            key = (name, setting.label)
            if key in given_up:
                late = Outcome(name, setting.label, size, "not run", detail="a smaller size ran out of time")
                best.setdefault(key, late)
            elif turn == 0 or (best[key].status == "ok" and best[key].seconds < repeat_under):
                progress(f"{job.name}: {name} ({setting.label}), n = {size}, {turn + 1} of {repeats}")
                new = run_once(job, name, setting, size, timeout)
                best[key] = better(best[key], new) if turn else new
                given_up |= {key} if new.status == "timeout" else set()
        outcomes += best.values()
    return outcomes


def configurations(job: Job, contenders: Iterable[str] | None = None) -> Iterator[tuple[str, Setting]]:
    """All (contender, setting) pairs, of all contenders or of those named."""
    chosen = list(job.contenders if contenders is None else contenders)
    if unknown := [name for name in chosen if name not in job.contenders]:
        raise ValueError(
            f"no contender {unknown[0]!r} in the job {job.name!r}: choose from {', '.join(job.contenders)}"
        )
    for name, contender in job.contenders.items():
        if name in chosen:
            yield from ((name, setting) for setting in contender.settings)


def better(old: Outcome, new: Outcome) -> Outcome:
    """The faster of two runs of one configuration; a run that failed after all is what counts."""
    if new.status != "ok":
        return new
    return min(old, new, key=lambda outcome: outcome.seconds)


def run_once(job: Job, name: str, setting: Setting, size: int, timeout: float) -> Outcome:
    """One configuration in a fresh process, which is killed with all its workers after ``timeout`` seconds."""
    spec = {"module": job.module, "contender": name, "options": dict(setting.options), "size": size}
    command = [sys.executable, "-m", "benchmarks.measure", json.dumps(spec)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(setting.threads),
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return Outcome(name, setting.label, size, "timeout", detail=f"> {timeout:g} s")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        return Outcome(name, setting.label, size, "failed", detail=last_line(err) or f"exit {process.returncode}")
    return Outcome(name, setting.label, size, **json.loads(last_line(out)))


def environment(threads: int | None) -> dict[str, str]:
    """The child's environment: this process's import path, and thread limits set before any library is loaded."""
    kept = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    limits = dict.fromkeys(THREAD_VARIABLES, str(threads)) if threads else {}
    return {**kept, **limits, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def last_line(text: str) -> str:
    """The last line that is not blank."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def best_settings(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """For every contender and size, the outcome of its fastest setting."""
    best: dict[tuple[str, int], Outcome] = {}
    for outcome in outcomes:
        key = (outcome.contender, outcome.size)
        if key not in best or outcome.seconds < best[key].seconds:
            best[key] = outcome
    return list(best.values())


def disagreements(outcome: Outcome, reference: Outcome, tolerance: float, own: Sequence[str] = ()) -> list[str]:
    """The names of the answers in which two outcomes differ, but for those that are each contender's own."""
    return [
        name
        for name, value in reference.answers.items()
        if name not in own and not abs(outcome.answers.get(name, float("nan")) - value) <= tolerance * abs(value)
    ]
