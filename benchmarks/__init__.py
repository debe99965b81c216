"""Benchmarks: eigenpath beside its peers, each configuration in a process of its own.

``python -m benchmarks`` runs all jobs, ``python -m benchmarks tuned_path --quick`` one of them, briefly.
"""

from __future__ import annotations

JOBS = (
    "tuned_path",
    "tuned_path_large",
    "bandwidths",
    "kernel_pca",
    "kernel_pca_200",
    "kernel_pca_tiled",
    "prediction",
    "growth",
    "limits",
    "projection_path",
    "projection_fit",
)
