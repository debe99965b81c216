"""scikit-learn's own checks, for every estimator here; none is expected to fail."""

from __future__ import annotations

from pathlib import Path

from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenpath
from eigenpath import KernelPCR, KernelRidge, SpectralClassifier, SpectralRegressor

# Between them: every route, centring and kind of rule.
ESTIMATORS = [
    SpectralRegressor(),
    SpectralRegressor(kernel="linear", filter="landweber", center="features"),
    SpectralRegressor(filter="tsvd", rule="gcv", gamma="median"),
    SpectralRegressor(rule="loo", gamma=None, center=None),
    SpectralRegressor(solver="krylov", gamma="scale"),
    SpectralClassifier(),
    SpectralClassifier(filter="nu_method", rule="holdout", gamma="scale"),
    KernelPCR(),
    KernelRidge(),
    KernelRidge(kernel="rbf", alphas="auto"),
]
# These have the checks in files of their own.
ELSEWHERE = {
    "FeatureMapPCA": "test_feature_map_pca.py",
    "KernelPCA": "test_kernel_pca.py",
    "KernelProjectionMachine": "test_projection_machine.py",
    "PCA": "test_pca.py",
}


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conventions(estimator, check):
    """Each check says in its name what it checks."""
    check(estimator)


def test_every_public_estimator_is_checked():
    public = {name for name in eigenpath.__all__ if hasattr(getattr(eigenpath, name), "fit")}
    assert public == {type(one).__name__ for one in ESTIMATORS} | set(ELSEWHERE)
    for name, file in ELSEWHERE.items():
        text = Path(__file__).with_name(file).read_text(encoding="utf-8")
        assert "@parametrize_with_checks(" in text and name in text
