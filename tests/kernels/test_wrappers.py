"""Kernels from elsewhere: matrices, functions, Gaussian-process kernels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel

from eigenpath.kernels import CallableKernel, GaussianProcessKernel, Linear, Precomputed, check_kernel

GAUSSIAN_PROCESS = [
    gp.RBF(0.7),
    gp.RBF([0.5, 1.0, 2.0]),
    gp.Matern(nu=2.5),
    gp.RationalQuadratic(),
    gp.DotProduct(),
    gp.ConstantKernel(2.0) * gp.RBF() + gp.WhiteKernel(0.3),
    (gp.RBF() + gp.WhiteKernel(0.3)) * gp.DotProduct(),
    gp.Exponentiation(gp.DotProduct(), 2),
    gp.PairwiseKernel(metric="laplacian"),
]


@pytest.fixture
def X(rng):
    return rng.standard_normal((20, 3))


class TestPrecomputed:
    def test_a_call_returns_a_copy(self, rng):
        K = np.cov(rng.standard_normal((5, 9)))
        values = Precomputed()(K)
        assert_array_equal(values, np.triu(K) + np.triu(K, 1).T)
        values[...] = 0
        assert K.any()

    def test_rows_against_the_training_rows(self, rng):
        K = rng.standard_normal((3, 5))
        assert_array_equal(Precomputed()(K, np.eye(5)), K)
        assert_array_equal(Precomputed()(K, np.empty((5, 0))), K)
        with pytest.raises(ValueError, match="X has 5 columns, but there are 4 training rows"):
            Precomputed()(K, np.eye(4))

    def test_sparse_matrices(self, rng):
        K = np.diag(rng.uniform(size=5))
        assert_array_equal(Precomputed()(sp.csr_array(K)), K)

    def test_rounding_is_made_symmetric(self, rng):
        K = np.cov(rng.standard_normal((6, 9)))
        K[0, 1] *= 1 + 1e-12
        values = Precomputed()(K)
        assert_array_equal(values, values.T)

    def test_errors(self, rng):
        with pytest.raises(ValueError, match=r"kernel matrix of the training rows must be square, got \(3, 5\)"):
            Precomputed()(np.ones((3, 5)))
        with pytest.raises(ValueError, match="must be square"):
            Precomputed().diag(np.ones((3, 5)))
        with pytest.raises(ValueError, match="Precomputed is not symmetric"):
            Precomputed()(rng.standard_normal((4, 4)))


class TestCallable:
    def test_a_vectorized_function(self, X):
        kernel = CallableKernel(rbf_kernel, {"gamma": 0.5})
        check_kernel(kernel, X)
        assert_allclose(kernel(X, X[:4]), rbf_kernel(X, X[:4], gamma=0.5))

    def test_large_matrices_take_several_calls(self, rng, monkeypatch):
        shapes = []

        def function(X, Z):
            shapes.append((len(X), len(Z)))
            return X @ Z.T

        monkeypatch.setattr(CallableKernel, "_tile", 16)
        X = rng.standard_normal((40, 3))
        assert_allclose(CallableKernel(function)(X), Linear()(X), rtol=1e-12, atol=1e-14)
        assert max(shapes) == (32, 32) or max(shapes) == (16, 16)
        assert shapes.count((16, 16)) == 3

    def test_sparse_rows_are_handed_on(self, X):
        kernel = CallableKernel(lambda X, Z: (X @ Z.T).toarray())
        assert_allclose(kernel(sp.csr_array(X)), X @ X.T)

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
    def test_a_function_of_single_rows(self, form, X):
        calls = []

        def function(x, z, power):
            calls.append(1)
            product = x @ z.T
            return (product.toarray()[0, 0] if sp.issparse(product) else product) ** power

        kernel = CallableKernel(function, {"power": 3}, rowwise=True)
        assert_allclose(kernel(form(X), form(X[:4])), pairwise_kernels(X, X[:4], metric=lambda x, z: (x @ z) ** 3))
        assert_allclose(kernel.diag(form(X)), (X**2).sum(axis=1) ** 3)
        assert len(calls) == 80 + 20

    def test_a_function_of_single_rows_is_called_for_about_half_of_the_pairs(self, rng):
        calls = []
        CallableKernel(lambda x, z: calls.append(1) or x @ z, rowwise=True)(rng.standard_normal((128, 2)))
        assert len(calls) < 0.65 * 128**2

    def test_the_wrong_shape(self, X):
        with pytest.raises(
            ValueError, match=r"returned shape \(\) for 20 rows of X and 4 of Z: it must return a matrix"
        ):
            CallableKernel(lambda X, Z: np.minimum(X[:4], Z).sum())(X, X[:4])
        with pytest.raises(ValueError, match=r"returned shape \(4, 20\) for 20 rows of X and 4 of Z"):
            CallableKernel(lambda X, Z: Z @ X.T)(X, X[:4])

    def test_a_function_that_is_not_symmetric(self, X):
        with pytest.raises(ValueError, match="CallableKernel is not symmetric"):
            CallableKernel(lambda X, Z: X[:, :1] - Z[:, 0])(X)


class TestGaussianProcess:
    @pytest.mark.parametrize("kernel", GAUSSIAN_PROCESS)
    def test_values_are_those_of_the_kernel(self, kernel, X):
        ours = GaussianProcessKernel(kernel)
        check_kernel(ours, X)
        assert_allclose(ours(X), kernel(X), rtol=1e-14)
        assert_allclose(ours(X, X[:4]), kernel(X, X[:4]), rtol=1e-14)
        assert_allclose(ours.diag(X), kernel.diag(X), rtol=1e-14)

    def test_noise_stays_on_the_diagonal_over_several_tiles(self, rng):
        X = rng.standard_normal((500, 2))
        kernel = gp.RBF() + gp.WhiteKernel(0.3)
        assert_allclose(GaussianProcessKernel(kernel)(X), kernel(X), rtol=1e-13)

    @pytest.mark.parametrize(
        "kernel, bound", [(2 * gp.RBF(), 2), (gp.DotProduct(), np.inf), (gp.RBF([1.0, 2.0]) + gp.WhiteKernel(3), 4)]
    )
    def test_bounds(self, kernel, bound):
        assert GaussianProcessKernel(kernel).bound == pytest.approx(bound)

    @pytest.mark.parametrize(
        "kernel, psd",
        [
            (gp.RBF() + gp.Matern(), True),
            (gp.PairwiseKernel(metric="rbf"), True),
            (gp.PairwiseKernel(metric="sigmoid"), False),
            (2 * gp.ExpSineSquared() + gp.RBF(), False),
        ],
    )
    def test_psd(self, kernel, psd):
        assert GaussianProcessKernel(kernel).psd is psd

    def test_a_periodic_kernel_of_two_features_is_indefinite(self, rng):
        K = GaussianProcessKernel(gp.ExpSineSquared(0.5))(rng.uniform(0, 5, (60, 2)))
        assert np.linalg.eigvalsh(K)[0] < -1e-3

    def test_nested_parameters(self):
        kernel = GaussianProcessKernel(2 * gp.RBF(1.0))
        assert kernel.set_params(kernel__k2__length_scale=3.0).kernel.k2.length_scale == 3

    def test_sparse_rows(self, X):
        kernel = GaussianProcessKernel(gp.RBF())
        for call in (kernel, kernel.diag, lambda X: (kernel + Linear())(X, X)):
            with pytest.raises(TypeError, match=r"GaussianProcessKernel\(kernel=RBF\(.*\)\) needs dense data"):
                call(sp.csr_array(X))
