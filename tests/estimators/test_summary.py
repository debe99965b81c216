"""The layout of summaries: what is left out, what lines up, what is cut."""

from __future__ import annotations

import numpy as np
import pytest

from eigenpath.estimators._summary import WIDTH, Table, percent, show, summary_text


def test_facts_without_a_value_and_empty_parts_leave_no_trace():
    text = summary_text("Title", [("kept", 1), ("absent", None)], [], Table(["a"], []), "", [("nothing", None)])
    assert text == "Title\n=====\nkept  1"


def test_a_title_alone_is_a_summary():
    assert summary_text("Title") == "Title\n====="


def test_values_start_in_one_column():
    lines = summary_text("T", [("a", "x"), ("a longer label", "y")]).splitlines()[2:]
    assert [line.index(value) for line, value in zip(lines, "xy", strict=True)] == [16, 16]


def test_numbers_are_right_aligned_and_words_left_aligned():
    lines = summary_text(
        "T", Table(["rule", "n", "share"], [("gcv", 5, "1 %"), ("hold-out", None, "10 %")])
    ).splitlines()
    assert lines[4:] == ["gcv       5    1 %", "hold-out  -   10 %"]


def test_long_values_go_on_below_themselves():
    lines = summary_text("T", [("words", "word " * 40)]).splitlines()[2:]
    assert len(lines) > 1
    assert max(map(len, lines)) <= WIDTH
    assert all(line.startswith(" " * 7 + "word") for line in lines[1:])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (np.bool_(False), "no"),
        (np.int64(3), "3"),
        (np.float32(0.25), "0.25"),
        (np.float64("nan"), "nan"),
        (np.arange(7.0), "0, 1, 2, ..., 6 (7 values)"),
        (np.array([[1, 2], [3, 4]]), "1, 2, 3, 4"),
        ((None, "a"), "-, a"),
        ("two\n  lines", "two lines"),
    ],
)
def test_one_value_is_one_line(value, text):
    assert show(value) == text


def test_percent_never_rounds_a_small_share_to_zero():
    assert percent(1e-7) == "1e-05 %"
    assert percent(np.float32(0.5)) == "50 %"
