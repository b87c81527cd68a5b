"""On Postgres a view is a boundary: who may read it, what stays behind, what is never dropped."""

from __future__ import annotations

from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError, TargetError
from anonymizer.process.secret import Seed
from tests.backends.tables import PEOPLE, load, on_postgres, people, policy, query, rows_of

pytestmark = pytest.mark.postgres

ROWS = people(60)
TOO_MUCH = {"role": "sensitive", "protect": {"l_diversity": 60}}
COLUMNS: dict[str, Any] = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}


@pytest.fixture
def address(postgres: str) -> str:
    load(postgres, PEOPLE, ROWS, "people")
    return postgres


@pytest.fixture
def reader(address: str) -> str:
    query(address, "drop schema if exists main cascade")
    query(address, "drop schema if exists _anonymizer cascade")
    if not query(address, "select 1 from pg_roles where rolname = 'read er'"):
        query(address, 'create role "read er"')
    return "read er"


def granted(reader: str, **rest: Any) -> Policy:
    return policy(COLUMNS, engine="postgres", publish={"grant_select": reader}, **rest)


def test_the_role_reads_the_view_and_nothing_beneath(address: str, reader: str) -> None:
    import psycopg

    made = on_postgres(granted(reader), address)
    assert not any("can read the source" in warning for warning in made.warnings)
    assert query(address, "select count(*) from main.people_anonymous", reader) == [(len(ROWS),)]
    beneath = query(
        address, "select tablename from pg_tables where schemaname in ('main', '_anonymizer')"
    )
    assert len(beneath) == 3
    for table in ("public.people", *(f'main."{name}"' for (name,) in beneath if name != "objects")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            query(address, f"select * from {table}", reader)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        query(address, "select * from _anonymizer.objects", reader)
    (options,) = query(
        address, "select reloptions from pg_class where relname = 'people_anonymous'"
    )
    assert options == (["security_barrier=true"],)


def test_a_role_that_reads_the_source_is_named(address: str, reader: str) -> None:
    query(address, f'grant select on public.people to "{reader}"')
    made = on_postgres(granted(reader), address)
    assert any("can read the source table" in warning for warning in made.warnings)


def work_schemas(address: str) -> list[str]:
    return [
        str(name)
        for (name,) in query(
            address, "select nspname from pg_namespace where nspname like 'anonymizer_run_%'"
        )
    ]


def test_nothing_is_left_after_a_run_and_after_a_failure(address: str) -> None:
    on_postgres(policy(COLUMNS), address)
    assert work_schemas(address) == []
    with pytest.raises(AnonymizerError):
        on_postgres(policy({**COLUMNS, "ill": TOO_MUCH}), address)
    assert work_schemas(address) == []
    scratch = "select count(*) from _anonymizer.objects where kind = 'scratch'"
    assert query(address, scratch) == [(0,)]


def test_what_a_dead_run_left_goes_and_what_is_not_recorded_stays(address: str) -> None:
    on_postgres(policy(COLUMNS), address)
    query(address, "create schema anonymizer_run_dead")
    query(address, "create table anonymizer_run_dead.coded (x int)")
    query(address, "create schema anonymizer_run_foreign")
    query(
        address,
        "insert into _anonymizer.objects values"
        " ('', 'anonymizer_run_dead', 'anonymizer_run_dead', 'scratch', 'dead')",
    )
    on_postgres(policy(COLUMNS), address)
    assert work_schemas(address) == ["anonymizer_run_foreign"]
    query(address, "drop schema anonymizer_run_foreign")


def test_the_schema_of_a_run_that_lives_stays(address: str) -> None:
    import psycopg

    on_postgres(policy(COLUMNS), address)
    name = "anonymizer_run_alive"
    with psycopg.connect(address, autocommit=True) as living:
        living.execute(f"create schema {name}")
        living.execute("select pg_advisory_lock(hashtextextended(%s, 0))", (name,))
        living.execute(
            "insert into _anonymizer.objects values ('', %s, %s, 'scratch', 'alive')", (name, name)
        )
        on_postgres(policy(COLUMNS), address)
        assert work_schemas(address) == [name]
    on_postgres(policy(COLUMNS), address)
    assert work_schemas(address) == []


def test_views_on_a_release_stay_and_read_the_next_one(address: str, reader: str) -> None:
    on_postgres(granted(reader), address)
    query(address, "create view main.of_release as select count(*) as n from main.people_anonymous")
    query(address, "delete from people where age > 40")
    made = on_postgres(granted(reader), address)
    rows = len(rows_of(made, address))
    assert rows < len(ROWS)
    assert query(address, "select n from main.of_release") == [(rows,)]
    assert query(address, "select count(*) from main.people_anonymous", reader) == [(rows,)]
    assert anonymizer.verify(granted(reader), address).passed
    # a role that the policy no longer names loses its grant
    on_postgres(policy(COLUMNS), address)
    acl = "select count(*) from pg_class, aclexplode(relacl) where grantee <> relowner and oid ="
    assert query(address, f"{acl} 'main.people_anonymous'::regclass") == [(0,)]


def test_a_release_of_other_columns_is_refused_where_views_hang_on_the_old_one(
    address: str, reader: str
) -> None:
    before = rows_of(on_postgres(policy(COLUMNS), address), address)
    query(address, "create view main.of_release as select zip from main.people_anonymous")
    with pytest.raises(TargetError, match=r"on it hangs the view main\.of_release"):
        on_postgres(policy({**COLUMNS, "zip": "drop", "town": "quasi"}), address)
    assert query(address, "select * from main.people_anonymous") == [tuple(row) for row in before]
    query(address, "drop view main.of_release")
    on_postgres(policy({**COLUMNS, "zip": "drop", "town": "quasi"}), address)


def test_the_secret_stands_in_no_statement(address: str) -> None:
    made = on_postgres(policy(COLUMNS), address)
    secret = Seed.test(7).secret
    query(address, "select pg_sleep(0)")
    texts = query(address, "select query from pg_stat_activity")
    assert all(secret not in str(text) for (text,) in texts)
    assert secret not in made.manifest.text()


EVIL = 'x"; drop table people; --'


def test_injection(address: str) -> None:
    types = {EVIL: "INTEGER", "it's": "VARCHAR", "%(secret)s": "VARCHAR", "ill": "VARCHAR"}
    rows = [(n % 5, "'; drop table people; --", "%s", "a'b\\'c") for n in range(20)]
    load(address, types, rows, 'evil"name')
    given = policy(
        {EVIL: "quasi", "it's": "quasi", "%(secret)s": "quasi", "ill": "sensitive"},
        types,
        '"evil""name"',
        publish={"name": 'out"; drop', "schema": "sch'ema"},
    )
    made = on_postgres(given, address)
    assert len(rows_of(made, address)) == len(rows)
    assert query(address, "select count(*) from people") == [(len(ROWS),)]
    query(address, 'drop schema "sch\'ema" cascade')
    query(address, "delete from _anonymizer.objects where schema_name = 'sch''ema'")


def test_functions_of_the_user_do_not_stand_for_those_of_the_engine(address: str) -> None:
    query(
        address,
        "create or replace function public.md5(integer) returns text language sql"
        " as $$ select 'stolen' $$",
    )
    query(
        address,
        "create or replace function public.starts_with(varchar, varchar) returns boolean"
        " language sql as $$ select false $$",
    )
    try:
        made = on_postgres(policy(COLUMNS), address)
        assert made.verification.passed
    finally:
        query(address, "drop function public.md5(integer)")
        query(address, "drop function public.starts_with(varchar, varchar)")
