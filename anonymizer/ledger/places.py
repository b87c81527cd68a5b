"""Targets of the releases in a ledger: a file, or a database of a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import SOURCE
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import AnonymizerError
from anonymizer.release import objects

if TYPE_CHECKING:
    from anonymizer.engines.postgres.connection import PostgresEngine

ON_SERVER = "postgres:"
"""Prefix of the places that are Postgres databases."""


class Place(Protocol):
    """The target of a run's releases."""

    @property
    def told(self) -> str:
        """The place as the ledger stores it."""

    def holds(self, place: str, run_id: str) -> bool | None:
        """Whether `place`, stored by an earlier run, has the release of that run.

        None if that cannot be determined.
        """

    def may_hold(self, run_id: str) -> bool:
        """Whether the release of this run may be published although publishing failed."""


def on_server(place: str) -> bool:
    """Whether a place is a Postgres database."""
    return place.startswith(ON_SERVER)


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A DuckDB file; None for an in-memory database."""

    file: Path | None

    @property
    def told(self) -> str:
        return str(self.file) if self.file is not None else ""

    def holds(self, place: str, run_id: str) -> bool | None:
        if not place or on_server(place):
            return None
        if not Path(place).exists():
            return False
        try:
            with own_connection(Path(place)) as reader:
                return run_id in {o.run_id for o in objects.recorded(reader, SOURCE)}
        except Exception:  # locked or damaged: assumed to be published, which is safe
            return None

    def run_of(self, view: str) -> str | None:
        """The run whose release of that name the file holds; None where that is not known."""
        if self.file is None or not self.file.exists():
            return None
        try:
            with own_connection(self.file) as reader:
                held = objects.recorded(reader, SOURCE)
                return next((o.run_id for o in held if o.release == view), None)
        except Exception:  # locked or damaged: reported by the target
            return None

    def may_hold(self, run_id: str) -> bool:
        del run_id
        return False  # a file target always knows


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """The Postgres database in which the run works."""

    engine: PostgresEngine
    told: str

    @classmethod
    def of(cls, engine: PostgresEngine) -> ServerPlace:
        """Identify the database by the ids of server and database: names are not unique."""
        try:
            text = (
                "select (select system_identifier from pg_control_system())::text, oid::text"
                " from pg_database where datname = current_database()"
            )
            server, database = engine.native(text, "ledger")[0]
        except AnonymizerError:  # role may not read it: entries of killed runs count as published
            return cls(engine, ON_SERVER)
        return cls(engine, f"{ON_SERVER}{server}/{database}")

    def holds(self, place: str, run_id: str) -> bool | None:
        from anonymizer.engines.postgres.record import entries, records
        from anonymizer.engines.postgres.workplace import is_over

        if place != self.told or place == ON_SERVER:
            return None
        try:
            # the server may continue after its client has died
            if not is_over(self.engine, run_id):
                return None
            if not all(record.readable for record in records(self.engine)):
                return None
            return run_id in {str(item[-1]) for item in entries(self.engine, trusted=False)}
        except AnonymizerError:
            return None

    def may_hold(self, run_id: str) -> bool:
        # the connection may have broken before the server reported the commit
        return self.holds(self.told, run_id) is not False


def place_of(engine: Engine, file: Path | None) -> Place:
    """The target of a run: a file, or the database of its engine."""
    from anonymizer.engines.postgres.connection import PostgresEngine

    return ServerPlace.of(engine) if isinstance(engine, PostgresEngine) else FilePlace(file)
