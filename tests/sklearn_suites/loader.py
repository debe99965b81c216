"""Run scikit-learn's own tests of a class against ours: they ship in its wheel.

Test modules here do not see each other, so load this one by path::

    adopt = runpy.run_path(Path(__file__).with_name("loader.py"))["adopt"]
    globals().update(adopt("sklearn.tests.test_kernel_ridge", {"sklearn.kernel_ridge.KernelRidge": KernelRidge}, {}))
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

SEEDS = (0, 42)  # scikit-learn's tests are to pass with any


def adopt(suite: str, replacements: Mapping[str, type], skipped: Mapping[str, str]) -> dict[str, Any]:
    """The tests and fixtures of a scikit-learn test module, with classes replaced before it is run.

    Parameters
    ----------
    suite : str
        The test module's name.
    replacements : mapping of str to type
        From the full name of a class to the one that takes its place.
    skipped : mapping of str to str
        From the name of a test that cannot apply to the reason.

    Returns
    -------
    dict
        What to add to a module's names so that pytest collects it.
    """
    names = _run(suite, replacements)
    tests = {name: one for name, one in names.items() if name.startswith("test_") and callable(one)}
    if not tests:
        raise LookupError(f"{suite} has no tests: did scikit-learn move them?")
    if unknown := sorted(set(skipped) - set(tests)):
        raise LookupError(f"{suite} has no test {unknown[0]!r}: take it off the list of those that are skipped.")
    for name, reason in skipped.items():
        pytest.mark.skip(reason=reason)(tests[name])
    for one in tests.values():
        # Warnings are errors here, but what other scikit-learn classes warn of is not our concern.
        pytest.mark.filterwarnings(r"ignore:::sklearn\..*")(one)
    fixtures = {name: one for name, one in names.items() if isinstance(one, type(global_random_seed))}
    return {"global_random_seed": global_random_seed, **fixtures, **tests}


@pytest.fixture(params=SEEDS)
def global_random_seed(request):
    """What scikit-learn's conftest gives to its tests."""
    return request.param


def _run(suite: str, replacements: Mapping[str, type]) -> dict[str, Any]:
    spec = find_spec(suite)
    if spec is None or spec.origin is None:
        raise LookupError(f"{suite} is not installed: this scikit-learn comes without its tests.")
    names: dict[str, Any] = {"__name__": suite, "__file__": spec.origin, "__package__": suite.rpartition(".")[0]}
    with ExitStack() as stack:
        for path, ours in replacements.items():
            module, _, name = path.rpartition(".")
            stack.enter_context(patch.object(import_module(module), name, ours))
        exec(compile(Path(spec.origin).read_text(), spec.origin, "exec"), names)
    return names
