"""Kernels that are a function of a distance: RBF, Laplacian, Matérn, rational quadratic, chi-squared."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._inputs import as_pair
from ._tiles import Fill
from .base import Kernel
from .distances import prepare_distance

__all__ = ["RBF", "DistanceKernel"]


class DistanceKernel(Kernel):
    """A kernel f(distance(x, z)): a subclass names the ``metric`` and writes f as `from_distance`."""

    metric: str = "sqeuclidean"
    bound = 1.0

    def from_distance(self, D: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the kernel's values at distances D, of any shape; ``out`` may be D itself."""
        raise NotImplementedError(f"{self._name} has no formula: define from_distance(D, out=None).")

    def _prepare(self, X: Any, Z: Any) -> Fill:
        distances = prepare_distance(X, Z, self.metric)

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            distances(rows, cols, out)
            self.from_distance(out, out=out)

        return fill

    def diag(self, X: Any) -> np.ndarray:
        X, _ = as_pair(X, None, self._name)
        return np.full(X.shape[0], self._resolved_on(X).from_distance(np.zeros(1))[0], X.dtype)


class RBF(DistanceKernel):
    r"""The Gaussian kernel :math:`k(x, z) = \exp(-\gamma \|x - z\|^2)`."""

    def __init__(self, gamma=None):
        self.gamma = gamma

    def from_distance(self, D, out=None):
        out = np.multiply(D, -self.gamma, out=out)
        return np.exp(out, out=out)
