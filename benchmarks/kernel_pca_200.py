"""Kernel PCA, 200 components: see `benchmarks.kernel_pca`."""

from __future__ import annotations

from benchmarks.kernel_pca import make_job

JOB = make_job(__name__, 200)
