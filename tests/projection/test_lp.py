"""The warm-started linear programs against programs solved one by one, in the primal, by another interface."""

from concurrent.futures import ThreadPoolExecutor

import highspy
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from eigenpath.kernels import RBF
from eigenpath.projection import lp
from eigenpath.projection.directions import principal_directions
from eigenpath.projection.lp import hinge_path

# The solver holds constraints to 1e-7.
SOLVER = 1e-7


def problem(rng, n=60, d=12, flip=0.15):
    """Orthogonal features of unit mean square, and labels that depend on some of them."""
    F = np.sqrt(n) * np.linalg.qr(rng.standard_normal((n, d)))[0]
    y = np.where(F[:, 1] + F[:, 4] + 0.3 > 0, 1.0, -1.0)
    return F, np.where(rng.random(n) < flip, -y, y)


def primal(F, y, weight):
    """Minimize the weighted sum of slacks over (intercept, beta, slacks), from scratch."""
    n, d = F.shape
    rows = y[:, None] * np.column_stack([np.ones(n), F])
    return linprog(
        np.concatenate([np.zeros(d + 1), weight]),
        A_ub=-np.hstack([rows, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * (d + 1) + [(0, None)] * n,
        method="highs",
    ).fun


def losses(path, F, y, weight):
    return weight @ np.maximum(1 - y[:, None] * path.scores(F), 0)


def weights_of(kind, rng, n):
    return {"ones": np.ones(n), "counts": rng.integers(1, 5, n).astype(float), "reals": rng.random(n) + 0.01}[kind]


@pytest.mark.parametrize("kind", ["ones", "counts", "reals"])
def test_warm_path_equals_cold_primal_programs_at_every_size(kind, rng):
    F, y = problem(rng)
    weight = weights_of(kind, rng, len(y))
    path = hinge_path(F, y, weight)

    cold = [primal(F[:, :D], y, weight) for D in path.sizes]

    assert_allclose(path.values, cold, atol=SOLVER * len(y))


@pytest.mark.parametrize("kind", ["ones", "counts", "reals"])
def test_dual_value_equals_the_loss_of_the_returned_function(kind, rng):
    F, y = problem(rng)
    weight = weights_of(kind, rng, len(y))
    path = hinge_path(F, y, weight)

    assert_allclose(path.bounds, losses(path, F, y, weight), atol=SOLVER * len(y))
    assert_allclose(path.values, losses(path, F, y, weight), rtol=1e-12)


def test_values_never_rise_with_the_size(rng):
    path = hinge_path(*problem(rng), np.ones(60))

    assert (np.diff(path.values) <= 0).all()


def test_some_sizes_equal_those_of_the_whole_path(rng):
    F, y = problem(rng)
    weight = rng.random(len(y)) + 0.1
    whole, some = hinge_path(F, y, weight), hinge_path(F, y, weight, sizes=[3, 7, 7])

    assert_array_equal(some.sizes, [3, 7, 7])
    # The bases are those of the same vertices, found by other routes.
    assert_allclose(some.beta, whole.beta[[2, 6, 6]], atol=1e-9)
    assert_allclose(some.intercept, whole.intercept[[2, 6, 6]], atol=1e-9)


def test_coefficients_beyond_the_size_are_zero(rng):
    path = hinge_path(*problem(rng), np.ones(60))

    assert_array_equal(path.beta[np.triu_indices(12, 1)], 0)


def test_a_weight_is_that_many_rows(rng):
    F, y = problem(rng, n=30, d=6)
    counts = rng.integers(1, 4, len(y))
    weighted = hinge_path(F, y, counts.astype(float))
    repeated = hinge_path(np.repeat(F, counts, axis=0), np.repeat(y, counts), np.ones(counts.sum()))

    assert_allclose(weighted.values, repeated.values, rtol=1e-9)
    assert_allclose(weighted.scores(F), repeated.scores(F), atol=1e-9)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_weights_does_not_matter(factor, rng):
    F, y = problem(rng)
    weight = rng.random(len(y)) + 0.1
    one, other = hinge_path(F, y, weight), hinge_path(F, y, factor * weight)

    assert_allclose(other.values, factor * one.values, rtol=1e-9)
    assert_allclose(other.beta, one.beta, atol=1e-9)


@pytest.fixture
def separable(rng):
    """Two groups of rows that three directions tell apart and two do not."""
    F = rng.standard_normal((40, 5))
    y = np.where(F[:, 2] > 0, 1.0, -1.0)
    F[:, 2] += y
    return F, y


def test_path_stops_where_the_loss_is_zero(separable):
    path = hinge_path(*separable, np.ones(40))

    assert path.floor_from == 3
    assert path.values[1] > 1
    assert_allclose(path.values[2:], 0, atol=1e-7)
    assert_array_equal(path.beta[3:], path.beta[[2, 2]])


@pytest.mark.parametrize("spread", [np.ones(3), np.array([4.0, 1.0, 0.25])])
def test_on_separable_rows_the_hard_margin_machine_is_found(separable, spread):
    """The program alone leaves open which separating function it returns."""
    F, y = separable
    path = hinge_path(F[:, :3], y, np.ones(40), spread=spread)
    machine = SVC(kernel="linear", C=1e6, tol=1e-9).fit(F[:, :3] * np.sqrt(spread), y)

    # libsvm stops at a tolerance of its own; the share of the intercept in the norm is a millionth.
    assert_allclose(path.scores(F[:, :3])[:, -1], machine.decision_function(F[:, :3] * np.sqrt(spread)), atol=1e-4)


def test_of_many_optima_the_same_one_is_found_however_the_rows_are_ordered(rng):
    """A symmetric problem, whose optimum is a face: every label has its mirror image."""
    half = rng.integers(-2, 3, (25, 4)).astype(float)
    F = np.vstack([half, -half])
    y = np.repeat([1.0, -1.0], 25)
    order = rng.permutation(50)
    one, other = hinge_path(F, y, np.ones(50)), hinge_path(F[order], y[order], np.ones(50))

    assert_allclose(other.scores(F), one.scores(F), atol=1e-7)


def test_of_many_optima_the_shortest_is_taken_also_where_the_loss_is_not_the_least_possible():
    """The constant -1 has a loss of 6, and so have functions with a slope."""
    F = np.array([[1.0], [-2.0], [2.0], [-1.0], [2.0], [-1.0], [-1.0]])
    y = np.array([-1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0])
    path = hinge_path(F, y, np.ones(7))

    assert_allclose(path.values, [6])
    assert_allclose(np.maximum(1 - y * (-0.5 * F[:, 0]), 0).sum(), 6)
    # The share of the intercept in the norm is a millionth.
    assert_allclose(path.beta, 0, atol=1e-5)
    assert_allclose(path.intercept, -1, atol=1e-5)


def test_contradicted_labels_set_the_floor(rng):
    F = np.repeat(rng.standard_normal((10, 10)), 2, axis=0)
    y = np.tile([1.0, -1.0], 10)
    weight = rng.integers(1, 9, 20).astype(float)
    floor = 2 * np.minimum(weight[::2], weight[1::2]).sum()
    path = hinge_path(F, y, weight, floor=floor)

    # Ten directions give any value at ten points, and so does an intercept with nine of them.
    assert path.floor_from == 9
    assert_allclose(path.values[8:], floor, rtol=1e-9)


def test_rows_told_apart_by_rounding_errors_are_not_told_apart():
    """Otherwise coefficients of 1e12 would fit what is noise to the solver."""
    F = np.array([[1.0, 1e-12], [1.0, -1e-12], [-1.0, 1.0], [-1.0, -1.0]])
    path = hinge_path(F, np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4))

    assert np.abs(path.beta).max() <= lp.LARGEST
    assert_allclose(path.values, [4, 2], atol=1e-4)


def test_values_never_rise_on_an_ill_conditioned_problem():
    """A kernel far too narrow: directions that are nearly single rows, with entries down to 1e-40."""
    X, label = load_wine(return_X_y=True)
    K = RBF(gamma=0.1)(X[::2])
    found = principal_directions(K, np.ones(len(K)), 60)
    y = np.where(label[::2] == 0, 1.0, -1.0)
    path = hinge_path(found.features, y, np.ones(len(K)), spread=found.values / len(K))

    assert (np.diff(path.values) <= 0).all()
    assert path.values[-1] < path.values[0] / 4
    # Each of the dual's rows may miss zero by the solver's tolerance, which costs as much times its coefficient, of up
    # to 1e7. That is seldom so; at how many sizes it is depends on how the processor rounds.
    apart = np.abs(path.values - path.bounds)
    assert (apart <= 1e-7 * (np.abs(path.beta).sum(axis=1) + len(y))).all()
    assert np.median(apart) < 1e-3


def test_a_failing_basis_is_replaced_by_a_fresh_start(rng, monkeypatch):
    """The third solve is told to stop at once; the second attempt at it succeeds."""
    F, y = problem(rng)
    runs = []
    original = lp._Dual._run

    def stubborn(self):
        runs.append(self.size)
        limit = 0 if len(runs) == 3 else 10**6
        self.solver.setOptionValue("simplex_iteration_limit", limit)
        return original(self)

    monkeypatch.setattr(lp._Dual, "_run", stubborn)
    rescued = hinge_path(F, y, np.ones(len(y)))
    monkeypatch.undo()

    assert runs[:4] == [1, 2, 3, 3]
    assert_allclose(rescued.values, hinge_path(F, y, np.ones(len(y))).values, rtol=1e-9)


def test_a_status_other_than_optimal_is_an_error_that_names_it(rng, monkeypatch):
    monkeypatch.setitem(lp.OPTIONS, "simplex_iteration_limit", 0)

    with pytest.raises(RuntimeError, match=r"in 1 directions ended with HiGHS status 'Iteration limit reached'"):
        hinge_path(*problem(rng), np.ones(60))


def small_program(threads):
    """Run a program of the user's with so many threads; HiGHS keeps them for the Python thread until that ends."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", threads)
    solver.addVar(0, 1)
    return solver.run()


def test_programs_of_the_same_thread_may_have_used_several_threads(rng):
    F, y = problem(rng)

    def after_another_program():
        first = small_program(2)
        return first, hinge_path(F, y, np.ones(60)), small_program(2)

    with ThreadPoolExecutor(1) as pool:
        first, path, again = pool.submit(after_another_program).result()
    alone = hinge_path(F, y, np.ones(60))

    assert first == again == highspy.HighsStatus.kOk
    assert_array_equal(path.beta, alone.beta)
    assert_array_equal(path.values, alone.values)
    assert path.n_pivots == alone.n_pivots
