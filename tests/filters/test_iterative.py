"""Filters that stop an iteration early, against the iteration, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import eval_jacobi

from eigenpath.filters import Landweber, NuMethod, Tikhonov

EPS = np.finfo(float).eps
STEPS = [0, 1, 2, 3, 10, 150]
# Rounding errors of so many products with K, none of which enlarges them.
ITERATED = {"rtol": 1e-9, "atol": 1e-11}


@pytest.fixture
def problem(spectrum, psd_matrix, rng):
    """A kernel matrix whose K/n has the prescribed eigenvalues, and a target."""
    n = len(spectrum)
    return n * psd_matrix(spectrum), rng.standard_normal(n)


def descend(K, y, eta, steps):
    """Gradient descent on the mean squared error, kept at each of ``steps``."""
    c, kept = np.zeros_like(y), []
    for i in range(max(steps) + 1):
        if i in steps:
            kept.append(c)
        c = c + eta / len(K) * (y - K @ c)
    return np.array(kept)


def accelerate(K, y, nu, scale, steps):
    """Brakhage's recurrence for the coefficients, with the constants of the literature."""
    n = len(K)
    before, now, kept = None, np.zeros_like(y), []
    for i in range(max(steps) + 1):
        if i == 1:
            before, now = now, (4 * nu + 2) / (4 * nu + 1) * y / (n * scale)
        elif i > 1:
            u = (i - 1) * (2 * i - 3) * (2 * i + 2 * nu - 1)
            u /= (i + 2 * nu - 1) * (2 * i + 4 * nu - 1) * (2 * i + 2 * nu - 3)
            omega = 4 * (2 * i + 2 * nu - 1) * (i + nu - 1) / ((i + 2 * nu - 1) * (2 * i + 4 * nu - 1))
            before, now = now, now + u * (now - before) + omega / (n * scale) * (y - K @ now)
        if i in steps:
            kept.append(now)
    return np.array(kept)


@pytest.mark.parametrize("factor", [None, 0.3, 1.0, 1.95])
def test_landweber_is_gradient_descent(problem, spectrum, factor, apply_filter):
    K, y = problem
    eta = (1.0 if factor is None else factor) / spectrum[0]
    filtered = apply_filter(K, Landweber(step=None if factor is None else eta), STEPS, y)
    # The eigenvalues by which the default step is chosen are rounded.
    assert_allclose(filtered, descend(K, y, eta, STEPS), **ITERATED)


@pytest.mark.parametrize("nu", [0.5, 1, 2, 3.5])
@pytest.mark.parametrize("factor", [None, 1.7])
def test_the_nu_method_is_brakhages_recurrence(problem, spectrum, nu, factor, apply_filter):
    K, y = problem
    scale = spectrum[0] * (1.0 if factor is None else factor)
    filtered = apply_filter(K, NuMethod(nu=nu, scale=None if factor is None else scale), STEPS, y)
    assert_allclose(filtered, accelerate(K, y, nu, scale, STEPS), **ITERATED)


@pytest.mark.parametrize("nu", [0.5, 1, 2, 3.5])
def test_the_residuals_of_the_nu_method_are_jacobi_polynomials(nu):
    t, steps = np.linspace(3.0, 0, 50), [1, 2, 7, 40]
    residual = 1 - t * NuMethod(nu=nu).gains(t, steps)
    jacobi = [eval_jacobi(s, 2 * nu - 0.5, -0.5, 1 - 2 * t / 3) / eval_jacobi(s, 2 * nu - 0.5, -0.5, 1) for s in steps]
    assert_allclose(residual, jacobi, atol=1e-13)


def test_root_s_accelerated_steps_do_what_s_steps_of_landweber_do():
    """Where one half of an eigenvalue's component is learned, as the eigenvalue falls."""
    t = np.geomspace(1, 1e-6, 4000)

    def half(filter, steps):
        return t[np.argmax(filter.gains(t, [steps])[0] * t < 0.5)]

    for steps in (10, 30, 100):
        assert 0.3 < half(NuMethod(), steps) / half(Landweber(), steps**2) < 3


def test_landweber_at_its_default_step_learns_the_first_component_in_one_step():
    assert_allclose(Landweber().gains([4.0, 1.0], [1]) * [4.0, 1.0], [[1, 0.25]])


def test_landweber_keeps_its_digits_where_the_residual_is_near_one():
    """``1 - (1 - z)^s`` by the first terms of its series."""
    t, steps = np.array([1.0, 1e-9, 1e-14, 1e-20]), np.array([1, 5])
    exact = steps[:, None] * (1 - (steps[:, None] - 1) / 2 * t[1:])
    assert_allclose(Landweber().gains(t, steps)[:, 1:], exact, rtol=4 * EPS)


def test_landweber_takes_as_many_steps_as_one_likes():
    assert_allclose(Landweber().gains([1.0, 1e-12], [10**14]), [[1, 1e12]], rtol=1e-10)


def test_limits_at_zero():
    t = np.array([2.0, 0.0])
    assert_allclose(Landweber(step=0.7).gains(t, [0, 1, 50])[:, 1], [0, 0.7, 35], rtol=4 * EPS)
    near = NuMethod(nu=2).gains([2.0, 1e-14], [0, 1, 50])[:, 1]
    assert_allclose(NuMethod(nu=2).gains(t, [0, 1, 50])[:, 1], near, rtol=1e-9)


def test_nothing_to_learn_from_is_no_division_by_zero():
    """A fold may hold equal rows only, whatever the whole is."""
    for filter in (Landweber(), NuMethod(), Landweber(step=0.5), NuMethod(scale=2.0)):
        for t in (np.zeros(3), np.empty(0)):
            assert filter.gains(t, [0, 2]).shape == (2, len(t))
            assert np.all(np.isfinite(filter.gains(t, [0, 2])))


def test_steps_may_come_in_any_order_and_twice():
    t = np.array([1.0, 0.3])
    for filter in (Landweber(), NuMethod()):
        table = filter.gains(t, np.arange(6))
        assert_array_equal(filter.gains(t, [5, 0, 2, 2]), table[[5, 0, 2, 2]])


def test_steps_that_regularize_like_lam(spectrum):
    for lam in (0.5, 1e-2, 1e-4):
        assert_allclose(Landweber().at_lam(lam, spectrum), max(1, spectrum[0] / lam), atol=0.5)
        assert_allclose(Landweber(step=0.1).at_lam(lam, spectrum), max(1, 10 / lam), atol=0.5)
        assert_allclose(NuMethod().at_lam(lam, spectrum), max(1, np.sqrt(spectrum[0] / lam)), atol=0.5)
    assert Landweber().at_lam(1e6, spectrum) == NuMethod().at_lam(1e6, spectrum) == 1


def test_default_paths_start_with_no_step_and_have_no_step_twice(spectrum):
    for filter in (Landweber(), NuMethod()):
        path = filter.path(spectrum)
        assert path.dtype == np.int64 and path[0] == 0 and path[1] == 1
        assert np.all(np.diff(path) > 0) and len(path) <= 100


def test_the_nu_method_stops_where_its_recurrence_gets_long():
    t = np.array([1.0, 1e-12])
    assert NuMethod().path(t)[-1] == 3000
    assert Landweber().path(t)[-1] > 10**12


def test_the_chosen_step_is_used_and_not_only_checked():
    t = np.array([1.0, 0.1])
    assert not np.allclose(Landweber(step=0.5).gains(t, [3]), Landweber().gains(t, [3]))
    assert not np.allclose(NuMethod(scale=2.0).gains(t, [3]), NuMethod().gains(t, [3]))
    assert not np.allclose(NuMethod(nu=2).gains(t, [3]), NuMethod(nu=1).gains(t, [3]))


@pytest.mark.parametrize("step", [0.0, -1.0, 1.0, 7.0])
def test_steps_that_diverge_are_named(step):
    message = r"step of Landweber must lie between 0 and 2 / t\[0\] = 1, .* got "
    with pytest.raises(ValueError, match=message + repr(step).replace(".", r"\.")):
        Landweber(step=step).gains([2.0, 1.0], [3])


def test_a_scale_below_the_largest_eigenvalue_is_named():
    with pytest.raises(
        ValueError, match=r"scale of NuMethod must be at least the largest eigenvalue of K/n, 2, got 1\.9"
    ):
        NuMethod(scale=1.9).gains([2.0, 1.0], [3])
    NuMethod(scale=2.0 * (1 - 1e-12)).gains([2.0, 1.0], [3])


@pytest.mark.parametrize("nu", [0, -1.5])
def test_a_nu_that_is_not_positive_is_named(nu):
    with pytest.raises(ValueError, match=f"nu of NuMethod must be positive, got {nu!r}"):
        NuMethod(nu=nu).gains([2.0, 1.0], [3])


@pytest.mark.parametrize("value", [-1, 2.5, [1, -2], np.nan, np.inf, "many"])
@pytest.mark.parametrize("kind", [Landweber, NuMethod])
def test_numbers_of_steps_that_make_no_sense_are_named(kind, value):
    message = f"n_iter of {kind.__name__} must be a whole number of steps, not negative, got "
    with pytest.raises(ValueError, match=message) as error:
        kind(n_iter=value).path(np.ones(3))
    assert repr(value) in str(error.value)


def test_float_numbers_of_steps_become_integers():
    path = Landweber(n_iter=[10.0, 3.0]).path(np.ones(2))
    assert path.dtype == np.int64
    assert_array_equal(path, [3, 10])


def test_early_stopping_and_a_penalty_agree_to_first_order():
    """One step of Landweber and a heavy penalty both shrink towards the gradient."""
    t = np.array([1.0, 0.4, 1e-3])
    lam = 1e6
    assert_allclose(Tikhonov().gains(t, [lam]) * lam, Landweber(step=1.0).gains(t, [1]), rtol=2e-6)
