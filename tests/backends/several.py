"""Several tables on DuckDB and on another engine, from the same rows and the same policy."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError
from anonymizer.release.published import Release
from tests import runs
from tests.backends.tables import close
from tests.schema import hospital
from tests.schema.random_schemas import AMONG, BUILT, FURTHER, RULED, Schema

CASES: dict[str, Mapping[str, Any]] = {
    "one event": {},
    "no event": {"privacy.knows.events": 0},
    "two events": {"privacy.knows.events": 2},
    "rows": {"privacy.knows.rows": True, "suppression_limit": 1},
}
SEEDS = [start + n for n in range(15) for start in (0, FURTHER, AMONG, BUILT, RULED)]
LIFTED = {"role": "quasi", "of": "person"}


@dataclass(frozen=True)
class Source:
    """Tables with their types and rows, and a policy over them."""

    types: Mapping[str, Mapping[str, str]]
    rows: Mapping[str, Sequence[Sequence[Any]]]
    policy: dict[str, Any]

    def written(self, folder: Path) -> Path:
        """The tables in a DuckDB file."""
        path = folder / "source.duckdb"
        with duckdb.connect(str(path), config={"threads": 1}) as connection:
            for name, types in self.types.items():
                runs.fill(connection, types, self.rows[name], name)
        return path

    def placed(self, place: str) -> dict[str, Any]:
        """The policy over tables of another engine, with its release beside them.

        `place`: where a table is, as in `public.{}`.
        """
        made = copy.deepcopy(self.policy)
        made["publish"].pop("database")
        for name, table in made["tables"].items():
            table["source"] = {"table": place.format(name)}
        return made


def of_hospital(changes: Mapping[str, Any], rows: hospital.Tables | None = None) -> Source:
    return Source(hospital.TYPES, rows or hospital.tables(), hospital.given(changes))


def of_schema(schema: Schema) -> Source:
    types = {}
    for table in schema.tables.values():
        keys = [key for key in (table.key, table.link) if key is not None]
        types[table.name] = dict.fromkeys(keys, schema.key_type) | {
            column.name: column.sql_type for column in table.columns
        }
    rows = {
        name: [tuple(row[column] for column in types[name]) for row in table.rows]
        for name, table in schema.tables.items()
    }
    return Source(types, rows, schema.policy)


def with_lifted() -> Source:
    """The ward of the visits is that of the person, whose last visits have none."""
    rows = hospital.tables()
    wards = {number: hospital.WARDS[number % 3] for _, number, *_ in rows["visits"]}
    visits = [
        (visit, number, day, wards[number], *rest)
        for visit, number, day, _, *rest in rows["visits"]
    ]
    given = hospital.given({"tables.visits.columns.ward": LIFTED})
    return Source(hospital.TYPES, {**rows, "visits": visits}, given)


def outcome(given: dict[str, Any], folder: Path, database: Any) -> tuple[Policy, Release | str]:
    """The policy, and its release or the reasons of the refusal."""
    policy = Policy.model_validate(given, context={"base": folder})
    try:
        return policy, anonymizer.run(policy, database, seed=7, limits=runs.THRIFTY)
    except AnonymizerError as error:
        return policy, str(error)


def same_checks(here: Release, there: Release) -> None:
    """Both releases have the same checks and measures."""
    checks = [(c.name, c.column) for c in here.verification.checks]
    assert [(c.name, c.column) for c in there.verification.checks] == checks
    for one, other in zip(here.verification.checks, there.verification.checks, strict=True):
        assert close(one.achieved, other.achieved), one.name
    for name, value in there.measures.items():
        assert name.startswith("seconds") or close(value, here.measures[name]), name


def published(file: Path, release: Release) -> dict[str, list[tuple[Any, ...]]]:
    """The published rows of every table of a file, or of the only one."""
    views = release.tables or {"patients": release.view}
    with duckdb.connect(str(file), read_only=True) as connection:
        return {
            name: connection.execute(f"from {hospital.place(view)}").fetchall()
            for name, view in views.items()
        }
