"""Kernels that are a function of the dot product: linear, polynomial, sigmoid, cosine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._inputs import as_pair, square_norms
from ._tiles import Fill, write_product
from .base import Kernel

__all__ = ["DotKernel", "Linear", "Polynomial"]


class DotKernel(Kernel):
    """A kernel f(x . z): a subclass writes f as `from_dot`."""

    def from_dot(self, G: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the kernel's values at dot products G, of any shape; ``out`` may be G itself."""
        raise NotImplementedError(f"{self._name} has no formula: define from_dot(G, out=None).")

    def _prepare(self, X: Any, Z: Any) -> Fill:
        other = X if Z is None else Z

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            write_product(X[rows], other[cols], out)
            self.from_dot(out, out=out)

        return fill

    def diag(self, X: Any) -> np.ndarray:
        X, _ = as_pair(X, None, self._name)
        return self._resolved_on(X).from_dot(square_norms(X))


class Linear(DotKernel):
    r"""The linear kernel :math:`k(x, z) = x \cdot z`."""

    def from_dot(self, G, out=None):
        return G if out is None else out

    def features(self, X):
        return as_pair(X, None, self._name)[0]


class Polynomial(DotKernel):
    r"""The polynomial kernel :math:`k(x, z) = (\gamma \, x \cdot z + c_0)^p`."""

    def __init__(self, degree=3, gamma=None, coef0=1):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def from_dot(self, G, out=None):
        out = np.multiply(G, self.gamma, out=out)
        out += self.coef0
        return np.power(out, self.degree, out=out)
