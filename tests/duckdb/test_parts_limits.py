"""Parts of a table within limits: of memory, of names, and of what a part can be."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.engines.base import Limits
from anonymizer.errors import EngineError
from tests.duckdb.test_parts import TYPES, given, released, table
from tests.runs import THRIFTY, run, source
from tests.selection import some


@pytest.mark.parametrize("name", ["threads", "workers", "memory", "temp_size"])
@pytest.mark.parametrize("given", [0, -1, 1.5, True])
def test_limits_say_what_they_may_be(name: str, given: Any) -> None:
    with pytest.raises(EngineError, match=f"limits.{name}: is not a .*allowed: a "):
        Limits(**{name: given})


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
