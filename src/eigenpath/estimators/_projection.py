"""Helpers of the kernel projection machine: the kernels it tries, and its summary."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..kernels import Kernel
from ..projection.path import ProjectionPath
from ._callable import kernel_of
from ._summary import Table, percent, summary_text

__all__ = ["candidate_kernels", "projection_summary"]

# gamma="auto": these times the median distance's gamma, which goes first since ties go to the first.
AUTO_FACTORS = (1.0, 1 / 4, 4.0, 1 / 16, 1 / 64)


def candidate_kernels(model: Any, X: Any, weight: np.ndarray) -> list[Kernel]:
    """The kernels that ``kernel`` and its parameters stand for, with numbers in place of rules."""
    given = list(model.kernel) if isinstance(model.kernel, (list, tuple)) else [model.kernel]
    if not given:
        raise ValueError("kernel is an empty list: name at least one kernel.")
    kernels = [_by_name(model, kernel) if isinstance(kernel, str) else kernel_of(model, kernel) for kernel in given]
    if len(kernels) > 1 and any(kernel.pairwise for kernel in kernels):
        raise ValueError("kernel='precomputed' cannot be one of several: X holds the values of one kernel.")

    def resolve(kernel: Kernel) -> Kernel:
        return kernel.resolve(X, sample_weight=weight, random_state=model.random_state)

    return [resolved for kernel in kernels for resolved in _widths(kernel, resolve)]


def _by_name(model: Any, name: str) -> Kernel:
    """A kernel by name, with "scale" in place of a gamma by distances where it is no function of a distance."""
    kernel = kernel_of(model, name)
    by_distance = kernel.get_params().get("gamma") in ("median", "auto")
    return clone(kernel).set_params(gamma="scale") if by_distance and kernel.metric is None else kernel


def _widths(kernel: Kernel, resolve: Any) -> list[Kernel]:
    """The kernel with numbers in it; with several numbers where gamma is to be chosen."""
    free = [name for name, value in kernel.get_params().items() if isinstance(value, str) and value == "auto"]
    if not free:
        return [resolve(kernel)]
    middle = resolve(clone(kernel).set_params(**dict.fromkeys(free, "median")))
    found = {name: middle.get_params()[name] for name in free}
    return [
        clone(middle).set_params(**{name: factor * value for name, value in found.items()}) for factor in AUTO_FACTORS
    ]


def projection_summary(model: Any) -> str:
    """The text of ``KernelProjectionMachine.summary()``."""
    path, D = model.path_, model.n_components_
    at = D - 1
    facts = [
        (
            "data",
            f"{len(model.fit_rows_)} distinct rows, {model.n_features_in_} columns, {len(model.classes_)} classes",
        ),
        ("kernel", str(model.kernel_)),
        ("n_components", D),
        ("chosen by", _reason(model)),
        ("place on the path", f"{D} of {len(path)}"),
        ("training hinge risk", float(path.hinge_risk[at])),
        ("training error", percent(path.training_error[at])),
        ("held-out error", _held_out(path, at)),
    ]
    title = f"KernelProjectionMachine: {D} direction{'s' if D > 1 else ''} of {len(path)}"
    return summary_text(title, facts, _path_table(path, at), *_kernel_table(model), *_remarks(model))


def _reason(model: Any) -> str:
    if model.n_components is not None:
        return "n_components was given"
    if model.rule == "cv":
        return f"the least mean error over {len(model.path_.fold_errors)} folds"
    return f"the least penalized hinge risk (slope {model.path_.slope:.3g} for each direction)"


def _held_out(path: ProjectionPath, at: int) -> str | None:
    if np.isnan(path.fold_error[at]):
        return None
    return f"{percent(path.fold_error[at])} (standard deviation over folds {percent(path.fold_error_std[at])})"


def _path_table(path: ProjectionPath, at: int) -> Table:
    """The choice, its neighbourhood and both ends."""
    places = sorted({0, len(path) - 1, *(p for p in (at - 10, at - 3, at, at + 3, at + 10) if 0 <= p < len(path))})
    columns = {name: column for name, column in path.as_dict().items() if not np.isnan(column).all()}
    rows = [[*(column[p] for column in columns.values()), "<- chosen" if p == at else ""] for p in places]
    return Table([*columns, ""], [[None if cell != cell else cell for cell in row] for row in rows])


def _kernel_table(model: Any) -> list[Table]:
    if len(model.kernels_) == 1:
        return []
    best = [
        int(np.argmin(path.criterion)) if model.n_components is None else model.n_components - 1
        for path in model.paths_
    ]
    rows = [(str(k), j + 1, path.criterion[j]) for k, path, j in zip(model.kernels_, model.paths_, best, strict=True)]
    return [Table(["kernel", "n_components", "criterion"], rows)]


def _remarks(model: Any) -> list[str]:
    path, remarks = model.path_, []
    if path.floor_from is not None:
        risk = path.hinge_risk[-1]
        what = "zero" if risk < 1e-9 else f"{risk:.4g}, the least that the contradictory labels allow"
        remarks.append(
            f"From {path.floor_from} directions on the training risk is {what}; later ones repeat that solution."
        )
    if model.n_components is None and model.n_components_ == len(path) and path.floor_from is None:
        remarks.append("The choice is the end of the path: a larger max_components may do better.")
    return remarks
