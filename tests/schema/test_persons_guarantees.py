"""Guarantees that tell persons from rows: the search keeps them, not only the verifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import SchemaPolicy
from anonymizer.errors import InfeasibleError
from anonymizer.release.published import Release
from tests.selection import some

PERSONS = 20


@pytest.fixture
def source() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(
            "create table patients as select i as id, i % 11 as age,"
            f" ['a', 'b', 'c'][1 + i % 3] as ill from range({PERSONS}) t(i)"
        )
        connection.execute(
            f"create table visits as select i % {PERSONS} as id, i % 3 as ward,"
            " ['x', 'y', 'z'][1 + i % 3] as dx from range(40) t(i)"
        )
        yield connection


def policy(privacy: Mapping[str, Any], protect: Mapping[str, Any] | None = None) -> SchemaPolicy:
    ill: dict[str, Any] = {"role": "sensitive"}
    if protect is not None:
        ill["protect"] = protect
    return SchemaPolicy.model_validate(
        {
            "version": 1,
            "person": "patients",
            "tables": {
                "patients": {
                    "source": {"table": "patients"},
                    "key": "id",
                    "columns": {"id": {"role": "key"}, "age": {"role": "quasi"}, "ill": ill},
                },
                "visits": {
                    "source": {"table": "visits"},
                    "links": {"id": "patients"},
                    "columns": {
                        "id": {"role": "key"},
                        "ward": {"role": "event"},
                        "dx": {"role": "sensitive"},
                    },
                },
            },
            "privacy": {"k_anonymity": 2, **privacy},
            "publish": {"prefix": "anonymous_"},
        }
    )


def run(source: duckdb.DuckDBPyConnection, given: SchemaPolicy) -> Release:
    return anonymizer.run(given, source, seed=1)


@some(1)
@pytest.mark.parametrize("knows", [{}, {"knows": {"events": 1}}])
@pytest.mark.parametrize("asked", [{"ir_k": 4}, {"ir_kl": {"k": 4, "l": 2}}])
def test_classes_are_as_large_as_the_largest_k(
    source: duckdb.DuckDBPyConnection, asked: dict[str, Any], knows: dict[str, Any]
) -> None:
    assert run(source, policy(asked | knows)).measures["class_min"] >= 4


def test_a_column_of_the_persons_may_ask_for_reasoning_sets(
    source: duckdb.DuckDBPyConnection,
) -> None:
    made = run(source, policy({}, {"eir_l": 3}))
    assert made.verification.passed
    assert made.measures["class_min"] < PERSONS


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (policy({"ir_k": 30}), "privacy.ir_k"),
        (policy({"alpha_k": {"alpha": 0.9, "k": 30}}), "privacy.alpha_k"),
        (policy({}, {"eir_l": 4}), "tables.patients.columns.ill"),
    ],
)
def test_what_no_class_can_hold_is_told_before(
    source: duckdb.DuckDBPyConnection, given: SchemaPolicy, path: str
) -> None:
    with pytest.raises(InfeasibleError) as refused:
        run(source, given)
    assert path in [problem.path for problem in refused.value.problems]
