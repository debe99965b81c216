"""What a path says of every parameter, against the fits themselves."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import sqrtm
from sklearn.metrics.pairwise import rbf_kernel

from eigenpath.filters import FILTERS, TSVD, Landweber, Tikhonov
from eigenpath.path import Path
from eigenpath.selection import GCV, KFoldCV, Task
from eigenpath.spectra.base import CENTERINGS, Coefficients, Decomposition, Sample, Spectrum
from eigenpath.spectra.exact import ExactDecomposition
from eigenpath.spectra.primal import PrimalDecomposition

N = 25
WEIGHTS = {"unweighted": None, "fractions": np.linspace(0.3, 2.7, N), "some absent": np.arange(N) % 4 * 0.5}
# Fits by coefficients that grow up to 1e4 as large as the targets.
CLOSE = {"rtol": 1e-6, "atol": 1e-8}

centered = pytest.mark.parametrize("center", CENTERINGS)
normalized = pytest.mark.parametrize("normalize", [True, False])
weighted = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
any_filter = pytest.mark.parametrize("name", FILTERS)


@pytest.fixture
def K(rng):
    return rbf_kernel(rng.standard_normal((N, 3)), gamma=0.3)


@pytest.fixture
def Y(rng):
    return rng.normal([3.0, 0.0], 1.0, (N, 2))


def sparse_path(decomposition, filter):
    """A few points of the default path, away from rounding level."""
    params = filter.path(decomposition.spectra[0].t)
    return Path(decomposition, filter, params[np.linspace(0, 0.7 * len(params), 6).astype(int)])


def functions(path):
    return [path.coefficients(path.filter, path.params[i : i + 1]) for i in range(len(path))]


@any_filter
@centered
@normalized
@weighted
def test_training_error_and_norm_are_those_of_the_functions(K, Y, name, center, normalize, weight):
    path = sparse_path(ExactDecomposition(K, Sample(Y, weight, center, normalize)), FILTERS[name]())
    w = np.ones(N) if weight is None else weight
    for i, function in enumerate(functions(path)):
        fits = K @ function.dual + function.intercept
        assert_allclose(path.training_error[i], np.average((Y - fits) ** 2, axis=0, weights=w), **CLOSE)
        square = np.einsum("ik,ij,jk->k", function.dual, K, function.dual)
        assert_allclose(path.norm[i], np.sqrt(np.maximum(square, 0)), **CLOSE)


@any_filter
@centered
@normalized
@weighted
def test_degrees_of_freedom_are_the_trace_from_targets_to_fits(K, name, center, normalize, weight):
    """Column i of that matrix is what is fitted to the i-th unit target."""
    path = sparse_path(ExactDecomposition(K, Sample(np.eye(N), weight, center, normalize)), FILTERS[name]())
    for i, function in enumerate(functions(path)):
        assert_allclose(path.degrees_of_freedom[i], np.trace(K @ function.dual + function.intercept), **CLOSE)


@centered
@weighted
def test_degrees_of_freedom_of_features_are_the_same(rng, center, weight):
    Z = rng.standard_normal((N, 4)) + 1
    path = sparse_path(PrimalDecomposition(Z, Sample(np.eye(N), weight, center)), Tikhonov())
    for i, function in enumerate(functions(path)):
        assert_allclose(path.degrees_of_freedom[i], np.trace(Z @ function.primal + function.intercept), **CLOSE)


@centered
@weighted
def test_what_features_cannot_express_stays_an_error(rng, Y, center, weight):
    Z, w = rng.standard_normal((N, 4)) + 1, np.ones(N) if weight is None else weight
    path = sparse_path(PrimalDecomposition(Z, Sample(Y, weight, center)), Tikhonov())
    for i, function in enumerate(functions(path)):
        residual = Y - Z @ function.primal - function.intercept
        assert_allclose(path.training_error[i], np.average(residual**2, axis=0, weights=w), **CLOSE)


@centered
@weighted
def test_interpolation_has_as_many_degrees_of_freedom_as_rows(rng, center, weight):
    K, rows = rbf_kernel(rng.standard_normal((N, 3)), gamma=3.0), N if weight is None else np.count_nonzero(weight)
    path = Path(ExactDecomposition(K, Sample(np.ones((N, 1)), weight, center)), Tikhonov(lam=[1e-14]))
    assert_allclose(path.degrees_of_freedom, rows, rtol=1e-9)


def test_components_count_those_of_which_half_is_kept(K, Y):
    path = Path(ExactDecomposition(K, Sample(Y)), Tikhonov())
    assert_array_equal(path.components, [(path.t >= lam * (1 - 1e-12)).sum() for lam in path.params])
    by_count = Path(ExactDecomposition(K, Sample(Y)), TSVD())
    assert_array_equal(by_count.components, by_count.params)


@any_filter
@centered
def test_a_path_starts_at_the_mean_and_ends_with_the_data(K, Y, name, center):
    path = Path(ExactDecomposition(K, Sample(Y, None, center)), FILTERS[name]())
    nothing = (Y**2).mean(axis=0) if center is None else Y.var(axis=0)
    assert_allclose(path.training_error[0], nothing, rtol=0.03)
    assert np.all(path.training_error[-1] < 0.01 * nothing)
    assert np.all(path.norm[0] < 0.05 * path.norm[-1])


def test_given_parameters_replace_the_filters_own(K, Y):
    whole = ExactDecomposition(K, Sample(Y))
    assert len(Path(whole, Landweber())) > 10
    path = Path(whole, Landweber(), [3, 5])
    assert_array_equal(path.params, [3, 5])
    assert_allclose(path.training_error, Path(whole, Landweber(n_iter=[5, 3])).training_error)
    assert repr(path) == "Path(Landweber(), 2 values of n_iter)"


def test_held_out_predictions_are_the_decompositions(K, Y):
    whole = ExactDecomposition(K, Sample(Y), [(np.arange(20), np.arange(20, N))])
    path = Path(whole, Tikhonov(lam=[1.0, 0.1]))
    assert_array_equal(path.held_out(0), whole.held_out(0, path.filter, path.params))
    assert path.held_out(0).shape == (2, 5, 2)


def test_the_norm_is_that_of_the_function_in_the_features_space(rng, Y):
    """For explicit features it is the length of the primal coefficients."""
    Z = rng.standard_normal((N, 4))
    path = sparse_path(PrimalDecomposition(Z, Sample(Y, None, "features")), Tikhonov())
    for i, function in enumerate(functions(path)):
        assert_allclose(path.norm[i], np.linalg.norm(function.primal, axis=0))
    root = np.real(sqrtm(Z @ Z.T))
    last = functions(path)[-1]
    assert_allclose(path.norm[-1], np.linalg.norm(root @ last.dual, axis=0), rtol=1e-5)


def test_columns_make_a_data_frame(K, Y):
    path = Path(ExactDecomposition(K, Sample(Y)), Landweber(n_iter=[1, 10, 100]))
    frame = pd.DataFrame(path.as_dict())
    assert list(frame) == ["n_iter", "training_error", "norm", "degrees_of_freedom", "components"]
    assert_array_equal(frame["n_iter"], [1, 10, 100])
    assert_allclose(frame["training_error"], path.training_error.mean(axis=1))
    assert_allclose(frame["norm"] ** 2, (path.norm**2).mean(axis=1))


def test_a_rules_scores_become_columns(K, Y):
    whole = ExactDecomposition(K, Sample(Y), [(np.arange(20), np.arange(20, N)), (np.arange(5, N), np.arange(5))])
    path = Path(whole, Tikhonov())
    GCV().choose(path, Task())
    assert list(path.as_dict())[-1] == "score"
    KFoldCV().choose(path, Task())
    columns = path.as_dict()
    assert list(columns)[-2:] == ["score", "score_std"]
    assert_allclose(columns["score"], path.scores.mean(axis=1))
    assert len(pd.DataFrame(columns)) == 100


@any_filter
def test_a_released_path_keeps_its_record_and_lets_go_of_the_data(K, Y, name):
    whole = ExactDecomposition(K, Sample(Y), [(np.arange(20), np.arange(20, N))])
    path = Path(whole, FILTERS[name]())
    KFoldCV().choose(path, Task())
    before = path.as_dict()
    assert path.release() is path
    copy = pickle.loads(pickle.dumps(path))
    for mine in (path, copy):
        for key, values in before.items():
            assert_array_equal(mine.as_dict()[key], values)
        assert_allclose(mine.gains(), mine.filter.gains(path.t, path.params))
        with pytest.raises(RuntimeError, match="this path was released after fit: refit to evaluate it on other folds"):
            mine.held_out(0)
        with pytest.raises(RuntimeError, match="this path was released"):
            mine.coefficients(mine.filter, mine.params[:1])
    # A table of gains is p by n, K is n by n: neither is in it.
    assert len(pickle.dumps(path)) < 20_000 < len(pickle.dumps(Path(whole, Tikhonov())))


def test_a_kernel_that_is_zero_is_refused(Y):
    with pytest.raises(ValueError, match="the kernel matrix is zero, so there is nothing to learn from"):
        Path(ExactDecomposition(np.zeros((N, N)), Sample(Y)), Tikhonov())


class PerTarget(Decomposition):
    """The same data, one spectrum for each target, as iterative solvers have it."""

    def __init__(self, whole):
        super().__init__(whole.sample)
        self.whole = whole

    @property
    def spectra(self):
        s = self.whole.spectra[0]
        columns = [slice(k, k + 1) for k in range(s.b.shape[1])]
        return [Spectrum(s.t, s.b[:, c], s.outside[c], c, s.constant) for c in columns]

    def fold(self, i):
        return []

    def lift(self, coordinates):
        return Coefficients(*self.whole.lift([np.hstack(coordinates)]))


@any_filter
def test_a_spectrum_for_each_target_says_the_same(K, Y, name):
    whole = ExactDecomposition(K, Sample(Y))
    one, other = Path(whole, FILTERS[name]()), Path(PerTarget(whole), FILTERS[name]())
    assert_allclose(other.training_error, one.training_error, atol=1e-12)
    assert_allclose(other.norm, one.norm, atol=1e-12)
    assert_allclose(other.degrees_of_freedom, one.degrees_of_freedom)
    for params in (one.params[5:6], one.params[[5, 8]]):
        mine, same = (path.coefficients(path.filter, params) for path in (one, other))
        assert_allclose(same.dual, mine.dual)
    with pytest.raises(NotImplementedError, match="PerTarget has no eigenvectors"):
        _ = other.decomposition.vectors


def test_part_of_a_spectrum_says_nothing_of_degrees_of_freedom(K, Y):
    whole = PerTarget(ExactDecomposition(K, Sample(Y)))
    whole.complete = False
    assert np.all(np.isnan(Path(whole, Tikhonov()).degrees_of_freedom))
