"""Sums, products and multiples of kernels; written ``k1 + k2``, ``k1 * k2`` and ``2.0 * k``."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._inputs import Number
from ._tiles import Fill
from .base import Kernel

__all__ = ["Product", "Scaled", "Sum"]


class _Pair(Kernel):
    """Two kernels and the ufunc that joins their values."""

    _join: np.ufunc

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
                f"{self!r} joins a precomputed kernel to one that is not: X cannot be both data and a kernel matrix. "
                "Compute the other kernel's matrix too, join the two, and use kernel='precomputed'."
            )
        return self.k1.pairwise

    @property
    def _threaded(self):
        return self.k1._threaded and self.k2._threaded

    @property
    def _tile(self):
        return max(self.k1._tile, self.k2._tile)

    def _inputs(self, X: Any, Z: Any = None) -> tuple[Any, Any]:
        return self.k1._inputs(X, Z) if self.pairwise else super()._inputs(X, Z)

    def _prepare(self, X: Any, Z: Any) -> Fill:
        first, second = self.k1._prepare(X, Z), self.k2._prepare(X, Z)

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            first(rows, cols, out)
            other = np.empty(out.shape, out.dtype)
            second(rows, cols, other)
            self._join(out, other, out=out)

        return fill

    def from_distance(self, D: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if self.metric is None:
            return super().from_distance(D, out)
        second = self.k2.from_distance(D)
        first = self.k1.from_distance(D, out=out)
        return self._join(first, second, out=first)

    def diag(self, X: Any) -> np.ndarray:
        X, _ = self._inputs(X)
        kernel = self._resolved_on(X)
        return self._join(kernel.k1.diag(X), kernel.k2.diag(X))


class Sum(_Pair):
    r"""The sum of two kernels: the features of both, side by side. Written ``k1 + k2``.

    .. math:: k(x, z) = k_1(x, z) + k_2(x, z)

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
    r"""The product of two kernels. Written ``k1 * k2``.

    .. math:: k(x, z) = k_1(x, z) \, k_2(x, z)

    Examples
    --------
    >>> from eigenpath.kernels import RBF, Linear
    >>> kernel = RBF(gamma=1.0) * Linear()
    >>> kernel([[0.0], [2.0]])
    array([[0., 0.],
           [0., 4.]])
    """

    _join = np.multiply

    @property
    def bound(self):
        return 0.0 if 0 in (self.k1.bound, self.k2.bound) else self.k1.bound * self.k2.bound


class Scaled(Kernel):
    r"""A multiple of a kernel. Written ``scale * kernel``.

    .. math:: k(x, z) = s \, k_1(x, z), \qquad s \ge 0

    Examples
    --------
    >>> from eigenpath.kernels import RBF
    >>> 3 * RBF(gamma=1.0)
    Scaled(kernel=RBF(gamma=1.0), scale=3)
    """

    _numbers = (Number("scale", 0),)

    def __init__(self, kernel, scale=1.0):
        self.kernel = kernel
        self.scale = scale

    @property
    def metric(self):
        return self.kernel.metric

    @property
    def psd(self):
        return self.kernel.psd

    @property
    def pairwise(self):
        return self.kernel.pairwise

    @property
    def bound(self):
        scale = self._fixed("scale")
        return scale * self.kernel.bound if scale > 0 else 0.0

    @property
    def _threaded(self):
        return self.kernel._threaded

    @property
    def _tile(self):
        return self.kernel._tile

    def _inputs(self, X: Any, Z: Any = None) -> tuple[Any, Any]:
        return self.kernel._inputs(X, Z)

    def _prepare(self, X: Any, Z: Any) -> Fill:
        write, scale = self.kernel._prepare(X, Z), self._fixed("scale")

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            write(rows, cols, out)
            out *= scale

        return fill

    def from_distance(self, D: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        out = self.kernel.from_distance(D, out=out)
        out *= self._fixed("scale")
        return out

    def diag(self, X: Any) -> np.ndarray:
        return self._fixed("scale") * self.kernel.diag(X)

    def features(self, X):
        features = self.kernel.features(X)
        return None if features is None else features * self._fixed("scale") ** 0.5
