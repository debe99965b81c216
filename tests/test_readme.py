"""What the README shows runs, in the order in which it is read."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import eigenpath

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.fixture(scope="module")
def session():
    """The names that the examples leave behind, each going on where the one before it ended."""
    names = {"__name__": "readme"}
    for code in EXAMPLES:
        exec(compile(code, "README.md", "exec"), names)
    return names


def test_the_examples_run_one_after_the_other(session):
    assert len(EXAMPLES) >= 3
    assert session["model"].score(session["X_test"], session["y_test"]) > 0.2


def test_the_whole_path_is_there_afterwards(session):
    path = session["path"]
    assert len(path.params) == len(path.training_error) == len(path.degrees_of_freedom) > 10


def test_the_replacement_of_grid_search_chooses_among_its_penalties(session):
    assert np.isclose(session["ridge"].alpha_, session["ridge"].alphas).any()


def test_the_projection_machine_tells_the_moons_apart(session):
    assert session["machine"].score(session["points"][200:], session["labels"][200:]) > 0.85


def test_names_and_files_that_it_mentions_exist():
    rows = TEXT[TEXT.index("## What is in it") : TEXT.index("## How to cite")]
    named = re.findall(r"`((?:\w+\.)*[A-Za-z_]+)`", rows)
    options = set(eigenpath.SpectralRegressor().get_params()) | {"lam", "alpha"}
    assert len(named) > 25
    for name in named:
        place = eigenpath
        for part in name.split("."):
            assert name in options or hasattr(place, part), name
            place = getattr(place, part, None)
    for file in re.findall(r"\]\(((?!http)[^)#]+)\)", TEXT):
        assert (ROOT / file).exists(), file


def test_the_two_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^\$ make (\w+)", TEXT, flags=re.M):
        assert re.search(rf"^{target}:", makefile, flags=re.M)
