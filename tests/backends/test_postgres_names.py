"""A table that a policy names without a schema is the one that the server finds for the role."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.errors import SourceError
from tests.backends.tables import on_postgres, query
from tests.runs import policy

pytestmark = pytest.mark.postgres

TYPES = {"age": "INTEGER", "ill": "VARCHAR"}
COLUMNS: dict[str, Any] = {"age": "quasi", "ill": "keep"}


@pytest.fixture
def tables(postgres: str) -> Any:
    """`visits` in two schemas, and one that is in no search path."""
    for schema in ("zz_first", "aa_second", "hidden"):
        query(postgres, f"drop schema if exists {schema} cascade")
        query(postgres, f"create schema {schema}")
        for name in ("named_visits", '"Named_Cases"'):
            if schema == "hidden" and name == "named_visits":
                continue
            query(postgres, f"create table {schema}.{name} (age integer, ill text)")
            query(
                postgres,
                f"insert into {schema}.{name}"
                f" select i % 3, '{schema}' from generate_series(1, 30) i",
            )
    query(postgres, 'create table hidden.secret_visits as table hidden."Named_Cases"')
    yield postgres
    for schema in ("zz_first", "aa_second", "hidden"):
        query(postgres, f"drop schema {schema} cascade")


def reading(address: str, path: str) -> str:
    """The address with a search path."""
    mark = "&" if "?" in address else "?"
    return f"{address}{mark}options=-csearch_path%3D{path}"


@pytest.mark.parametrize("order", [("zz_first", "aa_second"), ("aa_second", "zz_first")])
@pytest.mark.parametrize("name", ["named_visits", "NAMED_VISITS", "Named_Cases"])
def test_the_search_path_decides(
    tables: str, tmp_path: Path, order: tuple[str, str], name: str
) -> None:
    address = reading(tables, "%2C".join(order))
    given = policy(tmp_path, COLUMNS, k=3, source={"table": name},
                   publish={"database": None, "schema": "public", "name": "named_out"})  # fmt: skip
    found = on_postgres(given, address).df()
    assert set(found["ill"]) == {order[0]}


def test_a_table_outside_of_the_search_path_is_not_found(tables: str, tmp_path: Path) -> None:
    given = policy(tmp_path, COLUMNS, k=3, source={"table": "secret_visits"},
                   publish={"database": None, "schema": "public", "name": "named_out"})  # fmt: skip
    with pytest.raises(SourceError, match="search_path") as raised:
        anonymizer.plan(given, reading(tables, "zz_first"))
    assert "hidden.secret_visits" in str(raised.value)
    given = policy(tmp_path, COLUMNS, k=3, source={"table": "hidden.secret_visits"},
                   publish={"database": None, "schema": "public", "name": "named_out"})  # fmt: skip
    assert on_postgres(given, reading(tables, "zz_first")).verification.passed
