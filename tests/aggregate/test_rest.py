"""The method rest: what is published, that nothing small follows from it, and its traps."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.errors import GuaranteeError, PolicyError, SourceError
from anonymizer.run import verbs
from anonymizer.run.verify import verify
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
from tests.selection import rounds

ATOMS: dict[str, Any] = {"r": {}, "c": {}}
TEXT = "r varchar, c varchar"
ALL, OTHER = "(all)", "(other)"


def test_worked_example(tmp_path: Path) -> None:
    release = published(tmp_path, grid(WORKED), TEXT, ATOMS)
    found = cells(release)
    assert found["r2", ALL] == 71
    assert found["r4", ALL] == 48
    assert found[ALL, "c1"] == 46
    assert found[ALL, "c2"] == 101
    assert found[ALL, ALL] == 283
    assert found[OTHER, OTHER] == 9
    assert ("r2", "c1") not in found
    assert ("r4", "c2") not in found
    assert len(found) == 14 + 8 + 1 + 1
    made = policy(tmp_path, ATOMS)
    assert verify(made, tmp_path / "release.duckdb").passed
    assert verify(None, tmp_path / "release.duckdb").passed


def test_listed_groups(tmp_path: Path) -> None:
    """With k listed groups of at least one person each, R - (k - 1) is at least n."""
    release = published(
        tmp_path, grid([[1, 3, 30], [2, 40, 6]]), TEXT, ATOMS, rest={"list_hidden": True}
    )
    found = cells(release)
    assert found[OTHER, OTHER] == 12  # 1 + 2 + 3 are three groups: 6 - 2 is below 5
    hidden = {labels for labels, figure in found.items() if figure is None}
    assert hidden == {("r1", "c1"), ("r1", "c2"), ("r2", "c1"), ("r2", "c3")}
    assert "nearly always right" in str(release.manifest.data["certificate"])


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    ("margins", "depths"),
    [("all", {0, 1, 2}), ("none", {2}), ([["r"]], {1}), ({"depth": 1}, {0, 1})],
)
def test_margins(tmp_path: Path, margins: Any, depths: set[int], listed: bool) -> None:
    release = published(
        tmp_path,
        grid(WORKED),
        TEXT,
        ATOMS,
        aggregate={"margins": margins},
        rest={"list_hidden": listed},
    )
    found = cells(release)
    shown = {labels for labels, figure in found.items() if figure is not None} - {(OTHER, OTHER)}
    depth = {sum(label != ALL for label in labels) for labels in shown}
    assert depth == depths
    assert found[OTHER, OTHER] == 9
    assert verify(None, tmp_path / "release.duckdb").passed


@rounds(4, 60, 500)
def test_every_possible_table(tmp_path: Path, rounds: int) -> None:
    """By full enumeration: a table with n persons in any small group agrees with all figures."""
    for seed in range(rounds):
        rng = random.Random(seed)
        table = [[rng.choice([0, 1, 1, 2, 3, 4, 6]) for _ in range(3)] for _ in range(2)]
        found = cells(published(tmp_path, grid(table), TEXT, ATOMS, minimum=4))
        counts = {
            (f"r{i}", f"c{j}"): n for i, row in enumerate(table, 1) for j, n in enumerate(row, 1)
        }
        small = {place for place, n in counts.items() if 1 <= n < 4}
        absent = [place for place in counts if place not in found]
        assert small <= {*absent}
        left_out = found.get((OTHER, OTHER), 0)
        assert not found or _reach(absent, left_out) >= 4 or not small


def _reach(absent: list[tuple[str, str]], left_out: int) -> int:
    """The largest count that each of the absent groups has in some table that agrees."""
    reached = [0] * len(absent)
    for tried in itertools.product(range(left_out + 1), repeat=len(absent)):
        if sum(tried) == left_out:
            reached = [max(a, b) for a, b in zip(reached, tried, strict=True)]
    return min(reached, default=0)


def test_rows_are_not_persons(tmp_path: Path) -> None:
    """A group of 40 rows of 2 persons is small."""
    rows = [("x", f"few{i % 2}") for i in range(40)] + [("y", f"p{i}") for i in range(9)]
    found = cells(
        published(tmp_path, rows, "g varchar, person varchar", {"g": {}}, person="person")
    )
    assert found == {(OTHER,): 11}  # the two, and the nine with them
    again = rows + [("z", f"q{i}") for i in range(12)]
    found = cells(
        published(tmp_path, again, "g varchar, person varchar", {"g": {}}, person="person")
    )
    assert found == {("z",): 12, (ALL,): 12, (OTHER,): 11}


def test_persons_in_several_groups(tmp_path: Path) -> None:
    rows = [("x", "p1"), ("y", "p1"), ("x", "p2"), ("x", None)]
    with pytest.raises(SourceError) as raised:
        published(tmp_path, rows, "g varchar, person varchar", {"g": {}}, person="person")
    assert raised.value.problems[0].path == "person"
    with pytest.raises(SourceError) as raised:
        published(tmp_path, rows[:3], "g varchar, person varchar", {"g": {}}, person="person")
    assert [p.path for p in raised.value.problems] == ["aggregate.by"]
    assert "1 person is in several groups" in str(raised.value)


def test_null_is_a_group(tmp_path: Path) -> None:
    rows = [(None, "a")] * 6 + [("x", "a")] * 7
    found = cells(published(tmp_path, rows, TEXT, ATOMS))
    assert found["(null)", "a"] == 6


@pytest.mark.parametrize("label", ["(all)", "(other)", "(null)"])
def test_labels_of_the_tool(tmp_path: Path, label: str) -> None:
    with pytest.raises(SourceError, match="labels of the tool"):
        published(tmp_path, [(label, "a")] * 6, TEXT, ATOMS)


def test_a_node_with_one_child(tmp_path: Path) -> None:
    """A node with one child repeats its figure, so both are absent."""
    (tmp_path / "regions.csv").write_text("a;north;*\nb;south;*\nc;south;*\n")
    rows = [("a",)] * 3 + [("b",)] * 8 + [("c",)] * 9
    by = {"r": {"hierarchy": "regions.csv"}}
    found = cells(published(tmp_path, rows, "r varchar", by))
    assert found == {
        ("c", 0): 9,
        ("south", 1): 9,
        (ALL, 2): 9,
        (OTHER, None): 11,
    }


def test_bands(tmp_path: Path) -> None:
    by = {"age": {"bands": [[0, 18, 65], [0, 65]]}}
    rows = [(n,) for n in (*range(18), *range(18, 40), *range(70, 80))]
    found = cells(published(tmp_path, rows, "age integer", by))
    assert found["0-17", 0] == 18
    assert found["18-64", 0] == 22
    assert found["65+", 0] == 10
    assert found["0-64", 1] == 40
    assert found[ALL, 2] == 50
    with pytest.raises(SourceError, match=r"aggregate.by.age.bands: 1 row is below"):
        published(tmp_path, [(-1,), *rows], "age integer", by)


def test_ties_are_broken_by_labels(tmp_path: Path) -> None:
    """A tie that is drawn would show the other group the next time."""
    table = [[2, 7], [7, 9]]
    first = cells(published(tmp_path, grid(table), TEXT, ATOMS))
    made = policy(tmp_path, ATOMS)
    again = verbs.run(made, database(tmp_path, reversed(grid(table)), TEXT), seed=2)
    assert cells(again) == first
    assert ("r1", "c2") not in first
    assert first["r2", "c1"] == 7


def test_nothing_is_left(tmp_path: Path) -> None:
    """Everything is small: the persons left out alone, if they are enough; else no row."""
    found = cells(published(tmp_path, grid([[2, 2], [2, 1]]), TEXT, ATOMS))
    assert found == {(OTHER, OTHER): 7}
    assert cells(published(tmp_path, grid([[2, 1]]), TEXT, ATOMS)) == {}
    assert verify(None, tmp_path / "release.duckdb").passed
    assert cells(published(tmp_path, [], TEXT, ATOMS)) == {}
    one = cells(published(tmp_path, grid([[6]]), TEXT, ATOMS))
    assert one == {("r1", "c1"): 6, ("r1", ALL): 6, (ALL, "c1"): 6, (ALL, ALL): 6}


def test_the_limit(tmp_path: Path) -> None:
    """More persons left out than the limit: nothing is published."""
    with pytest.raises(GuaranteeError) as raised:
        published(tmp_path, grid(WORKED), TEXT, ATOMS, rest={"limit": 0.03})
    assert raised.value.problems[0].path == "rest.limit"
    assert raised.value.exit_code == 1
    assert not (tmp_path / "release.duckdb").exists()


def test_no_figure_of_the_search_is_published(tmp_path: Path) -> None:
    """The manifest has the persons left out, and nothing else that the release does not show."""
    release = published(tmp_path, grid(WORKED), TEXT, ATOMS)
    data = release.manifest.data
    assert data["measures"] == {"rows": 24, "suppressed": 9}
    for check in data["verification"]["checks"]:
        if check["name"].startswith("source_"):
            assert check["achieved"] == check["failing"] == 0
            assert check["sql"] is None
    assert release.findings == {}


CHANGES = {
    "cell_form": "insert into t select r, c, 0, status from t limit 1",
    "cell_once": "insert into t select * from t limit 1",
    "no_reason": "update t set status = 'small' where patients = 50",
    "no_small_cells": "insert into t values ('r9', 'c9', 2, 'shown')",
    "additive": "update t set patients = 72 where r = 'r2' and c = '(all)'",
    "other_room": "update t set patients = 3 where status = 'other'",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found(tmp_path: Path, name: str) -> None:
    """Each check of the verifier finds what it is for, in rows that no seal covers."""
    release = published(tmp_path, grid(WORKED), TEXT, ATOMS)
    con = copied(release)
    assert failed(release, con) == set()
    con.execute(CHANGES[name])
    assert name in failed(release, con)


def test_a_changed_release_is_refused(tmp_path: Path) -> None:
    release = published(tmp_path, grid(WORKED), TEXT, ATOMS)
    with duckdb.connect(str(release.database)) as con:
        tables = [name for (name,) in con.sql("select table_name from duckdb_tables()").fetchall()]
        (rows,) = (name for name in tables if name.startswith("_counts_"))
        con.execute(f'update "{rows}" set patients = 72 where patients = 71')
    with pytest.raises(GuaranteeError):
        verify(policy(tmp_path, ATOMS), release.database)


def test_another_policy_is_refused(tmp_path: Path) -> None:
    release = published(tmp_path, grid(WORKED), TEXT, ATOMS)
    with pytest.raises(GuaranteeError, match=r"policy"):
        verify(policy(tmp_path, ATOMS, minimum=6), release.database)
    with pytest.raises(GuaranteeError, match=r"aggregate.by"):
        verify(policy(tmp_path, {"r": {}}), release.database)


def second_opinion(path: Path) -> dict[str, int]:
    """The failures of each check of the second verifier."""
    from anonymizer.independent.judge import judge

    return {check.name: check.failing for check in judge(path).checks}


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("margins", ["all", "none", [["r"], []], {"depth": 1}])
def test_the_second_verifier_agrees(tmp_path: Path, margins: Any, listed: bool) -> None:
    from anonymizer.publish.export import export

    (tmp_path / "regions.csv").write_text("r1;north;*\nr2;north;*\nr3;south;*\nr4;south;*\n")
    by = {"r": {"hierarchy": "regions.csv"}, "c": {}}
    options: dict[str, Any] = {"aggregate": {"margins": margins}, "rest": {"list_hidden": listed}}
    published(tmp_path, grid(WORKED), TEXT, by, **options)
    made = policy(tmp_path, by, **options)
    assert not any(second_opinion(tmp_path / "release.duckdb").values())
    for suffix in ("csv", "parquet"):
        export(made, tmp_path / f"out.{suffix}")
        assert not any(second_opinion(tmp_path / f"out.{suffix}").values())


@pytest.mark.parametrize("name", CHANGES)
def test_the_second_verifier_finds_changes(tmp_path: Path, name: str) -> None:
    from anonymizer.independent.fetch import Table
    from anonymizer.independent.judge import judge_opened
    from anonymizer.independent.rows import open_release

    release = published(tmp_path, grid(WORKED), TEXT, ATOMS)
    con = copied(release)
    con.execute(CHANGES[name])
    opened = open_release(Path(str(release.database)))
    texts = con.sql("select columns(*)::varchar from t").fetchall()
    changed = replace(opened, rows=Table(opened.rows.columns, opened.rows.types, tuple(texts)))
    found = {check.name for check in judge_opened(changed).checks if check.failing}
    assert name in found


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_report(tmp_path: Path, suffix: str) -> None:
    """It has the persons left out, what holds, and what is not promised."""
    import anonymizer

    release = published(tmp_path, grid(WORKED), TEXT, ATOMS)
    made, target = policy(tmp_path, ATOMS), tmp_path / f"report.{suffix}"
    anonymizer.report(made, target, database=release.database)
    text = target.read_text()
    assert "no_small_cells" in text
    assert "other tables: counts of the same persons" in text
    if suffix == "json":
        assert '"suppressed": 9' in text
    with pytest.raises(PolicyError, match="makes a table of counts"):
        anonymizer.report(made, target, database=release.database, attacks=True)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every verb that works on tables of counts, and one that does not."""
    from anonymizer.cli import main

    source = database(tmp_path, grid(WORKED), TEXT)
    (tmp_path / "policy.yml").write_text(
        f"""
version: 1
source: {{table: t}}
aggregate: {{by: [r, c], measures: {{patients: {{count: persons}}}}}}
protect: {{minimum: 5}}
publish: {{name: counts, database: {tmp_path}/release.duckdb}}
"""
    )
    made = str(tmp_path / "policy.yml")
    for command, code, says in (
        (("plan", made, "--database", str(source)), 0, "3.1% of the persons would be left out"),
        (("run", made, "--database", str(source)), 0, "no_small_cells"),
        (("verify", made), 0, "no_small_cells"),
        (("verify", "--database", f"{tmp_path}/release.duckdb"), 0, "no_small_cells"),
        (("export", made, "-o", f"{tmp_path}/out.csv"), 0, "24 rows"),
        (("compile", made, "--database", str(source)), 0, "create or replace table"),
        (("attack", made), 2, "makes a table of counts"),
        (("compare", made, made), 2, "makes a table of counts"),
        (("report", made, "--as", "openlineage"), 2, "makes a table of counts"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(list(command))
        said = capsys.readouterr()
        assert (ended.value.code or 0, says in said.out + said.err) == (code, True), (command, said)


REPORTED = {
    "sdcTable UserSupport 307: with 15, 5 and 3 and a threshold of 11, 15 goes too": (
        [[15, 5, 3]],
        11,
        {(OTHER, OTHER): 23},
    ),
    "gtsummary 1691: 180 less 177 is 3": ([[177, 3]], 5, {(OTHER, OTHER): 180}),
    "sdcTable UserSupport 135: three singletons": (
        [[1, 1, 1, 20]],
        5,
        {(OTHER, OTHER): 23},
    ),
}


@pytest.mark.parametrize("name", REPORTED)
def test_reported_tables(tmp_path: Path, name: str) -> None:
    """Tables on which other tools showed too much."""
    table, minimum, wanted = REPORTED[name]
    assert cells(published(tmp_path, grid(table), TEXT, ATOMS, minimum=minimum)) == wanted


@rounds(3, 40)
def test_random_tables(tmp_path: Path, rounds: int) -> None:
    """Levels, margins and options at random: both verifiers agree that everything holds."""
    (tmp_path / "codes.csv").write_text("a;ab;*\nb;ab;*\nc;c;*\nd;d;*\n")
    for seed in range(rounds):
        rng = random.Random(seed)
        rows = [
            (rng.choice("aabbcd"), rng.choice([None, 1, 5, 20, 70]), rng.choice("xxxxxy"))
            for _ in range(rng.choice([0, 9, 60, 300]))
        ]
        by = {
            "r": {"hierarchy": "codes.csv"},
            "n": rng.choice([{}, {"bands": [0, 18]}, {"bands": [[0, 18, 65], [0, 18]]}]),
            "s": {},
        }
        margins = rng.choice(["all", "none", {"depth": 2}, [["r", "n"], ["s"], []]])
        published(
            tmp_path,
            rows,
            "r varchar, n integer, s varchar",
            by,
            minimum=rng.choice([3, 5, 11]),
            aggregate={"margins": margins},
            rest={"list_hidden": rng.random() < 0.5},
        )
        assert verify(None, tmp_path / "release.duckdb").passed
        assert not any(second_opinion(tmp_path / "release.duckdb").values())
