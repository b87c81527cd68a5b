"""Losses of persons' boxes: whole numbers that no sum carries beyond their type."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import runs


@pytest.mark.parametrize("merged", [False, True])
def test_losses_of_several_whole_sets_fit_their_type(merged: bool, tmp_path: Path) -> None:
    """Each is a thousand million units; a person may have all values of a column."""
    rows = [(i // 4 if merged else i, *(f"{c}{i % 4}" for c in "abc"), "flu") for i in range(16)]
    names = ("a", "b", "c")
    path = runs.source(
        tmp_path, {"id": "INTEGER", **dict.fromkeys((*names, "ill"), "VARCHAR")}, rows
    )
    given = runs.policy(
        tmp_path,
        {"id": "identifier", **dict.fromkeys(names, "quasi"), "ill": "sensitive"},
        k=None,
        person="id",
        merge_person_rows=merged,
        algorithm={"name": "danonyir"},
        privacy={"ir_k": 4 if merged else 16},
    )
    release = runs.run(given, path)
    assert release.verification.passed
    assert {row[name] for row in runs.published(release) for name in names} == {"*"}


@pytest.mark.parametrize("spans", [(999_999_937, 1_999_999_973), (2**62, 999_999_937), (2**63, 7)])
def test_losses_of_long_spans_fit_their_type(spans: tuple[int, int], tmp_path: Path) -> None:
    """Two primes have the largest scale that fits; what does not fit is rounded."""
    types = {"id": "INTEGER", "a": "UBIGINT", "b": "UBIGINT", "ill": "VARCHAR"}
    a, b = spans
    rows = [
        (i // 4, a * (i // 4) // 9, b * (i // 4 * 7 % 10) // 9, f"ill {i % 4}") for i in range(40)
    ]
    given = runs.policy(
        tmp_path,
        {"id": "identifier", "a": "quasi", "b": "quasi", "ill": "sensitive"},
        k=None,
        person="id",
        algorithm={"name": "danonyir", "block_size": "all"},
        privacy={"ir_k": 6},
    )
    release = runs.run(given, runs.source(tmp_path, types, rows))
    assert release.verification.passed
    assert len(runs.published(release)) == len(rows)
