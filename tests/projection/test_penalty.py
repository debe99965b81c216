"""The slope heuristic on risks whose slope is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenpath.projection.penalty import penalized_risks

SIZES = np.arange(1, 41)


def risks_with(slope, steps=3.0):
    """A bias that dies out fast, above a line."""
    return 0.5 * np.exp(-SIZES / steps) + 0.4 - slope * SIZES


@pytest.mark.parametrize("slope", [1e-4, 1e-3, 5e-3])
def test_the_slope_of_the_far_end_is_found(slope):
    criterion, found = penalized_risks(risks_with(slope))

    # What is left of the bias in the second half.
    assert_allclose(found, slope, atol=1e-4)
    assert_allclose(criterion, risks_with(slope) + 2 * found * SIZES)


def test_the_penalty_stops_where_the_bias_is_less_than_what_overfitting_costs():
    """The true risk is bias plus slope * D, so the choice is where a further direction lowers the bias by less."""
    criterion, _ = penalized_risks(risks_with(1e-3))
    true = 0.5 * np.exp(-SIZES / 3.0) + 1e-3 * SIZES

    assert criterion.argmin() == true.argmin()


def test_noise_alone_asks_for_one_direction():
    criterion, _ = penalized_risks(0.8 - 0.01 * SIZES)

    assert criterion.argmin() == 0


def test_the_flat_part_behind_the_floor_does_not_count():
    risks = np.maximum(0.2 - 0.01 * SIZES, 0)

    assert_allclose(penalized_risks(risks, 20)[1], 0.01)
    assert penalized_risks(risks, None)[1] < 0.001


@pytest.mark.parametrize("length", [1, 2, 3])
def test_short_paths_have_a_slope_too(length):
    risks = 0.9 - 0.1 * np.arange(length)
    _, slope = penalized_risks(risks)

    assert_allclose(slope, 0.1 if length > 1 else 0, atol=1e-12)


def test_a_floor_from_the_first_size_on_means_no_penalty():
    criterion, slope = penalized_risks(np.zeros(5), 1)

    assert slope == 0
    assert_allclose(criterion, 0)
