"""From a kernel and data to the components of kernel PCA: the routes, and which one to take."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import eigsh
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd

from ..gram import Gram, build_gram
from ..kernels import Kernel, Precomputed
from ..spectra.centring import Means, centre_in_place
from ..spectra.top import (
    TOL,
    WIDE,
    TopPairs,
    TopSolver,
    basis_vectors,
    exact_is_faster,
    exact_pairs,
    warn_of_doubts,
)
from ._plan import free_bytes

__all__ = [
    "FIRST_GUESS",
    "ROUTES",
    "Components",
    "Problem",
    "dense_bytes",
    "find_components",
    "first_route",
    "in_single",
    "limit_of",
    "require_basis",
    "require_matrix",
    "require_preimages",
]

SLIM = 200  # features up to which the singular values of the feature matrix are cheap
MOST_VECTORS = 5  # of a basis, for each of many components
SHARE = 0.6  # of the free memory that a Gram matrix may take if no limit is given
WIDE_BLOCK = 16  # vectors, at least, that share the cost of recomputing the kernel
FIRST_GUESS = 32  # components to begin with when a share of the variance is asked for


@dataclass(frozen=True)
class Problem:
    """What to decompose, ``wanted`` components of it (None: all; a float: a share of the variance), and how."""

    kernel: Kernel
    X: Any
    weight: np.ndarray | None
    wanted: int | float | None
    tol: float = 0.0
    max_iter: int | None = None
    iterated_power: int | str = "auto"
    random_state: Any = None
    memory_limit: int | None = None
    disposable: bool = False  # whether X, a precomputed matrix, may be overwritten

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def total(self) -> float:
        return float(self.n) if self.weight is None else float(self.weight.sum())

    @property
    def pi(self) -> np.ndarray:
        """Weights that sum to one."""
        return np.full(self.n, 1 / self.n) if self.weight is None else self.weight / self.total

    @property
    def count(self) -> int | None:
        """The number of components, if it is known."""
        return int(self.wanted) if isinstance(self.wanted, Integral) else None

    @property
    def most(self) -> int:
        """How many components must be computed at most."""
        return self.n if self.count is None else self.count

    def power(self, diagonal: np.ndarray) -> float:
        """The trace of the weighted Gram matrix, not centred."""
        return float(diagonal.sum() if self.weight is None else self.weight @ diagonal)


class Components(NamedTuple):
    """Eigenpairs of the centred, weighted Gram matrix.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Decreasing, not cleaned.
    vectors : ndarray of shape (n, r)
    residuals : ndarray of shape (r,) or None
        Bounds, where the route has them.
    means : Means
        What centring subtracted.
    trace : float
        Of the centred matrix: the total variance times the sum of weights.
    power : float
        Of the matrix before: what rounding errors are relative to.
    route : str
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray | None
    means: Means
    trace: float
    power: float
    route: str


def find_components(problem: Problem, route: str) -> Components:
    """Decompose by a route of `ROUTES`, or by the best if it is "auto"; keep as many components as are wanted."""
    found = _auto(problem) if route == "auto" else ROUTES[route](problem)
    if problem.count is not None or problem.wanted is None:
        return found
    k = _enough(found.values, found.trace, problem.wanted) or len(found.values)
    residuals = None if found.residuals is None else found.residuals[:k]
    return found._replace(values=found.values[:k], vectors=found.vectors[:, :k], residuals=residuals)


def _enough(values: np.ndarray, trace: float, share: float) -> int | None:
    """The smallest number of components with that share of the variance, or None if there are too few."""
    reached = np.cumsum(np.maximum(values, 0)) >= share * trace
    return int(reached.argmax()) + 1 if reached.any() else None


def _auto(problem: Problem) -> Components:
    n, features = problem.n, problem.kernel.features(problem.X)
    route = first_route(problem, features)
    if route == "explicit":
        return _explicit(problem, features)
    if route == "dense":
        return _dense(problem)
    fits = _dense_fits(problem)
    found, complete = _krylov_pairs(problem, n // 10 if fits else n // 2, quiet=fits)
    return found if complete or not fits else _dense(problem)


def first_route(problem: Problem, features: Any) -> str:
    """The route that "auto" takes, or tries first."""
    n, k = problem.n, problem.count
    if features is not None and _slim(features, k):
        return "explicit"
    exact = problem.wanted is None or (_dense_fits(problem) and exact_is_faster(n, FIRST_GUESS if k is None else k))
    return "dense" if exact else "krylov"


def _slim(features: Any, k: int | None) -> bool:
    """Whether there are so few features that their singular values cost less than the Gram matrix."""
    n, d = features.shape
    if issparse(features) or d >= n:
        return False
    return k is None or (k <= d and (d <= SLIM or d <= 4 * k))


def _explicit(problem: Problem, features: np.ndarray) -> Components:
    """From the singular values of the centred features; no Gram matrix at all."""
    Z = features.astype(np.float64)
    power = problem.power(np.einsum("ij,ij->i", Z, Z))
    mean = problem.pi @ Z
    means = Means(Z @ mean, float(mean @ mean))
    Z -= mean
    if problem.weight is not None:
        Z *= np.sqrt(problem.weight)[:, None]
    U, sizes, _ = np.linalg.svd(Z, full_matrices=False)
    k = min(problem.most, len(sizes))
    values = sizes**2
    return Components(values[:k], U[:, :k], None, means, float(values.sum()), power, "explicit")


def _centred(problem: Problem) -> tuple[np.ndarray, Means, float, float]:
    """The centred, weighted matrix, in one n x n array; what was subtracted; its trace; the trace it had before."""
    require_matrix(problem)
    if isinstance(problem.kernel, Precomputed):
        K = problem.X if problem.disposable else problem.X.copy()
    else:
        K = problem.kernel(problem.X)
    power = problem.power(K.diagonal().astype(np.float64))
    means = centre_in_place(K, problem.weight)
    return K, means, float(K.trace(dtype=np.float64)), power


def _dense(problem: Problem) -> Components:
    K, means, trace, power = _centred(problem)
    pairs = exact_pairs(K, problem.most)
    return Components(pairs.values, pairs.vectors, pairs.residuals, means, trace, power, "dense")


def _arpack(problem: Problem) -> Components:
    K, means, trace, power = _centred(problem)
    start = check_random_state(problem.random_state).uniform(-1, 1, problem.n)
    values, U = eigsh(K, problem.most, which="LA", tol=problem.tol, maxiter=problem.max_iter, v0=start)
    return Components(values[::-1], U[:, ::-1], None, means, trace, power, "arpack")


def _randomized(problem: Problem) -> Components:
    K, means, trace, power = _centred(problem)
    U, sizes, V = randomized_svd(
        K, problem.most, n_iter=problem.iterated_power, random_state=problem.random_state, flip_sign=False
    )
    # The two sides of a negative eigenvalue point in opposite directions.
    values = sizes * np.sign(np.einsum("ij,ji->j", U, V))
    order = np.argsort(-values)
    return Components(values[order], U[:, order], None, means, trace, power, "randomized")


def _krylov(problem: Problem) -> Components:
    # Most of a spectrum is not what Krylov spaces are for.
    if (problem.count or 1) > problem.n // 2:
        return _dense(problem)
    return _krylov_pairs(problem, problem.n // 2, quiet=False)[0]


def _krylov_pairs(problem: Problem, most: int, quiet: bool) -> tuple[Components, bool]:
    """Block Lanczos for at most so many components, and whether it found what was wanted; ``quiet`` if it did not."""
    k = problem.count or min(FIRST_GUESS, most)
    gram = _gram(problem, k)
    if problem.count is None:
        # A larger basis must fit beside the matrix.
        most = max(k, min(most, (limit_of(problem) - gram.nbytes) // (8 * problem.n * MOST_VECTORS)))
    columns = gram @ problem.pi
    means = Means(columns, float(problem.pi @ columns))
    power = problem.power(gram.diagonal())
    trace = power - problem.total * means.whole
    recomputed = getattr(gram, "storage", "stored") != "stored"
    solver = TopSolver(
        gram,
        center=True,
        sample_weight=problem.weight,
        block_size=_block(k) if recomputed else None,
        random_state=problem.random_state,
    )
    pairs, complete = _solve(solver, problem, k, most, trace)
    if not complete and not quiet and pairs.converged == len(pairs.values):
        warnings.warn(
            f"n_components={problem.wanted!r} takes more than {len(pairs.values)} components, and no more are looked for "
            "on this route: these are kept. Use eigen_solver='dense', or allow more memory.",
            ConvergenceWarning,
            stacklevel=5,
        )
    elif complete or not quiet:
        # At the line that called fit.
        warn_of_doubts(pairs, problem.tol or TOL, stacklevel=6)
    return Components(pairs.values, pairs.vectors, pairs.residuals, means, trace, power, "krylov"), complete


def _solve(solver: TopSolver, problem: Problem, k: int, most: int, trace: float) -> tuple[TopPairs, bool]:
    """``k`` pairs or, while a share of the variance is not reached, twice as many, and whether all is found."""
    while True:
        pairs = solver.solve(k, tol=problem.tol or TOL, max_iter=problem.max_iter)
        enough = problem.count is not None or _enough(pairs.values, trace, float(problem.wanted or 1)) is not None
        if enough or pairs.converged < k or k == most:
            return pairs, enough and pairs.converged == k
        k = min(2 * k, most)


def _block(k: int) -> int | None:
    """Vectors that are multiplied at a time where the kernel is recomputed."""
    return max(WIDE_BLOCK, k + 2) if k <= WIDE else None


def _gram(problem: Problem, k: int) -> Gram:
    basis = require_basis(problem, k)
    precision = "mixed" if in_single(problem) else "double"
    return build_gram(problem.kernel, problem.X, precision=precision, budget=limit_of(problem) - basis)


def in_single(problem: Problem) -> bool:
    """Whether the Gram matrix of the Krylov route is kept in float32."""
    return problem.X.dtype == np.float32 and not problem.kernel.pairwise


def require_basis(problem: Problem, k: int) -> int:
    """The bytes of a Krylov basis, which has first claim; raise if there is no room for it."""
    basis, limit = 8 * problem.n * basis_vectors(k, _block(k)), limit_of(problem)
    if basis > limit:
        raise MemoryError(
            f"memory_limit={problem.memory_limit!r} allows {limit / 1e6:.4g} MB, and the Krylov basis for {k} components "
            f"of {problem.n} rows takes {basis / 1e6:.4g} MB: ask for fewer components, or allow that."
        )
    return basis


def limit_of(problem: Problem) -> int:
    """The bytes that the Krylov route may take."""
    return int(SHARE * free_bytes()) if problem.memory_limit is None else problem.memory_limit


def dense_bytes(problem: Problem) -> int:
    """The matrix, and what LAPACK needs beside it."""
    n, k = problem.n, problem.most
    return 8 * n * (3 * n if k == n else n + 3 * k)


def _dense_fits(problem: Problem) -> bool:
    limit = free_bytes() if problem.memory_limit is None else problem.memory_limit
    return dense_bytes(problem) <= limit


def require_matrix(problem: Problem) -> None:
    """Raise before anything is allocated past a limit that was given."""
    if problem.memory_limit is not None and not _dense_fits(problem):
        raise MemoryError(
            f"memory_limit={problem.memory_limit!r} is too low to decompose a matrix of {problem.n} rows, which takes "
            f"{dense_bytes(problem) / 1e6:.4g} MB: use eigen_solver='krylov' with an integer n_components, or allow that."
        )


def require_preimages(problem: Problem) -> None:
    """Raise if the matrix of the ridge regression of rows on components is more than the limit that was given."""
    whole = 8 * problem.n**2
    if problem.memory_limit is not None and whole > problem.memory_limit:
        raise MemoryError(
            f"memory_limit={problem.memory_limit!r} is too low for pre-images by ridge regression, whose matrix of "
            f"{problem.n} rows takes {whole / 1e6:.4g} MB: use preimage='fixed_point', or allow that."
        )


ROUTES: dict[str, Callable[[Problem], Components]] = {
    "dense": _dense,
    "arpack": _arpack,
    "randomized": _randomized,
    "krylov": _krylov,
}
