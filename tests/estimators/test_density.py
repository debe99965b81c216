"""The normal density of probabilistic PCA, against SciPy's with the same covariance."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from eigenpath.estimators.pca import PCA


def drawn(rng, n=60, d=8):
    return rng.standard_normal((n, d)) * np.geomspace(3, 0.1, d) + 5


@pytest.mark.parametrize("scale", [False, True])
def test_likelihood_is_the_normal_law_with_the_model_covariance(rng, scale):
    X = drawn(rng)
    pca = PCA(3, scale=scale).fit(X)
    law = multivariate_normal(pca.mean_, pca.get_covariance())
    assert_allclose(pca.score_samples(X), law.logpdf(X))
    assert_allclose(pca.get_precision() @ pca.get_covariance(), np.eye(8), atol=1e-10)
    assert pca.score(X) == pytest.approx(law.logpdf(X).mean())


def test_all_components_model_the_sample_covariance(rng):
    X = drawn(rng)
    pca = PCA(scale=True).fit(X)
    assert_allclose(pca.get_covariance(), np.cov(X.T), atol=1e-12)
    assert_allclose(pca.get_precision(), np.linalg.inv(np.cov(X.T)), rtol=1e-8, atol=1e-8)
    assert np.isfinite(pca.score(X))


def test_data_in_a_subspace_have_no_density(rng):
    X = drawn(rng, 5, 8)
    with pytest.raises(ValueError, match=r"no density\. Choose n_components so that"):
        PCA().fit(X).score(X)
