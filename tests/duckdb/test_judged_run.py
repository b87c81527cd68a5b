"""Whole runs whose rows go wrong between writing and judging: each is refused, nothing stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.compile import ident
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import GuaranteeError
from anonymizer.policy import Policy
from anonymizer.publish.duckdb.file import BUILT, FileTarget
from anonymizer.run import release_rows
from anonymizer.run.release_rows import LINK
from tests.runs import policy, published, run, source
from tests.selection import few, some

TYPES = {"id": "INTEGER", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR", "ward": "VARCHAR"}
ROWS = [(i, 20 + i % 9, f"10{i % 4}", "abcd"[i % 4], "XY"[i // 20]) for i in range(40)]
WRONG = [
    # what stands in the release alone
    ("update {rows} set age = '99' where class_id = 1", "", "source_link"),
    ("update {rows} set ill = 'z' where rowid = 0", "", "source_link"),
    ("delete from {rows} where rowid = 0", "", "source_rows"),
    ("insert into {rows} from {rows} where rowid = 0", "", "source_rows"),
    ("update {rows} set zip = '{{103, 101}}' where class_id = 1", "", "cell_form"),
    ("update {rows} set age = '7' where rowid = 0", "", "class_cells"),
    # what the algorithm itself did wrong, so that link and release agree
    ("update {rows} set age = '99' where class_id = 1", "class_id = 1", "source_covers"),
    ("update {rows} set zip = '999' where class_id = 1", "class_id = 1", "source_covers"),
    ("update {rows} set ill = 'z' where class_id = 1", "class_id = 1", "source_equal"),
    ("update {rows} set class_id = null where class_id = 1", "class_id = 1", "class_present"),
]


def columns() -> dict[str, Any]:
    return {"id": "identifier", "age": "quasi", "zip": "quasi", "ill": "sensitive", "ward": "keep"}


@pytest.fixture(params=[200_000, 0], ids=["texts", "numbered"], autouse=True)
def numbered_from(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells of the link as texts, and as the numbers that large tables have."""
    monkeypatch.setattr(release_rows, "LARGE_FROM", request.param)


def tamper(monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    """Run statements before rows are judged: over the rows, `{rows}`, the link, `{link}`, and the
    table of one separated column, `{values}`.
    """
    carried = FileTarget.carry_over

    def carry_over(target: FileTarget, engine: DuckDBEngine) -> None:
        carried(target, engine)
        rows = ident(target.names.rows(BUILT))
        values = [ident(target.names.separate(name, BUILT)) for name in target.names.tables]
        if any("set" in text and "{link}" in text for text in texts):
            # what is wrong need not be one of the texts that have a number
            for name, kind in engine.describe(ident(LINK).text, "test"):
                if kind.startswith("ENUM"):
                    engine.raw(
                        f"alter table {ident(LINK)} alter {ident(name)} type varchar", "test"
                    )
        for text in texts:
            named = {"rows": rows, "link": ident(LINK), "values": "".join(map(str, values))}
            engine.raw(text.format(**named), "test")

    monkeypatch.setattr(FileTarget, "carry_over", carry_over)


@some(2)
@pytest.mark.parametrize(("statement", "both", "broken"), WRONG)
def test_rows_that_go_wrong_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, both: str, broken: str
) -> None:
    database = source(tmp_path, TYPES, ROWS)
    also = [statement.replace("{rows}", "{link}")] if both else []
    tamper(monkeypatch, statement, *also)
    with pytest.raises(GuaranteeError, match=broken):
        run(policy(tmp_path, columns(), k=4, suppression_limit=0.1), database)
    assert not (tmp_path / "release.duckdb").exists()


def test_a_link_to_the_wrong_row_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = source(tmp_path, TYPES, ROWS)
    tamper(monkeypatch, "update {link} set row_ref = 0")
    with pytest.raises(GuaranteeError, match="source_rows"):
        run(policy(tmp_path, columns(), k=4, suppression_limit=0.1), database)


@some(1)
def test_rows_in_another_order_than_the_link_are_the_same_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are compared as multisets, whatever their places."""
    database = source(tmp_path, TYPES, ROWS)
    given = policy(tmp_path, columns(), k=4)
    rows = published(run(given, database))
    tamper(
        monkeypatch,
        "create or replace table anon_scratch.main.moved as from {rows} order by rowid desc",
        "delete from {rows}",
        "insert into {rows} from anon_scratch.main.moved",
    )
    moved = published(run(given, database))
    assert moved == rows[::-1]


def test_members_of_lists_that_moved_to_the_next_column_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A digest of several lists runs through their members: where each ends has to be in it."""
    types = {"a": "INTEGER", "c": "VARCHAR", "e": "VARCHAR", "s": "VARCHAR"}
    rows = [(1, "pq"[i % 2], "xy"[i // 2 % 2], "uvw"[i % 3]) for i in range(8)]
    given = policy(
        tmp_path,
        {"a": "quasi", "c": "quasi", "e": "quasi", "s": "sensitive"},
        k=5,
        publish={"cells": "typed"},
    )
    database = source(tmp_path, types, rows)
    tamper(
        monkeypatch,
        "update {rows} set c = [c[1]], e = list_sort(list_distinct([c[2]] || e))",
    )
    with pytest.raises(GuaranteeError, match="source_link"):
        run(given, database)


ODD = ("{a}", "1,0", " b", "NULL", "*", "c or NULL", '"d"', "[e]", "", "plain")
"""Texts that a cell shows quoted, but for the last."""
SEPARATED = [
    # what stands in the release alone
    ("update {rows} set age = '99' where rowid = 0", "", "source_link"),
    ("update {rows} set zip = 'plain' where zip like '%{{%'", "", "source_link"),
    ("delete from {rows} where rowid = 0", "", "group_sizes"),
    ("update {rows} set group_id = null where rowid = 0", "", "group_sizes"),
    ("update {values} set group_id = group_id % 3 + 1", "", "source_values"),
    ("update {values} set group_id = null where rowid = 0", "", "group_sizes"),
    ("update {values} set ill = 'z' where rowid = 0", "", "source_values"),
    # what the algorithm itself did wrong, so that link and release agree
    ("update {rows} set age = '99' where group_id = 1", "both", "source_covers"),
    ("update {rows} set age = null where group_id = 1", "both", "source_covers"),
    ("update {rows} set zip = '{{a}}' where zip = '\"{{a}}\"'", "both", "source_covers"),
    ("update {rows} set zip = '\"plain\"' where zip = 'plain'", "both", ""),
    # rows that stand for others
    ("update {link} set row_ref = (row_ref + 1) % 40", "", "source_covers"),
    ("update {link} set row_ref = 0", "", "source_rows"),
    ("update {link} set row_ref = 400 where row_ref = 0", "", "source_rows"),
]


def separated(folder: Path, suppressed: int) -> tuple[Policy, Path]:
    """A release in groups, whose cells are the values themselves, quoted where they have to be."""
    rows = [(i, 20 + i % 9, ODD[i % 10], "abcd"[i % 4], "XY"[i // 20]) for i in range(40)]
    rows += [(40 + i, 20, "plain", "a", "X") for i in range(suppressed)]
    given = policy(
        folder,
        {**columns(), "ill": {"role": "sensitive", "protect": {"l_diversity": 4}}},
        privacy={},
        k=None,
        algorithm={"name": "msb"},
        suppression_limit=0.1,
    )
    return given, source(folder, TYPES, rows)


@some(2)
@pytest.mark.parametrize("suppressed", [0, 1, 2])
def test_separated_rows_that_are_right_are_proved_without_comparing_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suppressed: int
) -> None:
    asked: list[str] = []
    raw = DuckDBEngine.raw

    def heard(engine: DuckDBEngine, text: str, *rest: Any) -> Any:
        asked.append(text)
        return raw(engine, text, *rest)

    monkeypatch.setattr(DuckDBEngine, "raw", heard)
    made = run(*separated(tmp_path, suppressed))
    assert made.verification.passed
    assert made.measures["suppressed"] == suppressed
    assert any("as stands" in text for text in asked)
    assert not any("uncovered" in text or "side_by_side" in text for text in asked)


@some(2)
@pytest.mark.parametrize("suppressed", few([2, 0], 1))
@pytest.mark.parametrize(("statement", "both", "broken"), SEPARATED)
def test_separated_rows_that_go_wrong_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    both: str,
    broken: str,
    suppressed: int,
) -> None:
    given, database = separated(tmp_path, suppressed)
    also = [statement.replace("{rows}", "{link}")] if both else []
    tamper(monkeypatch, statement, *also)
    if broken:
        with pytest.raises(GuaranteeError, match=broken):
            run(given, database)
        assert not (tmp_path / "release.duckdb").exists()
    else:
        assert run(given, database).verification.passed
