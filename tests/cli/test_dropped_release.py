"""A release that is dropped: all of it, and nothing of others."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import NothingToCheckError
from anonymizer.run.clean import drop_release
from tests import runs
from tests.cli.conftest import Call

COLUMNS = {"age": "quasi", "town": "quasi", "disease": "sensitive"}


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Policy]:
    """Two releases beside their source, and the policy of the second."""
    rows = [(20 + i % 9, "abc"[i % 3], ("flu", "cold")[i % 2]) for i in range(90)]
    types = {"age": "INTEGER", "town": "VARCHAR", "disease": "VARCHAR"}
    database = runs.source(tmp_path, types, rows)
    policies = [
        runs.policy(tmp_path, COLUMNS, 5, publish={"name": name, "database": None})
        for name in ("old_one", "new_one")
    ]
    for policy in policies:
        anonymizer.run(policy, database)
    return database, policies[1]


def names(database: Path) -> set[str]:
    with duckdb.connect(str(database), read_only=True) as connection:
        return {row[0] for row in connection.execute("select table_name from duckdb_tables() union"
            " select view_name from duckdb_views() where not internal").fetchall()}  # fmt: skip


@pytest.mark.parametrize(
    "before", [(), ("drop view old_one",), ("drop view old_one", "drop table old_one_manifest")]
)
def test_nothing_of_it_is_left_and_the_other_stands(
    two: tuple[Path, Policy], before: tuple[str, ...], call: Call
) -> None:
    """Also where somebody has dropped what is seen of it: the record would name it for ever."""
    database, policy = two
    with duckdb.connect(str(database)) as connection:
        for text in before:
            connection.execute(text)
    if before[1:]:
        said = call("verify", "--database", str(database))
        assert said.code == 2
        assert "anonymizer clean --drop old_one" in said.err
    done = call("clean", "--database", str(database), "--drop", "old_one")
    assert done.code == 0, done.err
    assert not [name for name in names(database) if "old_one" in name]
    assert not [*database.parent.glob("old_one*")]
    assert anonymizer.verify(policy, database).passed
    assert call("verify", "--database", str(database)).code == 0
    with pytest.raises(NothingToCheckError, match="allowed: new_one"):
        drop_release(database, "old_one")


def test_what_somebody_put_in_its_place_stays(two: tuple[Path, Policy]) -> None:
    database, _ = two
    with duckdb.connect(str(database)) as connection:
        connection.execute("drop view old_one")
        connection.execute("create table old_one as select 1 as mine")
    drop_release(database, "main.old_one")
    assert {name for name in names(database) if "old_one" in name} == {"old_one"}
