"""Choose how a Gram matrix is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..kernels import Kernel, Precomputed
from .base import Gram
from .explicit import ExplicitGram
from .kernel import DistanceTriangle, KernelGram
from .precomputed import PrecomputedGram

__all__ = ["build_gram"]

PRECISIONS = {"double": np.float64, "mixed": np.float32}
STORAGES = ("auto", "stored", "tiled", "explicit")


def build_gram(
    kernel: Kernel,
    X: Any,
    *,
    storage: str = "auto",
    precision: str = "double",
    budget: int | None = None,
    distances: DistanceTriangle | None = None,
) -> Gram:
    """Return the Gram matrix of a kernel on the rows of X.

    Parameters
    ----------
    kernel : Kernel, resolved on X
    X : {ndarray, CSR matrix} of shape (n, d), or (n, n) for a precomputed kernel
    storage : {"auto", "stored", "tiled", "explicit"}
        "stored" keeps the triangle of K. "tiled" keeps what ``budget`` allows (nothing by default) and recomputes the
        rest in every product. "explicit" keeps the features of a kernel that has them. "auto" is "explicit" where
        features are fewer than half the rows, and else "stored", up to the budget. A precomputed matrix is used where
        it lies, whatever is asked; multiples and sums of it are new matrices.
    precision : {"double", "mixed"}
        "mixed" keeps and multiplies K in float32, and returns float64.
    budget : int, optional
        Bytes that K may take.
    distances : DistanceTriangle, optional
        Of the kernel's metric, if it is known already.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> build_gram(RBF(gamma=0.5), X, precision="mixed").storage
    'stored'
    """
    for name, value, known in (("storage", storage, STORAGES), ("precision", precision, tuple(PRECISIONS))):
        if value not in known:
            raise ValueError(f"{name}={value!r} is not known: use one of {known}.")
    dtype = PRECISIONS[precision]
    if kernel.pairwise:
        # The kernel may be a multiple of the matrix.
        K = X if isinstance(kernel, Precomputed) and not issparse(X) else kernel(X)
        return PrecomputedGram(K, dtype if precision == "mixed" else None)
    Z = kernel.features(X) if storage in ("auto", "explicit") else None
    if storage == "explicit" and Z is None:
        raise ValueError(f"storage='explicit' needs a kernel with explicit features, and {kernel!r} has none.")
    if Z is not None and (storage == "explicit" or 2 * Z.shape[1] < Z.shape[0]):
        return ExplicitGram(Z.astype(dtype, copy=False), kernel)
    budget = 0 if storage == "tiled" and budget is None else budget
    return KernelGram(kernel, X, dtype, budget, distances)
