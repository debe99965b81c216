"""Tables 1 and 2 and the curves of Figure 1, from the results of the splits."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ._kpm_split import SplitResult, c_grid
from ._raetsch import PUBLISHED

__all__ = ["curves", "median_choice", "table_1", "table_2", "text_table", "write_csv"]

# The paper takes the median of the choices on the first splits.
FIRST = 5

Row = dict[str, object]


def median_choice(results: Sequence[SplitResult]) -> int:
    """The median D over the first five splits (the lower one of two in the middle)."""
    choices = sorted(result.chosen for result in results[:FIRST])
    return choices[(len(choices) - 1) // 2]


def table_1(results: dict[str, list[SplitResult]]) -> list[Row]:
    """Test errors with one D, and with the published C, on all splits of a set."""
    rows: list[Row] = []
    for name, of_set in results.items():
        known, D = PUBLISHED[name], median_choice(of_set)
        kpm = [result.test_error[min(D, len(result.test_error)) - 1] for result in of_set]
        svm = [result.svm_published for result in of_set]
        rows.append(
            {
                "set": name,
                "splits": len(of_set),
                **_beside("KPM", kpm, known.table1_kpm),
                "D": D,
                "D paper": known.table1_components,
                **_beside("SVM", svm, known.table1_svm),
            }
        )
    return rows


def table_2(results: dict[str, list[SplitResult]]) -> list[Row]:
    """Test errors with D and C chosen by cross-validation on each split."""
    rows: list[Row] = []
    for name, of_set in results.items():
        known = PUBLISHED[name]
        kpm = [result.test_error[result.chosen - 1] for result in of_set]
        svm = [result.svm_tuned for result in of_set]
        rows.append(
            {
                "set": name,
                "splits": len(of_set),
                **_beside("KPM", kpm, known.table2_kpm),
                **_beside("SVM", svm, known.table2_svm),
            }
        )
    return rows


def _beside(method: str, errors: Sequence[float], paper: tuple[float, float]) -> Row:
    """Our mean and deviation in percent, the paper's, and whether ours lies within one of its deviations."""
    percent = 100 * np.asarray(errors)
    mean, deviation = percent.mean(), percent.std(ddof=1) if len(percent) > 1 else np.nan
    return {
        f"{method}": mean,
        f"{method} sd": deviation,
        f"{method} paper": paper[0],
        f"{method} paper sd": paper[1],
        f"{method} within": "yes" if abs(mean - paper[0]) <= paper[1] else "no",
    }


def curves(name: str, results: Sequence[SplitResult]) -> dict[str, np.ndarray]:
    """Means over the splits, in percent: columns by D (``kpm_...``) and by C (``svm_...``)."""
    longest = min(len(result.test_error) for result in results)
    grid_size = len(results[0].svm_test_error)
    return {
        "kpm_n_components": np.arange(1, longest + 1),
        "kpm_test_error": 100 * np.mean([result.test_error[:longest] for result in results], axis=0),
        "kpm_training_error": 100 * np.mean([result.training_error[:longest] for result in results], axis=0),
        "kpm_training_hinge_risk": 100 * np.mean([result.hinge_risk[:longest] for result in results], axis=0),
        "svm_C": c_grid(PUBLISHED[name].C, grid_size),
        "svm_test_error": 100 * np.mean([result.svm_test_error for result in results], axis=0),
        "svm_training_error": 100 * np.mean([result.svm_training_error for result in results], axis=0),
    }


def text_table(rows: Sequence[Row]) -> str:
    """Columns of equal width; a mean and its deviation share one."""
    cells = [[*_joined(rows[0])], *([*_joined(row).values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def _joined(row: Row) -> dict[str, str]:
    text: dict[str, str] = {}
    for key, value in row.items():
        if key.endswith(" sd"):
            mean = key.removesuffix(" sd")
            text[mean] += "" if np.isnan(value) else f" +- {value:.2f}"  # type: ignore[call-overload]
        else:
            text[key] = f"{value:.2f}" if isinstance(value, float) else str(value)
    return text


def write_csv(file: Path, columns: dict[str, Sequence[object]]) -> None:
    """Columns of unequal length are padded with nothing."""
    length = max(len(column) for column in columns.values())
    padded = [[*column, *[""] * (length - len(column))] for column in columns.values()]
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*padded, strict=True))
