"""Plain text for the ``summary()`` of every estimator: a title, then facts, tables and sentences, aligned."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

__all__ = ["Table", "percent", "show", "summary_text"]

WIDTH = 88  # columns of text
MOST_ENTRIES = 6  # of an array, before it is cut short


class Table(NamedTuple):
    """A small table: the ``header`` of each column and the ``rows``, whose cells are values of any kind."""

    header: Sequence[str]
    rows: Iterable[Sequence[object]]


Facts = Iterable[tuple[str, object]]


def percent(share: float) -> str:
    """A share of one, as text.

    Examples
    --------
    >>> percent(0.12345), percent(1.0), percent(0.00001)
    ('12.3 %', '100 %', '0.001 %')
    """
    hundredths = 100 * float(share)
    return f"{hundredths:.3g} %"


def show(value: object) -> str:
    """One line for one value: four significant digits, ``-`` for None, long arrays cut short.

    Examples
    --------
    >>> show(0.1234567), show(12), show(None), show(True), show([1.0, 2.5])
    ('0.1235', '12', '-', 'yes', '1, 2.5')
    >>> show(range(1000))
    '0, 1, 2, ..., 999 (1000 values)'
    """
    if value is None:
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return f"{float(value):.4g}"
    if isinstance(value, np.ndarray | list | tuple | range):
        return _show_entries(value)
    return " ".join(str(value).split())


def _show_entries(values) -> str:
    entries = np.ravel(values).tolist() if isinstance(values, np.ndarray) else list(values)
    if len(entries) <= MOST_ENTRIES:
        return ", ".join(map(show, entries))
    return f"{', '.join(map(show, entries[:3]))}, ..., {show(entries[-1])} ({len(entries)} values)"


def summary_text(title: str, *parts: str | Table | Facts) -> str:
    """Lay out a title and any number of parts, with an empty line between them.

    Parameters
    ----------
    title : str
        The first line; it is underlined.
    *parts : str, Table, or iterable of (label, value)
        A sentence (wrapped to the width), a table, or facts (labels in one column, values in the next). A fact whose
        value is None is left out, and so is an empty part: callers list what may be there without testing for it.

    Returns
    -------
    text : str
        Without a newline at its end.

    Examples
    --------
    >>> print(summary_text(
    ...     "Tikhonov on 100 rows",
    ...     [("lam", 0.0123456), ("degrees of freedom", 12.0), ("offset", None)],
    ...     Table(["lam", "error"], [(0.1, 1.25), (0.01, 1.0)]),
    ...     "The choice lies inside the path.",
    ... ))
    Tikhonov on 100 rows
    ====================
    lam                 0.01235
    degrees of freedom  12
    <BLANKLINE>
     lam  error
    ----  -----
     0.1   1.25
    0.01      1
    <BLANKLINE>
    The choice lies inside the path.
    """
    head = f"{title}\n{'=' * len(title)}"
    blocks = [block for part in parts if (block := _block(part))]
    return "\n".join([head, "\n\n".join(blocks)]) if blocks else head


def _block(part) -> str:
    if isinstance(part, str):
        return textwrap.fill(part, WIDTH)
    if isinstance(part, Table):
        return _table(part)
    return _facts(part)


def _facts(facts: Facts) -> str:
    shown = [(label, show(value)) for label, value in facts if value is not None]
    width = max((len(label) for label, _ in shown), default=0) + 2
    return "\n".join(_fact(label, value, width) for label, value in shown)


def _fact(label: str, value: str, width: int) -> str:
    # Narrow labels leave room for values; a value longer than its column goes on below itself, not below the label.
    return (
        textwrap.fill(
            value,
            max(WIDTH, width + 20),
            initial_indent=label.ljust(width),
            subsequent_indent=" " * width,
            break_long_words=False,
        )
        or label
    )


def _table(table: Table) -> str:
    raw = [list(row) for row in table.rows]
    if not raw:
        return ""
    cells = [list(table.header), *([show(cell) for cell in row] for row in raw)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    right = [all(_is_number(row[j]) for row in raw) for j in range(len(widths))]
    return "\n".join(_line(row, widths, right) for row in cells)


def _is_number(cell: object) -> bool:
    # Percentages and missing values line up with numbers.
    return cell is None or isinstance(cell, Real) or (isinstance(cell, str) and cell.endswith(" %"))


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
    return "  ".join(padded).rstrip()
