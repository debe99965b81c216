"""The Matérn correlation against its closed form for half-integer orders, in exact arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import factorial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenpath.kernels import Matern, _matern
from eigenpath.kernels._matern import matern

R2 = [1e-30, 1e-14, 1e-8, 1e-3, 0.1, 0.7, 2.0, 9.0, 60.0, 400.0]


def closed_form(p, r2):
    """The correlation for nu = p + 1/2, with 60 digits."""
    with localcontext(prec=60):
        s = ((2 * p + 1) * Decimal(r2)).sqrt()
        terms = (
            Decimal(factorial(p + i) // (factorial(i) * factorial(p - i))) * (2 * s) ** (p - i) for i in range(p + 1)
        )
        return float((-s).exp() * factorial(p) / factorial(2 * p) * sum(terms))


@pytest.mark.parametrize("p", [0, 1, 2, 3, 8, 20, 24, 25, 40, 150])
def test_half_integer_orders(p):
    """Both sides of the order from which the expansion is used; 5e-14: 400 = s^2 / (2 nu) magnifies rounding in s."""
    assert_allclose(matern(np.array(R2), p + 0.5), [closed_form(p, r2) for r2 in R2], rtol=5e-14)


@pytest.mark.parametrize("nu", [19.7, 22.0, 24.99])
def test_bessel_function_and_expansion_meet(nu):
    R2_ = np.array(R2)
    assert_allclose(_matern._bessel(R2_, nu), _matern._large_order(R2_, nu), rtol=5e-14)


@pytest.mark.parametrize("nu", [0.01, 0.5, 1.0, 2.5, 7.3, 24.0, 1e3, 1e12, np.inf])
def test_the_origin_and_its_surroundings(nu):
    """Where the Bessel function is infinite or overflows, no warning and no value but 1; far away 0."""
    values = matern(np.array([0.0, 1e-300, 1e-250, 1e9]), nu)
    assert values[0] == 1
    assert values[3] == 0
    if nu >= 0.5:
        assert_allclose(values[1:3], 1, rtol=1e-15)


@pytest.mark.parametrize("nu", [0.5, 2.5, 3.3, 40.0, np.inf])
def test_precision_nan_and_place(nu):
    R2_ = np.array([0.0, 1.0, np.nan], np.float32)
    values = matern(R2_, nu)
    assert values is R2_
    assert values.dtype == np.float32
    assert np.isnan(values[2])
    assert_allclose(values[:2], matern(np.array([0.0, 1.0]), nu), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nu", [0.01, 0.5, 1.0, 1.5, 2.5, 7.3, 20.0, 24.99, 25.0, 1e3, 1e12, np.inf])
def test_however_far_the_value_is_zero(nu, dtype):
    """Where the power of s overflows, where s squared does, and at infinity."""
    assert_array_equal(matern(np.array([1e9, 1e34, np.finfo(dtype).max, np.inf], dtype), nu), 0)


@pytest.mark.parametrize("nu", [0.01, 0.3, 0.5, 1.5, 2.5, 7.3, 24.99, 25.0, 1e12])
def test_values_fall_with_the_distance(nu):
    values = matern(np.concatenate([[0], np.logspace(-20, 12, 500)]), nu)

    # Next to 1, the rounding of the Bessel function.
    assert (np.diff(values) <= 5e-14).all()
    assert values[0] == 1 and values[-1] == 0


@pytest.mark.parametrize("nu", [0.5, 1.5, 3.3, 20.0, 40.0, np.inf])
@pytest.mark.parametrize("far", [1e17, 1e200])
def test_rows_far_apart_have_nothing_in_common(nu, far):
    assert_array_equal(Matern(nu=nu, gamma=1.0)([[0.0], [far]]), np.eye(2))
