"""Names of releases that stand beside each other: what is one's own is no other's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.errors import NothingToCheckError, TargetError
from tests import runs
from tests.selection import some

PEOPLE = [(i, 20 + i % 5, ("flu", "cold")[i % 2]) for i in range(40)]
COLUMNS: dict[str, Any] = {
    "id": "drop",
    "age": "quasi",
    "disease": {"role": "sensitive", "protect": {"l_diversity": 2}},
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    types = {"id": "integer", "age": "integer", "disease": "varchar"}
    return runs.source(tmp_path, types, PEOPLE)


@some(1)
@pytest.mark.parametrize("place", [{"database": "release.duckdb"}, {"database": None}])
@pytest.mark.parametrize(
    ("first", "second"), [("r", "r_manifest"), ("r_manifest", "r"), ("r", "R_Manifest")]
)
def test_a_release_is_not_named_like_the_manifest_of_another(
    tmp_path: Path, database: Path, place: dict[str, Any], first: str, second: str
) -> None:
    def given(name: str) -> Any:
        return runs.policy(tmp_path, COLUMNS, k=3, publish={**place, "name": name})

    runs.run(given(first), database)
    with pytest.raises(TargetError, match="of the release main"):
        runs.run(given(second), database)
    assert runs.run(given(first), database, seed=2).verification.passed


def test_a_table_of_sensitive_values_is_no_name_for_another(tmp_path: Path, database: Path) -> None:
    def given(name: str) -> Any:
        return runs.policy(
            tmp_path, COLUMNS, k=None, algorithm={"name": "msb"}, publish={"name": name}
        )

    runs.run(given("r"), database)
    with pytest.raises(TargetError, match=r"r_disease is a table of the release main\.r"):
        runs.run(given("r_disease"), database)


@some(1)
@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000]
)
def test_a_manifest_that_is_nested_for_ever_is_told(
    tmp_path: Path, database: Path, content: str
) -> None:
    import anonymizer

    given = runs.policy(tmp_path, COLUMNS, k=3)
    runs.run(given, database)
    with duckdb.connect(str(tmp_path / "release.duckdb")) as connection:
        connection.execute("update people_anonymous_manifest set manifest = ?", [content])
    for policy in (given, None):
        with pytest.raises(NothingToCheckError, match="cannot be read"):
            anonymizer.verify(policy, tmp_path / "release.duckdb")
