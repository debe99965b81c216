"""Singular values and right singular vectors of centred rows, by the cheapest route that is accurate enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, svd
from scipy.sparse.linalg import svds
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd

from .eigen import symmetric_eigen
from .rows import Rows

__all__ = ["ROUTES", "Axes", "principal_axes"]

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
        trusted=eps**0.25 * largest if squared and not rows.sparse else 0.0,
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
    if not rows.sparse and n * d * small <= SMALL:
        return "full"
    if rows.sparse and n_components is not None and n_components < FEW * small:
        return "arpack"
    return "covariance_eigh" if d <= n else "gram_eigh"


def _full(rows, n_components, random_state):
    if rows.sparse:
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
    return values[order], rows.sum_of_squares(), lambda k: right[order[:k]].T


def _randomized(rows, n_components, random_state):
    if rows.sparse or n_components is None:
        raise ValueError(
            "svd_solver='randomized' needs a dense X and an integer n_components. Use svd_solver='arpack' for a sparse "
            "X, and 'auto' for other choices of n_components."
        )
    A = rows.dense()
    _, values, right = randomized_svd(A, n_components, random_state=random_state)
    return values, rows.sum_of_squares(), lambda k: right[:k].T


ROUTES: dict[str, Callable] = {
    "full": _full,
    "covariance_eigh": _covariance,
    "gram_eigh": _gram,
    "arpack": _arpack,
    "randomized": _randomized,
}
