"""`check_kernel` finds each kind of broken promise."""

from __future__ import annotations

import numpy as np
import pytest

from eigenpath.kernels import RBF, DistanceKernel, Kernel, Linear, Precomputed, check_kernel


class Good(Kernel):
    """The linear kernel, by its matrix."""

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def evaluate(self, X, Z):
        return X @ Z.T


class Forgets(Good):
    def __init__(self, gamma=1.0):
        self.gamma = 2 * gamma

    def get_params(self, deep=True):
        return {"gamma": self.gamma}


class ResolvesInPlace(Good):
    def resolve(self, X, sample_weight=None, random_state=None):
        self.gamma = 3.0
        return self


class LeavesGammaOpen(Good):
    def resolve(self, X, sample_weight=None, random_state=None):
        return Good("scale")


class Infinite(Good):
    def evaluate(self, X, Z):
        return np.full((len(X), len(Z)), np.inf)

    def _check_symmetric(self, K):
        pass


class WrongDiagonal(Good):
    def _filler(self, X, Z):
        return lambda rows, cols, out: np.copyto(out, X[rows] @ (X if Z is None else Z)[cols].T)

    def diag(self, X):
        return np.ones(len(X))


class WrongBound(Good):
    bound = 0.5


class OtherBlocks(Good):
    """Looks at the rows it is given together."""

    def evaluate(self, X, Z):
        return (X @ Z.T) * len(Z)


class Double(Good):
    def __call__(self, X, Z=None, out=None):
        return super().__call__(np.asarray(X, np.float64), Z, out)


class Coarse(Good):
    def evaluate(self, X, Z):
        return X @ Z.T * (2 if X.dtype == np.float32 else 1)


class IgnoresOut(Good):
    def __call__(self, X, Z=None, out=None):
        return super().__call__(X, Z)


class WritesToX(Good):
    def evaluate(self, X, Z):
        X += 1e-12
        return X @ Z.T


class Asymmetric(Good):
    def __call__(self, X, Z=None, out=None):
        return np.tril(super().__call__(X, Z, out))


class Indefinite(Good):
    def evaluate(self, X, Z):
        return -X @ Z.T


class FalseFeatures(Good):
    def features(self, X):
        return 2 * X


class FalseMetric(Good):
    metric = "sqeuclidean"

    def from_distance(self, D, out=None):
        return np.exp(-D)


class IgnoresOutOfDistance(DistanceKernel):
    def from_distance(self, D, out=None):
        return np.exp(-D) if D.ndim == 1 or out is None else (np.copyto(out, np.exp(-D)), out.copy())[1]

    def _prepare(self, X, Z):
        return RBF(gamma=1.0)._prepare(X, Z)


BROKEN = [
    (RBF, "is not a Kernel"),
    (Forgets(), "clone fails: .*constructor"),
    (ResolvesInPlace(), r"resolve changes the kernel itself: ResolvesInPlace\(\) became ResolvesInPlace\(gamma=3.0\)"),
    (LeavesGammaOpen(), r"resolve leaves gamma open: Good\(gamma='scale'\)"),
    (Infinite(), "values that are not finite"),
    (WrongDiagonal(), r"diag\(X\) is not the diagonal of k\(X, X\): the difference is"),
    (WrongBound(), r"bound is 0.5, but k\(x, x\) reaches"),
    (Asymmetric(), "not symmetric"),
    (OtherBlocks(), r"k\(X, Z\) differs from the same entries of k\(X, X\)|is not the diagonal"),
    (Double(), "float32 data gives a float64 matrix"),
    (Coarse(), "float32 data gives another matrix"),
    (IgnoresOut(), "out= does not receive the matrix"),
    (WritesToX(), "the kernel writes to its inputs"),
    (Indefinite(), "psd is True, but .* has the eigenvalue -"),
    (FalseFeatures(), r"features F do not give k\(X, X\)"),
    (FalseMetric(), r"from_distance of the distances is not k\(X, X\)"),
    (IgnoresOutOfDistance(), "from_distance does not use out="),
]


@pytest.mark.parametrize("kernel, message", BROKEN, ids=lambda value: getattr(type(value), "__name__", None))
def test_a_broken_promise_is_found(kernel, message, rng):
    with pytest.raises(AssertionError, match=message):
        check_kernel(kernel, rng.standard_normal((12, 3)))


def test_a_good_kernel_passes(rng):
    X = rng.standard_normal((12, 3))
    check_kernel(Good(), X)
    check_kernel(Good("scale"), X.tolist())
    check_kernel(Linear(), X)
    check_kernel(Precomputed(), X @ X.T)


def test_the_data_stay_as_they_are(rng):
    X = rng.standard_normal((12, 3))
    original = X.copy()
    with pytest.raises(AssertionError):
        check_kernel(WritesToX(), X)
    assert (original == X).all()
