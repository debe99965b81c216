"""What the kernels accept: dense or CSR matrices of float32 or float64, and numbers in a range."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["as_pair", "check_number", "common_dtype", "n_rows", "output", "require_dense", "square_norms"]


def as_pair(X: Any, Z: Any, owner: str) -> tuple[Any, Any]:
    """Return X and Z (None stays None) as matrices of one float type and one storage, with equally many columns."""
    X = _as_matrix(X, "X", owner)
    if Z is None:
        return X, None
    Z = _as_matrix(Z, "Z", owner)
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"{owner}: X has {X.shape[1]} features and Z has {Z.shape[1]}. Pass rows with the same columns in both."
        )
    dtype = common_dtype(X, Z)
    X, Z = X.astype(dtype, copy=False), Z.astype(dtype, copy=False)
    if sp.issparse(X) != sp.issparse(Z):
        X, Z = sp.csr_matrix(X), sp.csr_matrix(Z)
    return X, Z


def _as_matrix(X: Any, name: str, owner: str) -> Any:
    """Return a 2-D float32 or float64 matrix, CSR when X is sparse, without a copy where possible."""
    X = sp.csr_matrix(X) if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{owner}: {name} must be 2-dimensional (rows, features), got an array of shape {X.shape}.")
    if X.dtype.kind not in "buif":
        raise ValueError(f"{owner}: {name} must hold real numbers, got dtype {X.dtype}.")
    return X.astype(common_dtype(X), copy=False)


def common_dtype(*arrays: Any) -> np.dtype:
    """Float32 if all the arrays are, else float64."""
    return np.dtype(np.float32 if all(a.dtype == np.float32 for a in arrays if a is not None) else np.float64)


def require_dense(X: Any, owner: str) -> None:
    """Raise for sparse X, where the formula needs every entry."""
    if sp.issparse(X):
        raise TypeError(f"{owner} needs dense data, got a sparse matrix of shape {X.shape}. Pass X.toarray().")


def n_rows(X: Any, Z: Any = None) -> tuple[int, int]:
    """Return the shape of the matrix k(X, Z)."""
    return X.shape[0], (X if Z is None else Z).shape[0]


def output(out: np.ndarray | None, shape: tuple[int, int], dtype: np.dtype) -> np.ndarray:
    """Return ``out`` if it fits, or a new array."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        found = f"{out.shape} and {out.dtype}" if isinstance(out, np.ndarray) else f"a {type(out).__name__}"
        raise ValueError(f"out must be an array of shape {shape} and dtype {dtype}, got {found}.")
    return out


def check_number(name: str, value: Any, low: float = -np.inf, *, strict: bool = False, infinite: bool = False) -> float:
    """Return ``value`` as a float at least (``strict``: above) ``low``, or raise a ``ValueError`` that names it."""
    number = isinstance(value, Real) and not isinstance(value, bool) and not np.isnan(float(value))
    inside = number and (value > low if strict else value >= low) and (infinite or np.isfinite(float(value)))
    if not inside:
        rule = "" if low == -np.inf else f" {'greater than' if strict else 'of at least'} {low:g}"
        raise ValueError(f"{name}={value!r} is not valid: it must be a number{rule}{' or inf' if infinite else ''}.")
    return float(value)


def square_norms(X: Any) -> np.ndarray:
    """The squared norm of each row."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype)
    return np.einsum("ij,ij->i", X, X)
