"""Data for rules: rows, targets, a kernel matrix, and paths on the folds that a rule asks for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from eigenpath.filters import Tikhonov
from eigenpath.path import Path
from eigenpath.spectra.base import Sample
from eigenpath.spectra.exact import ExactDecomposition

N = 48


@pytest.fixture
def X(rng):
    return rng.standard_normal((N, 3))


@pytest.fixture
def Y(X, rng):
    return np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]]) + 0.2 * rng.standard_normal((N, 2))


@pytest.fixture
def K(X):
    return rbf_kernel(X, gamma=0.3)


def _path_for(K, Y, rule, weight=None, center="target", filter=None, classes=None, groups=None, normalize=True):
    folds = rule.splits(K, Y[:, 0] if Y.shape[1] == 1 else Y, classes=classes, groups=groups)
    sample = Sample(Y, weight, center, normalize)
    return Path(ExactDecomposition(K, sample, folds), filter or Tikhonov(lam=np.geomspace(1, 1e-4, 9)))


@pytest.fixture
def path_for():
    """``path_for(K, Y, rule)``: the path of a filter, Tikhonov by default, on the folds of a rule."""
    return _path_for
