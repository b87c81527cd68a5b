"""What is published depends on nothing that was not to be published.

Two sources that differ only in identifiers, dropped columns, rows that `nulls: suppress` leaves out
and values beyond a top or bottom code give the same release, under one seed and with one key.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from anonymizer import Policy
from tests.selection import some
from tests.threats.interference import ALGORITHMS, draw_pair, made_of, said_of

PAIRS = int(os.environ.get("ANONYMIZER_PAIRS", "500"))
"""Pairs that are compared by the exhaustive tests; ANONYMIZER_PAIRS asks for more."""
FEW = 14
"""Pairs that are compared by the slow ones: of each algorithm two."""
PARTS = 14

JOBS = "\n".join(
    f"{value};{group};*"
    for value, group in (
        ("cook", "manual"),
        ("nurse", "care"),
        ("clerk", "office"),
        ("NULL", "office"),
        ("x or NULL", "manual"),
        ("astronaut", "care"),
        ("spy", "office"),
    )
)


def alike(numbers: range, folder: Path) -> int:
    """Compare the releases of these pairs; how many were released."""
    (folder / "jobs.csv").write_text(JOBS + "\n", encoding="utf-8")
    released = 0
    for number in numbers:
        pair = draw_pair(number, folder)
        first, second = made_of(pair.policy, pair.first), made_of(pair.policy, pair.second)
        released += "error" not in first
        assert first == second, pair.words
    return released


@pytest.mark.slow
def test_nothing_hidden_shows(tmp_path: Path) -> None:
    assert alike(range(FEW), tmp_path) > FEW / 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_hidden_shows_in_hundreds_of_pairs(part: int, tmp_path: Path) -> None:
    numbers = range(FEW + part, FEW + PAIRS, PARTS)
    assert alike(numbers, tmp_path) > len(numbers) / 2


@some(0)
@pytest.mark.parametrize("number", [0, 1, 3, 5, 13])
def test_plan_and_report_say_the_same(number: int, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(JOBS + "\n", encoding="utf-8")
    pair = draw_pair(number, tmp_path)
    first = said_of(pair.policy, pair.first, tmp_path / "a")
    second = said_of(pair.policy, pair.second, tmp_path / "b")
    for form, text in first.items():
        assert text == second[form], (form, pair.words)


@some(1)
@pytest.mark.parametrize("number", [0, 1, 4, 5, 7, 11, 18, 19])
def test_without_a_key_the_cells_are_the_same(number: int, tmp_path: Path) -> None:
    """Draws hang on the whole row then: order, numbers and the deal inside buckets differ."""
    (tmp_path / "jobs.csv").write_text(JOBS + "\n", encoding="utf-8")
    pair = draw_pair(number, tmp_path, keyed=False)
    first, second = made_of(pair.policy, pair.first), made_of(pair.policy, pair.second)
    assert unordered(first, pair.policy) == unordered(second, pair.policy), pair.words


def unordered(made: dict[str, Any], policy: Policy) -> tuple[Any, ...]:
    """The cells as a multiset, without numbers and dealt values, and the measures."""
    if "error" in made:
        return (made["error"],)
    description, rows = made["people_anonymous"]
    dealt = {name for name in policy.columns if policy.columns[name].protect is not None}
    numbers = {"class_id", "person_id", "group_id"}
    kept = [
        i
        for i, (name, *_) in enumerate(description)
        if name not in numbers and not any(name.startswith(one) for one in dealt)
    ]
    cells = sorted(str([row[i] for i in kept]) for row in rows)
    names = ("rows", "suppressed", "ncp", "glm", "c_dm", "classes")
    return cells, [made["manifest"]["measures"][name] for name in names]


def test_every_algorithm_is_drawn() -> None:
    assert 2 * len(ALGORITHMS) == FEW
    assert FEW >= PARTS
