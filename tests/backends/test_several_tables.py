"""Several tables on Postgres: the rows, checks and figures of DuckDB."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.compile import quote
from anonymizer.errors import AnonymizerError, PolicyError
from tests.backends.several import (
    CASES,
    SEEDS,
    Source,
    of_hospital,
    of_schema,
    outcome,
    published,
    same_checks,
    with_lifted,
)
from tests.backends.tables import load, plain, query
from tests.cli.conftest import Call, call
from tests.schema import hospital
from tests.schema.random_schemas import draw
from tests.selection import some

__all__ = ["call"]

pytestmark = pytest.mark.postgres

PLACE = "public.{}"


def loaded(address: str, source: Source) -> None:
    """The tables on the server, where nothing is published."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for schema in ("published", "main", "_anonymizer"):
            connection.execute(f"drop schema if exists {schema} cascade")
    for name, types in source.types.items():
        load(address, types, source.rows[name], name)


def same_as_duckdb(source: Source, folder: Path, address: str) -> None:
    """The release of the server has the rows, in their order, and the figures of DuckDB."""
    _, here = outcome(source.policy, folder, source.written(folder))
    loaded(address, source)
    policy, there = outcome(source.placed(PLACE), folder, address)
    if isinstance(here, str) or isinstance(there, str):
        assert here == there
        return
    for name, rows in published(folder / "release.duckdb", here).items():
        view = hospital.place(there.tables.get(name, there.view))
        assert plain(query(address, f"select * from {view}")) == plain(rows), name
    same_checks(here, there)
    assert anonymizer.verify(policy, address).passed


@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_of_duckdb(postgres: str, tmp_path: Path, case: str) -> None:
    same_as_duckdb(of_hospital(CASES[case]), tmp_path, postgres)


def test_columns_of_persons(postgres: str, tmp_path: Path) -> None:
    same_as_duckdb(with_lifted(), tmp_path, postgres)


@some(5, 10)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_schemas(postgres: str, tmp_path: Path, seed: int) -> None:
    schema = draw(seed)
    schema.write(tmp_path).unlink()  # (for the files of hierarchies)
    same_as_duckdb(of_schema(schema), tmp_path, postgres)


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
    source = of_hospital({"ledger": "here.duckdb"}, rows)
    here = ledger_problems(source.policy, tmp_path, source.written(tmp_path), (1, 2))
    loaded(postgres, source)
    server = of_hospital({"ledger": "there.duckdb"}).placed(PLACE)
    assert ledger_problems(server, tmp_path, postgres, (1, 2)) == here


def test_commands(call: Call, postgres: str, tmp_path: Path) -> None:
    source = of_hospital({"engine": "postgres"})
    loaded(postgres, source)
    policy = Policy.model_validate(source.placed(PLACE))
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
    given = of_hospital({"tables.visits.columns.cost": dict(described)}).placed(PLACE)
    with pytest.raises(PolicyError) as caught:
        anonymizer.plan(Policy.model_validate(given), postgres)
    assert [problem.path for problem in caught.value.problems] == [path]
