"""scikit-learn's tests of KernelRidge, on ours."""

from __future__ import annotations

import runpy
from pathlib import Path

from eigenpath import KernelRidge

adopt = runpy.run_path(str(Path(__file__).with_name("loader.py")))["adopt"]

# Every test applies.
SKIPPED: dict[str, str] = {}

globals().update(adopt("sklearn.tests.test_kernel_ridge", {"sklearn.kernel_ridge.KernelRidge": KernelRidge}, SKIPPED))


def test_the_class_under_test_is_ours():
    """The tests would pass on scikit-learn's class too: make sure that it is not the one they see."""
    assert globals()["test_kernel_ridge"].__globals__["KernelRidge"] is KernelRidge
