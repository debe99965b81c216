"""The tridiagonal form of a symmetric matrix: all that a path needs, at a third of the price of eigenvectors."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dptsv

from .lapack import ormtr, stedc, sytrd

__all__ = ["Tridiagonal"]


class Tridiagonal:
    """``A = P T P.T`` with orthogonal ``P`` (kept as reflectors) and tridiagonal ``T``.

    Parameters
    ----------
    A : ndarray of shape (n, n), Fortran order, float64
        Its lower triangle is read, and overwritten.
    level : float
        See `clip_spectrum`.
    """

    def __init__(self, A: np.ndarray, level: float = 0.0) -> None:
        self.level = level
        self.diagonal, self.off, self._tau = sytrd(A)
        self._reflectors = A

    def __len__(self) -> int:
        return len(self.diagonal)

    def into(self, B: np.ndarray) -> np.ndarray:
        """``P.T @ B``."""
        return ormtr("T", self._reflectors, self._tau, np.array(B, dtype=np.float64, order="F"))

    def back(self, B: np.ndarray) -> np.ndarray:
        """``P @ B``."""
        return ormtr("N", self._reflectors, self._tau, np.array(B, dtype=np.float64, order="F"))

    def eigen(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues, decreasing and unclipped, and the eigenvectors of ``T``."""
        try:
            values, vectors = stedc(self.diagonal, self.off)
        except np.linalg.LinAlgError as error:
            raise ValueError(f"the kernel matrix could not be decomposed: {error}. Look for NaN entries.") from error
        return values[::-1], vectors[:, ::-1]

    def solve(self, shift: float, B: np.ndarray) -> np.ndarray | None:
        """``(T + shift I)^-1 B``, or None if rounding made that matrix indefinite."""
        if len(self) == 1:
            pivot = self.diagonal[0] + shift
            return B / pivot if pivot > 0 else None
        _, _, out, info = dptsv(self.diagonal + shift, self.off, B)
        return out if info == 0 else None
