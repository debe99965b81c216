"""Every way of keeping K is the same operator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenpath.gram import (
    DistanceTriangle,
    ExplicitGram,
    KernelCross,
    KernelGram,
    PrecomputedGram,
    _product,
    build_gram,
)
from eigenpath.kernels import RBF, AdditiveChi2, CallableKernel, Laplacian, Linear, Matern, Polynomial, Precomputed

KERNEL = Polynomial(degree=1, gamma=0.5, coef0=0.0)
# One tile, tiles that divide the rows and tiles that do not.
SIZES = [1, 7, 256, 257, 700]


def data(n, rng, d=5):
    return rng.standard_normal((n, d))


def routes(X):
    """All Gram operators of one kernel, of which the features are known."""
    n, root = len(X), X * np.sqrt(KERNEL.gamma)
    K = KERNEL(X)
    return {
        "stored": KernelGram(KERNEL, X),
        "tiled": KernelGram(KERNEL, X, budget=0),
        "partial": KernelGram(KERNEL, X, budget=8 * n * 300),
        "explicit": ExplicitGram(root),
        "sparse": ExplicitGram(sparse.csr_array(root)),
        "precomputed": PrecomputedGram(K),
        "fortran": PrecomputedGram(np.asfortranarray(K)),
        "stored mixed": KernelGram(KERNEL, X, np.float32),
        "tiled mixed": KernelGram(KERNEL, X, np.float32, budget=0),
        "partial mixed": KernelGram(KERNEL, X, np.float32, budget=4 * n * 300),
        "explicit mixed": ExplicitGram(root.astype(np.float32)),
        "precomputed mixed": PrecomputedGram(K, np.float32),
        "precomputed single": PrecomputedGram(K.astype(np.float32)),
    }


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("k", [1, 6, 40])
def test_products_agree_with_the_dense_matrix_within_their_error(n, k, rng):
    X, V = data(n, rng), rng.standard_normal((n, k))
    expected = KERNEL(X) @ V

    for name, gram in routes(X).items():
        error = np.linalg.norm(gram @ V - expected, axis=0) / np.linalg.norm(V, axis=0)
        # What the entries of a float32 matrix, given as such, lack is not the operator's doing.
        given = np.linalg.norm(KERNEL(X)) * 6e-8 if name == "precomputed single" else 0
        assert (error <= gram.product_error + given).all(), (name, error.max(), gram.product_error)


@pytest.mark.parametrize("n", SIZES)
def test_the_error_is_one_that_a_wrong_product_would_exceed(n, rng):
    """The bound says something: it is far below the product itself, in either precision."""
    X = data(n, rng)
    for name, gram in routes(X).items():
        share = gram.product_error / np.linalg.norm(KERNEL(X))
        assert share < (1e-4 if "mixed" in name or "single" in name else 1e-12), name


def test_the_error_follows_the_precision_of_the_kernel_not_only_of_the_products(rng):
    """Far from the origin, float32 loses the distances that a recomputed kernel is made of."""
    X = data(300, rng, d=6) + 100
    V = np.ones(300)
    gram = KernelGram(RBF(gamma=0.1), X, np.float32, budget=0)
    error = np.linalg.norm(gram @ V - RBF(gamma=0.1)(X) @ V) / np.linalg.norm(V)

    stored = KernelGram(RBF(gamma=0.1), X, np.float32)
    assert error <= gram.product_error
    assert gram.product_error > stored.product_error


@pytest.mark.parametrize("n", SIZES)
def test_rows_diagonal_dense_and_trace(n, rng):
    X = data(n, rng)
    K, index = KERNEL(X), np.array([n - 1, 0, n // 2, min(n // 2 + 1, n - 1)])

    for name, gram in routes(X).items():
        single = "mixed" in name or "single" in name
        close = {"rtol": 1e-5, "atol": 1e-5} if single else {"rtol": 1e-12, "atol": 1e-12}
        assert gram.shape == (n, n)
        assert_allclose(gram.rows(index), K[index], err_msg=name, **close)
        assert_allclose(gram.diagonal(), K.diagonal(), err_msg=name, **close)
        assert_allclose(gram.trace(), K.trace(), rtol=1e-5)
        dense = gram.dense()
        assert_allclose(dense.toarray() if sparse.issparse(dense) else dense, K, err_msg=name, **close)


def test_no_rows(rng):
    assert KernelGram(RBF(gamma=1.0), data(5, rng)).rows([]).shape == (0, 5)


def test_a_single_vector_and_no_vector(rng):
    X = data(300, rng)
    for gram in routes(X).values():
        assert (gram @ X[:, 0]).shape == (300,)
        assert_allclose(gram @ X[:, 0], (gram @ X[:, :1])[:, 0], rtol=1e-12)
        assert (gram @ X[:, :0]).shape == (300, 0)
        assert (gram @ X).dtype == np.float64


def test_the_number_of_threads_changes_nothing(rng, monkeypatch):
    """Sums are formed in an order of their own: results are equal, not only close."""
    monkeypatch.setattr(_product, "_FEW", 0)
    n = 1100
    X, V = data(n, rng), rng.standard_normal((n, 3))
    for name, gram in routes(X).items():
        assert_array_equal(gram.product(V, 1), gram.product(V, 2), err_msg=name)


def test_the_stored_triangle_takes_half_a_matrix(rng):
    n = 1500
    gram = KernelGram(RBF(gamma=1.0), data(n, rng))

    assert gram.storage == "stored"
    assert n * n / 2 * 8 < gram.nbytes < (n + 256) * n / 2 * 8
    assert KernelGram(RBF(gamma=1.0), data(n, rng), np.float32).nbytes == gram.nbytes / 2


def test_the_budget_is_kept(rng):
    X = data(1500, rng)
    whole = KernelGram(RBF(gamma=1.0), X).nbytes
    for budget, storage in [(0, "tiled"), (whole // 2, "partial"), (whole, "stored")]:
        gram = KernelGram(RBF(gamma=1.0), X, budget=budget)
        assert gram.nbytes <= budget
        assert gram.storage == storage


def test_a_given_matrix_is_neither_copied_nor_written(rng):
    K = RBF(gamma=0.1)(data(300, rng))
    K.flags.writeable = False
    gram = PrecomputedGram(K)

    assert gram.dense() is K
    assert gram.nbytes == 0
    assert all(np.shares_memory(panel, K) for panel in gram._panels)
    assert_allclose(gram @ K, K @ K, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 3])
def test_cross_products_agree_with_the_dense_matrix(dtype, k, rng):
    X, Z, C = data(500, rng), data(900, rng), rng.standard_normal((900, k))
    kernel = RBF(gamma=0.3)
    # Sums of 900 terms, in float64 over tiles of float32.
    tol = 1e-12 if dtype == np.float64 else 1e-4

    cross = KernelCross(kernel, X, Z, dtype)
    assert cross.shape == (500, 900)
    assert_allclose(cross @ C, kernel(X, Z) @ C, rtol=tol, atol=tol)
    assert_allclose(cross @ C[:, 0], kernel(X, Z) @ C[:, 0], rtol=tol, atol=tol)
    assert_allclose(cross.dense(), kernel(X, Z), rtol=tol, atol=tol)


def test_cross_of_every_route(rng):
    X, new = data(300, rng), data(20, rng)
    C = rng.standard_normal((300, 2))
    expected = KERNEL(new, X) @ C

    for name, gram in routes(X).items():
        given = new
        if "precomputed" in name or name == "fortran":
            given = KERNEL(new, X)
        elif name in ("explicit", "sparse", "explicit mixed"):
            given = new * np.sqrt(KERNEL.gamma)
        cross = gram.cross(given)
        tol = 1e-4 if name == "explicit mixed" else 1e-10
        assert_allclose(cross @ C, expected, rtol=tol, atol=tol)
        assert_allclose(cross.dense(), KERNEL(new, X), rtol=1e-4, atol=1e-5)


def test_explicit_features_of_new_rows_come_from_the_kernel(rng):
    X, new = data(300, rng), data(20, rng)
    gram = build_gram(Linear(), X)

    assert_allclose(gram.cross(new) @ X, new @ X.T @ X, rtol=1e-12, atol=1e-10)
    assert_allclose(gram.cross(sparse.csr_array(new)) @ X, new @ X.T @ X, rtol=1e-12, atol=1e-10)


def test_build_chooses(rng):
    X = data(300, rng)
    rbf, K = RBF(gamma=1.0), Linear()(X)

    assert isinstance(build_gram(Linear(), X), ExplicitGram)
    assert isinstance(build_gram(Linear(), sparse.csr_array(X)), ExplicitGram)
    assert isinstance(build_gram(Linear(), X, storage="stored"), KernelGram)
    assert isinstance(build_gram(Linear(), X[:8]), KernelGram), "more than half as many features as rows"
    assert isinstance(build_gram(Linear(), X[:8], storage="explicit"), ExplicitGram)
    assert isinstance(build_gram(Precomputed(), K), PrecomputedGram)
    assert build_gram(rbf, X).storage == "stored"
    assert build_gram(rbf, X, storage="tiled").storage == "tiled"
    assert build_gram(rbf, X, budget=1000).storage == "tiled"


@pytest.mark.parametrize("precision, dtype", [("double", np.float64), ("mixed", np.float32)])
def test_build_passes_the_precision_on(precision, dtype, rng):
    X = data(300, rng)
    assert build_gram(RBF(gamma=1.0), X, precision=precision).dtype == dtype
    assert build_gram(Linear(), X, precision=precision).dtype == dtype
    assert build_gram(Precomputed(), Linear()(X), precision=precision).dtype == dtype


def test_functions_are_called_by_one_thread_at_a_time(rng):
    import threading

    callers = set()

    def minimum(X, Z):
        callers.add(threading.get_ident())
        return np.minimum(X[:, None], Z).sum(axis=2)

    X = abs(data(600, rng, d=2))
    kernel = CallableKernel(minimum)
    for budget in (0, None):
        assert_allclose(KernelGram(kernel, X, budget=budget) @ X, minimum(X, X) @ X, rtol=1e-12)
    assert callers == {threading.get_ident()}


@pytest.mark.parametrize(
    "options, match",
    [
        ({"storage": "disk"}, r"storage='disk' is not known"),
        ({"precision": "half"}, r"precision='half' is not known"),
        ({"storage": "explicit"}, r"storage='explicit' needs a kernel with explicit features, and RBF"),
    ],
)
def test_build_says_what_is_wrong(options, match, rng):
    with pytest.raises(ValueError, match=match):
        build_gram(RBF(gamma=1.0), data(5, rng), **options)


@pytest.mark.parametrize(
    "K, match",
    [
        (np.ones((2, 3)), r"must be square, got an array of shape \(2, 3\)"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "contains NaN or infinity"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), r"is not symmetric: .* differ by up to 0.1"),
    ],
)
def test_a_given_matrix_must_be_a_gram_matrix(K, match):
    with pytest.raises(ValueError, match=match):
        PrecomputedGram(K)


def test_shapes_must_fit(rng):
    X = data(5, rng)
    gram = build_gram(RBF(gamma=1.0), X)
    with pytest.raises(ValueError, match=r"shape \(5, 5\) cannot be multiplied by an array of shape \(4, 2\)"):
        gram @ X[:4, :2]
    with pytest.raises(ValueError, match=r"shape \(3, 5\) cannot be multiplied by an array of shape \(4,\)"):
        gram.cross(X[:3]) @ X[:4, 0]
    with pytest.raises(ValueError, match=r"between new rows and the 5 training rows, got an array of shape \(3, 4\)"):
        PrecomputedGram(np.eye(5)).cross(X[:3, :4])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "kernel", [RBF(gamma=0.3), 2.0 * Matern(gamma=0.1) + RBF(gamma=1.0), Laplacian(gamma=0.2)], ids=str
)
def test_kernels_that_share_their_distances_have_the_same_matrices(kernel, dtype, rng):
    X = data(700, rng)
    shared = DistanceTriangle(X, kernel.metric)
    for budget in (None, 8 * 700 * 300):
        alone, together = (KernelGram(kernel, X, dtype, budget, d) for d in (None, shared))
        V = rng.standard_normal((700, 3))
        assert_array_equal(together @ V, alone @ V)
        assert together.product_error == alone.product_error
        assert_array_equal(together.rows([5, 600]), alone.rows([5, 600]))


@pytest.mark.parametrize(
    "kernel", [3.0 * Precomputed(), Precomputed() + Precomputed(), Precomputed() * Precomputed()], ids=str
)
def test_multiples_and_sums_of_a_given_matrix_are_not_the_matrix(kernel, rng):
    K = RBF(gamma=0.3)(data(40, rng))
    gram = build_gram(kernel, K)
    assert_allclose(gram @ np.eye(40), kernel(K), rtol=1e-12)
    assert_allclose(gram.diagonal(), kernel(K).diagonal())


def test_a_sparse_matrix_may_be_given(rng):
    K = np.diag(np.arange(1.0, 41.0))
    assert_allclose(build_gram(Precomputed(), sparse.csr_array(K)) @ np.ones(40), K @ np.ones(40))


def test_the_error_of_an_indefinite_kernel_is_not_read_off_its_diagonal(rng):
    """That of additive chi-squared is zero."""
    X = np.abs(data(300, rng))
    kernel = AdditiveChi2()
    V = rng.standard_normal((300, 4))
    for dtype in (np.float64, np.float32):
        gram = KernelGram(kernel, X, dtype, budget=0)
        error = np.linalg.norm(gram @ V - kernel(X) @ V, axis=0) / np.linalg.norm(V, axis=0)
        assert gram.product_error > 0
        assert (error <= gram.product_error).all()
