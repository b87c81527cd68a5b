"""The digest of stored rows, recomputed by other code from its definition."""

from __future__ import annotations

from hashlib import sha256
from itertools import groupby
from typing import Any

import duckdb
import pytest
from pydantic import TypeAdapter

from anonymizer.compile import Table
from anonymizer.release import integrity
from anonymizer.release.integrity import SORTED, STORED, RowsDigest, sorted_rows, stored_rows

ROWS = 2_500
TABLE = Table("made", "main", None)
CHANGES = (
    "update made set city = 'Ghent' where place = 7",
    "update made set city = null where place = 7",
    "update made set code = city, city = code where place = 11",
    "update made set place = 12 - place where place in (5, 7)",
    "update made set note = note || ' ' where place = 2499",
    "update made set city = case city when '' then 'Bonn' when 'Bonn' then '' else city end",
    "delete from made where place = 0",
)


class Runs:
    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute(
            "create table made as select range::integer as place,"
            " [null, 'Bonn', 'Lyon', '', 'Łódź;1'][1 + range % 5] as city,"
            " [null, '1', '2'][1 + range % 3] as code, 'note ' || range as note"
            f" from range({ROWS})"
        )

    def raw(self, statement: str, step: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement).fetchall()

    def columns(self) -> tuple[tuple[str, str], ...]:
        found = self.connection.execute("describe made").fetchall()
        return tuple((name, kind) for name, kind, *_ in found)


def cell(value: object) -> bytes:
    text = b"" if value is None else str(value).encode()
    return (b"-1" if value is None else str(len(text)).encode()) + b":" + text


def by_definition(runs: Runs, numbered: tuple[str, ...]) -> str:
    names = [name for name, _ in runs.columns()]
    rows = runs.raw("select * from made order by rowid", "seal")
    values = {
        name: sorted({row[names.index(name)] for row in rows}, key=lambda v: (v or "").encode())
        for name in numbered
    }
    for found in values.values():  # NULL is the first, and differs from ''
        found.sort(key=lambda v: v is not None)

    def line(row: tuple[Any, ...]) -> bytes:
        cells = dict(zip(names, row, strict=True))
        numbers = [f"{values[n].index(cells[n]) + 1};".encode() for n in names if n in numbered]
        return b"".join(numbers + [cell(cells[n]) for n in names if n not in numbered])

    blocks = [b"".join(map(line, rows[i : i + 1024])) for i in range(0, len(rows), 1024)]
    lists = [b"".join(map(cell, values[name])) for name in names if name in numbered]
    return sha256("".join(sha256(b).hexdigest() for b in (*blocks, *lists)).encode()).hexdigest()


@pytest.mark.parametrize("at_once", [1, 1000, integrity.SORTED_AT_ONCE])
def test_the_digest_of_rows_without_an_order(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "SORTED_AT_ONCE", at_once)
    runs = Runs()
    runs.connection.execute("insert into made select * from made where place < 9")
    lines = sorted(
        sha256(b"".join(map(cell, row))).hexdigest() for row in runs.raw("from made", "seal")
    )
    blocks = ["".join(block) for _, block in groupby(lines, lambda line: line[:3])]
    whole = "".join(sha256(block.encode()).hexdigest() for block in blocks)
    expected = RowsDigest(ROWS + 9, sha256(whole.encode()).hexdigest(), SORTED)
    assert sorted_rows(runs, TABLE, runs.columns()) == expected
    assert runs.raw("select count(*) from duckdb_tables() where temporary", "seal") == [(0,)]


@pytest.mark.parametrize("at_once", [1, integrity.AT_ONCE])
@pytest.mark.parametrize("numbered", [None, (), ("city",), ("code", "city"), ("note",)])
def test_the_digest_is_what_its_definition_says(
    numbered: tuple[str, ...] | None, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity, "AT_ONCE", at_once)
    runs = Runs()
    made = stored_rows(runs, TABLE, runs.columns(), numbered)
    chosen = ("city", "code") if numbered is None else tuple(sorted(numbered))
    assert made == RowsDigest(ROWS, by_definition(runs, chosen), STORED, chosen)
    kind = TypeAdapter(RowsDigest)
    assert kind.validate_json(kind.dump_json(made, exclude_defaults=True)) == made
    assert runs.raw("select count(*) from duckdb_tables() where temporary", "seal") == [(0,)]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_changes_the_digest(change: str) -> None:
    runs = Runs()
    before = stored_rows(runs, TABLE, runs.columns())
    runs.raw(change, "seal")
    assert stored_rows(runs, TABLE, runs.columns(), before.numbered) != before


def test_a_column_that_is_no_text_is_never_numbered() -> None:
    """A forged seal cannot have other columns numbered than those that the tool would number."""
    runs = Runs()
    before = stored_rows(runs, TABLE, runs.columns())
    made = stored_rows(runs, TABLE, runs.columns(), ("place", "no_column", *before.numbered))
    assert made == before


def test_no_rows_and_no_text() -> None:
    runs = Runs()
    runs.raw("delete from made", "seal")
    assert stored_rows(runs, TABLE, runs.columns()).rows == 0
    runs.raw("alter table made drop city", "seal")
    runs.raw("alter table made drop code", "seal")
    runs.raw("alter table made drop note", "seal")
    assert stored_rows(runs, TABLE, runs.columns()).numbered == ()


def test_a_column_named_rowid_hides_the_places_of_rows() -> None:
    runs = Runs()
    runs.raw("alter table made rename code to RowId", "seal")
    made = stored_rows(runs, TABLE, runs.columns())
    assert made.definition == SORTED
    assert stored_rows(runs, TABLE, runs.columns(), made.numbered) == made
    runs.raw("update made set RowId = '2' where place = 7", "seal")
    assert stored_rows(runs, TABLE, runs.columns(), made.numbered) != made
