"""Parameters of `KernelPCA` and its data, checked before anything is computed."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ..kernels import Kernel
from ._kpca_routes import ROUTES
from ._plan import parse_bytes

__all__ = ["check_data", "check_parameters", "diagonal_of", "weights_of"]

CHOICES = {"eigen_solver": ("auto", *ROUTES), "preimage": ("ridge", "fixed_point")}
NOT_NEGATIVE = ("tol", "alpha", "memory_limit")


def check_parameters(model: Any, pairwise: bool) -> None:
    """Raise for a parameter that no data could make valid."""
    _check_count(model.n_components)
    for name, known in CHOICES.items():
        value = getattr(model, name)
        if value not in known:
            raise ValueError(f"{name}={value!r} is not known: use one of {', '.join(map(repr, known))}.")
    for name in NOT_NEGATIVE:
        value = getattr(model, name)
        if name == "memory_limit" and isinstance(value, str):
            parse_bytes(value)
            continue
        optional = name == "memory_limit" and value is None
        if not optional and (not isinstance(value, Real) or isinstance(value, bool) or not float(value) >= 0):
            raise ValueError(f"{name}={value!r} is not valid: it must be a number, not negative.")
    if model.fit_inverse_transform and pairwise:
        raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: pre-images need the rows of X.")
    if model.eigen_solver == "arpack" and not isinstance(model.n_components, Integral):
        raise ValueError(f"eigen_solver='arpack' needs an integer n_components, got {model.n_components!r}.")
    if model.eigen_solver == "krylov" and model.n_components is None:
        raise ValueError("eigen_solver='krylov' needs n_components: use eigen_solver='dense' for all components.")


def check_data(model: Any, X: Any, pairwise: bool) -> None:
    """Raise for data that do not go with the parameters."""
    if pairwise and X.shape[0] != X.shape[1]:
        raise ValueError(f"kernel='precomputed' needs a square matrix in fit, got X of shape {X.shape}.")
    if model.fit_inverse_transform and hasattr(X, "tocsr"):
        raise NotImplementedError("Inverse transform not implemented for sparse matrices: pass X.toarray().")


def weights_of(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Weights as float64, at least one of them positive; None if there are none."""
    if sample_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row: at least one must be positive.")
    return weight


def diagonal_of(kernel: Kernel, X: Any, diagonal: Any) -> np.ndarray:
    """The kernel of each new row with itself, which a precomputed one must be told."""
    if diagonal is None and kernel.pairwise:
        raise ValueError("a precomputed kernel does not tell k(x, x) of new rows: pass it as diagonal.")
    diagonal = kernel.diag(X) if diagonal is None else np.asarray(diagonal, dtype=np.float64)
    if diagonal.shape != (X.shape[0],):
        raise ValueError(f"diagonal must have an entry for each of the {X.shape[0]} rows, got shape {diagonal.shape}.")
    return diagonal


def _check_count(k: Any) -> None:
    number = isinstance(k, Real) and not isinstance(k, bool)
    if k is None or (number and (int(k) >= 1 if isinstance(k, Integral) else 0 < float(k) < 1)):
        return
    raise ValueError(
        f"n_components={k!r} is not valid: use an integer of at least 1, a share of the variance between 0 and 1, or "
        "None for all that have variance."
    )
