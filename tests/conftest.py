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


# Eigenvalues of K/n with one feature each that goes wrong in practice: ties, fast and slow decay, a null space.
SPECTRA = {
    "flat": np.ones(20),
    "geometric": 0.6 ** np.arange(20),
    "polynomial": 1 / np.arange(1, 21) ** 2,
    "rank-deficient": np.where(np.arange(20) < 8, 0.7 ** np.arange(20), 0.0),
}


@pytest.fixture(params=SPECTRA)
def spectrum(request):
    """Prescribed eigenvalues ``(20,)``, decreasing."""
    return SPECTRA[request.param]


@pytest.fixture
def psd_matrix(rng):
    """``psd_matrix(values)``: a symmetric matrix with these eigenvalues in random directions."""

    def make(values):
        Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
        A = (Q * values) @ Q.T
        return (A + A.T) / 2

    return make


@pytest.fixture
def dense_path():
    """The reference for paths: repeated rows, centring matrices and NumPy's `eigh`."""
    return _dense_path


def _dense_path(K, Y, filter, params, rows=None, weight=None, center="target", normalize=True):
    """Predictions ``(p, n, k)`` at all rows, learned from ``rows``, each of them ``weight`` times."""
    rows = np.arange(len(K)) if rows is None else rows
    rows = rows if weight is None else np.repeat(rows, weight[rows].astype(int))
    N = len(rows)
    H = np.eye(N) - (center == "features") / N
    part, cross = K[np.ix_(rows, rows)], K[:, rows]
    if center == "features":
        cross = (cross - part.mean(axis=0)) @ H
    mean = 0.0 if center is None else Y[rows].mean(axis=0)
    scale = N if normalize else 1
    sigma, Q = np.linalg.eigh(H @ part @ H)
    gains = filter.gains(np.maximum(sigma[::-1], 0) / scale, params)[:, ::-1]
    return np.stack([mean + cross @ (Q * g) @ (Q.T @ (Y[rows] - mean)) / scale for g in gains])
