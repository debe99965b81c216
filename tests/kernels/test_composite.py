"""Sums, products and multiples: values, flags, parameters, distances shared or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process.kernels import WhiteKernel

from eigenpath.kernels import (
    KERNELS,
    RBF,
    CallableKernel,
    GaussianProcessKernel,
    Laplacian,
    Linear,
    Matern,
    Precomputed,
    Product,
    Scaled,
    Sigmoid,
    Sum,
    check_kernel,
)

ON_ROWS = sorted(set(KERNELS) - {"precomputed", "polynomial"})
COMPOSITES = [
    RBF() + Linear(),
    RBF() * Linear(),
    2.5 * RBF(),
    RBF("median") * Laplacian("median") + 0.5 * Matern(gamma="scale"),
    RBF() + Matern(nu=2.5),
    0 * RBF(),
    Linear() + CallableKernel(np.inner),
    RBF() + GaussianProcessKernel(WhiteKernel()),
]


@pytest.mark.parametrize("kernel", COMPOSITES)
def test_composites_keep_the_promises_of_kernels(kernel, rows_for):
    check_kernel(kernel, rows_for(kernel))


@settings(max_examples=60, deadline=None)
@given(
    names=st.tuples(st.sampled_from(ON_ROWS), st.sampled_from(ON_ROWS)),
    scale=st.floats(0, 1e3),
    X=arrays(
        np.float64, st.tuples(st.integers(1, 5), st.integers(1, 7)), elements=st.floats(0, 10, allow_subnormal=False)
    ),
)
def test_values_are_joined_entry_by_entry(names, scale, X):
    k1, k2 = (KERNELS[name]() for name in names)
    K1, K2 = k1(X), k2(X)
    for kernel, expected in [
        (k1 + k2, K1 + K2),
        (k1 * k2, K1 * K2),
        (scale * k1, scale * K1),
        (k1 * scale, scale * K1),
    ]:
        assert_allclose(kernel(X), expected, rtol=1e-14, atol=1e-300)
        assert_allclose(kernel(X, X[:2]), kernel(X)[:, :2], rtol=1e-9, atol=1e-9)
        assert_array_equal(np.diagonal(kernel(X)), kernel.diag(X))
        assert (kernel.diag(X) <= kernel.bound * (1 + 1e-15)).all()


def test_operators_build_the_classes():
    assert isinstance(RBF() + Linear(), Sum)
    assert isinstance(RBF() * Linear(), Product)
    assert isinstance(2 * RBF(), Scaled)
    assert isinstance(RBF() * np.float32(2), Scaled)


@pytest.mark.parametrize(
    "kernel, bound",
    [
        (RBF() + RBF(), 2),
        (RBF() + Linear(), np.inf),
        (3 * RBF() * RBF(), 3),
        (RBF() * Linear(), np.inf),
        (0 * Linear(), 0),
        ((0 * RBF()) * Linear(), 0),
    ],
)
def test_bounds(kernel, bound):
    assert kernel.bound == bound


def test_flags_are_those_of_the_parts():
    indefinite = Sigmoid()
    for kernel in (RBF() + indefinite, indefinite * RBF(), 2 * indefinite):
        assert not kernel.psd
    assert (RBF() + 2 * RBF() * Linear()).psd
    assert (2 * (Precomputed() + Precomputed())).pairwise
    assert not (2 * (RBF() + RBF())).pairwise


def test_nested_parameters():
    kernel = 2 * RBF(gamma=0.5) + Linear()
    assert kernel.get_params()["k1__kernel__gamma"] == 0.5
    changed = clone(kernel).set_params(k1__kernel__gamma=1.0, k1__scale=3.0)
    assert repr(changed) == "Sum(k1=Scaled(kernel=RBF(gamma=1.0), scale=3.0), k2=Linear())"
    assert kernel.k1.kernel.gamma == 0.5


def test_resolve_reaches_every_part(rng):
    X, w = rng.standard_normal((40, 3)), rng.uniform(size=40)
    kernel = 2 * RBF("median") + Laplacian("scale") * Matern()
    resolved = kernel.resolve(X, sample_weight=w)
    assert resolved.k1.kernel.gamma == RBF("median").resolve(X, w).gamma
    assert resolved.k2.k1.gamma == Laplacian("scale").resolve(X, w).gamma
    assert resolved.k2.k2.gamma == 1 / 3
    assert kernel.k1.kernel.gamma == "median"


def test_a_metric_is_kept_if_it_is_that_of_both():
    assert (RBF() + Matern()).metric == "sqeuclidean"
    assert (2 * Laplacian()).metric == "cityblock"
    assert (RBF() * Laplacian()).metric is None
    assert (RBF() + Linear()).metric is None
    with pytest.raises(NotImplementedError, match="is not a function of one distance: its metric is None"):
        (RBF() * Laplacian()).from_distance(np.ones(3))


def test_precomputed_kernels_can_be_joined(rng):
    K = np.cov(rng.standard_normal((8, 20)))
    kernel = 2 * Precomputed() * Precomputed()
    assert_allclose(kernel(K), 2 * K * K)
    assert_allclose(kernel(K[:3], K), 2 * (K * K)[:3])
    assert_allclose(kernel.diag(K), 2 * np.diagonal(K) ** 2)
    with pytest.raises(ValueError, match="joins a precomputed kernel to one that is not: X cannot be both"):
        (RBF() + Precomputed())(K)


@pytest.mark.parametrize("scale", [-1, np.nan, np.inf])
def test_multiples_must_not_be_negative(scale, rng):
    with pytest.raises(ValueError, match=rf"scale={scale} is not valid: it must be a finite number of at least 0"):
        (scale * RBF())(rng.standard_normal((3, 2)))
