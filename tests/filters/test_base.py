"""What all filters share: parameters, paths, components."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from eigenpath.filters import FILTERS, TSVD, IteratedTikhonov, Landweber, NuMethod, Showalter, Tikhonov, rank_of

EPS = np.finfo(float).eps
BY_LAM = [Tikhonov, IteratedTikhonov, Showalter, lambda lam: TSVD(lam=lam)]


def test_rank_counts_eigenvalues_above_rounding_level():
    assert rank_of(np.array([1.0, 0.5, 1e-13, 0.0])) == 3
    assert rank_of(np.array([1.0, 0.5, 100 * EPS, 0.0])) == 2
    assert rank_of(np.array([1e-200, 0.5e-200, 1e-230])) == 2
    assert rank_of(np.zeros(3)) == rank_of(np.empty(0)) == 0
    assert rank_of([2.0, 1.0]) == 2


@pytest.mark.parametrize("name", FILTERS)
def test_gains_are_a_table_of_parameters_by_eigenvalues(name, spectrum):
    filter = FILTERS[name]()
    params = filter.path(spectrum)
    table = filter.gains(spectrum, params)
    assert table.shape == (len(params), len(spectrum)) and table.dtype == np.float64
    assert_allclose(filter.gains(list(spectrum), params[3])[0], table[3])


@pytest.mark.parametrize("name", FILTERS)
def test_a_fixed_parameter_is_the_whole_path_and_an_array_is_sorted(name):
    filter, t = FILTERS[name](), np.array([1.0, 0.5, 0.1, 0.01])
    assert_array_equal(filter.with_value(3).path(t), [3])
    weak_first = filter.path(t)[::-1]
    fixed = filter.with_value(weak_first)
    if filter.parameter == "lam":
        assert_allclose(fixed.path(t), weak_first[::-1])
    assert_array_equal(fixed.path(t), filter.path(t))
    assert_array_equal(fixed.value, weak_first)


@pytest.mark.parametrize("name", FILTERS)
def test_fixing_a_parameter_leaves_the_filter_alone(name):
    filter = FILTERS[name]()
    fixed = filter.with_value(2)
    assert filter.value is None and fixed.value == 2 and type(fixed) is type(filter)
    assert clone(fixed).value == 2


def test_fixing_a_parameter_keeps_the_others():
    assert IteratedTikhonov(order=5).with_value(0.1).order == 5
    assert NuMethod(nu=3).with_value(7).nu == 3


@pytest.mark.parametrize("value", [0.0, -1, [0.1, -0.1], np.nan, np.inf, "small", True])
@pytest.mark.parametrize("make", BY_LAM)
def test_lams_that_make_no_sense_are_named(make, value):
    with pytest.raises(ValueError, match=r"lam of \w+ must be positive, got ") as error:
        make(value).path(np.ones(3))
    assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    "filter", [Tikhonov(lam=[]), Tikhonov(lam=[[1.0]]), Landweber(n_iter=[]), TSVD(n_components=[])]
)
def test_a_path_has_one_dimension(filter):
    message = f"{filter.parameter} of {type(filter).__name__} must be a number or a one-dimensional array, got "
    with pytest.raises(ValueError, match=message):
        filter.path(np.ones(3))


@pytest.mark.parametrize("kind", [Tikhonov, IteratedTikhonov, Showalter])
def test_the_default_path_of_a_penalty_goes_from_nothing_learned_to_interpolation(kind, spectrum):
    filter = kind()
    path, positive = filter.path(spectrum), spectrum[spectrum > 0]
    passed = filter.gains(positive, path) * positive
    assert len(path) == 100 and np.all(np.diff(path) < 0)
    assert_allclose(np.diff(np.log(path)), np.log(path[-1] / path[0]) / 99)
    assert passed[0].max() < 0.011
    assert passed[-1].min() > 0.989


@pytest.mark.parametrize("kind", [Tikhonov, IteratedTikhonov, Showalter])
def test_the_default_path_stops_at_rounding_level(kind):
    t = np.array([1.0, 1e-5, 1e-12])
    assert_allclose(kind().path(t)[-1], 128 * EPS)


@pytest.mark.parametrize("name", FILTERS)
def test_null_directions_do_not_move_the_path(name):
    """Rows of weight zero, and repeated rows, add eigenvalues that are zero but for rounding."""
    t = np.geomspace(1, 1e-30, 20)
    padded = np.append(t, np.full(500, 1e-16))
    assert_array_equal(FILTERS[name]().path(t), FILTERS[name]().path(padded))


def test_a_higher_order_starts_with_a_higher_penalty():
    """Each pass learns as much again, so that the start must regularize more to learn nothing."""
    for order in (1, 10, 50):
        filter = IteratedTikhonov(order=order)
        assert filter.gains([1.0], filter.path(np.ones(1)))[0, 0] < 0.011


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("name", FILTERS)
def test_paths_do_not_depend_on_the_unit_of_the_kernel(name, scale, spectrum):
    filter = FILTERS[name]()
    path, scaled = filter.path(spectrum), filter.path(scale * spectrum)
    assert_allclose(scaled, path * scale if filter.parameter == "lam" else path, rtol=1e-12)
    assert_allclose(filter.gains(scale * spectrum, scaled) * scale, filter.gains(spectrum, path), rtol=1e-9)


def test_a_component_survives_if_half_of_it_is_kept():
    t = np.array([1.0, 0.5, 0.1, 0.0])
    assert_array_equal(Tikhonov().components(t, [0.6, 0.5, 0.4, 1e-9]), [1, 2, 2, 3])
    assert_array_equal(TSVD().components(t, [0, 2, 4]), [0, 2, 3])
    assert_array_equal(TSVD(lam=0.3).components(t, [0.3]), [2])
    assert_array_equal(Landweber().components(t, [0, 1, 1000]), [0, 2, 3])


@pytest.mark.parametrize("name", FILTERS)
def test_only_tikhonov_is_a_resolvent(name):
    filter, t = FILTERS[name](), np.array([1.0, 0.3, 0.01])
    param = filter.at_lam(0.1, t)
    assert filter.resolvent == np.allclose(filter.gains(t, [param]), 1 / (t + 0.1))


T = np.array([2.0, 1.0, 0.3, 0.01, 0.0])


@pytest.mark.parametrize("name", FILTERS)
def test_the_lam_of_a_parameter_regularizes_like_it(name):
    filter = FILTERS[name]()
    params = filter.path(T)[1:4]
    lams = filter.as_lam(params, T)
    assert lams.dtype == np.float64
    assert_allclose([filter.at_lam(lam, T) for lam in lams], params)


def test_learning_nothing_is_an_infinite_penalty():
    for filter in (TSVD(), Landweber(), NuMethod()):
        assert filter.as_lam([0], T)[0] == np.inf


def test_the_lam_of_a_number_of_components_is_the_last_eigenvalue_kept():
    assert_array_equal(TSVD().as_lam([1, 3, 5, 99], T), [2.0, 0.3, 0.0, 0.0])
    # 2 is 60 % of the sum, 3 are 91 % of it.
    assert_array_equal(TSVD().as_lam([0.5, 0.7], T), [2.0, 1.0])
    assert_array_equal(TSVD(lam=1.0).as_lam([0.5, 0.7], T), [0.5, 0.7])


@pytest.mark.parametrize("name", FILTERS)
def test_a_frozen_filter_does_not_follow_the_largest_eigenvalue(name):
    filter = FILTERS[name]()
    params, frozen = filter.path(T)[1:4], filter.frozen(T[0])
    assert_array_equal(frozen.gains(T, params), filter.gains(T, params))
    if name != "tsvd":
        assert_allclose(frozen.gains(T[1:], params), filter.gains(T, params)[:, 1:])
    assert type(frozen) is type(filter) and filter.get_params() == FILTERS[name]().get_params()


@pytest.mark.parametrize("filter", [Landweber(step=0.3), NuMethod(scale=5.0), Tikhonov(), TSVD(lam=0.1)], ids=str)
def test_what_was_given_is_frozen_already(filter):
    assert filter.frozen(1.0) is filter


@pytest.mark.parametrize("name", FILTERS)
def test_only_a_cut_off_jumps(name):
    """A parameter between two eigenvalues that all but tie: whether their gains do, too."""
    t, filter = np.array([1.0, 0.1 + 1e-9, 0.1, 0.01]), FILTERS[name]()
    gains = filter.gains(t, [filter.at_lam(0.1 + 5e-10, t)])[0]
    assert filter.cuts == (abs(gains[1] - gains[2]) > 1e-3)
