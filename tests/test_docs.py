"""What the pages of the guide show runs, prints what they say it prints, and what they link to is there."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
# Anything else would be left out without a word.
KINDS = {"", "console", "python", "text"}


class Block(NamedTuple):
    """What stands between two fences, what the first says it is, and the line on which it begins."""

    kind: str
    text: str
    line: int


def blocks(text):
    fences = re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [Block(found[1].strip(), found[2], text.count("\n", 0, found.start(2))) for found in fences]


def words(text):
    """The words of an output, all numbers alike: their last digits, and so the columns, differ between machines."""
    alike = re.sub(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", "#", text)
    return re.sub(r"^[-= ]+$", "", alike, flags=re.MULTILINE).split()


def run(block, page, names):
    # Empty lines before it make a traceback name the page's lines.
    exec(compile("\n" * block.line + block.text, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_examples_run_one_after_the_other(page, capsys):
    found = blocks(page.read_text(encoding="utf-8"))
    assert {block.kind for block in found} <= KINDS
    names = {"__name__": page.stem}
    for block, following in pairwise([*found, Block("", "", 0)]):
        if block.kind == "python":
            run(block, page, names)
            printed = capsys.readouterr().out
            if following.kind == "text":
                assert words(printed) == words(following.text), f"{page.name}, line {following.line}, prints\n{printed}"


def test_most_pages_have_examples():
    shown = [page.stem for page in PAGES if any(b.kind == "python" for b in blocks(page.read_text(encoding="utf-8")))]
    assert len(shown) > 6


def test_a_block_that_fails_names_its_line_on_the_page():
    broken = blocks("# Title\n\n```python\nx = 1\n```\n\n```python\ny = x\nnowhere\n```\n")
    names = {}
    run(broken[0], "page.md", names)
    with pytest.raises(NameError) as failed:
        run(broken[1], "page.md", names)
    assert (str(failed.traceback[-1].path), failed.traceback[-1].lineno + 1) == ("page.md", 9)


def test_outputs_are_compared_up_to_numbers():
    assert words("lam  0.0123\n---  ------\nrow  1e-05") == words("lam   0.9\n----  ---\nrow     3")
    assert words("lam  0.0123") != words("alpha  0.0123")


def test_every_page_is_in_the_guide_and_every_link_leads_to_a_file():
    assert set(re.findall(r"^\* \[.*?\]\((.*?)\)", (DOCS / "index.md").read_text(encoding="utf-8"), flags=re.M)) == {
        page.name for page in PAGES if page.stem != "index"
    }
    for page in PAGES:
        for file in re.findall(r"\]\(((?!http)[^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / file).exists(), f"{page.name}: {file}"
