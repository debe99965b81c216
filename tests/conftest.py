"""Fixtures and problems shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng():
    """The one source of randomness of a test."""
    return np.random.default_rng(20070620)


@pytest.fixture(scope="session")
def data_dir():
    """The folder with the benchmark data sets, or a skip that says how to name it."""
    folder = Path(os.environ.get("EIGENPATH_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (folder / "banana.npz").exists():
        pytest.skip("no benchmark data here: set EIGENPATH_DATA to the folder that holds banana.npz and the others")
    return folder
