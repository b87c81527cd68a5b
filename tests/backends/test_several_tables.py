"""Several tables on Postgres: the rows, checks and figures of DuckDB."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.compile import quote
from anonymizer.errors import AnonymizerError, PolicyError
from anonymizer.release.published import Release
from tests import runs
from tests.backends.tables import close, load, plain, query
from tests.cli.conftest import Call, call
from tests.schema import hospital
from tests.schema.random_schemas import AMONG, BUILT, FURTHER, RULED, draw
from tests.selection import some

__all__ = ["call"]

pytestmark = pytest.mark.postgres

CASES: dict[str, Mapping[str, Any]] = {
    "one event": {},
    "no event": {"privacy.knows.events": 0},
    "two events": {"privacy.knows.events": 2},
    "rows": {"privacy.knows.rows": True, "suppression_limit": 1},
}
SEEDS = [start + n for n in range(15) for start in (0, FURTHER, AMONG, BUILT, RULED)]


def placed(given: dict[str, Any]) -> dict[str, Any]:
    """The policy over tables of the server, with its release beside them."""
    made = copy.deepcopy(given)
    made["publish"].pop("database")
    for name, table in made["tables"].items():
        table["source"] = {"table": f"public.{name}"}
    return made


def emptied(address: str) -> None:
    """What earlier tests published is gone."""
    with psycopg.connect(address, autocommit=True) as connection:
        for schema in ("published", "main", "_anonymizer"):
            connection.execute(f"drop schema if exists {schema} cascade")


def loaded(address: str, rows: hospital.Tables) -> None:
    emptied(address)
    for name, listed in rows.items():
        load(address, hospital.TYPES[name], listed, name)


def views(release: Release) -> dict[str, str]:
    """The published tables, each as SQL."""
    return {name: hospital.place(view) for name, view in release.tables.items()}


def same(here: Release, file: Path, there: Release, address: str) -> None:
    """Both releases have the same rows in the same order, and the same checks and measures."""
    with duckdb.connect(str(file), read_only=True) as connection:
        for name, view in views(here).items():
            mine = plain(connection.execute(f"from {view}").fetchall())
            assert plain(query(address, f"select * from {views(there)[name]}")) == mine, name
    checks = [(c.name, c.column) for c in here.verification.checks]
    assert [(c.name, c.column) for c in there.verification.checks] == checks
    for one, other in zip(here.verification.checks, there.verification.checks, strict=True):
        assert close(one.achieved, other.achieved), one.name
    for name, value in there.measures.items():
        assert name.startswith("seconds") or close(value, here.measures[name]), name


@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_of_duckdb(postgres: str, tmp_path: Path, case: str) -> None:
    rows = hospital.tables()
    source = hospital.write(tmp_path / "source.duckdb", rows)
    here = hospital.run(hospital.policy(tmp_path, CASES[case]), source, seed=7)
    loaded(postgres, rows)
    policy = Policy.model_validate(placed(hospital.given(CASES[case])))
    there = anonymizer.run(policy, postgres, seed=7)
    same(here, tmp_path / "release.duckdb", there, postgres)
    assert anonymizer.verify(policy, postgres).passed


@some(5, 70)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_schemas(postgres: str, tmp_path: Path, seed: int) -> None:
    schema = draw(seed)
    source = schema.write(tmp_path)
    emptied(postgres)
    for table in schema.tables.values():
        keys = [key for key in (table.key, table.link) if key is not None]
        types = dict.fromkeys(keys, schema.key_type)
        types |= {column.name: column.sql_type for column in table.columns}
        load(postgres, types, [tuple(row[n] for n in types) for row in table.rows], table.name)

    def outcome(given: dict[str, Any], database: Any) -> tuple[Policy, Release | None, str]:
        policy = Policy.model_validate(given, context={"base": tmp_path})
        try:
            return policy, anonymizer.run(policy, database, seed=7, limits=runs.THRIFTY), ""
        except AnonymizerError as error:
            return policy, None, str(error)

    _, here, refused = outcome(schema.policy, source)
    policy, there, said = outcome(placed(schema.policy), postgres)
    assert said == refused
    if here is not None and there is not None:
        same(here, tmp_path / "release.duckdb", there, postgres)
        assert anonymizer.verify(policy, postgres).passed


def ledger_problems(
    given: dict[str, Any], folder: Path, database: Any, seeds: Iterable[int]
) -> Sequence[str]:
    """What every release in turn is refused for; empty where it was published."""
    found = []
    for seed in seeds:
        publish = dict(given["publish"])
        if "database" in publish:
            publish["database"] = f"release{seed}.duckdb"
        policy = Policy.model_validate({**given, "publish": publish}, context={"base": folder})
        try:
            anonymizer.run(policy, database, seed=seed)
            found.append("")
        except AnonymizerError as error:
            found.append(str(error).replace(f"release{seed}", "release"))
    return found


@pytest.mark.parametrize("persons", [60, 24])
def test_a_ledger_compares_releases_of_several_tables(
    postgres: str, tmp_path: Path, persons: int
) -> None:
    rows = hospital.tables(persons) if persons == 60 else hospital.alike(persons, visits=2)
    given = hospital.given({"privacy.knows.events": 1, "ledger": "here.duckdb"})
    source = hospital.write(tmp_path / "source.duckdb", rows)
    here = ledger_problems(given, tmp_path, source, (1, 2))
    loaded(postgres, rows)
    server = placed(hospital.given({"privacy.knows.events": 1, "ledger": "there.duckdb"}))
    assert ledger_problems(server, tmp_path, postgres, (1, 2)) == here


def test_commands(call: Call, postgres: str, tmp_path: Path) -> None:
    loaded(postgres, hospital.tables())
    policy = Policy.model_validate(placed(hospital.given({"engine": "postgres"})))
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy.to_dict()), encoding="utf-8")
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "release.duckdb"
    for arguments in (("plan",), ("run",), ("verify",), ("export", "-o", str(target))):
        verb, *rest = arguments
        done = call(verb, str(file), "--database", postgres, *rest)
        assert done.code == 0, done.err
    done = call("verify", "--database", str(target))
    assert done.code == 0, done.out + done.err
    with duckdb.connect(str(target), read_only=True) as connection:
        for name in hospital.TYPES:
            ((rows,),) = query(postgres, f"select count(*) from main.{quote(name)}")
            assert connection.execute(f"select count(*) from {name}").fetchall() == [(rows,)]


@pytest.mark.parametrize(
    ("described", "path"),
    [
        ({"role": "top_code", "at_least": 5}, "tables.visits.columns.cost.at_least"),
        (
            {"role": "sensitive", "top_code": {"at_least": 5}},
            "tables.visits.columns.cost.top_code.at_least",
        ),
        ({"role": "token", "format": "like"}, "tables.visits.columns.cost.format"),
    ],
)
def test_what_is_missing_is_named_with_its_table(
    postgres: str, described: Mapping[str, Any], path: str
) -> None:
    given = placed(hospital.given({"tables.visits.columns.cost": dict(described)}))
    with pytest.raises(PolicyError) as caught:
        anonymizer.plan(Policy.model_validate(given), postgres)
    assert [problem.path for problem in caught.value.problems] == [path]
