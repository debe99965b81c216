"""scikit-learn's reading of a callable kernel: a function of two rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

__all__ = ["RowFunction"]


class RowFunction:
    """A function of two rows, as a function of two tables."""

    def __init__(self, function: Callable, params: dict | None = None) -> None:
        self.function = function
        self.params = params

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return pairwise_kernels(X, Z, metric=self.function, **(self.params or {}))
