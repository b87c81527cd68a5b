"""Bad input on Postgres: one clear message, exit code 2, no value and no word of the server's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.compile import dialect as base
from anonymizer.engines.postgres import dialect
from anonymizer.errors import RegistryError
from tests.backends.tables import PEOPLE, load, people, policy, query
from tests.cli.conftest import Call, call

__all__ = ["call"]

pytestmark = pytest.mark.postgres

COLUMNS: dict[str, Any] = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}


@pytest.fixture(scope="module")
def address(postgres: str) -> str:
    load(postgres, PEOPLE, people(40), "people")
    return postgres


def anonymize(
    call: Call, folder: Path, address: str, **given: Any
) -> tuple[int, list[dict[str, str]]]:
    file = folder / "policy.json"
    whole = {**policy(COLUMNS, engine="postgres").to_dict(), **given}
    file.write_text(json.dumps(whole))
    done = call("run", str(file), "--database", address, "--format", "json", "--quiet")
    return done.code, done.json.get("errors", [])


BAD: dict[str, tuple[Callable[[str], str], dict[str, Any], str, str]] = {
    "no server": (
        lambda a: "postgresql://postgres@127.0.0.1:1/x",
        {},
        "--database",
        "the server cannot be reached",
    ),
    "not an address": (lambda a: "people.duckdb", {}, "--database", "not the address"),
    "no table": (lambda a: a, {"source": {"table": "nothing"}}, "source.table", "is not a table"),
    "another catalog": (
        lambda a: a,
        {"source": {"table": "elsewhere.public.people"}},
        "source.table",
        "another database",
    ),
    "no role": (
        lambda a: a,
        {"publish": {"grant_select": "nobody"}},
        "publish.grant_select",
        "is not a role of this server",
    ),
    "file": (lambda a: a, {"source": {"file": "x.parquet"}}, "source.file", "reads its own tables"),
    "publish elsewhere": (
        lambda a: a,
        {"publish": {"database": "release.duckdb"}},
        "publish.database",
        "not available with the engine postgres",
    ),
    "a query that fails": (
        lambda a: a,
        {"source": {"query": "select 1 / (age - age) as age, zip, ill from people"}},
        "source.query",
        "a number is divided by zero",
    ),
    "long name": (
        lambda a: a,
        {"publish": {"name": "n" * 60}},
        "publish.name",
        "Postgres cuts names off",
    ),
}


@pytest.mark.parametrize("case", list(BAD))
def test_one_clear_message(call: Call, tmp_path: Path, address: str, case: str) -> None:
    place, given, path, says = BAD[case]
    code, errors = anonymize(call, tmp_path, place(address), **given)
    assert code == 2
    assert [error["path"] for error in errors][:1] == [path]
    assert says in errors[0]["message"]
    if case == "a query that fails":
        assert errors[0]["hint"] == "run the query by itself to see why"


def test_a_type_without_equality_is_refused(call: Call, tmp_path: Path, address: str) -> None:
    query(address, "drop table if exists odd")
    query(address, "create table odd as select point(1, 2) as place, 'x'::text as ill")
    code, errors = anonymize(
        call,
        tmp_path,
        address,
        source={"table": "odd"},
        columns={"place": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    )
    assert code == 2
    assert errors[0]["path"] == "columns.place"
    assert "whose equal values may have different texts" in errors[0]["message"]


def test_the_servers_words_are_not_passed_on(call: Call, tmp_path: Path, address: str) -> None:
    query(address, "drop table if exists marked")
    query(address, "create table marked as select 'secret7731'::text as age, 'x'::text as ill")
    code, errors = anonymize(
        call,
        tmp_path,
        address,
        source={"table": "marked"},
        columns={
            "age": {
                "role": "quasi",
                "sensitive_when": "cast(age as integer) > 3",
                "protect": {"l_diversity": 2},
            },
            "ill": {"role": "drop"},
        },
        algorithm={"name": "lgb"},
    )
    assert code == 2
    assert "secret7731" not in json.dumps(errors)
    assert "does not fit" in errors[0]["message"]


def test_the_limit_reaches_the_server_that_holds_a_release(
    call: Call, tmp_path: Path, address: str
) -> None:
    code, errors = anonymize(call, tmp_path, address)
    assert (code, errors) == (0, [])
    for verb, *more in (("verify",), ("lineage",), ("export", "-o", str(tmp_path / "rows.csv"))):
        asked = (verb, str(tmp_path / "policy.json"), "--database", address, *more)
        done = call(*asked, "--memory-limit", "much")
        assert done.code == 2, verb
        assert "--memory-limit" in done.err
        done = call(*asked, "--memory-limit", "64MB", "--threads", "1")
        assert done.code == 0, done.err


def test_a_statement_of_the_tool_that_fails_is_called_a_defect(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without what puts shifts into Postgres' SQL: the policy has no conditions to look at."""
    kept = tuple(rewrite for rewrite in dialect.REWRITES if rewrite is not dialect.shifts)
    monkeypatch.setattr(dialect, "REWRITES", kept)
    load(address, {"cat": "VARCHAR"}, [(f"c{i % 300}",) for i in range(900)], "categories")
    asked = policy({"cat": "quasi"}, {"cat": "VARCHAR"}, "categories", privacy={"k_anonymity": 3})
    base._translated.cache_clear()
    try:
        with pytest.raises(RegistryError, match="a defect of the tool: postgres") as raised:
            anonymizer.run(asked, address, engine="postgres")
    finally:
        base._translated.cache_clear()
    assert raised.value.exit_code == 70
    assert "condition" not in str(raised.value)


def test_a_function_of_a_view_that_finds_nothing_is_the_users(
    call: Call, tmp_path: Path, address: str
) -> None:
    for made in (
        "drop view if exists seen",
        "create or replace function public.helper(x text) returns text language sql as 'select x'",
        "create or replace function public.called(x text) returns text language plpgsql"
        " as 'begin return helper(x); end'",
        "create view seen as select public.called(zip) as age, zip, ill from people",
    ):
        query(address, made)
    code, errors = anonymize(
        call,
        tmp_path,
        address,
        source={"table": "seen"},
        columns={name: {"role": role} for name, role in COLUMNS.items()},
    )
    assert code == 2
    assert "does not fit its operands" in errors[0]["message"]
    assert "functions have to name schemas" in errors[0]["hint"]
