"""Kernels by name, and whatever a user may pass as ``kernel``, as a `Kernel`."""

from __future__ import annotations

from inspect import signature
from typing import Any

from .base import Kernel
from .distance_kernels import RBF
from .dot_kernels import Linear, Polynomial
from .wrappers import CallableKernel, Precomputed

__all__ = ["KERNELS", "as_kernel"]

KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "rbf": RBF,
    "precomputed": Precomputed,
}


def as_kernel(kernel: Any, gamma: Any = None, degree: float = 3, coef0: float = 1, **kernel_params: Any) -> Kernel:
    """Return the `Kernel` that ``kernel`` stands for."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel, kernel_params or None)
    if kernel not in KERNELS:
        raise ValueError(f"kernel={kernel!r} is not known: use one of {sorted(KERNELS)}, a Kernel, or a function.")
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    accepted = signature(KERNELS[kernel]).parameters
    return KERNELS[kernel](**{k: v for k, v in given.items() if k in accepted} | kernel_params)
