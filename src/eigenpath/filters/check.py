"""A check for filters, ours and other people's."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from .base import Filter

__all__ = ["check_filter"]


def check_filter(filter: Filter) -> None:
    """Raise an ``AssertionError`` that says what is wrong if ``filter`` is not a spectral filter.

    It must be a `Filter` that can be cloned, whose gains have the right shape, are finite at ``t = 0``, do not depend
    on their neighbours, stay bounded, reach ``1 / t`` along the default path, and whose qualification is honest.

    Parameters
    ----------
    filter : Filter
        An instance whose own parameter is None, so that the default path is used.

    Examples
    --------
    >>> from eigenpath.filters import Tikhonov, check_filter
    >>> check_filter(Tikhonov())
    """
    assert isinstance(filter, Filter), f"{type(filter).__name__} must derive from eigenpath.filters.Filter"
    assert filter.parameter in filter.get_params(), f"{filter.parameter!r} is not a constructor parameter"
    assert filter.value is None, f"check the filter with {filter.parameter}=None, so that it has a default path"
    t = np.append(np.geomspace(1, 1e-6, 40), 0.0)
    path = np.asarray(filter.path(t))
    _check_interface(filter, t, path)
    _check_bounds(filter, t, path)
    _check_qualification(filter)


def _check_interface(filter: Filter, t: np.ndarray, path: np.ndarray) -> None:
    assert path.ndim == 1 and len(path) > 1, "default_path must return a one-dimensional array of several parameters"
    keep = t.copy(), path.copy()
    gains = filter.gains(t, path)
    assert np.array_equal(keep[0], t) and np.array_equal(keep[1], path), "gains must not write to its arguments"
    assert gains.shape == (len(path), len(t)), f"gains must have shape {(len(path), len(t))}, not {gains.shape}"
    assert np.all(np.isfinite(gains)), "gains must be finite, at t = 0 too"
    some = path[:: max(1, len(path) // 5)]
    one_by_one = np.vstack([filter.gains(t, [value]) for value in some])
    assert np.allclose(filter.gains(t, some), one_by_one), "gains of one parameter must not depend on the others"
    assert np.allclose(clone(filter).gains(t, some), one_by_one), "a clone must have the same gains"
    fixed = filter.with_value(path[1])
    assert np.array_equal(fixed.path(t), [path[1]]), f"a fixed {filter.parameter} must be the whole path"


def _check_bounds(filter: Filter, t: np.ndarray, path: np.ndarray) -> None:
    passed = filter.gains(t, path) * t
    assert passed.min() > -0.5 and passed.max() < 2.5, "t * g(t) must stay bounded, near [0, 1]"
    assert passed[0].max() <= 0.05, "the path must start where nothing is learned: t * g(t) near 0"
    learned = passed.sum(axis=1)
    # Polynomial filters overshoot a little, and come back.
    assert np.all(np.diff(learned) >= -0.01 * len(t)), "the path must go from most to least regularization"
    big = t > 1e-3
    assert np.abs(1 - passed[-1, big]).max() < 0.05, "g(t) must approach 1 / t at the end of the path"
    lams = np.geomspace(1e-1, 1e-5, 9)
    size = [np.abs(filter.gains(t, [filter.at_lam(lam, t)])).max() * lam for lam in lams]
    assert max(size) < 100 * getattr(filter, "order", 1), "lam * g(t) must stay bounded"


def _check_qualification(filter: Filter) -> None:
    """``sup |1 - t g(t)| t**q`` falls like ``lam**q``, for the qualification ``q`` or 2, whichever is less."""
    q = min(filter.qualification, 2.0)
    t = np.geomspace(1, 1e-8, 4000)
    # Small enough that accelerated iterations, which take lam**-0.5 steps, have come to their final rate.
    lams = np.geomspace(1e-4, 1e-6, 5)
    gains = np.vstack([filter.gains(t, [filter.at_lam(lam, t)]) for lam in lams])
    worst = (np.abs(1 - t * gains) * t**q).max(axis=1)
    slope = np.polyfit(np.log(lams), np.log(worst), 1)[0]
    assert slope > 0.9 * q, f"the residual falls like lam**{slope:.2f}, less than the qualification {q:g} promises"
