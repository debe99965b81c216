"""Outcomes as a table: aligned text for the terminal, Markdown for the docs, CSV for everything else."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from benchmarks.harness import Outcome, best_settings, disagreements
from benchmarks.job import Job

MIB = 2**20
WORDS = frozenset({"contender", "setting", "what", "limit"})


def rows(job: Job, outcomes: Sequence[Outcome], all_settings: bool = False) -> list[list[str]]:
    """A heading and one row per size and contender (and setting); ratios and agreement are with the first contender.

    A job may have a table of its own.
    """
    if job.table is not None:
        return job.table(outcomes)
    best = best_settings(outcomes)
    references = {
        outcome.size: outcome
        for outcome in best
        if outcome.contender == outcomes[0].contender and outcome.status == "ok"
    }
    names = list(dict.fromkeys(name for outcome in outcomes for name in outcome.answers))
    heading = ["n", "contender", "setting", "time", "ratio", "peak memory", "with data", *names, "agrees"]
    body = [_row(job, o, references.get(o.size), names) for o in (outcomes if all_settings else best)]
    return [heading, *body]


def _row(job: Job, outcome: Outcome, reference: Outcome | None, names: Sequence[str]) -> list[str]:
    start = [str(outcome.size), outcome.contender, outcome.setting]
    if outcome.status != "ok":
        what = outcome.detail if outcome.status == "timeout" else outcome.status
        return [*start, what, *[""] * (len(names) + 4)]
    answers = [f"{outcome.answers[name]:.6g}" if name in outcome.answers else "" for name in names]
    return [
        *start,
        seconds(outcome.seconds),
        f"{outcome.seconds / reference.seconds:.2f}" if reference else "",
        f"{outcome.memory / MIB:.0f} MiB",
        f"{outcome.absolute / MIB:.0f} MiB",
        *answers,
        _agreement(job, outcome, reference),
    ]


def _agreement(job: Job, outcome: Outcome, reference: Outcome | None) -> str:
    if reference is None or not outcome.answers:
        return ""
    differing = disagreements(outcome, reference, job.tolerance, job.own)
    return f"NO: {', '.join(differing)}" if differing else "yes"


def seconds(value: float) -> str:
    """Three digits, in seconds."""
    return f"{value:.3f} s" if value < 1 else f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def as_text(table: Sequence[Sequence[str]]) -> str:
    """Columns aligned: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if name in WORDS else cell.rjust(width)
            for name, cell, width in zip(table[0], row, widths)
        )
        for row in table
    ]
    return "\n".join(line.rstrip() for line in lines)


def as_markdown(table: Sequence[Sequence[str]]) -> str:
    """The same table for the docs."""
    rule = ["---" if name in WORDS else "---:" for name in table[0]]
    return "\n".join(f"| {' | '.join(row)} |" for row in [table[0], rule, *table[1:]])


def write_results(folder: Path, job: Job, outcomes: Sequence[Outcome], machine: str, markdown: str) -> None:
    """``<job>.md`` with the table and the machine, ``<job>.csv`` with every setting, and ``<job>.png`` if one is drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    note = "<br>\n".join(f"<small>{line}</small>" for line in machine.splitlines())
    (folder / f"{job.name}.md").write_text(f"{markdown}\n\n{note}\n")
    if job.draw is not None:
        with suppress(ImportError):  # pictures are an extra
            job.draw(outcomes, folder / f"{job.name}.png")
    records = [
        {**asdict(outcome), **{f"answer: {name}": value for name, value in outcome.answers.items()}}
        for outcome in outcomes
    ]
    columns = list(dict.fromkeys(name for record in records for name in record if name != "answers"))
    with (folder / f"{job.name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(records)
