"""Several tables on a server: the rows, checks and figures of DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.compile import quote
from tests.backends.tables import close, load, query
from tests.schema import hospital

pytestmark = pytest.mark.postgres

COARSE = {"privacy.k_anonymity": 6}
CASES: dict[str, Mapping[str, Any]] = {
    "one event": {},
    "no event": {"privacy.knows.events": 0},
    "two events": {"privacy.knows.events": 2, "publish.suppression_limit.rows": 1},
}


def loaded(address: str, rows: hospital.Tables) -> None:
    for name, listed in rows.items():
        load(address, hospital.TYPES[name], listed, name)


def on_server(changes: Mapping[str, Any], *drop: str) -> dict[str, Any]:
    """The policy over the tables of the server, with its release beside them."""
    tables = {f"tables.{name}.source.table": f"public.{name}" for name in hospital.TYPES}
    return hospital.given({**changes, **tables}, "publish.database", *drop)


@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_of_duckdb(postgres: str, tmp_path: Path, case: str) -> None:
    rows = hospital.tables()
    source = hospital.write(tmp_path / "source.duckdb", rows)
    here = hospital.run(hospital.policy(tmp_path, CASES[case]), source, seed=7)
    loaded(postgres, rows)
    policy = anonymizer.SchemaPolicy.model_validate(on_server(CASES[case]))
    there = anonymizer.run(policy, postgres, seed=7, engine="postgres")
    published = hospital.released(tmp_path / "release.duckdb", *here.tables.values())
    for name, view in there.tables.items():
        found = query(postgres, f"select * from {'.'.join(map(quote, view.split('.')))}")
        assert found == [tuple(row.values()) for row in published[here.tables[name]]], name
    checks = [(c.name, c.column, c.achieved) for c in there.verification.checks]
    assert checks == [(c.name, c.column, c.achieved) for c in here.verification.checks]
    for name, value in there.measures.items():
        assert name.startswith("seconds") or close(value, here.measures[name]), name
    assert anonymizer.verify(policy, postgres).passed
