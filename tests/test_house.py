"""The house: modules import up the list of rooms only, never in a circle, and nothing optional is loaded early."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "eigenpath"
ROOMS = [
    "kernels",
    "filters",
    "gram",
    "spectra",
    "path",
    "bounds",
    "selection",
    "projection",
    "estimators",
    "persistence",
    "datasets",
    "plots",
    "report",
    "experiments",
    "cli",
]
OPTIONAL = {"dask", "matplotlib", "bokeh", "pandas"}


def modules(folder):
    """Dotted name -> file, for the package in ``folder``."""
    names = {
        file: ".".join([folder.name, *file.relative_to(folder).with_suffix("").parts]) for file in folder.rglob("*.py")
    }
    return {name.removesuffix(".__init__"): file for file, name in names.items()}


def at_module_level(node):
    """All nodes that run on import: not what is inside functions."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from at_module_level(child)


def imported(name, file, known):
    """The modules in ``known`` that module ``name`` imports when it is imported."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in at_module_level(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            inner = {f"{base}.{alias.name}" for alias in node.names}
            # `from a import b` needs the module a.b if there is one, and what stands in a itself otherwise.
            found |= (inner & known) | ({base} if inner - known else set())
    return (found & known) - {name}


def import_graph(folder):
    known = modules(folder)
    return {name: imported(name, file, set(known)) for name, file in known.items()}


def cycle(graph):
    """The modules of one import cycle, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def room(name):
    return name.split(".")[1] if "." in name else ""


def against_the_flow(graph):
    """All imports of a room from one that comes after it. Private modules at the top belong to every room."""
    rank = {name: i for i, name in enumerate(ROOMS)}
    return [
        f"{name} imports {other}"
        for name, others in sorted(graph.items())
        for other in sorted(others)
        if rank.get(room(name), len(ROOMS)) < rank.get(room(other), -1)
    ]


GRAPH = import_graph(SOURCE)


def test_no_import_cycles():
    assert cycle(GRAPH) == []


def test_imports_point_up_the_list_of_rooms():
    assert against_the_flow(GRAPH) == []


def test_every_public_room_has_its_place():
    rooms = {room(name) for name in GRAPH} - {""}
    assert {name for name in rooms if not name.startswith("_")} <= set(ROOMS), "give the new room its place in ROOMS"


def test_no_room_imports_the_package_as_a_whole():
    assert [name for name, others in GRAPH.items() if "eigenpath" in others] == []


@pytest.mark.parametrize("name", sorted(GRAPH))
def test_every_name_in_all_exists(name):
    """Of every module, so that each can also be imported by itself, with the optional packages left out."""
    if name.endswith("__main__"):
        pytest.skip("importing it would run it")
    module = import_module(name)
    names = getattr(module, "__all__", [])

    assert [missing for missing in names if not hasattr(module, missing)] == []
    assert len(set(names)) == len(names)


def test_importing_the_package_loads_nothing_optional():
    # scikit-learn loads pandas by itself where it is installed.
    code = "import sys, sklearn.base; before = set(sys.modules); import eigenpath; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)

    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "eigenpath" in loaded
    assert loaded & OPTIONAL == set()


@pytest.fixture
def crooked(tmp_path):
    """A package with one cycle, through a relative and an absolute import, and one import against the flow."""
    files = {
        "__init__.py": "from crooked.cli import main",
        "_tools.py": "import json",
        "kernels/__init__.py": "from .base import Kernel\nfrom crooked import _tools",
        "kernels/base.py": "from crooked.kernels.rbf import RBF\ndef late():\n    from crooked.cli import main",
        "kernels/rbf.py": "from . import base\nif True:\n    import crooked.filters.base",
        "filters/__init__.py": "",
        "filters/base.py": "from .. import _tools\nfrom ..kernels import Kernel",
        "cli.py": "from crooked.filters import base, anything",
    }
    for name, text in files.items():
        file = tmp_path / "crooked" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return import_graph(tmp_path / "crooked")


def test_the_graph_has_the_imports_of_every_form(crooked):
    assert crooked == {
        "crooked": {"crooked.cli"},
        "crooked._tools": set(),
        "crooked.kernels": {"crooked.kernels.base", "crooked._tools"},
        "crooked.kernels.base": {"crooked.kernels.rbf"},
        "crooked.kernels.rbf": {"crooked.kernels.base", "crooked.filters.base"},
        "crooked.filters": set(),
        "crooked.filters.base": {"crooked._tools", "crooked.kernels"},
        "crooked.cli": {"crooked.filters.base", "crooked.filters"},
    }


def test_cycles_and_wrong_turns_are_seen(crooked):
    assert {"crooked.kernels.base", "crooked.kernels.rbf"} <= set(cycle(crooked))
    assert against_the_flow(crooked) == ["crooked.kernels.rbf imports crooked.filters.base"]
