"""What the components of kernel PCA will cost."""

from __future__ import annotations

import numpy as np

from ..gram import triangle_bytes
from ._kpca_routes import (
    FIRST_GUESS,
    Problem,
    dense_bytes,
    first_route,
    in_single,
    limit_of,
    require_basis,
    require_matrix,
)
from ._plan import Plan, Rates

__all__ = ["plan_components"]

# A typical number of vectors that K is multiplied by, for each component and besides.
PRODUCTS, MORE_PRODUCTS = 3, 80


def plan_components(problem: Problem, route: str) -> Plan:
    """The plan of a route, or of the one that "auto" tries first; raise if it does not fit."""
    features = problem.kernel.features(problem.X)
    why = f"eigen_solver={route!r}"
    if route == "auto":
        route = first_route(problem, features)
        why = {
            "explicit": "there are few features",
            "dense": "it is faster for so many components"
            if problem.wanted is not None
            else "all components are wanted",
            "krylov": "few components are wanted of many",
        }[route]
    if route == "explicit":
        return _explicit(problem, features.shape[1], why)
    return _krylov(problem, why) if route == "krylov" else _matrix(problem, route, why)


def _explicit(problem: Problem, d: int, why: str) -> Plan:
    n = float(problem.n)
    work = Rates(6.0 * n * d**2, 0, 8.0 * n * d * 4, 0)
    return Plan("explicit", "features", int(8 * 3 * n * d), limit_of(problem), work.product, None, why, work)


def _matrix(problem: Problem, route: str, why: str) -> Plan:
    """Routes that centre a whole matrix in place."""
    require_matrix(problem)
    n, k = float(problem.n), problem.most
    vectors = PRODUCTS * k + MORE_PRODUCTS
    pairwise = problem.kernel.pairwise
    values, storage = n**2 * (not pairwise), "given" if pairwise and problem.disposable else "stored"
    if route == "dense":
        work = Rates(2 * n**2 * k, 4 / 3 * n**3, 32 * n**2, values)
        operations = work.product + work.tridiagonal
    else:
        # One vector is multiplied at a time, and each product reads the matrix.
        work, operations = Rates(0, 0, 8 * n**2 * (4 + vectors), values), 2 * n**2 * vectors
    return Plan(route, storage, dense_bytes(problem), limit_of(problem), operations, None, why, work)


def _krylov(problem: Problem, why: str) -> Plan:
    n, k = float(problem.n), problem.count or FIRST_GUESS
    basis, limit, vectors = require_basis(problem, k), limit_of(problem), PRODUCTS * k + MORE_PRODUCTS
    given = problem.kernel.pairwise
    whole = 0 if given else triangle_bytes(problem.n, np.float32 if in_single(problem) else np.float64)
    budget = min(whole, limit - basis)
    storage = "given" if given else "stored" if budget == whole else "partial" if budget else "tiled"
    missing = 0.0 if given else 1 - budget / whole
    # A block of vectors reads, or computes, the matrix once.
    blocks = vectors / 16
    work = Rates(
        2 * n**2 * vectors + 4 * n * vectors**2,
        0,
        blocks * (budget or 8 * n**2 * given),
        n**2 / 2 * (1 + missing * blocks) * (not given),
    )
    return Plan("krylov", storage, basis + budget, limit, work.product, budget, why, work)
