"""On Postgres a table is replaced by its release in one transaction, or stays as it was."""

from __future__ import annotations

from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError, SourceError, TargetError
from tests.backends.tables import PEOPLE, load, people, policy, query

pytestmark = pytest.mark.postgres

ROWS = people(60)
COLUMNS: dict[str, Any] = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}
REPLACE: dict[str, Any] = {"engine": "postgres", "publish": {"replace_source": True}}


@pytest.fixture
def address(postgres: str) -> str:
    query(postgres, "drop schema if exists main cascade")
    query(postgres, "drop schema if exists _anonymizer cascade")
    query(postgres, "drop table if exists public.people_manifest")
    load(postgres, PEOPLE, ROWS, "people")
    for role in ("clerk", "auditor"):
        if not query(postgres, f"select 1 from pg_roles where rolname = '{role}'"):
            query(postgres, f"create role {role}")
    return postgres


def replacing(**rest: Any) -> Policy:
    return policy(COLUMNS, table="public.people", **{**REPLACE, **rest})


def run(given: Policy, address: str) -> Any:
    return anonymizer.run(given, address, seed=7, replace_source=True)


MADE = {"publication": "everything", "function": "many", "table": "album, more"}
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
        ("grant select (age) on people to clerk", "grants on its column age"),
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
    try:
        with pytest.raises(TargetError) as caught:
            run(replacing(), address)
        assert said in str(caught.value)
        assert columns(address) == list(PEOPLE)
    finally:
        for kind, name in MADE.items():
            query(address, f"drop {kind} if exists {name} cascade")


def test_what_is_lost_with_the_table_is_told(address: str) -> None:
    query(address, "alter table people add constraint grown check (age > -9)")
    query(address, "create index by_age on people (age)")
    query(address, "comment on column people.age is 'in years'")
    lost = "comments on its columns, the constraint grown, the index public.by_age"
    made = run(replacing(), address)
    assert f"dropped with all its rows and with {lost}, and its release" in made.replaced[0]


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
    from anonymizer.run.job import Job

    judged = Job._verify

    def later(self: Job, *given: Any) -> Any:
        query(address, "insert into people (age) values (33)")
        return judged(self, *given)

    monkeypatch.setattr(Job, "_verify", later)
    with pytest.raises(SourceError, match="1 row changed while the run was at work"):
        run(replacing(), address)
    assert columns(address) == list(PEOPLE)
    assert query(address, "select count(*) from people") == [(len(ROWS) + 1,)]


def test_a_failure_at_the_end_leaves_the_table(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymizer.publish.postgres import in_database

    def broken(*given: object, **options: object) -> None:
        raise SourceError([])

    monkeypatch.setattr(in_database, "sealed_in", broken)
    with pytest.raises(AnonymizerError):
        run(replacing(), address)
    assert columns(address) == list(PEOPLE)
    assert query(address, "select to_regclass('public._people_next')") == [(None,)]
