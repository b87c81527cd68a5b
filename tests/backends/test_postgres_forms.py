"""Tables as databases have them, and roles that may do little: a verified release, or a refusal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError, EngineError, TargetError
from tests.backends.tables import on_postgres, query, rows_of

pytestmark = pytest.mark.postgres

ROWS = "select i as id, i % 7 as age, 't' || i % 4 as ill from generate_series(1, 80) i"
LONG = "ü" * 31  # 62 bytes


@pytest.fixture(scope="module")
def own_database(postgres: str) -> str:
    """A database in which no other test has published."""
    query(postgres, "drop database if exists forms")
    query(postgres, "create database forms template template0")
    return postgres.rsplit("/", 1)[0] + "/forms"


@pytest.fixture
def forms(own_database: str) -> Iterator[str]:
    """A schema of tables, one for releases, and the roles `clerk` and `stranger`."""
    query(own_database, "drop schema if exists forms, released, _anonymizer cascade")
    for role in ("clerk", "stranger"):
        if not query(own_database, f"select 1 from pg_roles where rolname = '{role}'"):
            query(own_database, f"create role {role} login")
    for statement in ("create schema forms", "create schema released"):
        query(own_database, statement)
    query(own_database, f"create table forms.plain as {ROWS}")
    yield own_database
    query(own_database, "drop schema if exists forms, released, _anonymizer cascade")
    query(own_database, "drop owned by clerk, stranger")


def given(table: str = "forms.plain", **rest: Any) -> Policy:
    columns = {"id": "drop", "age": "quasi", "ill": "sensitive", **rest.pop("columns", {})}
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"table": table},
            "columns": {name: {"role": role} for name, role in columns.items()},
            "privacy": {"k_anonymity": 4},
            "publish": {"name": "people", "schema": "released", **rest.pop("publish", {})},
            **rest,
        }
    )


LOOP = (
    "create extension if not exists postgres_fdw schema public",
    "drop server if exists loop cascade",
    "create server loop foreign data wrapper postgres_fdw"
    " options (host '127.0.0.1', port '{port}', dbname 'forms')",
    "create user mapping for postgres server loop options (user 'postgres')",
)
"""A server by which foreign tables are read over the network, as those of another are."""
FORMS: dict[str, tuple[str, ...]] = {
    "view": (f"create view forms.made as {ROWS}",),
    "materialized view": (f"create materialized view forms.made as {ROWS}",),
    "unlogged": (f"create unlogged table forms.made as {ROWS}",),
    "partitioned": (
        "create table forms.made (id integer, age integer, ill text) partition by list (age)",
        *(
            f"create table forms.made_{age} partition of forms.made for values in ({age})"
            for age in range(6)
        ),
        "create table forms.made_rest partition of forms.made default",
        f"insert into forms.made {ROWS}",
    ),
    "a partition": (
        "create table forms.whole (id integer, age integer, ill text) partition by hash (id)",
        "create table forms.made partition of forms.whole for values with (modulus 1, remainder 0)",
        f"insert into forms.whole {ROWS}",
    ),
    "inherited": (
        "create table forms.made (id integer, age integer, ill text)",
        "create table forms.child (more text) inherits (forms.made)",
        f"insert into forms.made select * from ({ROWS}) as r where id <= 40",
        f"insert into forms.child select * from ({ROWS}) as r where id > 40",
    ),
    "generated": (
        "create table forms.made (id integer generated always as identity, age integer,"
        " twice integer generated always as (2 * age) stored, ill text)",
        f"insert into forms.made (age, ill) select age, ill from ({ROWS}) as r",
        "alter table forms.made drop column twice",
    ),
    "dropped columns": (
        "create table forms.made (gone text, id integer, age integer, also text, ill text)",
        "alter table forms.made drop column gone, drop column also",
        f"insert into forms.made {ROWS}",
    ),
    "foreign": (
        "create extension if not exists file_fdw schema public",
        "drop server if exists files cascade",
        "create server files foreign data wrapper file_fdw",
        "create foreign table forms.made (id integer, age integer, ill text) server files"
        " options (program 'seq 1 80 | awk ''{print $1\",\"$1%7\",t\"$1%4}''', format 'csv')",
    ),
    "foreign on a server": (
        *LOOP,
        f"create table forms.far as {ROWS}",
        "create foreign table forms.made (id integer, age integer, ill text) server loop"
        " options (schema_name 'forms', table_name 'far')",
    ),
    "partitioned over servers": (
        *LOOP,
        "create table forms.made (id integer, age integer, ill text) partition by range (id)",
        "create table forms.near partition of forms.made for values from (41) to (maxvalue)",
        "create table forms.far (id integer, age integer, ill text)",
        "create foreign table forms.there partition of forms.made default server loop"
        " options (schema_name 'forms', table_name 'far')",
        f"insert into forms.made {ROWS}",
    ),
    "versions of rows": (
        f"create table forms.made as select *, tstzrange('2020-01-01', null) as valid from ({ROWS})"
        " as r",
        "create extension if not exists btree_gist schema public",
        "alter table forms.made add exclude using gist (id with =, valid with &&)",
    ),
    "typed": (
        "create type forms.shape as (id integer, age integer, ill text)",
        "create table forms.made of forms.shape",
        f"insert into forms.made {ROWS}",
    ),
    "indexed and clustered": (
        f"create table forms.made as {ROWS}",
        "alter table forms.made add primary key (id)",
        "cluster forms.made using made_pkey",
    ),
}


@pytest.mark.parametrize("form", list(FORMS))
def test_a_form_of_table(forms: str, form: str) -> None:
    port = str(urlsplit(forms).port)
    for statement in FORMS[form]:
        query(forms, statement.replace("{port}", port))
    also = {"valid": "keep"} if form == "versions of rows" else {}
    made = on_postgres(given("forms.made", columns=also), forms)
    assert made.verification.passed
    warned = [one for one in made.warnings if "is read as the role of its user mapping" in one]
    assert len(warned) == ("server" in form)
    counted = "select count(*), sum(age), count(distinct ill) from "
    assert query(forms, f"{counted} forms.made") == query(forms, f"{counted} forms.plain")
    assert len(rows_of(made, forms)) == 80


def test_a_foreign_table_that_cannot_be_read(forms: str) -> None:
    for statement in (*LOOP, "create foreign table forms.made (age integer) server loop"):
        query(forms, statement.replace("{port}", "1"))
    with pytest.raises(EngineError, match="the server of a foreign table cannot be reached"):
        on_postgres(given("forms.made"), forms)
    query(forms, "drop user mapping for postgres server loop")
    with pytest.raises(EngineError, match="needs a user mapping for this role"):
        on_postgres(given("forms.made"), forms)


def test_a_generated_column_is_one_like_any_other(forms: str) -> None:
    query(
        forms,
        "create table forms.made (id integer, age integer generated always as (id % 7) stored,"
        " ill text)",
    )
    query(forms, f"insert into forms.made (id, ill) select id, ill from ({ROWS}) as r")
    assert on_postgres(given("forms.made"), forms).verification.passed


@pytest.mark.parametrize(
    "name", [LONG, 'say "hi"', "Large Table", "select", "a.b", "x" * 63, "%s %(a)s", "🂡", "tab\tle"]
)
def test_names_of_tables_and_columns(forms: str, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    query(forms, f"create table forms.{quoted} as {ROWS}")
    query(forms, f"alter table forms.{quoted} rename age to {quoted}")
    columns = {"id": "drop", name: "quasi", "ill": "sensitive"}
    policy = given(f"forms.{quoted}").to_dict()
    policy["columns"] = {column: {"role": role} for column, role in columns.items()}
    made = on_postgres(Policy.model_validate(policy), forms)
    assert made.verification.passed
    assert name in made.df().columns


def test_a_temporary_table_of_the_users_session(forms: str) -> None:
    import psycopg

    with psycopg.connect(forms, autocommit=True) as connection:
        connection.execute(f"create temp table mine as {ROWS}")
        assert anonymizer.run(given("mine"), connection, seed=7).verification.passed
        assert connection.execute("select count(*) from mine").fetchone() == (80,)


def as_role(address: str, role: str) -> str:
    return address.replace("//postgres@", f"//{role}@")


def little(address: str, role: str = "clerk") -> str:
    """A role with nothing but `select` on the source and `create` on the target schema."""
    query(address, f"grant usage on schema forms to {role}")
    query(address, f"grant select on forms.plain to {role}")
    query(address, f"grant usage, create on schema released to {role}")
    return as_role(address, role)


def test_a_role_that_may_read_the_source_and_create_in_a_schema(forms: str) -> None:
    clerk = little(forms)
    made = on_postgres(given(), clerk)
    expected = rows_of(made, clerk)
    assert rows_of(on_postgres(given(publish={"name": "other"}), forms), forms) == expected
    again = on_postgres(given(), clerk)
    assert rows_of(again, clerk) == expected
    assert anonymizer.verify(given(), clerk).passed
    assert anonymizer.verify(None, clerk, engine="postgres").passed
    owned = (
        "select relname from pg_class where relowner = 'clerk'::regrole and relkind in ('r', 'v')"
    )
    left = {str(name) for (name,) in query(forms, owned)}
    assert len(left) == 4
    assert left > {"_anonymizer_objects", "people", "people_manifest"}
    schemas = "select count(*) from pg_namespace where nspname like 'anonymizer_run_%'"
    assert query(forms, schemas) == [(0,)]
    query(forms, "grant usage on schema released to stranger")
    on_postgres(given(engine="postgres", publish={"grant_select": "stranger"}), clerk)
    assert len(query(forms, "select * from released.people", "stranger")) == len(expected)


def test_a_query_and_a_failure_of_such_a_role(forms: str) -> None:
    clerk = little(forms)
    asked = given(source={"query": "select * from forms.plain where age < 5"})
    assert on_postgres(asked, clerk).verification.passed
    before = rows_of(on_postgres(given(), clerk), clerk)
    with pytest.raises(AnonymizerError):
        on_postgres(given(privacy={"k_anonymity": 81}), clerk)
    assert query(forms, "select count(*) from released.people") == [(len(before),)]


def test_a_query_is_not_run_before_the_target_is_checked(forms: str) -> None:
    """It may be as long as the rest of the run."""
    clerk = little(forms)
    query(forms, "create sequence forms.runs")
    query(forms, "grant usage on sequence forms.runs to clerk")
    query(forms, "create table released.people (x int)")
    asked = given(source={"query": "select p.* from forms.plain p, nextval('forms.runs')"})
    with pytest.raises(TargetError, match=r"released\.people exists, belongs to the role postgres"):
        on_postgres(asked, clerk)
    assert query(forms, "select is_called from forms.runs") == [(False,)]


def test_what_a_role_lacks_is_told_before_anything_is_read(forms: str) -> None:
    clerk = little(forms)
    query(forms, "revoke create on schema released from clerk")
    with pytest.raises(TargetError, match=r"publish\.schema: lets this role create nothing"):
        on_postgres(given(), clerk)
    with pytest.raises(TargetError, match=r"publish\.schema: lets this role create nothing"):
        on_postgres(given(publish={"schema": "nowhere"}), clerk)
    query(forms, "revoke select on forms.plain from clerk")
    with pytest.raises(EngineError, match="the role may not do this"):
        on_postgres(given(), clerk)


def test_without_temporary_tables_such_a_role_is_refused(forms: str) -> None:
    clerk = little(forms)
    query(forms, "revoke temporary on database forms from public")
    try:
        with pytest.raises(EngineError, match="may create schemas in the database, or temporary"):
            on_postgres(given(), clerk)
    finally:
        query(forms, "grant temporary on database forms to public")


def test_temporary_tables_of_a_user_are_not_touched(forms: str) -> None:
    import psycopg

    with psycopg.connect(little(forms), autocommit=True) as connection:
        connection.execute("create temp table units as select 1 as x")
        with pytest.raises(EngineError, match="has temporary tables"):
            anonymizer.run(given(), connection, seed=7)
        assert connection.execute("table units").fetchall() == [(1,)]
        connection.execute("drop table units")
        assert anonymizer.run(given(), connection, seed=7).verification.passed
        found = "select count(*) from pg_class where relnamespace = pg_my_temp_schema()"
        assert connection.execute(found).fetchone() == (0,)


def test_a_record_of_a_stranger_says_nothing_of_what_is_dropped(forms: str) -> None:
    """Who owns the record could name any table in it, or put a trigger on it."""
    stranger = as_role(forms, "stranger")
    query(forms, "create schema _anonymizer authorization stranger")
    query(
        stranger,
        "create table _anonymizer.objects (release text, schema_name text, object_name text,"
        " kind text, run_id text, entry bigint generated always as identity)",
    )
    query(
        stranger,
        "insert into _anonymizer.objects values"
        " ('released.people', 'forms', 'plain', 'rows', 'x'),"
        " ('', 'forms', 'forms', 'scratch', 'x')",
    )
    query(
        stranger,
        "create function _anonymizer.caught() returns trigger language plpgsql as"
        " $$ begin execute 'alter role stranger superuser'; return new; end $$",
    )
    query(
        stranger,
        "create trigger caught before insert or delete on _anonymizer.objects"
        " for each row execute function _anonymizer.caught()",
    )
    made = on_postgres(given(), forms)
    assert made.verification.passed
    assert query(forms, "select count(*) from forms.plain") == [(80,)]
    assert query(forms, "select rolsuper from pg_roles where rolname = 'stranger'") == [(False,)]
    assert query(forms, "select count(*) from _anonymizer.objects") == [(2,)]
    assert on_postgres(given(), forms).verification.passed
    assert anonymizer.verify(None, forms, engine="postgres").passed


def test_releases_of_two_roles_in_one_schema(forms: str) -> None:
    on_postgres(given(), little(forms))
    with pytest.raises(TargetError, match="belongs to the role clerk, and was not published by"):
        on_postgres(given(), little(forms, "stranger"))
    with pytest.raises(TargetError, match=r"has the record .* of another role, clerk"):
        on_postgres(given(publish={"name": "others"}), little(forms, "stranger"))
    with pytest.raises(TargetError, match="is in a release that the role clerk made"):
        on_postgres(given(), forms)
    assert query(forms, "select count(*) from released.people") == [(80,)]


POLICIES = ("using (true)", "using (age < 3)")


@pytest.mark.parametrize("says", POLICIES)
@pytest.mark.parametrize("how", ["table", "view", "query", "population"])
def test_row_security_that_applies_to_the_role_is_refused(forms: str, says: str, how: str) -> None:
    """A release of the rows that a role happens to see would look like one of the table."""
    clerk = little(forms)
    query(forms, "alter table forms.plain enable row level security")
    query(forms, f"create policy mine on forms.plain for select to clerk {says}")
    assert on_postgres(given(), forms).verification.passed, "it does not apply to a superuser"
    query(forms, "drop schema released cascade")
    query(forms, "create schema released")
    clerk = little(forms)
    rest: dict[str, Any] = {}
    if how == "view":
        query(clerk, "create view released.seen as select * from forms.plain")
        rest["table"] = "released.seen"
    if how == "query":
        rest["source"] = {"query": "select * from forms.plain"}
    if how == "population":
        query(clerk, f"create table released.mine as {ROWS}")
        rest |= {"table": "released.mine"}
        rest["privacy"] = {"k_map": {"k": 3, "population": {"table": "forms.plain"}}}
    with pytest.raises(EngineError, match="row security hides rows from this role"):
        on_postgres(given(**rest), clerk)
    assert query(forms, "select to_regclass('released.people')") == [(None,)]


def test_forced_row_security_is_refused_for_the_owner_too(forms: str) -> None:
    clerk = little(forms)
    query(clerk, f"create table released.mine as {ROWS}")
    query(clerk, "alter table released.mine enable row level security")
    assert on_postgres(given("released.mine"), clerk).verification.passed
    query(clerk, "alter table released.mine force row level security")
    with pytest.raises(EngineError, match="row security"):
        on_postgres(given("released.mine"), clerk)


def test_a_users_connection_keeps_its_row_security(forms: str, tmp_path: Path) -> None:
    import psycopg

    with psycopg.connect(forms, autocommit=True) as connection:
        anonymizer.run(given(), connection, seed=7)
        assert connection.execute("show row_security").fetchone() == ("on",)
