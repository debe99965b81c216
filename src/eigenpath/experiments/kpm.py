"""Tables 1 and 2 and Figure 1 of the Kernel Projection Machine's paper (NIPS 2004), beside its figures.

Two protocols, for both methods, with the published kernel widths:

* Table 1: one D for a set, the median of the choices of 5-fold cross-validation on its first five splits; C as
  published, which was found in the same way.
* Table 2: D, and C among 100 values from zero to three times the published one, by 5-fold cross-validation on each
  split.

Figure 1: on one set, test and training risk of either method against D and against C, means over the splits.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from ..plots.kpm import draw_risk_curves
from ._kpm_split import SplitResult, run_split
from ._kpm_tables import curves, table_1, table_2, text_table, write_csv
from ._progress import run_jobs
from ._raetsch import PUBLISHED, SPLITS, BenchmarkSet, load_set

__all__ = ["add_arguments", "main", "run_kpm"]

FIGURE_SET = "flare-solar"
QUICK_SETS = ("heart", "flare-solar")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this experiment."""
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder with banana.npz and the others")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the tables (CSV) and the figure (PNG) there")
    parser.add_argument("--splits", choices=SPLITS, default="published", help="which splits to use (%(default)s)")
    parser.add_argument(
        "--sets", nargs="+", choices=[*PUBLISHED], metavar="SET", help=f"which of {', '.join(PUBLISHED)}"
    )
    parser.add_argument("--max-components", type=int, default=60, metavar="D", help="length of the path (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="two splits of two sets, ten values of C")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes (%(default)s)")


def main(options: argparse.Namespace) -> None:
    """Run the experiment, print its tables, and write its files if ``--out`` says where."""
    sets = options.sets or (QUICK_SETS if options.quick else tuple(PUBLISHED))
    if options.max_components < 1 or options.jobs < 1:
        raise ValueError(f"--max-components {options.max_components} and --jobs {options.jobs} must be at least 1.")
    results = run_kpm(
        [load_set(options.data, name, options.splits) for name in sets],
        max_components=options.max_components,
        max_splits=2 if options.quick else None,
        grid_size=10 if options.quick else 100,
        n_jobs=options.jobs,
    )
    print(report(results, {"all": "published and random"}.get(options.splits, options.splits)))
    if options.out:
        write_files(options.out, results)
        print(f"\nwritten to {options.out}")


def run_kpm(
    sets: list[BenchmarkSet],
    max_components: int = 60,
    max_splits: int | None = None,
    grid_size: int = 100,
    n_jobs: int = 1,
) -> dict[str, list[SplitResult]]:
    """All splits of all sets, each a job; results by set, in the order of the splits."""
    jobs = [
        (data, split, max_components, grid_size, data.name == FIGURE_SET)
        for data in sets
        for split in range(len(data.train))[:max_splits]
    ]
    found = run_jobs(run_split, jobs, n_jobs, "KPM and SVM on all splits")
    return {data.name: [r for job, r in zip(jobs, found, strict=True) if job[0] is data] for data in sets}


def report(results: dict[str, list[SplitResult]], splits: str) -> str:
    """Both tables as text."""
    return "\n\n".join(
        [
            f"Test error in percent, mean +- standard deviation over the {splits} splits at hand (paper: over 100).\n"
            "'within': our mean lies within one of the paper's standard deviations from its mean.",
            "Table 1: one D for each set, C as published\n\n" + text_table(table_1(results)),
            "Table 2: D and C by 5-fold cross-validation on each split\n\n" + text_table(table_2(results)),
        ]
    )


def write_files(folder: Path, results: dict[str, list[SplitResult]]) -> None:
    """table1.csv, table2.csv, splits.csv and, if its set was among those run, figure1.csv and figure1.png."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("table1", table_1(results)), ("table2", table_2(results))):
        write_csv(folder / f"{name}.csv", {key: [row[key] for row in rows] for key in rows[0]})
    flat = [(name, i + 1, result) for name, of_set in results.items() for i, result in enumerate(of_set)]
    write_csv(
        folder / "splits.csv",
        {
            "set": [name for name, _, _ in flat],
            "split": [i for _, i, _ in flat],
            "kpm_n_components": [result.chosen for _, _, result in flat],
            "kpm_test_error": [float(100 * result.test_error[result.chosen - 1]) for _, _, result in flat],
            "svm_published_test_error": [100 * result.svm_published for _, _, result in flat],
            "svm_tuned_test_error": [100 * result.svm_tuned for _, _, result in flat],
        },
    )
    if FIGURE_SET in results:
        found = curves(FIGURE_SET, results[FIGURE_SET])
        write_csv(folder / "figure1.csv", {key: np.asarray(column).tolist() for key, column in found.items()})
        n_splits = len(results[FIGURE_SET])
        title = f"{FIGURE_SET}, " + (f"means over {n_splits} splits" if n_splits > 1 else "one split")
        draw_risk_curves(found, title, folder / "figure1.png")
