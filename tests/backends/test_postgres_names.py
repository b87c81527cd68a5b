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


@pytest.fixture
def letters(postgres: str) -> Any:
    """Tables and schemas whose names differ in the case of letters only."""
    for schema in ("spelled", '"Spelled"'):
        query(postgres, f"drop schema if exists {schema} cascade")
        query(postgres, f"create schema {schema}")
        for name in ("visits", '"Visits"'):
            rows = f"select i % 3 as age, '{schema}.{name}' as ill from generate_series(1, 30) i"
            query(postgres, f"create table {schema}.{name} as {rows}")
    query(postgres, 'create table spelled."Alone" as table spelled."Visits"')
    yield postgres
    for schema in ("spelled", '"Spelled"'):
        query(postgres, f"drop schema {schema} cascade")


def source_of(address: str, folder: Path, name: str) -> set[str]:
    """What the rows of a release say of their table."""
    given = policy(folder, COLUMNS, k=3, source={"table": name},
                   publish={"database": None, "schema": "public", "name": "named_out"})  # fmt: skip
    return set(on_postgres(given, address).df()["ill"])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("visits", "spelled.visits"),
        ('"Visits"', 'spelled."Visits"'),
        ("spelled.visits", "spelled.visits"),
        ('spelled."Visits"', 'spelled."Visits"'),
        ('"Spelled".visits', '"Spelled".visits'),
        ("VISITS", "spelled.visits"),
        ("people.spelled.visits", "spelled.visits"),
        ("Alone", 'spelled."Visits"'),
    ],
)
def test_letters_and_quotes_decide(letters: str, tmp_path: Path, name: str, meant: str) -> None:
    assert source_of(reading(letters, "spelled"), tmp_path, name) == {meant}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Visits", "may mean"),
        ("Spelled.visits", "may mean"),
        ('"VISITS"', 'did you mean .*"spelled"."visits"'),
        ("alone", 'did you mean "spelled"."Alone"'),
        ("spelled.alone", 'did you mean "spelled"."Alone"'),
    ],
)
def test_a_name_that_may_mean_two_tables_or_none_is_refused(
    letters: str, tmp_path: Path, name: str, said: str
) -> None:
    with pytest.raises(SourceError, match=said):
        source_of(reading(letters, "spelled"), tmp_path, name)


HOSTILE = """
    set check_function_bodies = off;
    create schema hostile authorization intruder;
    set role intruder;
    create function hostile.current_setting(text) returns text language sql as
        $$ select public.taken()::text $$;
    create function hostile.set_config(text, text, boolean) returns text language sql as
        $$ select public.taken()::text $$;
    create function hostile.to_regclass(text) returns regclass language sql as
        $$ select public.taken(); select 'hostile.named_cases'::regclass $$;
    create function hostile.md5(text) returns text language sql as
        $$ select public.taken()::text $$;
    create function hostile.same(text, text) returns boolean language sql as
        $$ select public.taken() is null $$;
    create operator hostile.= (function = hostile.same, leftarg = text, rightarg = text);
    create function hostile.plus(text, text) returns text language sql as
        $$ select public.taken()::text $$;
    create operator hostile.|| (function = hostile.plus, leftarg = text, rightarg = text);
    create domain hostile.text as pg_catalog.text;
    create table hostile.pg_class (oid oid, relname name, relnamespace oid, relkind "char");
    grant usage on schema hostile to public;
    reset role;
"""


@pytest.fixture
def hostile(postgres: str) -> Any:
    """A schema of another role's, before that of the server in the search path.

    Every object in it that a run uses enters a row, with the rights of the run, into `alarm`.
    """
    query(postgres, "drop schema if exists hostile cascade")
    if not query(postgres, "select 1 from pg_roles where rolname = 'intruder'"):
        query(postgres, "create role intruder")
    query(postgres, "create table if not exists public.alarm (who text)")
    query(
        postgres,
        "create or replace function public.taken() returns integer language sql as"
        " $$ insert into public.alarm values (current_user::pg_catalog.text);"
        " select 1 $$",
    )
    script(postgres, HOSTILE)
    yield postgres
    query(postgres, "drop schema hostile cascade")
    query(postgres, "drop table public.alarm")
    query(postgres, "drop function public.taken()")


def script(address: str, text: str) -> None:
    """Run several statements on one connection."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(text)


@pytest.mark.parametrize("borrowed", [False, True])
def test_a_hostile_search_path(tables: str, hostile: str, tmp_path: Path, borrowed: bool) -> None:
    import psycopg

    path = "hostile, pg_catalog, zz_first"
    given = policy(tmp_path, COLUMNS, k=3, source={"table": "named_visits"},
                   publish={"database": None, "schema": "public", "name": "named_out"})  # fmt: skip
    address = reading(hostile, path.replace(",", "%2C").replace(" ", ""))
    with psycopg.connect(address) as connection:
        connection.execute("select 'x' || 'y'")
        assert len(connection.execute("table public.alarm").fetchall()) == 1, "the trap works"
        connection.rollback()
        made = on_postgres(given, connection if borrowed else address)
        assert set(made.df()["ill"]) == {"zz_first"}
        connection.rollback()
        assert anonymizer.verify(given, connection if borrowed else address).passed
        shown = "select pg_catalog.current_setting('search_path')"
        assert str(connection.execute(shown).fetchone()[0]).replace(" ", "") == path.replace(
            " ", ""
        )
    assert query(hostile, "select * from public.alarm") == []
