"""Parts of a table within limits: of memory, of names, and of what a part can be."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.compile import SCRATCH
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import CATALOGS
from anonymizer.engines.duckdb.partition_workers import HANDED
from anonymizer.errors import EngineError
from anonymizer.ledger.store import CATALOG as LEDGER
from anonymizer.publish.duckdb.file import BUILT, PREVIOUS
from anonymizer.run.vaults import CATALOG as VAULT
from tests.duckdb.test_parts import TYPES, given, released, table
from tests.runs import THRIFTY, run, source
from tests.selection import some


@pytest.mark.parametrize("name", ["threads", "workers", "memory", "temp_size"])
@pytest.mark.parametrize("given", [0, -1, 1.5, True])
def test_limits_say_what_they_may_be(name: str, given: Any) -> None:
    with pytest.raises(EngineError, match=f"limits.{name}: is not a .*allowed: a "):
        Limits(**{name: given})


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["-1", "2000TB"])
def test_a_table_is_divided_under_any_limit_of_memory(tmp_path: Path, memory: str) -> None:
    """The engine prints these limits in units that it does not read."""
    database = source(tmp_path, TYPES, table(random.Random(4), 300))
    policy = given(tmp_path, {})
    usual, parts = released(policy, database)
    assert parts > 1
    assert released(policy, database, Limits(threads=1, memory=memory)) == (usual, parts)
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"set memory_limit = '{memory}'")
        asked = "select current_setting('memory_limit')"
        before = connection.execute(asked).fetchone()
        assert released(policy, connection, Limits()) == (usual, parts)
        assert connection.execute(asked).fetchone() == before


@pytest.mark.slow
def test_parts_need_little_more_memory_than_one_piece(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, table(random.Random(1), 600))
    _, parts = released(given(tmp_path, {}), database, Limits(threads=2, memory="90MB"))
    assert parts > 1


def test_parts_without_enough_memory_name_part_size(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, table(random.Random(1), 600))
    few = Limits(threads=2, memory="40MB")
    with pytest.raises(EngineError, match=r"memory limit was reached .*part_size: smaller"):
        run(given(tmp_path, {}), database, limits=few)
    assert not (tmp_path / "release.duckdb").exists()


@some(1)
@pytest.mark.parametrize("name", ["anon_part", "ANON_SCRATCH", "anon_vault"])
def test_catalogs_of_a_run_are_not_there_before(tmp_path: Path, name: str) -> None:
    database = source(tmp_path, TYPES, table(random.Random(1), 300))
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"attach ':memory:' as {name}")
        said = f"connection: a catalog named {name.lower()} is attached already .*detach it"
        for policy in (given(tmp_path, {}), given(tmp_path, {}, "all")):
            with pytest.raises(EngineError, match=said):
                run(policy, connection)
        listed = connection.execute("show databases").fetchall()
        assert [found.lower() for (found,) in sorted(listed)] == [name.lower(), "source"]
        connection.execute(f"detach {name}")
        assert released(given(tmp_path, {}), connection, THRIFTY)[1] > 1


def test_every_catalog_of_a_run_is_listed() -> None:
    assert {SCRATCH, HANDED, BUILT, PREVIOUS, LEDGER, VAULT} <= set(CATALOGS)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [{"t_closeness": 0.2}, {"beta_likeness": 1}], ids=str)
def test_a_table_that_is_dealt_stays_in_one_piece(tmp_path: Path, rule: dict[str, Any]) -> None:
    """Rows are dealt whatever `part_size` is."""
    database = source(tmp_path, TYPES, table(random.Random(2), 600))
    whole, _ = released(given(tmp_path, rule, "all", refine="auto"), database)
    assert released(given(tmp_path, rule, 100, refine="auto"), database) == (whole, 0)


@pytest.mark.slow
def test_a_connection_is_as_it_was_after_an_attack(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, table(random.Random(1), 300))
    policy = given(tmp_path, {}, "all")
    with duckdb.connect(str(database)) as connection:
        release = run(policy, connection).database
        assert release is not None
        earlier = shutil.copy(release, tmp_path / "earlier.duckdb")
        before = connection.execute("show databases").fetchall()
        for options in ({}, {"earlier": earlier}):
            anonymizer.attack(policy, connection, **options)
            assert connection.execute("show databases").fetchall() == before
        run(policy, connection)
