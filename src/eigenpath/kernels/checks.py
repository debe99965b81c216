"""Checks that anyone can run on a kernel of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from .base import Kernel
from .distances import distance_matrix

__all__ = ["check_kernel"]


def check_kernel(kernel: Kernel, X: Any) -> None:
    """Raise an ``AssertionError`` that says what is wrong if a kernel does not keep its promises on X.

    Checked: parameters survive ``clone``; `resolve` leaves only numbers; values are finite; k(X, X) is
    exactly symmetric, has the diagonal that `diag` says and no value of it above `bound`; k(X, Z) has the values of
    k(X, X); float32 stays float32; ``out`` is used and inputs are not written to; `from_distance`, `features` and `psd`
    tell the truth.

    Parameters
    ----------
    kernel : Kernel
    X : {array-like, sparse matrix} of shape (n, d)
        Some dozens of different rows of the kind that the kernel is made for; for a precomputed kernel, its matrix.

    Examples
    --------
    >>> from eigenpath.kernels import RBF
    >>> check_kernel(RBF(gamma="median"), [[0.0, 1.0], [1.0, 1.0], [2.0, 3.0]])
    """
    X = X.tocsr().astype(np.float64) if sp.issparse(X) else np.array(X, dtype=np.float64)
    _check_parameters(kernel)
    kernel = _check_resolve(kernel, X)
    _check_inputs(kernel, X)
    K = _check_matrix(kernel, X)
    _check_blocks(kernel, X, K)
    _check_precision(kernel, X, K)
    _check_output(kernel, X, K)
    _check_claims(kernel, X, K)


def _expect(condition: Any, message: str) -> None:
    # Not an assert statement, which python -O leaves out.
    if not condition:
        raise AssertionError(message)


def _expect_close(actual: Any, expected: Any, message: str, rtol: float = 1e-9) -> None:
    """Compare to a share of the largest value, since small ones may come out of a cancellation."""
    gap, size = np.abs(np.subtract(actual, expected)).max(initial=0), np.abs(expected).max(initial=0)
    _expect(
        gap <= rtol * max(size, np.finfo(float).tiny),
        f"{message}: the difference is {gap:.3g} (values reach {size:.3g})",
    )


def _check_parameters(kernel: Kernel) -> None:
    _expect(isinstance(kernel, Kernel), f"{kernel!r} is not a Kernel")
    try:
        copy = clone(kernel)
    except (RuntimeError, TypeError) as error:
        raise AssertionError(f"clone fails: {error}") from error
    _expect(repr(copy) == repr(kernel), f"clone changes the parameters: {kernel!r} became {copy!r}")


def _check_resolve(kernel: Kernel, X: Any) -> Kernel:
    before = repr(kernel)
    resolved = kernel.resolve(X)
    _expect(repr(kernel) == before, f"resolve changes the kernel itself: {before} became {kernel!r}")
    _expect(not resolved._rules(), f"resolve leaves gamma open: {resolved!r}")
    return resolved


def _check_inputs(kernel: Kernel, X: Any) -> None:
    original = X.copy()
    kernel(X)
    kernel(X, X)
    kernel.diag(X)
    _expect(abs(X - original).max() == 0, "the kernel writes to its inputs")


def _check_matrix(kernel: Kernel, X: Any) -> np.ndarray:
    """Shape, finiteness, symmetry and diagonal; returns k(X, X)."""
    K, n = kernel(X), X.shape[0]
    _expect(K.shape == (n, n), f"k(X, X) has shape {K.shape}, not {(n, n)}")
    _expect(np.isfinite(K).all(), "k(X, X) has values that are not finite")
    _expect((K == K.T).all(), "k(X, X) is not symmetric")
    _expect_close(kernel.diag(X), np.diagonal(K), "diag(X) is not the diagonal of k(X, X)")
    top = kernel.diag(X).max()
    _expect(top <= kernel.bound * (1 + 1e-9), f"bound is {kernel.bound:.3g}, but k(x, x) reaches {top:.3g}")
    return K


def _check_blocks(kernel: Kernel, X: Any, K: np.ndarray) -> None:
    """Different rows only: k(X, X) may add something, such as noise, where a row meets itself."""
    half = X.shape[0] // 2
    block = kernel(X[:half], X)[:, half:] if kernel.pairwise else kernel(X[:half], X[half:])
    _expect_close(block, K[:half, half:], "k(X, Z) differs from the same entries of k(X, X)")
    fill, tile = kernel.filler(X), np.empty((half, X.shape[0]))
    fill(slice(0, half), slice(0, X.shape[0]), tile)
    _expect_close(tile, K[:half], "filler(X) differs from k(X, X)")


def _check_precision(kernel: Kernel, X: Any, K: np.ndarray) -> None:
    single = kernel(X.astype(np.float32))
    _expect(single.dtype == np.float32, f"float32 data gives a {single.dtype} matrix")
    _expect_close(single, K, "float32 data gives another matrix", rtol=1e-3)


def _check_output(kernel: Kernel, X: Any, K: np.ndarray) -> None:
    out = np.full_like(K, np.nan)
    _expect(kernel(X, out=out) is out and np.array_equal(out, K), "out= does not receive the matrix")


def _check_claims(kernel: Kernel, X: Any, K: np.ndarray) -> None:
    """What metric, features and psd promise."""
    if kernel.metric is not None:
        D = distance_matrix(X, metric=kernel.metric)
        _expect_close(kernel.from_distance(D), K, "from_distance of the distances is not k(X, X)")
        _expect(kernel.from_distance(D, out=D) is D, "from_distance does not use out=")
        _expect_close(D, K, "from_distance in place is not k(X, X)")
    F = kernel.features(X)
    if F is not None:
        F = F.toarray() if sp.issparse(F) else F
        _expect_close(F @ F.T, K, "features F do not give k(X, X) = F F^T")
    if kernel.psd:
        values = np.linalg.eigvalsh(K)
        tolerance = 1e-10 * max(abs(values[-1]), np.finfo(float).tiny)
        _expect(values[0] >= -tolerance, f"psd is True, but k(X, X) has the eigenvalue {values[0]:.3g}")
