"""Kernels that are a function of a distance: RBF, Laplacian, Matérn, rational quadratic, chi-squared."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._inputs import Number
from ._matern import matern
from ._tiles import Fill
from .base import Kernel
from .distances import prepare_distance

__all__ = ["RBF", "AdditiveChi2", "Chi2", "DistanceKernel", "Laplacian", "Matern", "RationalQuadratic"]


class DistanceKernel(Kernel):
    """A kernel f(distance(x, z)): a subclass names the ``metric`` and writes f as `from_distance`.

    Examples
    --------
    >>> import numpy as np
    >>> class Cauchy(DistanceKernel):
    ...     metric = "cityblock"
    ...     def from_distance(self, D, out=None):
    ...         return np.divide(1.0, 1.0 + D, out=out)
    >>> Cauchy()([[0.0], [1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    metric = "sqeuclidean"
    bound = 1.0

    def _prepare(self, X: Any, Z: Any) -> Fill:
        distances = prepare_distance(X, Z, self.metric)

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            distances(rows, cols, out)
            self.from_distance(out, out=out)

        return fill

    def diag(self, X: Any) -> np.ndarray:
        X, _ = self._inputs(X)
        return np.full(X.shape[0], self._resolved_on(X).from_distance(np.zeros(1))[0], X.dtype)


class RBF(DistanceKernel):
    r"""The Gaussian kernel.

    .. math:: k(x, z) = \exp(-\gamma \|x - z\|^2)

    Parameters
    ----------
    gamma : float, "scale", "median", "auto" or None
        One over the width of the bell; None is 1 / d; see `Kernel.resolve`.

    Examples
    --------
    >>> RBF(gamma=0.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    _numbers = (Number("gamma", 0),)

    def __init__(self, gamma=None):
        self.gamma = gamma

    def from_distance(self, D, out=None):
        out = np.multiply(D, -self._fixed("gamma"), out=out)
        return np.exp(out, out=out)


class Laplacian(RBF):
    r"""The Laplacian kernel.

    .. math:: k(x, z) = \exp(-\gamma \|x - z\|_1)

    Parameters
    ----------
    gamma : float, "scale", "median", "auto" or None
        None is 1 / d; "median" is one over the median of :math:`\|x - z\|_1`; see `Kernel.resolve`.

    Examples
    --------
    >>> Laplacian(gamma=1.0)([[0.0, 0.0], [0.5, 0.5]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    metric = "cityblock"


class Matern(DistanceKernel):
    r"""The Matérn kernel: functions that are :math:`\lceil \nu \rceil - 1` times differentiable.

    .. math::
        k(x, z) = \frac{2^{1-\nu}}{\Gamma(\nu)} s^\nu K_\nu(s),
        \qquad s = \sqrt{2 \nu} \, r, \qquad r = \sqrt{2 \gamma} \, \|x - z\|

    For :math:`\nu = \infty` it is ``RBF(gamma)``. The same kernel written with a length scale, as in scikit-learn's
    Gaussian processes, has ``length_scale = 1 / sqrt(2 * gamma)``.

    Parameters
    ----------
    nu : float, default=1.5
        The smoothness, positive; 0.5, 1.5, 2.5 and infinity are fast.
    gamma : float, "scale", "median", "auto" or None
        None is 1 / d; see `Kernel.resolve`.

    Examples
    --------
    >>> Matern(nu=0.5, gamma=0.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    _numbers = (Number("nu", 0, above=True, infinite=True), Number("gamma", 0))

    def __init__(self, nu=1.5, gamma=None):
        self.nu = nu
        self.gamma = gamma

    def from_distance(self, D, out=None):
        out = np.multiply(D, 2 * self._fixed("gamma"), out=out)
        return matern(out, self._fixed("nu"))


class RationalQuadratic(DistanceKernel):
    r"""The rational quadratic kernel: a mixture of Gaussian kernels of many widths.

    .. math:: k(x, z) = \Bigl(1 + \frac{\gamma \|x - z\|^2}{\alpha}\Bigr)^{-\alpha}

    Parameters
    ----------
    alpha : float, default=1.0
        Positive; the larger, the fewer widths, and ``RBF(gamma)`` in the limit.
    gamma : float, "scale", "median", "auto" or None
        None is 1 / d; see `Kernel.resolve`.

    Examples
    --------
    >>> RationalQuadratic(gamma=1.0)([[0.0], [1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    _numbers = (Number("alpha", 0, above=True), Number("gamma", 0))

    def __init__(self, alpha=1.0, gamma=None):
        self.alpha = alpha
        self.gamma = gamma

    def from_distance(self, D, out=None):
        alpha = self._fixed("alpha")
        out = np.multiply(D, self._fixed("gamma") / alpha, out=out)
        if alpha == 1:
            out += 1
            return np.reciprocal(out, out=out)
        # Not a power of 1 + D: for a large alpha that sum keeps few digits of D.
        np.log1p(out, out=out)
        out *= -alpha
        return np.exp(out, out=out)


class Chi2(RBF):
    r"""The exponential chi-squared kernel, for histograms.

    .. math:: k(x, z) = \exp\Bigl(-\gamma \sum_j \frac{(x_j - z_j)^2}{x_j + z_j}\Bigr), \qquad x, z \ge 0

    Parameters
    ----------
    gamma : float, "scale", "median", "auto" or None
        None is 1; see `Kernel.resolve`.

    Examples
    --------
    >>> Chi2()([[1.0, 0.0], [0.0, 1.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    metric = "chi2"
    _gamma_default = 1.0


class AdditiveChi2(DistanceKernel):
    r"""The additive chi-squared kernel, for histograms.

    .. math:: k(x, z) = - \sum_j \frac{(x_j - z_j)^2}{x_j + z_j}, \qquad x, z \ge 0

    It is only *conditionally* positive semidefinite: on coefficients that sum to zero, so after centring the kernel.

    Examples
    --------
    >>> AdditiveChi2()([[1.0, 0.0], [0.0, 1.0]])
    array([[ 0., -2.],
           [-2.,  0.]])
    """

    metric = "chi2"
    psd = False
    bound = 0.0

    def from_distance(self, D, out=None):
        # 0 - D, since -D would be -0 on the diagonal.
        return np.subtract(0, D, out=out)
