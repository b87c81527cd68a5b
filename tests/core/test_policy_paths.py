"""Paths in messages are built by `column_path` and `table_path`, which quote odd names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import anonymizer
from anonymizer.errors import AnonymizerError
from tests.core.test_architecture import PACKAGE
from tests.runs import policy, run, source

BY_HAND = re.compile(r"(?<!manifest\.measures\.)\b(?:columns|tables)\.\{")
KNOWN = {
    # keys under which two policies are compared: a long name must not be cut off
    "review/comparison.py": 1,
}
"""Paths that are built by hand: none is to be added."""


def test_paths_are_built_by_functions() -> None:
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        by_hand = BY_HAND.findall(file.read_text(encoding="utf-8"))
        if by_hand:
            found[file.relative_to(PACKAGE).as_posix()] = len(by_hand)
    assert found == KNOWN


ODD = 'my "age". x'
QUOTED = r'columns."my \"age\". x"'


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"nulls": "forbid"}, f"{QUOTED}.nulls"),
        ({"kind": "date"}, QUOTED),
        ({"role": "quasi", "hierarchy": {"file": "gone.csv"}}, f"{QUOTED}.hierarchy.file"),
    ],
)
def test_an_odd_name_is_quoted(tmp_path: Path, more: dict[str, object], path: str) -> None:
    columns = {ODD: {"role": "quasi", **more}, "sex": "quasi"}
    database = source(tmp_path, {ODD: "INTEGER", "sex": "VARCHAR"}, [(None, "f"), (1, "m")] * 4)
    with pytest.raises(AnonymizerError) as caught:
        run(policy(tmp_path, columns), database)
    assert any(problem.path.startswith(path) for problem in caught.value.problems)


def test_an_odd_name_is_quoted_by_verify(tmp_path: Path) -> None:
    database = source(tmp_path, {ODD: "INTEGER", "sex": "VARCHAR"}, [(1, "f"), (1, "m")] * 4)
    run(policy(tmp_path, {ODD: "quasi", "sex": "drop"}), database)
    other = policy(tmp_path, {ODD: "keep", "sex": "quasi"})
    with pytest.raises(AnonymizerError) as caught:
        anonymizer.verify(other)
    assert QUOTED in {problem.path for problem in caught.value.problems}
