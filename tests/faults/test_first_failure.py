"""The failure that ended a run is the one that is told, whatever fails after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.compile import SCRATCH
from anonymizer.engines.duckdb.connection import DuckDBEngine, scratch
from anonymizer.errors import AnonymizerError, EngineError
from tests import runs
from tests.selection import some

PEOPLE = [(i, 20 + i % 5, ("flu", "cold")[i % 2]) for i in range(40)]
COLUMNS = {"id": "drop", "age": "quasi", "disease": "keep"}


class Broken:
    """A connection whose database is damaged from some statement on: then nothing works."""

    def __init__(self, connection: Any, at: str) -> None:
        self.connection, self.at, self.dead = connection, at, False

    def execute(self, text: Any, *rest: Any) -> Any:
        if self.dead or self.at in getattr(text, "query", text):
            first = not self.dead
            self.dead = True
            said = "first: disk" if first else "FATAL: database has been invalidated"
            raise (duckdb.IOException if first else duckdb.FatalException)(said)
        return self.connection.execute(text, *rest)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


@some(1)
@pytest.mark.parametrize(
    ("at", "publish"),
    [
        ("_people_anonymous_", {}),
        ("_people_anonymous_", {"database": None}),
        ("checkpoint", {}),
        ("detach anon_release", {}),
        ("staged", {"database": None}),
    ],
)
def test_a_failing_cleanup_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, publish: dict[str, Any]
) -> None:
    types = {"id": "integer", "age": "integer", "disease": "varchar"}
    database = runs.source(tmp_path, types, PEOPLE)
    given = runs.policy(tmp_path, COLUMNS, k=3, publish=publish)
    raw = DuckDBEngine.raw

    def breaking(self: DuckDBEngine, text: str, *rest: Any) -> Any:
        if not isinstance(self.connection, Broken):
            self.connection = Broken(self.connection, at)  # type: ignore[assignment]
        return raw(self, text, *rest)

    monkeypatch.setattr(DuckDBEngine, "raw", breaking)
    with pytest.raises(AnonymizerError, match="reading or writing failed") as raised:
        anonymizer.run(given, database, seed=1)
    assert raised.value.exit_code == 2


def test_what_fails_at_the_end_alone_is_an_error_of_ours() -> None:
    with duckdb.connect() as connection:
        broken = Broken(connection, f"detach {SCRATCH}")
        with pytest.raises(EngineError), scratch(broken):  # type: ignore[arg-type]
            pass
