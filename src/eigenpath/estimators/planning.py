"""What a fit would cost, before it starts."""

from __future__ import annotations

from typing import Any

from ._plan import Plan
from .regressors import SpectralRegressor

__all__ = ["plan"]


def plan(X: Any, y: Any = None, **params: Any) -> Plan:
    """The route that a `SpectralRegressor` would take on ``X``, its memory, operations and time, without fitting.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n, d)
    y : array-like of shape (n,) or (n, targets), optional
        Only its shape matters.
    **params
        Of `SpectralRegressor`. It, `SpectralClassifier`, `KernelPCR`, `KernelRidge` and `KernelPCA` have a method
        ``plan(X, y)``.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath import plan
    >>> found = plan(np.zeros((20_000, 8)), memory_limit="2GB")
    >>> found.route, found.storage, found.nbytes < 2e9
    ('krylov', 'stored', True)
    """
    return SpectralRegressor(**params).plan(X, y)
