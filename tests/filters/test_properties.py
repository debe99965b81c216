"""Laws that hold for every filter, on spectra of Hypothesis' choosing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenpath.filters import FILTERS, TSVD, IteratedTikhonov, Landweber, NuMethod, Showalter, Tikhonov

# The residual of the nu-method oscillates in [-1, 1]; all others stay in [0, 1].
VARIANTS = {
    **{name: kind() for name, kind in FILTERS.items()},
    "iterated_tikhonov-7": IteratedTikhonov(order=7),
    "nu_method-half": NuMethod(nu=0.5),
    "nu_method-3": NuMethod(nu=3),
    "tsvd-lam": TSVD(lam=1.0),
}
OVERSHOOT = {name: 1.0 if name.startswith("nu_method") else 1e-12 for name in VARIANTS}
# sup |lam g|: order q for iterated Tikhonov, s lam / t_1 for s steps of Landweber, s and its square for the nu-method.
BOUND = {name: 1 + 1e-12 for name in VARIANTS} | {
    "iterated_tikhonov": 2 + 1e-12,
    "iterated_tikhonov-7": 7 + 1e-12,
    "landweber": 1.5,
    "nu_method": 5.0,
    "nu_method-half": 5.0,
    "nu_method-3": 5.0,
}

every_filter = pytest.mark.parametrize("name", VARIANTS)
quick = settings(deadline=None, max_examples=30, derandomize=True)


@st.composite
def spectra(draw):
    """Decreasing eigenvalues, of any unit and decay, possibly tied, possibly with a null space."""
    logs = draw(st.lists(st.floats(-7, 0), min_size=1, max_size=12))
    positive = np.sort(10.0 ** np.array(logs))[::-1]
    zeros = np.zeros(draw(st.integers(0, 3)))
    return draw(st.sampled_from([1e-6, 1.0, 1e6])) * np.concatenate([positive, zeros])


lams = st.floats(-5, 0).map(lambda power: 10.0**power)


def param(filter, lam, t):
    """The filter's own parameter for a penalty given as a share of the largest eigenvalue."""
    return filter.at_lam(lam * t[0], t)


@every_filter
@quick
@given(t=spectra(), lam=lams)
def test_what_passes_lies_between_nothing_and_everything(name, t, lam):
    filter = VARIANTS[name]
    passed = t * filter.gains(t, [param(filter, lam, t)])[0]
    assert np.all(passed >= -1e-12) and np.all(passed <= 1 + OVERSHOOT[name])


@every_filter
@quick
@given(t=spectra(), lam=lams)
def test_lam_bounds_the_gain(name, t, lam):
    filter = VARIANTS[name]
    gains = filter.gains(t, [param(filter, lam, t)])[0]
    assert np.all(np.isfinite(gains))
    assert np.abs(gains).max() * lam * t[0] <= BOUND[name]


@every_filter
@quick
@given(t=spectra(), lam=lams)
def test_large_components_pass_and_small_ones_do_not(name, t, lam):
    """All filters cut at lam, more or less sharply."""
    filter = VARIANTS[name]
    passed = t * filter.gains(t, [param(filter, lam, t)])[0]
    size = t / (lam * t[0])
    assert np.all(passed[size > 100] > 0.9)
    assert np.all(passed[size < 1e-3] < 0.1)


@every_filter
@quick
@given(t=spectra(), lam=lams)
def test_larger_components_pass_no_worse_than_smaller_ones(name, t, lam):
    filter = VARIANTS[name]
    passed = t * filter.gains(t, [param(filter, lam, t)])[0]
    # The nu-method oscillates about 1, ever less: where it is below 1/2 it has not begun to.
    rising = np.minimum(passed, 0.5) if name.startswith("nu_method") else passed
    assert np.all(np.diff(rising) <= 1e-9)


@every_filter
@quick
@given(t=spectra())
def test_default_paths_learn_ever_more(name, t):
    filter = VARIANTS[name]
    if filter.value is not None:
        filter = TSVD()
    path = filter.path(t)
    learned = (t * filter.gains(t, path)).sum(axis=1)
    step = np.diff(path)
    assert np.all(step < 0) or np.all(step > 0)
    # Where the nu-method overshoots it comes back.
    slack = 0.6 * len(t) if name.startswith("nu_method") else 1e-9
    assert np.all(np.diff(learned) >= -slack)
    assert learned[0] <= 0.011 * len(t) and learned[-1] >= learned[0]


def slope(filter, power):
    """The measured exponent q in ``sup |1 - t g(t)| t**power <= const * lam**q``."""
    # Late enough for iterations that take lam**-0.5 steps; early enough that lam**3 is above rounding.
    decades = (-4, -6) if isinstance(filter, NuMethod) else (-2, -4)
    t, lams = np.geomspace(1, 1e-8, 3000), np.logspace(*decades, 6)
    worst = [np.max(np.abs(1 - t * filter.gains(t, [filter.at_lam(lam, t)])[0]) * t**power) for lam in lams]
    return np.polyfit(np.log(lams), np.log(worst), 1)[0]


@pytest.mark.parametrize(
    ("filter", "qualification"),
    [(Tikhonov(), 1)]
    + [(IteratedTikhonov(order=order), order) for order in (1, 2, 3)]
    + [(NuMethod(nu=nu), nu) for nu in (0.5, 1, 2)],
    ids=str,
)
def test_a_filter_saturates_at_its_qualification(filter, qualification):
    assert filter.qualification == qualification
    for smoother in (1.0, 2.0):
        assert abs(slope(filter, qualification + smoother) - qualification) < 0.05
    assert abs(slope(filter, qualification / 2) - qualification / 2) < 0.05


@pytest.mark.parametrize("filter", [Landweber(), Showalter(), TSVD(), TSVD(lam=1.0)], ids=str)
def test_other_filters_do_not_saturate(filter):
    assert filter.qualification == np.inf
    for power in (0.5, 1.0, 4.0):
        assert abs(slope(filter, power) - power) < 0.05
