"""Kernels: one class per formula, evaluated in tiles over threads."""

from .base import Kernel
from .checks import check_kernel
from .composite import Product, Scaled, Sum
from .distance_kernels import RBF, AdditiveChi2, Chi2, DistanceKernel, Laplacian, Matern, RationalQuadratic
from .distances import distance_matrix
from .dot_kernels import Cosine, DotKernel, Linear, Polynomial, Sigmoid
from .registry import KERNELS, as_kernel
from .wrappers import CallableKernel, GaussianProcessKernel, Precomputed

__all__ = [
    "KERNELS",
    "RBF",
    "AdditiveChi2",
    "CallableKernel",
    "Chi2",
    "Cosine",
    "DistanceKernel",
    "DotKernel",
    "GaussianProcessKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Sum",
    "as_kernel",
    "check_kernel",
    "distance_matrix",
]
