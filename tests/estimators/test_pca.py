"""PCA: Eckart and Young's identity and optimality, component counts, weights, routes, against scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenpath.estimators.pca import PCA

SHAPES = {"tall": (80, 9), "wide": (9, 80), "square": (20, 20)}
LEARNED = [
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "mean_",
    "noise_variance_",
    "reconstruction_error_",
    "reconstruction_error_ratio_",
    "n_components_",
]


@parametrize_with_checks([PCA(), PCA(2), PCA(0.5, whiten=True, scale=True), PCA("10%"), PCA(svd_solver="gram_eigh")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(params=SHAPES)
def X(request, rng):
    n, d = SHAPES[request.param]
    return rng.standard_normal((n, d)) * np.geomspace(3, 0.1, d) + rng.standard_normal(d)


def drawn(rng, n=60, d=8):
    return rng.standard_normal((n, d)) * np.geomspace(3, 0.1, d) + 5


def assert_same_fit(first, second, rtol=1e-9, atol=1e-9):
    for name in LEARNED:
        assert_allclose(getattr(first, name), getattr(second, name), rtol=rtol, atol=atol, err_msg=name)


# --- the decomposition -------------------------------------------------------------------------------------------


def test_inner_products_and_covariance_give_the_components_of_the_svd(X):
    """X X^T, X^T X and X itself are three ways to one answer; squaring costs half of the digits, at most."""
    fits = [PCA(5, svd_solver=route).fit(X) for route in ("full", "covariance_eigh", "gram_eigh")]
    assert_same_fit(fits[0], fits[1], rtol=1e-8, atol=1e-8)
    assert_same_fit(fits[0], fits[2], rtol=1e-8, atol=1e-8)
    assert [fit.svd_solver_ for fit in fits] == ["full", "covariance_eigh", "gram_eigh"]


def test_reconstruction_error_of_every_k_is_the_sum_of_the_squares_left(X):
    """Eckart-Young, by reconstructing with each k and measuring."""
    pca = PCA().fit(X)
    centred = X - X.mean(axis=0)
    for k, error in enumerate(pca.reconstruction_error_):
        V = pca.components_[:k]
        measured = ((centred - centred @ V.T @ V) ** 2).sum()
        assert_allclose(error, measured, atol=1e-12 * (centred**2).sum())
    gammas = np.linalg.svd(centred, compute_uv=False)
    assert_allclose(pca.reconstruction_error_[2], (gammas[2:] ** 2).sum())
    assert_allclose(pca.reconstruction_error_ratio_, pca.reconstruction_error_ / (centred**2).sum(), atol=1e-14)


@pytest.mark.parametrize("k", [1, 3])
def test_no_projection_of_the_same_rank_reconstructs_better(X, k, rng):
    """Random subspaces, subspaces next to the best one, and scikit-learn's: none falls below."""
    pca = PCA(k).fit(X)
    centred, best = X - X.mean(axis=0), pca.reconstruction_error_[-1]
    for step in [1e-4, 1e-2, 1, 100] * 5:
        Q = np.linalg.qr(pca.components_.T + step * rng.standard_normal((X.shape[1], k)))[0]
        assert ((centred - centred @ Q @ Q.T) ** 2).sum() > best
    other = decomposition.PCA(k).fit(X)
    theirs = ((X - other.inverse_transform(other.transform(X))) ** 2).sum()
    assert_allclose(theirs, best, rtol=1e-10)
    assert_allclose(((X - pca.inverse_transform(pca.transform(X))) ** 2).sum(), best, rtol=1e-10)


@pytest.mark.parametrize("whiten", [False, True])
def test_attributes_and_methods_agree_with_scikit_learn(X, whiten, rng):
    ours, theirs = PCA(4, whiten=whiten).fit(X), decomposition.PCA(4, whiten=whiten, svd_solver="full").fit(X)
    for name in ["components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"]:
        assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-10, err_msg=name)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_)
    assert (ours.n_components_, ours.n_samples_) == (theirs.n_components_, theirs.n_samples_)
    new = rng.standard_normal((5, X.shape[1]))
    assert_allclose(ours.transform(new), theirs.transform(new), atol=1e-9)
    assert_allclose(
        ours.inverse_transform(ours.transform(new)), theirs.inverse_transform(theirs.transform(new)), atol=1e-9
    )
    # scikit-learn multiplies whitened directions by their variance twice: the model does not depend on whitening.
    theirs = theirs.set_params(whiten=False)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-9)
    assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6, atol=1e-6)
    assert_allclose(ours.score_samples(new), theirs.score_samples(new), rtol=1e-8)
    assert ours.score(new) == pytest.approx(theirs.score(new))


def test_one_dimensional_data_in_the_plane_need_one_component():
    """Worked by hand: points on the line x_2 = 2 x_1 - 1, direction (1, 2) / sqrt(5), variances of multiples of it."""
    X = np.array([[0.0, -1.0], [1.0, 1.0], [2.0, 3.0]])
    pca = PCA().fit(X)
    assert pca.n_components_ == 1
    assert_allclose(pca.components_, [[1 / np.sqrt(5), 2 / np.sqrt(5)]], atol=1e-15)
    assert_allclose(pca.mean_, [1, 1], atol=1e-15)
    assert_allclose(pca.transform(X), [[-np.sqrt(5)], [0], [np.sqrt(5)]], atol=1e-14)
    assert_allclose(pca.explained_variance_, [5])
    assert_allclose(pca.reconstruction_error_, [10, 0], atol=1e-28)


def test_signs_do_not_depend_on_the_signs_of_the_data(rng):
    X = drawn(rng)
    flipped = PCA().fit(-X).components_
    assert_allclose(PCA().fit(X).components_, flipped, atol=1e-10)
    assert_array_equal(flipped[np.arange(8), np.abs(flipped).argmax(axis=1)] > 0, True)


def test_columns_of_very_different_size_are_all_kept(rng):
    """The fast route loses the small column in the square of the large one; "auto" notices."""
    X = rng.standard_normal((5000, 80))
    X[:, 0] *= 1e10
    pca = PCA().fit(X)
    assert PCA(1).fit(X).svd_solver_ == "covariance_eigh"
    assert (pca.svd_solver_, pca.n_components_) == ("full", 80)
    assert_allclose(pca.explained_variance_[1:].sum(), X[:, 1:].var(axis=0, ddof=1).sum(), rtol=1e-3)


def test_large_offsets_cost_only_the_digits_they_hide(rng):
    X = rng.standard_normal((4000, 100))
    near, far = PCA(5).fit(X), PCA(5).fit(X + 1e6)
    assert near.svd_solver_ == "covariance_eigh"
    assert_allclose(far.explained_variance_, near.explained_variance_, rtol=1e-9)


# --- how many components -----------------------------------------------------------------------------------------


def test_all_components_are_those_with_variance(rng):
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 10)) + 2
    assert PCA().fit(X).n_components_ == 3
    assert PCA().fit(X[:3]).n_components_ == 2
    assert PCA(5).fit(X).n_components_ == 5
    assert_array_equal(PCA(5).fit(X).singular_values_[3:], 0)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 0.999])
def test_a_share_keeps_the_fewest_components_that_explain_more(X, share):
    pca, ratios = PCA(share).fit(X), PCA().fit(X).explained_variance_ratio_
    assert pca.explained_variance_ratio_.sum() > share
    assert ratios[: pca.n_components_ - 1].sum() <= share
    assert pca.n_components_ == decomposition.PCA(share, svd_solver="full").fit(X).n_components_


def test_a_share_that_is_met_exactly_is_not_exceeded():
    """Two directions of equal variance: one explains half, which is not more than half."""
    assert PCA(0.5).fit(np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])).n_components_ == 2


def test_ten_percent_rule_keeps_the_fewest_components_with_error_below_a_tenth(X):
    errors = PCA().fit(X).reconstruction_error_
    k = PCA("10%").fit(X).n_components_
    assert errors[k] < 0.1 * errors[0] <= errors[k - 1]
    assert f"10 % rule asks for {k} component" in PCA().fit(X).summary()


@pytest.mark.parametrize("n_components", [0, -1, 9, 1.0, 0.0, 1.5, True, "mle", "ten", [2], np.nan])
def test_impossible_counts_are_refused(n_components, rng):
    with pytest.raises(ValueError, match=r"n_components=.* is not allowed: pass an integer between 1 and .* = 8"):
        PCA(n_components).fit(drawn(rng))


def test_numpy_integers_count(rng):
    assert PCA(np.int64(3)).fit(drawn(rng)).n_components_ == 3


@pytest.mark.parametrize("n_components", [None, 1, 0.9, "10%"])
def test_constant_data_have_one_component_without_variance(n_components):
    pca = PCA(n_components, whiten=True).fit(np.full((5, 3), 0.1))
    assert pca.n_components_ == 1
    assert_array_equal(pca.explained_variance_ratio_, [0])
    assert_array_equal(pca.reconstruction_error_ratio_, [0, 0])
    assert_allclose(pca.inverse_transform(pca.transform(np.full((2, 3), 0.1))), 0.1)


# --- weights -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"n_components": 3, "scale": True}, {"n_components": 0.8}, {"n_components": "10%"}]
)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_weights_are_repeated_rows(X, options, kind, rng):
    weights = rng.integers(0, 4, len(X))
    weights[0], weights[1] = 0, 2
    weighted = PCA(**options).fit(kind(X), sample_weight=weights)
    repeated = PCA(**options).fit(kind(np.repeat(X, weights, axis=0)))
    assert_same_fit(weighted, repeated)
    assert weighted.n_samples_ == repeated.n_samples_
    if options.get("scale"):
        assert_allclose(weighted.scale_, repeated.scale_)


def test_only_the_number_of_rows_feels_a_factor_in_the_weights(rng):
    X, weights = drawn(rng), rng.uniform(0.1, 2, 60)
    once, thrice = (PCA(3).fit(X, sample_weight=factor * weights) for factor in (1, 3))
    assert_allclose(once.components_, thrice.components_, atol=1e-12)
    assert_allclose(3 * once.reconstruction_error_, thrice.reconstruction_error_)
    assert_allclose(
        once.explained_variance_ * (weights.sum() - 1) * 3, thrice.explained_variance_ * (3 * weights.sum() - 1)
    )


def test_weights_that_make_less_than_a_row_are_refused(rng):
    with pytest.raises(ValueError, match="sample_weight sums to 1, but a weight counts a row so many times"):
        PCA().fit(drawn(rng), sample_weight=np.full(60, 1 / 60))
    # A sum that rounding puts above one.
    weights = np.full(111, 1 / 111)
    assert weights.sum() >= 1
    with pytest.raises(ValueError, match="sample_weight sums to 1, but a weight counts a row so many times"):
        PCA().fit(rng.standard_normal((111, 3)), sample_weight=weights)
    with pytest.raises(ValueError, match=r"Negative values in .*`sample_weight`"):
        PCA().fit(drawn(rng), sample_weight=-np.ones(60))


# --- what is done with it ----------------------------------------------------------------------------------------


def test_error_on_new_rows_is_measured_for_every_k(rng):
    X, new, weights = drawn(rng), drawn(rng, 20), rng.uniform(size=20)
    pca = PCA(5).fit(X)
    assert_allclose(pca.reconstruction_error(X), pca.reconstruction_error_)
    for k, error in enumerate(pca.reconstruction_error(new, sample_weight=weights)):
        V = pca.components_[:k]
        rest = (new - pca.mean_) - (new - pca.mean_) @ V.T @ V
        assert error == pytest.approx(weights @ (rest**2).sum(axis=1))


def test_whitened_scores_have_unit_covariance_and_invert(X):
    pca = PCA(whiten=True).fit(X)
    assert_allclose(np.cov(pca.transform(X).T), np.eye(pca.n_components_), atol=1e-8)
    assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-9)
    assert not np.allclose(pca.transform(X), PCA().fit_transform(X))


def test_whitening_leaves_components_without_variance_at_zero(rng):
    X = np.outer(rng.standard_normal(30), [1.0, 2, 3])
    Z = PCA(2, whiten=True).fit_transform(X)
    assert_allclose(Z[:, 0].std(ddof=1), 1)
    assert_array_equal(Z[:, 1], 0)


@pytest.mark.parametrize("whiten", [False, True])
def test_scaling_is_standardizing_first(X, whiten):
    X = X * np.geomspace(1, 1e6, X.shape[1])
    pca = PCA(3, scale=True, whiten=whiten).fit(X)
    pipe = make_pipeline(StandardScaler(), PCA(3, whiten=whiten)).fit(X)
    assert_allclose(pca.scale_, pipe[0].scale_)
    for name in set(LEARNED) - {"mean_"}:
        assert_allclose(getattr(pca, name), getattr(pipe[1], name), atol=1e-9, err_msg=name)
    assert_allclose(pca.transform(X), pipe.transform(X), atol=1e-9)
    reconstructed = pipe.inverse_transform(pipe.transform(X))
    assert_allclose(pca.inverse_transform(pca.transform(X)), reconstructed, rtol=1e-6, atol=1e-6)
    assert not np.allclose(pca.components_, PCA(3).fit(X).components_)


@pytest.mark.parametrize(
    "options", [{}, {"whiten": True}, {"scale": True}, {"svd_solver": "full"}, {"n_components": 3}]
)
def test_float32_stays_float32(rng, options):
    X = drawn(rng).astype(np.float32)
    pca = PCA(**options).fit(X)
    kept = [value for value in vars(pca).values() if isinstance(value, np.ndarray) and value.dtype.kind == "f"]
    assert {value.dtype for value in kept} == {np.dtype(np.float32)}
    Z = pca.transform(X)
    assert Z.dtype == pca.inverse_transform(Z).dtype == np.float32
    double = PCA(**options).fit(X.astype(float))
    assert_allclose(pca.singular_values_, double.singular_values_, rtol=1e-4)


def only_smaller_than(shape, toarray):
    def guarded(table, *args, **kwargs):
        assert table.shape != shape, "the table was made dense"
        return toarray(table, *args, **kwargs)

    return guarded


@pytest.mark.parametrize("route", ["auto", "covariance_eigh", "gram_eigh", "arpack"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("shape", [(200, 30), (30, 200)])
def test_sparse_tables_give_what_dense_ones_give_and_stay_sparse(route, kind, shape, rng, monkeypatch):
    X = np.where(rng.random(shape) < 0.2, rng.exponential(size=shape), 0) * np.geomspace(3, 1, shape[1])
    table = kind(X)
    dense = PCA(2, svd_solver="full", scale=True).fit(X)
    for container in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array):
        monkeypatch.setattr(container, "toarray", only_smaller_than(shape, container.toarray))
    pca = PCA(2, svd_solver=route, scale=True, random_state=0).fit(table)
    assert_same_fit(pca, dense, rtol=1e-8, atol=1e-8)
    assert_allclose(pca.transform(table), dense.transform(X), atol=1e-8)
    monkeypatch.undo()
    assert_allclose(pca.reconstruction_error(table), dense.reconstruction_error_)
    assert_allclose(pca.score_samples(table), dense.score_samples(X), rtol=1e-8)


@pytest.mark.parametrize("route", ["full", "randomized"])
def test_routes_that_need_a_dense_table_say_so(route, rng):
    with pytest.raises(ValueError, match=f"svd_solver='{route}' needs a dense X"):
        PCA(2, svd_solver=route).fit(sparse.csr_array(drawn(rng)))


@pytest.mark.parametrize("n_components", [None, 0.5, 8])
def test_lanczos_needs_a_number_below_all(n_components, rng):
    with pytest.raises(ValueError, match=r"svd_solver='arpack' finds an integer n_components below .* = 8"):
        PCA(n_components, svd_solver="arpack").fit(drawn(rng))


def test_an_unknown_route_is_refused(rng):
    with pytest.raises(ValueError, match="svd_solver='svd' is not one of"):
        PCA(svd_solver="svd").fit(drawn(rng))


def test_coordinates_of_the_wrong_width_are_refused(rng):
    pca = PCA(3).fit(drawn(rng))
    with pytest.raises(
        ValueError, match="X has 2 columns, but inverse_transform needs one for each of the 3 components"
    ):
        pca.inverse_transform(np.zeros((4, 2)))


def test_output_can_be_a_table_with_names():
    frame = load_iris(as_frame=True).data
    pca = PCA(2).set_output(transform="pandas").fit(frame)
    assert list(pca.transform(frame).columns) == list(pca.get_feature_names_out()) == ["pca0", "pca1"]
    assert list(pca.feature_names_in_) == list(frame.columns)


def test_copies_transform_alike(rng):
    X = drawn(rng)
    pca = PCA(0.9, scale=True).fit(X)
    assert_array_equal(pickle.loads(pickle.dumps(pca)).transform(X), pca.transform(X))
    assert_array_equal(clone(pca).fit(X).transform(X), pca.transform(X))


def test_fitting_leaves_the_data_alone(X):
    before = X.copy()
    PCA(2, scale=True, whiten=True).fit(X, sample_weight=np.arange(len(X))).transform(X)
    assert_array_equal(X, before)


def test_summary_says_what_was_chosen_and_why(rng):
    pca = PCA("10%", scale=True).fit(drawn(rng))
    text = pca.summary()
    assert f"components            {pca.n_components_} of 8 dimensions" in text
    assert "10 % rule" in text
    assert "centred and scaled" in text
    assert f"The 10 % rule asks for {pca.n_components_} components." in text
    assert "more components than were kept" in PCA(1).fit(rng.standard_normal((50, 9))).summary()


# --- what the sources report -------------------------------------------------------------------------------------


def test_usps_digits_are_reconstructed_as_reported(data_dir):
    """About 10 % of the error is left with 50 components and almost none with 150 (of 256)."""
    pca = PCA().fit(np.load(data_dir / "usps.npz")["X_train"])
    error = pca.reconstruction_error_ratio_
    assert len(pca.mean_) == 256
    assert 0.07 < error[50] < 0.13
    assert error[150] < 0.02
    assert PCA("10%").fit(np.load(data_dir / "usps.npz")["X_train"]).n_components_ == np.argmax(error < 0.1)
