"""Risk curves of kernel projection machines beside those of support vector machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from .._optional import require

__all__ = ["draw_risk_curves"]

TEST, TRAIN, HINGE = "#0b6fa4", "#c8553d", "#8a8a8a"


def draw_risk_curves(curves: Mapping[str, np.ndarray], title: str, file: Path) -> None:
    """Draw test and training error against D (left) and against C (right), as a PNG file.

    Parameters
    ----------
    curves : mapping of str to ndarray
        ``kpm_n_components``, ``kpm_test_error``, ``kpm_training_error`` and ``kpm_training_hinge_risk``; ``svm_C``,
        ``svm_test_error`` and ``svm_training_error``. All in percent.
    title : str
    file : Path
    """
    figure = require("matplotlib.figure", "plot").Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    D = curves["kpm_n_components"]
    _draw(left, D, curves["kpm_test_error"], curves["kpm_training_error"], "D, number of directions", "{:.0f}")
    hinge = left.twinx()
    hinge.plot(
        D, curves["kpm_training_hinge_risk"], color=HINGE, linestyle="--", label="training hinge risk (right axis)"
    )
    hinge.set_ylabel("training hinge risk (%)", color=HINGE)
    hinge.tick_params(axis="y", colors=HINGE)
    hinge.spines["top"].set_visible(False)
    lines = [*left.get_lines()[:2], *hinge.get_lines()]
    left.legend(lines, [line.get_label() for line in lines], loc="upper right", frameon=False)
    left.set_ylabel("error (%)")
    left.set_title("Kernel projection machine")
    _draw(right, curves["svm_C"], curves["svm_test_error"], curves["svm_training_error"], "C", "{:.2f}")
    right.legend(loc="upper right", frameon=False)
    right.set_title("Support vector machine")
    figure.suptitle(title)
    figure.savefig(file, dpi=150)


def _draw(axes, x: np.ndarray, test: np.ndarray, train: np.ndarray, label: str, form: str) -> None:
    """Both errors, and the least test error marked with its place."""
    axes.plot(x, test, color=TEST, label="test error")
    axes.plot(x, train, color=TRAIN, label="training error")
    best = int(np.argmin(test))
    axes.plot(x[best], test[best], "o", color=TEST)
    axes.annotate(
        f"{test[best]:.1f} % at {form.format(x[best])}",
        (x[best], test[best]),
        xytext=(6, -14),
        textcoords="offset points",
        color=TEST,
    )
    axes.set_xlabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
