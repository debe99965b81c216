"""KernelPCR: least squares on kernel principal components, in one step and in two."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA, KernelPCA
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

from eigenpath import TSVD, KernelPCR, SpectralRegressor
from eigenpath.kernels import RBF, Polynomial

GAMMA = 0.4
PARAMS = {"rbf": {"gamma": GAMMA}, "poly": {"gamma": 0.2, "degree": 2, "coef0": 1}, "linear": {}}


@pytest.fixture
def data(rng):
    X = rng.standard_normal((55, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1] + 3, X[:, 2] ** 2]) + 0.2 * rng.standard_normal((55, 2))
    return X[:40], Y[:40], X[40:]


def two_steps(n_components, kernel="rbf"):
    """scikit-learn's projections, then ordinary least squares on them."""
    return make_pipeline(KernelPCA(n_components, kernel=kernel, **PARAMS[kernel]), LinearRegression())


@pytest.mark.parametrize(
    ("kernel", "m"),
    [("rbf", m) for m in range(1, 40)] + [("poly", m) for m in range(1, 10)] + [("linear", m) for m in (1, 2, 3)],
)
def test_one_step_is_kernel_pca_and_least_squares_at_new_points(kernel, m, data):
    X, Y, new = data
    model = KernelPCR(m, kernel=kernel, **PARAMS[kernel]).fit(X, Y)
    assert model.n_components_ == m
    expected = two_steps(m, kernel).fit(X, Y)
    assert_allclose(model.predict(new), expected.predict(new), rtol=1e-8, atol=1e-8)
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-8, atol=1e-8)


def test_it_is_spectral_cut_off_with_centred_features(data):
    X, Y, new = data
    pcr = KernelPCR(gamma=GAMMA).fit(X, Y)
    cut = SpectralRegressor(gamma=GAMMA, filter="tsvd", center="features").fit(X, Y)
    assert_array_equal(pcr.predict(new), cut.predict(new))
    assert_array_equal(pcr.path_.params, cut.path_.params)
    other = SpectralRegressor(gamma=GAMMA, filter=TSVD(pcr.n_components_)).fit(X, Y)
    assert not np.allclose(pcr.predict(new), other.predict(new), rtol=1e-3), "centring the target alone is not PCA"


def test_every_component_count_of_the_path_is_scored_as_by_refits_in_two_steps(data):
    X, Y, _ = data
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    model = KernelPCR(gamma=GAMMA, cv=folds).fit(X, Y)
    assert_array_equal(model.path_.params, np.arange(40))
    assert_array_equal(model.path_.components, np.arange(40))
    for m in (1, 4, 11, 19, 25):
        scores = cross_val_score(two_steps(m), X, Y, cv=folds, scoring="neg_mean_squared_error")
        assert_allclose(model.path_.fold_scores[:, m].mean(axis=1), -scores, rtol=1e-7)
    assert model.n_components_ == model.path_.scores.mean(axis=1).argmin()
    assert_allclose(model.path_.degrees_of_freedom, 1 + np.arange(40), rtol=1e-10)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_share_of_variance_is_reached_by_the_fewest_components(kernel, share, data):
    X, Y, _ = data
    K = rbf_kernel(X, gamma=GAMMA) if kernel == "rbf" else X @ X.T
    H = np.eye(40) - 1 / 40
    t = np.linalg.eigvalsh(H @ K @ H)[::-1]
    m = KernelPCR(share, kernel=kernel, gamma=GAMMA).fit(X, Y).n_components_
    assert t[:m].sum() >= share * t.sum() > t[: m - 1].sum()
    if kernel == "linear":
        assert m == PCA(share).fit(X).n_components_


def test_a_threshold_keeps_the_components_that_reach_it(data):
    X, Y, new = data
    t = KernelPCR(3, gamma=GAMMA).fit(X, Y).path_.t
    for m in (1, 5, 20):
        lam = np.sqrt(t[m - 1] * t[m])
        model = KernelPCR(lam=lam, gamma=GAMMA).fit(X, Y)
        assert model.n_components_ == m
        assert_allclose(model.predict(new), KernelPCR(m, gamma=GAMMA).fit(X, Y).predict(new), rtol=1e-12)
    chosen = KernelPCR(lam=np.geomspace(t[0], t[30], 40), gamma=GAMMA).fit(X, Y)
    assert chosen.n_components_ == np.sum(t >= chosen.choice_.params[0])


def test_one_of_several_counts_is_chosen(data):
    X, Y, _ = data
    model = KernelPCR([2, 30, 8, 0.5], gamma=GAMMA).fit(X, Y)
    assert_array_equal(model.path_.params, [0.5, 2, 8, 30])
    assert model.choice_.index[0] == model.path_.scores.mean(axis=1).argmin()
    assert isinstance(model.n_components_, int)


def test_each_target_may_have_its_own_count(data):
    X, Y, new = data
    model = KernelPCR(gamma=GAMMA, per_target=True).fit(X, Y)
    apart = [KernelPCR(gamma=GAMMA).fit(X, y) for y in Y.T]
    assert_array_equal(model.n_components_, [one.n_components_ for one in apart])
    assert_allclose(model.predict(new), np.column_stack([one.predict(new) for one in apart]), rtol=1e-9)


def test_counts_beyond_the_rank_keep_all_and_zero_keeps_the_mean(data):
    X, Y, new = data
    assert KernelPCR(1000, kernel="linear").fit(X, Y).n_components_ == 3
    full = KernelPCR(1000, kernel="linear").fit(X, Y)
    assert_allclose(full.predict(new), LinearRegression().fit(X, Y).predict(new), rtol=1e-9)
    mean = np.broadcast_to(Y.mean(axis=0), (15, 2))
    assert_allclose(KernelPCR(0, gamma=GAMMA).fit(X, Y).predict(new), mean, rtol=1e-12)


@pytest.mark.parametrize("kernel", [RBF(GAMMA), Polynomial(2, gamma=0.2)], ids=["rbf", "poly"])
def test_weights_are_repetitions(kernel, data, rng):
    X, Y, new = data
    weight = rng.integers(0, 4, 40)
    rows = np.repeat(np.arange(40), weight)
    for m in (2, 5, 0.8):
        weighted, repeated = (
            KernelPCR(m, kernel=kernel).fit(X, Y, weight),
            KernelPCR(m, kernel=kernel).fit(X[rows], Y[rows]),
        )
        assert weighted.n_components_ == repeated.n_components_
        assert_allclose(weighted.predict(new), repeated.predict(new), rtol=1e-8)


def test_regularizing_again_does_not_help(rng):
    """Ridge on the best number of components, over any penalty, gains next to nothing on 2000 new rows."""
    X = rng.standard_normal((2080, 40)) * np.geomspace(2, 0.2, 40)
    y = X @ np.geomspace(1, 0.01, 40) + rng.standard_normal(2080)
    model = KernelPCR(kernel="linear").fit(X[:80], y[:80])
    m = model.n_components_
    assert 0 < m < 40
    once = np.mean((model.predict(X[80:]) - y[80:]) ** 2)
    errors = []
    for alpha in np.geomspace(1e-6, 1e4, 30):
        again = make_pipeline(PCA(m), Ridge(alpha)).fit(X[:80], y[:80])
        errors.append(np.mean((again.predict(X[80:]) - y[80:]) ** 2))
    assert_allclose(errors[0], once, rtol=1e-5)
    assert min(errors) > 0.95 * once


def test_its_gamma_is_chosen_with_the_count(data):
    X, Y, _ = data
    model = KernelPCR().fit(X, Y)
    assert len({one.kernel.gamma for one in model.candidates_}) >= 7
    assert model.choice_.value == min(one.value for one in model.candidates_)
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    steps = make_pipeline(KernelPCA(model.n_components_, kernel="rbf", gamma=model.kernel_.gamma), LinearRegression())
    error = ((cross_val_predict(steps, X, Y, cv=folds) - Y) ** 2).mean()
    assert_allclose(model.choice_.value, error, rtol=1e-6)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 1.5}, r"n_components of TSVD must be whole numbers, or shares of variance .* got 1.5"),
        ({"n_components": -1}, r"n_components of TSVD must be whole numbers, .* got -1"),
        ({"n_components": "all"}, r"n_components of TSVD must be whole numbers, .* got 'all'"),
        ({"n_components": []}, r"n_components of TSVD must be a number or a one-dimensional array, got \[\]"),
        ({"n_components": 2, "lam": 0.1}, r"takes n_components or lam, not both: got n_components=2, lam=0.1"),
        ({"lam": -0.1}, r"lam of TSVD must be positive, got -0.1"),
    ],
)
def test_mistakes_are_named(params, message, data):
    X, Y, _ = data
    with pytest.raises(ValueError, match=message):
        KernelPCR(**params).fit(X, Y)


def test_centring_is_no_option():
    with pytest.raises(ValueError, match="Invalid parameter 'center'"):
        KernelPCR().set_params(center=None)


def test_the_summary_counts_components(data):
    X, Y, _ = data
    model = KernelPCR(gamma=GAMMA).fit(X, Y)
    text = model.summary()
    assert "KernelPCR: TSVD on 40 rows" in text
    assert f"n_components              {model.n_components_}\n" in text
    assert f"degrees of freedom        {model.n_components_ + 1}\n" in text
