"""Kernels that are a function of the dot product: linear, polynomial, sigmoid, cosine."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._inputs import Number, square_norms
from ._tiles import Fill, write_product
from .base import Kernel

__all__ = ["Cosine", "DotKernel", "Linear", "Polynomial", "Sigmoid"]


class DotKernel(Kernel):
    """A kernel f(x . z): a subclass writes f as `from_dot`. Sparse data welcome.

    Examples
    --------
    >>> import numpy as np
    >>> class Exponential(DotKernel):
    ...     def from_dot(self, G, out=None):
    ...         return np.exp(G, out=out)
    >>> Exponential()([[0.0], [1.0]]).round(3)
    array([[1.   , 1.   ],
           [1.   , 2.718]])
    """

    def from_dot(self, G: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the kernel's values at dot products G, an array of floats; ``out`` may be G itself."""
        raise NotImplementedError(f"{self._name} has no formula: define from_dot(G, out=None).")

    def _prepare(self, X: Any, Z: Any) -> Fill:
        other = X if Z is None else Z

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            write_product(X[rows], other[cols], out)
            self.from_dot(out, out=out)

        return fill

    def diag(self, X: Any) -> np.ndarray:
        X, _ = self._inputs(X)
        return self._resolved_on(X).from_dot(square_norms(X))


class Linear(DotKernel):
    r"""The linear kernel.

    .. math:: k(x, z) = x \cdot z

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def from_dot(self, G, out=None):
        return np.positive(G, out=out) if out is not G else G

    def features(self, X):
        return self._inputs(X)[0]


class Polynomial(DotKernel):
    r"""The polynomial kernel.

    .. math:: k(x, z) = (\gamma \, x \cdot z + c_0)^p

    Parameters
    ----------
    degree : float, default=3
        The exponent p. The kernel is positive semidefinite if it is an integer and ``coef0`` is not negative.
    gamma : float, "scale" or None
        None is 1 / d; see `Kernel.resolve`.
    coef0 : float, default=1

    Examples
    --------
    >>> Polynomial(degree=2, gamma=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    _numbers = (Number("degree", 0), Number("gamma", 0), Number("coef0"))

    def __init__(self, degree=3, gamma=None, coef0=1):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def psd(self):
        return float(self.degree).is_integer() and self.coef0 >= 0

    def from_dot(self, G, out=None):
        out = np.multiply(G, self._fixed("gamma"), out=out)
        out += self._fixed("coef0")
        degree = self._fixed("degree")
        return _integer_power(out, int(degree)) if degree.is_integer() else np.power(out, degree, out=out)


def _integer_power(A: np.ndarray, power: int) -> np.ndarray:
    """A**power, in place; several times faster than ``numpy.power`` for the usual degrees."""
    if power == 0:
        A[...] = 1
        return A
    bits = bin(power)[3:]
    base = A.copy() if "1" in bits else A
    for bit in bits:
        A *= A
        if bit == "1":
            A *= base
    return A


class Sigmoid(DotKernel):
    r"""The sigmoid, or hyperbolic tangent, kernel. It is not positive semidefinite.

    .. math:: k(x, z) = \tanh(\gamma \, x \cdot z + c_0)

    Parameters
    ----------
    gamma : float, "scale" or None
        None is 1 / d; see `Kernel.resolve`.
    coef0 : float, default=1

    Examples
    --------
    >>> Sigmoid(gamma=1.0, coef0=0.0)([[0.0], [1.0]]).round(3)
    array([[0.   , 0.   ],
           [0.   , 0.762]])
    """

    psd = False
    bound = 1.0
    _numbers = (Number("gamma", 0), Number("coef0"))

    def __init__(self, gamma=None, coef0=1):
        self.gamma = gamma
        self.coef0 = coef0

    def from_dot(self, G, out=None):
        out = np.multiply(G, self._fixed("gamma"), out=out)
        out += self._fixed("coef0")
        return np.tanh(out, out=out)


class Cosine(Kernel):
    r"""The cosine of the angle between x and z; 0 if one of them is 0.

    .. math:: k(x, z) = \frac{x \cdot z}{\|x\| \, \|z\|}

    Examples
    --------
    >>> Cosine()([[2.0, 0.0], [1.0, 1.0]]).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """

    bound = 1.0

    def features(self, X):
        X, _ = self._inputs(X)
        norms = np.sqrt(square_norms(X))
        norms[norms == 0] = 1
        return X.multiply(1 / norms[:, None]).tocsr() if sp.issparse(X) else X / norms[:, None]

    def _prepare(self, X: Any, Z: Any) -> Fill:
        left = self.features(X)
        right = left if Z is None else self.features(Z)
        return lambda rows, cols, out: write_product(left[rows], right[cols], out)

    def diag(self, X):
        X, _ = self._inputs(X)
        return (square_norms(X) > 0).astype(X.dtype)
