"""scikit-learn's tests of KernelPCA, on ours."""

from __future__ import annotations

import runpy
from pathlib import Path

from eigenpath.estimators.kernel_pca import KernelPCA

adopt = runpy.run_path(str(Path(__file__).with_name("loader.py")))["adopt"]

SKIPPED: dict[str, str] = {}

globals().update(
    adopt("sklearn.decomposition.tests.test_kernel_pca", {"sklearn.decomposition.KernelPCA": KernelPCA}, SKIPPED)
)


def test_the_class_under_test_is_ours():
    """The tests would pass on scikit-learn's class too: make sure that it is not the one they see."""
    adopted = globals()["test_kernel_pca_n_components"]
    assert adopted.__globals__["KernelPCA"] is KernelPCA
