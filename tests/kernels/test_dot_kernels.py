"""Kernels of dot products: formulas, explicit features, and where they are positive semidefinite."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from eigenpath.kernels import RBF, Cosine, Linear, Polynomial, Sigmoid


@pytest.fixture
def X(rng):
    return rng.standard_normal((30, 4))


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 7, 12])
def test_integer_degrees_are_repeated_products(degree, X):
    expected = np.prod([0.3 * X @ X.T + 0.5] * degree, axis=0) if degree else np.ones((30, 30))
    kernel = Polynomial(degree=degree, gamma=0.3, coef0=0.5)
    assert_allclose(kernel(X), expected, rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.diag(X), np.diagonal(expected), rtol=1e-12)


def test_degree_two_has_the_features_of_products_of_pairs(X):
    """(g x.z + c)^2 is the dot product of all products of two of (sqrt(g) x, sqrt(c))."""
    rows = np.column_stack([np.sqrt(0.3) * X, np.full(30, np.sqrt(0.5))])
    features = np.einsum("ni,nj->nij", rows, rows).reshape(30, -1)
    kernel = Polynomial(degree=2, gamma=0.3, coef0=0.5)
    assert_allclose(kernel(X), features @ features.T, rtol=1e-12, atol=1e-14)


def test_a_fractional_degree(rng):
    X = rng.uniform(size=(30, 4))
    kernel = Polynomial(degree=1.5, gamma=1.0, coef0=2.0)
    assert_allclose(kernel(X), (X @ X.T + 2) ** 1.5, rtol=1e-13)


@pytest.mark.parametrize(
    "kernel, psd",
    [
        (Polynomial(), True),
        (Polynomial(degree=2.0), True),
        (Polynomial(degree=2.5), False),
        (Polynomial(coef0=-1), False),
        (Sigmoid(), False),
        (Linear(), True),
        (Cosine(), True),
    ],
)
def test_psd_is_told_honestly(kernel, psd):
    assert kernel.psd is psd


def test_what_is_flagged_indefinite_is_indefinite(rng):
    X = np.vstack([np.zeros(3), rng.uniform(size=(30, 3))])
    for kernel in (Sigmoid(gamma=1.0, coef0=-1.0), Polynomial(degree=2.5, gamma=1.0), Polynomial(degree=1, coef0=-1)):
        values = np.linalg.eigvalsh(kernel(X))
        assert values[0] < -1e-9 * values[-1], kernel


def test_cosine_of_rows_that_are_zero():
    K = Cosine()(np.array([[0.0, 0.0], [3.0, 4.0], [8.0, -6.0]]))
    assert_allclose(K, [[0, 0, 0], [0, 1, 0], [0, 0, 1]], atol=1e-16)


def test_cosine_ignores_lengths(X, rng):
    lengths = rng.uniform(0.1, 10, (30, 1))
    assert_allclose(Cosine()(lengths * X), Cosine()(X), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "kernel", [Linear(), Cosine(), 3.0 * Linear(), Linear() + Cosine(), 0.5 * (Linear() + 2 * Cosine())]
)
def test_features_give_the_kernel_between_different_rows_too(kernel, form, X):
    Z = X[::3] + 1
    left, right = kernel.features(form(X)), kernel.features(form(Z))
    assert sp.issparse(left) == (form is not np.asarray)
    K = left @ right.T
    assert_allclose(K.toarray() if sp.issparse(K) else K, kernel(X, Z), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "kernel", [RBF(), Polynomial(), 2 * RBF(), Linear() + RBF(), RBF() + Linear(), Linear() * Linear()]
)
def test_no_features(kernel, X):
    assert kernel.features(X) is None


def test_from_dot_keeps_its_argument(rng):
    G = rng.standard_normal((4, 5))
    original = G.copy()
    for kernel in (Linear(), Polynomial(gamma=0.5), Sigmoid(gamma=0.5)):
        values = kernel.from_dot(G)
        assert_array_equal(G, original)
        assert values is not G
        out = np.empty_like(G)
        assert kernel.from_dot(G, out=out) is out
        assert_array_equal(out, values)


@pytest.mark.parametrize(
    "kernel, message",
    [
        (Polynomial(degree=-1), "degree=-1 is not valid: it must be a finite number of at least 0"),
        (Polynomial(degree="three"), "degree='three' is not valid"),
        (Polynomial(coef0=np.inf), r"coef0=inf is not valid: it must be a finite number\."),
        (Sigmoid(coef0=None), "coef0=None is not valid"),
        (Sigmoid(gamma="median"), "gamma='median' is for kernels of a distance, and Sigmoid is not one"),
    ],
)
def test_parameters_out_of_range(kernel, message, X):
    with pytest.raises(ValueError, match=message):
        kernel(X)
