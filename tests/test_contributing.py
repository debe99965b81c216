"""What CONTRIBUTING shows runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_examples_pass_the_public_checks(code):
    exec(compile(code, "CONTRIBUTING.md", "exec"), {"__name__": "contributing"})


def test_there_is_one_example_for_a_filter_and_one_for_a_kernel():
    assert [re.findall(r"class \w+\((\w+)\)", code) for code in EXAMPLES] == [["Filter"], ["DistanceKernel"]]
    assert [re.findall(r"^check_\w+", code, flags=re.M) for code in EXAMPLES] == [["check_filter"], ["check_kernel"]]
