"""Distances between rows: one BLAS product per tile, and differences where a product would cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from ._inputs import as_pair, common_dtype, output, require_dense, square_norms
from ._tiles import Fill, fill_matrix, set_diagonal, write_product

__all__ = ["METRICS", "distance_matrix", "prepare_distance"]

# A squared distance below this share of |x|^2 + |z|^2 has lost too many digits in |x|^2 + |z|^2 - 2 x.z.
_CANCELLED = {np.dtype(np.float64): 1e-4, np.dtype(np.float32): 1e-2}
# Entries of the differences held at a time when pairs are recomputed.
_PAIR_ENTRIES = 2**18
# With at most so many features, differences are as fast as a product.
_FEW_FEATURES = 5


def distance_matrix(X: Any, Z: Any = None, metric: str = "sqeuclidean", out: np.ndarray | None = None) -> np.ndarray:
    r"""Distances between the rows of X and of Z, of which many kernels are functions.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
    Z : {array-like, sparse matrix} of shape (m, d), optional
        X by default; the matrix is then exactly symmetric, with zeros on its diagonal.
    metric : {"sqeuclidean", "cityblock", "chi2"}
        :math:`\sum_j (x_j - z_j)^2`, :math:`\sum_j |x_j - z_j|` or :math:`\sum_j (x_j - z_j)^2 / (x_j + z_j)`.
    out : ndarray of shape (n, m), optional

    Returns
    -------
    D : ndarray of shape (n, m)
        Not negative, and accurate relative to itself for close rows, wherever they lie.

    Examples
    --------
    >>> distance_matrix([[0.0, 0.0], [3.0, 4.0]])
    array([[ 0., 25.],
           [25.,  0.]])
    """
    X, Z = as_pair(X, Z, "distance_matrix")
    out = output(out, (X.shape[0], (X if Z is None else Z).shape[0]), common_dtype(X, Z))
    return fill_matrix(prepare_distance(X, Z, metric), out, symmetric=Z is None)


def prepare_distance(X: Any, Z: Any, metric: str) -> Fill:
    """Return the function that fills tiles with distances; Z None means X."""
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} is not known: use one of {sorted(METRICS)}.")
    write = METRICS[metric](X, X if Z is None else Z)
    if Z is not None:
        return write
    zeros = np.zeros(X.shape[0])

    def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
        write(rows, cols, out)
        set_diagonal(out, rows, cols, zeros)

    return fill


def _sqeuclidean(X: Any, Z: Any) -> Fill:
    if sp.issparse(X):
        return _by_product(X, Z, X, Z, _pairs_sparse)
    if X.shape[1] <= _FEW_FEATURES or Z.shape[0] == 0:
        return _by_differences(X, Z, "sqeuclidean")
    # Distances do not change with the origin, and a far one costs digits.
    centre = Z.mean(axis=0, dtype=np.float64).astype(X.dtype)
    return _by_product(X - centre, Z - centre, X, Z, _pairs_dense)


def _by_product(Xc: Any, Zc: Any, X: Any, Z: Any, exact: Callable) -> Fill:
    """|x|^2 + |z|^2 - 2 x.z in one product, then ``exact`` differences of the rows of X and Z where that cancels."""
    x2, z2 = square_norms(Xc), square_norms(Zc)
    left = _append(Xc, x2, np.ones_like(x2))
    right = _append(-2 * Zc, np.ones_like(z2), z2)
    share = _CANCELLED[Xc.dtype]

    def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
        write_product(left[rows], right[cols], out)
        a, b = x2[rows], z2[cols]
        if out.size and out.min() < share * (a.max() + b.max()):
            _repair(out, share * a[:, None] + share * b, X[rows], Z[cols], exact)

    return fill


def _append(X: Any, *columns: np.ndarray) -> Any:
    """X with more columns on its right."""
    if sp.issparse(X):
        return sp.hstack([X, *(sp.csr_matrix(c[:, None]) for c in columns)], format="csr")
    return np.column_stack([X, *columns])


def _repair(out: np.ndarray, least: np.ndarray, X: Any, Z: Any, exact: Callable) -> None:
    """Recompute from differences what is below ``least``, a bounded number of pairs at a time."""
    i, j = np.nonzero(out < least)
    if not sp.issparse(X) and 4 * len(i) > out.size:
        _by_differences(X, Z, "sqeuclidean")(slice(None), slice(None), out)
        return
    step = max(1, _PAIR_ENTRIES // X.shape[1])
    for start in range(0, len(i), step):
        a, b = i[start : start + step], j[start : start + step]
        out[a, b] = exact(X[a], Z[b])


def _pairs_dense(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Squared distances of row i of X to row i of Z."""
    difference = np.subtract(X, Z)
    return np.einsum("ij,ij->i", difference, difference)


def _pairs_sparse(X: Any, Z: Any) -> np.ndarray:
    return square_norms(X - Z)


def _by_differences(X: np.ndarray, Z: np.ndarray, metric: str) -> Fill:
    """Sum the differences feature by feature, in float64."""

    def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
        if out.dtype == np.float64 and out.flags.c_contiguous:
            cdist(X[rows], Z[cols], metric, out=out)
        else:
            out[...] = cdist(X[rows], Z[cols], metric)

    return fill


def _cityblock(X: Any, Z: Any) -> Fill:
    if not sp.issparse(X):
        return _by_differences(X, Z, "cityblock")

    def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
        out[...] = manhattan_distances(X[rows], Z[cols])

    return fill


def _chi2(X: Any, Z: Any) -> Fill:
    for name, matrix in (("X", X), ("Z", Z)):
        require_dense(matrix, "the chi2 distance")
        if matrix.size and matrix.min() < 0:
            raise ValueError(
                f"{name} has negative values (the smallest is {matrix.min():.3g}), and the chi2 distance is one of "
                "histograms. Use another kernel, or shift the data."
            )
    left, right = np.asfortranarray(X), np.asfortranarray(Z)

    def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
        difference, total = np.empty((2, *out.shape), out.dtype)
        out[...] = 0
        for x, z in zip(left[rows].T, right[cols].T, strict=True):
            # The smallest normal number changes no sum but 0 + 0, for which the quotient is to be 0.
            np.add(x[:, None] + np.finfo(out.dtype).tiny, z, out=total)
            np.subtract(x[:, None], z, out=difference)
            difference *= difference
            difference /= total
            out += difference

    return fill


METRICS: dict[str, Callable[[Any, Any], Fill]] = {"sqeuclidean": _sqeuclidean, "cityblock": _cityblock, "chi2": _chi2}
