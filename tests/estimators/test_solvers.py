"""The Krylov route against the exact one: same choice, same functions, and bounds that hold."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from eigenpath import (
    TSVD,
    KernelPCA,
    KernelPCR,
    KernelProjectionMachine,
    KernelRidge,
    KFoldCV,
    Landweber,
    NuMethod,
    SpectralClassifier,
    SpectralRegressor,
    Tikhonov,
)
from eigenpath._threads import available_threads
from eigenpath.filters import FILTERS
from eigenpath.gram import KernelGram
from eigenpath.kernels import RBF, CallableKernel, Laplacian, Linear, Matern, Precomputed
from eigenpath.selection import Discrepancy
from eigenpath.spectra.base import CENTERINGS

GAMMA, TOL = 0.3, 1e-3


@pytest.fixture
def data(rng):
    """Rows to train on, two targets of different smoothness, new rows."""
    X = rng.standard_normal((240, 4))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1] + 2, X[:, 2] ** 2 - X[:, 3]])
    return X[:200], (Y + 0.3 * rng.standard_normal(Y.shape))[:200], X[200:]


def rms(values, weight=None):
    return np.sqrt(np.average(np.square(values), axis=0, weights=weight))


def both(make, *args, **options):
    """An estimator fitted by either route, the Krylov one on the path of the exact one."""
    exact = make(solver="exact", **options).fit(*args)
    filter = exact.path_.filter.with_value(exact.path_.params)
    return exact, make(solver="krylov", **(options | {"filter": filter})).fit(*args)


def assert_as_good(exact, krylov, slack=5 * TOL):
    """Neighbours may tie: by the exact scores, the choice is no worse than the best by more than ``slack``.

    Errors of ``tol`` of the residual, in root mean square, move a mean square by twice that share.
    """
    assert krylov.solver_.route == "krylov"
    scores = exact.path_.scores.mean(axis=1)
    assert scores[krylov.choice_.index[0]] <= scores.min() * (1 + slack)


def assert_certified(krylov, X, y, weight=None, centred=True):
    """The error of the function, measured against the exact one of the same parameter, is within its bound."""
    exact = SpectralRegressor(
        krylov.kernel_, filter=krylov.filter_, solver="exact", center=krylov.center, psd_tol=krylov.psd_tol
    )
    exact.fit(X, y, sample_weight=weight)
    found, right = krylov.predict(X), exact.predict(X)
    scale = rms(y - (np.average(y, axis=0, weights=weight) if centred else 0), weight)
    error = np.max(rms(found - right, weight) / scale)
    # The exact route has rounding errors of its own, which small eigenvalues enlarge.
    assert error <= krylov.solver_.error + krylov.solver_.rounding + 1e-9
    return exact


# --- filters, centrings, weights, targets --------------------------------------------------------------------------


@pytest.mark.parametrize("center", CENTERINGS)
@pytest.mark.parametrize("name", FILTERS)
def test_both_routes_choose_alike_and_give_the_same_function(name, center, data):
    X, Y, new = data
    y = Y[:, 0]
    exact, krylov = both(SpectralRegressor, X, y, gamma=GAMMA, filter=name, center=center)
    assert_as_good(exact, krylov)
    assert krylov.solver_.error <= TOL and krylov.n_iter_ == krylov.solver_.steps > 1
    same = assert_certified(krylov, X, y, centred=center is not None)
    # New rows and folds are not training rows: their errors are of the same order.
    assert rms(krylov.predict(new) - same.predict(new)) <= 10 * TOL * rms(y - y.mean())
    i = int(krylov.choice_.index[0])
    near = slice(max(i - 3, 0), i + 2)
    left, right = krylov.path_.fold_scores[:, near], exact.path_.fold_scores[:, near]
    assert_allclose(np.sqrt(left), np.sqrt(right), atol=5 * TOL * np.sqrt(right.min()))
    assert_allclose(krylov.path_.training_error[near], exact.path_.training_error[near], rtol=10 * TOL, atol=1e-6)
    assert_allclose(krylov.path_.norm[near], exact.path_.norm[near], rtol=20 * TOL)


@pytest.mark.parametrize("center", CENTERINGS)
def test_coefficients_come_close_as_tol_is_lowered(center, data):
    X, Y, _ = data
    exact = SpectralRegressor(gamma=GAMMA, filter=Tikhonov(1e-3), solver="exact", center=center).fit(X, Y)
    gaps = []
    for tol in (1e-1, 1e-4, 1e-8):
        one = SpectralRegressor(gamma=GAMMA, filter=Tikhonov(1e-3), solver="krylov", center=center, tol=tol).fit(X, Y)
        # The residual of (K + n lam) c = y is n lam times the error of c, at most, and less than that of the function.
        gaps.append(np.linalg.norm(one.dual_coef_ - exact.dual_coef_) / np.linalg.norm(exact.dual_coef_))
        assert_allclose(one.intercept_, exact.intercept_, atol=100 * tol)
    assert gaps[1] <= 1e-2 and gaps[2] <= 1e-6
    assert gaps[0] > gaps[1] > gaps[2]


@pytest.mark.parametrize("center", CENTERINGS)
@pytest.mark.parametrize("name", ["tikhonov", "nu_method"])
def test_weights_count_on_both_routes(name, center, data, rng):
    X, Y, new = data
    weight = rng.integers(0, 4, len(X)).astype(float)
    folds = [(np.flatnonzero(np.arange(200) % 4 != f), np.flatnonzero(np.arange(200) % 4 == f)) for f in range(4)]
    exact = SpectralRegressor(gamma=GAMMA, filter=name, solver="exact", center=center, cv=folds)
    krylov = SpectralRegressor(gamma=GAMMA, solver="krylov", center=center, cv=folds)
    exact.fit(X, Y[:, 0], weight)
    krylov.set_params(filter=exact.filter_.with_value(exact.path_.params)).fit(X, Y[:, 0], weight)
    assert_as_good(exact, krylov)
    assert_certified(krylov, X, Y[:, 0], weight, centred=center is not None)
    unweighted = SpectralRegressor(gamma=GAMMA, filter=krylov.filter_, solver="krylov", center=center).fit(X, Y[:, 0])
    assert rms(krylov.predict(new) - unweighted.predict(new)) > 1e-2


@pytest.mark.parametrize("name", ["tikhonov", "showalter", "landweber"])
def test_several_targets_share_or_have_their_own_parameters(name, data):
    X, Y, new = data
    exact, krylov = both(SpectralRegressor, X, Y, gamma=GAMMA, filter=name)
    assert_as_good(exact, krylov)
    assert_certified(krylov, X, Y)
    own = SpectralRegressor(gamma=GAMMA, filter=krylov.filter, solver="krylov", per_target=True).fit(X, Y)
    assert own.choice_.params.shape == (2,)
    for k in range(2):
        alone = SpectralRegressor(gamma=GAMMA, filter=krylov.filter, solver="exact").fit(X, Y[:, k])
        mine = own.choice_.index[k]
        assert alone.path_.scores[mine, 0] <= alone.path_.scores.min() * (1 + 5 * TOL)
        at = SpectralRegressor(gamma=GAMMA, filter=alone.filter_.with_value(own.choice_.params[k]), solver="exact")
        right = at.fit(X, Y[:, k]).predict(new)
        assert rms(own.predict(new)[:, k] - right) <= 10 * TOL * Y[:, k].std()


def test_kernel_pcr_keeps_the_same_components(data):
    X, Y, new = data
    counts = [1, 3, 5, 8, 12, 20, 30]
    exact = KernelPCR(counts, gamma=0.1, solver="exact").fit(X, Y[:, 0])
    krylov = KernelPCR(counts, gamma=0.1, solver="krylov").fit(X, Y[:, 0])
    assert krylov.n_components_ == exact.n_components_
    assert rms(krylov.predict(new) - exact.predict(new)) <= 10 * TOL * Y[:, 0].std()


def test_kernel_ridge_chooses_the_same_alpha(data):
    X, Y, new = data
    alphas = np.logspace(-4, 2, 30)
    exact = KernelRidge(kernel="rbf", gamma=GAMMA, alphas=alphas, solver="exact").fit(X, Y)
    krylov = KernelRidge(kernel="rbf", gamma=GAMMA, alphas=alphas, solver="krylov").fit(X, Y)
    assert_as_good(exact, krylov)
    K = rbf_kernel(X, gamma=GAMMA)
    dual = np.linalg.solve(K + krylov.alpha_ * np.eye(200), Y)
    assert rms(rms(K @ (krylov.dual_coef_ - dual))) <= krylov.solver_.error * rms(rms(Y))
    assert_allclose(krylov.predict(new), rbf_kernel(new, X, gamma=GAMMA) @ dual, atol=10 * TOL)


@pytest.mark.parametrize("classes", [2, 3])
def test_classifiers_choose_alike(classes, data):
    X, Y, new = data
    labels = np.digitize(Y[:, 0], np.quantile(Y[:, 0], np.arange(1, classes) / classes))
    exact, krylov = both(SpectralClassifier, X, labels, gamma=GAMMA, filter="tikhonov", scoring="log_loss")
    assert_as_good(exact, krylov, slack=1e-2)
    same = SpectralClassifier(gamma=GAMMA, filter=krylov.filter_, solver="exact").fit(X, labels)
    assert same.decision_function(new).shape == ((40,) if classes == 2 else (40, 3))
    assert_allclose(krylov.decision_function(new), same.decision_function(new), atol=10 * TOL)
    # Counts of errors are steps: one row more or less in 200.
    exact, krylov = both(SpectralClassifier, X, labels, gamma=GAMMA, filter="nu_method")
    assert abs(exact.choice_.value - krylov.choice_.value) <= 1 / 200 + 1e-12


# --- kernels and data ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", CENTERINGS)
def test_a_precomputed_kernel_is_its_kernel(center, data):
    X, Y, new = data
    given = SpectralRegressor("precomputed", solver="krylov", center=center)
    given.fit(rbf_kernel(X, gamma=GAMMA), Y)
    named = SpectralRegressor("rbf", gamma=GAMMA, solver="krylov", center=center).fit(X, Y)
    assert "given" in given.solver_.how and "stored" in named.solver_.how
    assert_allclose(given.choice_.params, named.choice_.params, rtol=1e-6)
    assert_allclose(given.predict(rbf_kernel(new, X, gamma=GAMMA)), named.predict(new), atol=1e-6)


@pytest.mark.parametrize("kernel", [RBF(GAMMA), Laplacian(0.1), Linear()], ids=lambda kernel: type(kernel).__name__)
def test_sparse_rows_give_what_dense_ones_do(kernel, data):
    X, Y, new = data
    X, new = np.where(np.abs(X) > 0.7, X, 0), np.where(np.abs(new) > 0.7, new, 0)
    dense = SpectralRegressor(kernel, solver="krylov").fit(X, Y)
    thin = SpectralRegressor(kernel, solver="krylov").fit(sparse.csr_array(X), Y)
    assert thin.solver_.route == "krylov"
    assert_allclose(thin.predict(sparse.csr_array(new)), dense.predict(new), atol=1e-6)
    if not isinstance(kernel, Linear):
        assert_certified(thin, sparse.csr_array(X), Y)


def test_lists_of_filters_and_kernels_are_judged_as_one_by_one(data):
    """Filters settle at different sizes of one Krylov space."""
    X, Y, new = data
    filters = [FILTERS["nu_method"](), Tikhonov(), TSVD(np.arange(30)), FILTERS["showalter"]()]
    kernels = [RBF(GAMMA), Matern(gamma=0.3, nu=1.5)]
    together = SpectralRegressor(kernels, filter=filters, solver="krylov").fit(X, Y[:, 0])
    apart = [SpectralRegressor(k, filter=f, solver="krylov").fit(X, Y[:, 0]) for k in kernels for f in filters]
    assert [repr(one.kernel) for one in together.candidates_] == [repr(one.kernel_) for one in apart]
    values = [one.choice_.value for one in apart]
    assert_allclose([one.value for one in together.candidates_], values, rtol=5 * TOL)
    assert together.choice_.value == min(one.value for one in together.candidates_)
    best = apart[int(np.argmin([one.value for one in together.candidates_]))]
    assert rms(together.predict(new) - best.predict(new)) <= 0.02 * Y[:, 0].std()


def test_bandwidths_are_compared_coarsely_and_the_best_is_refined(data):
    X, Y, new = data
    exact = SpectralRegressor(solver="exact").fit(X, Y[:, 0])
    krylov = SpectralRegressor(solver="krylov").fit(X, Y[:, 0])
    assert krylov.choice_.value <= exact.choice_.value * (1 + 10 * TOL)
    assert krylov.solver_.error <= TOL
    of_winner = [one for one in krylov.candidates_ if one.kernel.gamma == krylov.kernel_.gamma]
    assert [one.value for one in of_winner] == [krylov.choice_.value], "the list has the refined value, and no other"
    alone = SpectralRegressor(gamma=krylov.kernel_.gamma, solver="krylov").fit(X, Y[:, 0])
    assert_allclose(krylov.predict(new), alone.predict(new), rtol=1e-9)


@pytest.mark.parametrize("name", ["concrete", "kin8nm"])
def test_real_data(name, data_dir):
    with np.load(data_dir / f"{name}.npz") as file:
        X, y = file["X"], file["y"]
    keep = np.random.default_rng(0).permutation(len(X))[:250]
    X, y = X[keep], y[keep]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for filter in ("tikhonov", "nu_method", "tsvd"):
        exact, krylov = both(SpectralRegressor, X, y, gamma=0.1, filter=filter)
        assert_as_good(exact, krylov)
        assert_certified(krylov, X, y)


# --- prescribed spectra --------------------------------------------------------------------------------------------

SPECTRA = {
    "flat": np.ones(60),
    "geometric": 0.7 ** np.arange(60),
    "two clusters": np.where(np.arange(60) < 30, 1.0, 0.01),
    "rank-deficient": np.where(np.arange(60) < 9, 0.8 ** np.arange(60), 0.0),
    "one huge": np.where(np.arange(60) < 1, 1e8, 0.8 ** np.arange(60)),
}


@pytest.mark.parametrize("center", CENTERINGS)
@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("name", ["tikhonov", "iterated_tikhonov", "showalter", "landweber", "nu_method"])
def test_prescribed_spectra(name, spectrum, center, psd_matrix, rng):
    K = psd_matrix(SPECTRA[spectrum])
    y = K @ rng.standard_normal(60) / np.linalg.norm(K, 2) + 0.1 * rng.standard_normal(60)
    options = {"kernel": "precomputed", "center": center, "psd_tol": 1e-10}
    filter = FILTERS[name]()
    path = filter.path(np.linalg.eigvalsh(K)[::-1] / 60)
    filter = filter.with_value(path[path <= 3000] if filter.parameter == "n_iter" else path[path >= 1e-9 * path[0]])
    exact = SpectralRegressor(filter=filter, solver="exact", **options).fit(K, y)
    krylov = SpectralRegressor(filter=filter, solver="krylov", **options).fit(K, y)
    assert_as_good(exact, krylov)
    right = SpectralRegressor(filter=krylov.filter_, solver="exact", **options).fit(K, y).predict(K)
    bound = krylov.solver_.error + krylov.solver_.rounding
    # K's own rounding errors are eps times its largest eigenvalue; the function feels them at lam, or 1/steps.
    assert rms(krylov.predict(K) - right) <= bound * rms(y) + 1e-6
    if spectrum == "flat" and center is None:
        assert krylov.solver_.steps <= 2, "one eigenvalue is one step"


# --- exact answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILTERS)
def test_duplicated_rows_end_the_space_early(name, data):
    X, Y, new = data
    X = np.repeat(X[:10], 20, axis=0)
    exact, krylov = both(SpectralRegressor, X, Y[:, 0], gamma=GAMMA, filter=name)
    assert krylov.solver_.steps <= 14 and krylov.solver_.error == 0
    assert_as_good(exact, krylov)
    same = SpectralRegressor(gamma=GAMMA, filter=krylov.filter_, solver="exact").fit(X, Y[:, 0])
    assert_allclose(krylov.predict(new), same.predict(new), atol=1e-7)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("center", CENTERINGS)
def test_a_kernel_of_rank_one_is_a_line(name, center, data):
    X, Y, _ = data
    x = X[:, :1]
    exact, krylov = both(SpectralRegressor, x @ x.T, Y[:, 1], kernel="precomputed", filter=name, center=center)
    assert krylov.solver_.steps <= 3 and krylov.solver_.error == 0
    assert_as_good(exact, krylov, slack=1e-9)
    same = SpectralRegressor("precomputed", filter=krylov.filter_, center=center, solver="exact")
    assert_allclose(krylov.predict(x @ x.T), same.fit(x @ x.T, Y[:, 1]).predict(x @ x.T), atol=1e-8)


@pytest.mark.parametrize("name", FILTERS)
def test_a_constant_target_is_learned(name, data):
    X, _, new = data
    krylov = SpectralRegressor(gamma=GAMMA, filter=name, solver="krylov").fit(X, np.full(200, 3.25))
    assert krylov.solver_.error == 0
    assert_allclose(krylov.predict(new), 3.25, rtol=1e-12)


@pytest.mark.parametrize("name", FILTERS)
def test_equal_rows_predict_the_mean(name, data):
    """K maps the centred target to zero: not an error, as it is none on the exact route."""
    _, Y, _ = data
    X = np.ones((200, 2))
    for solver in ("exact", "krylov"):
        model = SpectralRegressor(gamma=GAMMA, filter=name, solver=solver).fit(X, Y)
        assert model.solver_.route == solver
        assert_allclose(model.predict(X[:3]), np.tile(Y.mean(axis=0), (3, 1)), atol=1e-9)
        assert_allclose(model.path_.training_error, np.tile(Y.var(axis=0), (len(model.path_), 1)), rtol=1e-9)
    with pytest.raises(ValueError, match="the kernel matrix is zero"):
        SpectralRegressor(gamma=GAMMA, filter=name, solver="krylov", center="features").fit(X, Y)


# --- precision, threads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("name", ["tikhonov", "nu_method"])
def test_mixed_precision_is_close_and_says_how_close(name, given, data):
    X, Y, new = data
    K, rows, kernel = X, new, RBF(GAMMA)
    if given:
        K, rows, kernel = rbf_kernel(X, gamma=GAMMA), rbf_kernel(new, X, gamma=GAMMA), "precomputed"
    exact, mixed = both(
        lambda solver, **options: SpectralRegressor(
            kernel, solver=solver, precision="mixed" if solver == "krylov" else "double", **options
        ),
        K,
        Y,
        filter=name,
    )
    assert "mixed" in mixed.solver_.how
    assert_as_good(exact, mixed, slack=1e-2)
    double = SpectralRegressor(kernel, filter=mixed.filter_, solver="krylov", tol=1e-6).fit(K, Y)
    assert mixed.solver_.rounding > 1e3 * double.solver_.rounding
    assert mixed.solver_.rounding < 0.1
    gap = np.max(rms(mixed.predict(K) - double.predict(K)) / Y.std(axis=0))
    assert 0 < gap <= mixed.solver_.error + mixed.solver_.rounding + double.solver_.error
    assert rms(rms(mixed.predict(rows) - double.predict(rows))) <= 0.01


@pytest.mark.parametrize("storage", ["stored", "tiled"])
def test_the_number_of_threads_does_not_matter(storage, rng):
    X = rng.standard_normal((700, 3))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(700)
    limit = "1GB" if storage == "stored" else "11MB"
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = SpectralRegressor(gamma=1.0, filter=Tikhonov(np.logspace(-4, 0, 20)), solver="krylov", tol=1e-2)
            found.append(model.set_params(memory_limit=limit, max_iter=60).fit(X, y))
    assert found[0].n_iter_ == found[1].n_iter_
    assert_allclose(found[0].choice_.params, found[1].choice_.params)
    # Sums of a thousand terms in another order.
    assert_allclose(found[0].predict(X), found[1].predict(X), atol=1e-9)


# --- limits, interruption ------------------------------------------------------------------------------------------


def test_too_few_steps_are_confessed_with_the_remedy(data):
    X, Y, _ = data
    model = SpectralRegressor(gamma=GAMMA, solver="krylov", max_iter=4)
    message = "Tikhonov: not certain .* after 4 Krylov steps.* Raise max_iter, .*solver='exact'"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model.fit(X, Y[:, 0])
    assert len(caught) == 1
    assert model.n_iter_ == 4 and model.solver_.error > TOL
    assert f"{model.solver_.error:.1g} of the exact" in str(caught[0].message)
    assert_certified(model, X, Y[:, 0])


def test_coarse_looks_at_bandwidths_do_not_warn_one_by_one(data):
    X, Y, _ = data
    with pytest.warns(ConvergenceWarning) as caught:
        model = SpectralRegressor(solver="krylov", max_iter=4).fit(X, Y[:, 0])
    assert len(model.candidates_) > 3 and len(caught) == 1


@pytest.mark.parametrize("rule", ["gcv", "loo", "discrepancy", "balancing"])
def test_rules_that_need_the_whole_spectrum_do_without_krylov(rule, data):
    X, Y, _ = data
    X, y = X[:60], Y[:60, 0]
    assert SpectralRegressor(gamma=GAMMA, rule=rule).fit(X, y).solver_.route == "exact"
    with pytest.raises(ValueError, match=r"solver='krylov' finds a part .* and rule=.* needs all of it"):
        SpectralRegressor(gamma=GAMMA, rule=rule, solver="krylov").fit(X, y)


@pytest.mark.parametrize("rule", ["a_priori", "holdout", Discrepancy(noise=0.3), KFoldCV(one_standard_error=True)])
def test_rules_that_do_not_need_it_run_on_krylov(rule, data):
    X, Y, new = data
    y = Y[:, 0]
    krylov = SpectralRegressor(gamma=GAMMA, rule=rule, solver="krylov").fit(X, y)
    exact = SpectralRegressor(gamma=GAMMA, rule=rule, filter=krylov.filter_, solver="exact").fit(X, y)
    assert krylov.solver_.error <= TOL
    assert_certified(krylov, X, y)
    assert rms(krylov.predict(new) - exact.predict(new)) <= 10 * TOL * y.std()
    with pytest.raises(ValueError, match="comparing kernels and filters by GCV needs all of it"):
        SpectralRegressor(gamma="auto", rule="a_priori", solver="krylov").fit(X, y)


class Interrupted:
    """A kernel function that Ctrl-C meets at its ``at``-th call."""

    def __init__(self, at):
        self.at, self.calls = at, 0

    def __call__(self, X, Z):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return rbf_kernel(X, Z, gamma=GAMMA)


@pytest.mark.parametrize("solver", ["exact", "krylov"])
def test_an_interrupted_fit_leaves_the_estimator_unfitted(solver, data):
    X, Y, new = data
    kernel = Interrupted(at=-1)
    model = SpectralRegressor(CallableKernel(kernel), solver=solver).fit(X, Y)
    before = model.predict(new)
    threads, kernel.calls, kernel.at = available_threads(), 0, 1
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(new)
    assert available_threads() == threads, "the limit on BLAS is taken back"
    kernel.at = -1
    assert_allclose(model.fit(X, Y).predict(new), before, rtol=1e-12)


def test_an_interruption_in_the_middle_of_a_run_leaves_it_unfitted(data, monkeypatch):
    X, Y, new = data
    model = SpectralRegressor(gamma=GAMMA, solver="krylov").fit(X, Y)
    before, steps = model.predict(new), []
    genuine = KernelGram.product

    def product(self, V, n_threads=None):
        steps.append(V.shape)
        if len(steps) == 30:
            raise KeyboardInterrupt
        return genuine(self, V, n_threads)

    threads = available_threads()
    monkeypatch.setattr(KernelGram, "product", product)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert len(steps) == 30 and available_threads() == threads
    with pytest.raises(NotFittedError):
        model.predict(new)
    monkeypatch.undo()
    assert_allclose(model.fit(X, Y).predict(new), before, rtol=1e-12)


def test_an_interrupted_solve_leaves_kernel_ridge_unfitted(data):
    X, Y, new = data
    kernel = Interrupted(at=-1)
    model = KernelRidge(kernel=CallableKernel(kernel)).fit(X, Y)
    model.predict(new)
    kernel.calls, kernel.at = 0, 1
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:50], Y[:50])
    with pytest.raises(NotFittedError):
        model.predict(new)


@pytest.mark.parametrize(
    "model",
    [KernelPCA(2, fit_inverse_transform=True), KernelProjectionMachine(max_components=5, cv=2)],
    ids=["pca", "machine"],
)
def test_other_interrupted_fits_leave_their_estimator_unfitted(model, data):
    X, Y, new = data
    y = Y[:, 0] > np.median(Y[:, 0])
    kernel = Interrupted(at=-1)
    model = clone(model).set_params(kernel=CallableKernel(kernel)).fit(X, y)
    use = model.transform if hasattr(model, "transform") else model.predict
    before, calls = use(new), kernel.calls
    for at in range(1, calls):
        kernel.calls, kernel.at = 0, at
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:70], y[:70])
        with pytest.raises(NotFittedError):
            use(new)
    kernel.at = -1
    model.fit(X, y)
    assert_allclose(use(new), before, rtol=1e-9)


@pytest.mark.parametrize("filter", [Landweber(30), NuMethod(7), Tikhonov(0.01), TSVD(lam=0.05)], ids=str)
def test_a_fold_in_which_there_is_nothing_to_learn(filter, rng):
    X = np.vstack([np.ones((100, 2)), rng.standard_normal((100, 2))])
    y = X[:, 0] + 0.1 * rng.standard_normal(200)
    options = {"gamma": 1.0, "filter": filter, "center": "features", "cv": KFold(2)}
    exact, krylov = (SpectralRegressor(solver=s, **options).fit(X, y) for s in ("exact", "krylov"))
    assert rms(krylov.predict(X) - exact.predict(X)) <= 10 * TOL * y.std()


@pytest.mark.parametrize("solver", ["exact", "krylov"])
def test_a_multiple_of_a_given_matrix_on_either_route(solver, data):
    X, Y, new = data
    K, rows = rbf_kernel(X, gamma=GAMMA), rbf_kernel(new, X, gamma=GAMMA)
    options = {"filter": Tikhonov(0.1), "solver": solver, "tol": 1e-8}
    named = SpectralRegressor(3.0 * RBF(GAMMA), **options).fit(X, Y)
    given = SpectralRegressor(3.0 * Precomputed(), **options).fit(K, Y)
    assert_allclose(given.predict(rows), named.predict(new), rtol=1e-6, atol=1e-8)
    thin = SpectralRegressor("precomputed", **options).fit(sparse.csr_array(K), Y)
    assert_allclose(
        thin.predict(sparse.csr_array(rows)), SpectralRegressor("precomputed", **options).fit(K, Y).predict(rows)
    )


def test_too_many_rows_to_decompose_are_refused_before_anything_starts():
    with pytest.raises(
        ValueError, match=r"47000 rows are too many to decompose, which goes up to 46000: use solver='kry"
    ):
        SpectralRegressor(solver="exact", memory_limit="1TB").plan(np.zeros((47_000, 2)))
    with pytest.raises(ValueError, match=r"use rule='cv' and solver='krylov'"):
        SpectralRegressor(rule="gcv", memory_limit="1TB").plan(np.zeros((47_000, 2)))


def test_the_summary_tells_rounding_in_mixed_precision(data):
    X, Y, _ = data
    models = [SpectralRegressor(gamma=GAMMA, solver="krylov", precision=p).fit(X, Y) for p in ("double", "mixed")]
    assert "for rounding" not in models[0].summary()
    assert f", and {models[1].solver_.rounding:.1g} for rounding" in models[1].summary()


@pytest.mark.parametrize("name", FILTERS)
def test_the_path_tells_how_far_each_of_its_functions_may_be_from_the_exact_one(name, data):
    X, Y, _ = data
    y, options = Y[:, 0], {"gamma": GAMMA, "cv": KFold(3)}
    loose = SpectralRegressor(filter=name, solver="krylov", tol=0.1, **options).fit(X, y)
    bound, path = loose.path_.error_bound, loose.path_
    assert bound.shape == path.params.shape and path.as_dict()["error_bound"] is bound
    exact = SpectralRegressor(filter=clone(loose.filter_).with_value(path.params), solver="exact", **options).fit(X, y)
    assert exact.path_.error_bound is None
    # Residuals differ by no more than the functions do.
    apart = np.abs(np.sqrt(path.training_error) - np.sqrt(exact.path_.training_error))[:, 0] / y.std()
    assert (apart <= bound + 1e-8).all()
    assert bound[0] <= 0.1 < bound.max(), "the far end of the path was not looked at closely"


# --- going on --------------------------------------------------------------------------------------------------------


@pytest.fixture
def products(monkeypatch):
    """The numbers of vectors that a stored matrix was multiplied by, one for each step."""
    seen = []
    genuine = KernelGram.product
    monkeypatch.setattr(KernelGram, "product", lambda self, V, *a: seen.append(V.shape[1]) or genuine(self, V, *a))
    return seen


@pytest.mark.parametrize("name", FILTERS)
def test_a_warm_start_goes_on_from_where_the_last_fit_stopped(name, data, products):
    X, Y, new = data
    options = {"gamma": GAMMA, "filter": name, "solver": "krylov", "tol": 1e-6}
    model = SpectralRegressor(max_iter=10, warm_start=True, **options)
    with pytest.warns(ConvergenceWarning, match="after 10 Krylov steps, which is what max_iter allows"):
        model.fit(X, Y)
    first = len(products)
    assert first == 10
    model.set_params(max_iter=500).fit(X, Y)
    assert len(products) == model.n_iter_ > first, "no step is taken twice"
    products.clear()
    cold = SpectralRegressor(max_iter=500, **options).fit(X, Y)
    assert len(products) == cold.n_iter_
    assert_allclose(model.choice_.params, cold.choice_.params, rtol=1e-6)
    assert_allclose(model.predict(new), cold.predict(new), rtol=1e-5, atol=1e-6)
    products.clear()
    model.fit(X, Y)
    assert not products, "there is nothing left to do"


def test_a_warm_start_is_only_of_the_same_problem(data, products, rng):
    X, Y, _ = data
    model = SpectralRegressor(gamma=GAMMA, solver="krylov", warm_start=True).fit(X, Y)
    changes = {
        "data": lambda: model.fit(X + 1e-9, Y),
        "targets": lambda: model.fit(X, 2 * Y),
        "weights": lambda: model.fit(X, Y, sample_weight=rng.integers(1, 3, len(X))),
        "kernel": lambda: model.set_params(gamma=2 * GAMMA).fit(X, Y),
        "folds": lambda: model.set_params(cv=4).fit(X, Y),
        "centring": lambda: model.set_params(center="features").fit(X, Y),
        "precision": lambda: model.set_params(precision="mixed").fit(X, Y),
        "one kernel": lambda: model.set_params(kernel=["rbf", "laplacian"]).fit(X, Y),
    }
    for what, change in changes.items():
        products.clear()
        change()
        assert len(products) >= model.n_iter_, what
    X[0] += 1
    model.set_params(kernel="rbf").fit(X, Y)
    products.clear()
    X[0] -= 1
    model.fit(X, Y)
    assert products, "an array that was changed in place is another one"


def test_a_space_is_not_kept_without_need(data):
    X, Y, new = data
    model = SpectralRegressor(gamma=GAMMA, solver="krylov").fit(X, Y)
    warm = clone(model).set_params(warm_start=True).fit(X, Y)
    assert not hasattr(model, "_space") and hasattr(warm, "_space")
    assert len(pickle.dumps(warm)) < 1.1 * len(pickle.dumps(model))
    assert_allclose(pickle.loads(pickle.dumps(warm)).predict(new), model.predict(new))
    nameless = clone(warm).set_params(kernel=CallableKernel(lambda A, B: rbf_kernel(A, B, gamma=GAMMA))).fit(X, Y)
    assert not hasattr(nameless, "_space"), "two functions without names cannot be told apart"
    ridge = KernelRidge(kernel="rbf", gamma=GAMMA, alphas=[0.1, 1], solver="krylov", warm_start=True).fit(X, Y)
    assert hasattr(ridge, "_space")
    assert not hasattr(ridge.set_params(alphas=None).fit(X, Y), "_space")


def test_an_interrupted_continuation_starts_anew(data, monkeypatch):
    X, Y, new = data
    model = SpectralRegressor(gamma=GAMMA, solver="krylov", warm_start=True).fit(X, Y)
    genuine, calls = KernelGram.product, []

    def product(self, V, n_threads=None):
        calls.append(V)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return genuine(self, V, n_threads)

    monkeypatch.setattr(KernelGram, "product", product)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(tol=1e-8).fit(X, Y)
    monkeypatch.undo()
    cold = SpectralRegressor(gamma=GAMMA, solver="krylov", tol=1e-8).fit(X, Y)
    assert_allclose(model.fit(X, Y).predict(new), cold.predict(new), rtol=1e-9)
