"""Kernel learning by spectral regularization: one spectrum; every filter, every parameter, every fold."""

from __future__ import annotations

from . import bounds, filters, kernels, selection
from .estimators import (
    PCA,
    FeatureMapPCA,
    KernelPCA,
    KernelPCR,
    KernelProjectionMachine,
    KernelRidge,
    SpectralClassifier,
    SpectralRegressor,
    plan,
)
from .filters import TSVD, IteratedTikhonov, Landweber, NuMethod, Showalter, Tikhonov, check_filter
from .selection import GCV, APriori, Balancing, Discrepancy, HoldOut, KFoldCV, LeaveOneOut

__all__ = [
    "GCV",
    "PCA",
    "TSVD",
    "APriori",
    "Balancing",
    "Discrepancy",
    "FeatureMapPCA",
    "HoldOut",
    "IteratedTikhonov",
    "KFoldCV",
    "KernelPCA",
    "KernelPCR",
    "KernelProjectionMachine",
    "KernelRidge",
    "Landweber",
    "LeaveOneOut",
    "NuMethod",
    "Showalter",
    "SpectralClassifier",
    "SpectralRegressor",
    "Tikhonov",
    "bounds",
    "check_filter",
    "filters",
    "kernels",
    "plan",
    "selection",
]

__version__ = "0.1.0"
