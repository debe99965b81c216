"""Choose how a Gram matrix is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Kernel
from .base import Gram
from .explicit import ExplicitGram
from .kernel import KernelGram
from .precomputed import PrecomputedGram

__all__ = ["build_gram"]

PRECISIONS = {"double": np.float64, "mixed": np.float32}
STORAGES = ("auto", "stored", "tiled", "explicit")


def build_gram(
    kernel: Kernel, X: Any, *, storage: str = "auto", precision: str = "double", budget: int | None = None
) -> Gram:
    """Return the Gram matrix of a kernel on the rows of X.

    Parameters
    ----------
    kernel : Kernel
        Resolved on X: its parameters are numbers.
    X : {ndarray, CSR matrix} of shape (n, d), or (n, n) for a precomputed kernel
    storage : {"auto", "stored", "tiled", "explicit"}
        "stored" keeps the triangle of K. "tiled" keeps what ``budget`` allows (nothing by default) and recomputes the
        rest in every product. "explicit" keeps the features of a kernel that has them. "auto" is "explicit" where
        features are fewer than half the rows, and else "stored", up to the budget.
        A precomputed matrix is used where it lies, whatever is asked.
    precision : {"double", "mixed"}
        "mixed" keeps and multiplies K in float32, and returns float64.
    budget : int, optional
        Bytes that K may take.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> build_gram(RBF(gamma=0.5), X, precision="mixed").storage
    'stored'
    """
    if storage not in STORAGES:
        raise ValueError(f"storage={storage!r} is not known: use one of {STORAGES}.")
    if precision not in PRECISIONS:
        raise ValueError(f"precision={precision!r} is not known: use one of {tuple(PRECISIONS)}.")
    dtype = PRECISIONS[precision]
    if kernel.pairwise:
        return PrecomputedGram(X, dtype if precision == "mixed" else None)
    Z = kernel.features(X) if storage in ("auto", "explicit") else None
    if storage == "explicit" and Z is None:
        raise ValueError(f"storage='explicit' needs a kernel with explicit features, and {kernel!r} has none.")
    if Z is not None and (storage == "explicit" or 2 * Z.shape[1] < Z.shape[0]):
        return ExplicitGram(Z.astype(dtype, copy=False), kernel)
    if storage == "tiled" and budget is None:
        budget = 0
    return KernelGram(kernel, X, dtype, budget)
