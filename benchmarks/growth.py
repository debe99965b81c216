"""How time and memory of the tuned path grow with the number of rows: K stored, and recomputed in every product."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Outcome
from benchmarks.job import Contender, Job, Setting
from benchmarks.table import MIB, seconds
from benchmarks.tuned_path import ALL_THREADS, Data, answers, data, eigenpath, estimator


def stored(data: Data, precision: str = "double") -> Any:
    """K is kept, in one triangle."""
    return eigenpath(data, solver="krylov", precision=precision)


def tiled(data: Data, precision: str = "double") -> Any:
    """K is never there: the memory limit is what the plan asks for, less K."""
    from eigenpath.gram import triangle_bytes

    plan = estimator(solver="krylov", precision=precision, memory_limit="1TB").plan(data.X)
    limit = plan.nbytes - triangle_bytes(len(data.X), np.float32 if precision == "mixed" else np.float64)
    return eigenpath(data, solver="krylov", precision=precision, memory_limit=limit)


def contender(run: Any, precision: str) -> Contender:
    """eigenpath on all threads."""
    setting = Setting(ALL_THREADS.label, options={"precision": precision})
    return Contender(run, requires=("eigenpath",), settings=(setting,))


def quantities(outcomes: Sequence[Outcome]) -> dict[str, dict[str, dict[int, float]]]:
    """``{"time" | "memory": {contender: {n: value}}}`` of all runs that ended well."""
    found: dict[str, dict[str, dict[int, float]]] = {"time": {}, "memory": {}}
    for one in outcomes:
        if one.status == "ok":
            found["time"].setdefault(one.contender, {})[one.size] = one.seconds
            found["memory"].setdefault(one.contender, {})[one.size] = max(one.memory, 1)
    return found


def slope(values: dict[int, float]) -> float:
    """The exponent p of the power law ``n^p`` that fits best: least squares on logarithms."""
    if len(values) < 2:
        return float("nan")
    return float(np.polyfit(np.log(list(values)), np.log(list(values.values())), 1)[0])


def table(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """One row for each contender and quantity, one column for each size, and the slope."""
    sizes = sorted({one.size for one in outcomes})
    show = {"time": seconds, "memory": lambda value: f"{value / MIB:.0f} MiB"}
    body = [
        [f"{name}: {quantity}", *(show[quantity](v[n]) if n in v else "" for n in sizes), f"{slope(v):.2f}"]
        for quantity, runs in quantities(outcomes).items()
        for name, v in runs.items()
    ]
    return [["what", *(f"n = {n}" for n in sizes), "slope"], *body]


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Both on doubly logarithmic axes, with the slopes in the legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, (quantity, runs), unit in zip(figure.subplots(1, 2), quantities(outcomes).items(), (1, MIB), strict=True):
        for name, values in runs.items():
            heights = np.array(list(values.values())) / unit
            axes.loglog(list(values), heights, "o-", label=f"{name}: slope {slope(values):.2f}")
        axes.set(xlabel="rows", ylabel="seconds" if quantity == "time" else "peak memory above the data, MiB")
        axes.grid(True, which="both", alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=120)


JOB = Job(
    module=__name__,
    title="Growth of the tuned path (5 folds x 100 alphas and the final fit) with n: time, peak memory above the data",
    data=data,
    contenders={
        "stored, mixed": contender(stored, "mixed"),
        "stored, double": contender(stored, "double"),
        "tiled, mixed": contender(tiled, "mixed"),
    },
    answers=answers,
    sizes=(2000, 4000, 8000, 16_000),
    warm_size=100,
    tolerance=1e-3,
    table=table,
    draw=draw,
)
