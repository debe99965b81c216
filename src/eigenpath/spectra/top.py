"""The largest eigenpairs of a symmetric operator, each with a certificate."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._threads import available_threads, single_threaded_blas
from ..gram import Gram, PrecomputedGram
from .centring import centre_in_place
from .eigen import fix_signs
from .lanczos import BlockLanczos, Ritz

__all__ = [
    "TopPairs",
    "TopSolver",
    "basis_vectors",
    "exact_is_faster",
    "exact_pairs",
    "top_eigenpairs",
    "warn_of_doubts",
]

TOL = 1e-8
WIDE = 24  # up to so many pairs the block is wider than what is wanted: it cannot miss copies of a multiple eigenvalue
NARROW = 16  # the block for more pairs: deep enough a space from few products
PROBE = 4  # products after which a fresh block shows what the first one missed


class TopPairs(NamedTuple):
    """The largest eigenpairs of a symmetric operator A.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Decreasing. Not clipped: an indefinite operator may have negative ones.
    vectors : ndarray of shape (n, k)
        Orthonormal; the entry of largest size of each is positive.
    residuals : ndarray of shape (k,)
        Bounds on ``norm(A v - value * v)``: an eigenvalue of A lies within this distance of the value.
    converged : int
        How many of the pairs, from the first, are as accurate as was asked.
    n_products : int
        How many vectors the operator was applied to; 0 if it was decomposed outright.
    gap : float
        From the last value to the next one, as far as that is known (nan if it is not).
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    converged: int
    n_products: int
    gap: float


def top_eigenpairs(
    operator: Any,
    k: int,
    *,
    center: bool = False,
    sample_weight: np.ndarray | None = None,
    tol: float = TOL,
    max_iter: int | None = None,
    block_size: int | None = None,
    random_state: Any = None,
) -> TopPairs:
    r"""The ``k`` largest eigenpairs of a symmetric ``A`` or, centred and weighted, of ``H S A S H``.

    .. math:: S = \operatorname{diag}(s), \qquad H = I - s s^T / s^T s, \qquad s = \sqrt{w}

    By block Lanczos, which needs only products with A, or by LAPACK where that is faster.

    Parameters
    ----------
    operator, center, sample_weight, block_size, random_state
        As in `TopSolver`.
    k : int
    tol : float
        A pair is accurate enough when its residual is at most ``tol`` times its value, or at rounding level.
    max_iter : int, optional
        The most products with a block of vectors; by default what takes about the time of decomposing the matrix.

    Warns
    -----
    ConvergenceWarning
        If a pair is not accurate enough, or if the last one cannot be told from the next.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.diag(np.arange(1.0, 501.0))
    >>> pairs = top_eigenpairs(A, 3, random_state=0)
    >>> pairs.values.round(6)
    array([500., 499., 498.])
    """
    n = operator.shape[0]
    if not 1 <= k <= n:
        raise ValueError(f"k={k!r} is not valid: it must be between 1 and n = {n}.")
    if exact_is_faster(n, k):
        return exact_pairs(_dense(operator), k, center=center, sample_weight=sample_weight)
    how = {"center": center, "sample_weight": sample_weight, "block_size": block_size, "random_state": random_state}
    pairs = TopSolver(operator, **how).solve(k, tol=tol, max_iter=max_iter)
    warn_of_doubts(pairs, tol)
    return pairs


def exact_is_faster(n: int, k: int) -> bool:
    """Whether LAPACK finds the top ``k`` of ``n`` eigenpairs sooner than block Lanczos does (measured, dense kernels)."""
    return n <= 500 or k > min((n / 240) ** 2.5, n / 10)


def exact_pairs(A: np.ndarray, k: int, *, center: bool = False, sample_weight: np.ndarray | None = None) -> TopPairs:
    """The same by LAPACK; ``A`` is overwritten."""
    if center:
        centre_in_place(A, sample_weight)
    elif sample_weight is not None:
        root = np.sqrt(sample_weight).astype(A.dtype)
        A *= root
        A *= root[:, None]
    n = len(A)
    if not np.isfinite(A.sum()):
        raise ValueError("the kernel matrix is not finite: look for NaN or infinite entries.")
    values, vectors = _largest(A, min(n, k + 1))
    gap = float(values[k - 1] - values[k]) if len(values) > k else np.nan
    rounding = 4 * float(np.finfo(values.dtype).eps) * np.sqrt(n) * float(np.abs(values).max())
    return TopPairs(values[:k].copy(), fix_signs(vectors[:, :k].copy()), np.full(k, rounding), k, 0, gap)


def _largest(A: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` largest eigenvalues, decreasing, and their vectors; the upper triangle of ``A`` is overwritten."""
    n, diagonal = len(A), A.diagonal().copy()
    # The transpose of a matrix in C order is what LAPACK can overwrite, and in half of it only.
    if k < n:
        values, vectors = eigh(A.T, overwrite_a=True, check_finite=False, driver="evr", subset_by_index=(n - k, n - 1))
        if len(values) == k:
            return values[::-1], vectors[:, ::-1]
        # Near a multiple of the identity this driver may return nothing, and no error either.
        for i in range(n):
            A[i, i:] = A[i:, i]
        np.fill_diagonal(A, diagonal)
    values, vectors = eigh(A.T, overwrite_a=True, check_finite=False, driver="evd")
    return values[::-1][:k], vectors[:, ::-1][:, :k]


def warn_of_doubts(pairs: TopPairs, tol: float, stacklevel: int = 3) -> None:
    """Say which pairs are not accurate enough, or that the last one is one choice of many, and what helps."""
    values, k = pairs.values, len(pairs.values)
    if pairs.converged < k:
        worst = pairs.residuals[pairs.converged]
        remedy = f"ask for {pairs.converged} components, " if pairs.converged else ""
        warnings.warn(
            f"{pairs.converged} of {k} eigenpairs reached tol={tol!r} in {pairs.n_products} products; the residual of "
            f"number {pairs.converged + 1} is {worst:.3g}, and its eigenvalue {values[pairs.converged]:.6g}. "
            f"Raise max_iter or tol, {remedy}or decompose the whole matrix (eigen_solver='dense').",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
        return
    last = float(pairs.residuals[-1])
    if pairs.gap <= last < values[-1]:
        first = int(np.flatnonzero(values - values[-1] <= pairs.residuals + last)[0])
        fewer = f"{first} or for " if first else ""
        which = f"component {k} is" if first + 1 == k else f"components {first + 1} to {k} are"
        warnings.warn(
            f"eigenvalue {k} ({values[-1]:.6g}) and the next differ by no more than the residual, {last:.3g}: the "
            f"eigenvalues are right, but {which} one choice of many. Ask for {fewer}more "
            "components, or lower tol.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


class TopSolver:
    """Block Lanczos with its state: what one call of `solve` learned, the next one starts from.

    Parameters
    ----------
    operator : ndarray of shape (n, n), or an object with ``shape``, ``dtype`` and ``@`` for blocks (n, b)
        It is not changed.
    center : bool
        Whether to centre in feature space. Centring and weights are applied to vectors; A is not copied for them.
    sample_weight : ndarray of shape (n,), optional
    block_size : int, optional
        The number of vectors in a block. Wide blocks suit operators whose products cost much whatever their width.
    random_state : int, RandomState or None
        Draws the first vectors.
    """

    def __init__(
        self,
        operator: Any,
        *,
        center: bool = False,
        sample_weight: np.ndarray | None = None,
        block_size: int | None = None,
        random_state: Any = None,
    ) -> None:
        root = None if sample_weight is None else np.sqrt(np.asarray(sample_weight, dtype=np.float64))
        self.product = _Product(PrecomputedGram(operator) if isinstance(operator, np.ndarray) else operator, root)
        self.n = operator.shape[0]
        s = np.ones(self.n) if root is None else root
        self.null = s / np.linalg.norm(s) if center else None
        self.rng = check_random_state(random_state)
        self.block_size = block_size
        self.basis: BlockLanczos | None = None

    def solve(self, k: int, *, tol: float = TOL, max_iter: int | None = None) -> TopPairs:
        """The top ``k``; whether they are accurate enough is in the result."""
        with self.product.threads():
            return self._solve(k, tol, max_iter)

    def _solve(self, k: int, tol: float, max_iter: int | None) -> TopPairs:
        basis = self._prepare(k)
        # As many values as are wanted must be there, whatever max_iter is.
        least = k // basis.block + 2
        limit = basis.products + basis.block * max(least, max_iter or max(40, 5 * self.n // (2 * basis.block)))
        run = _Run(basis, k, tol)
        wait, probing = max(3, (3 * k // 2 - basis.done) // basis.block), False
        while True:
            steps = min(wait, (limit - basis.products) // basis.block)
            going = run.advance(steps, front=probing)
            out = not going or basis.products + basis.block > limit
            probing = False
            if run.look() <= 1:
                if run.settled() or out:
                    break
                probing, wait = run.probe(), PROBE
            elif out:
                break
            else:
                wait = run.wait()
            run.make_room()
        largest = 1.0 if self.product.root is None else float(self.product.root.max()) ** 2
        return run.pairs(largest * getattr(self.product.operator, "product_error", 0.0))

    def _prepare(self, k: int) -> BlockLanczos:
        """The basis so far, or a new one."""
        block, capacity = _sizes(k, self.block_size)
        if self.basis is None:
            self.basis = BlockLanczos(
                self.product, self.n, block=block, capacity=capacity, rng=self.rng, null=self.null
            )
        self.basis.n_threads = self.product.n_threads
        self.basis.reserve(capacity)
        return self.basis


def _sizes(k: int, block: int | None) -> tuple[int, int]:
    """The width of a block, and how many vectors a basis has before it restarts."""
    block = block or (k + 2 if k <= WIDE else NARROW)
    return block, max(4 * k, k + 16 * block)


def basis_vectors(k: int, block: int | None = None) -> int:
    """How many vectors a run for ``k`` pairs holds at most: its basis and the blocks that it works on."""
    block, capacity = _sizes(k, block)
    return capacity + 6 * block


class _Product:
    """Rows ``(b, n)`` to their products with the weighted operator, not centred yet."""

    def __init__(self, operator: Any, root: np.ndarray | None) -> None:
        self.operator, self.root, self.n_threads = operator, root, 1

    @contextmanager
    def threads(self) -> Iterator[None]:
        """Share the tiles of a Gram operator among threads; BLAS gets one for the small matrices between products."""
        if not isinstance(self.operator, Gram):
            yield
            return
        self.n_threads = available_threads()
        with single_threaded_blas():
            yield

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        V = (rows if self.root is None else rows * self.root).T
        W = self.operator.product(V, self.n_threads) if isinstance(self.operator, Gram) else self.operator @ V
        # The columns of a Gram operator's products are contiguous.
        W = np.array(W.T, dtype=np.float64, order="C", copy=None)
        return W if self.root is None else np.multiply(W, self.root, out=W)


class _Run:
    """The control of one run: when to look at the Ritz values, when to restart, when to believe them."""

    def __init__(self, basis: BlockLanczos, k: int, tol: float) -> None:
        self.basis, self.k, self.tol = basis, k, tol
        self.history: list[tuple[int, float]] = []
        self.following = -np.inf  # the largest known value after the k-th
        self.seen: np.ndarray | None = None
        self.ritz: Ritz

    def advance(self, steps: int, front: bool) -> bool:
        """So many products with a block, as far as there is room; False if the basis spans everything."""
        for _ in range(max(1, steps)):
            if not self.basis.step(front=front):
                return False
            if self._full():
                break
        return True

    def look(self) -> float:
        """Compute the Ritz values, and return the largest ratio of a residual to what it may be."""
        self.ritz = self.basis.ritz()
        if len(self.ritz.values) < self.k:
            return np.inf
        ratio = float((self.ritz.residuals[: self.k] / self._limits()).max())
        self.history.append((self.basis.products, ratio))
        return ratio

    def wait(self) -> int:
        """Steps to the next look, which costs j**3: extrapolate how fast the residuals fall."""
        most = max(2, self.basis.done // (6 * self.basis.block))
        if len(self.history) < 2:
            return most
        (before, high), (now, low) = self.history[-2:]
        if low >= high:
            return most
        rate = np.log(high / low) / (now - before)
        return int(np.clip(np.ceil(np.log(low) / rate / self.basis.block), 1, most))

    def settled(self) -> bool:
        """Whether no copy of a multiple eigenvalue can have been missed, or a fresh block did not find one."""
        values, k = self.ritz.values, self.k
        self.following = max(self.following, *values[k : k + 1], -np.inf)
        if self.basis.block >= k:
            return True
        seen, self.seen = self.seen, values[:k].copy()
        return seen is not None and bool((values[:k] <= seen + self.tol * np.abs(seen) + self.basis.floor).all())

    def probe(self) -> bool:
        """Start a fresh block beside the one that runs."""
        self.history = []
        return self.basis.inject() > 0

    def make_room(self) -> None:
        """Restart if the basis is full, from the wanted Ritz vectors and some of the next, which keep the pace up."""
        if self._full():
            self.basis.restart(self.ritz, self.k + (self.basis.capacity - self.k) // 3)

    def pairs(self, product_error: float) -> TopPairs:
        ritz, k = self.ritz, min(self.k, len(self.ritz.values))
        met = ritz.residuals[:k] <= self._limits()[:k]
        converged = k if met.all() else int(np.argmin(met))
        values, rounding = ritz.values[:k].copy(), self.basis.floor + 2 * product_error
        vectors = fix_signs(self.basis.vectors(ritz, k).T)
        gap = values[-1] - self.following if np.isfinite(self.following) else np.nan
        return TopPairs(values, vectors, ritz.residuals[:k] + rounding, converged, self.basis.products, float(gap))

    def _limits(self) -> np.ndarray:
        # A floor of zero: the operator is zero.
        return np.maximum(self.tol * np.abs(self.ritz.values[: self.k]), self.basis.floor or 1.0)

    def _full(self) -> bool:
        return self.basis.size > self.basis.capacity - self.basis.block


def _dense(operator: Any) -> np.ndarray:
    """A copy of the operator as a matrix in C order."""
    if isinstance(operator, np.ndarray):
        return np.array(operator, np.float32 if operator.dtype == np.float32 else np.float64, order="C")
    dense = operator.dense() if hasattr(operator, "dense") else operator @ np.eye(operator.shape[0])
    return np.array(dense, dtype=np.float64, order="C")
