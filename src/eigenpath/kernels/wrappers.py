"""Kernels from elsewhere: a given matrix, a function, a scikit-learn Gaussian-process kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import ExpSineSquared, PairwiseKernel

from ._inputs import as_matrix, require_dense
from ._tiles import Fill
from .base import Kernel

__all__ = ["CallableKernel", "GaussianProcessKernel", "Precomputed"]


class Precomputed(Kernel):
    """A kernel given by its values: X is the square matrix of the training rows, or rows against the training rows.

    A call returns a copy. With Z, X must have a column for each row of Z.

    Examples
    --------
    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    pairwise = True

    def _inputs(self, X: Any, Z: Any = None) -> tuple[Any, Any]:
        X = as_matrix(X, "X", self._name)
        X = X.toarray() if sp.issparse(X) else X
        if Z is None:
            self._check_square(X)
        elif X.shape[1] != np.shape(Z)[0]:
            raise ValueError(
                f"Precomputed: X has {X.shape[1]} columns, but there are {np.shape(Z)[0]} training rows. "
                "Pass the kernel between the new rows and all the training rows."
            )
        return X, None if Z is None else X.T

    def _check_square(self, K: np.ndarray) -> None:
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"Precomputed: the kernel matrix of the training rows must be square, got {K.shape}.")

    def _prepare(self, X: Any, Z: Any) -> Fill:
        if Z is None:
            self._check_symmetric(X)

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            out[...] = X[rows, cols]

        return fill

    def diag(self, X):
        return np.diagonal(self._inputs(X)[0]).copy()


class CallableKernel(Kernel):
    """A kernel given by a function.

    Parameters
    ----------
    function : callable
        ``function(X, Z, **kernel_params)`` returns the matrix of shape (len(X), len(Z)), and depends on nothing else:
        large matrices are put together from several calls. ``psd`` takes it at its word.
    kernel_params : dict, optional
    rowwise : bool, default=False
        Whether the function takes a row of X and a row of Z instead, and returns a number: slow.

    Examples
    --------
    >>> kernel = CallableKernel(lambda X, Z, power: (X @ Z.T) ** power, kernel_params={"power": 2})
    >>> kernel([[1.0], [2.0]])
    array([[ 1.,  4.],
           [ 4., 16.]])
    """

    _threaded = False

    def __init__(self, function, kernel_params=None, rowwise=False):
        self.function = function
        self.kernel_params = kernel_params
        self.rowwise = rowwise

    @property
    def _tile(self):
        # A vectorized function is called few times, a slow one for few pairs below the diagonal.
        return 32 if self.rowwise else 2048

    def evaluate(self, X: Any, Z: Any) -> np.ndarray:
        params = self.kernel_params or {}
        if not self.rowwise:
            return self.function(X, Z, **params)
        values = np.empty((X.shape[0], Z.shape[0]))
        for i, j in np.ndindex(*values.shape):
            values[i, j] = self.function(_row(X, i), _row(Z, j), **params)
        return values

    def diag(self, X):
        if not self.rowwise:
            return super().diag(X)
        X, _ = self._inputs(X)
        values = [self.evaluate(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])]
        return np.array(values, X.dtype)


def _row(X: Any, i: int) -> Any:
    """Row i, 1-D; of sparse X, a matrix of one row."""
    return X[i : i + 1] if sp.issparse(X) else X[i]


class GaussianProcessKernel(Kernel):
    """A kernel of ``sklearn.gaussian_process.kernels``, with the hyperparameters it has: they are not fitted.

    ``psd`` is False if one of its parts is not positive semidefinite for every number of features (``ExpSineSquared``,
    and ``PairwiseKernel`` with some metrics).

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    >>> kernel = GaussianProcessKernel(RBF(length_scale=1.0) + WhiteKernel(noise_level=0.5))
    >>> kernel([[0.0], [1.0]]).round(3)
    array([[1.5  , 0.607],
           [0.607, 1.5  ]])
    >>> kernel([[0.0], [1.0]], [[0.0]]).round(3)
    array([[1.   ],
           [0.607]])
    """

    def __init__(self, kernel):
        self.kernel = kernel

    @property
    def psd(self):
        parts = [self.kernel, *self.kernel.get_params().values()]
        return not any(map(_doubtful, parts))

    @property
    def bound(self):
        # The diagonal of a stationary kernel does not look at the row.
        return float(self.kernel.diag(np.zeros((1, 1)))[0]) if self.kernel.is_stationary() else np.inf

    def _prepare(self, X: Any, Z: Any) -> Fill:
        require_dense(X, repr(self))
        return super()._prepare(X, Z)

    def evaluate(self, X: Any, Z: Any) -> np.ndarray:
        return self.kernel(X, Z)

    def diag(self, X):
        X, _ = self._inputs(X)
        require_dense(X, repr(self))
        return self.kernel.diag(X).astype(X.dtype)


def _doubtful(part: Any) -> bool:
    """Whether a part of a Gaussian-process kernel may be indefinite."""
    if isinstance(part, PairwiseKernel):
        return part.metric in ("sigmoid", "additive_chi2")
    return isinstance(part, ExpSineSquared)
