"""A data set with every complication, and Tikhonov on some of its rows by linear solves."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def solve_path():
    """The reference for Tikhonov with any weights: one linear solve for each ``lam``, bordered for an intercept."""
    return _solve_path


def _solve_path(K, Y, lams, rows=None, weight=None, center="target", normalize=True):
    """Predictions ``(p, n, k)`` at all rows, learned from ``rows``."""
    rows = np.arange(len(K)) if rows is None else rows
    w = np.ones(len(rows)) if weight is None else weight[rows]
    rows, w = rows[w > 0], w[w > 0]
    N, y = w.sum(), Y[rows]
    mean = w @ y / N if center == "target" else np.zeros(Y.shape[1])
    # A row of ones is the intercept's equation; a one on the diagonal in its place makes the intercept zero.
    border = float(center == "features")
    out = []
    for lam in lams:
        ridge = K[np.ix_(rows, rows)] + np.diag(lam * (N if normalize else 1) / w)
        ones = np.full((len(rows), 1), border)
        system = np.block([[ridge, ones], [ones.T, np.array([[1 - border]])]])
        solution = np.linalg.solve(system, np.vstack([y - mean, np.zeros((1, Y.shape[1]))]))
        out.append(mean + K[:, rows] @ solution[:-1] + solution[-1])
    return np.array(out)
