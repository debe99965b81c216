"""One penalty, one solve."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

import eigenpath
from eigenpath.spectra.direct import solve_features, solve_gram

N = 30
WEIGHTS = {"unweighted": None, "weighted": np.linspace(0.3, 2.7, N)}
weighted = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
# Lengths of 5 and a square number of rows of each kind: pivots that are zero are so without rounding.
KINDS = np.c_[3 * np.eye(5), 4 * np.ones(5)]
COLLINEAR = np.tile(KINDS, (4, 1))


@pytest.fixture
def X(rng):
    return rng.standard_normal((N, 4))


@pytest.fixture
def Y(rng):
    return rng.standard_normal((N, 3))


@weighted
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("alphas", [[1.0], [1.0, 0.1, 1.0], [3.0, 2.0, 1e-3]])
def test_each_target_is_a_solve_with_its_own_alpha(X, Y, weight, order, alphas):
    K = rbf_kernel(X)
    w = np.ones(N) if weight is None else weight
    solved = solve_gram(np.array(K, order=order), Y, np.array(alphas), weight)
    for j, alpha in enumerate(np.broadcast_to(alphas, 3)):
        assert_allclose(solved[:, j], np.linalg.solve(K + np.diag(alpha / w), Y[:, j]), rtol=1e-9, atol=1e-10)


@weighted
def test_it_is_scikit_learns_kernel_ridge(X, Y, weight):
    model = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.25).fit(X, Y, weight)
    assert_allclose(solve_gram(rbf_kernel(X), Y, np.array([0.3]), weight), model.dual_coef_, rtol=1e-9)


def test_rows_without_weight_get_no_coefficient(X, Y):
    weight = np.arange(N) % 2 * 1.0
    solved = solve_gram(rbf_kernel(X), Y, np.array([0.5]), weight)
    assert_allclose(solved[::2], 0)
    assert_allclose(solved[1::2], solve_gram(rbf_kernel(X[1::2]), Y[1::2], np.array([0.5])), rtol=1e-9)


def test_single_precision_stays_single(X, Y):
    K = rbf_kernel(X).astype(np.float32)
    solved = solve_gram(K.copy(), Y.astype(np.float32), np.array([0.5]), WEIGHTS["weighted"])
    assert solved.dtype == np.float32
    expected = solve_gram(K.astype(float), Y, np.array([0.5]), WEIGHTS["weighted"])
    assert_allclose(solved, expected, rtol=1e-3, atol=1e-4)


def test_the_gram_matrix_is_overwritten_and_not_copied(X, Y):
    K = rbf_kernel(X)
    keep = K.copy()
    solve_gram(K, Y, np.array([0.5]))
    assert not np.array_equal(K, keep)


@weighted
@pytest.mark.parametrize("order", "CF")
def test_a_singular_matrix_gets_the_least_squares_solution_and_a_warning(Y, weight, order):
    """A minor that is exactly negative, after a few that are not, so that the factorization has begun to overwrite."""
    K = np.array(np.diag(np.r_[np.full(N - 1, 2.0), 0.0]), order=order)
    K[0, 1] = K[1, 0] = 1.0
    w = np.ones(N) if weight is None else weight
    root = np.sqrt(w)[:, None]
    expected = root * np.linalg.lstsq(root * K * root.T, root * Y)[0]
    with pytest.warns(LinAlgWarning, match=r"plus alpha is singular: using the least-squares solution\. Raise alpha"):
        solved = solve_gram(K.copy(order=order), Y, np.array([0.0]), weight)
    assert_allclose(solved, expected, atol=1e-10)


@pytest.mark.parametrize("route", ["gram", "features"])
def test_the_warning_points_at_who_called(Y, route):
    """At the caller of `fit`, like scikit-learn's."""
    kernel, X = ("linear", COLLINEAR) if route == "features" else ("precomputed", np.zeros((20, 20)))
    with pytest.warns(LinAlgWarning) as caught:
        eigenpath.KernelRidge(1e-18 if route == "features" else 0, kernel=kernel).fit(X, Y[:20])
    assert [one.filename for one in caught] == [__file__]


def test_one_singular_alpha_leaves_the_others_alone(X, Y):
    K = np.diag(np.r_[np.ones(N - 1), 0.0])
    with pytest.warns(LinAlgWarning):
        solved = solve_gram(K.copy(), Y, np.array([0.0, 1.0, 2.0]))
    for j in (1, 2):
        assert_allclose(solved[:, j], np.linalg.solve(K + j * np.eye(N), Y[:, j]))
    assert_allclose(solved[:, 0], np.r_[Y[:-1, 0], 0])


@weighted
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_features_give_the_same_function(X, Y, weight, kind, alpha):
    dual, primal = solve_features(kind(X), Y, alpha, weight)
    expected = solve_gram(X @ X.T, Y, np.array([alpha]), weight)
    # The difference of targets and fits, over alpha, loses the digits of that ratio.
    assert_allclose(dual, expected, rtol=1e-7, atol=1e-12 / alpha)
    assert_allclose(primal, X.T @ expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weight", [None, np.repeat([1.0, 2.0, 1.0, 0.0], 5)], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_collinear_features_get_the_least_squares_solution_and_a_warning(Y, weight, kind):
    """That of least norm, in which alpha counts for nothing."""
    Y, root = Y[:20], np.ones((20, 1)) if weight is None else np.sqrt(weight)[:, None]
    with pytest.warns(LinAlgWarning, match=r"plus alpha is singular: using the least-squares solution\. Raise alpha"):
        dual, primal = solve_features(kind(COLLINEAR), Y, 1e-18, weight)
    A = root * COLLINEAR
    assert_allclose(dual, root * (np.linalg.pinv(A @ A.T, rcond=1e-10, hermitian=True) @ (root * Y)), atol=1e-14)
    assert_allclose(primal, np.linalg.pinv(A, rcond=1e-10) @ (root * Y), atol=1e-14)
    assert_allclose(primal, COLLINEAR.T @ dual, atol=1e-14)


@pytest.mark.parametrize(("route", "n"), [("features", 2000), ("gram", 500)])
def test_the_least_squares_solution_is_not_made_of_rounding(route, n):
    """Rows of five kinds get the means of their kinds; zero eigenvalues are off by more, the more rows there are."""
    X, y = np.tile(KINDS, (n // 5, 1)), np.arange(float(n))
    X, kernel = (X, "linear") if route == "features" else (X @ X.T, "precomputed")
    with pytest.warns(LinAlgWarning, match="least-squares"):
        model = eigenpath.KernelRidge(1e-18, kernel=kernel).fit(X, y)
    assert_allclose(model.predict(X).reshape(-1, 5), [y.reshape(-1, 5).mean(axis=0)] * (n // 5), rtol=1e-9)
    assert np.abs(model.dual_coef_).max() < 1


def test_the_least_squares_solution_is_scikit_learns():
    y = np.arange(20.0)
    with pytest.warns(LinAlgWarning):
        ours = eigenpath.KernelRidge(1e-18).fit(COLLINEAR, y)
    with pytest.warns(UserWarning, match="Singular matrix"):
        theirs = KernelRidge(1e-18).fit(COLLINEAR, y)
    assert_allclose(ours.predict(COLLINEAR), theirs.predict(COLLINEAR), rtol=1e-9)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-9)
