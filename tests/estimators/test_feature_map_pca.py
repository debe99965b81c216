"""PCA after a feature map: the worked case, the spiral, explicit features by hand, and what cannot be inverted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import KernelPCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenpath.estimators.feature_map_pca import FeatureMapPCA
from eigenpath.estimators.pca import PCA


def with_sum(X):
    """The worked case: (x_1, x_2, x_1 + x_2)."""
    return np.column_stack([X, X.sum(axis=1)])


def squares(X):
    return np.hstack([X, X**2])


def polar(X):
    return np.column_stack([np.hypot(X[:, 0], X[:, 1]), np.arctan2(X[:, 1], X[:, 0]) % (2 * np.pi)])


def cartesian(Z):
    return np.column_stack([Z[:, 0] * np.cos(Z[:, 1]), Z[:, 0] * np.sin(Z[:, 1])])


def spiral(rng, n=200, noise=0.0):
    angle = rng.uniform(0.2, 6, n)
    return cartesian(np.column_stack([angle + noise * rng.standard_normal(n), angle]))


# A ufunc: the test's name must not hold the address of a function, or parallel workers would collect different names.
@parametrize_with_checks([FeatureMapPCA(), FeatureMapPCA(np.square, n_components=2, scale=True)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_worked_case_reconstructs_a_feature_vector_that_no_point_has(rng):
    """V_1 = (0, 0, 1), no mean, x = (1, 1): z = (1, 1, 2), of which (0, 0, 2) is kept, and 0 + 0 is not 2."""
    model = FeatureMapPCA(with_sum, n_components=1).fit(rng.standard_normal((10, 2)))
    # The direction is given, not learned: mapped data never spread along it.
    model.pca_.components_, model.pca_.mean_ = np.array([[0.0, 0.0, 1.0]]), np.zeros(3)
    x = np.array([[1.0, 1.0]])
    assert_array_equal(model.transform(x), [[2]])
    assert_array_equal(model.reconstruct_features(x), [[0, 0, 2]])
    assert not np.allclose(with_sum(model.reconstruct_features(x)[:, :2]), model.reconstruct_features(x))
    with pytest.raises(ValueError, match=r"inverse_map=None\. .* no x is known .* there may be none"):
        model.inverse_transform(model.transform(x))


def test_one_component_follows_a_spiral_in_polar_coordinates_but_not_in_the_plane(rng):
    X = spiral(rng)
    plain = PCA(1).fit(X)
    bent = FeatureMapPCA(polar, cartesian, n_components=1).fit(X)
    assert plain.reconstruction_error_ratio_[1] > 0.2
    assert bent.reconstruction_error_ratio_[1] < 1e-20
    assert_allclose(bent.inverse_transform(bent.transform(X)), X, atol=1e-12)


def test_a_noisy_spiral_is_reconstructed_to_the_noise(rng):
    X = spiral(rng, noise=0.1)
    model = FeatureMapPCA(polar, cartesian, n_components="10%").fit(X)
    errors = [np.mean((X - each.inverse_transform(each.transform(X))) ** 2) for each in (model, PCA(1).fit(X))]
    assert model.n_components_ == 1
    assert errors[0] < 0.1**2 * 5 < errors[1] / 10


def test_transform_is_centring_and_projecting_the_mapped_rows(rng):
    X, new, weights = rng.standard_normal((40, 3)), rng.standard_normal((5, 3)), rng.integers(0, 3, 40)
    model = FeatureMapPCA(squares, n_components=4).fit(X, sample_weight=weights)
    Z = np.repeat(squares(X), weights, axis=0)
    V = np.linalg.svd(Z - Z.mean(axis=0))[2][:4]
    projected = (squares(new) - Z.mean(axis=0)) @ V.T
    assert_allclose(np.abs(model.transform(new)), np.abs(projected), atol=1e-12)
    features = Z.mean(axis=0) + projected @ V
    assert_allclose(model.reconstruct_features(new), features, atol=1e-12)
    assert model.reconstruction_error(new)[-1] == pytest.approx(((squares(new) - features) ** 2).sum())


def test_explicit_features_of_a_kernel_give_its_kernel_pca(rng):
    """(1 + x'z)^2 by its feature map, against the n x n route."""
    X, new = rng.standard_normal((30, 2)), rng.standard_normal((6, 2))

    def quadratic(X):
        a, b = X.T
        return np.column_stack([np.sqrt(2) * a, np.sqrt(2) * b, a**2, b**2, np.sqrt(2) * a * b])

    model = FeatureMapPCA(quadratic, n_components=3).fit(X)
    kernel = KernelPCA(3, kernel="poly", degree=2, gamma=1, coef0=1).fit(X)
    assert_allclose(np.abs(model.transform(new)), np.abs(kernel.transform(new)), atol=1e-9)


def test_without_a_map_it_is_pca(rng):
    X = rng.standard_normal((20, 4))
    model, pca = FeatureMapPCA(n_components=2).fit(X), PCA(2).fit(X)
    assert_array_equal(model.transform(X), pca.transform(X))
    assert_array_equal(model.inverse_transform(model.transform(X)), pca.inverse_transform(pca.transform(X)))


@pytest.mark.parametrize(
    "options",
    [{"n_components": 2}, {"n_components": 0.7}, {"whiten": True}, {"scale": True}, {"svd_solver": "gram_eigh"}],
)
def test_options_reach_the_pca_inside(options, rng):
    X = rng.standard_normal((30, 3))
    model = FeatureMapPCA(squares, **options).fit(X)
    assert_array_equal(model.transform(X), PCA(**options).fit(squares(X)).transform(squares(X)))
    assert model.pca_.get_params().items() >= options.items()


def test_learned_attributes_appear_with_fit(rng):
    model = FeatureMapPCA(squares)
    assert not hasattr(model, "components_")
    model.fit(rng.standard_normal((30, 3)))
    for name in ["components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"]:
        assert_array_equal(getattr(model, name), getattr(model.pca_, name))
    assert model.components_.shape == (model.n_components_, 6)
    assert_array_equal(model.reconstruction_error_ratio_, model.reconstruction_error_ / model.reconstruction_error_[0])


def test_a_regression_on_the_coordinates_sees_the_curve(rng):
    """y is the length along the spiral, one linear coordinate in feature space."""
    X = spiral(rng)
    y = np.hypot(*X.T)
    curved = make_pipeline(FeatureMapPCA(polar, n_components=1), LinearRegression()).fit(X, y)
    flat = make_pipeline(PCA(1), LinearRegression()).fit(X, y)
    assert curved.score(X, y) > 1 - 1e-12
    assert flat.score(X, y) < 0.8


@pytest.mark.parametrize("bad", [lambda X: X[:, 0], lambda X: X[1:], lambda X: 1.0])
def test_maps_of_the_wrong_shape_are_refused(bad, rng):
    X = rng.standard_normal((10, 2))
    with pytest.raises(ValueError, match=r"feature_map must return an array of shape \(10, any\) for 10 rows"):
        FeatureMapPCA(bad).fit(X)
    model = FeatureMapPCA(squares, bad).fit(X)
    with pytest.raises(ValueError, match=r"inverse_map must return an array of shape \(10, 2\) for 10 rows"):
        model.inverse_transform(model.transform(X))


def test_maps_to_infinity_are_refused(rng):
    def inverse(X):
        return np.divide(1, X, out=np.full_like(X, np.inf), where=X != 0)

    with pytest.raises(ValueError, match="the output of feature_map contains infinity"):
        FeatureMapPCA(inverse).fit(np.zeros((3, 2)))


def test_float32_stays_float32(rng):
    X = rng.standard_normal((20, 2)).astype(np.float32)
    model = FeatureMapPCA(squares, lambda Z: Z[:, :2]).fit(X)
    assert model.transform(X).dtype == model.inverse_transform(model.transform(X)).dtype == np.float32


def test_names_and_summary(rng):
    X = spiral(rng)
    model = FeatureMapPCA(polar, cartesian, n_components=1).fit(X)
    assert list(model.get_feature_names_out()) == ["featuremappca0"]
    text = model.summary()
    assert "feature map             polar" in text
    assert "inverse                 cartesian" in text
    assert "1 of 2 dimensions" in text
    assert "inverse                 none" in FeatureMapPCA(polar).fit(X).summary()
