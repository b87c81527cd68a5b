"""Every test that the page on security names exists, and it names one for every promise."""

from __future__ import annotations

import ast
import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text()
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
PROMISES = PAGE.split("## Promises")[1].split("## What is not promised")[0]


@pytest.mark.parametrize(("file", "test"), sorted(set(NAMED.findall(PAGE))))
def test_named_test_exists(file: str, test: str) -> None:
    path = ROOT / file
    assert path.is_file(), f"{file} does not exist"
    tree = ast.parse(path.read_text())
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert any(name.startswith("test_") for name in names)
    assert not test or test in names, f"{file} has no {test}"


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PROMISES.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 12
    for row in rows:
        assert NAMED.search(row) or set(row) <= set("|- "), row


def test_every_known_attack_of_a_certificate_is_on_the_page() -> None:
    """What a manifest warns of, the page explains."""
    from anonymizer.algorithms.registry import BY_NAME

    said = PAGE.lower()
    for algorithm in BY_NAME.values():
        for attack in algorithm.attacks:
            assert re.split(r"[ (:]", attack)[0].lower() in said, attack
