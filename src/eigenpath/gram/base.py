"""What a Gram matrix can do, whatever way it is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

__all__ = ["Cross", "Gram"]


class Gram(ABC):
    """A symmetric positive semidefinite matrix K of kernel values, known by its products.

    Attributes
    ----------
    shape : tuple of two int
    dtype : dtype
        In what precision entries are kept and multiplied. Products are float64 in any case.
    product_error : float
        What rounding, and nothing else, may do to ``K @ v`` for a unit vector v, as a Euclidean norm. It is a bound
        with Higham and Mary's probabilistic constants, where errors grow as the root of the number of terms.
    """

    dtype: np.dtype = np.dtype(np.float64)

    def __init__(self, n: int) -> None:
        self.shape = (n, n)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={len(self)}, dtype={self.dtype}, nbytes={self.nbytes})"

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        V = np.asarray(V)
        if V.ndim not in (1, 2) or len(V) != len(self):
            raise ValueError(
                f"a Gram matrix of shape {self.shape} cannot be multiplied by an array of shape {V.shape}."
            )
        if V.size == 0:
            return np.zeros(V.shape)
        return self.product(V[:, None])[:, 0] if V.ndim == 1 else self.product(V)

    @abstractmethod
    def product(self, V: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """Return ``K @ V``, float64 of shape (n, k), for ``V`` of that shape with k > 0.

        Its memory is that of ``V.T``: the columns are contiguous. The result does not depend on ``n_threads``.
        """

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """Return ``k(x_i, x_i)``, shape (n,)."""

    @abstractmethod
    def rows(self, index: Any) -> np.ndarray:
        """Return rows of K, shape (len(index), n)."""

    @abstractmethod
    def cross(self, X: Any) -> Cross:
        """Return the matrix of kernel values between new rows and those of K, as something to multiply by."""

    @abstractmethod
    def dense(self) -> np.ndarray:
        """Return K as an array of shape (n, n)."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The bytes that this object keeps; a user's own matrix is not counted."""

    @property
    @abstractmethod
    def product_error(self) -> float:
        """See the class."""

    def trace(self) -> float:
        """The sum of the diagonal, which bounds every eigenvalue of a positive semidefinite matrix."""
        return float(self.diagonal().sum(dtype=np.float64))


class Cross(ABC):
    """Kernel values between new rows and training rows, ``(m, n)``, known by their products."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    def __matmul__(self, C: np.ndarray) -> np.ndarray:
        C = np.asarray(C)
        if C.ndim not in (1, 2) or len(C) != self.shape[1]:
            raise ValueError(
                f"kernel values of shape {self.shape} cannot be multiplied by an array of shape {C.shape}."
            )
        return self.product(C[:, None])[:, 0] if C.ndim == 1 else self.product(C)

    @abstractmethod
    def product(self, C: np.ndarray) -> np.ndarray:
        """Return ``k(X, X_train) @ C``, float64 of shape (m, k)."""

    @abstractmethod
    def dense(self) -> np.ndarray:
        """Return the values as an array of shape (m, n)."""
