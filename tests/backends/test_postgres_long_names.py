"""Names that are longer than Postgres keeps: none is cut off, so that no two become one."""

from __future__ import annotations

from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import PolicyError
from tests.backends.tables import query

pytestmark = pytest.mark.postgres

ID, AGE, ZIP = "i" * 57 + "_id", "a" * 59 + "y", "a" * 59 + "z"
"""With a prefix of the tool's, the second and the third would be cut to one name."""
HIERARCHY = {"builder": "on_the_fly"}


@pytest.fixture(scope="module")
def address(postgres: str) -> str:
    query(postgres, "drop schema if exists long cascade")
    query(postgres, "create schema long")
    query(
        postgres,
        f'create table long.people as select i / 2 as "{ID}", i % 7 as "{AGE}", i % 11 as "{ZIP}",'
        " case when i % 9 > 0 then i % 2 = 0 end as hide, 'v' || i % 5 as ill"
        " from generate_series(1, 120) i",
    )
    return postgres


def given(columns: dict[str, dict[str, Any]], **rest: Any) -> Policy:
    every: dict[str, dict[str, Any]] = {
        ID: {"role": "identifier"},
        AGE: {"role": "quasi"},
        ZIP: {"role": "quasi"},
        "hide": {"role": "drop"},
        "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    }
    every = {name: {**column, **columns.get(name, {})} for name, column in every.items()}
    return Policy.model_validate(
        {
            "version": 1,
            "engine": "postgres",
            "source": {"table": "long.people"},
            "columns": every,
            "privacy": {"k_anonymity": 3},
            "suppression_limit": 0.5,
            "publish": {"name": "out", "schema": "long", **rest.pop("publish", {})},
            **rest,
        }
    )


def test_figures_of_columns_keep_their_whole_names(address: str) -> None:
    hierarchies = {AGE: {"hierarchy": HIERARCHY}, ZIP: {"hierarchy": HIERARCHY}}
    made = anonymizer.run(given(hierarchies, algorithm={"name": "full_domain"}), address, seed=7)
    levels = {name for name in made.measures if name.startswith("level.")}
    assert levels == {f"level.{AGE}", f"level.{ZIP}"}
    # the warning about repeated numbers of persons
    assert any(f"columns.{ID}: 61 values in 120 rows" in said for said in made.warnings)


@pytest.mark.parametrize(
    ("publish", "path"),
    [
        ({"cells": "typed"}, f"columns.{AGE}"),
        ({"rename": {"ill": "é" * 40}}, "publish.rename.ill"),
    ],
)
def test_a_published_name_that_is_too_long_is_refused(
    address: str, publish: dict[str, Any], path: str
) -> None:
    with pytest.raises(PolicyError, match="which is too long") as refused:
        anonymizer.run(given({}, publish=publish), address, seed=7)
    problem = refused.value.problems[0]
    assert problem.path == path
    assert problem.allowed == "63 bytes"
    assert "rename" in (problem.hint or "")
