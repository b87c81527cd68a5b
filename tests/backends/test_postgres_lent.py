"""What a run on Postgres lends to the database beside it: codes, never values."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.compile import Table, ident
from anonymizer.engines.base import Limits
from anonymizer.engines.postgres import handover
from anonymizer.errors import EngineError
from tests import runs
from tests.backends.tables import (
    embedded,
    load,
    on_duckdb,
    on_postgres,
    policy,
    query,
    same_release,
)
from tests.backends.test_matrix import ROWS, TABLE, TYPES, asked

pytestmark = pytest.mark.postgres

CUTS = {"coarse_cuts", "leaves_of_cuts", "positions", "tuples", "units"}
RULES = {"cells_1", "cells_2", "reference_1", "reference_2"}
LENT = {
    ("danonyir", "persons, codes and days"): {
        *("holdings", "positions", "units", "value_pairs", "value_sets"),
    },
    ("danonyir", "persons, five columns"): {"positions", "units"},
    ("mondrian, parts of 300", "two rules"): {*CUTS, *RULES, "domain_1", "domain_2"},
    ("lgb, parts of 300", "five columns"): CUTS,
    ("msb", "levels first"): {"msb_buckets"},
}
"""Policies, and the tables that they lend; domains go without their values."""


@pytest.mark.parametrize(("algorithm", "variant"), LENT)
def test_no_value_leaves_the_server(
    postgres: str, monkeypatch: pytest.MonkeyPatch, algorithm: str, variant: str
) -> None:
    load(postgres, TYPES, ROWS, TABLE)
    seen: dict[str, list[tuple[Any, ...]]] = {}
    taken = handover.take

    def take(engine: Any, home: Any, table: Table, columns: Any, where: str) -> None:
        taken(engine, home, table, columns, where)
        seen[table.name] = home.raw(f"from {ident(table)}", "test")

    monkeypatch.setattr(handover, "take", take)
    anonymizer.run(asked(algorithm, variant), postgres, seed=7)
    assert seen.keys() == LENT[algorithm, variant]
    for name, rows in seen.items():
        for value in (value for row in rows for value in row):
            # (bits are texts of digits)
            assert not isinstance(value, str) or set(value) <= {"0", "1"}, name
            assert not isinstance(value, dt.date | Decimal), name


POPULATION = {"k_anonymity": 3, "k_map": {"k": 5, "population": {"table": "everybody"}}}
CASES: dict[str, dict[str, Any]] = {
    "seeds": {"algorithm": {"name": "lgb", "generalization": "ncp"}},
    "a population": {"algorithm": {"name": "mondrian"}, "privacy": POPULATION},
    "numbers to protect": {"algorithm": {"name": "mondrian"}, "protect": {"l_diversity": 3}},
}


@pytest.mark.parametrize("case", CASES)
def test_parts_beside_a_server_are_those_of_duckdb(postgres: str, case: str) -> None:
    given = dict(CASES[case])
    protect = given.pop("protect", None)
    value = {"role": "sensitive", "protect": protect} if protect else {"role": "quasi"}
    columns = {"age": {"role": "quasi"}, "code": {"role": "quasi"}, "value": value}
    if case == "a population":
        del columns["code"]
    made = policy(
        columns,
        TYPES,
        TABLE,
        publish={"name": "released"},
        **{**given, "algorithm": {**given["algorithm"], "part_size": 300}},
    )
    for table in (TABLE, "everybody"):
        load(postgres, TYPES, ROWS, table)
    with embedded(TYPES, ROWS, TABLE) as connection:
        runs.fill(connection, TYPES, ROWS, "everybody")
        here = on_duckdb(made, connection)
        same_release(on_postgres(made, postgres), postgres, here)


def test_what_does_not_fit_leaves_the_old_release(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    load(postgres, TYPES, ROWS, TABLE)
    given = asked("danonyir", "persons, five columns")
    anonymizer.run(given, postgres, seed=7)
    before = query(postgres, "select * from main.released")
    with pytest.raises(EngineError, match="memory limit was reached"):
        anonymizer.run(given, postgres, seed=8, limits=Limits(memory="1MB", threads=1))
    assert query(postgres, "select * from main.released") == before
    assert anonymizer.verify(given, postgres).passed
    assert not list(tmp_path.glob("anonymizer-*"))
