"""The point of largest margin against a general solver for the same quadratic program."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from eigenpath.projection.margin import INTERCEPT_SCALE, _shortest, largest_margin


def face(rng, n_equal, n=30, d=6):
    """Signed rows, and margins at a known point: some one, some above, some below."""
    rows = rng.standard_normal((n, d + 1))
    start = rng.standard_normal(d + 1)
    wanted = np.where(np.arange(n) % 2, 1 + rng.random(n), 1 - rng.random(n))
    wanted[:n_equal] = 1
    # Shift the rows along the known point so that their margins there are the wanted ones.
    rows += np.outer(wanted - rows @ start, start) / (start @ start)
    return rows, np.arange(n) < n_equal, wanted > 1, start


@pytest.mark.parametrize("n_equal", [0, 1, 4])
@pytest.mark.parametrize("spread", [np.ones(6), np.linspace(1, 0.5, 6)])
def test_it_solves_the_quadratic_program(n_equal, spread, rng):
    rows, equal, outside, start = face(rng, n_equal)
    found = largest_margin(rows, equal, outside, spread, start)

    scale = np.concatenate([[INTERCEPT_SCALE], np.sqrt(spread)])
    sign = np.where(outside, 1.0, -1.0)
    reference = minimize(
        lambda x: ((x / scale) ** 2).sum(),
        start,
        jac=lambda x: 2 * x / scale**2,
        constraints=[
            {"type": "eq", "fun": lambda x: rows[equal] @ x - 1, "jac": lambda x: rows[equal]},
            {
                "type": "ineq",
                "fun": lambda x: (sign * (rows @ x - 1))[~equal],
                "jac": lambda x: (sign[:, None] * rows)[~equal],
            },
        ],
        method="SLSQP",
        options={"ftol": 1e-11, "maxiter": 1000},
    )
    assert reference.success
    assert_allclose(found, reference.x, atol=1e-5)
    assert_allclose(rows[equal] @ found, 1, atol=1e-9)
    assert (sign * (rows @ found - 1) >= -1e-7)[~equal].all()


def test_a_single_point_is_returned_as_it_is(rng):
    rows, equal, outside, start = face(rng, 7)

    assert_allclose(largest_margin(rows, equal, outside, np.ones(6), start), start, atol=1e-9)


def test_a_single_point_that_rounding_puts_outside_is_returned_as_it_is():
    """One margin fixes everything, and the other is missed by a millionth."""
    rows = np.array([[1e-3, 0.0], [0.0, 1.0], [0.0, 1.0 - 1e-6]])
    start = np.array([1e3, 1.0])
    found = largest_margin(rows, np.array([True, True, False]), np.ones(3, dtype=bool), np.ones(1), start)

    assert_array_equal(found, start)


@pytest.mark.parametrize("n_free", [0, 2])
def test_there_is_no_shorter_point_than_the_origin(n_free):
    assert _shortest(np.ones((1, n_free)), np.array([1e-6]), 0.0) is None


def test_a_face_that_holds_the_shortest_point_needs_no_search():
    """One margin is one, and the shortest such point has the other margin above one already."""
    rows = np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])
    found = largest_margin(
        rows, np.array([True, False]), np.array([False, True]), np.ones(2), np.array([0.0, 1.0, 5.0])
    )

    assert_allclose(found, [0, 1, 0], atol=1e-12)
