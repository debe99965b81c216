"""scikit-learn's own checks, for every estimator here; none is expected to fail."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenpath import KernelPCR, KernelRidge, SpectralClassifier, SpectralRegressor

ESTIMATORS = [
    SpectralRegressor(),
    SpectralRegressor(kernel="linear", filter="landweber", center="features"),
    SpectralRegressor(filter="tsvd", rule="gcv", gamma="median"),
    SpectralClassifier(),
    SpectralClassifier(filter="nu_method", rule="holdout", gamma="scale"),
    KernelPCR(),
    SpectralRegressor(rule="loo", gamma=None, center=None),
    KernelRidge(),
    KernelRidge(kernel="rbf", alphas="auto"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conventions(estimator, check):
    """Each check says in its name what it checks."""
    check(estimator)
