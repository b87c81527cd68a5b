"""On Postgres a table is replaced by its release in one transaction, or stays as it was."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.engines.postgres.workplace import create_record
from anonymizer.errors import AnonymizerError, SourceError, TargetError
from anonymizer.publish.postgres import in_database, replacement
from anonymizer.publish.target import refuse_changed
from anonymizer.run import verbs
from anonymizer.run.job import Job
from tests.backends.tables import PEOPLE, load, people, policy, query

pytestmark = pytest.mark.postgres

ROWS = people(60)
COLUMNS: dict[str, Any] = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}
REPLACE: dict[str, Any] = {"engine": "postgres", "publish": {"replace_source": True}}


@pytest.fixture
def address(postgres: str) -> str:
    query(postgres, "drop schema if exists main cascade")
    query(postgres, "drop schema if exists _anonymizer cascade")
    query(postgres, "drop table if exists public.people_manifest, referenced cascade")
    load(postgres, PEOPLE, ROWS, "people")
    for role in ("clerk", "auditor"):
        if not query(postgres, f"select 1 from pg_roles where rolname = '{role}'"):
            query(postgres, f"create role {role}")
        query(postgres, f"alter role {role} login")
    return postgres


def replacing(columns: Any = COLUMNS, **rest: Any) -> Policy:
    return policy(columns, table="public.people", **{**REPLACE, **rest})


def run(given: Policy, address: str) -> Any:
    return anonymizer.run(given, address, seed=7, replace_source=True)


MADE = {
    "publication": "everything",
    "subscription": "elsewhere",
    "function": "many",
    "table": "album, more",
}
"""What hangs on the table and is not gone with it."""


def columns(address: str) -> list[str]:
    listed = query(
        address,
        "select column_name from information_schema.columns where table_schema = 'public'"
        " and table_name = 'people' order by ordinal_position",
    )
    return [name for (name,) in listed]


def test_the_table_becomes_its_release_with_its_owner_and_grants(address: str) -> None:
    query(address, "grant select on people to clerk")
    query(address, "grant select, delete on people to auditor with grant option")
    before = query(address, "select relowner from pg_class where oid = 'people'::regclass")
    made = run(replacing(), address)
    assert made.verification.passed
    assert columns(address) == ["class_id", "age", "zip", "ill"]
    assert query(address, "select count(*) from people") == [(len(ROWS),)]
    assert query(address, "select count(*) from people", "clerk") == [(len(ROWS),)]
    assert before == query(address, "select relowner from pg_class where oid = 'people'::regclass")
    acl = query(
        address,
        "select pg_get_userbyid(grantee), privilege_type, is_grantable from pg_class,"
        " aclexplode(relacl) where oid = 'people'::regclass and grantee <> relowner order by 1, 2",
    )
    assert acl == [
        ("auditor", "DELETE", True),
        ("auditor", "SELECT", True),
        ("clerk", "SELECT", False),
    ]
    assert anonymizer.verify(replacing(), address).passed
    assert anonymizer.verify(None, address, engine="postgres").passed


def test_masking_alone_replaces_a_table(address: str) -> None:
    given = policy(
        {"person": "token", "age": {"role": "round", "to": 10}, "ill": "keep"},
        table="public.people",
        **{**REPLACE, "algorithm": {"name": "none"}, "privacy": {}},
    )
    made = run(given, address)
    assert made.kind == "pseudonymised"
    assert columns(address) == ["age", "ill", "person"]
    assert query(address, "select count(*) from people where age % 10 <> 0") == [(0,)]
    assert anonymizer.verify(given, address).passed


def test_nothing_happens_without_consent(address: str) -> None:
    with pytest.raises(TargetError, match="nobody has agreed"):
        anonymizer.run(replacing(), address, seed=7)
    assert columns(address) == list(PEOPLE)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("create view grown as select * from people where age > 17", "the view public.grown"),
        ("create materialized view grown as select age from people", "the view public.grown"),
        ("create policy mine on people using (age > 17)", "the policy mine"),
        ("create rule none as on delete to people do instead nothing", "the rule none"),
        ("create table child () inherits (people)", "the table public.child, which inherits"),
        (
            "create subscription elsewhere connection 'host=nowhere' publication gone"
            " with (connect = false, slot_name = none)",
            "the subscription elsewhere",
        ),
        ("alter table people enable row level security", "row security, which is on"),
        ("create publication everything for all tables", "the publication everything"),
        (
            "create function grown_up(people) returns boolean language sql as 'select $1.age > 17'",
            "function public.grown_up",
        ),
        (
            "create function many() returns bigint language sql begin atomic"
            " select count(*) from people; end",
            "function public.many()",
        ),
        ("create table album (of people[])", "column of of table public.album"),
        (
            "create sequence numbers owned by people.age",
            "the default of public.more, by a sequence of the table",
        ),
    ],
)
def test_what_hangs_on_the_table_is_a_reason_to_refuse(
    address: str, statement: str, said: str
) -> None:
    query(address, statement)
    if "sequence" in said:
        query(address, "create table more (n integer default nextval('numbers'))")
    if "subscription" in said:  # as a refresh does, which needs the other server
        query(
            address,
            "insert into pg_subscription_rel (srsubid, srrelid, srsubstate)"
            " select oid, 'people'::regclass, 'r' from pg_subscription",
        )
    try:
        with pytest.raises(TargetError) as caught:
            run(replacing(), address)
        assert said in str(caught.value)
        assert columns(address) == list(PEOPLE)
    finally:
        query(address, "delete from pg_subscription_rel")
        for kind, name in MADE.items():
            query(address, f"drop {kind} if exists {name} cascade")
    left = "select nspname from pg_namespace where nspname like 'anonymizer_run_%'"
    assert query(address, left) == []


KEPT: dict[str, Any] = {**COLUMNS, "born": {"role": "keep", "acknowledge_unique": True}}
"""Of these only `born` keeps its type."""


def test_what_says_nothing_of_the_rows_is_kept(address: str) -> None:
    for text in (
        "alter table people set (fillfactor = 70, toast.autovacuum_enabled = false)",
        "alter table people set unlogged",
        "alter table people replica identity full",
        "alter table people alter born set statistics 7, alter town set statistics 9",
        "comment on table people is 'it''s \\ everybody, 100%'",
        "comment on column people.age is 'in years'",
        "comment on column people.town is 'gone with its column'",
        "grant select (age, town), update (born) on people to clerk with grant option",
    ):
        query(address, text)
    assert run(replacing(columns=KEPT), address).verification.passed
    (of_table,) = query(
        address,
        "select c.reloptions, t.reloptions, c.relpersistence, c.relreplident, c.reltuples"
        " from pg_class c join pg_class t on t.oid = c.reltoastrelid"
        " where c.oid = 'people'::regclass",
    )
    assert of_table == (["fillfactor=70"], ["autovacuum_enabled=false"], "u", "f", len(ROWS))
    of_columns = query(
        address,
        "select attname, attstattarget, attacl::text, col_description(attrelid, attnum)"
        " from pg_attribute where attrelid = 'people'::regclass and attnum > 0 order by attnum",
    )
    assert of_columns == [
        ("class_id", -1, None, None),
        ("age", -1, "{clerk=r*/postgres}", "in years"),
        ("born", 7, "{clerk=w*/postgres}", None),
        ("zip", -1, None, None),
        ("ill", -1, None, None),
    ]
    comment = query(address, "select obj_description('people'::regclass)")
    assert comment == [("it's \\ everybody, 100%",)]
    statistics = query(address, "select count(*) from pg_stats where tablename = 'people'")
    assert statistics == [(5,)]
    assert query(address, "select count(age) > 0 from people", "clerk") == [(True,)]


def test_grants_and_comments_do_not_pass_to_another_column(address: str) -> None:
    """The number of the class takes the name of a column that is dropped."""
    query(address, "grant select (town) on people to clerk")
    query(address, "comment on column people.town is 'where they live'")
    run(replacing(publish={"replace_source": True, "rename": {"class_id": "town"}}), address)
    assert columns(address)[0] == "town"
    found = "select attacl, col_description(attrelid, attnum) from pg_attribute"
    of_column = f"{found} where attrelid = 'people'::regclass and attname = 'town'"
    assert query(address, of_column) == [(None, None)]


def test_a_renamed_column_keeps_its_grants_and_comments(address: str) -> None:
    query(address, "grant select (ill) on people to clerk")
    query(address, "comment on column people.ill is 'diagnosis'")
    run(replacing(publish={"replace_source": True, "rename": {"ill": "disease"}}), address)
    found = query(
        address,
        "select attname, col_description(attrelid, attnum) from pg_attribute"
        " where attrelid = 'people'::regclass and attacl is not null",
    )
    assert found == [("disease", "diagnosis")]


def test_what_is_lost_with_the_table_is_named_with_what_makes_it_again(address: str) -> None:
    for text in (
        "alter table people add constraint grown check (age > -9)",
        "alter table people add constraint alive check (born > '1900-01-01')",
        "create index by_age on people (age)",
        "create index by_birth on people ((born + 1)) where ill <> 'x'",
        "create statistics pair (ndistinct) on born, ill from people",
        "create statistics other (ndistinct) on born, town from people",
        "alter table people alter born set default '2000-01-01', alter town set default 'x'",
        "alter table people add serial serial",
        "update people set ill = 'flu' where ill is null",
        "alter table people alter ill set not null",
    ):
        query(address, text)
    given = replacing(columns={**KEPT, "serial": "drop"}, types={**PEOPLE, "serial": "INTEGER"})
    made = run(given, address)
    lost = (
        "constraints (alive, grown), defaults (born), indexes (public.by_age, public.by_birth),"
        " not null (ill), sequences (public.people_serial_seq), statistics (other, pair)"
    )
    assert f"dropped with all its rows and with {lost}, and its release" in made.replaced[0]
    (found,) = (one for one in made.warnings if "can be made again: " in one)
    statements = found.split("made again: ")[1].split("; ")
    assert [one.split(maxsplit=2)[:2] for one in statements] == [
        ["ALTER", "TABLE"],  # the constraint of births, and their default
        ["ALTER", "TABLE"],
        ["CREATE", "INDEX"],
        ["ALTER", "TABLE"],  # not null
        ["CREATE", "STATISTICS"],
    ]
    for one in statements:
        query(address, one)
    assert anonymizer.verify(given, address).passed


def test_a_superuser_leaves_a_table_to_an_owner_who_may_create_none(address: str) -> None:
    query(address, "alter table people owner to clerk")
    made = run(replacing(publish={"replace_source": True, "grant_select": "clerk"}), address)
    assert not any("can read the source" in one for one in made.warnings)
    owner = "select relowner::regrole::text from pg_class where oid = 'people'::regclass"
    assert query(address, owner) == [("clerk",)]


def test_default_privileges_grant_nothing_on_the_release(address: str) -> None:
    """The grants are those of the table, and no role can read the work tables of a run."""
    query(address, "alter default privileges grant select on tables to clerk, public")
    query(address, "alter default privileges grant usage on schemas to clerk")
    try:
        query(address, "revoke all on people from clerk, public")
        assert run(replacing(), address).verification.passed
    finally:
        query(address, "alter default privileges revoke select on tables from clerk, public")
        query(address, "alter default privileges revoke usage on schemas from clerk")
    acl = "select count(*) from pg_class, aclexplode(relacl) where grantee <> relowner and oid ="
    assert query(address, f"{acl} 'people'::regclass") == [(0,)]
    assert query(address, f"{acl} '_anonymizer.objects'::regclass") == [(0,)]


def test_letters_of_the_name_decide_what_is_dropped(address: str) -> None:
    given = policy(COLUMNS, table="public.PEOPLE", **REPLACE)
    with pytest.raises(TargetError, match=r"source: \{table: public.people\}"):
        run(given, address)


def test_a_name_without_a_schema_is_refused(address: str) -> None:
    given = policy(COLUMNS, **REPLACE)
    with pytest.raises(TargetError, match=r"source: \{table: public.people\}"):
        run(given, address)


def test_rows_that_came_meanwhile_are_not_lost(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = Job._verify

    def later(self: Job, *given: Any) -> Any:
        query(address, "insert into people (age) values (33)")
        return judged(self, *given)

    monkeypatch.setattr(Job, "_verify", later)
    with pytest.raises(SourceError, match="1 row changed while the run was at work"):
        run(replacing(), address)
    assert columns(address) == list(PEOPLE)
    assert query(address, "select count(*) from people") == [(len(ROWS) + 1,)]


def test_rows_that_came_meanwhile_are_seen_whatever_the_role_isolates(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction of repeatable reads would not see them after it has waited for its lock."""

    def later(*given: Any) -> Any:
        query(address, "insert into people (age) values (33)")
        return create_record(*given)

    monkeypatch.setattr(replacement, "create_record", later)
    own = f"{address}?options=-c%20default_transaction_isolation%3Dserializable"
    with pytest.raises(SourceError, match="1 row changed while the run was at work"):
        run(replacing(), own)
    assert query(address, "select count(*) from people") == [(len(ROWS) + 1,)]


@pytest.mark.parametrize("change", ["add more integer default 7", "alter zip type varchar(9)"])
def test_columns_that_came_meanwhile_are_not_lost(
    address: str, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def later(*given: Any) -> Any:
        query(address, f"alter table people {change}")
        return create_record(*given)

    monkeypatch.setattr(replacement, "create_record", later)
    with pytest.raises(SourceError, match="got other columns while the run was at work"):
        run(replacing(), address)
    assert query(address, "select count(*) from people where person >= 0") == [(len(ROWS),)]


@pytest.mark.parametrize("step", ["sealed_in", "enter"])
def test_a_failure_at_the_end_leaves_the_table(
    address: str, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def broken(*given: object, **options: object) -> None:
        raise SourceError([])

    monkeypatch.setattr(replacement, step, broken)
    with pytest.raises(AnonymizerError):
        run(replacing(), address)
    assert columns(address) == list(PEOPLE)
    for name in ("_people_next", "people_manifest"):
        assert query(address, f"select to_regclass('public.{name}')") == [(None,)]


def test_readers_read_until_the_swap_and_writers_wait(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    found: list[Any] = []

    def comparing(*given: Any) -> None:
        found.append(query(address, "select count(*) from people"))
        with pytest.raises(psycopg.errors.LockNotAvailable):
            query(address, "set lock_timeout = '100ms'; delete from people")
        refuse_changed(*given)

    monkeypatch.setattr(replacement, "refuse_changed", comparing)
    run(replacing(), address)
    assert found == [[(len(ROWS),)]]
    assert columns(address) == ["class_id", "age", "zip", "ill"]


# a reader who holds the table


@contextmanager
def holding(address: str, text: str) -> Iterator[int]:
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute(text)
        yield connection.info.backend_pid


@pytest.mark.parametrize(
    "text",
    [
        "select count(*) from people",
        "update people set age = age",
        "select count(*) from referenced",
    ],
)
def test_who_holds_the_table_is_waited_for_and_then_named(
    address: str, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    query(address, "create table referenced (id bigint primary key)")
    query(address, "alter table people add foreign key (person) references referenced not valid")
    monkeypatch.setattr(in_database, "MOMENT", "100ms")
    monkeypatch.setattr(in_database, "PAUSE", 0.05)
    monkeypatch.setattr(in_database, "ATTEMPTS", 3)
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    with holding(address, text) as pid, pytest.raises(TargetError, match="in use by") as caught:
        run(replacing(), address)
    assert f"publish.replace_source: is in use by 1 open transactions (pid {pid})" in str(
        caught.value
    )
    assert pauses == [0.05] * 2
    assert columns(address) == list(PEOPLE)
    assert query(address, "select to_regclass('public.people_manifest')") == [(None,)]
    run(replacing(), address)


def test_a_lock_timeout_of_the_role_is_waited_for_once(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    own = f"{address}?options=-c%20lock_timeout%3D150ms"
    with holding(address, "select 1 from people"), pytest.raises(TargetError, match="in use by"):
        run(replacing(), own)
    assert pauses == []
    assert columns(address) == list(PEOPLE)


# everything at once before anything is read, and again at the end


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise AssertionError("the source was read")

    monkeypatch.setattr(verbs, "read_tables", read)


def test_all_reasons_to_refuse_come_at_once(address: str, unread: None) -> None:
    query(address, "create view grown as select * from people where age > 17")
    query(address, "create table people_manifest (x int)")
    query(address, "alter table people owner to auditor")
    query(address, "grant select on people to clerk")
    with pytest.raises(TargetError) as caught:
        run(replacing(), address.replace("postgres@", "clerk@"))
    assert [(one.path, one.message) for one in caught.value.problems] == [
        ("publish.replace_source", "needs the rights of the table's owner, auditor"),
        (
            "publish.replace_source",
            "leaves the table to its owner, auditor, who may create nothing in its schema",
        ),
        ("publish.replace_source", "something depends on the source table: the view public.grown"),
        (
            "publish.name",
            "public.people_manifest exists, belongs to the role postgres, and was not published by"
            " this one",
        ),
        ("publish.schema", "lets this role create nothing in public"),
    ]


@pytest.mark.parametrize(
    ("place", "moment", "statement", "said"),
    [
        (Job, "_verify", "create table people_manifest (x int)", "people_manifest exists"),
        (Job, "_verify", "create table _people_next (x int)", "_people_next exists"),
        (replacement, "while_unused", "create view grown as table people", "the view public.grown"),
    ],
)
def test_what_hinders_only_at_the_end_is_found_there(
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    place: Any,
    moment: str,
    statement: str,
    said: str,
) -> None:
    original, done = getattr(place, moment), list[Any]()

    def later(*given: Any) -> Any:
        if not done:
            done.append(query(address, statement))
        return original(*given)

    monkeypatch.setattr(place, moment, later)
    try:
        with pytest.raises(TargetError, match=said):
            run(replacing(), address)
    finally:
        query(address, "drop table if exists _people_next")
    assert columns(address) == list(PEOPLE)


# tables that are not ordinary ones

FORMS: dict[str, tuple[str, ...]] = {
    "this is a partitioned table": (
        "alter table people rename to plain",
        "create table people (like plain) partition by list (ill)",
    ),
    "this is a foreign table": (
        "alter table people rename to plain",
        "create extension if not exists file_fdw schema public",
        "create server if not exists files foreign data wrapper file_fdw",
        "create foreign table people (age integer) server files options (program 'seq 60')",
    ),
    "the table public.whole, of which it is a part": (
        "create table whole (like people) partition by list (ill)",
        "alter table whole attach partition people default",
    ),
    "the table public.child, which inherits from it": ("create table child () inherits (people)",),
    "the table public.whole, of which it is a part ": (
        "create table whole (like people)",
        "alter table people inherit whole",
    ),
    "the trigger versioning": (
        "create table people_history (like people)",
        "create or replace function keep_old() returns trigger language plpgsql as"
        " 'begin insert into people_history select old.*; return new; end'",
        "create trigger versioning before update on people"
        " for each row execute function keep_old()",
    ),
}


@pytest.mark.parametrize("said", FORMS)
def test_other_forms_of_tables_are_refused_with_a_way_out(
    address: str, unread: None, said: str
) -> None:
    try:
        for text in FORMS[said]:
            query(address, text)
        with pytest.raises(TargetError, match=said.strip()) as caught:
            run(replacing(), address)
        assert "publish a view: leave replace_source out" in str(caught.value)
    finally:
        query(address, "drop table if exists plain, whole, people_history cascade")
        query(address, "drop foreign table if exists people" if "foreign" in said else "select 1")


def test_a_table_of_versions_is_replaced_with_its_history_left_to_the_user(address: str) -> None:
    query(address, "create extension if not exists btree_gist schema public")
    query(address, "alter table people add valid tstzrange default tstzrange('2020-01-01', null)")
    query(address, "alter table people add id integer generated always as identity")
    query(
        address,
        "alter table people add constraint once exclude using gist (id with =, valid with &&)",
    )
    types = {**PEOPLE, "valid": "tstzrange", "id": "INTEGER"}
    made = run(replacing({**COLUMNS, "valid": "keep", "id": "drop"}, types=types), address)
    assert "constraints (once), defaults (valid)" in made.replaced[0]
    assert not any("made again" in one for one in made.warnings)
    found = query(address, "select distinct pg_typeof(valid)::text, valid from people")
    assert found == [("text", '["2020-01-01 00:00:00+00",)')]
