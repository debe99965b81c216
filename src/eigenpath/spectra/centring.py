"""Centring in feature space: of a dense Gram matrix in place, and of what multiplies it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._threads import blocks, run_tiles

__all__ = ["Means", "centre_in_place"]

_ROWS = 256


class Means(NamedTuple):
    """What centring subtracts: ``columns (n,)``, the means of the columns of K, and ``whole``, the mean of these."""

    columns: np.ndarray
    whole: float


def centre_in_place(K: np.ndarray, weight: np.ndarray | None = None) -> Means:
    r"""Overwrite ``K (n, n)`` with what centring and weights make of it.

    .. math:: S (I - 1 \pi^T) K (I - \pi 1^T) S, \qquad S = \operatorname{diag}(\sqrt w), \quad \pi = w / 1^T w

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[1.0, 2.0], [2.0, 7.0]])
    >>> centre_in_place(K)
    Means(columns=array([1.5, 4.5]), whole=3.0)
    >>> K
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    n = len(K)
    pi = np.full(n, 1 / n, K.dtype) if weight is None else (weight / weight.sum()).astype(K.dtype)
    root = None if weight is None else np.sqrt(weight).astype(K.dtype)
    columns, rows = pi @ K, K @ pi
    whole = columns @ pi

    def work(strip: slice) -> None:
        K[strip] -= columns
        K[strip] -= (rows[strip] - whole)[:, None]
        if root is not None:
            K[strip] *= root
            K[strip] *= root[strip, None]

    run_tiles(work, [(strip,) for strip in blocks(n, _ROWS)])
    return Means(columns, float(whole))
