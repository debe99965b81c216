"""Command line: ``python -m benchmarks [JOB ...] [--sizes N ...] [--quick] ...``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import JOBS
from benchmarks.harness import run_job
from benchmarks.job import load_job
from benchmarks.machine import machine_facts
from benchmarks.table import as_markdown, as_text, rows, write_results


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options of a run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="eigenpath beside its peers")
    parser.add_argument("jobs", nargs="*", default=JOBS, metavar="JOB", help=f"which jobs (all: {', '.join(JOBS)})")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="sizes instead of the job's own")
    parser.add_argument("--contenders", nargs="+", metavar="NAME", help="only these contenders")
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of each configuration; the best counts (%(default)s)"
    )
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each run (%(default)g)")
    parser.add_argument(
        "--repeat-under", type=float, default=20.0, metavar="SECONDS", help="run longer ones once only (%(default)g)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one run each, at the smallest size unless --sizes is given"
    )
    parser.add_argument("--all-settings", action="store_true", help="show every setting, not only the best of each")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="write JOB.csv and JOB.md there")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the jobs and print their tables; progress goes to standard error."""
    options = parse(arguments)
    facts = machine_facts()
    print(facts)
    for name in options.jobs:
        job = load_job(name)
        sizes = options.sizes or ([min(job.sizes)] if options.quick else None)
        repeats = 1 if options.quick else options.repeats
        outcomes = run_job(job, sizes, options.contenders, repeats, options.timeout, _progress, options.repeat_under)
        table = rows(job, outcomes, options.all_settings)
        print(f"\n{job.title}\n\n{as_text(table)}")
        for outcome in outcomes:
            if outcome.status == "failed":
                print(f"{outcome.contender} ({outcome.setting}), n = {outcome.size} failed: {outcome.detail}")
        if options.output:
            write_results(options.output, job, outcomes, facts, as_markdown(table))


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
