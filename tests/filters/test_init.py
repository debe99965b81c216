"""The registry of filters."""

from __future__ import annotations

import pytest

from eigenpath.filters import FILTERS, Filter, NuMethod, as_filter


@pytest.mark.parametrize("name", FILTERS)
def test_a_name_becomes_a_filter_with_its_defaults(name):
    assert type(as_filter(name)) is FILTERS[name]
    assert as_filter(name).value is None


def test_a_filter_is_itself():
    filter = NuMethod(nu=3)
    assert as_filter(filter) is filter


@pytest.mark.parametrize("wrong", ["ridge", 3, None, Filter])
def test_other_things_are_named_with_all_names_to_choose_from(wrong):
    with pytest.raises(ValueError, match=r"one of 'tikhonov', .*'showalter', got ") as error:
        as_filter(wrong)
    assert repr(wrong) in str(error.value)
