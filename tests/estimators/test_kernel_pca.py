"""Kernel PCA: against explicit features, scikit-learn's class, repeated rows, and its own routes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn import decomposition
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenpath.estimators.kernel_pca import KernelPCA
from eigenpath.kernels import RBF, CallableKernel, Laplacian, Linear, Matern, Polynomial, Precomputed

SOLVERS = ["auto", "krylov", "dense", "arpack", "randomized"]
# Residuals of 1e-8 over gaps of 1e-2 (krylov); the others are better.
CLOSE = {"rtol": 0, "atol": 1e-6}


def quadratic_features(X):
    """phi with phi(x) . phi(z) = (x . z + 1)^2 for rows of three columns."""
    a, b, c = X.T
    root = np.sqrt(2)
    columns = [1 + 0 * a, root * a, root * b, root * c, a * a, b * b, c * c, root * a * b, root * a * c, root * b * c]
    return np.column_stack(columns)


def gaussian_of_two_rows(x, z, g):
    return np.exp(-g * ((x - z) ** 2).sum())


@pytest.fixture
def tables(rng):
    """Training rows, 60 of them, and 15 new ones, with a spectrum that falls fast enough for all solvers."""
    scales = np.array([2.0, 1.0, 0.4])
    return rng.standard_normal((60, 3)) * scales, rng.standard_normal((15, 3)) * scales


@parametrize_with_checks(
    [
        KernelPCA(),
        KernelPCA(n_components=2, kernel="rbf"),
        KernelPCA(n_components=0.9, kernel="rbf", gamma="median", eigen_solver="krylov", random_state=0),
        KernelPCA(n_components=2, kernel="poly", eigen_solver="krylov", random_state=0),
        KernelPCA(n_components=2, kernel=Matern(nu=2.5), preimage="fixed_point", remove_zero_eig=True),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    """Each check says in its name what it checks."""
    check(estimator)


@pytest.mark.parametrize("solver", SOLVERS)
def test_coordinates_are_those_of_pca_on_explicit_features(solver, tables):
    """Another route altogether: the singular values of the feature matrix."""
    X, new = tables
    F, G = quadratic_features(X), quadratic_features(new)
    _, sizes, V = np.linalg.svd(F - F.mean(axis=0), full_matrices=False)
    model = KernelPCA(4, kernel="poly", degree=2, gamma=1, eigen_solver=solver, random_state=0)
    trained = model.fit_transform(X)
    assert_allclose(model.eigenvalues_, sizes[:4] ** 2, rtol=1e-8)
    assert_allclose(np.abs(trained), np.abs((F - F.mean(axis=0)) @ V[:4].T), **CLOSE)
    assert_allclose(np.abs(model.transform(new)), np.abs((G - F.mean(axis=0)) @ V[:4].T), **CLOSE)
    assert_allclose(model.transform(X), trained, **CLOSE)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "cosine", "sigmoid"])
def test_agrees_with_scikit_learn_sign_by_sign(kernel, solver, tables):
    if (kernel, solver) == ("sigmoid", "randomized"):
        pytest.skip("it is indefinite, and this solver looks at absolute values, in scikit-learn too")
    X, new = tables
    options = {"kernel": kernel, "gamma": 0.1, "fit_inverse_transform": True, "alpha": 0.1, "random_state": 0}
    theirs = decomposition.KernelPCA(3, eigen_solver="dense", **options)
    ours = KernelPCA(3, eigen_solver=solver, **options)
    assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), **CLOSE)
    T = theirs.transform(new)
    assert_allclose(ours.transform(new), T, **CLOSE)
    assert_allclose(ours.eigenvectors_, theirs.eigenvectors_, **CLOSE)
    assert_allclose(ours.inverse_transform(T), theirs.inverse_transform(T), atol=1e-5)
    assert ours.gamma_ == theirs.gamma_


def test_small_components_of_new_rows_agree_too(tables):
    """A constant may hide in the eigenvector of a small eigenvalue: new rows must not see it."""
    X, new = tables
    theirs = decomposition.KernelPCA(40, kernel="rbf", gamma=0.05).fit(X)
    ours = KernelPCA(40, kernel="rbf", gamma=0.05).fit(X)
    assert ours.eigenvalues_[-1] < 1e-6 * ours.eigenvalues_[0]
    assert_allclose(ours.transform(new), theirs.transform(new), atol=1e-8)


def test_small_components_of_weighted_rows_agree_with_those_of_repeated_ones(tables, rng):
    X, new = tables
    weight = rng.integers(1, 3, len(X))
    weighted = KernelPCA(40, kernel="rbf", gamma=0.05).fit(X, sample_weight=weight)
    plain = KernelPCA(40, kernel="rbf", gamma=0.05).fit(np.repeat(X, weight, axis=0))
    assert_allclose(np.abs(weighted.transform(new)), np.abs(plain.transform(new)), atol=1e-8)


def test_feature_space_errors_are_those_of_explicit_features(tables):
    """Eckart-Young: what the components leave is the sum of the eigenvalues left out, and no projection leaves less."""
    X, new = tables
    F, G = quadratic_features(X), quadratic_features(new)
    mean = F.mean(axis=0)
    model = KernelPCA(5, kernel="poly", degree=2, gamma=1).fit(X)
    _, _, V = np.linalg.svd(F - mean, full_matrices=False)
    for k in range(6):
        rest, rest_new = ((Z - mean) - (Z - mean) @ V[:k].T @ V[:k] for Z in (F, G))
        assert_allclose(model.reconstruction_error_[k], (rest**2).sum(), rtol=1e-8)
        assert_allclose(model.reconstruction_error(new)[k], (rest_new**2).sum(), rtol=1e-8)
    assert_allclose(model.distances(new), (rest_new**2).sum(axis=1), rtol=1e-6)
    assert_allclose(model.reconstruction_error(X), model.reconstruction_error_, rtol=1e-8)


def test_no_projection_leaves_less(tables, rng):
    X, _ = tables
    F = quadratic_features(X)
    F -= F.mean(axis=0)
    best = KernelPCA(3, kernel="poly", degree=2, gamma=1).fit(X).reconstruction_error_[3]
    for _ in range(50):
        Q = np.linalg.qr(rng.standard_normal((10, 3)))[0]
        assert ((F - F @ Q @ Q.T) ** 2).sum() > best


def test_shares_of_the_variance_need_no_full_spectrum(tables):
    X, _ = tables
    every = KernelPCA(kernel="rbf").fit(X)
    few = KernelPCA(4, kernel="rbf", eigen_solver="krylov", random_state=0).fit(X)
    assert_allclose(few.explained_variance_ratio_, every.eigenvalues_[:4] / every.eigenvalues_.sum(), rtol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_share_of_the_variance_is_reached_and_not_by_one_too_many(kernel, solver, tables):
    X, _ = tables
    every = KernelPCA(kernel=kernel).fit(X)
    model = KernelPCA(0.95, kernel=kernel, eigen_solver=solver, random_state=0).fit(X)
    k = int(np.searchsorted(np.cumsum(every.explained_variance_ratio_), 0.95)) + 1
    assert len(model.eigenvalues_) == model.eigenvectors_.shape[1] == k
    assert model.explained_variance_ratio_.sum() >= 0.95 > model.explained_variance_ratio_[:-1].sum()


def test_a_share_that_needs_many_components_makes_krylov_go_on(rng):
    X = rng.standard_normal((300, 6))
    model = KernelPCA(0.9, kernel="rbf", eigen_solver="krylov", random_state=0).fit(X)
    dense = KernelPCA(0.9, kernel="rbf", eigen_solver="dense").fit(X)
    assert len(model.eigenvalues_) == len(dense.eigenvalues_) > 32
    assert_allclose(model.eigenvalues_, dense.eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_repeat_rows(kernel, solver, tables, rng):
    """Zeros leave rows out. Eigenvalues, shares and coordinates are those of the repeated table."""
    X, new = tables
    weight = rng.integers(0, 4, len(X))
    repeated = np.repeat(X, weight, axis=0)
    options = {"kernel": kernel, "gamma": 0.1, "eigen_solver": solver, "random_state": 0}
    weighted = KernelPCA(3, **options)
    trained = weighted.fit_transform(X, sample_weight=weight)
    plain = KernelPCA(3, **options).fit(repeated)
    assert_allclose(weighted.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
    assert_allclose(weighted.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-8)
    assert_allclose(weighted.reconstruction_error_, plain.reconstruction_error_, rtol=1e-7, atol=1e-10)
    assert_allclose(weighted.transform(new), plain.transform(new), **CLOSE)
    assert_allclose(trained, plain.transform(X), **CLOSE)
    assert_allclose(weighted.distances(new), plain.distances(new), **CLOSE)
    assert_allclose(weighted.reconstruction_error(X, sample_weight=weight), plain.reconstruction_error_, atol=1e-6)


@pytest.mark.parametrize("preimage", ["ridge", "fixed_point"])
def test_weights_repeat_rows_in_preimages(preimage, tables, rng):
    X, _ = tables
    weight = rng.integers(1, 4, len(X))
    options = {"kernel": "rbf", "gamma": 0.1, "fit_inverse_transform": True, "preimage": preimage, "alpha": 0.1}
    weighted = KernelPCA(3, **options).fit(X, sample_weight=weight)
    plain = KernelPCA(3, **options).fit(np.repeat(X, weight, axis=0))
    T = plain.transform(X[:5]) * 0.9
    assert_allclose(weighted.inverse_transform(T), plain.inverse_transform(T), atol=1e-5)


@pytest.mark.parametrize(
    ("named", "other"),
    [
        ({"kernel": "rbf", "gamma": 0.3}, {"kernel": RBF(gamma=0.3)}),
        ({"kernel": "rbf", "gamma": 0.3}, {"kernel": CallableKernel(lambda X, Z: RBF(gamma=0.3)(X, Z))}),
        ({"kernel": "rbf", "gamma": 0.3}, {"kernel": gaussian_of_two_rows, "kernel_params": {"g": 0.3}}),
        ({"kernel": "poly", "degree": 2, "gamma": 1, "coef0": 0}, {"kernel": Linear() * Linear()}),
        ({"kernel": Matern(nu=1.5, gamma=0.5)}, {"kernel": SklearnMatern(nu=1.5)}),
    ],
)
def test_a_kernel_can_be_said_in_many_ways(named, other, tables):
    X, new = tables
    one, two = KernelPCA(3, **named).fit(X), KernelPCA(3, **other).fit(X)
    assert_allclose(two.transform(new), one.transform(new), **CLOSE)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_precomputed_matrix_is_as_good_as_the_rows(solver, tables):
    X, new = tables
    K, cross = pairwise_kernels(X, metric="rbf", gamma=0.2), pairwise_kernels(new, X, metric="rbf", gamma=0.2)
    before = K.copy()
    given = KernelPCA(3, kernel="precomputed", eigen_solver=solver, random_state=0).fit(K)
    named = KernelPCA(3, kernel="rbf", gamma=0.2).fit(X)
    assert np.array_equal(K, before)
    assert_allclose(given.transform(cross), named.transform(new), **CLOSE)
    assert_allclose(given.distances(cross, diagonal=np.ones(15)), named.distances(new), **CLOSE)


def test_a_precomputed_matrix_that_may_be_overwritten_is_not_copied(tables):
    X, _ = tables
    K = pairwise_kernels(X, metric="rbf", gamma=0.2)
    before = K.copy()
    kept = KernelPCA(3, kernel="precomputed", eigen_solver="dense").fit(before)
    model = KernelPCA(3, kernel="precomputed", eigen_solver="dense", copy_X=False).fit(K)
    assert not np.allclose(K, before)
    assert_allclose(model.eigenvalues_, kept.eigenvalues_)


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_rows_are_as_good_as_dense_ones(kernel, solver, rng):
    X = sp.random_array((80, 30), density=0.2, rng=rng).tocsr()
    options = {"kernel": kernel, "eigen_solver": solver, "random_state": 0}
    sparse, dense = KernelPCA(3, **options), KernelPCA(3, **options)
    assert_allclose(sparse.fit_transform(X), dense.fit_transform(X.toarray()), **CLOSE)
    assert_allclose(sparse.transform(X[:9]), dense.transform(X[:9].toarray()), **CLOSE)


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_single_precision_is_kept(kernel, solver, tables):
    X, new = (table.astype(np.float32) for table in tables)
    model = KernelPCA(3, kernel=kernel, eigen_solver=solver, fit_inverse_transform=True, random_state=0).fit(X)
    T = model.transform(new)
    assert {model.eigenvalues_.dtype, model.eigenvectors_.dtype, T.dtype, model.fit_transform(X).dtype} == {T.dtype}
    assert T.dtype == model.inverse_transform(T).dtype == np.float32
    double = KernelPCA(3, kernel=kernel).fit(X.astype(float))
    assert_allclose(T, double.transform(new.astype(float)), atol=1e-4)


def test_the_routes_that_auto_takes(rng):
    X = rng.standard_normal((700, 5))
    assert KernelPCA(3).fit(X).eigen_solver_ == "explicit"
    assert KernelPCA(8).fit(X).eigen_solver_ == "krylov"  # there are but 5 features for 8 components
    assert KernelPCA(3, kernel="rbf").fit(X).eigen_solver_ == "krylov"
    assert KernelPCA(3, kernel="rbf").fit(X[:100]).eigen_solver_ == "dense"
    assert KernelPCA(kernel="rbf").fit(X).eigen_solver_ == "dense"


@pytest.mark.parametrize(("share", "route"), [(0.5, "krylov"), (0.999, "dense")])
def test_auto_gives_up_on_krylov_when_a_share_takes_too_many(share, route, rng):
    X = rng.standard_normal((1000, 5))
    assert KernelPCA(share, kernel="rbf").fit(X).eigen_solver_ == route


def test_auto_falls_back_on_lapack_when_krylov_does_not_converge(rng):
    X = rng.standard_normal((700, 5))
    model = KernelPCA(3, kernel="rbf", max_iter=2, random_state=0).fit(X)
    assert model.eigen_solver_ == "dense"
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol") as caught:
        KernelPCA(3, kernel="rbf", max_iter=2, eigen_solver="krylov", random_state=0).fit(X)
    assert caught[0].filename == __file__


def test_residuals_bound_the_error_of_each_eigenvalue(rng):
    X = rng.standard_normal((400, 5))
    exact = np.linalg.eigvalsh(_centred(RBF(gamma=0.2)(X)))[::-1][:6]
    for tol in (1e-2, 1e-8):
        model = KernelPCA(6, kernel="rbf", gamma=0.2, tol=tol, eigen_solver="krylov", random_state=0).fit(X)
        assert np.all(np.abs(model.eigenvalues_ - exact) <= model.residuals_)
        assert np.all(model.residuals_ <= tol * model.eigenvalues_ + 1e-9)


# The basis takes 1.14 MB and the triangle of the matrix 0.8 MB.
@pytest.mark.parametrize("limit", [1_500_000, "1.14 MB"])
def test_a_memory_limit_recomputes_the_kernel_and_changes_nothing_else(limit, rng):
    X, new = rng.standard_normal((400, 5)), rng.standard_normal((9, 5))
    free = KernelPCA(3, kernel="rbf", random_state=0).fit(X)
    model = KernelPCA(3, kernel="rbf", eigen_solver="krylov", memory_limit=limit, random_state=0).fit(X)
    assert_allclose(model.transform(new), free.transform(new), **CLOSE)


def test_a_tiled_fit_stays_below_the_bytes_of_the_matrix(rng):
    X = rng.standard_normal((2500, 3))
    peaks = []
    for limit in (None, 8_000_000):
        tracemalloc.start()
        KernelPCA(3, kernel="rbf", memory_limit=limit, tol=1e-4, random_state=0).fit(X)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    whole = 8 * 2500**2
    # The triangle is kept, or nothing of it; the room for the basis is 600 vectors at most.
    assert peaks[1] < whole / 2 < peaks[0] < whole


def test_a_memory_limit_that_cannot_be_kept_is_an_error(tables):
    with pytest.raises(MemoryError, match=r"memory_limit=1000 is too low to decompose a matrix of 60 rows"):
        KernelPCA(kernel="rbf", memory_limit=1000).fit(tables[0])
    with pytest.raises(
        MemoryError, match=r"ridge regression, whose matrix of 60 rows takes 0.0288 MB: use preimage='fix"
    ):
        KernelPCA(3, kernel="rbf", fit_inverse_transform=True, memory_limit=20_000).fit(tables[0])
    with pytest.raises(MemoryError, match=r"basis for 3 components of 60 rows takes 0.1704 MB: ask for fewer"):
        KernelPCA(3, kernel="rbf", memory_limit=1000).fit(tables[0])


def test_components_without_variance(tables):
    """A linear kernel on three columns has three; the others are there only if they are asked for."""
    X, new = tables
    assert KernelPCA(eigen_solver="dense").fit(X).eigenvalues_.shape == (3,)
    model = KernelPCA(5, eigen_solver="dense").fit(X)
    assert np.array_equal(model.eigenvalues_ == 0, [False] * 3 + [True] * 2)
    assert np.array_equal(model.transform(new)[:, 3:], np.zeros((15, 2)))
    assert KernelPCA(5, eigen_solver="dense", remove_zero_eig=True).fit_transform(X).shape == (60, 3)


def test_constant_data_have_no_components():
    """Not even one of rounding errors."""
    X = np.full((20, 3), 0.1)
    model = KernelPCA(kernel="rbf").fit(X)
    assert model.transform(X).shape == (20, 0)
    assert np.array_equal(KernelPCA(2, kernel="rbf").fit(X).explained_variance_ratio_, [0, 0])


def test_a_bandwidth_rule_is_resolved_on_the_data(tables):
    X, _ = tables
    model = KernelPCA(2, kernel="rbf", gamma="scale").fit(X)
    assert model.gamma_ == model.kernel_.gamma == pytest.approx(1 / (3 * X.var()))


def test_the_preimage_of_a_linear_projection_is_that_of_pca(tables):
    """Where a projection has an exact pre-image the fixed point is that, mean and all."""
    X, new = tables
    pca = decomposition.PCA(2).fit(X)
    model = KernelPCA(2, preimage="fixed_point").fit(X)
    assert_allclose(
        model.inverse_transform(model.transform(new)), pca.inverse_transform(pca.transform(new)), atol=1e-10
    )


def test_a_fixed_point_is_a_nearest_image(tables):
    """No gradient is left, and a general minimizer that starts there finds nothing better."""
    X, new = tables
    model = KernelPCA(4, kernel="rbf", gamma=0.1, preimage="fixed_point").fit(X)
    T = model.transform(new[:4])
    Z = model.inverse_transform(T)

    # The distance of an image to a point of the span: its own to the span, and within it.
    def distance(z, t):
        return model.distances(z[None])[0] + ((model.transform(z[None])[0] - t) ** 2).sum()

    for z, t, x in zip(Z, T, new):
        found = minimize(distance, z, args=(t,), tol=1e-12)
        assert distance(z, t) <= found.fun + 1e-9
        assert_allclose(z, found.x, atol=1e-3)
        assert distance(z, t) < distance(x, t)


def test_fixed_points_take_the_noise_off_a_circle(rng):
    """Of points beside a circle, the pre-images of their projections are nearer to it."""
    angle = rng.uniform(0, 2 * np.pi, 300)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = X + 0.1 * rng.standard_normal(X.shape)
    model = KernelPCA(4, kernel="rbf", gamma=0.5, preimage="fixed_point").fit(noisy)
    clean = model.inverse_transform(model.transform(noisy))
    off = [np.abs(np.linalg.norm(Z, axis=1) - 1).mean() for Z in (clean, noisy)]
    assert off[0] < 0.5 * off[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, r"n_components=0 is not valid: use an integer of at least 1, a share"),
        ({"n_components": 1.5}, r"n_components=1.5 is not valid"),
        ({"n_components": True}, r"n_components=True is not valid"),
        ({"eigen_solver": "lobpcg"}, r"eigen_solver='lobpcg' is not known: use one of 'auto', 'dense'"),
        ({"preimage": "newton"}, r"preimage='newton' is not known: use one of 'ridge', 'fixed_point'"),
        ({"tol": -1}, r"tol=-1 is not valid: it must be a number, not negative"),
        ({"alpha": "auto"}, r"alpha='auto' is not valid"),
        ({"memory_limit": -5}, r"memory_limit=-5 is not valid"),
        ({"eigen_solver": "arpack"}, r"eigen_solver='arpack' needs an integer n_components, got None"),
        ({"eigen_solver": "krylov"}, r"eigen_solver='krylov' needs n_components"),
        ({"kernel": "precomputed"}, r"kernel='precomputed' needs a square matrix in fit, got X of shape \(60, 3\)"),
        ({"kernel": "precomputed", "fit_inverse_transform": True}, r"Cannot fit_inverse_transform with a precomputed"),
        ({"kernel": "wavelet"}, r"kernel='wavelet' is not known"),
    ],
)
def test_parameters_are_checked_in_fit(options, message, tables):
    with pytest.raises(ValueError, match=message):
        KernelPCA(**options).fit(tables[0])


def test_weights_are_checked(tables):
    with pytest.raises(ValueError, match="zero"):
        KernelPCA(2).fit(tables[0], sample_weight=np.zeros(60))


def test_an_indefinite_kernel_is_an_error_if_its_negative_part_is_asked_for(rng):
    A = np.diag(np.linspace(-1, 1, 30))
    with pytest.raises(ValueError, match="There are significant negative eigenvalues: of 25 components the smallest"):
        KernelPCA(25, kernel="precomputed").fit(A)
    assert KernelPCA(3, kernel="precomputed").fit(A).eigenvalues_.min() > 0


def test_preimages_that_cannot_be_had_are_errors(tables):
    X, _ = tables
    with pytest.raises(NotFittedError, match="set fit_inverse_transform=True before fit"):
        KernelPCA(2, kernel="rbf").fit(X).inverse_transform(X[:, :2])
    with pytest.raises(ValueError, match="preimage='fixed_point' needs the RBF or the linear kernel and dense data"):
        KernelPCA(2, kernel=Laplacian(), preimage="fixed_point").fit(X).inverse_transform(X[:, :2])
    with pytest.raises(ValueError, match="X has 3 columns, but there are 2 components"):
        KernelPCA(2, kernel="rbf", preimage="fixed_point").fit(X).inverse_transform(X)
    with pytest.raises(NotImplementedError, match=r"not implemented for sparse matrices: pass X.toarray\(\)"):
        KernelPCA(2, fit_inverse_transform=True).fit(sp.csr_array(X))


def test_a_precomputed_kernel_must_be_told_the_diagonal(tables):
    K = pairwise_kernels(tables[0])
    model = KernelPCA(2, kernel="precomputed").fit(K)
    with pytest.raises(ValueError, match="pass it as diagonal"):
        model.distances(K[:4])
    with pytest.raises(ValueError, match=r"diagonal must have an entry for each of the 4 rows, got shape \(3,\)"):
        model.distances(K[:4], diagonal=np.ones(3))


def test_the_summary_says_what_was_found(tables):
    text = KernelPCA(2, kernel=Polynomial(degree=2), eigen_solver="krylov", random_state=0).fit(tables[0]).summary()
    for words in ("Kernel PCA", "Polynomial(degree=2", "krylov", "variance explained", "largest residual"):
        assert words in text


def _centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def test_a_memory_limit_may_be_text(tables):
    assert KernelPCA(2, kernel="rbf", memory_limit="1GB").fit(tables[0]).eigenvalues_.shape == (2,)
    with pytest.raises(ValueError, match=r"memory_limit must be a number of bytes, or text like '8GB'.*'much'"):
        KernelPCA(2, kernel="rbf", memory_limit="much").fit(tables[0])


def test_a_share_for_which_there_is_no_room_is_said(rng):
    """A narrow kernel: half of the components have half of the variance."""
    X = rng.standard_normal((400, 10))
    with pytest.warns(
        ConvergenceWarning, match=r"n_components=0.95 takes more than 200 components, and no more"
    ) as caught:
        model = KernelPCA(0.95, kernel="rbf", gamma=5.0, eigen_solver="krylov", random_state=0).fit(X)
    assert caught[0].filename == __file__
    assert model.explained_variance_ratio_.sum() < 0.95


def test_a_multiple_of_a_given_matrix_is_that_multiple(tables):
    X, new = tables[0], tables[0][:5] + 0.1
    K, rows = RBF(gamma=0.2)(X), RBF(gamma=0.2)(new, X)
    for solver in ("dense", "krylov"):
        options = {"eigen_solver": solver, "random_state": 0}
        named = KernelPCA(2, kernel=3.0 * RBF(gamma=0.2), **options).fit(X)
        given = KernelPCA(2, kernel=3.0 * Precomputed(), **options).fit(K)
        assert_allclose(given.eigenvalues_, named.eigenvalues_, rtol=1e-9)
        assert_allclose(given.transform(rows), named.transform(new), **CLOSE)
        thin = KernelPCA(2, kernel="precomputed", **options).fit(sp.csr_array(K))
        plain = KernelPCA(2, kernel="precomputed", **options).fit(K)
        assert_allclose(thin.transform(sp.csr_array(rows)), plain.transform(rows), **CLOSE)


def test_absent_rows_are_projected_though_the_matrix_may_be_overwritten(tables):
    X = tables[0]
    K, weight = RBF(gamma=0.2)(X), np.ones(len(X))
    weight[:3] = 0
    kept = KernelPCA(2, kernel="precomputed").fit_transform(K.copy(), sample_weight=weight)
    given = KernelPCA(2, kernel="precomputed", copy_X=False).fit_transform(K, sample_weight=weight)
    assert_allclose(given, kept, **CLOSE)


def test_kernel_params_reach_a_kernel_given_by_name(tables):
    named = KernelPCA(2, kernel="matern", gamma=0.3, kernel_params={"nu": 0.5}).fit(tables[0])
    assert_allclose(named.eigenvalues_, KernelPCA(2, kernel=Matern(0.5, gamma=0.3)).fit(tables[0]).eigenvalues_)
