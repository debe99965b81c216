"""Block Lanczos with full re-orthogonalization and thick restarts: the largest eigenpairs of a symmetric operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._threads import blocks, run_tiles

__all__ = ["BlockLanczos", "Ritz"]

CONDITION = 1e-3  # a block whose Cholesky factor has a smaller pivot is orthonormalized by its singular values instead
BLOWN_UP = 0.1  # a block with a smaller pivot is cleaned again: its rounding errors grew by the inverse of that
STRIP = 4096  # columns that one thread takes at a time
FEW = 10**7  # multiplications that are done sooner than a second thread is started


class Ritz(NamedTuple):
    """Ritz values ``(j,)``, decreasing, the coordinates of their vectors ``(j, j)``, bounds ``(j,)`` on residuals."""

    values: np.ndarray
    coordinates: np.ndarray
    residuals: np.ndarray


class BlockLanczos:
    r"""A growing orthonormal basis of a block Krylov space, with the operator's matrix in it.

    .. math:: A Q_j^T = Q_J^T H, \qquad H \in R^{J \times j}

    The first ``done`` of the ``size`` rows of Q have been multiplied by the operator; the others wait. The residual of
    a Ritz pair of ``H[:done, :done]`` is what couples it to the rows that wait, plus what was dropped on the way.

    Parameters
    ----------
    multiply : callable
        Rows ``(b, n)`` to their products with the symmetric operator, ``(b, n)``.
    n : int
    block : int
        How many rows are multiplied at a time.
    capacity : int
        The most rows that may be kept.
    rng : numpy.random.RandomState
    null : ndarray of shape (n,), optional
        A unit vector that the operator sends to zero: nothing along it enters the basis.
    """

    def __init__(
        self,
        multiply: Callable[[np.ndarray], np.ndarray],
        n: int,
        *,
        block: int,
        capacity: int,
        rng,
        null: np.ndarray | None = None,
    ) -> None:
        self.multiply, self.n, self.block, self.rng, self.null = multiply, n, block, rng, null
        self.n_threads = 1
        self.rounding = 4 * float(np.finfo(float).eps) * np.sqrt(n)
        self.scale = 0.0  # the largest product seen: what rounding is relative to
        self.products = 0
        self.done = self.size = 0
        self.older = self.last = 0  # where the last two products began
        self.tangled = False  # whether chains of blocks were started at different times
        self.capacity = 0
        self.Q = np.empty((0, n))
        self.H, self.lost = np.empty((0, 0)), np.empty(0)
        self.reserve(capacity)
        self.inject()

    @property
    def floor(self) -> float:
        """What rounding alone can make of a residual."""
        return self.rounding * self.scale

    def reserve(self, capacity: int) -> None:
        """Make room for so many rows, and the blocks that come after them."""
        if capacity <= self.capacity:
            return
        room, size = capacity + 3 * self.block, self.size
        Q, H, lost = np.empty((room, self.n)), np.zeros((room, room)), np.zeros(room)
        Q[:size], H[:size, :size], lost[:size] = self.Q[:size], self.H[:size, :size], self.lost[:size]
        self.Q, self.H, self.lost, self.capacity = Q, H, lost, capacity

    def step(self, *, front: bool = False) -> bool:
        """Multiply the first block that waits and append what is new; False if the basis spans everything.

        What is new goes to the end of the rows that wait, or to their ``front``, to be multiplied next.
        """
        if self.size == self.done and not self.inject():
            return False
        j, J = self.done, self.size
        e = min(j + self.block, J)
        W = self.multiply(self.Q[j:e])
        self.products += e - j
        norms = _norms(W)
        if not np.isfinite(norms).all():
            raise ValueError("a product with the kernel matrix is not finite: look for NaN or infinite entries.")
        self.scale = max(self.scale, float(norms.max()))
        # Only the latest rows have large coefficients; the pass over all of them keeps rounding from growing.
        window = 0 if self.tangled else self.older
        self.H[window:J, j:e] = self._clean(W, window)
        self.H[:J, j:e] += self._clean(W)
        fresh, self.lost[j:e] = self._orthonormal(W)
        self.done, at = e, e if front else J
        self._insert(at, fresh)
        self.H[at : at + len(fresh), j:e] = fresh @ W.T
        self.older, self.last = self.last, j
        return True

    def inject(self) -> int:
        """Add a random block before the rows that wait: the way out of an invariant space, and a probe for more."""
        room = min(self.block, self.n - self.size)
        W = self.rng.standard_normal((room, self.n))
        self._clean(W)
        W /= np.sqrt(self.n)
        self._clean(W)
        fresh = self._orthonormal(W, floor=1e-6)[0]
        self.tangled = self.tangled or self.size > self.done
        self._insert(self.done, fresh)
        return len(fresh)

    def _insert(self, at: int, fresh: np.ndarray) -> None:
        """Put rows before the one that waits at this place."""
        f, j, J = len(fresh), self.done, self.size
        if J + f > len(self.Q):
            self.reserve(J + f)
        self.Q[at + f : J + f] = self.Q[at:J].copy()
        self.H[at + f : J + f, :j] = self.H[at:J, :j].copy()
        self.Q[at : at + f] = fresh
        self.H[at : at + f, :j] = 0
        self.size += f

    def ritz(self) -> Ritz:
        """The eigenpairs of the operator's matrix in the rows that were multiplied."""
        j = self.done
        values, U = np.linalg.eigh(self.H[:j, :j], UPLO="U")
        values, U = values[::-1].copy(), np.ascontiguousarray(U[:, ::-1])
        coupling = self.H[j : self.size, :j] @ U
        return Ritz(values, U, np.sqrt(np.einsum("ij,ij->j", coupling, coupling)) + self.lost[:j] @ np.abs(U))

    def vectors(self, ritz: Ritz, k: int) -> np.ndarray:
        """The first ``k`` Ritz vectors as rows ``(k, n)``."""
        return ritz.coordinates[:, :k].T @ self.Q[: self.done]

    def restart(self, ritz: Ritz, keep: int) -> None:
        """Replace the multiplied rows by the first ``keep`` Ritz vectors; the rows that wait stay."""
        j, waiting = self.done, self.size - self.done
        U = ritz.coordinates[:, :keep]

        def rotate(strip: slice) -> None:
            self.Q[:keep, strip] = U.T @ self.Q[:j, strip]

        # Strip by strip: no second basis.
        self._over_strips(rotate, keep * j)
        self.Q[keep : keep + waiting] = self.Q[j : self.size].copy()
        coupling = self.H[j : self.size, :j] @ U
        lost = self.lost[:j] @ np.abs(U)
        self.H[:] = 0
        self.H[range(keep), range(keep)] = ritz.values[:keep]
        self.H[keep : keep + waiting, :keep] = coupling
        self.lost[:keep] = lost
        self.done, self.size = keep, keep + waiting
        self.older = self.last = 0

    def _clean(self, W: np.ndarray, start: int = 0) -> np.ndarray:
        """Take the basis out of the rows of W, in place; return the coefficients ``(size - start, len(W))``."""
        if self.null is not None:
            W -= np.outer(W @ self.null, self.null)
        Q = self.Q[start : self.size]
        parts = np.empty((len(blocks(self.n, STRIP)), len(Q), len(W)))

        def measure(strip: slice) -> None:
            np.matmul(Q[:, strip], W[:, strip].T, out=parts[strip.start // STRIP])

        def remove(strip: slice) -> None:
            W[:, strip] -= coefficients.T @ Q[:, strip]

        self._over_strips(measure, Q.shape[0] * len(W))
        coefficients = parts.sum(axis=0)
        self._over_strips(remove, Q.shape[0] * len(W))
        return coefficients

    def _over_strips(self, work: Callable[[slice], None], per_column: int) -> None:
        """Do strips of columns side by side, if they are much work."""
        threads = self.n_threads if per_column * self.n > FEW else 1
        run_tiles(work, [(strip,) for strip in blocks(self.n, STRIP)], threads)

    def _orthonormal(self, W: np.ndarray, floor: float | None = None) -> tuple[np.ndarray, np.ndarray | float]:
        """Orthonormal rows that span W but for what is below the floor, and the norm that each row of W loses."""
        floor = self.floor if floor is None else floor
        fresh = self._cholesky(W, floor)
        if fresh is not None:
            return fresh, 0.0
        _, sizes, V = np.linalg.svd(W, full_matrices=False)
        fresh = V[sizes > floor]
        # Small directions, blown up to unit length, bring their rounding errors along.
        for _ in range(2 if len(fresh) else 0):
            self._clean(fresh)
            fresh = np.linalg.qr(fresh.T)[0].T
        return fresh, _norms(W - (W @ fresh.T) @ fresh)

    def _cholesky(self, W: np.ndarray, floor: float) -> np.ndarray | None:
        """Orthonormal rows by two Cholesky factorizations, or None if W is too close to losing rank for that."""
        norms = _norms(W)
        if not len(W) or norms.min() * CONDITION <= floor:
            return None
        rows = W / norms[:, None]
        for _ in range(2):
            L = _factor(rows)
            if L is None:
                return None
            rows = np.linalg.inv(L) @ rows
            if L.diagonal().min() < BLOWN_UP:
                self._clean(rows)
        return rows


def _factor(rows: np.ndarray) -> np.ndarray | None:
    """The Cholesky factor of the rows' Gram matrix, unless a pivot is small."""
    try:
        L = np.linalg.cholesky(rows @ rows.T)
    except np.linalg.LinAlgError:
        return None
    return L if L.diagonal().min() > CONDITION else None


def _norms(W: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", W, W))
