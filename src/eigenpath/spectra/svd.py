"""Singular values and right singular vectors of centred rows, by the cheapest route that is accurate enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr, svd
from scipy.sparse import diags_array, issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator, svds
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.sparsefuncs import mean_variance_axis

from eigenpath.spectra.eigen import symmetric_eigen

__all__ = [
    "ROUTES",
    "Axes",
    "DenseRows",
    "SparseRows",
    "centred_rows",
    "column_deviations",
    "column_means",
    "principal_axes",
]

TILE = 2**19  # entries of a tile of rows: some megabytes, so that it is centred and multiplied in cache
SMALL = 2 * 10**7  # multiplications below which the SVD takes no time worth saving
FEW = 0.1  # share of the components up to which a sparse table is multiplied instead of squared


class Axes(NamedTuple):
    """What a route found: the singular values and, on request, the directions.

    Parameters
    ----------
    route : str
        The key in `ROUTES`.
    values : ndarray of shape (r,)
        Singular values, decreasing, as float64.
    complete : bool
        Whether these are all of them.
    total : float
        Sum of squares of all of them.
    trusted : float
        Those below it have lost more than half of their digits, and the route "full" would do better.
    rounding : float
        Those below it cannot be told from zero.
    vectors : callable
        ``vectors(k)`` gives the first ``k`` right singular vectors, shape (d, k).
    """

    route: str
    values: np.ndarray
    complete: bool
    total: float
    trusted: float
    rounding: float
    vectors: Callable[[int], np.ndarray]

    def left(self, k: int) -> float:
        """Sum of squares of the singular values after the first k."""
        if self.complete and not (self.values[k:] > self.rounding).any():
            return 0.0
        # Where all are known they are summed: no difference of large numbers.
        rest = (self.values[k:] ** 2).sum() if self.complete else self.total - (self.values[:k] ** 2).sum()
        return max(0.0, float(rest))


@dataclass(frozen=True)
class DenseRows:
    """The matrix ``A = diag(root) (X - mean) / scale``, tile by tile and never stored unless a route asks for it."""

    X: np.ndarray
    mean: np.ndarray
    scale: np.ndarray | None = None
    root: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def offset(self) -> float:
        """Size of the largest mean, in units of the columns' scales."""
        return float(np.abs(self.mean if self.scale is None else self.mean / self.scale).max())

    @property
    def cancelled(self) -> float:
        """What the squares are the difference of, above their own size."""
        return 0.0

    def tiles(self, least: int = 1) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of A, at least so many, in one buffer that the next tile overwrites."""
        n, d = self.shape
        step = max(least, TILE // d)
        buffer = np.empty((min(step, n), d), np.result_type(self.X, self.mean))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            yield part, self._centre(part, buffer[: part.stop - start])

    def _centre(self, part: slice, out: np.ndarray) -> np.ndarray:
        np.subtract(self.X[part], self.mean, out=out)
        if self.scale is not None:
            out /= self.scale
        if self.root is not None:
            out *= self.root[part, None]
        return out

    def dense(self) -> np.ndarray:
        """A itself."""
        return self._centre(slice(None), np.empty(self.shape, np.result_type(self.X, self.mean)))

    def scatter(self) -> np.ndarray:
        """``A.T @ A``; the mean is taken off before, so large offsets cancel no digits."""
        C = np.zeros((self.shape[1],) * 2, self.X.dtype)
        for _, tile in self.tiles():
            C += tile.T @ tile
        return C

    def gram(self) -> np.ndarray:
        """``A @ A.T``."""
        A = self.dense()
        return A @ A.T

    def triangle(self) -> np.ndarray:
        """R of ``A = Q R``, by QR of one tile after the other below the R so far."""
        d = self.shape[1]
        R = np.zeros((0, d), self.X.dtype)
        for _, tile in self.tiles(least=d):
            R = qr(np.vstack([R, tile]), mode="r", overwrite_a=True, check_finite=False)[0][:d]
        return R

    def lift(self, U: np.ndarray) -> np.ndarray:
        """``A.T @ U``."""
        out = np.zeros((self.shape[1], U.shape[1]), self.X.dtype)
        for part, tile in self.tiles():
            out += tile.T @ U[part]
        return out

    def project(self, components: np.ndarray) -> np.ndarray:
        """``A @ components.T``."""
        out = np.empty((self.shape[0], len(components)), np.result_type(self.X, self.mean, components))
        for part, tile in self.tiles():
            np.matmul(tile, components.T, out=out[part])
        return out

    def operator(self) -> LinearOperator:
        """A, held, as something that multiplies."""
        A = self.dense()
        return aslinearoperator(A)


@dataclass(frozen=True)
class SparseRows:
    """``A = S - root mean^T``, where ``S = diag(root) X / scale`` stays sparse and ``mean`` is in the same units."""

    S: Any  # CSR or CSC, matrix or array
    mean: np.ndarray
    root: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.S.shape

    @property
    def offset(self) -> float:
        """Size of the largest mean, in units of the columns' scales."""
        return float(np.abs(self.mean).max())

    @property
    def cancelled(self) -> float:
        """What the squares are the difference of, above their own size."""
        return float((self.root @ self.root) * (self.mean @ self.mean))

    def tiles(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of A, dense, a few at a time."""
        n, d = self.shape
        rows = self.S.tocsr()
        step = max(1, TILE // d)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            yield part, rows[part].toarray() - np.outer(self.root[part], self.mean)

    def scatter(self) -> np.ndarray:
        """``A.T @ A``, the mean taken off after: a mean far above the spread costs digits."""
        return (self.S.T @ self.S).toarray() - (self.root @ self.root) * np.outer(self.mean, self.mean)

    def gram(self) -> np.ndarray:
        """``A @ A.T``, likewise."""
        u = np.outer(self.S @ self.mean, self.root)
        return (self.S @ self.S.T).toarray() - u - u.T + (self.mean @ self.mean) * np.outer(self.root, self.root)

    def lift(self, U: np.ndarray) -> np.ndarray:
        """``A.T @ U``."""
        return self.S.T @ U - np.outer(self.mean, self.root @ U)

    def project(self, components: np.ndarray) -> np.ndarray:
        """``A @ components.T``."""
        return self.S @ components.T - np.outer(self.root, components @ self.mean)

    def operator(self) -> LinearOperator:
        """A as something that multiplies."""
        S, St = self.S, self.S.T.tocsr()

        def forward(v):
            v = np.ravel(v)  # scipy passes columns of shape (d, 1) too
            return S @ v - self.root * (self.mean @ v)

        def backward(u):
            u = np.ravel(u)
            return St @ u - self.mean * (self.root @ u)

        return LinearOperator(self.shape, matvec=forward, rmatvec=backward, dtype=self.mean.dtype)


Rows = DenseRows | SparseRows


def column_means(X, weights: np.ndarray | None = None) -> np.ndarray:
    """Weighted mean of every column, summed in float64."""
    if issparse(X):
        return mean_variance_axis(X, axis=0, weights=weights)[0].astype(np.float64)
    if weights is None:
        return X.mean(axis=0, dtype=np.float64)
    return np.einsum("i,ij->j", weights, X) / weights.sum()


def column_deviations(X, mean: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Weighted standard deviation of every column, over the sum of the weights; 1 for a constant column."""
    if issparse(X):
        variance = mean_variance_axis(X, axis=0, weights=weights)[1]
    else:
        rows = DenseRows(X, mean, root=None if weights is None else np.sqrt(weights))
        variance = sum(np.einsum("ij,ij->j", tile, tile) for _, tile in rows.tiles())
        variance = variance / (len(X) if weights is None else weights.sum())
    deviation = np.sqrt(variance)
    # What rounding alone leaves of a constant column, in its entries and in the sum that made its mean.
    level = (4 * np.finfo(X.dtype).eps + X.shape[0] * np.finfo(float).eps) * np.abs(mean)
    return np.where(deviation <= level, 1, deviation)


def centred_rows(X, mean: np.ndarray, scale: np.ndarray | None = None, weights: np.ndarray | None = None) -> Rows:
    """The rows of X, centred, scaled and multiplied by the roots of their weights, dense or sparse as X is."""
    root = None if weights is None else np.sqrt(weights).astype(X.dtype)
    if not issparse(X):
        return DenseRows(X, mean, scale, root)
    if scale is not None:
        X, mean = X @ diags_array(1 / scale), mean / scale
    if root is not None:
        X = diags_array(root) @ X
    return SparseRows(X, mean, np.ones(X.shape[0], X.dtype) if root is None else root)


def principal_axes(rows: Rows, n_components: int | None = None, route: str = "auto", random_state=None) -> Axes:
    """Decompose centred rows.

    Parameters
    ----------
    rows : DenseRows or SparseRows of shape (n, d)
    n_components : int, optional
        How many directions will be asked for; all by default.
    route : str
        A key of `ROUTES`, or "auto": the SVD while that is cheap, then the eigenvalues of the smaller of ``A.T @ A``
        and ``A @ A.T``. The caller goes back to ``"full"`` when it needs values below ``trusted``.
    random_state : int, RandomState or None
        For ``"arpack"`` and ``"randomized"``.
    """
    name = _cheapest(rows, n_components) if route == "auto" else route
    values, total, vectors = ROUTES[name](rows, n_components, random_state)
    values = np.asarray(values, np.float64)
    squared, largest = name not in ("full", "randomized"), float(values.max(initial=0))
    eps = float(np.finfo(rows.mean.dtype).eps)
    rounding = _rounding_level(rows, largest, eps, squared)
    return Axes(
        route=name,
        values=values,
        complete=len(values) == min(rows.shape),
        total=float(total) if largest > rounding else 0.0,
        trusted=eps**0.25 * largest if squared and isinstance(rows, DenseRows) else 0.0,
        rounding=rounding,
        vectors=vectors,
    )


def _rounding_level(rows: Rows, largest: float, eps: float, squared: bool) -> float:
    """Singular values up to here may be nothing but rounding errors."""
    # Independent errors of relative size eps make a matrix whose norm is about this many times that of one entry.
    # They come from the decomposition, relative to its largest value, and from centring, relative to the mean.
    many = 4 * eps * sum(np.sqrt(rows.shape))
    if not squared:
        return float(many * (largest + rows.offset))
    errors = eps * (16 + 4 * np.sqrt(min(rows.shape))) * (largest**2 + rows.cancelled)
    return float(np.sqrt(errors) + many * rows.offset)


def _cheapest(rows: Rows, n_components: int | None) -> str:
    n, d = rows.shape
    small = min(n, d)
    if isinstance(rows, DenseRows) and n * d * small <= SMALL:
        return "full"
    if isinstance(rows, SparseRows) and n_components is not None and n_components < FEW * small:
        return "arpack"
    return "covariance_eigh" if d <= n else "gram_eigh"


def _full(rows, n_components, random_state):
    if isinstance(rows, SparseRows):
        raise ValueError(
            "svd_solver='full' needs a dense X, but X is sparse. Use svd_solver='covariance_eigh', 'gram_eigh' or "
            "'arpack', which leave it sparse, or pass X.toarray()."
        )
    n, d = rows.shape
    # A triangle has the singular values of the whole, so the long side is never part of the SVD.
    if n >= d:
        _, values, right = svd(rows.triangle(), full_matrices=False, check_finite=False)
        return values, values @ values, lambda k: right[:k].T
    Q, R = qr(rows.dense().T, mode="economic", overwrite_a=True, check_finite=False)
    left, values, _ = svd(R, check_finite=False)
    return values, values @ values, lambda k: Q @ left[:, :k]


def _covariance(rows, n_components, random_state):
    C = rows.scatter()
    total = np.trace(C)
    eigen = symmetric_eigen(C, n_components, overwrite=True, psd_tol=np.inf)
    return np.sqrt(eigen.values), total, lambda k: eigen.vectors[:, :k]


def _gram(rows, n_components, random_state):
    K = rows.gram()
    total = np.trace(K)
    eigen = symmetric_eigen(K, n_components, overwrite=True, psd_tol=np.inf)
    values = np.sqrt(eigen.values)
    return values, total, lambda k: _orthonormal(rows.lift(eigen.vectors[:, :k]), values[:k])


def _orthonormal(V: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Divide columns by their lengths; those of length zero are completed to an orthonormal set."""
    lost = values <= np.sqrt(np.finfo(V.dtype).eps * max(V.shape)) * values.max(initial=0)
    if not lost.any():
        return V / values
    Q, R = qr(V / np.where(lost, 1, values), mode="economic", check_finite=False)
    return Q * np.where(np.diag(R) < 0, -1, 1).astype(V.dtype)


def _arpack(rows, n_components, random_state):
    small = min(rows.shape)
    if n_components is None or n_components >= small:
        raise ValueError(
            f"svd_solver='arpack' finds an integer n_components below min(n_samples, n_features) = {small}, not "
            f"n_components={n_components!r}. Use svd_solver='auto' to get more of them."
        )
    start = check_random_state(random_state).uniform(-1, 1, small).astype(rows.mean.dtype)
    _, values, right = svds(rows.operator(), n_components, v0=start, return_singular_vectors="vh")
    order = np.argsort(values)[::-1]
    return values[order], _sum_of_squares(rows), lambda k: right[order[:k]].T


def _randomized(rows, n_components, random_state):
    if isinstance(rows, SparseRows) or n_components is None:
        raise ValueError(
            "svd_solver='randomized' needs a dense X and an integer n_components. Use svd_solver='arpack' for a sparse "
            "X, and 'auto' for other choices of n_components."
        )
    A = rows.dense()
    _, values, right = randomized_svd(A, n_components, random_state=random_state)
    return values, np.einsum("ij,ij->", A, A), lambda k: right[:k].T


def _sum_of_squares(rows: Rows) -> float:
    if isinstance(rows, DenseRows):
        return float(sum(np.einsum("ij,ij->", tile, tile) for _, tile in rows.tiles()))
    return float(rows.S.multiply(rows.S).sum() - rows.cancelled)


ROUTES: dict[str, Callable] = {
    "full": _full,
    "covariance_eigh": _covariance,
    "gram_eigh": _gram,
    "arpack": _arpack,
    "randomized": _randomized,
}
