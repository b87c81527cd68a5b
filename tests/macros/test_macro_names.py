"""Names of any kind, tables anywhere, and errors that say which argument is wrong."""

from __future__ import annotations

import duckdb
import pytest

QUOTED = 'Ta"ble.ö'
ALTER = 'Al"ter, ö'
PLACE = "select"
WRITTEN = "\"Ta\"\"ble.ö\""
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
    for where in ('main', '"sch ema"', "other.main", "other.s2"):
        sql.execute(
            f'create table {where}."{quoted}" as'
            f' select a as "{alter}", b as "{PLACE}", s as "Ü s", p as "per son" from plain'
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
    "where", [WRITTEN, f'sch ema.{WRITTEN}', f'"sch ema".{WRITTEN}', f"other.s2.{WRITTEN}"]
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


ERRORS = [
    ("from anon_k('plain', ['a', 'zip', 'town'])", "anon_k: quasi: the table has no column town, zip (allowed: a, b, s, p)"),
    ("from anon_k('plain', [])", "anon_k: quasi: is empty (allowed: a list of one or more columns of the table)"),
    ("from anon_k('plain', ['a', 'A'])", "anon_k: quasi: names a column twice (allowed: every column once)"),
    ("from anon_k('plain', ['a', null])", "anon_k: quasi: holds a NULL or an empty text"),
    ("from anon_k('', ['a'])", "anon_k: tbl: is not the name of a table (allowed: name, schema.name"),
    ("from anon_k('plain; drop table plain', ['a'])", "plain; drop table plain does not exist"),
    ("from anon_k('_anon_source', ['a'])", "anon_k: tbl: names that begin with _anon_ are taken"),
    ("from anon_l('plain', ['a'], 'x')", "anon_l: sensitive: the table has no column x"),
    ("from anon_l('plain', ['a'], 's', l := -2)", "anon_l: l: must be a whole number of at least 1, not -2"),
    ("from anon_t('plain', ['a'], 'x')", "anon_t: sensitive: the table has no column x"),
    ("from anon_alpha('plain', ['x'], 's')", "anon_alpha: quasi: the table has no column x"),
    ("from anon_person_k('plain', ['a'], 'x')", "anon_person_k: person: the table has no column x"),
    ("from anon_eir_l_bound('plain', ['a'], 's', 'x')", "anon_eir_l_bound: person: the table has no column x"),
    ("from anon_risk('plain', ['a'], threshold := 1.5)", "anon_risk: threshold: must be a fraction (allowed: above 0, at most 1), not 1.5"),
    ("from anon_discernibility('plain', ['a'], suppressed := -1)", "anon_discernibility: suppressed: must be a whole number of at least 0, not -1"),
    ("from anon_ncp('plain', ['a'])", "anon_ncp: class: the table has no column class_id"),
    ("from anon_ncp('plain', ['a'], class := 'p', suppressed := 0.5)", "anon_ncp: suppressed: must be a whole number"),
    ("from anon_mondrian('plain', ['a'], -5)", "anon_mondrian: k: must be a whole number of at least 1, not -5"),
    ("from anon_mondrian('plain', ['a'], 2.5)", "anon_mondrian: k: must be a whole number of at least 1, not 2.5"),
    ("from anon_mondrian('plain', ['a'], null)", "anon_mondrian: k: must be a whole number of at least 1, not NULL"),
    ("from anon_mondrian('plain', ['a'], 61)", "anon_mondrian: k: the table has fewer rows than k (allowed: at most 60)"),
    ("from anon_mondrian('plain', ['a'], 5, split := 'best')", "anon_mondrian: split: is not one of the allowed words (allowed: loss, median)"),
    ("from anon_mondrian('nested', ['l'], 1)", "anon_mondrian: quasi: the column l is nested or binary"),
    ("from anon_mondrian('classed', ['a'], 1)", "anon_mondrian: tbl: the table has a column named CLASS_ID"),
    ("from anon_bucketize('plain', 'x', 3, repeat('s', 32))", "anon_bucketize: sensitive: the table has no column x"),
    ("from anon_bucketize('plain', 's', 1, repeat('s', 32))", "anon_bucketize: l: must be a whole number of at least 2, not 1"),
    ("from anon_bucketize('plain', 's', 5, repeat('s', 32))", "anon_bucketize: l: one value is too frequent for it (allowed: at most 4)"),
    ("from anon_bucketize('plain', 's', 3, 'short')", "anon_bucketize: secret: is too short (allowed: 32 characters or more"),
    ("from anon_hierarchy_prefix('plain', 'b', [1, 2])", "anon_hierarchy_prefix: keep: must go from the finest level to the coarsest"),
    ("from anon_hierarchy_prefix('plain', 'b', [])", "anon_hierarchy_prefix: keep: is empty"),
    ("from anon_hierarchy_intervals('plain', 'a', [2, 5])", "anon_hierarchy_intervals: widths: levels would not nest (allowed: each a multiple"),
    ("from anon_hierarchy_intervals('plain', 'a', [-2])", "anon_hierarchy_intervals: widths: holds a NULL, or a number that is not above 0"),
    ("from anon_hierarchy_intervals('plain', 'x', [2])", "anon_hierarchy_intervals: col: the table has no column x"),
    ("from anon_hierarchy_dates('plain', 'a', ['week'])", "anon_hierarchy_dates: periods: is not one of the allowed words (allowed: day, month, quarter, year, decade)"),
    ("from anon_hierarchy_dates('plain', 'a', ['year', 'month'])", "anon_hierarchy_dates: periods: must go from the finest level to the coarsest"),
    ("select anon_interval(a, -10) from plain", "anon_interval: width: must be a number above 0, not -10"),
    ("select anon_interval(a, 10, origin := null) from plain", "anon_interval: origin: is NULL"),
    ("select anon_date_interval(date '2020-01-01', 'era')", "anon_date_interval: period: is not one of the allowed words (allowed: day, week, month"),
    ("select anon_prefix(b, -1) from plain", "anon_prefix: keep: must be a whole number of at least 0, not -1"),
    ("select anon_prefix(b, 1, fill := '**') from plain", "anon_prefix: fill: must be one character"),
    ("select anon_top_code(a, null) from plain", "anon_top_code: top: is NULL"),
    ("select anon_bottom_code(a, null) from plain", "anon_bottom_code: bottom: is NULL"),
    ("select anon_round(a, 0) from plain", "anon_round: base: must be a number above 0, not 0"),
    ("select anon_zip3(b, sparse := null) from plain", "anon_zip3: sparse: is NULL"),
    ("select anon_pseudonym(b, 'short') from plain", "anon_pseudonym: secret: is too short"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "message"), ERRORS, ids=[query for query, _ in ERRORS])
def test_errors_name_the_argument_and_what_is_allowed(
    odd: duckdb.DuckDBPyConnection, query: str, message: str
) -> None:
    with pytest.raises(duckdb.Error) as raised:
        odd.execute(query).fetchall()
    assert message in str(raised.value)
    assert "short" not in str(raised.value).replace("too short", "").replace(query, "")
