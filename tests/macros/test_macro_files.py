"""Every file: one public macro with a comment, an example that runs, and a result when empty."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from tests.macros.conftest import SCRIPT
from tools import make_macros

MACROS = list(make_macros.macros())
TABLES = [macro for macro in MACROS if macro.empty is not None]
EMPTY = """
create or replace table nobody (
    age integer, sex varchar, disease varchar, patient integer, admitted date, class_id integer
)
"""
ON_NOBODY = {
    "anon_hierarchy_dates": "from anon_hierarchy_dates('nobody', 'admitted', ['month', 'year'])",
    "anon_hierarchy_intervals": "from anon_hierarchy_intervals('nobody', 'age', [5, 10])",
    "anon_hierarchy_prefix": "from anon_hierarchy_prefix('nobody', 'disease', [5, 3])",
    "anon_mondrian": "from anon_mondrian('bare', ['age', 'sex'], 5)",
}
names = [macro.name for macro in MACROS]


def test_what_is_generated_is_current() -> None:
    for path, made in make_macros.MADE.items():
        assert path.read_text(encoding="utf-8") == made(), path


def test_every_helper_is_in_the_script() -> None:
    files = {path.stem for path in (make_macros.SQL / "macros").glob("_*.sql")}
    assert files == set(make_macros.HELPERS)


@pytest.mark.parametrize("macro", MACROS, ids=names)
def test_a_file_makes_one_public_macro_and_comments_it(macro: make_macros.Macro) -> None:
    made = re.findall(r"^create or replace temp macro (\w+)", macro.text, re.MULTILINE)
    assert made == [macro.name]
    assert f"{macro.name}(" in macro.comment


def test_comments_can_be_read_in_the_database(sql: duckdb.DuckDBPyConnection) -> None:
    found = sql.execute(
        "select function_name, comment from duckdb_functions()"
        " where starts_with(function_name, 'anon_')"
    ).fetchall()
    assert dict(found) == {macro.name: macro.comment for macro in MACROS}


@pytest.mark.parametrize("macro", MACROS, ids=names)
def test_examples_run(macro: make_macros.Macro, examples: duckdb.DuckDBPyConnection) -> None:
    assert examples.execute(macro.example).fetchall()


@pytest.mark.parametrize("macro", TABLES, ids=[macro.name for macro in TABLES])
def test_results_on_an_empty_table_are_as_written(
    macro: make_macros.Macro, sql: duckdb.DuckDBPyConnection
) -> None:
    sql.execute(EMPTY).fetchall()
    sql.execute("create or replace view bare as select * exclude (class_id) from nobody").fetchall()
    query = macro.example.rstrip(";").replace("'occupation'", "'disease'").replace(", 'race'", "")
    for table in ("adult", "visits", "classes"):
        query = query.replace(f"'{table}'", "'nobody'")
    query = ON_NOBODY.get(macro.name, query).replace("'education'", "'disease'")
    rows = sql.execute(query).fetchall()
    shown = [", ".join("NULL" if v is None else str(v) for v in row) for row in rows]
    assert shown == ([] if macro.empty == "no rows" else [macro.empty])


def test_nothing_is_written_into_the_database(tmp_path: Path) -> None:
    path = str(tmp_path / "data.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("create table t as select 1 as a")
    before = Path(path).read_bytes()
    with duckdb.connect(path, read_only=True) as connection:
        connection.execute(SCRIPT.read_text(encoding="utf-8")).fetchall()
        assert connection.execute("from anon_k('t', ['a'])").fetchall() == [(1,)]
    assert Path(path).read_bytes() == before
