"""`check_filter` passes filters that are right, and says what is wrong with others."""

from __future__ import annotations

import numpy as np
import pytest

from eigenpath.filters import (
    FILTERS,
    TSVD,
    Filter,
    IteratedTikhonov,
    Landweber,
    NuMethod,
    Showalter,
    Tikhonov,
    check_filter,
)


@pytest.mark.parametrize("name", FILTERS)
def test_our_filters_pass(name):
    check_filter(FILTERS[name]())


@pytest.mark.parametrize(
    "filter",
    [
        *(IteratedTikhonov(order=order) for order in (1, 3, 10)),
        *(NuMethod(nu=nu) for nu in (0.5, 2, 5)),
        NuMethod(scale=3.0),
        Landweber(step=0.3),
        Landweber(step=1.5),
    ],
    ids=str,
)
def test_our_filters_pass_whatever_their_family(filter):
    check_filter(filter)


class Penalty(Filter):
    """Tikhonov, to be broken."""

    qualification = 1.0

    def __init__(self, lam=None):
        self.lam = lam

    def formula(self, t, param):
        return 1 / (t + param)


def test_the_filter_to_be_broken_is_whole():
    check_filter(Penalty())


class NoSuchParameter(Penalty):
    parameter = "penalty"


class OnePoint(Penalty):
    def default_path(self, t):
        return np.array([t[0]])


class Scribbles(Penalty):
    def gains(self, t, params):
        t += 0.1
        return super().gains(t, params)


class Transposed(Penalty):
    def formula(self, t, param):
        return super().formula(t, param).T


class InfiniteAtZero(Penalty):
    def formula(self, t, param):
        with np.errstate(divide="ignore", invalid="ignore"):
            return (t / (t + param)) / t


class LooksAtNeighbours(Penalty):
    def formula(self, t, param):
        return 1 / (t + np.full_like(param, param.max()))


class Forgets(Penalty):
    """Keeps something that no constructor parameter holds."""

    def __init__(self, lam=None):
        super().__init__(lam)
        self.factor = 1.0

    def formula(self, t, param):
        return self.factor / (t + param)


def forgetful():
    filter = Forgets()
    filter.factor = 1.01
    return filter


class IgnoresItsValue(Penalty):
    def path(self, t):
        return self.default_path(t)


class Explodes(Penalty):
    def formula(self, t, param):
        return 3 / (t + param)


class StartsInTheMiddle(Penalty):
    def default_path(self, t):
        return super().default_path(t)[40:]


class GoesBackwards(Penalty):
    def default_path(self, t):
        return np.concatenate([super().default_path(t), super().default_path(t)[:-1]])


class StopsShort(Penalty):
    def default_path(self, t):
        return super().default_path(t)[:40]


class Unbounded(Penalty):
    """A filter whose gain lam does not bound."""

    def formula(self, t, param):
        return 1 / (t + param**2)


class Boasts(Penalty):
    qualification = 2.0


BROKEN = [
    (NoSuchParameter(), "'penalty' is not a constructor parameter"),
    (Penalty(lam=0.1), "check the filter with lam=None, so that it has a default path"),
    (OnePoint(), "default_path must return a one-dimensional array of several parameters"),
    (Scribbles(), "gains must not write to its arguments"),
    (Transposed(), r"gains must have shape \(100, 41\), not \(41, 100\)"),
    (InfiniteAtZero(), "gains must be finite, at t = 0 too"),
    (LooksAtNeighbours(), "gains of one parameter must not depend on the others"),
    (forgetful(), "a clone must have the same gains"),
    (IgnoresItsValue(), "a fixed lam must be the whole path"),
    (Explodes(), r"t \* g\(t\) must stay bounded, near \[0, 1\]"),
    (StartsInTheMiddle(), r"the path must start where nothing is learned: t \* g\(t\) near 0"),
    (GoesBackwards(), "the path must go from most to least regularization"),
    (StopsShort(), "must approach 1 / t at the end of the path"),
    (Unbounded(), r"lam \* g\(t\) must stay bounded"),
    (Boasts(), r"the residual falls like lam\*\*1\.0\d, less than the qualification 2 promises"),
]


@pytest.mark.parametrize(("filter", "message"), BROKEN, ids=[type(filter).__name__ for filter, _ in BROKEN])
def test_a_broken_filter_hears_what_is_wrong(filter, message):
    with pytest.raises(AssertionError, match=message):
        check_filter(filter)


@pytest.mark.parametrize("wrong", [3, "tikhonov", lambda t: 1 / t])
def test_what_is_no_filter_is_told_so(wrong):
    with pytest.raises(AssertionError, match=r"must derive from eigenpath\.filters\.Filter"):
        check_filter(wrong)


@pytest.mark.parametrize("filter", [TSVD(lam=0.1), Tikhonov(lam=1.0), Showalter(lam=[1.0, 2.0])], ids=str)
def test_only_a_filter_with_a_default_path_can_be_checked(filter):
    with pytest.raises(AssertionError, match="check the filter with lam=None"):
        check_filter(filter)
