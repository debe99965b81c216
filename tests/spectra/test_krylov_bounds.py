"""What the certificates promise holds, and is not an empty promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold

from eigenpath.filters import TSVD, IteratedTikhonov, Landweber, NuMethod, Showalter, Tikhonov
from eigenpath.gram import PrecomputedGram
from eigenpath.kernels import RBF
from eigenpath.spectra.base import Sample
from eigenpath.spectra.krylov import KrylovDecomposition

N = 60
LAMS = np.geomspace(1, 1e-5, 11)
SPECTRA = {
    "flat": np.ones(N),
    "geometric": 0.7 ** np.arange(N),
    "two clusters": np.r_[np.linspace(1, 1.01, N // 2), np.linspace(1e-3, 1.01e-3, N // 2)],
    "rank-deficient": np.r_[np.linspace(1, 2, 9), np.zeros(N - 9)],
    "one huge": np.r_[1e3, np.linspace(0.01, 1, N - 1)],
    "kernel": None,
}
FOLDS = list(KFold(3, shuffle=True, random_state=0).split(np.zeros(N)))


def gram_matrix(name, rng):
    if SPECTRA[name] is None:
        return RBF(gamma=0.5)(rng.standard_normal((N, 2)))
    Q, _ = np.linalg.qr(rng.standard_normal((N, N)))
    return N * (Q * SPECTRA[name]) @ Q.T


class Truth:
    """Exact functions by a dense eigendecomposition of the masked, weighted, centred matrix."""

    def __init__(self, K, y, w, center, train):
        self.K, self.w = K, w * np.bincount(train, minlength=N)
        s, total = np.sqrt(self.w), self.w.sum()
        self.mean = self.w @ y / total if center else np.zeros(y.shape[1])
        self.H = np.eye(N) - np.outer(s, s) / total if center == "features" else np.eye(N)
        t, U = np.linalg.eigh(self.H @ (s[:, None] * K * s) @ self.H / total)
        self.t, self.U = np.maximum(t[::-1], 0), U[:, ::-1]
        self.s, self.total, self.center = s, total, center
        self.coordinates = self.U.T @ self.H @ (s[:, None] * (y - self.mean))

    def dual(self, gains):
        return self.s[:, None] / self.total * (self.H @ self.U @ (gains[:, None] * self.coordinates))

    def intercept(self, dual):
        return self.mean - (self.w @ self.K @ dual / self.total if self.center == "features" else 0)


def errors(run, problem, truth, test, gains_of):
    """Training error, norm and held-out error of the difference of each function from the exact one, ``(p, k)``."""
    spectra = run.fold(problem) if problem >= 0 else run.spectra
    exact, found = gains_of(truth.t), [gains_of(s.t) for s in spectra]
    training, norm, held_out = [], [], []
    for p in range(len(exact)):
        function = run.lift_problem(problem, [g[p][:, None] * s.b for g, s in zip(found, spectra)])
        dual = truth.dual(exact[p])
        gap = function.dual - dual
        offset = function.intercept - truth.intercept(dual)
        values = truth.K @ gap + offset
        training.append(np.sqrt(truth.w @ values**2 / truth.total))
        norm.append(np.sqrt(np.maximum(np.sum(gap * (truth.K @ gap), axis=0), 0)))
        held_out.append(np.sqrt(np.mean(values[test] ** 2, axis=0)) if len(test) else np.zeros(values.shape[1]))
    return np.array(training), np.array(norm), np.array(held_out)


def assert_holds(bound, found, rounding):
    """Up to rounding in the reference itself."""
    for value, error in zip((bound.training, bound.norm, bound.held_out), found):
        assert (error <= value * (1 + 1e-6) + rounding).all(), (error / (value + rounding)).max()


GAINS = {
    "Tikhonov": lambda t: Tikhonov().gains(t, LAMS),
    "iterated": lambda t: IteratedTikhonov(order=3).gains(t, LAMS),
    "Showalter": lambda t: Showalter().gains(t, LAMS),
}


@pytest.mark.parametrize("center", ["target", "features", None])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_bounds_hold_at_every_step(spectrum, center, rng):
    K, y = gram_matrix(spectrum, rng), rng.standard_normal((N, 2)) + 1
    w = rng.integers(0, 3, size=N).astype(float)
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, w, center), FOLDS)
    # The reference divides rounding errors of the largest eigenvalue by lam, twice for the norm's root.
    t = np.linalg.eigvalsh(K / N)[-1]
    rounding = (1e3 * np.finfo(float).eps * t / LAMS / np.sqrt(np.minimum(LAMS, 1)))[:, None]
    truths = {0: Truth(K, y, w, center, FOLDS[0][0]), -1: Truth(K, y, w, center, np.arange(N))}
    for _ in range(4):
        run.extend(3)
        for problem, truth in truths.items():
            test = FOLDS[0][1] if problem == 0 else []
            for name, gains in GAINS.items():
                found = errors(run, problem, truth, test, gains)
                assert_holds(run.filter_bound(problem, gains), found, rounding)
                if name == "Tikhonov":
                    assert_holds(run.tikhonov_bound(problem, LAMS), found, rounding)


@pytest.mark.parametrize("center", ["target", "features"])
def test_bounds_are_of_the_size_of_the_errors(center, rng):
    """They fall with the steps as the errors do; the residual of the largest Ritz values is the worst case of few."""
    K, y = gram_matrix("kernel", rng), rng.standard_normal((N, 1))
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, center))
    truth, largest = Truth(K, y, np.ones(N), center, np.arange(N)), []
    for _ in range(3):
        run.extend(6)
        training, norm, _ = errors(run, -1, truth, [], GAINS["Tikhonov"])
        for bound in (run.tikhonov_bound(-1, LAMS), run.filter_bound(-1, GAINS["Tikhonov"])):
            real = training > 1e-9
            assert (bound.training[real] < 100 * training[real]).all()
            assert (bound.norm[real] < 30 * norm[real]).all()
        largest.append(run.tikhonov_bound(-1, LAMS[:6]).training.max())
    assert largest[2] < 1e-2 * largest[0]


def test_the_bound_for_any_filter_is_that_of_tikhonov_for_tikhonov(rng):
    """Two formulas for one number: a continued fraction, and divided differences at Ritz values."""
    K, y = gram_matrix("kernel", rng), rng.standard_normal((N, 1))
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y)).extend(8)
    t = run.spectra[0].t[0]
    one, any_ = run.tikhonov_bound(-1, LAMS), run.filter_bound(-1, GAINS["Tikhonov"], t)

    # Their only difference: the largest value of t / (t + lam), which the first takes to be one.
    assert_allclose(any_.training, one.training * (t / (t + LAMS))[:, None], rtol=1e-3, atol=1e-14)
    # The largest value of sqrt(t) / (t + lam), at t = lam, falls between the points where the second looks.
    assert (any_.norm <= one.norm * (1 + 1e-9)).all()
    assert_allclose(any_.norm[t > LAMS], one.norm[t > LAMS], rtol=0.1)


@pytest.mark.parametrize("filter", [Landweber, NuMethod])
def test_iterations_longer_than_the_run_are_bounded_too(filter, rng):
    K, y = gram_matrix("kernel", rng), rng.standard_normal((N, 1))
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y)).extend(10)
    top = 1.01 * np.linalg.eigvalsh(K / N)[-1]
    fixed = filter(step=1 / top) if filter is Landweber else filter(scale=top)
    steps = np.array([1, 5, 10, 20, 40, 80])
    truth = Truth(K, y, np.ones(N), "target", np.arange(N))
    bound = run.filter_bound(-1, lambda t: fixed.gains(t, steps), top)

    assert_holds(bound, errors(run, -1, truth, [], lambda t: fixed.gains(t, steps)), 1e-11)
    assert (bound.training[:3] < 1e-9).all(), "a polynomial of degree below the number of steps is exact"
    assert (bound.training[4:] > 1e-6).all()


@pytest.mark.parametrize("center", ["target", "features"])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_cut_bounds_hold_for_the_fit_by_the_first_components(spectrum, center, rng):
    K, y = gram_matrix(spectrum, rng), rng.standard_normal((N, 2))
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, center), FOLDS)
    for problem, train in {0: FOLDS[0][0], -1: np.arange(N)}.items():
        truth, useful = Truth(K, y, np.ones(N), center, train), 0
        for _ in range(4):
            run.extend(5)
            t = run.columns[problem][0].ritz.values
            lams = np.r_[2 * t[0], (t[:-1] + t[1:]) / 2, t[-1] / 2]
            # Below, the reference divides rounding errors by each other.
            lams = lams[lams > 1e-6 * t[0]]
            training, _, _ = errors(run, problem, truth, [], lambda t, lams=lams: TSVD(lam=lams).gains(t, lams))
            bound = run.cut_bound(problem, lams)
            assert bound.shape == (len(lams), 2)
            assert (training <= bound * (1 + 1e-6) + 1e-8).all()
            useful += np.sum(bound < 1e-2)
        # Taking a fold out spreads the clusters, and no gap is left to cut in.
        assert useful > 5 or spectrum == "two clusters", "a bound that says nothing"


def test_ritz_values_lie_within_their_residuals_of_eigenvalues(rng):
    K, y = gram_matrix("kernel", rng), rng.standard_normal((N, 1))
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, "features"), FOLDS).extend(12)
    for problem, train in {1: FOLDS[1][0], -1: np.arange(N)}.items():
        t = Truth(K, y, np.ones(N), "features", train).t
        ritz = run.columns[problem][0].ritz.values
        apart = np.abs(ritz[:, None] - t).min(axis=1)
        assert (apart <= run.ritz_residuals(problem)[0] + 1e-14).all()
        assert (np.diff(ritz) < 0).all()


def test_certified_components_grow_and_are_right(rng):
    K, y = gram_matrix("geometric", rng), rng.standard_normal((N, 2))
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, None))
    t, counts = np.linalg.eigvalsh(K / N)[::-1], []
    for _ in range(4):
        run.extend(12)
        m = run.certified_components(tol=1e-6)
        for spectrum in run.spectra:
            assert_allclose(spectrum.t[:m], t[:m], rtol=1e-6)
        counts.append(m)
    assert counts[0] >= 1
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]
    assert run.certified_components(tol=1e-2) > run.certified_components(tol=1e-12)


def test_nothing_is_uncertain_when_the_space_is_exact(rng):
    K, y = gram_matrix("rank-deficient", rng), rng.standard_normal((N, 1))
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, None)).extend(100)

    assert run.exact
    assert run.tikhonov_bound(-1, LAMS).training.max() < 1e-12
    assert run.filter_bound(-1, GAINS["Showalter"]).training.max() < 1e-12
    assert run.cut_bound(-1, [1.0]).max() == 0
    assert run.certified_components() >= 9


def test_a_matrix_that_rounding_made_indefinite_certifies_nothing(rng):
    indefinite = np.diag(np.r_[-1.0, np.linspace(0.5, 1, N - 1)])
    run = KrylovDecomposition(PrecomputedGram(indefinite), Sample(rng.standard_normal((N, 1)), None, None)).extend(20)

    assert np.isinf(run.tikhonov_bound(-1, [1e-3]).training).all()


def test_there_is_a_bound_for_each_parameter_and_target(rng):
    K, y = gram_matrix("kernel", rng), rng.standard_normal((N, 2)) * [1, 10]
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y), FOLDS).extend(4)
    for bound in (run.tikhonov_bound(0, LAMS), run.filter_bound(0, GAINS["Tikhonov"])):
        assert all(values.shape == (len(LAMS), 2) for values in bound)
        assert (bound.training[:, 1] > 2 * bound.training[:, 0]).all(), "in the units of y"
    assert not run.tikhonov_bound(-1, LAMS).held_out.any(), "all the data have no test rows"
