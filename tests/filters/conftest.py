"""A filter applied to a matrix, by NumPy's eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def apply_filter():
    """``apply_filter(K, filter, params, y)``: coefficients ``(p, n)``, ``(1/n) g(K/n) y`` for each parameter."""

    def apply(K, filter, params, y):
        n = len(K)
        sigma, Q = np.linalg.eigh(K)
        gains = filter.gains(np.maximum(sigma[::-1], 0) / n, params)[:, ::-1]
        return (gains * (Q.T @ y)) @ Q.T / n

    return apply
