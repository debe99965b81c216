"""Rules for gamma: definitions, weights as repetitions, seeds, constant data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from eigenpath.kernels import KERNELS, RBF, Chi2, Laplacian, Polynomial
from eigenpath.kernels.bandwidth import N_SAMPLE, _weighted_median, median_gamma, scale_gamma

METRICS = sorted({KERNELS[name]().metric for name in KERNELS} - {None})


@pytest.fixture
def X(rng):
    return rng.gamma(2.0, size=(60, 4))


def test_none_is_one_over_the_number_of_features_or_one_for_chi2(X):
    assert RBF().resolve(X).gamma == Polynomial().resolve(X).gamma == 0.25
    assert Chi2().resolve(X).gamma == 1.0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
def test_scale_is_that_of_support_vector_machines(form, X, rng):
    X = np.where(rng.uniform(size=X.shape) < 0.5, X, 0)
    rows = form(X)
    # Float32 rows are the rounded ones; their sums are in float64.
    assert scale_gamma(rows) == pytest.approx(
        SVC().fit(X, X[:, 0] > 0)._gamma, rel=1e-6 if form is np.float32 else 1e-13
    )


def test_scale_is_good_at_a_large_offset(X):
    assert scale_gamma(1e8 + X) == pytest.approx(scale_gamma(X), rel=1e-7)


@pytest.mark.parametrize(
    "metric, distances",
    [("sqeuclidean", "sqeuclidean"), ("cityblock", "cityblock"), ("chi2", lambda x, z: ((x - z) ** 2 / (x + z)).sum())],
)
def test_median_is_that_of_all_pairs(metric, distances, X):
    assert median_gamma(X, metric=metric) == pytest.approx(1 / np.median(pdist(X, distances)), rel=1e-12)


def test_each_kernel_uses_its_own_distance(X):
    assert RBF("median").resolve(X).gamma == median_gamma(X)
    assert Laplacian("median").resolve(X).gamma == median_gamma(X, metric="cityblock")
    assert Chi2("median").resolve(X).gamma == median_gamma(X, metric="chi2")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("rule", [scale_gamma, *(lambda X, w=None, m=m: median_gamma(X, w, metric=m) for m in METRICS)])
def test_weights_are_repetitions_and_zero_is_absence(rule, form, X, rng):
    """In any order of the repeated rows; the weights' scale does not matter."""
    if form is sp.csr_array and rule is not scale_gamma:
        rule = median_gamma
    w = rng.integers(0, 4, len(X))
    repeated = rng.permutation(np.repeat(X, w, axis=0))
    assert rule(form(X), w) == pytest.approx(rule(form(repeated)), rel=1e-13)
    assert rule(form(X), 0.1 * w) == pytest.approx(rule(form(repeated)), rel=1e-13)
    assert abs(rule(form(X), w) / rule(form(X)) - 1) > 1e-4


@pytest.mark.parametrize("n", [40, 41])
def test_the_weighted_median_counts_as_repetition_does(n, rng):
    values, w = rng.standard_normal(n), rng.integers(1, 5, n)
    assert _weighted_median(values, w.astype(float)) == np.median(np.repeat(values, w))
    assert _weighted_median(values, np.full(n, 0.1)) == np.median(values)


def test_the_median_leaves_out_equal_rows(X):
    """Three copies of everything add zeros only, which do not count."""
    assert median_gamma(np.tile(X, (3, 1))) == pytest.approx(median_gamma(X), rel=1e-13)


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_constant_data(rule):
    X = np.full((7, 3), 0.3)
    assert RBF(rule).resolve(X).gamma == 1.0
    assert RBF(rule).resolve(X[:1]).gamma == 1.0
    assert RBF(rule).resolve(sp.csr_array(X)).gamma == 1.0
    assert RBF(rule).resolve(sp.csr_array((5, 3))).gamma == 1.0


def test_scale_of_a_sparse_matrix_with_an_entry_stored_twice():
    X = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert scale_gamma(X) == pytest.approx(scale_gamma(X.toarray()))


class TestManyRows:
    """Above `N_SAMPLE` rows the median is that of a sample."""

    @pytest.fixture
    def X(self, rng):
        return rng.standard_normal((N_SAMPLE + 500, 3))

    def test_it_is_close_to_the_median_of_all(self, X):
        # The median of the pairs of 1000 rows is good to about 2 %.
        assert median_gamma(X) == pytest.approx(1 / np.median(pdist(X, "sqeuclidean")), rel=0.1)

    def test_seeds(self, X):
        assert median_gamma(X) == median_gamma(X)
        assert median_gamma(X, random_state=1) == median_gamma(X, random_state=1)
        assert median_gamma(X, random_state=1) != median_gamma(X, random_state=2)
        assert RBF("median").resolve(X, random_state=1).gamma == median_gamma(X, random_state=1)

    def test_weights_are_repetitions(self, X, rng):
        w = rng.integers(0, 4, len(X))
        assert (w > 0).sum() > N_SAMPLE
        assert_allclose(median_gamma(X, w), median_gamma(np.repeat(X, w, axis=0)), rtol=1e-12)

    def test_rows_of_weight_zero_are_never_drawn(self, X):
        w = np.ones(len(X))
        w[::10] = 0
        spoiled = X.copy()
        spoiled[::10] = np.nan
        assert median_gamma(spoiled, w) == median_gamma(X, w)


def test_errors(X):
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(60,\), got \(59,\)"):
        RBF("scale").resolve(X, np.ones(59))
    with pytest.raises(ValueError, match="gamma='median' is for kernels of a distance, and Polynomial is not one"):
        Polynomial(gamma="median").resolve(X)
