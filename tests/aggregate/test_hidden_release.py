"""The method suppress: what is published, its witnesses, and that changes are found."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.errors import GuaranteeError, PolicyError
from anonymizer.publish.export import export
from anonymizer.run import verbs
from anonymizer.run.verify import verify
from tests.aggregate.enumeration import Publication
from tests.aggregate.releases import (
    WORKED,
    cells,
    copied,
    database,
    failed,
    grid,
    policy,
    published,
)
from tests.aggregate.test_rest import ALL, ATOMS, REPORTED, TEXT, second_opinion
from tests.selection import rounds

HIDDEN: dict[str, Any] = {"method": "suppress", "suppress": {"cost": "persons"}}


def hidden(release: Any) -> set[tuple[str, ...]]:
    return {labels for labels, figure in cells(release).items() if figure is None}


def test_worked_example(tmp_path: Path) -> None:
    """The optimum hides 35 persons beside the group of 2; 5, 16, 6, 10 proves it."""
    release = published(tmp_path, grid(WORKED), TEXT, ATOMS, **HIDDEN)
    assert hidden(release) == {("r2", "c1"), ("r2", "c2"), ("r4", "c1"), ("r4", "c2")}
    assert len(cells(release)) == 25
    with duckdb.connect(str(release.database), read_only=True) as con:
        found = con.sql("from counts__witness order by all").fetchall()
    assert found == [
        ("r2", "c1", 5, 1),
        ("r2", "c2", 16, 1),
        ("r4", "c1", 6, 1),
        ("r4", "c2", 10, 1),
    ]
    made = policy(tmp_path, ATOMS, **HIDDEN)
    assert verify(made, tmp_path / "release.duckdb").passed
    assert verify(None, tmp_path / "release.duckdb").passed
    assert "counts__witness" in str(release.manifest.data["certificate"])


def test_nothing_is_small(tmp_path: Path) -> None:
    release = published(tmp_path, grid([[10, 20], [30, 40]]), TEXT, ATOMS, **HIDDEN)
    assert hidden(release) == set()
    assert verify(None, tmp_path / "release.duckdb").passed
    assert not any(second_opinion(tmp_path / "release.duckdb").values())


def test_levels_and_exports(tmp_path: Path) -> None:
    (tmp_path / "regions.csv").write_text("r1;north;*\nr2;north;*\nr3;south;*\nr4;south;*\n")
    by = {"r": {"hierarchy": "regions.csv"}, "c": {}}
    published(tmp_path, grid(WORKED), TEXT, by, **HIDDEN)
    made = policy(tmp_path, by, **HIDDEN)
    assert not any(second_opinion(tmp_path / "release.duckdb").values())
    for suffix in ("csv", "parquet"):
        export(made, tmp_path / f"out.{suffix}")
        assert (tmp_path / f"out_witness.{suffix}").is_file()
        assert not any(second_opinion(tmp_path / f"out.{suffix}").values())


CHANGES = {
    "cell_form": "update t set patients = 9 where status = 'hidden' and r = 'r2' and c = 'c1'",
    "cell_once": "insert into t select * from t limit 1",
    "no_reason": "update t set status = 'small' where patients = 50",
    "no_small_cells": "insert into t values ('r9', 'c9', 2, 'shown')",
    "one_step": "update t set patients = 19, status = 'shown' where r = 'r2' and c = 'c2'",
    "witness_whole": "update w set patients = 0 where r = 'r2' and c = 'c1'",
    "witness_agrees": "update w set patients = 6 where r = 'r2' and c = 'c1'",
    "witness_covers": "update w set patients = 4 where r = 'r2' and c = 'c1'",
}
"""By check: a change of the cells t or of the witnesses w that it finds."""


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found(tmp_path: Path, name: str) -> None:
    """Both verifiers find it, in rows that no seal covers."""
    from anonymizer.independent.fetch import Table as Read
    from anonymizer.independent.judge import judge_opened
    from anonymizer.independent.rows import open_release

    release = published(tmp_path, grid(WORKED), TEXT, ATOMS, **HIDDEN)
    con = copied(release)
    assert failed(release, con) == set()
    con.execute(CHANGES[name])
    assert name in failed(release, con)

    opened = open_release(Path(str(release.database)))
    read = {
        of: Read(before.columns, before.types, tuple(con.sql(text).fetchall()))
        for of, before, text in (
            ("t", opened.rows, "select columns(*)::varchar from t"),
            ("w", opened.tables["witness"], "select columns(*)::varchar from w"),
        )
    }
    changed = replace(opened, rows=read["t"], tables={"witness": read["w"]})
    assert name in {check.name for check in judge_opened(changed).checks if check.failing}


def test_a_changed_witness_is_refused(tmp_path: Path) -> None:
    release = published(tmp_path, grid(WORKED), TEXT, ATOMS, **HIDDEN)
    with duckdb.connect(str(release.database)) as con:
        con.execute("update counts__witness set patients = 7 where patients = 6")
    with pytest.raises(GuaranteeError):
        verify(policy(tmp_path, ATOMS, **HIDDEN), release.database)


def test_margins_that_are_kept(tmp_path: Path) -> None:
    """A margin with a small cell cannot be kept: nothing is published, and the cell is named."""
    rows = [*grid([[10, 20, 8], [30, 40, 9]]), ("r3", "c1"), ("r3", "c2")]
    options = {"method": "suppress", "suppress": {"keep": [["r"]]}}
    with pytest.raises(GuaranteeError, match=r"suppress.keep: r3 / \(all\)"):
        published(tmp_path, rows, TEXT, ATOMS, **options)
    assert not (tmp_path / "release.duckdb").exists()
    kept = published(tmp_path, grid(WORKED), TEXT, ATOMS, **options)
    assert not {labels for labels in hidden(kept) if labels[1] == ALL and labels[0] != ALL}


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("rest", {"method": "suppress", "rest": {"limit": 0.5}}),
        ("suppress", {"suppress": {"limit_s": 1}}),
        ("suppress.keep.0", {"method": "suppress", "suppress": {"keep": [["x"]]}}),
        ("aggregate.margins", {"method": "suppress", "aggregate": {"margins": [["r"]]}}),
        ("aggregate.margins", {"method": "suppress", "aggregate": {"margins": {"depth": 1}}}),
        ("aggregate.zeros", {"method": "suppress", "aggregate": {"zeros": "list"}}),
        ("suppress.limit_s", {"method": "suppress", "suppress": {"limit_s": -1}}),
    ],
)
def test_errors(tmp_path: Path, path: str, parts: dict[str, Any]) -> None:
    with pytest.raises(PolicyError) as caught:
        policy(tmp_path, ATOMS, **parts)
    assert path in {problem.path for problem in caught.value.problems}


@rounds(6, 20, 200)
def test_random_tables(tmp_path: Path, rounds: int) -> None:
    """What is published is true, lists every group, and passes both verifiers."""
    for seed in range(rounds):
        rng = random.Random(seed)
        shape = rng.randint(2, 4), rng.randint(2, 4), rng.randint(1, 3)
        rows = [
            (f"r{i}", f"c{j}", k * 10)
            for i in range(shape[0])
            for j in range(shape[1])
            for k in range(shape[2])
            for _ in range(rng.choice([0, 1, 2, 3, 5, 8, 13]))
        ]
        if not rows:
            continue
        by = {"r": {}, "c": {}, "k": {"bands": [[0, 10, 20], [0, 20]]}}
        columns = "r varchar, c varchar, k integer"
        quick: dict[str, Any] = {"method": "suppress", "suppress": {"limit_s": 0.2}}
        made = policy(tmp_path, by, minimum=rng.choice([3, 5]), **quick)
        (tmp_path / "release.duckdb").unlink(missing_ok=True)
        try:
            release = verbs.run(made, database(tmp_path, rows, columns), seed=1)
        except GuaranteeError:
            assert len(rows) < 20  # too few persons for any other table
            continue
        told = cells(release)
        persons = {(r, c): 0 for r, c, _ in rows}
        for r, c, _ in rows:
            persons[r, c] += 1
        for (r, c), n in persons.items():
            assert told[r, c, ALL, 2] in (n, None)
            assert told[r, c, ALL, 2] is None or n >= made.minimum
        assert verify(None, release.database).passed
        assert not any(second_opinion(Path(str(release.database))).values())


def test_progress(tmp_path: Path) -> None:
    """The search says what it does, how much is done and how much is left."""
    rng = random.Random(1)
    counts = [[rng.choice([1, 2, 3, 9, 20, 40]) for _ in range(14)] for _ in range(14)]
    made = policy(tmp_path, ATOMS, method="suppress", suppress={"limit_s": 2})
    events: list[Any] = []
    verbs.run(made, database(tmp_path, grid(counts), TEXT), seed=1, listener=events.append)
    told = [event for event in events if event.step.name == "hide figures"]
    assert told
    assert all(event.round + event.count > 0 for event in told)


@pytest.mark.parametrize("name", REPORTED)
def test_reported_tables(tmp_path: Path, name: str) -> None:
    """By full enumeration: of each small group another table says that it is large."""
    table, minimum, _ = REPORTED[name]
    release = published(tmp_path, grid(table), TEXT, ATOMS, minimum=minimum, method="suppress")
    found = cells(release)
    atoms = tuple(labels for labels in found if ALL not in labels)
    ranges = Publication(("r", "c"), found, atoms).ranges()
    for (r, c), n in ((labels, table[0][int(labels[1][1:]) - 1]) for labels in atoms):
        assert found[r, c] is None or n >= minimum
        assert max(ranges[r, c]) >= minimum
    assert not any(second_opinion(tmp_path / "release.duckdb").values())
