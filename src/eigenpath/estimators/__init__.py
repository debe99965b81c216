"""The scikit-learn face: validate, decompose, filter, choose, predict."""

from __future__ import annotations

from .classifiers import SpectralClassifier
from .kernel_ridge import KernelRidge
from .regressors import KernelPCR, SpectralRegressor

__all__ = ["KernelPCR", "KernelRidge", "SpectralClassifier", "SpectralRegressor"]
