"""The tridiagonal form of a symmetric matrix: all that a path needs, at a third of the price of eigenvectors."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, eigh_tridiagonal
from scipy.linalg.lapack import dormqr, dptsv, dsytrd, dsytrd_lwork

__all__ = ["Tridiagonal"]

_BLOCK = 64


class Tridiagonal:
    """``A = P T P.T`` with orthogonal ``P`` (kept as reflectors) and tridiagonal ``T``.

    Parameters
    ----------
    A : ndarray of shape (n, n), Fortran order, float64
        Its lower triangle is read, and overwritten.
    """

    def __init__(self, A: np.ndarray) -> None:
        n = len(A)
        if n == 1:
            self.diagonal, self.off, self._tau = A[0].copy(), np.empty(0), np.empty(0)
            self._reflectors = A
            return
        work = int(dsytrd_lwork(n, lower=1)[0])
        packed, self.diagonal, self.off, self._tau, _ = dsytrd(A, lower=1, lwork=work, overwrite_a=1)
        # The reflectors start one row below the diagonal. A view shifted by one entry saves the copy; its last row is
        # never read.
        self._reflectors = packed.reshape(-1, order="F")[1 : 1 + n * (n - 1)].reshape(n, n - 1, order="F")

    def __len__(self) -> int:
        return len(self.diagonal)

    def into(self, B: np.ndarray) -> np.ndarray:
        """``P.T @ B``."""
        return self._apply("T", B)

    def back(self, B: np.ndarray) -> np.ndarray:
        """``P @ B``."""
        return self._apply("N", B)

    def _apply(self, trans: str, B: np.ndarray) -> np.ndarray:
        out = np.array(B, dtype=np.float64, order="F")
        if len(self) > 1:
            # Every reflector leaves the first row alone.
            below = np.asfortranarray(out[1:])
            out[1:] = dormqr("L", trans, self._reflectors, self._tau, below, _BLOCK * below.shape[1], overwrite_c=1)[0]
        return out

    def eigen(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues, decreasing and unclipped, and the eigenvectors of ``T``."""
        try:
            values, vectors = eigh_tridiagonal(self.diagonal, self.off, check_finite=False, lapack_driver="stevd")
        except LinAlgError as error:
            raise ValueError(f"the kernel matrix could not be decomposed: {error}. Look for NaN entries.") from error
        return values[::-1], vectors[:, ::-1]

    def solve(self, shift: float, B: np.ndarray) -> np.ndarray | None:
        """``(T + shift I)^-1 B``, or None if rounding made that matrix indefinite."""
        _, _, out, info = dptsv(self.diagonal + shift, self.off, B)
        return out if info == 0 else None
