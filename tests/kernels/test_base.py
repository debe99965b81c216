"""What holds for every kernel: the promises of `check_kernel`, agreement with scikit-learn, clear errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels

from eigenpath.kernels import (
    KERNELS,
    RBF,
    Chi2,
    DistanceKernel,
    DotKernel,
    GaussianProcessKernel,
    Kernel,
    Linear,
    Polynomial,
    as_kernel,
    check_kernel,
)

NAMES = sorted(KERNELS)
ON_ROWS = [name for name in NAMES if name != "precomputed"]
SPARSE = [name for name in ON_ROWS if "chi2" not in name]
WITH_GAMMA = [name for name in NAMES if "gamma" in KERNELS[name]().get_params()]
SKLEARN = sorted(set(NAMES) - {"matern", "rational_quadratic"})


class Evaluated(Kernel):
    """A kernel by its matrix alone."""

    def evaluate(self, X, Z):
        return np.minimum(X[:, None], Z).sum(axis=2)


@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_keeps_its_promises(name, rows_for):
    kernel = KERNELS[name]()
    check_kernel(kernel, rows_for(kernel))


@pytest.mark.parametrize("name", NAMES)
def test_matrices_of_several_tiles_keep_the_promises_too(name, rows_for):
    kernel = KERNELS[name]()
    check_kernel(kernel, rows_for(kernel, n=450))


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_give_the_values_of_dense_ones(name, rng):
    X = np.where(rng.uniform(size=(30, 12)) < 0.3, rng.standard_normal((30, 12)), 0)
    kernel = KERNELS[name]()
    expected = kernel(X)
    for rows in (sp.csr_array(X), sp.csc_matrix(X)):
        assert_allclose(kernel(rows), expected, rtol=1e-11, atol=1e-13)
        assert_allclose(kernel(rows, X[:5]), expected[:, :5], rtol=1e-11, atol=1e-13)
        assert_allclose(kernel.diag(rows), np.diagonal(expected), rtol=1e-13)
    check_kernel(kernel, sp.csr_array(X[X.any(axis=1)]))


@pytest.mark.parametrize("name", SKLEARN)
def test_values_are_those_of_scikit_learn(name, rows_for):
    """Names, defaults and explicit parameters mean the same."""
    kernel = KERNELS[name]()
    X = rows_for(kernel)
    Z = X[:7] if not kernel.pairwise else X
    assert_allclose(as_kernel(name)(X), pairwise_kernels(X, metric=name), rtol=1e-12, atol=1e-14)
    assert_allclose(as_kernel(name)(X, Z), pairwise_kernels(X, Z, metric=name), rtol=1e-12, atol=1e-14)
    params = {"gamma": 0.37, "degree": 4, "coef0": 0.6}
    expected = pairwise_kernels(X, Z, metric=name, filter_params=True, **params)
    assert_allclose(as_kernel(name, **params)(X, Z), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_copies_are_equal(name, rows_for):
    kernel = KERNELS[name]()
    X = rows_for(kernel)
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel)), kernel.resolve(X)):
        assert copy is not kernel
        assert_array_equal(copy(X), kernel(X))


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_of_every_kernel_matters(name, rows_for):
    kernel = KERNELS[name]()
    X = rows_for(kernel)
    for parameter in kernel.get_params():
        changed = clone(kernel).set_params(**{parameter: 2.0})
        assert np.abs(changed(X) - kernel(X)).max() > 1e-3, parameter


@pytest.mark.parametrize("name", ON_ROWS)
def test_one_row_and_no_rows(name, rows_for):
    kernel = KERNELS[name]()
    X = rows_for(kernel, n=3)
    assert_allclose(kernel(X[:1]), kernel(X)[:1, :1], rtol=1e-12)
    assert kernel(X[:0], X).shape == (0, 3)
    assert kernel(X, X[:0]).shape == (3, 0)


@pytest.mark.parametrize("name", NAMES)
def test_numpy_scalars_as_parameters_leave_float32(name, rows_for):
    kernel = KERNELS[name]()
    X = rows_for(kernel).astype(np.float32)
    kernel.set_params(**{p: np.float64(2) for p in kernel.get_params()})
    assert kernel(X).dtype == kernel(X, X).dtype == kernel.diag(X).dtype == np.float32
    if kernel.metric is not None:
        assert kernel.from_distance(np.ones(3, np.float32)).dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
def test_filler_writes_any_tile(name, rows_for):
    """Tiles on, across and off the diagonal, and an array that is not contiguous."""
    kernel = KERNELS[name]()
    X = rows_for(kernel)
    K, fill, room = kernel(X), kernel.filler(X), np.empty((40, 80))
    for rows, cols in [(slice(0, 40), slice(0, 40)), (slice(3, 9), slice(5, 21)), (slice(0, 2), slice(30, 40))]:
        out = room[: rows.stop - rows.start, : 2 * (cols.stop - cols.start) : 2]
        fill(rows, cols, out)
        assert_allclose(out, K[rows, cols], rtol=1e-12, atol=1e-14)
        on_diagonal = range(max(rows.start, cols.start), min(rows.stop, cols.stop))
        assert_array_equal([out[i - rows.start, i - cols.start] for i in on_diagonal], kernel.diag(X)[on_diagonal])


finite = st.floats(0, 100, allow_subnormal=False)


@pytest.mark.parametrize("name", ON_ROWS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_laws_of_kernels(name, data):
    """Symmetry, diagonal, bound and positive semidefiniteness, on rows with repetitions, zeros and large values."""
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 9))
    X = data.draw(arrays(np.float64, (n, d), elements=finite))
    kernel = KERNELS[name]()
    K = kernel(X)
    assert_array_equal(K, K.T)
    assert_array_equal(np.diagonal(K), kernel.diag(X))
    assert (kernel.diag(X) <= kernel.bound).all()
    # Cauchy and Schwarz, up to the rounding of a product of d terms.
    if kernel.psd:
        scale = np.sqrt(np.outer(np.diagonal(K), np.diagonal(K)))
        assert (abs(K) <= scale * (1 + 1e-12) + 1e-14).all()
        values = np.linalg.eigvalsh(K)
        assert values[0] >= -1e-12 * max(1, values[-1])


@pytest.mark.parametrize("name", [n for n in NAMES if KERNELS[n]().bound == 1 and KERNELS[n]().psd and n != "cosine"])
def test_equal_rows_have_the_value_one(name, rows_for):
    """Also between X and Z, and far from the origin: their distance is exactly 0."""
    kernel = KERNELS[name]()
    X = 1e8 + rows_for(kernel)
    X[3] = X[20]
    assert_array_equal(np.diagonal(kernel(X)), 1)
    assert_array_equal(np.diagonal(kernel(X, X.copy())), 1)
    assert kernel(X)[3, 20] == 1


@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_a_rule_is_resolved_on_the_rows_of_a_symmetric_matrix(gamma, rng):
    X = rng.standard_normal((30, 4))
    kernel = RBF(gamma)
    assert_array_equal(kernel(X), kernel.resolve(X)(X))
    assert_array_equal(kernel.diag(X), 1)
    assert kernel.gamma == gamma
    with pytest.raises(ValueError, match=rf"RBF\(gamma='{gamma}'\) is not fixed yet: .* kernel.resolve\(X_train\)"):
        kernel(X, X)
    with pytest.raises(ValueError, match="gamma depends on the data"):
        (2 * kernel + Linear()).filler(X, X)


def test_default_gamma_needs_no_data(rng):
    X, Z = rng.standard_normal((5, 4)), rng.standard_normal((3, 4))
    assert_array_equal(RBF()(X, Z), RBF(1 / 4)(X, Z))
    assert_array_equal((RBF() + Linear())(X, Z), (RBF(1 / 4) + Linear())(X, Z))


@pytest.mark.parametrize("name", WITH_GAMMA)
def test_gamma_is_checked(name, rows_for):
    kernel = KERNELS[name]()
    X = rows_for(kernel)
    for gamma in (-1.0, np.nan, np.inf, True, [1.0]):
        with pytest.raises(ValueError, match=r"gamma=.* is not valid: it must be a finite number of at least 0"):
            KERNELS[name](gamma=gamma)(X)
        with pytest.raises(ValueError, match=r"gamma=.* is not valid"):
            KERNELS[name](gamma=gamma).resolve(X)
    with pytest.raises(ValueError, match=r"gamma='wide' of .* is not known: use a number, None, 'scale', 'median' or"):
        KERNELS[name](gamma="wide")(X)
    with pytest.raises(ValueError, match=r"gamma='auto' of .* is chosen together with the filter's parameter"):
        KERNELS[name](gamma="auto").resolve(X)


@pytest.mark.parametrize("name", WITH_GAMMA)
def test_a_formula_without_its_gamma_says_so(name):
    kernel = KERNELS[name](gamma="median")
    formula = kernel.from_dot if kernel.metric is None else kernel.from_distance
    with pytest.raises(ValueError, match=r"has no number for gamma yet. Fix it on data: kernel = kernel.resolve\(X\)"):
        formula(np.ones(3))


@pytest.mark.parametrize("name", ON_ROWS)
def test_columns_that_do_not_match(name, rows_for):
    kernel = KERNELS[name]()
    X = rows_for(kernel)
    with pytest.raises(ValueError, match=rf"{type(kernel).__name__}: X has 6 features and Z has 5"):
        kernel(X, X[:, :5])


def test_dense_only_kernels_say_so(rng):
    X = sp.csr_array(rng.uniform(size=(4, 3)))
    with pytest.raises(TypeError, match="needs dense data"):
        Chi2()(X)


def test_out_is_checked(rng):
    X = rng.standard_normal((4, 3))
    with pytest.raises(ValueError, match=r"out must be an array of shape \(4, 2\) and dtype float64"):
        Linear()(X, X[:2], out=np.empty((4, 4)))


class TestOwnKernels:
    """A kernel of one's own is one formula."""

    def test_evaluate(self, rng):
        check_kernel(Evaluated(), rng.uniform(size=(50, 3)))

    def test_from_distance(self, rng):
        class Cauchy(DistanceKernel):
            def __init__(self, gamma="median"):
                self.gamma = gamma

            def from_distance(self, D, out=None):
                return np.divide(1, 1 + self.gamma * D, out=out)

        check_kernel(Cauchy(), rng.standard_normal((50, 3)))

    def test_from_dot(self, rng):
        class Exponential(DotKernel):
            def from_dot(self, G, out=None):
                return np.exp(G, out=out)

        check_kernel(Exponential(), rng.standard_normal((50, 3)))

    @pytest.mark.parametrize(
        "base, formula", [(Kernel, "evaluate"), (DotKernel, "from_dot"), (DistanceKernel, "from_distance")]
    )
    def test_no_formula(self, base, formula, rng):
        with pytest.raises(NotImplementedError, match=f"has no formula: define {formula}"):
            base()(rng.standard_normal((3, 2)))

    def test_not_a_function_of_a_distance(self):
        with pytest.raises(NotImplementedError, match=r"Linear\(\) is not a function of one distance"):
            Linear().from_distance(np.ones(3))

    def test_wrong_shape(self, rng):
        class Flat(Kernel):
            def evaluate(self, X, Z):
                return np.ones(len(X))

        with pytest.raises(ValueError, match=r"Flat returned shape \(3,\) for 3 rows of X and 3 of Z: it must return"):
            Flat()(rng.standard_normal((3, 2)))

    def test_not_symmetric(self, rng):
        class Sided(Kernel):
            def evaluate(self, X, Z):
                return X @ (2 * Z.T) + X.sum(axis=1)[:, None]

        with pytest.raises(ValueError, match=r"Sided is not symmetric: k\(x, z\) and k\(z, x\) differ by"):
            Sided()(rng.standard_normal((3, 2)))


@pytest.mark.parametrize("nonsense", [1 + 1j, "2", None])
def test_only_kernels_and_numbers_join_kernels(nonsense):
    with pytest.raises(TypeError):
        RBF() + nonsense
    with pytest.raises(TypeError):
        RBF() * nonsense


def test_repr_shows_what_was_set():
    assert repr(Polynomial(degree=2)) == "Polynomial(degree=2)"
    assert isinstance(GaussianProcessKernel(None), Kernel)
