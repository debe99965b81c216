"""Data for any kernel: positive, so that histograms' kernels take it too, and a kernel matrix for precomputed ones."""

from __future__ import annotations

import pytest


@pytest.fixture
def rows_for(rng):
    """``rows_for(kernel, n, d)``: n rows that the kernel accepts."""

    def make(kernel, n=40, d=6):
        X = rng.uniform(0.1, 1.0, (n, d))
        return X @ X.T if kernel.pairwise else X

    return make
