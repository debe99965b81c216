"""What may be passed as ``kernel``."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp

from eigenpath.kernels import (
    KERNELS,
    RBF,
    CallableKernel,
    GaussianProcessKernel,
    Kernel,
    Linear,
    Matern,
    Polynomial,
    as_kernel,
)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_names(name):
    kernel = as_kernel(name, gamma=0.3, degree=5, coef0=7)
    assert type(kernel) is KERNELS[name]
    given = {"gamma": 0.3, "degree": 5, "coef0": 7}
    assert kernel.get_params().items() >= {key: given[key] for key in kernel.get_params() if key in given}.items()


def test_defaults_are_those_of_scikit_learn():
    assert as_kernel("poly").get_params() == {"degree": 3, "gamma": None, "coef0": 1}


def test_other_parameters_go_to_the_kernel():
    assert as_kernel("matern", gamma=1.0, nu=0.5).get_params() == {"nu": 0.5, "gamma": 1.0}
    with pytest.raises(TypeError, match=r"kernel='rbf' has no parameter 'nu'; it has \['gamma'\]"):
        as_kernel("rbf", nu=0.5)


@pytest.mark.parametrize("name", [name for name in sorted(KERNELS) if not KERNELS[name]().get_params()])
@pytest.mark.parametrize("unknown", ["nu", "args", "kwargs"])
def test_a_kernel_without_parameters_says_so(name, unknown):
    with pytest.raises(TypeError, match=f"kernel='{name}' has no parameter '{unknown}'; it has none"):
        as_kernel(name, **{unknown: 1})


def test_kernels_are_returned_as_they_are():
    kernel = RBF() + Matern()
    assert as_kernel(kernel, gamma=3.0) is kernel
    with pytest.raises(TypeError, match=r"Matern\(\) has its parameters already; set \['nu'\] on it"):
        as_kernel(Matern(), nu=0.5)


def test_functions():
    kernel = as_kernel(np.inner, gamma=3.0)
    assert isinstance(kernel, CallableKernel)
    assert kernel.get_params() == {"function": np.inner, "kernel_params": None, "rowwise": False}
    assert as_kernel(np.inner, power=2, rowwise=True).get_params()["kernel_params"] == {"power": 2}


def test_gaussian_process_kernels():
    kernel = as_kernel(gp.RBF(2.0))
    assert isinstance(kernel, GaussianProcessKernel)
    assert kernel.kernel.length_scale == 2


def test_errors():
    with pytest.raises(ValueError, match=r"kernel='rfb' is not known: use one of \['additive_chi2', 'chi2', 'cosine'"):
        as_kernel("rfb")
    with pytest.raises(TypeError, match=r"kernel=3 is not valid: use one of .* a function f\(X, Z\) or"):
        as_kernel(3)
    with pytest.raises(TypeError, match=r"Write RBF\(\), not RBF"):
        as_kernel(RBF)
    with pytest.raises(TypeError, match="kernel=None is not valid"):
        as_kernel(None)


def test_every_kernel_of_the_package_has_a_name():
    """But for those that are made from something."""
    from eigenpath import kernels

    public = {c for c in vars(kernels).values() if isinstance(c, type) and issubclass(c, Kernel)}
    made = {
        "Kernel",
        "DistanceKernel",
        "DotKernel",
        "Sum",
        "Product",
        "Scaled",
        "CallableKernel",
        "GaussianProcessKernel",
    }
    assert {c.__name__ for c in public} == made | {c.__name__ for c in KERNELS.values()}
    assert set(kernels.__all__) >= {c.__name__ for c in public}
    assert KERNELS["polynomial"] is KERNELS["poly"] is Polynomial
    assert KERNELS["linear"] is Linear
