"""The bounds: numbers worked by hand, how they hang together, when they do not apply, and that they hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eigenpath.bounds import (
    a_priori_lam,
    classification_bound,
    conditional_probability,
    excess_risk_bound,
    excess_risk_rate,
)

E = math.e
# With eta = 4 / e^2 the logarithm is 2, and everything comes out in round numbers.
ETA = 4 / E**2
SETTING = {"y_bound": 1.0, "norm_bound": 2.0, "kernel_bound": 0.5, "eta": ETA}


def test_a_priori_parameter_by_hand():
    """2 sqrt(2) * 1/2 * 2 / sqrt(800) = 0.1."""
    assert a_priori_lam(800, kernel_bound=0.5, eta=ETA) == pytest.approx(0.1, rel=1e-14)
    assert a_priori_lam(10_000) == pytest.approx(2 * math.sqrt(2) * math.log(80) / 100, rel=1e-14)


def test_rate_by_hand():
    """16 sqrt(2) (1/2 * 4 + (1 + 2)^2) * 2 / sqrt(800) = 16 * 11 * 2 / 20 = 17.6."""
    assert excess_risk_rate(800, **SETTING) == pytest.approx(17.6, rel=1e-14)


def test_general_bound_by_hand():
    """C = 8 * 1/2 * 9 * 4 = 144, so at 0.5 it is 8 (0.5 * 4 + 144 / (0.5 * 800)) = 8 * 2.36 = 18.88."""
    assert excess_risk_bound(0.5, 800, **SETTING) == pytest.approx(18.88, rel=1e-14)


settings = st.fixed_dictionaries(
    {
        "y_bound": st.floats(0.01, 100),
        "norm_bound": st.floats(0.01, 100),
        "kernel_bound": st.floats(0.01, 10),
        "eta": st.floats(1e-6, 0.999),
    }
)


@given(settings, st.floats(1.001, 1e6))
def test_the_rate_is_the_general_bound_at_the_a_priori_parameter(setting, more):
    n = more * 8 * setting["kernel_bound"] ** 2 * math.log(4 / setting["eta"]) ** 2
    lam = a_priori_lam(n, kernel_bound=setting["kernel_bound"], eta=setting["eta"])
    assert_allclose(excess_risk_bound(lam, n, **setting), excess_risk_rate(n, **setting), rtol=1e-12)


@given(settings)
def test_no_admissible_parameter_has_a_smaller_bound_than_the_balanced_one(setting):
    """The minimum 16 R sqrt(C / n) is at sqrt(C / n) / R and, by the two means, never above the rate."""
    n, R = 1e12, setting["norm_bound"]
    C = 8 * setting["kernel_bound"] * (setting["y_bound"] + R) ** 2 * math.log(4 / setting["eta"]) ** 2
    balanced, low = math.sqrt(C / n) / R, a_priori_lam(n, kernel_bound=setting["kernel_bound"], eta=setting["eta"])
    smallest = excess_risk_bound(np.geomspace(low, 0.999, 2000), n, **setting).min()
    assert smallest >= 16 * R * math.sqrt(C / n) * (1 - 1e-12)
    assert smallest <= excess_risk_rate(n, **setting) * (1 + 1e-12)
    if low <= balanced < 1:
        assert_allclose(excess_risk_bound(balanced, n, **setting), 16 * R * math.sqrt(C / n), rtol=1e-12)


def test_every_argument_broadcasts():
    n, lam = np.array([[800], [3200]]), np.array([0.2, 0.4, 0.8])
    table = excess_risk_bound(lam, n, **SETTING)
    assert table.shape == (2, 3)
    assert table[1, 2] == excess_risk_bound(0.8, 3200, **SETTING)
    assert_allclose(a_priori_lam([800, 3200], kernel_bound=0.5, eta=ETA), [0.1, 0.05])
    assert excess_risk_rate(800, y_bound=1, norm_bound=[1, 2]).shape == (2,)
    assert isinstance(excess_risk_rate(800, **SETTING), float)


def test_fourfold_data_halve_the_rate():
    assert_allclose(excess_risk_rate(3200, **SETTING), excess_risk_rate(800, **SETTING) / 2)


def test_parameters_below_the_a_priori_one_are_refused():
    assert excess_risk_bound(0.1, 800, **SETTING) > 0
    with pytest.raises(ValueError, match=r"needs lam >= lambda_n, but lam = 0\.0999 and lambda_n = 0\.1"):
        excess_risk_bound([0.5, 0.0999], 800, **SETTING)


def test_parameters_of_one_and_more_are_refused():
    with pytest.raises(ValueError, match=r"needs lam < 1, but lam = 1\."):
        excess_risk_bound([0.5, 1.0], 800, **SETTING)


@pytest.mark.parametrize("bound", [excess_risk_rate, lambda n, **setting: excess_risk_bound(0.9, n, **setting)])
def test_too_few_examples_are_refused_with_the_number_needed(bound):
    """8 * 1/4 * 4 = 8 examples make lambda_n exactly 1."""
    assert bound(12, **SETTING) > 0
    with pytest.raises(ValueError, match=r"needs lambda_n < 1, but lambda_n = 1\.069.* It needs n > 8 "):
        bound(7, **SETTING)


@pytest.mark.parametrize("name", ["n", "lam", "y_bound", "norm_bound", "kernel_bound"])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, [1.0, -2.0]])
def test_arguments_that_must_be_positive(name, value):
    arguments = {"lam": 0.5, "n": 800, **SETTING, name: value}
    with pytest.raises(ValueError, match=f"{name}=.* must be positive and finite"):
        excess_risk_bound(**arguments)


@pytest.mark.parametrize("eta", [0, 1, -0.1, 2, np.nan, [0.5, 1]])
def test_confidence_lies_between_zero_and_one(eta):
    with pytest.raises(ValueError, match=r"eta=.* must lie between 0 and 1"):
        a_priori_lam(800, eta=eta)


def test_unbounded_kernels_have_no_bound():
    with pytest.raises(ValueError, match=r"kernel_bound=inf, so k\(x, x\) has no bound"):
        a_priori_lam(800, kernel_bound=np.inf)


def test_classification_bound_is_the_root():
    assert classification_bound(0.25) == 0.5
    assert_allclose(classification_bound([0, 0.01]), [0, 0.1])
    with pytest.raises(ValueError, match=r"excess_risk=-0\.1 must not be negative"):
        classification_bound(-0.1)


def test_probability_is_half_of_one_plus_f_within_zero_and_one():
    assert conditional_probability(0.5) == 0.75
    assert_allclose(conditional_probability([-3, -1, 0, 1, 3]), [0, 0, 0.5, 1, 1])


# --- simulation --------------------------------------------------------------------------------------------------


def gaussian(X, Z):
    return np.exp(-((X[:, None] - Z) ** 2) / 0.5)


@pytest.fixture
def world(rng):
    """A regression function that is a combination of five kernel functions, and its norm."""
    centres, weights = np.linspace(-1, 1, 5), np.array([0.3, -0.2, 0.35, 0.1, -0.3])
    norm = math.sqrt(weights @ gaussian(centres, centres) @ weights)
    return lambda x: gaussian(x, centres) @ weights, norm


def tikhonov(x, y, lam):
    """Kernel ridge on the scale of K/n, by a dense solve."""
    coefficients = np.linalg.solve(gaussian(x, x) + len(x) * lam * np.eye(len(x)), y)
    return lambda new: gaussian(new, x) @ coefficients


@pytest.mark.parametrize(("n", "factor"), [(200, 1.0), (200, 1.25), (400, 1.0)])
def test_excess_risk_stays_below_the_bound(world, rng, n, factor):
    """Bounded noise, lam at and above the a priori choice, 20 repetitions of which a share of 1 - eta must hold."""
    truth, norm = world
    noise, eta, repetitions = 0.3, 0.2, 20
    M = abs(truth(np.linspace(-2, 2, 1000))).max() + noise
    lam = factor * a_priori_lam(n, eta=eta)
    bound = excess_risk_bound(lam, n, y_bound=M, norm_bound=norm, eta=eta)
    test = np.linspace(-2, 2, 400)  # the inputs are uniform, so their mean is an integral
    excess = np.empty(repetitions)
    for i in range(repetitions):
        x = rng.uniform(-2, 2, n)
        y = truth(x) + rng.uniform(-noise, noise, n)
        excess[i] = np.mean((tikhonov(x, y, lam)(test) - truth(test)) ** 2)
    assert np.mean(excess <= bound) >= 1 - eta
    # Not because nothing was left to learn: the fit is away from the truth, and better than no fit.
    assert 1e-4 < np.median(excess) < np.mean(truth(test) ** 2)


def test_wrong_signs_are_bounded_by_the_root_of_the_excess_risk(world, rng):
    """Labels drawn with P(y = 1 | x) = (1 + f) / 2; both excess risks in closed form over the inputs."""
    truth, _ = world
    x, test = rng.uniform(-2, 2, 300), np.linspace(-2, 2, 2000)
    y = np.where(rng.random(300) < conditional_probability(truth(x)), 1.0, -1.0)
    for lam in [1e-4, 1e-2, 0.3]:
        f, f_rho = tikhonov(x, y, lam)(test), truth(test)
        wrong = np.mean(abs(f_rho) * (np.sign(f) != np.sign(f_rho)))
        assert 0 < wrong <= classification_bound(np.mean((f - f_rho) ** 2))
