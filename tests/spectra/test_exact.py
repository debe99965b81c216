"""The exact spectrum of a Gram matrix, against repeated rows, linear solves and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import KFold

from eigenpath.filters import FILTERS, TSVD, Landweber, Tikhonov
from eigenpath.path import Path
from eigenpath.spectra.base import CENTERINGS, Decomposition, Sample
from eigenpath.spectra.exact import ExactDecomposition

N = 30
REPETITIONS = np.arange(N) % 4 * 1.0
FRACTIONS = np.linspace(0.3, 2.7, N)
# Spectra of condition 1e3, filtered by gains up to that.
CLOSE = {"rtol": 1e-8, "atol": 1e-9}

centered = pytest.mark.parametrize("center", CENTERINGS)
normalized = pytest.mark.parametrize("normalize", [True, False])
repeated = pytest.mark.parametrize("weight", [None, REPETITIONS], ids=["unweighted", "repeated"])
any_filter = pytest.mark.parametrize("name", FILTERS)


@pytest.fixture
def points(rng):
    return rng.standard_normal((N + 10, 3))


@pytest.fixture
def K(points):
    """A kernel whose spectrum decays slowly, so that all of it can be compared."""
    return laplacian_kernel(points[:N], gamma=0.2)


@pytest.fixture
def Y(rng):
    return rng.normal([3.0, 0.0], 1.0, (N, 2))


def some_params(filter, t):
    path = filter.path(t)
    return path[np.linspace(0, len(path) - 1, 5).astype(int)]


@centered
@normalized
@repeated
def test_eigenvalues_are_those_of_the_centred_weighted_matrix(K, Y, center, normalize, weight):
    whole = ExactDecomposition(K, Sample(Y, weight, center, normalize))
    w = np.ones(N) if weight is None else weight
    pi = w / w.sum()
    H = np.eye(N) - np.outer(np.ones(N), pi) if center == "features" else np.eye(N)
    A = np.sqrt(w)[:, None] * (H @ K @ H.T) * np.sqrt(w) / (w.sum() if normalize else 1)
    t = whole.spectra[0].t
    assert_allclose(t, np.maximum(np.linalg.eigvalsh(A)[::-1], 0), atol=1e-12)
    U = whole.vectors
    assert_allclose(U.T @ U, np.eye(N), atol=1e-12)
    assert_allclose((U * t) @ U.T, A, atol=1e-12)


@centered
@normalized
@repeated
@any_filter
def test_every_filter_fits_what_the_dense_formula_fits(K, Y, center, normalize, weight, name, dense_path):
    whole, filter = ExactDecomposition(K, Sample(Y, weight, center, normalize)), FILTERS[name]()
    path = Path(whole, filter)
    params = some_params(filter, path.t)[:-1]
    expected = dense_path(K, Y, filter, params, None, weight, center, normalize)
    for param, values in zip(params, expected):
        function = path.coefficients(filter, np.array([param]))
        assert_allclose(K @ function.dual + function.intercept, values, rtol=1e-6, atol=1e-7)
        assert function.primal is None


@centered
@normalized
def test_tikhonov_with_any_weights_is_a_linear_solve(K, Y, center, normalize, solve_path):
    whole, lams = ExactDecomposition(K, Sample(Y, FRACTIONS, center, normalize)), [1.0, 1e-2, 1e-4]
    path = Path(whole, Tikhonov(lam=lams))
    for lam, values in zip(lams, solve_path(K, Y, lams, None, FRACTIONS, center, normalize)):
        function = path.coefficients(path.filter, np.array([lam]))
        assert_allclose(K @ function.dual + function.intercept, values, **CLOSE)


def test_new_points_are_predicted_by_the_kernel_alone(points, Y, dense_path):
    """Rows left out of training stand for new points."""
    everything = laplacian_kernel(points, gamma=0.2)
    train = np.arange(N)
    targets = np.vstack([Y, np.full((10, 2), np.nan)])
    for center in CENTERINGS:
        path = Path(ExactDecomposition(everything[:N, :N], Sample(Y, None, center)), Tikhonov())
        function = path.coefficients(path.filter, np.array([0.01]))
        expected = dense_path(everything, targets, path.filter, [0.01], train, None, center)[0, N:]
        assert_allclose(everything[N:, :N] @ function.dual + function.intercept, expected, **CLOSE)


@centered
@normalized
@repeated
@any_filter
def test_folds_are_refits_on_their_training_parts(K, Y, center, normalize, weight, name, dense_path):
    folds = list(KFold(3, shuffle=True, random_state=0).split(K))
    whole, filter = ExactDecomposition(K, Sample(Y, weight, center, normalize), folds), FILTERS[name]()
    params = some_params(filter, whole.spectra[0].t)[:-1]
    for i, (train, test) in enumerate(folds):
        expected = dense_path(K, Y, filter, params, train, weight, center, normalize)[:, test]
        assert_allclose(whole.held_out(i, filter, params), expected, rtol=1e-6, atol=1e-7)


@centered
@normalized
def test_tikhonovs_three_routes_through_a_fold_agree(K, Y, center, normalize, solve_path, monkeypatch):
    """Tridiagonal solves, eigenvectors of the training part, and the block formula on the whole spectrum."""
    lams, folds = np.array([1.0, 1e-2, 1e-4]), list(KFold(4, shuffle=True, random_state=0).split(K))
    sample, tikhonov = Sample(Y, FRACTIONS, center, normalize), Tikhonov()
    for i, (train, test) in enumerate(folds):
        expected = solve_path(K, Y, lams, train, FRACTIONS, center, normalize)[:, test]
        for cheaper in (True, False):
            monkeypatch.setattr(ExactDecomposition, "_block_is_cheaper", lambda *_, answer=cheaper: answer)
            whole = ExactDecomposition(K, sample, folds)
            assert_allclose(whole.held_out(i, tikhonov, lams), expected, **CLOSE)
            assert bool(whole._folds) is not cheaper
        assert_allclose(Decomposition.held_out(whole, i, tikhonov, lams), expected, **CLOSE)


@pytest.mark.parametrize("center", ["target", None])
def test_the_path_is_scikit_learns_on_the_same_folds(points, Y, center):
    X, lams = points[:N], np.geomspace(1, 1e-6, 7)
    folds = list(KFold(5, shuffle=True, random_state=1).split(X))
    whole = ExactDecomposition(laplacian_kernel(X, gamma=0.2), Sample(Y, None, center), folds)
    for i, (train, test) in enumerate(folds):
        mean = Y[train].mean(axis=0) if center else 0.0
        for lam, predictions in zip(lams, whole.held_out(i, Tikhonov(), lams)):
            model = KernelRidge(alpha=len(train) * lam, kernel="laplacian", gamma=0.2).fit(X[train], Y[train] - mean)
            assert_allclose(predictions, model.predict(X[test]) + mean, rtol=1e-6, atol=1e-6)


def test_the_scale_of_k_is_scikit_learns_alpha(points, Y):
    X, alphas, folds = points[:N], [10.0, 0.1], [(np.arange(20), np.arange(20, N))]
    sample = Sample(Y, FRACTIONS, None, normalize=False)
    whole = ExactDecomposition(laplacian_kernel(X, gamma=0.2), sample, folds)
    for alpha, predictions in zip(alphas, whole.held_out(0, Tikhonov(), np.array(alphas))):
        model = KernelRidge(alpha=alpha, kernel="laplacian", gamma=0.2).fit(X[:20], Y[:20], FRACTIONS[:20])
        assert_allclose(predictions, model.predict(X[20:]), **CLOSE)


@any_filter
@centered
def test_one_parameter_for_each_target_is_one_column_of_each_path(K, Y, center, name):
    filter = FILTERS[name]()
    path = Path(ExactDecomposition(K, Sample(Y, None, center)), filter)
    pair = path.params[[3, 6]]
    both = path.coefficients(filter, pair)
    for j in (0, 1):
        alone = path.coefficients(filter, pair[j : j + 1])
        assert_allclose(both.dual[:, j], alone.dual[:, j])
        assert_allclose(both.intercept[j], alone.intercept[j])


@pytest.mark.parametrize("name", ["Laplacian", "linear"])
def test_kernel_principal_component_regression_is_spectral_cut_off(points, Y, name):
    """Project on m kernel principal components by dense linear algebra, then least squares: the same function."""
    X, new = points[:N], points[N:]
    K, cross = (X @ X.T, new @ X.T) if name == "linear" else (laplacian_kernel(X), laplacian_kernel(new, X))
    rank = 3 if name == "linear" else N - 1
    path = Path(ExactDecomposition(K, Sample(Y, None, "features")), TSVD())
    H = np.eye(N) - 1 / N
    sigma, Q = np.linalg.eigh(H @ K @ H)
    sigma, Q = sigma[::-1], Q[:, ::-1]
    assert path.params[-1] == rank
    for m in range(rank + 1):
        axes = Q[:, :m] / np.sqrt(sigma[:m])
        scores, new_scores = H @ K @ H @ axes, (cross - K.mean(axis=0)) @ H @ axes
        fitted = np.linalg.lstsq(np.column_stack([np.ones(N), scores]), Y)[0]
        expected = np.column_stack([np.ones(len(new)), new_scores]) @ fitted
        function = path.coefficients(path.filter, np.array([m]))
        assert_allclose(cross @ function.dual + function.intercept, expected, rtol=1e-8, atol=1e-8)


def test_duals_of_centred_features_ignore_constants(K, Y):
    for weight in (None, FRACTIONS):
        path = Path(ExactDecomposition(K, Sample(Y, weight, "features")), Tikhonov())
        assert_allclose(path.coefficients(path.filter, np.array([1e-3])).dual.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("weight", [None, FRACTIONS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", ["tikhonov", "showalter"])
def test_centred_features_do_not_see_a_constant_in_the_kernel(rng, name, weight):
    """Fits and folds, however small lam is: a constant of size c costs the digits of ``c / lam``, not of its square."""
    X = rng.standard_normal((N, 5))
    y, K = X[:, :1] + 0.1 * rng.standard_normal((N, 1)), rbf_kernel(X, gamma=1e-3)
    folds, lams, filter = [(np.arange(15), np.arange(15, N))], np.array([1e-4, 1e-6, 1e-8]), FILTERS[name]()
    sample = Sample(y, weight, "features")
    less, more = (ExactDecomposition(kernel, sample, folds) for kernel in (K - K.min(), K + 10))
    assert_allclose(less.held_out(0, filter, lams), more.held_out(0, filter, lams), atol=2e-6)
    for lam in lams:
        one, other = (Path(whole, filter).coefficients(filter, np.array([lam])) for whole in (less, more))
        fits = K @ one.dual + one.intercept, K @ other.dual + other.intercept
        assert_allclose(*(values - values.mean() for values in fits), atol=2e-6)
        assert_allclose(*fits, atol=2e-5)


def test_the_block_formula_is_not_used_where_training_rows_repeat(rng):
    """As many rows as there are, but some twice: only refits know."""
    n = 150
    K, y = rbf_kernel(rng.standard_normal((n, 3))), rng.standard_normal((n, 1))
    rows = np.arange(n)
    for train in (np.r_[0:144, 0:1], np.r_[10:150, 0:5]):
        test = rows[145:] if train[-1] == 0 else rows[5:10]
        whole = ExactDecomposition(K, Sample(y), [(train, test)])
        refit = ExactDecomposition(K[np.ix_(train, train)], Sample(y[train]))
        function = Path(refit, Tikhonov()).coefficients(Tikhonov(), np.array([0.01]))
        expected = K[np.ix_(test, train)] @ function.dual + function.intercept
        assert_allclose(whole.held_out(0, Tikhonov(), np.array([0.01]))[0], expected, **CLOSE)


def test_the_block_formula_is_used_for_small_folds_of_many_rows(rng):
    n, rows = 800, np.arange(800)
    folds = [(rows[20:], rows[:20]), (rows[400:], rows[:400]), (rows[20:790], rows[:20]), (rows, rows[:20])]
    whole = ExactDecomposition(np.eye(n), Sample(np.ones((n, 1))), folds)
    assert [whole._block_is_cheaper(i, 100) for i in range(4)] == [True, False, False, False]


def test_an_indefinite_fold_is_solved_by_its_eigenvectors(rng):
    """Within psd_tol the negative part is cut off, and no factorization fails."""
    values = np.r_[np.linspace(5, 1, 10), np.full(5, -1e-3)]
    Q = np.linalg.qr(rng.standard_normal((15, 15)))[0]
    K, y = (Q * values) @ Q.T, rng.standard_normal((15, 1))
    K, fold, lams = (K + K.T) / 2, [(np.arange(3, 15), np.arange(3))], np.array([1e-2, 1e-6])
    whole = ExactDecomposition(K, Sample(y, None, None), fold, psd_tol=0.1)
    whole.fold(0)
    assert whole._fold(0).solve(lams) is None
    assert_allclose(whole.held_out(0, Tikhonov(), lams), Decomposition.held_out(whole, 0, Tikhonov(), lams))


@any_filter
@centered
def test_decomposing_side_by_side_changes_nothing(K, Y, name, center):
    folds, filter = list(KFold(3).split(K)), FILTERS[name]()
    one, other = (ExactDecomposition(K, Sample(Y, FRACTIONS, center), folds) for _ in range(2))
    other.prepare([filter])
    params = some_params(filter, one.spectra[0].t)
    assert_allclose(one.spectra[0].t, other.spectra[0].t, atol=1e-14)
    for i in range(3):
        assert_allclose(one.held_out(i, filter, params), other.held_out(i, filter, params), rtol=1e-6, atol=1e-7)


def test_the_gram_matrix_is_read_only(K, Y):
    K.flags.writeable = False
    folds = list(KFold(3).split(K))
    for center in CENTERINGS:
        whole = ExactDecomposition(K, Sample(Y, FRACTIONS, center), folds)
        whole.held_out(0, Landweber(), np.array([5]))
        whole.lift([whole.spectra[0].b])


def test_layout_and_precision_of_the_gram_matrix_do_not_matter(K, Y):
    wide = np.empty((N, 2 * N))
    wide[:, ::2] = K
    for other, rtol in ((np.asfortranarray(K), 1e-12), (wide[:, ::2], 1e-12), (K.astype(np.float32), 1e-3)):
        for center in CENTERINGS:
            for weight in (None, FRACTIONS):
                sample = Sample(Y, weight, center)
                paths = [Path(ExactDecomposition(kernel, sample), Tikhonov()) for kernel in (K, other)]
                one, two = (path.coefficients(path.filter, np.array([0.01])) for path in paths)
                assert_allclose(two.dual, one.dual, rtol=rtol, atol=rtol)
                assert two.dual.dtype == np.float64


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_kernel_matrix_with_holes_is_refused(K, Y, bad):
    K[3, 4] = K[4, 3] = bad
    with pytest.raises(ValueError, match="the kernel matrix contains NaN or infinity: check the kernel's parameters"):
        ExactDecomposition(K, Sample(Y))


def test_infinities_of_both_signs_are_refused_without_a_warning(K, Y):
    K[0, 0], K[1, 1] = np.inf, -np.inf
    with pytest.raises(ValueError, match="NaN or infinity"):
        ExactDecomposition(K, Sample(Y))


@centered
def test_an_indefinite_kernel_is_refused_unless_psd_tol_allows_it(K, Y, center):
    K -= 0.5 * np.eye(N)
    with pytest.raises(
        ValueError, match=r"kernel matrix is not positive semidefinite: its smallest eigenvalue is -0\.\d+"
    ):
        _ = ExactDecomposition(K, Sample(Y, None, center)).spectra
    whole = ExactDecomposition(K, Sample(Y, None, center), [(np.arange(20), np.arange(20, N))], psd_tol=1.0)
    assert whole.spectra[0].t[-1] == 0
    with pytest.raises(ValueError, match="not positive semidefinite"):
        _ = ExactDecomposition(K, Sample(Y, None, center), psd_tol=1e-3).spectra


@pytest.mark.parametrize("value", [1.0, 0.1, 0.3, 1e6])
@pytest.mark.parametrize("n", [1, 2, 5, 50, 800])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_are_equal_to_the_kernel_leave_nothing_to_learn(value, n, weighted, rng):
    sample = Sample(rng.standard_normal((n, 1)), rng.uniform(0.1, 2, n) if weighted else None, "features")
    with pytest.raises(
        ValueError, match="nothing to learn from: after centring, all rows of X look equal to the kernel"
    ):
        Path(ExactDecomposition(np.full((n, n), value), sample), Tikhonov())


@any_filter
def test_a_fold_of_equal_rows_predicts_their_mean(rng, name):
    X, y = rng.standard_normal((12, 2)), rng.standard_normal((12, 1))
    X[4:] = X[4]
    whole = ExactDecomposition(rbf_kernel(X), Sample(y, None, "features"), [(np.arange(4, 12), np.arange(4))])
    filter = FILTERS[name]()
    predictions = whole.held_out(0, filter, some_params(filter, whole.spectra[0].t)[:-1])
    assert_allclose(predictions, np.broadcast_to(y[4:].mean(), predictions.shape), atol=1e-8)


@pytest.mark.parametrize("gamma", [1e-3, 1e-6])
def test_absent_rows_do_not_move_the_path_of_a_wide_kernel(rng, gamma):
    X, y, weight = rng.standard_normal((300, 3)), rng.standard_normal((300, 1)), np.zeros(300)
    weight[:40] = 1
    K = rbf_kernel(X, gamma=gamma)
    for filter in (Tikhonov(), TSVD()):
        one = Path(ExactDecomposition(K, Sample(y, weight, "features")), filter)
        other = Path(ExactDecomposition(K[:40, :40], Sample(y[:40], None, "features")), filter)
        # The last eigenvalue above rounding level is known to a digit.
        assert_allclose(one.params, other.params, rtol=0.5)


@centered
def test_absent_rows_have_no_degrees_of_freedom_however_small_lam_is(rng, center):
    """Their eigenvalues are zero, and not the rounding errors of either sign that LAPACK finds there."""
    weight = np.where(rng.permutation(90) < 30, rng.uniform(0.3, 2.7, 90), 0)
    K = rbf_kernel(rng.standard_normal((90, 3)), gamma=3.0)
    path = Path(ExactDecomposition(K, Sample(np.ones((90, 1)), weight, center)), Tikhonov(lam=[1e-18]))
    assert np.all(path.t[30 - (center == "features") :] == 0)
    assert_allclose(path.degrees_of_freedom, 30, rtol=1e-9)


@pytest.mark.parametrize("gamma", [1e-6, 1e-9, 1e-12])
def test_a_very_wide_kernel_is_not_mistaken_for_an_indefinite_one(rng, gamma):
    """Centring leaves little more than rounding errors, of either sign."""
    X, y = rng.standard_normal((60, 3)), rng.standard_normal((60, 1))
    whole = ExactDecomposition(rbf_kernel(X, gamma=gamma), Sample(y, None, "features"))
    t = whole.spectra[0].t
    # A kernel as wide as that is linear: three directions, and nothing in any other.
    linear = 2 * gamma * np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    assert_allclose(t[:3], linear, rtol=1e-2 + 60 * np.finfo(float).eps / gamma)
    assert np.all(t[3:] < 1e-3 * t[0])


@centered
def test_one_row_is_decomposed(center):
    whole = ExactDecomposition(np.array([[4.0]]), Sample(np.array([[3.0]]), None, center))
    assert_allclose(whole.spectra[0].t, [0 if center == "features" else 4])
    assert_allclose(whole.vectors, [[1]])


def test_two_folds_of_one_row_each(rng):
    X, y = rng.standard_normal((2, 2)), rng.standard_normal((2, 1))
    rows = np.arange(2)
    for center in CENTERINGS:
        whole = ExactDecomposition(rbf_kernel(X), Sample(y, None, center), [(rows[1:], rows[:1]), (rows[:1], rows[1:])])
        for i in rows:
            other = 1 - i
            k, mean = float(rbf_kernel(X)[0, 1]), y[other, 0] if center else 0.0
            expected = mean + (0 if center == "features" else k * (y[other, 0] - mean) / 1.5)
            assert_allclose(whole.held_out(int(i), Tikhonov(), np.array([0.5])), [[[expected]]])
