"""Kernel learning by spectral regularization: one spectrum; every filter, every parameter, every fold."""

from __future__ import annotations

from . import filters, kernels, selection
from .estimators import KernelPCR, KernelRidge, SpectralClassifier, SpectralRegressor
from .filters import TSVD, IteratedTikhonov, Landweber, NuMethod, Showalter, Tikhonov, check_filter
from .selection import GCV, APriori, Balancing, Discrepancy, HoldOut, KFoldCV, LeaveOneOut

__all__ = [
    "GCV",
    "TSVD",
    "APriori",
    "Balancing",
    "Discrepancy",
    "HoldOut",
    "IteratedTikhonov",
    "KFoldCV",
    "KernelPCR",
    "KernelRidge",
    "Landweber",
    "LeaveOneOut",
    "NuMethod",
    "Showalter",
    "SpectralClassifier",
    "SpectralRegressor",
    "Tikhonov",
    "check_filter",
    "filters",
    "kernels",
    "selection",
]

__version__ = "0.1.0"
