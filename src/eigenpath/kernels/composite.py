"""Sums, products and multiples of kernels; written ``k1 + k2``, ``k1 * k2`` and ``2.0 * k``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._inputs import check_number
from ._tiles import Fill
from .base import Kernel

__all__ = ["Product", "Scaled", "Sum"]


class _Pair(Kernel):
    """Two kernels and the ufunc that joins their values."""

    _join: Callable[..., Any]

    def __init__(self, k1, k2):
        self.k1 = k1
        self.k2 = k2

    @property
    def metric(self):
        return self.k1.metric if self.k1.metric == self.k2.metric else None

    @property
    def psd(self):
        return self.k1.psd and self.k2.psd

    @property
    def pairwise(self):
        if self.k1.pairwise != self.k2.pairwise:
            raise ValueError(
                f"{self!r} joins a precomputed kernel to one that is not: X cannot be a kernel matrix and data at once. "
                "Compute the other kernel's matrix first and add or multiply the matrices."
            )
        return self.k1.pairwise

    @property
    def _threaded(self):
        return self.k1._threaded and self.k2._threaded

    @property
    def _tile(self):
        return max(self.k1._tile, self.k2._tile)

    def _prepare(self, X: Any, Z: Any) -> Fill:
        first, second = self.k1._prepare(X, Z), self.k2._prepare(X, Z)

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            first(rows, cols, out)
            other = np.empty(out.shape, out.dtype)
            second(rows, cols, other)
            self._join(out, other, out=out)

        return fill

    def from_distance(self, D: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the kernel's values at distances D; ``out`` may be D itself."""
        second = self.k2.from_distance(D)
        return self._join(self.k1.from_distance(D, out=out), second, out=out)

    def diag(self, X: Any) -> np.ndarray:
        kernel = self._resolved_on(X)
        return self._join(kernel.k1.diag(X), kernel.k2.diag(X))


class Sum(_Pair):
    r"""The sum :math:`k_1(x, z) + k_2(x, z)`: features of both, side by side.

    Examples
    --------
    >>> from eigenpath.kernels import RBF, Linear
    >>> kernel = RBF(gamma=0.5) + Linear()
    >>> kernel.set_params(k1__gamma=2.0)
    Sum(k1=RBF(gamma=2.0), k2=Linear())
    """

    _join = np.add

    @property
    def bound(self):
        return self.k1.bound + self.k2.bound

    def features(self, X):
        first, second = self.k1.features(X), self.k2.features(X)
        if first is None or second is None:
            return None
        return sp.hstack([first, second], format="csr") if sp.issparse(first) else np.hstack([first, second])


class Product(_Pair):
    r"""The product :math:`k_1(x, z) \, k_2(x, z)`.

    Examples
    --------
    >>> from eigenpath.kernels import RBF, Linear
    >>> (RBF(gamma=1.0) * Linear())([[0.0], [2.0]])
    array([[0., 0.],
           [0., 4.]])
    """

    _join = np.multiply

    @property
    def bound(self):
        return self.k1.bound * self.k2.bound if min(self.k1.bound, self.k2.bound) > 0 else 0.0


class Scaled(Kernel):
    r"""A multiple :math:`s \, k(x, z)`, :math:`s \ge 0`.

    Examples
    --------
    >>> from eigenpath.kernels import RBF
    >>> 3 * RBF(gamma=1.0)
    Scaled(kernel=RBF(gamma=1.0), scale=3)
    """

    def __init__(self, kernel, scale=1.0):
        self.kernel = kernel
        self.scale = scale

    metric = property(lambda self: self.kernel.metric)
    psd = property(lambda self: self.kernel.psd)
    pairwise = property(lambda self: self.kernel.pairwise)
    _threaded = property(lambda self: self.kernel._threaded)
    _tile = property(lambda self: self.kernel._tile)

    @property
    def bound(self):
        return self._factor * self.kernel.bound if self._factor > 0 else 0.0

    @property
    def _factor(self):
        return check_number("scale", self.scale, 0.0)

    def _prepare(self, X: Any, Z: Any) -> Fill:
        write, factor = self.kernel._prepare(X, Z), self._factor

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            write(rows, cols, out)
            out *= factor

        return fill

    def from_distance(self, D: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the kernel's values at distances D; ``out`` may be D itself."""
        out = self.kernel.from_distance(D, out=out)
        out *= self._factor
        return out

    def diag(self, X: Any) -> np.ndarray:
        return self._factor * self.kernel.diag(X)

    def features(self, X):
        features = self.kernel.features(X)
        return None if features is None else features * np.sqrt(self._factor)
