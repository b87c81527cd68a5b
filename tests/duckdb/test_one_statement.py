"""A rendered text that is not one statement of its kind is never executed."""

from __future__ import annotations

import duckdb
import pytest

from anonymizer.compile import Statement
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import TemplateError

NONE: frozenset[tuple[str, ...]] = frozenset()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("query", "select 1; drop table people"),
        ("query", "drop table people"),
        ("query", "select 1 --'\n; drop table people"),
        ("create", "insert into people values (2)"),
        ("query", ""),
    ],
)
def test_only_one_statement_of_its_kind_is_executed(kind: str, text: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("create table people as select 1 as id")
        engine = DuckDBEngine(connection, True)
        with pytest.raises(TemplateError, match=f"^people: is not one ({kind}|statement)"):
            engine.execute(Statement(text, kind, NONE, NONE), "people")
        assert connection.execute("from people").fetchall() == [(1,)]
