"""Spectral filters: one class, one formula, one line in `FILTERS`."""

from __future__ import annotations

from .base import Filter, IterativeFilter, rank_of
from .check import check_filter
from .closed import TSVD, IteratedTikhonov, Showalter, Tikhonov
from .iterative import Landweber, NuMethod

__all__ = [
    "FILTERS",
    "TSVD",
    "Filter",
    "IteratedTikhonov",
    "IterativeFilter",
    "Landweber",
    "NuMethod",
    "Showalter",
    "Tikhonov",
    "as_filter",
    "check_filter",
    "rank_of",
]

FILTERS: dict[str, type[Filter]] = {
    "tikhonov": Tikhonov,
    "iterated_tikhonov": IteratedTikhonov,
    "tsvd": TSVD,
    "landweber": Landweber,
    "nu_method": NuMethod,
    "showalter": Showalter,
}


def as_filter(filter: str | Filter) -> Filter:
    """A `Filter` from a name in `FILTERS`, or the filter itself.

    Examples
    --------
    >>> as_filter("landweber")
    Landweber()
    """
    if isinstance(filter, Filter):
        return filter
    if isinstance(filter, str) and filter in FILTERS:
        return FILTERS[filter]()
    raise ValueError(f"filter must be a Filter or one of {', '.join(map(repr, FILTERS))}, got {filter!r}.")
