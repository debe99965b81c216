"""What the kernels accept: dense or CSR matrices of float32 or float64, and numbers in a range."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

__all__ = ["Number", "as_matrix", "as_pair", "common_dtype", "output", "require_dense", "square_norms"]


def as_pair(X: Any, Z: Any, owner: str) -> tuple[Any, Any]:
    """Return X and Z (None stays None) as matrices of one float type and one storage, with equally many columns."""
    X = as_matrix(X, "X", owner)
    if Z is None:
        return X, None
    Z = as_matrix(Z, "Z", owner)
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"{owner}: X has {X.shape[1]} features and Z has {Z.shape[1]}. Pass rows with the same columns in both."
        )
    dtype = common_dtype(X, Z)
    X, Z = X.astype(dtype, copy=False), Z.astype(dtype, copy=False)
    if sp.issparse(X) != sp.issparse(Z):
        X, Z = sp.csr_array(X), sp.csr_array(Z)
    return X, Z


def as_matrix(X: Any, name: str, owner: str) -> Any:
    """Return a 2-D float32 or float64 matrix, CSR when X is sparse, without a copy where possible."""
    X = _canonical(X.tocsr()) if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{owner}: {name} must be 2-dimensional (rows, features), got an array of shape {X.shape}.")
    if X.dtype.kind not in "buif":
        raise ValueError(f"{owner}: {name} must hold real numbers, got dtype {X.dtype}.")
    return X.astype(common_dtype(X), copy=False)


def _canonical(X: Any) -> Any:
    """The same CSR matrix with one stored value per entry."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def common_dtype(*arrays: Any) -> np.dtype:
    """Float32 if all the arrays are, else float64."""
    return np.dtype(np.float32 if all(a.dtype == np.float32 for a in arrays if a is not None) else np.float64)


def require_dense(X: Any, owner: str) -> None:
    """Raise for sparse X, where the formula needs every entry."""
    if sp.issparse(X):
        raise TypeError(f"{owner} needs dense data, got a sparse matrix of shape {X.shape}. Pass X.toarray().")


def square_norms(X: Any) -> np.ndarray:
    """The squared norm of each row."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype)
    return np.einsum("ij,ij->i", X, X)


def output(out: np.ndarray | None, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return ``out`` if it fits, or a new array."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        found = f"one of shape {out.shape} and dtype {out.dtype}" if isinstance(out, np.ndarray) else repr(out)
        raise ValueError(f"out must be an array of shape {shape} and dtype {dtype}, got {found}.")
    return out


class Number(NamedTuple):
    """A parameter that must be a number, at least ``low`` or ``above`` it, and finite unless it may be ``infinite``."""

    name: str
    low: float = -np.inf
    above: bool = False
    infinite: bool = False

    def check(self, value: Any) -> float:
        """Return ``value`` as a Python float, or raise a ``ValueError`` that names the parameter."""
        if isinstance(value, Real) and not isinstance(value, bool):
            number = float(value)
            if (number > self.low if self.above else number >= self.low) and (self.infinite or np.isfinite(number)):
                return number
        kind = "number" if self.infinite else "finite number"
        rule = "" if self.low == -np.inf else f" {'greater than' if self.above else 'of at least'} {self.low:g}"
        raise ValueError(f"{self.name}={value!r} is not valid: it must be a {kind}{rule}.")
