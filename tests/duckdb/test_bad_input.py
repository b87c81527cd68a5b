"""Bad input: one clear message for each fault, exit code 2, and nothing written."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import AnonymizerError, SourceError
from anonymizer.policy.reading import Reading
from tests.runs import policy, published, run, source
from tests.selection import some

TYPES = {"id": "INTEGER", "age": "INTEGER", "sex": "VARCHAR", "hide": "BOOLEAN", "ill": "VARCHAR"}
COLUMNS: dict[str, Any] = {
    "id": "identifier",
    "age": "quasi",
    "sex": "quasi",
    "hide": "drop",
    "ill": "sensitive",
}
MARK = "Zyx-marker"
"""A value that no message may tell."""
ROWS = [(i, 20 + i, "mf"[i % 2], i % 4 == 0, MARK if i < 7 else f"ill {i % 3}") for i in range(12)]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return source(tmp_path, TYPES, ROWS)


def refused(folder: Path, database: Any, columns: Mapping[str, Any] = COLUMNS, **rest: Any) -> str:
    """The message of a run that has to be refused, its exit code 2 and its folder untouched."""
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with pytest.raises(AnonymizerError) as caught:
        run(policy(folder, columns, **rest), database)
    assert caught.value.exit_code == 2
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert after == before
    message = str(caught.value)
    assert MARK not in message
    return message


def test_a_column_that_the_source_lacks(tmp_path: Path, database: Path) -> None:
    message = refused(tmp_path, database, {**COLUMNS, "zip": "quasi"})
    assert message.startswith("columns.zip: is not a column of the source")


def test_a_column_that_the_policy_does_not_list(tmp_path: Path, database: Path) -> None:
    columns = {name: role for name, role in COLUMNS.items() if name != "ill"}
    message = refused(tmp_path, database, columns)
    assert message.startswith(
        "columns.ill: is a column of the source that the policy does not list"
    )


def test_all_columns_that_do_not_fit_are_named_at_once(tmp_path: Path, database: Path) -> None:
    columns = {"id": "drop", "Age": "quasi", "sex": "quasi", "hide": "drop", "zip": "quasi"}
    message = refused(tmp_path, database, columns)
    assert [line.split(":")[0] for line in message.splitlines()] == [
        "columns.Age",
        "columns.zip",
        "columns.ill",
    ]
    assert "the source has age" in message


def test_columns_and_conditions_that_do_not_fit_are_named_at_once(
    tmp_path: Path, database: Path
) -> None:
    semi = {"role": "quasi", "sensitive_when": "nobody = 1", "protect": {"l_diversity": 2}}
    columns = {name: role for name, role in COLUMNS.items() if name != "ill"} | {"age": semi}
    message = refused(tmp_path, database, columns, algorithm={"name": "lgb"})
    assert [line.split(":")[0] for line in message.splitlines()] == [
        "columns.ill",
        "columns.age.sensitive_when",
    ]


def test_a_column_twice_in_the_policy(tmp_path: Path, database: Path) -> None:
    text = (
        "version: 1\nsource: {table: people}\ncolumns:\n  age: {role: quasi}\n  age: {role: drop}\n"
    )
    with pytest.raises(AnonymizerError, match=r"twice|duplicate"):
        anonymizer.Policy.loads(text)


def test_a_column_twice_in_the_source(tmp_path: Path, database: Path) -> None:
    query = {"query": "select *, 1 as one, 2 as two, 3 as ONE from people"}
    message = refused(tmp_path, database, {**COLUMNS, "one": "drop", "two": "drop"},
                      source=query, publish={"name": "x"})  # fmt: skip
    assert "source" in message or "columns" in message


def test_more_rows_in_a_class_than_in_the_table(tmp_path: Path, database: Path) -> None:
    message = refused(tmp_path, database, k=13)
    assert message.startswith("privacy.k_anonymity: asks for classes of 13 rows, but there are 12")


@pytest.mark.parametrize("algorithm", ["mondrian", "lgb"])
def test_more_different_values_than_there_are(
    tmp_path: Path, database: Path, algorithm: str
) -> None:
    columns = {**COLUMNS, "ill": {"role": "sensitive", "protect": {"l_diversity": 5}}}
    message = refused(tmp_path, database, columns, algorithm={"name": algorithm})
    assert message.startswith("columns.ill.protect.l_diversity: ")
    assert "takes 5 different values, 1 value more than the column has" in message


def test_a_value_too_frequent_for_buckets_is_told_by_its_count(
    tmp_path: Path, database: Path
) -> None:
    columns = {**COLUMNS, "ill": {"role": "sensitive", "protect": {"l_diversity": 2}}}
    message = refused(tmp_path, database, columns, algorithm={"name": "lgb"})
    assert "no value in more than 1/2 of its 12 sensitive cells" in message
    assert "the most frequent value has 7" in message


@pytest.mark.parametrize(
    ("key", "said"),
    [("sex", "key: is not unique: 10 rows repeat a key"), ("nul", "key: is NULL in 1 row")],
)
def test_a_key_that_is_none(tmp_path: Path, key: str, said: str) -> None:
    rows = [(*row, row[0] if row[0] else None) for row in ROWS]
    database = source(tmp_path, {**TYPES, "nul": "INTEGER"}, rows)
    columns: dict[str, Any] = {**COLUMNS, "nul": "drop", "sex": "drop"}
    message = refused(tmp_path, database, columns, key=key)
    assert said in message


@some(6)
@pytest.mark.parametrize(
    "nested",
    ["INTEGER[]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "INTEGER[2]", "BLOB", "BIT",
     "UNION(a INTEGER, b VARCHAR)", "INTERVAL", "JSON"],
)  # fmt: skip
@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_types_that_are_no_values(tmp_path: Path, nested: str, role: str) -> None:
    database = source(tmp_path, {"age": "INTEGER", "odd": nested}, [])
    with duckdb.connect(str(database)) as connection:
        connection.execute("insert into people select i, null from range(4) t(i)")
    message = refused(tmp_path, database, {"age": "quasi", "odd": role})
    assert message.startswith("columns.odd: has a type that cannot be published as a value")
    assert ("value: " + nested in message) == nested.isalpha()
    assert "VARCHAR" not in message


@some(2)
@pytest.mark.parametrize("nested", ["INTEGER[]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)"])
def test_a_kept_column_of_parts(tmp_path: Path, nested: str) -> None:
    """The message allows what `keep` takes: more types than can be generalized."""
    database = source(tmp_path, {"age": "INTEGER", "odd": nested}, [])
    message = refused(tmp_path, database, {"age": "quasi", "odd": "keep"})
    assert "(allowed: every type but lists, arrays, structs, maps," in message


@pytest.mark.parametrize(
    ("odd", "coarser"),
    [
        ("TIMESTAMPTZ_NS", "TIMESTAMP WITH TIME ZONE"),
        ("TIME_NS", "TIME"),
        ("TIME WITH TIME ZONE", "TIME"),
    ],
)
def test_a_type_that_is_like_one_that_can_be_published(
    tmp_path: Path, odd: str, coarser: str
) -> None:
    database = source(tmp_path, {"age": "INTEGER", "odd": odd}, [])
    with duckdb.connect(str(database)) as connection:
        connection.execute("insert into people select i, null from range(4) t(i)")
    message = refused(tmp_path, database, {"age": "quasi", "odd": "quasi"})
    assert f"as a value: {odd} (allowed: " in message
    assert f"hint: cast it in source.query, to {coarser}, or give it role drop" in message


@pytest.mark.parametrize("sql_type", ["enum('low', 'high', 'mid')", "varchar", "boolean"])
@pytest.mark.parametrize("role", ["sensitive", "quasi"])
def test_an_ordered_distance_of_what_turns_out_to_be_categories(
    tmp_path: Path, role: str, sql_type: str
) -> None:
    """An ENUM would be ranked by its text: not the order that it declares."""
    value = "i % 2 = 0" if sql_type == "boolean" else "(array['low', 'high', 'mid'])[i % 3 + 1]"
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table people as"
            f" select i % 4 as age, cast({value} as {sql_type}) as grade from range(40) t(i)"
        )
    rule = {"role": role, "protect": {"t_closeness": {"t": 0.3, "distance": "ordered"}}}
    if role == "quasi":
        rule["sensitive_when"] = "age = 1"
    given = policy(tmp_path, {"age": "quasi", "grade": rule}, 2, algorithm={"name": "lgb"})
    with pytest.raises(SourceError) as raised:
        run(given, path)
    (problem,) = raised.value.problems
    assert problem.path == "columns.grade.protect.t_closeness.distance"
    assert "ordered needs an order, which categories lack" in problem.message


def test_a_nested_column_may_be_dropped(tmp_path: Path) -> None:
    database = source(tmp_path, {"age": "INTEGER", "odd": "STRUCT(a INTEGER)[]"}, [(1, None)] * 4)
    assert run(policy(tmp_path, {"age": "quasi", "odd": "drop"}), database).measures["rows"] == 4


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("age", "is not boolean"),
        ("'yes'", "is not boolean"),
        ("hide = (select true)", "holds a subquery"),
        ("exists (select 1 from people)", "holds a subquery"),
        ("count(*) > 1", "calls a function that conditions may not call"),
        ("row_number() over () > 1", "holds a window"),
        ("random() < 0.5", "calls a function that conditions may not call"),
        ("getvariable('x')", "calls a function that conditions may not call"),
        ("nextval('s') > 1", "calls a function that conditions may not call"),
        ("unknown_column", "names a column that is not listed"),
        ("people.hide", "names something that is not a column of the source"),
        ("hide) or (true", "is not an SQL expression"),
        ("hide) --", "is not an SQL expression"),
        ("hide, true", "is more than one expression"),
        ("hide from people; drop table people", "is not an SQL expression"),
        ("columns('hide')", "holds a star"),
        ("list_filter([1], lambda x: x > 0) is null", "may not call"),
        ("$1", "holds something other than"),
        ("hide and age > ?", "holds something other than"),
        ("age::anon_type", "casts to a type"),
        ("hide = ", "is not an SQL expression"),
    ],
)
def test_conditions_that_are_none(
    tmp_path: Path, database: Path, condition: str, said: str
) -> None:
    age = {"role": "quasi", "sensitive_when": condition, "protect": {"l_diversity": 2}}
    message = refused(tmp_path, database, {**COLUMNS, "age": age, "ill": "drop"},
                      algorithm={"name": "lgb"})  # fmt: skip
    assert "columns.age.sensitive_when" in message
    assert said in message


@some(2)
@pytest.mark.parametrize(
    "condition",
    ["hide", "not hide", "age > 25 -- the old", "sex in ('m', 'x') /* or so */", "HIDE"],
)
def test_conditions_that_are_some(tmp_path: Path, database: Path, condition: str) -> None:
    age = {"role": "quasi", "sensitive_when": condition, "protect": {"l_diversity": 2}}
    columns = {**COLUMNS, "age": age, "ill": "drop"}
    made = run(policy(tmp_path, columns, algorithm={"name": "lgb"}), database)
    assert made.verification.passed


def test_an_unknown_option(tmp_path: Path, database: Path) -> None:
    for rest, path in (
        ({"algorithm": {"name": "mondrian", "spilt": "loss"}}, "algorithm.spilt"),
        ({"algorithm": {"name": "mondrian", "generalization": "mdp"}}, "algorithm.generalization"),
        ({"publish": {"databases": "x"}}, "publish.databases"),
    ):
        assert path in refused(tmp_path, database, **rest)


def test_a_source_that_is_not_there(tmp_path: Path, database: Path) -> None:
    assert "did you mean people?" in refused(tmp_path, database, source={"table": "peoples"},
                                             publish={"name": "x"})  # fmt: skip
    assert "there is no file" in refused(tmp_path, tmp_path / "none.duckdb")
    assert "there is no file x.csv" in refused(tmp_path, None, source={"file": "x.csv"})
    assert refused(tmp_path, None).startswith("database: is needed")
    (tmp_path / "text.duckdb").write_text(MARK)
    assert "is not a DuckDB database" in refused(tmp_path, tmp_path / "text.duckdb")


@pytest.mark.parametrize(
    "query",
    ["select 1; select 2", "drop table people", "selec", "select * from missing", "",
     "insert into people select * from people", "copy people to 'x.csv'", "select * from 'x.csv'",
     "select * from read_text('/etc/passwd')"],
)  # fmt: skip
def test_a_query_that_is_none(tmp_path: Path, database: Path, query: str) -> None:
    refused(tmp_path, database, source={"query": query}, publish={"name": "x"})


def test_an_empty_source(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, [])
    assert refused(tmp_path, database).startswith("source: has no rows")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("sql_type", ["DOUBLE", "FLOAT"])
def test_nan_and_infinities_fit_no_interval(tmp_path: Path, value: float, sql_type: str) -> None:
    database = source(tmp_path, {"x": sql_type}, [(value,), (1.0,), (2.0,), (3.0,)])
    message = refused(tmp_path, database, {"x": "quasi"})
    assert message.startswith("columns.x: has 1 value that is NaN or infinite")


def test_nan_and_infinities_may_be_categories_or_sensitive(tmp_path: Path) -> None:
    values = [math.nan, math.inf, -math.inf, 1.0, math.nan, 2.0, 3.0, -0.0]
    rows = [(i, value, value) for i, value in enumerate(values)]
    database = source(tmp_path, {"id": "INTEGER", "x": "DOUBLE", "y": "DOUBLE"}, rows)
    columns = {
        "id": {"role": "keep", "acknowledge_unique": True},
        "x": {"role": "quasi", "kind": "categorical"},
        "y": {"role": "sensitive", "protect": {"l_diversity": 2}},
    }
    for algorithm in ("mondrian", "lgb"):
        given = policy(tmp_path, columns, algorithm={"name": algorithm})
        found = published(run(given, database))
        plain = [value + 0.0 for value in values]  # -0.0 equals 0.0 and is published as that
        assert sorted(map(str, (row["y"] for row in found))) == sorted(map(str, plain))
        cells = {row["id"]: row["x"] for row in found}
        assert "nan" in cells[0] or cells[0] == "*"
        assert "inf" in cells[1] or cells[1] == "*"


@pytest.mark.parametrize("sql_type", ["DATE", "TIMESTAMP", "TIMESTAMPTZ"])
def test_infinite_dates_fit_no_interval(tmp_path: Path, sql_type: str) -> None:
    rows = [("infinity",), ("2024-01-01",), ("2024-01-02",)]
    database = source(tmp_path, {"day": sql_type}, rows)
    assert "infinite date" in refused(tmp_path, database, {"day": "quasi"})


FAR = [(day,) for day in ("5881580-07-10", "5877642-06-25 (BC)", "2024-01-01", "0001-01-01 (BC)")]
"""Days, of which the first two are in years that no timestamp reaches."""


def test_dates_beyond_all_timestamps_fit_no_interval(tmp_path: Path) -> None:
    database = source(tmp_path, {"day": "DATE"}, FAR)
    message = refused(tmp_path, database, {"day": "quasi"})
    assert "columns.day: has 2 dates in years that no interval can hold" in message


@pytest.mark.slow
def test_dates_beyond_all_timestamps_are_reported(tmp_path: Path) -> None:
    rows = [(i % 2, *day) for i, day in enumerate(FAR * 2)]
    database = source(tmp_path, {"age": "INTEGER", "day": "DATE"}, rows)
    columns = {"age": "quasi", "day": {"role": "keep", "acknowledge_unique": True}}
    given = policy(tmp_path, columns)
    assert len(published(run(given, database))) == len(rows)
    anonymizer.report(given, tmp_path / "r.md", source=database)
    assert "day" in (tmp_path / "r.md").read_text()


def test_a_value_that_does_not_convert_is_not_told(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"age": "quasi", "sex": "quasi"}
    query = {"query": f"select cast('{MARK}' as integer) as age, 'm' as sex"}
    with duckdb.connect() as connection:
        message = refused(tmp_path, connection, columns, source=query, publish={"name": "x"})
    assert "does not have the type" in message


def test_a_condition_whose_values_do_not_convert_is_not_told(
    tmp_path: Path, database: Path
) -> None:
    age = {"role": "quasi", "sensitive_when": f"age > '{MARK}'", "protect": {"l_diversity": 2}}
    columns = {**COLUMNS, "age": age, "ill": "drop"}
    message = refused(tmp_path, database, columns, algorithm={"name": "lgb"})
    assert "check the types of the source's columns and the conditions of the policy" in message


def test_nearly_unique_columns_need_to_be_acknowledged(tmp_path: Path, database: Path) -> None:
    message = refused(tmp_path, database, {**COLUMNS, "id": "keep"})
    assert message.startswith("columns.id: is nearly unique (12 different values)")


def test_a_source_that_another_process_writes_to_is_named(tmp_path: Path, database: Path) -> None:
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(SourceError, match="locked by another process"):
            run(policy(tmp_path, COLUMNS), database)
    finally:
        holder.communicate(b"\n")


@pytest.mark.parametrize("role", ["keep", "sensitive", "quasi"])
def test_generated_names_that_collide_name_both(tmp_path: Path, role: str) -> None:
    database = source(tmp_path, {"class_id": "INTEGER", "age": "INTEGER"}, [(1, 1)] * 4)
    message = refused(tmp_path, database, {"class_id": role, "age": "quasi"})
    assert "class_id" in message
    assert "rename" in message


@pytest.mark.parametrize(
    ("name", "said"), [("row_ref", "a name of the tool's own"), ("group_id", "both be published")]
)
def test_names_of_typed_cells_that_meet_others_are_told_when_types_are_known(
    tmp_path: Path, name: str, said: str
) -> None:
    """Which columns a typed cell has, its type tells: a category has one of its own name."""
    rows = [("ab"[i % 2], "abcd"[i % 4]) for i in range(40)]
    database = source(tmp_path, {name: "VARCHAR", "ill": "VARCHAR"}, rows)
    columns = {name: "quasi", "ill": {"role": "sensitive", "protect": {"l_diversity": 3}}}
    given = policy(
        tmp_path, columns, None, privacy={}, algorithm={"name": "msb"}, publish={"cells": "typed"}
    )
    with pytest.raises(AnonymizerError, match=said) as raised:
        run(given, database)
    assert raised.value.exit_code == 2
    assert [problem.path for problem in raised.value.problems] == [f"columns.{name}"]


def test_a_column_that_is_mistyped_is_told_with_the_one_that_was_meant(tmp_path: Path) -> None:
    path = source(tmp_path, {"age": "INTEGER", "gender": "VARCHAR"}, [(i, "f") for i in range(4)])
    with pytest.raises(SourceError, match=r"columns\.gendre: .* did you mean gender\?"):
        run(policy(tmp_path, {"age": "quasi", "gendre": "quasi"}, k=2), path)


CSV_FILES = {
    "a late text": (
        b"1,1\n" * 30_000 + b"SECRET,1\n",
        "line 30002 of a CSV file has a cell of a that is no BIGINT",
    ),
    "columns that differ": (b"1,1\n" * 3_000 + b"SECRET,2,3,4\n5,6\n", "CSV file"),
    "no UTF-8": (b"\xe9SECRET,2\n", "line 2 of a CSV file is not UTF-8"),
}


@pytest.mark.parametrize("name", CSV_FILES)
def test_a_csv_file_that_cannot_be_read_is_told_by_the_line(tmp_path: Path, name: str) -> None:
    content, said = CSV_FILES[name]
    path = tmp_path / "visits.csv"
    path.write_bytes(b"a,b\n" + content)
    with pytest.raises(AnonymizerError, match=said) as error:
        # (encodings are recognized where nothing says how a file is read)
        anonymizer.assess(str(path), quasi=["a"], read=Reading())
    assert "SECRET" not in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize("named", [True, False])
def test_a_view_on_tables_of_other_schemas_has_to_name_them(tmp_path: Path, named: bool) -> None:
    database = source(tmp_path, TYPES, ROWS)
    with duckdb.connect(str(database)) as connection:
        connection.execute("create schema shown")
        connection.execute(f"create view shown.v as from {'main.' if named else ''}people")
    if named:
        assert published(run(policy(tmp_path, COLUMNS, source={"table": "shown.v"}), database))
    else:
        message = refused(tmp_path, database, source={"table": "shown.v"})
        assert "a view has to name the schemas of its tables" in message
