"""On Postgres obstacles to a release are found first, and what others gave it is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError, TargetError
from anonymizer.publish.postgres import in_database
from anonymizer.run import verbs
from anonymizer.run.job import Job
from tests.backends.tables import PEOPLE, load, people, policy, query

pytestmark = pytest.mark.postgres

ROWS = people(60)
COLUMNS: dict[str, Any] = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}
OTHER = {**COLUMNS, "zip": "drop", "town": "quasi"}
SCHEMAS = ("kept", "foreign_place", "main", "_anonymizer")
"""Where releases may be, and their record: one without the other is no state of a server."""
ROLES = ("reader", "analyst", "maker", "owner", "guest")
VIEW = "kept.people_anonymous"


@pytest.fixture
def address(postgres: str) -> Iterator[str]:
    for schema in SCHEMAS:
        query(postgres, f"drop schema if exists {schema} cascade")
    for role in ROLES:
        if query(postgres, f"select 1 from pg_roles where rolname = '{role}'"):
            query(postgres, f"drop owned by {role}")
        else:
            query(postgres, f"create role {role} login")
    load(postgres, PEOPLE, ROWS, "people")
    query(postgres, "grant select on people to maker")
    yield postgres
    query(postgres, "drop publication if exists hanging")
    for schema in SCHEMAS:
        query(postgres, f"drop schema if exists {schema} cascade")
    for role in ROLES:
        query(postgres, f"drop owned by {role} cascade")
        query(postgres, f"alter role {role} reset all")


def as_role(address: str, role: str) -> str:
    return address.replace("postgres@", f"{role}@")


def given(columns: Any = COLUMNS, grant: Any = None, **rest: Any) -> Policy:
    publish = {"schema": "kept", "grant_select": grant, **rest.pop("publish", {})}
    return policy(columns, engine="postgres", publish=publish, **rest)


def run(one: Policy, address: str) -> Any:
    return anonymizer.run(one, address, seed=7)


def of_query(text: str, grant: str) -> Policy:
    whole = given(grant=grant).model_dump(by_alias=True, exclude_unset=True)
    publish = {**whole["publish"], "name": "people_anonymous"}
    return Policy.model_validate({**whole, "source": {"query": text}, "publish": publish})


def grants(address: str, relation: str = VIEW) -> list[tuple[Any, ...]]:
    return query(
        address,
        "select coalesce(attname, ''), case when grantee = 0 then 'public' else"
        " pg_get_userbyid(grantee) end, privilege_type, is_grantable from pg_class c,"
        " lateral (select null::name, c.relacl union all select attname, attacl from pg_attribute"
        " where attrelid = c.oid and not attisdropped) as a (attname, acl), aclexplode(acl)"
        f" where c.oid = '{relation}'::regclass and grantee <> relowner order by 1, 2, 3",
    )


def comments(address: str, relation: str = VIEW) -> list[tuple[Any, ...]]:
    return query(
        address,
        "select objsubid, description from pg_description where classoid = 'pg_class'::regclass"
        f" and objoid = '{relation}'::regclass order by 1",
    )


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reading the source an error, so that only checks before it are left."""

    def read(*_: object) -> None:
        raise AssertionError("the source was read")

    monkeypatch.setattr(verbs, "read_tables", read)


# reading a query


def test_a_query_is_released_to_a_role(address: str) -> None:
    text = "with old as (select * from people where age > 3) select * from old"
    made = run(of_query(text, "reader"), address)
    assert not any("can read" in warning for warning in made.warnings)
    assert query(address, f"select count(*) > 0 from {VIEW}", "reader") == [(True,)]


def test_a_role_that_reads_a_table_of_the_query_is_named(address: str) -> None:
    query(address, "create schema foreign_place")
    query(address, "create view foreign_place.seen as select * from people")
    query(address, 'grant select (age) on foreign_place.seen to "reader"')
    made = run(of_query("select p.* from foreign_place.seen as p", "reader"), address)
    found = [warning for warning in made.warnings if "can read the source table" in warning]
    assert len(found) == 1
    assert "foreign_place.seen" in found[0]


def test_a_role_that_reads_one_column_of_the_source_is_named(address: str) -> None:
    query(address, "grant select (ill) on people to reader")
    made = run(given(grant="reader"), address)
    assert any("can read the source table as well" in warning for warning in made.warnings)


# what can be refused before anything is read


def test_a_schema_that_the_role_cannot_open_to_readers(address: str, unread: None) -> None:
    query(address, "create schema kept authorization owner")
    query(address, "grant usage, create on schema kept to maker")
    with pytest.raises(TargetError, match=r"grant usage on schema .*kept.* as its owner") as e:
        run(given(grant=("reader", "analyst")), as_role(address, "maker"))
    assert [one.path for one in e.value.problems] == ["publish.grant_select"] * 2


@pytest.mark.parametrize("way", ["to reader", "to maker with grant option", "to public"])
def test_a_schema_that_readers_can_use(address: str, way: str) -> None:
    query(address, "create schema kept authorization owner")
    query(address, "grant usage, create on schema kept to maker")
    query(address, f"grant usage on schema kept {way}")
    run(given(grant="reader"), as_role(address, "maker"))
    assert query(address, f"select count(*) from {VIEW}", "reader") == [(len(ROWS),)]


OBSTACLES: dict[str, tuple[str, str]] = {
    "a view of another role": (
        f"alter view {VIEW} owner to guest",
        r"people_anonymous, which is to be replaced, belongs to the role guest",
    ),
    "a manifest of another role": (
        f"alter table {VIEW}_manifest owner to guest",
        r"people_anonymous_manifest, which is to be replaced, belongs to the role guest",
    ),
    "a table in place of the view": (
        f"drop view {VIEW}; create table {VIEW} (mine int)",
        r"people_anonymous was published as a view, and is another object now",
    ),
    "a view on the manifest": (
        f"create view kept.hanging as select * from {VIEW}_manifest",
        r"on it hangs the view kept\.hanging",
    ),
    "a publication of the manifest": (
        f"create publication hanging for table {VIEW}_manifest",
        r"on it hangs the publication hanging",
    ),
    "a view on the rows": (
        "do $$ begin execute (select format('create view kept.hanging as select * from kept.%I',"
        " tablename) from pg_tables where schemaname = 'kept' and tablename like '\\_people%');"
        " end $$",
        r"on it hangs the view kept\.hanging",
    ),
}


@pytest.mark.parametrize("case", OBSTACLES)
def test_what_cannot_be_replaced(
    address: str, case: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    statements, said = OBSTACLES[case]
    query(address, "create schema kept authorization maker")
    run(given(), as_role(address, "maker"))
    query(address, statements)
    request.getfixturevalue("unread")
    with pytest.raises(TargetError, match=said):
        run(given(), as_role(address, "maker"))


@pytest.mark.parametrize(
    "made",
    [
        "create index people_anonymous on kept.other (x)",
        "create sequence kept.people_anonymous_manifest",
        "create type kept.people_anonymous as enum ('a')",
        "create domain kept.people_anonymous_manifest as int",
    ],
)
def test_a_name_that_is_taken_by_anything(address: str, unread: None, made: str) -> None:
    query(address, "create schema kept")
    query(address, "create table kept.other (x int)")
    query(address, made)
    with pytest.raises(TargetError, match="exists and was not published by this tool"):
        run(given(), address)


def test_names_that_no_schema_can_have(address: str, unread: None) -> None:
    for name, said in (("pg_mine", "keeps for itself"), ("s" * 64, "cuts names off")):
        with pytest.raises(TargetError, match=said) as error:
            run(given(publish={"schema": name}), address)
        assert error.value.problems[0].path == "publish.schema"


def test_the_record_of_another_role(address: str, unread: None) -> None:
    query(address, "create schema kept authorization maker")
    query(address, "create table kept._anonymizer_objects (release text)")
    query(address, "alter table kept._anonymizer_objects owner to guest")
    query(address, "create schema _anonymizer authorization guest")
    with pytest.raises(TargetError, match=r"has the record .* of another role, guest"):
        run(given(), as_role(address, "maker"))


def test_a_name_that_is_taken_while_the_run_is_at_work(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify = Job._verify

    def later(self: Job, *args: Any) -> Any:
        query(address, "create schema kept; create table kept.people_anonymous (mine integer)")
        return verify(self, *args)

    monkeypatch.setattr(Job, "_verify", later)
    with pytest.raises(TargetError, match="people_anonymous exists and was not published by this"):
        run(given(), address)


def test_a_publication_for_all_tables_does_not_hinder(address: str) -> None:
    """Without a replica identity nothing could be deleted from the record."""
    query(address, "create publication everything for all tables")
    try:
        runs = {run(given(), address).run_id for _ in range(2)}
    finally:
        query(address, "drop publication everything")
    assert len(runs) == 2
    left = "select nspname from pg_namespace where nspname like 'anonymizer_run_%'"
    assert query(address, left) == []


# readers who are there


@contextmanager
def reading(address: str, relation: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute(f"select count(*) from {relation}")
        yield connection.info.backend_pid


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_database, "MOMENT", "100ms")
    monkeypatch.setattr(in_database, "PAUSE", 0.05)
    monkeypatch.setattr(in_database, "ATTEMPTS", 3)


@pytest.mark.parametrize("relation", [VIEW, f"{VIEW}_manifest"])
def test_a_reader_who_stays_is_not_waited_for_forever(
    address: str, impatient: None, relation: str
) -> None:
    before = run(given(), address).run_id
    query(address, "delete from people where age > 40")
    with (
        reading(address, relation) as pid,
        pytest.raises(TargetError, match="in use by 1 open transactions") as error,
    ):
        run(given(), address)
    assert f"pid {pid}" in str(error.value)
    assert query(address, f"select count(*) from {VIEW}") == [(len(ROWS),)]
    (manifest,) = query(address, f"select manifest::json ->> 'run_id' from {VIEW}_manifest")
    assert manifest == (before,)
    tables = "select 1 from pg_tables where schemaname = 'kept'"
    assert query(address, f"{tables} and tablename like '%people_anonymous_%'") == [(1,), (1,)]
    assert run(given(), address).run_id != before


def test_new_readers_do_not_queue_and_the_release_comes_when_the_reader_ends(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_database, "MOMENT", "200ms")
    monkeypatch.setattr(in_database, "PAUSE", 0.5)
    run(given(), address)
    query(address, "delete from people where age > 40")
    attempts = threading.Event()
    sleep = time.sleep

    def pause(seconds: float) -> None:
        attempts.set()
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", pause)
    made: list[Any] = []
    other = threading.Thread(target=lambda: made.append(run(given(), address)))
    with reading(address, VIEW):
        other.start()
        assert attempts.wait(60)
        for _ in range(3):
            began = time.monotonic()
            assert query(address, f"select count(*) from {VIEW}") == [(len(ROWS),)]
            assert time.monotonic() - began < 5
    other.join(60)
    assert made
    assert query(address, f"select count(*) < {len(ROWS)} from {VIEW}") == [(True,)]


def test_a_lock_timeout_of_the_role_is_kept(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run(given(), address)
    tried: list[str] = []
    original = in_database.while_unused

    def counting(engine: Any, tables: Any, path: str, swap: Any) -> Any:
        def once() -> Any:
            tried.append(engine.native("select current_setting('lock_timeout')", path)[0][0])
            return swap()

        return original(engine, tables, path, once)

    monkeypatch.setattr("anonymizer.publish.postgres.in_database.while_unused", counting)
    patient = f"{address}?options=-c%20lock_timeout%3D150ms"
    with reading(address, VIEW), pytest.raises(TargetError, match="in use by"):
        run(given(), patient)
    assert tried == ["150ms"]


def test_a_source_that_is_read_is_replaced_later(address: str, impatient: None) -> None:
    one = policy(
        COLUMNS, table="public.people", engine="postgres", publish={"replace_source": True}
    )
    query(address, "drop table if exists public.people_manifest")
    with reading(address, "people"), pytest.raises(TargetError, match="in use by"):
        anonymizer.run(one, address, seed=7, replace_source=True)
    assert query(address, "select count(*) from people where person >= 0") == [(len(ROWS),)]
    anonymizer.run(one, address, seed=7, replace_source=True)
    query(address, "drop table public.people, public.people_manifest")


def test_reading_a_release_leaves_no_transaction_open(address: str) -> None:
    import psycopg

    with psycopg.connect(address) as connection:
        made = anonymizer.run(given(), connection, seed=7)
        assert len(made.df()) == len(ROWS)
        anonymizer.run(given(), connection, seed=8)


# what somebody gave a release


def give(address: str, relation: str = VIEW) -> None:
    for text in (
        "grant usage on schema kept to analyst, guest",
        f"comment on {'view' if relation == VIEW else 'table'} {relation} is 'it''s \\ here, 100%'",
        f"grant select on {relation} to analyst with grant option",
        f"grant select on {relation} to public",
    ):
        query(address, text)
    query(address, f"grant select on {relation} to guest", "analyst")


@pytest.mark.parametrize("columns", [COLUMNS, OTHER], ids=["same", "other"])
def test_a_new_release_keeps_comments_and_grants(address: str, columns: Any) -> None:
    run(given(grant="reader"), address)
    for relation in (VIEW, f"{VIEW}_manifest"):
        give(address, relation)
    query(address, f"comment on column {VIEW}.age is 'in years'")
    query(address, f"grant select (ill, age) on {VIEW} to guest")
    given_before = [grants(address, r) for r in (VIEW, f"{VIEW}_manifest")]
    assert len(given_before[0]) == 6
    run(given(columns, grant="reader"), address)
    assert [grants(address, r) for r in (VIEW, f"{VIEW}_manifest")] == given_before
    assert comments(address)[0] == (0, "it's \\ here, 100%")
    assert comments(address)[1][1] == "in years"
    assert comments(address, f"{VIEW}_manifest") == [(0, "it's \\ here, 100%")]
    assert query(address, f"select count(*) from {VIEW}", "guest") == [(len(ROWS),)]


def test_only_what_the_last_run_granted_is_taken_back(address: str) -> None:
    run(given(grant=("reader", "guest")), address)
    query(address, f"grant select on {VIEW} to analyst")
    run(given(grant="guest"), address)
    assert [role for _, role, *_ in grants(address)] == ["analyst", "guest"]
    run(given(OTHER), address)
    assert [role for _, role, *_ in grants(address)] == ["analyst"]


def test_default_privileges_do_not_change_a_release_again(address: str) -> None:
    run(given(), address)
    query(address, "alter default privileges in schema kept grant select on tables to guest")
    for columns in (COLUMNS, OTHER):
        run(given(columns), address)
        for relation in (VIEW, f"{VIEW}_manifest"):
            assert grants(address, relation) == []


def test_readers_see_the_release_that_a_member_of_its_owner_makes_again(address: str) -> None:
    query(address, "create schema kept authorization owner")
    query(address, "grant usage, create on schema kept to maker")
    query(address, "grant usage on schema kept to reader")
    query(address, "grant select on people to owner")
    run(given(grant="reader"), as_role(address, "owner"))
    query(address, "grant owner to maker")
    run(given(grant="reader"), as_role(address, "maker"))
    query(address, "revoke owner from maker")
    assert query(address, f"select count(*) from {VIEW}", "reader") == [(len(ROWS),)]


def test_a_refused_release_changes_no_grant(address: str) -> None:
    run(given(grant="reader"), address)
    give(address)
    before = grants(address), comments(address)
    too_much = {"role": "sensitive", "protect": {"l_diversity": 60}}
    with pytest.raises(AnonymizerError):
        run(given({**COLUMNS, "ill": too_much}), address)
    assert (grants(address), comments(address)) == before
