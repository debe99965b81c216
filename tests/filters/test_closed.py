"""Filters given by a formula, against linear solves that never see the spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm

from eigenpath.filters import TSVD, IteratedTikhonov, Landweber, Showalter, Tikhonov

EPS = np.finfo(float).eps
LAMS = [1.0, 1e-2, 1e-4]
# Solves with K + n lam I lose the digits of its condition number, at most 1e4 here.
SOLVE = {"rtol": 1e-8, "atol": 1e-10}


@pytest.fixture
def problem(spectrum, psd_matrix, rng):
    """A kernel matrix whose K/n has the prescribed eigenvalues, and a target."""
    n = len(spectrum)
    return n * psd_matrix(spectrum), rng.standard_normal(n)


@pytest.mark.parametrize("lam", LAMS)
def test_tikhonov_is_a_linear_solve(problem, lam, apply_filter):
    K, y = problem
    solved = np.linalg.solve(K + len(K) * lam * np.eye(len(K)), y)
    assert_allclose(apply_filter(K, Tikhonov(), [lam], y)[0], solved, **SOLVE)


@pytest.mark.parametrize("order", [1, 2, 7])
@pytest.mark.parametrize("lam", LAMS)
def test_iterated_tikhonov_is_repeated_refits_of_the_residual(problem, lam, order, apply_filter):
    K, y = problem
    refit = np.zeros_like(y)
    for _ in range(order):
        refit += np.linalg.solve(K + len(K) * lam * np.eye(len(K)), y - K @ refit)
    assert_allclose(apply_filter(K, IteratedTikhonov(order=order), [lam], y)[0], refit, **SOLVE)


def test_iterated_tikhonov_of_order_one_is_tikhonov(spectrum):
    assert_array_equal(IteratedTikhonov(order=1).gains(spectrum, LAMS), Tikhonov().gains(spectrum, LAMS))


@pytest.mark.parametrize("lam", LAMS)
def test_showalter_is_gradient_flow_stopped_at_one_over_lam(problem, lam, apply_filter):
    """The integral of exp(-s K/n) over s from 0 to 1/lam is a block of a larger matrix exponential."""
    K, y = problem
    n = len(K)
    block = np.zeros((2 * n, 2 * n))
    block[:n, :n], block[:n, n:] = -K / n, np.eye(n)
    integral = expm(block / lam)[:n, n:]
    # Squaring and scaling loses digits with the norm of its argument.
    assert_allclose(apply_filter(K, Showalter(), [lam], y)[0], integral @ y / n, rtol=1e-7, atol=100 * EPS / lam)


def test_showalter_is_landweber_with_small_steps(spectrum):
    lam, steps = 0.03, 200_000
    landweber = Landweber(step=1 / (lam * steps)).gains(spectrum, [steps])
    # The product (1 - z/s)^s differs from exp(-z) by z^2/(2s) of it, and z^2 exp(-z) is below 1.
    assert_allclose(Showalter().gains(spectrum, [lam]), landweber, rtol=1e-4)


def test_tsvd_is_the_pseudo_inverse_of_the_best_approximation_of_its_rank(problem, spectrum, apply_filter):
    K, y = problem
    U, s, Vt = np.linalg.svd(K)
    for m in range(int((spectrum > 0).sum()) + 1):
        if 0 < m < len(K) and np.isclose(spectrum[m - 1], spectrum[m]):
            continue  # Which of several tied components is kept is arbitrary.
        best = (U[:, :m] * s[:m]) @ Vt[:m]
        expected = np.linalg.pinv(best, rcond=1e-10) @ y
        assert_allclose(apply_filter(K, TSVD(), [m], y)[0], expected, rtol=1e-7, atol=1e-9)


def test_tsvd_by_threshold_solves_least_squares_on_the_components_above_it(problem, spectrum, apply_filter):
    K, y = problem
    for lam in [2.0, 0.5, 0.015]:
        expected = np.linalg.pinv(K, rcond=lam * len(K) / (len(K) * spectrum[0]), hermitian=True) @ y
        assert_allclose(apply_filter(K, TSVD(lam=lam), [lam], y)[0], expected, **SOLVE)


def test_tsvd_keeps_a_component_that_equals_the_threshold():
    assert_array_equal(TSVD(lam=0.5).gains([1.0, 0.5, 0.25], [0.5]), [[1, 2, 0]])


def test_tsvd_never_divides_by_rounding_errors():
    t = np.array([1.0, 0.5, 1e-17, 0.0])
    assert_array_equal(TSVD().gains(t, [4, 100]), [[1, 2, 0, 0]] * 2)
    assert_array_equal(TSVD(lam=1e-30).gains(t, [1e-30]), [[1, 2, 0, 0]])


def test_tsvd_of_nothing_is_nothing():
    assert_array_equal(TSVD().gains(np.zeros(3), [0, 0.5, 2]), np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("share", "kept"), [(0.01, 1), (0.5, 1), (0.500001, 2), (0.75, 2), (0.8, 3), (0.9375, 4), (0.999, 5)]
)
def test_a_share_of_variance_keeps_the_fewest_components_that_reach_it(share, kept):
    t = np.array([8.0, 4.0, 2.0, 1.0, 1.0]) / 16
    assert np.count_nonzero(TSVD().gains(t, [share])) == kept


def test_shares_and_counts_mix_in_one_call():
    t = np.array([0.75, 0.125, 0.125])
    assert_array_equal(np.count_nonzero(TSVD().gains(t, [0.8, 3, 0.1, 0]), axis=1), [2, 3, 1, 0])


@pytest.mark.parametrize("value", [0.3, [0.5, 3], np.array([0.2, 0.9]), np.float32(0.5)])
def test_shares_of_variance_refer_to_the_whole_spectrum(value):
    assert TSVD(n_components=value).whole is True


@pytest.mark.parametrize(
    "filter",
    [TSVD(), TSVD(0), TSVD(3), TSVD(1.0), TSVD([0, 1, 5]), TSVD("all"), TSVD(lam=0.3), Tikhonov(0.3), Landweber(3)],
    ids=repr,
)
def test_thresholds_and_numbers_do_not_refer_to_the_whole_spectrum(filter):
    assert filter.whole is False


def test_limits_at_zero():
    t, lams = np.array([1.0, 0.0]), [0.25, 1e-8]
    assert_allclose(Tikhonov().gains(t, lams)[:, 1], [4, 1e8], rtol=4 * EPS)
    assert_allclose(IteratedTikhonov(order=3).gains(t, lams)[:, 1], [12, 3e8], rtol=4 * EPS)
    assert_allclose(Showalter().gains(t, lams)[:, 1], [4, 1e8], rtol=4 * EPS)
    assert_array_equal(TSVD().gains(t, [2])[:, 1], [0])


def test_tsvd_stops_counting_like_lam_where_eigenvalues_fall_below_it(spectrum):
    for lam in LAMS:
        assert TSVD().at_lam(lam, spectrum) == (spectrum >= lam).sum()
        assert TSVD(lam=0.1).at_lam(lam, spectrum) == lam


def test_only_a_threshold_can_be_turned_into_a_number_of_components():
    assert TSVD(lam=[0.1, 0.2]).by_components().get_params() == TSVD().get_params()
    assert TSVD().by_components() is None and Tikhonov().by_components() is None


def test_tsvd_is_named_by_what_it_is_given():
    assert TSVD().parameter == TSVD(n_components=3).parameter == "n_components"
    assert TSVD(lam=0.1).parameter == "lam"


def test_tsvd_with_both_parameters_names_both():
    with pytest.raises(ValueError, match=r"n_components or lam, not both: got n_components=3, lam=0\.1"):
        TSVD(n_components=3, lam=0.1).path(np.ones(4))


@pytest.mark.parametrize("value", [-1, 1.5, [1, 2.5], np.nan, "all"])
def test_numbers_of_components_that_make_no_sense_are_named(value):
    with pytest.raises(ValueError, match="n_components of TSVD must be whole numbers, or shares of variance") as error:
        TSVD(n_components=value).path(np.ones(4))
    assert repr(value) in str(error.value)


def test_the_default_path_of_tsvd_counts_up_to_the_rank_and_thins_out():
    assert_array_equal(TSVD().path(np.array([3.0, 2.0, 1.0, 0.0])), [0, 1, 2, 3])
    path = TSVD().path(np.ones(2000))
    assert path[0] == 0 and path[-1] == 2000 and len(path) <= 110
    assert_array_equal(path[:51], np.arange(51))
    assert np.all(np.diff(path) > 0)


@pytest.mark.parametrize("order", [0, -2, 1.5, "two", None])
def test_orders_that_make_no_sense_are_named(order):
    with pytest.raises(ValueError, match="order of IteratedTikhonov must be a whole number of at least 1") as error:
        IteratedTikhonov(order=order).path(np.ones(3))
    assert repr(order) in str(error.value)
    with pytest.raises(ValueError, match="order of IteratedTikhonov"):
        IteratedTikhonov(order=order).gains(np.ones(3), [0.1])
