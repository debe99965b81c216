"""Kernels by name, and whatever a user may pass as ``kernel``, as a `Kernel`."""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from .base import Kernel
from .distance_kernels import RBF, AdditiveChi2, Chi2, Laplacian, Matern, RationalQuadratic
from .dot_kernels import Cosine, Linear, Polynomial, Sigmoid
from .wrappers import CallableKernel, GaussianProcessKernel, Precomputed

__all__ = ["KERNELS", "as_kernel"]

# The names are those of sklearn.metrics.pairwise.pairwise_kernels where it has the kernel.
KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "rbf": RBF,
    "laplacian": Laplacian,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
    "cosine": Cosine,
    "sigmoid": Sigmoid,
    "chi2": Chi2,
    "additive_chi2": AdditiveChi2,
    "precomputed": Precomputed,
}


def as_kernel(
    kernel: Any,
    gamma: Any = None,
    degree: float = 3,
    coef0: float = 1,
    *,
    rowwise: bool = False,
    **kernel_params: Any,
) -> Kernel:
    """Return the `Kernel` that a user's ``kernel`` stands for.

    Parameters
    ----------
    kernel : str, Kernel, callable or Gaussian-process kernel
        A name in `KERNELS`; a kernel, returned as it is; a function f(X, Z) that returns a matrix; or a kernel of
        ``sklearn.gaussian_process.kernels``.
    gamma, degree, coef0
        Given to the kernels that have such a parameter when ``kernel`` is a name; else without effect.
    rowwise : bool, default=False
        Whether a function takes single rows; see `CallableKernel`.
    **kernel_params
        Other parameters of the named kernel, or keyword arguments of the function.

    Examples
    --------
    >>> as_kernel("matern", gamma=2.0, nu=0.5)
    Matern(gamma=2.0, nu=0.5)
    """
    if isinstance(kernel, str):
        return _by_name(kernel, {"gamma": gamma, "degree": degree, "coef0": coef0}, kernel_params)
    if callable(kernel) and not isinstance(kernel, type):
        if not isinstance(kernel, Kernel | SklearnKernel):
            return CallableKernel(kernel, kernel_params or None, rowwise)
        if kernel_params:
            raise TypeError(f"{kernel!r} has its parameters already; set {sorted(kernel_params)} on it.")
        return kernel if isinstance(kernel, Kernel) else GaussianProcessKernel(kernel)
    hint = f" Write {kernel.__name__}(), not {kernel.__name__}." if isinstance(kernel, type) else ""
    raise TypeError(
        f"kernel={kernel!r} is not valid: use one of {sorted(KERNELS)}, a Kernel, a function f(X, Z) or a "
        f"Gaussian-process kernel.{hint}"
    )


def _by_name(name: str, given: dict[str, Any], kernel_params: dict[str, Any]) -> Kernel:
    if name not in KERNELS:
        raise ValueError(f"kernel={name!r} is not known: use one of {sorted(KERNELS)}, a Kernel or a function f(X, Z).")
    accepted = KERNELS[name]._get_param_names()
    if unknown := sorted(set(kernel_params) - set(accepted)):
        raise TypeError(f"kernel={name!r} has no parameter {unknown[0]!r}; it has {accepted or 'none'}.")
    return KERNELS[name](**{key: value for key, value in given.items() if key in accepted} | kernel_params)
