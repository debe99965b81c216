"""From an estimator's parameters to a kernel, and scikit-learn's reading of a callable one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from ..kernels import CallableKernel, Kernel, as_kernel

__all__ = ["callable_kernel", "kernel_of"]


def kernel_of(model: Any, kernel: Any) -> Kernel:
    """One kernel of an estimator with ``gamma``, ``degree``, ``coef0`` and ``kernel_params``."""
    params = {} if model.kernel_params is None else model.kernel_params
    if not isinstance(params, Mapping):
        raise ValueError(f"kernel_params must be a dict of the kernel's parameters or None, got {params!r}.")
    if isinstance(kernel, str):
        # A parameter that has its own place in the constructor may also come with the others.
        return as_kernel(
            kernel, **({"gamma": model.gamma, "degree": model.degree, "coef0": model.coef0} | dict(params))
        )
    if callable(kernel) and not isinstance(kernel, (Kernel, SklearnKernel, type)):
        return CallableKernel(kernel, dict(params) or None)
    return as_kernel(kernel, **params)


def callable_kernel(kernel: Any, params: dict | None) -> Kernel | None:
    """A function of two rows, or a Gaussian-process kernel, as a `Kernel`; None for anything else."""
    if isinstance(kernel, SklearnKernel):
        # Called as k(X, X), as scikit-learn's classes do: white noise is then no part of the matrix.
        return CallableKernel(kernel)
    if callable(kernel) and not isinstance(kernel, (Kernel, type)):
        return CallableKernel(kernel, params, rowwise=True)
    return None
