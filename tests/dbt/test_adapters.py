"""The generic tests, and counts, in the SQL of warehouses on which nothing is anonymized here.

They are parsed by the grammar of each, and were not run on the service. Emulators of two of them
give the figures of DuckDB.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel

from tests.dbt.checks import COUNTS, TABLES, WRONG, bounds, counted, loaded, rows
from tests.dbt.rendered import generic_test, rendered

ADAPTERS = ("snowflake", "bigquery", "redshift", "databricks", "postgres", "spark")
QUASI: dict[str, Any] = {"quasi": ["sex", "age"]}
SENSITIVE = {**QUASI, "sensitive": "disease"}
TESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "k": ("k_anonymity", {**QUASI, "k": 5}),
    "k of classes": ("k_anonymity", {"class_id": "class_id", "k": 5}),
    "persons": ("person_k_anonymity", {**QUASI, "person": "patient", "k": 5}),
    "distinct": ("l_diversity", {**SENSITIVE, "l": 3}),
    "entropy": ("l_diversity", {**SENSITIVE, "l": 2.5, "kind": "entropy"}),
    "recursive": ("l_diversity", {**SENSITIVE, "l": 3, "c": 1.5, "kind": "recursive"}),
    "equal": ("t_closeness", {**SENSITIVE, "t": 0.2}),
    "ordered": ("t_closeness", {**SENSITIVE, "t": 0.2, "distance": "ordered"}),
    "one step": ("one_step", {"n": 5, "measure": "n", "by": ["sex", "age"]}),
    "small cells": ("no_small_cells", {"n": 5, "measure": "n"}),
    "raw columns": ("no_raw_columns", {"columns": ["patient"]}),
    "no raw columns": ("no_raw_columns", {"columns": ["name"]}),
}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("name", TESTS)
def test_a_generic_test_is_in_the_grammar_of_the_warehouse(name: str, adapter: str) -> None:
    test, arguments = TESTS[name]
    in_the_grammar(generic_test(test, "visits", of=adapter, **arguments), adapter)


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_in_the_grammar_of_the_warehouse(name: str, adapter: str) -> None:
    in_the_grammar(rendered("anon_counts", "visits", of=adapter, **COUNTS[name]), adapter)


def in_the_grammar(text: str, adapter: str) -> None:
    (parsed,) = sqlglot.parse(text, dialect=adapter, error_level=ErrorLevel.RAISE)
    assert isinstance(parsed, exp.Query)
    assert not list(parsed.find_all(exp.Command, exp.Filter))
    unknown = {one.name for one in parsed.find_all(exp.Anonymous)}
    assert unknown <= ({"raise_error"} if adapter in ("spark", "databricks") else set())
    kinds = {str(one) for one in parsed.find_all(exp.DataType)}
    assert kinds <= {str(exp.DataType.build(kind, dialect=adapter)) for kind in KINDS[adapter]}


ALL = ("bigint", "decimal(38, 12)")
KINDS = {
    "snowflake": (*ALL, "varchar", "numeric(38, 0)", "double precision"),
    "bigquery": ("bigint", "bignumeric", "float64", "string"),
    "redshift": (*ALL, "varchar(65535)", "numeric(38, 0)", "double precision"),
    "databricks": (*ALL, "decimal(38, 0)", "double", "string"),
    "postgres": (*ALL, "numeric(38, 0)", "double precision", "text", "varchar"),
    "spark": (*ALL, "decimal(38, 0)", "double", "string"),
}
"""Types that each warehouse has."""


Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def snowflake() -> Iterator[Ask]:
    import fakesnow
    import snowflake.connector

    with fakesnow.patch():
        cursor = snowflake.connector.connect(database="d", schema="s").cursor()
        yield lambda text: cursor.execute(text).fetchall()


@pytest.fixture(scope="module")
def bigquery() -> Iterator[Ask]:
    from crucible.dialects.bigquery.dialect import BigQueryDialect
    from crucible.engine import Engine, Pipeline

    engine, dialect = Engine(), BigQueryDialect()
    session = dialect.new_session("p", "d")
    with engine.cursor(session) as cursor:
        engine.catalog(cursor).ensure_schema("p", "d")
    # (it has no numbers of more than 38 digits)
    yield (
        lambda text: (
            Pipeline(engine, dialect)
            .execute(session, text.replace("bignumeric", "numeric"))[-1]
            .rows
        )
    )
    engine.close()


def written(row: tuple[Any, ...]) -> str:
    """A row as values of SQL."""
    values = ("null" if v is None else f"'{v}'" if isinstance(v, str) else str(v) for v in row)
    return f"({', '.join(values)})"


def alike(found: list[tuple[Any, ...]], numbered: bool = False) -> Counter[tuple[Any, ...]]:
    """Rows in any order, numbers of any type to nine digits; without the number of the class, which
    is another one where NULL comes first.
    """
    return Counter(
        tuple(v if isinstance(v, str | None) else round(float(v), 9) for v in row[numbered:])
        for row in found
    )


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param("snowflake", marks=pytest.mark.snowflake),
        pytest.param("bigquery", marks=pytest.mark.bigquery),
    ],
)
def test_an_emulator_gives_the_figures_of_duckdb(
    adapter: str, request: pytest.FixtureRequest
) -> None:
    ask: Ask = request.getfixturevalue(adapter)
    with loaded() as connection:
        for table, columns in TABLES.items():
            kinds = {int: "bigint", str: "string"}
            mark = "`" if adapter == "bigquery" else '"'
            named = ", ".join(f"{mark}{n}{mark} {kinds[kind]}" for n, kind in columns.items())
            ask(f"create table {table} ({named})")
            found = rows(connection, f"from {table}")
            ask(f"insert into {table} values " + ", ".join(map(written, found)))
        for name, (table, test, given, bound, *ends) in bounds().items():
            for end, value in zip(("holds", "fails"), ends, strict=True):
                arguments = {**given, bound: value}
                found = ask(generic_test(test, table, of=adapter, **arguments))
                expected = rows(connection, generic_test(test, table, **arguments))
                classes = table == "visits" and test != "no_raw_columns"
                assert alike(found, classes) == alike(expected, classes), name
                assert bool(found) == (end == "fails"), name
        for name, given in COUNTS.items():
            found = ask(rendered("anon_counts", "visits", of=adapter, **given))
            assert alike(found) == alike(counted(connection, name)), name
        for table, given, words in WRONG.values():
            with pytest.raises(Exception, match=re.escape(words)):
                ask(rendered("anon_counts", table, of=adapter, **given))
