"""The scikit-learn face: validate, decompose, filter, choose, predict."""

from __future__ import annotations

from .classifiers import SpectralClassifier
from .feature_map_pca import FeatureMapPCA
from .kernel_pca import KernelPCA
from .kernel_ridge import KernelRidge
from .pca import PCA
from .planning import plan
from .projection_machine import KernelProjectionMachine
from .regressors import KernelPCR, SpectralRegressor

__all__ = [
    "PCA",
    "FeatureMapPCA",
    "KernelPCA",
    "KernelPCR",
    "KernelProjectionMachine",
    "KernelRidge",
    "SpectralClassifier",
    "SpectralRegressor",
    "plan",
]
