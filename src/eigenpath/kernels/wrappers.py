"""Kernels from elsewhere: a given matrix, a function, a scikit-learn Gaussian-process kernel."""

from __future__ import annotations

import numpy as np

from .base import Kernel

__all__ = ["CallableKernel", "Precomputed"]


class Precomputed(Kernel):
    """X is the matrix of kernel values, rows against the training rows."""

    pairwise = True

    def __call__(self, X, Z=None, out=None):
        X = np.asarray(X)
        if Z is None and X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed: a kernel matrix must be square, got shape {X.shape}.")
        return X.astype(np.float32 if X.dtype == np.float32 else np.float64)

    def diag(self, X):
        return np.diagonal(np.asarray(X)).copy()


class CallableKernel(Kernel):
    """A function f(X, Z) that returns the matrix."""

    _threaded = False
    _tile = 2048

    def __init__(self, function, kernel_params=None):
        self.function = function
        self.kernel_params = kernel_params

    def evaluate(self, X, Z):
        return self.function(X, Z, **(self.kernel_params or {}))
