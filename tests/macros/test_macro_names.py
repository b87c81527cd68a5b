"""Names of any kind, tables anywhere, and errors that say which argument is wrong."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.selection import few

QUOTED = 'Ta"ble.ö'
ALTER = 'Al"ter, ö'
PLACE = "select"
WRITTEN = '"Ta""ble.ö"'
SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def odd(sql: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """The same rows as a plain table and as one with odd names, in other schemas and catalogs."""
    sql.execute("create table plain (a integer, b varchar, s varchar, p integer)")
    sql.execute(
        "insert into plain select case when i % 7 = 0 then null else i % 5 end,"
        " case when i % 11 = 0 then null else chr(cast(97 + i % 3 as integer)) end,"
        " chr(cast(97 + i % 4 as integer)), i // 2 from range(60) as numbers(i)"
    )
    quoted = QUOTED.replace('"', '""')
    alter = ALTER.replace('"', '""')
    sql.execute("create schema \"sch ema\"; attach ':memory:' as other; create schema other.s2")
    for where in ("main", '"sch ema"', "other.main", "other.s2"):
        sql.execute(
            f'create table {where}."{quoted}" as'
            f' select a as "{alter}", b as "{PLACE}", s as "Ü s", p as "per son" from plain'
        )
    sql.execute(
        "create table endless as select i % 3 as s, if(i = 0, 'nan'::double, i) as x"
        " from range(9) as numbers(i)"
    )
    sql.execute("create table nested as select [1] as l")
    sql.execute('create table classed as select 1 as a, 2 as "CLASS_ID"')
    return sql


QUERIES = [
    "from anon_classes('{t}', [{a}, {b}])",
    "from anon_k('{t}', [{a}, {b}])",
    "from anon_l('{t}', [{a}, {b}], {s})",
    "from anon_t('{t}', [{a}, {b}], {s})",
    "from anon_alpha('{t}', [{a}, {b}], {s})",
    "from anon_person_k('{t}', [{a}, {b}], {p})",
    "from anon_eir_l_bound('{t}', [{a}, {b}], {s}, {p})",
    "from anon_uniques('{t}', [{a}, {b}])",
    "from anon_risk('{t}', [{a}, {b}])",
    "from anon_discernibility('{t}', [{a}, {b}])",
    "from anon_ncp('{t}', [{a}, {b}], class := {p})",
    "from anon_mondrian('{t}', [{a}, {b}], 5)",
    "from anon_cells('{t}', [{a}, {b}], class := {p})",
    f"from anon_bucketize('{{t}}', {{s}}, 3, '{SECRET}')",
    "from anon_hierarchy_intervals('{t}', {a}, [2, 4])",
    "from anon_hierarchy_prefix('{t}', {b}, [1])",
]


@pytest.mark.parametrize("query", QUERIES, ids=[q[5:].split("(")[0] for q in QUERIES])
@pytest.mark.parametrize(
    "where",
    few([f"other.s2.{WRITTEN}", WRITTEN, f"sch ema.{WRITTEN}", f'"sch ema".{WRITTEN}'], 1),
)
def test_odd_names_give_the_same_result(
    odd: duckdb.DuckDBPyConnection, query: str, where: str
) -> None:
    plain = {"t": "plain", "a": "'a'", "b": "'b'", "s": "'s'", "p": "'p'"}
    alter = ALTER.lower()  # names are matched without regard to case
    strange = {"t": where, "a": f"'{alter}'", "b": f"'{PLACE}'", "s": "'Ü S'", "p": "'PER son'"}
    # what is drawn depends on the names of the columns
    hide = "select count(*), count(distinct #1) from ({})" if "bucketize" in query else "{}"
    expected = odd.execute(hide.format(query.format(**plain))).fetchall()
    found = odd.execute(hide.format(query.format(**strange))).fetchall()
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_the_columns_keep_their_names_and_order(odd: duckdb.DuckDBPyConnection) -> None:
    for query, further in (
        (f"from anon_mondrian('{WRITTEN}', ['per son', '{PLACE}'], 5)", ["class_id"]),
        (f"from anon_bucketize('{WRITTEN}', 'ü s', 3, '{SECRET}')", ["ü s_bucket"]),
        (f"from anon_cells('{WRITTEN}', ['{PLACE}'], class := 'per son')", []),
    ):
        if "bucketize" in query:
            query = query.replace("ü s", "Ü s")
            further = ["Ü s_bucket"]
        cursor = odd.execute(query)
        assert [column[0] for column in cursor.description or ()] == [
            ALTER, PLACE, "Ü s", "per son", *further,
        ]  # fmt: skip


def test_macros_are_found_from_another_schema(odd: duckdb.DuckDBPyConnection) -> None:
    odd.execute("use other.s2")
    found = odd.execute(f"from anon_uniques('{WRITTEN}', ['per son'])").fetchall()
    odd.execute("use memory.main")
    assert found == [(0, 60, 0.0)]


def _errors() -> list[tuple[str, str]]:
    text = (Path(__file__).parent / "errors.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(query, message.strip()) for query, message in zip(*[iter(lines)] * 2, strict=True)]


ERRORS = _errors()


@pytest.mark.parametrize(("query", "message"), ERRORS, ids=[query for query, _ in ERRORS])
def test_errors_name_the_argument_and_what_is_allowed(
    odd: duckdb.DuckDBPyConnection, query: str, message: str
) -> None:
    with pytest.raises(duckdb.Error) as raised:
        odd.execute(query).fetchall()
    assert message in str(raised.value)
    assert "short" not in str(raised.value).replace("too short", "").replace(query, "")
