"""One masked problem, and the Lanczos recurrence of one target in it."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal

from .base import Sample
from .eigen import clip_spectrum

__all__ = ["Column", "Problem", "Ritz"]

# Vectors are kept in blocks of so many rows: nothing is copied when there are more.
_CHUNK = 32
# A vector this much shorter after orthogonalization than before has lost digits: do it again.
_CANCELLED = 0.7


class Problem:
    """The rows that one problem trains on, weighted, and the rows it predicts.

    Parameters
    ----------
    sample : Sample
        All the data.
    train : ndarray of int, optional
        Rows to train on, repeated ones counting so often. All by default.
    test : ndarray of int, optional
    diagonal : ndarray of shape (n,)
        Of the Gram matrix.
    """

    def __init__(
        self, sample: Sample, diagonal: np.ndarray, train: np.ndarray | None = None, test: np.ndarray | None = None
    ) -> None:
        weight = sample.weight
        if train is not None:
            weight = weight * np.bincount(np.arange(len(sample))[train], minlength=len(sample))
        counts = weight > 0
        whole = bool(counts.all())
        self.index: np.ndarray | slice = slice(None) if whole else np.flatnonzero(counts)
        plain = sample.sample_weight is None and train is None
        self.sample = Sample(
            sample.y[self.index], None if plain else weight[self.index], sample.center, sample.normalize
        )
        self.test = np.empty(0, dtype=int) if test is None else np.asarray(test)
        self.root = self.sample.root
        # Centring the features is orthogonality to this vector.
        self.unit = self.root / np.sqrt(self.sample.total) if sample.center == "features" else None
        self.trace = float(self.sample.weight @ diagonal[self.index])
        self.reach = self._reach(diagonal)

    def __len__(self) -> int:
        return len(self.root)

    @property
    def limit(self) -> int:
        """The dimension of the space in which everything happens."""
        return len(self) - (self.unit is not None)

    def _reach(self, diagonal: np.ndarray) -> float:
        """A bound on the root mean square, over the test rows, of what a unit function may predict."""
        if len(self.test) == 0:
            return 0.0
        reach = np.sqrt(diagonal[self.test].mean())
        if self.unit is not None:
            # The mean of the training features is not longer than their root mean square.
            reach += np.sqrt(self.trace / self.sample.total)
        return float(reach)

    def project(self, w: np.ndarray) -> None:
        """Centre ``w`` in place."""
        if self.unit is not None:
            w -= (self.unit @ w) * self.unit


class Ritz(NamedTuple):
    """Eigenpairs of a tridiagonal matrix, on the scale of ``lam``.

    Attributes
    ----------
    values : ndarray of shape (s,)
        Decreasing, as they are: rounding may have made the smallest negative.
    vectors : ndarray of shape (s, s)
    coupling : float
        What ties the space to the rest: residuals of Ritz pairs are ``coupling * abs(vectors[-1])``.
    """

    values: np.ndarray
    vectors: np.ndarray
    coupling: float

    @property
    def residuals(self) -> np.ndarray:
        return self.coupling * np.abs(self.vectors[-1])


class Column:
    """The Krylov space of one target: an orthonormal basis and a tridiagonal matrix that grow step by step.

    Parameters
    ----------
    problem : Problem
    target : int
        Which of the targets.
    eps : float
        The precision of the products, relative to the largest.
    """

    def __init__(self, problem: Problem, target: int, eps: float) -> None:
        self.problem, self.target, self.eps = problem, target, eps
        self.alpha: list[float] = []
        self.beta: list[float] = []
        self.means: list[float] = []
        self.noise: list[float] = []
        self._basis: list[np.ndarray] = []
        self._held_out: list[np.ndarray] = []
        self._size = 0.0
        self._closed = False
        self._ritz: Ritz | None = None
        start = problem.sample.target[:, target].copy()
        problem.project(start)
        self.norm = float(np.linalg.norm(start))
        rounding = 8 * np.finfo(np.float64).eps * np.linalg.norm(problem.root * problem.sample.y[:, target])
        if not np.isfinite(self.norm):
            raise ValueError("the target contains NaN or infinity.")
        self._limit = problem.limit
        # The mean square of what K maps to zero, if that is all of the target.
        self.outside = 0.0
        if self.norm <= rounding:
            self._start_anywhere()
        elif self._limit:
            self._append(start / self.norm)

    def _start_anywhere(self) -> None:
        """There is nothing to learn; one step from anywhere still shows the size of the spectrum."""
        self.norm, self._limit = 0.0, min(1, self.problem.limit)
        start = np.random.default_rng(0).standard_normal(len(self.problem))
        self.problem.project(start)
        if self._limit:
            self._append(start / np.linalg.norm(start))

    @property
    def steps(self) -> int:
        return len(self.alpha)

    @property
    def exact(self) -> bool:
        """Whether the space holds all that there is to know: further steps would add rounding errors."""
        return self._closed or self.steps >= self._limit

    @property
    def nbytes(self) -> int:
        return sum(chunk.nbytes for chunk in [*self._basis, *self._held_out])

    def _append(self, vector: np.ndarray) -> None:
        place, row = divmod(self.steps, _CHUNK)
        if place == len(self._basis):
            self._basis.append(np.empty((_CHUNK, len(self.problem))))
            self._held_out.append(np.empty((_CHUNK, len(self.problem.test))))
        self._basis[place][row] = vector

    def _vector(self, j: int) -> np.ndarray:
        return self._basis[j // _CHUNK][j % _CHUNK]

    def _rows(self, chunks: list[np.ndarray], count: int) -> list[np.ndarray]:
        return [chunk[: count - i * _CHUNK] for i, chunk in enumerate(chunks) if count > i * _CHUNK]

    def write_input(self, out: np.ndarray) -> None:
        """Write the vector to multiply K by to ``out (n,)``, zero where this problem has no rows."""
        out[self.problem.index] = self.problem.root * self._vector(self.steps)

    def advance(self, product: np.ndarray, noise: float = 0.0) -> None:
        """Take K times that vector, ``(n,)``, and its error, and grow the space by a dimension."""
        problem, step = self.problem, self.steps
        w = problem.root * product[problem.index]
        mean = float(problem.root @ w) / problem.sample.total
        problem.project(w)
        size = float(np.linalg.norm(w))
        if not np.isfinite(size):
            raise ValueError(
                "a product with the kernel matrix is not finite: check the kernel's parameters, and X for NaN."
            )
        if step == 0 and self.norm and size <= noise:
            self.outside = self.norm**2 / problem.sample.total
            self._start_anywhere()
            return
        self._size = max(self._size, size)
        v = self._vector(step)
        alpha = float(v @ w)
        w -= alpha * v
        if step:
            w -= self.beta[-1] * self._vector(step - 1)
        correction, beta = self._orthogonalize(w)
        self._held_out[step // _CHUNK][step % _CHUNK] = product[problem.test]
        self.means.append(mean)
        # The orthogonalization is not free of rounding either.
        self.noise.append(noise + 8 * float(np.finfo(np.float64).eps) * size)
        self.beta.append(beta)
        self.alpha.append(alpha + correction)
        # Centring may have taken away most of the product, and left its errors.
        self._closed = beta <= max(self.eps * self._size, noise)
        if not self.exact:
            self._append(w / beta)

    def _orthogonalize(self, w: np.ndarray) -> tuple[float, float]:
        """Make ``w`` orthogonal to the basis, in place; return what it had along the last vector, and its norm."""
        basis = self._rows(self._basis, self.steps + 1)
        before, along = float(np.linalg.norm(w)), 0.0
        for _ in range(2):
            for chunk in basis:
                share = chunk @ w
                w -= share @ chunk
            self.problem.project(w)
            along += float(share[-1])
            after = float(np.linalg.norm(w))
            if after > _CANCELLED * before:
                break
            before = after
        return along, after

    @property
    def ritz(self) -> Ritz:
        if self._ritz is None or len(self._ritz.values) != max(self.steps, 1):
            self._ritz = self._decompose()
        return self._ritz

    def _decompose(self) -> Ritz:
        scale = self.problem.sample.scale
        if self.steps == 0:
            return Ritz(np.zeros(1), np.ones((1, 1)), 0.0)
        values, vectors = eigh_tridiagonal(self.alpha, self.beta[:-1], check_finite=False, lapack_driver="stevd")
        return Ritz(values[::-1] / scale, vectors[:, ::-1], self.beta[-1] / scale)

    def spectrum(self, psd_tol: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Ritz values ``t (s,)``, none negative, and the target's coordinates ``b (s, 1)``."""
        ritz = self.ritz
        single = self.eps > 1e-12
        psd_tol = 64 * self.eps if single and psd_tol is None else psd_tol
        # What is smaller than the products' errors is one of them.
        level = max(self.noise, default=0.0) / self.problem.sample.scale
        if single:
            level = max(level, self.eps * ritz.values[0])
        t = clip_spectrum(ritz.values, psd_tol=psd_tol, level=level)
        return t, (self.norm / np.sqrt(self.problem.sample.total)) * ritz.vectors[0][:, None]

    @cached_property
    def _lift_scale(self) -> float:
        return np.sqrt(self.problem.sample.total) / self.problem.sample.scale

    def rows(self) -> np.ndarray:
        """Map coordinates ``g(t) b`` to predictions on the test rows, less their mean: ``(m, s)``."""
        if self.steps == 0:
            return np.zeros((len(self.problem.test), 1))
        rows = np.concatenate(self._rows(self._held_out, self.steps)).T
        if self.problem.unit is not None:
            rows = rows - np.asarray(self.means)
        return rows @ (self._lift_scale * self.ritz.vectors)

    def lift(self, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Dual coefficients ``(len(problem), q)`` and what centring takes off the intercept, ``(q,)``."""
        if self.steps == 0:
            return np.zeros((len(self.problem), coordinates.shape[1])), np.zeros(coordinates.shape[1])
        small = self._lift_scale * (self.ritz.vectors @ coordinates)
        chunks = self._rows(self._basis, self.steps)
        dual = sum(chunk.T @ small[i * _CHUNK : i * _CHUNK + len(chunk)] for i, chunk in enumerate(chunks))
        offset = np.asarray(self.means) @ small if self.problem.unit is not None else np.zeros(small.shape[1])
        return self.problem.root[:, None] * dual, offset
