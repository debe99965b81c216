"""Kernels: one class per formula, evaluated in tiles over threads."""

from .base import Kernel
from .composite import Product, Scaled, Sum
from .distance_kernels import RBF, DistanceKernel
from .distances import distance_matrix
from .dot_kernels import DotKernel, Linear, Polynomial
from .registry import KERNELS, as_kernel
from .wrappers import CallableKernel, Precomputed

__all__ = [
    "KERNELS",
    "RBF",
    "CallableKernel",
    "DistanceKernel",
    "DotKernel",
    "Kernel",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sum",
    "as_kernel",
    "distance_matrix",
]
