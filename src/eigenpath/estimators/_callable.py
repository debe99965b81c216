"""scikit-learn's reading of a callable kernel."""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from ..kernels import CallableKernel, Kernel

__all__ = ["callable_kernel"]


def callable_kernel(kernel: Any, params: dict | None) -> Kernel | None:
    """A function of two rows, or a Gaussian-process kernel, as a `Kernel`; None for anything else."""
    if isinstance(kernel, SklearnKernel):
        # Called as k(X, X), as scikit-learn's classes do: white noise is then no part of the matrix.
        return CallableKernel(kernel)
    if callable(kernel) and not isinstance(kernel, (Kernel, type)):
        return CallableKernel(kernel, params, rowwise=True)
    return None
