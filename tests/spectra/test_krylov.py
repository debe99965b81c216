"""Krylov spaces against LAPACK, against plain iterations and against models refitted without a fold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from eigenpath.filters import IteratedTikhonov, Landweber, NuMethod, Showalter, Tikhonov
from eigenpath.gram import ExplicitGram, KernelGram, PrecomputedGram, _product
from eigenpath.kernels import RBF, Linear
from eigenpath.spectra import krylov
from eigenpath.spectra.base import Sample
from eigenpath.spectra.exact import ExactDecomposition
from eigenpath.spectra.krylov import KrylovDecomposition

N = 60
SPECTRA = {
    "flat": np.ones(N),
    "geometric": 0.7 ** np.arange(N),
    "two clusters": np.r_[np.linspace(1, 1.01, N // 2), np.linspace(1e-3, 1.01e-3, N // 2)],
    "rank-deficient": np.r_[np.linspace(1, 2, 9), np.zeros(N - 9)],
    "one huge": np.r_[1e3, np.linspace(0.01, 1, N - 1)],
}
FILTERS = [Tikhonov(), IteratedTikhonov(order=3), Showalter()]
LAMS = np.geomspace(10, 1e-5, 12)


def psd_matrix(values, rng):
    """A matrix K for which K/n has these eigenvalues."""
    Q, _ = np.linalg.qr(rng.standard_normal((len(values), len(values))))
    return len(values) * (Q * values) @ Q.T


def kernel_matrix(rng, n=N):
    return RBF(gamma=0.5)(rng.standard_normal((n, 2)))


def matrices(rng):
    return {**{name: psd_matrix(values, rng) for name, values in SPECTRA.items()}, "kernel": kernel_matrix(rng)}


def folds_of(n=N):
    return list(KFold(3, shuffle=True, random_state=0).split(np.zeros(n)))


def weights(rng, n=N):
    return rng.integers(0, 3, size=n).astype(float)


def targets(rng, n=N, k=2):
    return rng.standard_normal((n, k)) + 1


def reference(K, y, w, center, train, test, filter, lams):
    """Predictions ``(p, m, k)`` for ``test`` and coefficients ``(p, n, k)`` from one dense eigendecomposition."""
    w = w * np.bincount(train, minlength=len(K))
    s, total = np.sqrt(w), w.sum()
    mean = w @ y / total if center else np.zeros(y.shape[1])
    H = np.eye(len(K)) - np.outer(s, s) / total if center == "features" else np.eye(len(K))
    t, U = np.linalg.eigh(H @ (s[:, None] * K * s) @ H / total)
    coordinates = U.T @ H @ (s[:, None] * (y - mean))
    gains = filter.gains(np.maximum(t[::-1], 0), lams)[:, ::-1]
    # Rounding mixes what H removes into the null space, so it is removed again.
    dual = s[:, None] / total * (H @ (U @ np.hstack([g[:, None] * coordinates for g in gains])))
    offset = w @ K @ dual / total if center == "features" else 0
    shape = (-1, len(lams), y.shape[1])
    return (K[test] @ dual - offset).reshape(shape).swapaxes(0, 1) + mean, dual.reshape(shape).swapaxes(0, 1)


def dual_at(decomposition, filter, params):
    """Coefficients and intercept of one function per target."""
    return decomposition.lift([filter.gains(s.t, params).T * s.b for s in decomposition.spectra])


@pytest.mark.parametrize("center", ["target", "features", None])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spectrum", [*SPECTRA, "kernel"])
def test_all_steps_are_the_exact_decomposition(spectrum, center, weighted, rng):
    """Every filter, coefficients and held-out predictions: LAPACK on each fold against one shared run."""
    K, y = matrices(rng)[spectrum], targets(rng)
    w = weights(rng) if weighted else np.ones(N)
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, w if weighted else None, center), folds_of()).extend(2 * N)
    # Rounding of the largest eigenvalue is divided by lam, and the solution has the size of y / lam.
    rounding = 200 * np.finfo(float).eps * run.spectra[0].t[0] / LAMS[:, None, None]

    assert run.exact
    for filter in FILTERS:
        for i, (train, test) in enumerate(folds_of()):
            expected, _ = reference(K, y, w, center, train, test, filter, LAMS)
            error = np.abs(run.held_out(i, filter, LAMS) - expected)
            assert (error <= rounding * (1 + np.abs(y).max())).all(), (filter, i, (error / rounding).max())
        _, dual = reference(K, y, w, center, np.arange(N), [], filter, LAMS)
        for lam, other, tol in zip(LAMS, dual, rounding):
            assert_allclose(dual_at(run, filter, [lam]).dual, other, atol=tol.item() * np.abs(y).max() / lam / N)


@pytest.mark.parametrize("center", ["target", "features", None])
def test_training_error_and_norm_come_from_t_and_b_alone(center, rng):
    """The identities a path rests on, against the function itself, long before the space is exact."""
    K, y, w = kernel_matrix(rng), targets(rng, k=1), weights(rng)
    sample = Sample(y, w, center)
    run = KrylovDecomposition(PrecomputedGram(K), sample).extend(6)
    spectrum = run.spectra[0]
    for lam in LAMS:
        gains = Tikhonov().gains(spectrum.t, [lam]).T
        function = run.lift([gains * spectrum.b])
        residual = y - K @ function.dual - function.intercept
        c = function.dual[:, 0]

        passed = np.sum((1 - spectrum.t[:, None] * gains) ** 2 * spectrum.b**2)
        # Galerkin: within the space, the residual is that of the small problem, plus what leaves the space.
        outside = run.tikhonov_bound(-1, [lam]).training[0, 0]
        assert_allclose(np.sqrt(w @ residual[:, 0] ** 2 / w.sum()), np.sqrt(passed), atol=outside + 1e-12)
        assert_allclose(c @ K @ c, np.sum(spectrum.t[:, None] * gains**2 * spectrum.b**2), rtol=1e-9)


@pytest.mark.parametrize("spectrum", [*SPECTRA, "kernel"])
def test_landweber_is_gradient_descent_step_by_step(spectrum, rng):
    """After s steps of Lanczos, the first s steps of descent are exact: they are polynomials of degree below s."""
    K, y = matrices(rng)[spectrum], targets(rng)
    top = np.linalg.eigvalsh(K / N)[-1]
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, None))
    c = np.zeros_like(y)
    for s in range(1, 16):
        run.extend(1)
        c += (y - K @ c) / (N * top)
        found = dual_at(run, Landweber(step=1 / top), [s]).dual
        assert_allclose(found, c, atol=1e-11 * np.abs(c).max())

    early = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, None)).extend(1)
    if spectrum != "flat":
        ahead = dual_at(early, Landweber(step=1 / top), [2]).dual
        assert np.abs(ahead - dual_at(run, Landweber(step=1 / top), [2]).dual).max() > 1e-9 * np.abs(ahead).max()


def test_the_nu_method_is_its_recurrence_step_by_step(rng):
    K, y, nu = kernel_matrix(rng), targets(rng, k=1), 2.0
    scale = 1.1 * np.linalg.eigvalsh(K / N)[-1]
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, None))
    before, now = np.zeros_like(y), np.zeros_like(y)
    for i in range(1, 16):
        run.extend(1)
        wide = (i + 2 * nu - 1) * (2 * i + 4 * nu - 1)
        u = (i - 1) * (2 * i - 3) * (2 * i + 2 * nu - 1) / (wide * (2 * i + 2 * nu - 3))
        omega = 4 * (2 * i + 2 * nu - 1) * (i + nu - 1) / wide
        before, now = now, now + u * (now - before) + omega / (N * scale) * (y - K @ now)
        assert_allclose(dual_at(run, NuMethod(nu=nu, scale=scale), [i]).dual, now, atol=1e-11 * np.abs(now).max())


SPLITS = {
    "k-fold": folds_of(),
    "past and future": [(np.arange(20), np.arange(20, 30)), (np.arange(30), np.arange(30, 40))],
    "repeated rows": [(np.r_[0:40, 0:10, 5], np.arange(40, 60))],
    "train and test overlap": [(np.arange(0, 50), np.arange(30, 60))],
    "order of its own": [(np.arange(50)[::-1], np.array([59, 51, 55]))],
}


@pytest.mark.parametrize("center", ["target", "features", None])
@pytest.mark.parametrize("split", SPLITS)
def test_masked_folds_equal_models_refitted_by_linear_solves(split, center, rng):
    K, y = kernel_matrix(rng), targets(rng)
    lam = 1e-2
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, center), SPLITS[split]).extend(2 * N)
    for i, (train, test) in enumerate(SPLITS[split]):
        m = len(train)
        part, cross = K[np.ix_(train, train)], K[np.ix_(test, train)]
        H = np.eye(m) - 1 / m if center == "features" else np.eye(m)
        mean = y[train].mean(axis=0) if center else np.zeros(2)
        c = H @ np.linalg.solve(H @ part @ H + m * lam * np.eye(m), H @ (y[train] - mean))
        offset = part.mean(axis=0) @ c if center == "features" else 0
        expected = cross @ c - offset + mean

        # Rounding relative to the smallest eigenvalue, lam.
        assert_allclose(run.held_out(i, Tikhonov(), [lam])[0], expected, atol=1e-10)
        function = run.lift_problem(i, [Tikhonov().gains(part.t, [lam]).T * part.b for part in run.fold(i)])
        assert_allclose(K[test] @ function.dual + function.intercept, expected, atol=1e-10)
        unseen = np.setdiff1d(np.arange(N), train)
        assert not function.dual[unseen].any()


@pytest.mark.parametrize("center", ["target", "features", None])
def test_integer_weights_are_repeated_rows(center, rng):
    K, y, w = kernel_matrix(rng), targets(rng), weights(rng)
    again = np.repeat(np.arange(N), w.astype(int))
    weighted = KrylovDecomposition(PrecomputedGram(K), Sample(y, w, center)).extend(12)
    repeated = KrylovDecomposition(PrecomputedGram(K[np.ix_(again, again)]), Sample(y[again], None, center)).extend(12)

    for mine, other in zip(weighted.spectra, repeated.spectra):
        assert_allclose(mine.t, other.t, atol=1e-12)
        assert_allclose(abs(mine.b), abs(other.b), atol=1e-9)
    function, expected = dual_at(weighted, Tikhonov(), [0.01]), dual_at(repeated, Tikhonov(), [0.01])
    assert_allclose(
        K @ function.dual + function.intercept, K[:, again] @ expected.dual + expected.intercept, atol=1e-10
    )


def test_normalize_false_puts_eigenvalues_on_the_scale_of_K(rng):
    K, y, w = kernel_matrix(rng), targets(rng), weights(rng)
    by_n = KrylovDecomposition(PrecomputedGram(K), Sample(y, w, "features"), folds_of()).extend(8)
    plain = KrylovDecomposition(PrecomputedGram(K), Sample(y, w, "features", normalize=False), folds_of()).extend(8)

    assert_allclose(plain.spectra[0].t, by_n.spectra[0].t * w.sum(), rtol=1e-10)
    assert_allclose(dual_at(plain, Tikhonov(), [w.sum()]).dual, dual_at(by_n, Tikhonov(), [1.0]).dual, atol=1e-12)
    seen = w[folds_of()[0][0]].sum()
    assert_allclose(plain.held_out(0, Tikhonov(), [seen]), by_n.held_out(0, Tikhonov(), [1.0]), atol=1e-12)


def test_each_target_is_as_if_alone(rng):
    K, y = kernel_matrix(rng), targets(rng, k=3)
    together = KrylovDecomposition(PrecomputedGram(K), Sample(y), folds_of()).extend(7)
    for k in range(3):
        alone = KrylovDecomposition(PrecomputedGram(K), Sample(y[:, [k]]), folds_of()).extend(7)
        assert_allclose(together.spectra[k].t, alone.spectra[0].t, rtol=1e-10, atol=1e-12)
        mine = together.held_out(1, Tikhonov(), LAMS)[:, :, k]
        assert_allclose(mine, alone.held_out(1, Tikhonov(), LAMS)[:, :, 0], atol=1e-8)


def test_all_ways_of_keeping_K_agree(rng):
    n = 300
    X, y = rng.standard_normal((n, 5)), targets(rng, n=n)
    sample, folds, lams = Sample(y, None, "features"), folds_of(n), np.geomspace(1, 1e-2, 5)
    K = Linear()(X)
    grams = [KernelGram(Linear(), X), KernelGram(Linear(), X, budget=0), KernelGram(Linear(), X, budget=n * 600)]
    grams += [ExplicitGram(X), PrecomputedGram(K)]
    expected = ExactDecomposition(K, sample, folds).held_out(1, Tikhonov(), lams)

    for gram in grams:
        run = KrylovDecomposition(gram, sample, folds).extend(20)
        assert run.exact
        assert_allclose(run.held_out(1, Tikhonov(), lams), expected, atol=1e-9, err_msg=str(gram))


@pytest.mark.parametrize("budget", [None, 0])
def test_mixed_precision_errs_as_much_as_it_says(budget, rng):
    n = 400
    X, y = rng.standard_normal((n, 3)), targets(rng, n=n)
    sample, folds, lams = Sample(y, weights(rng, n), "features"), folds_of(n), np.geomspace(1, 1e-3, 8)
    exact = ExactDecomposition(RBF(gamma=0.3)(X), sample, folds)
    run = KrylovDecomposition(KernelGram(RBF(gamma=0.3), X, np.float32, budget), sample, folds).extend(60)
    for filter in FILTERS:
        bounds, worst = [run.filter_bound(-1, lambda t, filter=filter: filter.gains(t, lams))], []
        if filter is FILTERS[0]:
            bounds.append(run.tikhonov_bound(-1, lams))
        for i, lam in enumerate(lams):
            mine, other = dual_at(run, filter, [lam]), dual_at(exact, filter, [lam])
            gap = exact.K @ (mine.dual - other.dual) + mine.intercept - other.intercept
            worst.append(np.sqrt(sample.weight @ gap**2 / sample.total))
            assert all((worst[-1] <= bound.training[i] + bound.rounding[i]).all() for bound in bounds)
        assert all(bound.rounding.max() < 0.1 for bound in bounds), "a bound that says nothing"
        assert np.max(worst) > 1e-9, "products were not in float32"
    for i in range(3):
        assert_allclose(run.held_out(i, Tikhonov(), lams), exact.held_out(i, Tikhonov(), lams), atol=1e-3)


def test_going_on_is_the_same_as_one_long_run(rng):
    K, sample = kernel_matrix(rng), Sample(targets(rng), weights(rng), "features")
    once = KrylovDecomposition(PrecomputedGram(K), sample, folds_of()).extend(40)
    later = KrylovDecomposition(PrecomputedGram(K), sample, folds_of())
    for steps in (1, 2, 30, 0, 7):
        later.extend(steps)
        dual_at(later, Tikhonov(), [0.1])

    assert later.steps == once.steps
    for mine, other in zip(later.spectra, once.spectra):
        assert_array_equal(mine.t, other.t)
    assert_array_equal(later.held_out(2, Tikhonov(), LAMS), once.held_out(2, Tikhonov(), LAMS))
    assert_array_equal(dual_at(later, Tikhonov(), [0.1]).dual, dual_at(once, Tikhonov(), [0.1]).dual)


def test_the_number_of_threads_changes_nothing(rng, monkeypatch):
    n = 700
    K, sample = kernel_matrix(rng, n), Sample(targets(rng, n), None, "features")
    monkeypatch.setattr(krylov, "_FEW", 0)
    monkeypatch.setattr(_product, "_FEW", 0)
    runs = []
    for threads in (1, 2):
        monkeypatch.setattr(krylov, "available_threads", lambda threads=threads: threads)
        runs.append(KrylovDecomposition(PrecomputedGram(K), sample, folds_of(n)).extend(15))
    assert_array_equal(runs[0].spectra[0].t, runs[1].spectra[0].t)
    assert_array_equal(runs[0].held_out(0, Tikhonov(), LAMS), runs[1].held_out(0, Tikhonov(), LAMS))


def test_the_bases_stay_orthonormal(rng):
    K = psd_matrix(0.5 ** np.arange(N), rng)
    run = KrylovDecomposition(PrecomputedGram(K), Sample(targets(rng), None, "features"), folds_of()).extend(30)
    for column in [column for columns in run.columns for column in columns]:
        V = np.concatenate(column._rows(column._basis, column.steps))
        assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-13)
        assert_allclose(V @ column.problem.unit, 0, atol=1e-13)


def test_a_kernel_of_rank_one_is_exact_after_two_steps(rng):
    q = rng.standard_normal(N)
    y = targets(rng, k=1)
    run = KrylovDecomposition(PrecomputedGram(np.outer(q, q)), Sample(y, None, None)).extend(50)

    assert run.exact
    assert run.steps == 2
    assert run.n_products == 2
    expected = q * (q @ y[:, 0]) / (q @ q + N * 0.1)
    assert_allclose(np.outer(q, q) @ dual_at(run, Tikhonov(), [0.1]).dual[:, 0], expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_repeated_rows_are_no_new_directions(seed):
    """Ten rows, and what K does not see of the target: eleven directions, and one of rounding errors at most.

    Each small beta on the way magnifies the errors that the basis holds, so that no threshold tells that direction from
    a true one. K maps it to nothing, and there it ends.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((10, 2)).repeat(6, axis=0)
    K, sample = RBF(gamma=1.0)(X), Sample(targets(rng), None, "target")
    run = KrylovDecomposition(PrecomputedGram(K), sample, folds_of()).extend(50)

    assert run.exact
    for column in [column for columns in run.columns for column in columns]:
        assert 8 <= column.steps <= 12
        t, _ = column.spectrum()
        assert np.sum(t > 1e-10 * t[0]) <= 10
    # Rounding of the largest eigenvalue is divided by the smallest lam.
    exact = ExactDecomposition(K, sample, folds_of())
    assert_allclose(run.held_out(0, Tikhonov(), LAMS), exact.held_out(0, Tikhonov(), LAMS), atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_a_target_in_an_invariant_subspace_needs_no_more_than_that(seed):
    """Here K does not map rounding errors to nothing: whether they are followed or not, they change nothing."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((N, N)))
    t = np.sort(rng.uniform(0.1, 1, N))[::-1]
    K, c = N * (Q * t) @ Q.T, rng.standard_normal(5) + 3
    sample = Sample(Q[:, ::12] @ c[:, None], None, None)
    for steps in (5, 8, N):
        run = KrylovDecomposition(PrecomputedGram((K + K.T) / 2), sample).extend(steps)
        assert run.exact or run.tikhonov_bound(-1, LAMS).training.max() < 1e-9
        for lam in LAMS:
            expected = Q[:, ::12] @ (c / (t[::12] + lam)) / N
            assert_allclose(dual_at(run, Tikhonov(), [lam]).dual[:, 0], expected, atol=1e-12)


@pytest.mark.parametrize("center", ["target", "features"])
def test_a_constant_target_is_its_mean(center, rng):
    K, y = kernel_matrix(rng), np.column_stack([np.full(N, 1 / 3), rng.standard_normal(N)])
    run = KrylovDecomposition(PrecomputedGram(K), Sample(y, None, center), folds_of()).extend(5)

    assert run.columns[-1][0].steps == 1, "no product is wasted on it"
    assert run.spectra[0].t[0] > 0
    assert not run.spectra[0].b.any()
    assert_allclose(run.held_out(0, Tikhonov(), LAMS)[:, :, 0], 1 / 3, rtol=1e-12)
    function = dual_at(run, Tikhonov(), [0.1])
    assert not function.dual[:, 0].any()
    assert_allclose(function.intercept[0], 1 / 3, rtol=1e-12)
    assert_allclose(run.tikhonov_bound(-1, LAMS).training[:, 0], 0)
    assert_allclose(run.filter_bound(0, lambda t: Tikhonov().gains(t, LAMS)).training[:, 0], 0)


def test_a_target_without_a_mean_that_is_zero_in_one_fold(rng):
    y = np.zeros((N, 1))
    test = folds_of()[0][1]
    y[test] = 1
    run = KrylovDecomposition(PrecomputedGram(kernel_matrix(rng)), Sample(y, None, None), folds_of()).extend(10)

    assert_array_equal(run.held_out(0, Tikhonov(), LAMS), 0)
    assert run.held_out(1, Tikhonov(), LAMS).any()


@pytest.mark.parametrize("center", ["target", "features", None])
def test_one_row(center):
    sample = Sample(np.array([[2.0], [5.0]]), np.array([1.0, 0.0]), center)
    run = KrylovDecomposition(PrecomputedGram(np.eye(2)), sample, [(np.array([0]), np.array([1]))]).extend(4)
    function = dual_at(run, Tikhonov(), [1.0])

    assert run.exact
    assert_allclose(function.dual[:, 0], [0.0 if center else 1.0, 0.0])
    assert_allclose(function.intercept, 2.0 if center else 0.0)
    assert_allclose(run.held_out(0, Tikhonov(), [1.0]).ravel(), 2.0 if center else 0.0)
    assert_allclose(run.tikhonov_bound(0, [1.0]).held_out, 0, atol=1e-12)


def test_a_kernel_that_is_zero(rng):
    run = KrylovDecomposition(PrecomputedGram(np.zeros((N, N))), Sample(targets(rng)), folds_of()).extend(3)

    assert run.exact
    assert_array_equal(run.spectra[0].t, [0.0])
    assert_allclose(run.held_out(0, Tikhonov(), [1.0])[0], np.tile(run.problems[0].sample.mean, (20, 1)))


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_what_centring_leaves_of_a_constant_kernel_is_nothing(precision, rng):
    """Rounding errors of the constant that was taken away are neither eigenvalues nor directions to follow."""
    X = np.ones((N, 2))
    run = KrylovDecomposition(KernelGram(RBF(gamma=1.0), X, precision), Sample(targets(rng), None, "features"))
    run.extend(20)

    assert run.exact
    assert run.steps == 1
    assert_array_equal([s.t[0] for s in run.spectra], 0)


def test_a_wide_kernel_is_not_taken_for_an_indefinite_one(rng):
    X = rng.standard_normal((N, 2))
    gram = KernelGram(RBF(gamma=1e-9), X)
    sample = Sample(X[:, :1] + 0.1 * rng.standard_normal((N, 1)), None, "features")
    run = KrylovDecomposition(gram, sample, folds_of()).extend(20)
    t = run.spectra[0].t

    # With so wide a kernel there are two directions, those of the linear one.
    assert_allclose(t[:2], 2e-9 * np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1], rtol=1e-4)
    assert not (t[2:] > 1e-14).any()
    assert run.exact


def test_memory_is_what_it_says(rng):
    n, k = 200, 2
    run = KrylovDecomposition(PrecomputedGram(kernel_matrix(rng, n)), Sample(targets(rng, n, k)), folds_of(n))
    rows = sum(len(train) + len(test) for train, test in folds_of(n)) + n

    assert run.step_bytes() == 8 * k * rows
    # One vector ahead of the steps.
    assert run.extend(31).nbytes == 32 * 8 * k * rows
    assert run.n_products == 31 * k * 4


def test_mixed_precision_leaves_no_ghosts_below_its_errors(rng):
    """Ritz values that are rounding errors are zero: cutting the spectrum off would divide by them."""
    X = rng.standard_normal((300, 1))
    run = KrylovDecomposition(KernelGram(RBF(gamma=0.1), X, np.float32), Sample(targets(rng, 300, 1))).extend(60)
    t = run.spectra[0].t

    assert np.all((t == 0) | (t > 1e-7 * t[0]))
    assert run.steps < 60


def test_what_is_not_a_gram_matrix_is_refused(rng):
    indefinite = psd_matrix(np.r_[-1.0, np.ones(N - 1)], rng)
    with pytest.raises(ValueError, match="kernel matrix is not positive semidefinite"):
        _ = KrylovDecomposition(PrecomputedGram(indefinite), Sample(targets(rng))).extend(5).spectra
    allowed = KrylovDecomposition(PrecomputedGram(indefinite), Sample(targets(rng)), psd_tol=2.0).extend(5)
    assert allowed.spectra[0].t[-1] == 0

    X = rng.standard_normal((N, 2))
    X[3] = np.nan
    with pytest.raises(ValueError, match="a product with the kernel matrix is not finite"):
        KrylovDecomposition(KernelGram(Linear(), X), Sample(targets(rng))).extend(1)
    with pytest.raises(ValueError, match="the target contains NaN or infinity"):
        KrylovDecomposition(PrecomputedGram(np.eye(2)), Sample(np.array([[1.0], [np.nan]])))
