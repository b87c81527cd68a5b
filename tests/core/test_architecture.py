"""The direction of imports: a layer imports only layers above it in the list."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import anonymizer

PACKAGE = Path(anonymizer.__file__).parent
MOST_LINES = 700
LEAST_LINES = 60
FORMULAS = {
    "pair_in_order",
    "_hump",
    "equal",
    "levels_of_loss",
    "upper_bound",
    "lower_bound",
    "_smallest_only",
    "_writable",
}
"""Functions of one line and one caller whose docstring is a definition that needs its place."""
SEAMS = {"memory_there", "has_published", "with_limit", "capital", "cells_of", "class_sizes"}
"""Such functions that tests replace or call, or that bind a variable of a loop."""
REGISTRIES = ("algorithms.", "engines.", "guarantees.", "cli.")
"""Packages whose modules are found by their names."""
LAYERS = (
    "independent",
    "version",
    "errors",
    "compile",
    "policy",
    "process",
    "contract",
    "steps",
    "guarantees",
    "hierarchy",
    "source",
    "algorithms",
    "engines",
    "verification",
    "measure",
    "release",
    "publish",
    "ledger",
    "republish",
    "run",
    "review",
    "explore",
    "api",
    "cli",
    "dbt_release",
    "__main__",
)
"""Packages and modules of `anonymizer`: each may import itself and those before it."""


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def imported(path: Path, known: set[str]) -> Iterator[str]:
    """The modules that a file imports: at its top, inside functions, and for types only."""
    for node in ast.walk(trees()[path]):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "anonymizer":
                yield rest if rest in known else rest.rpartition(".")[0]


@cache
def trees() -> dict[Path, ast.Module]:
    """Every file of the package, parsed."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}


@cache
def arrows() -> list[tuple[str, str]]:
    """Pairs of modules: the one that imports, and the one that it imports."""
    found = modules()
    known = set(found)
    return [
        (name, other) for name, path in found.items() for other in imported(path, known) if name
    ]


def test_no_module_imports_the_package_itself() -> None:
    """It stands for all layers; other users import it."""
    assert [name for name, other in arrows() if not other] == []


def test_every_module_is_in_a_layer() -> None:
    assert {name.split(".")[0] for name in modules()} - {""} == set(LAYERS)


def test_the_page_lists_the_layers_in_their_order() -> None:
    page = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("| layer | holds |", 1)[1].split("\n\n", 1)[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == LAYERS


def test_imports_point_one_way() -> None:
    order = {layer: number for number, layer in enumerate(LAYERS)}
    upwards = [
        f"{name} imports {other}"
        for name, other in arrows()
        if order[other.split(".")[0]] > order[name.split(".")[0]]
    ]
    assert upwards == []


def test_the_second_reader_shares_nothing_with_the_first() -> None:
    shared = [other for name, other in arrows() if name.split(".")[0] == "independent"]
    assert {other.split(".")[0] for other in shared} == {"independent"}


def test_the_package_itself_imports_on_first_use_only() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    assert not [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("anonymizer")
    ]


def test_the_root_is_small() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 7


def test_no_module_is_too_long_to_survey() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")}
    assert [path for path, count in lines.items() if count > MOST_LINES] == []


def test_no_circle_of_modules() -> None:
    """Imports inside functions and for types count too."""
    needs: dict[str, set[str]] = {}
    for name, other in arrows():
        if name != other:
            needs.setdefault(name, set()).add(other)
    TopologicalSorter(needs).prepare()


def test_a_small_module_has_several_importers() -> None:
    """What one module alone uses stands there. Registries find their members by themselves."""
    users = Counter(other for name, other in set(arrows()) if name != other)
    alone = [
        name
        for name, path in modules().items()
        if name
        and path.name not in ("__init__.py", "__main__.py")
        and not name.startswith(REGISTRIES)
        and len(path.read_text().splitlines()) < LEAST_LINES
        and users[name] <= 1
    ]
    assert alone == []


def test_a_module_name_stands_twice_at_most() -> None:
    """Except where modules implement one protocol: those of an engine, and of an algorithm."""
    names = Counter(
        name.rpartition(".")[2]
        for name in modules()
        if not name.startswith(("engines.", "algorithms.", "publish."))
    )
    assert [name for name, count in names.items() if count > 2] == []


@pytest.mark.parametrize("heavy", ["duckdb", "pandas", "matplotlib", "sqlglot", "pydantic"])
def test_importing_the_package_imports_no_heavy_library(heavy: str) -> None:
    import subprocess
    import sys

    code = f"import sys, anonymizer; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_function_of_one_line_has_one_caller() -> None:
    """What one place calls and what fits on a line stands there."""
    nodes = [node for tree in trees().values() for node in ast.walk(tree)]
    uses = Counter(getattr(node, "id", getattr(node, "attr", None)) for node in nodes)
    calls = Counter(
        getattr(node.func, "id", getattr(node.func, "attr", None))
        for node in nodes
        if isinstance(node, ast.Call)
    )
    once = {
        kid.name
        for tree in trees().values()
        for kid in tree.body
        if isinstance(kid, ast.FunctionDef)
        and uses[kid.name] == calls[kid.name] == 1
        and not kid.decorator_list
        and len(kid.body) - (ast.get_docstring(kid) is not None) == 1
        and kid.body[-1].lineno == kid.body[-1].end_lineno
    }
    assert once == FORMULAS | SEAMS
