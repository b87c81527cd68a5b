"""Counts with their nouns, and the texts of the package that have counts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import anonymizer
from anonymizer.process.text import figure, many

PACKAGE = Path(anonymizer.__file__).parent
COUNTED = re.compile(
    r"\{(?:row\[\d\]|rows?|\w*\.rows|persons|\w*\.persons|n|count|len\([^}]*\))\}"
    r" (?:rows|persons|values|levels|steps|tables|nodes|objects|checks|different|more)\b"
)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (many(1, "row"), "1 row"),
        (many(0, "row"), "0 rows"),
        (many(12_345, "row"), "12,345 rows"),
        (many(1, "class", "classes"), "1 class"),
        (many(2, "class", "classes"), "2 classes"),
        (figure([3]), "1 value"),
    ],
)
def test_a_count_with_its_noun(made: str, text: str) -> None:
    assert made == text


def test_no_text_writes_a_count_beside_its_noun_by_hand() -> None:
    """`1 rows` and `12345 rows` come from counts that `many` does not write."""
    found = [
        f"{path.relative_to(PACKAGE)}: {match[0]}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if "independent" not in path.relative_to(PACKAGE).parts  # (it imports nothing of ours)
        for match in COUNTED.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
