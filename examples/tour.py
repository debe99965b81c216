"""The main job on a data set that ships with scikit-learn: fit, choose, compare all filters, say what was chosen."""

from __future__ import annotations

import time

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenpath import KernelPCA, SpectralClassifier, SpectralRegressor
from eigenpath.filters import FILTERS


def main() -> None:
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

    print("A regressor that tunes itself: progression of diabetes from ten measurements\n")
    model, seconds = timed(make_pipeline(StandardScaler(), SpectralRegressor()), X_train, y_train)
    print(model[-1].summary())
    print(f"\nR^2 on {len(y_test)} rows held out: {model.score(X_test, y_test):.3f}   ({seconds:.2f} s)\n")

    print("Every filter, tuned on its whole path, same folds and bandwidth\n")
    print(f"{'filter':<18} {'chosen':<24} {'df':>6} {'CV mse':>8} {'test R^2':>9} {'seconds':>8}")
    gamma = model[-1].kernel_.gamma
    for name in FILTERS:
        one, seconds = timed(
            make_pipeline(StandardScaler(), SpectralRegressor(gamma=gamma, filter=name)), X_train, y_train
        )
        fit = one[-1]
        at = fit.choice_.index[0]
        chosen = f"{fit.choice_.filter.parameter} = {fit.choice_.params[0]:.4g}"
        df = fit.path_.degrees_of_freedom[at]
        print(
            f"{name:<18} {chosen:<24} {df:>6.1f} {fit.choice_.value:>8.0f} {one.score(X_test, y_test):>9.3f} {seconds:>8.2f}"
        )

    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    print("\nA classifier: breast cancer, benign or malignant")
    model, seconds = timed(make_pipeline(StandardScaler(), SpectralClassifier()), X_train, y_train)
    fit = model[-1]
    print(f"  gamma = {fit.kernel_.gamma:.4g}, lam = {fit.filter_.lam:.4g}: {fit.choice_.why}")
    print(f"  accuracy on {len(y_test)} rows held out: {model.score(X_test, y_test):.3f}   ({seconds:.2f} s)")

    pca = make_pipeline(StandardScaler(), KernelPCA(n_components=0.5, kernel="rbf", gamma=0.01)).fit(X_train)[-1]
    print(f"  half of the variance in the kernel's space lies in {len(pca.eigenvalues_)} principal components")


def timed(model, X, y):
    """The model, fitted, and the seconds it took."""
    start = time.perf_counter()
    return model.fit(X, y), time.perf_counter() - start


if __name__ == "__main__":
    main()
