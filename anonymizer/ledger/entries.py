"""The entries of a ledger, one per release, and the places of the releases."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import Field, StrictBool, StrictInt

from anonymizer.compile import Sql, ident, lit
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import AnonymizerError, EngineError
from anonymizer.ledger.protected_columns import CLASS, Facet, Mark, Recognition
from anonymizer.ledger.store import (
    CELLS,
    COUNTED,
    DICTIONARY,
    GROUPS,
    MEMBERS,
    RELEASES,
    ROWS,
    SCHEMAS,
    SIGNATURES,
    SPENDS,
)
from anonymizer.process import run_folder
from anonymizer.release.objects import entries_in_file

if TYPE_CHECKING:
    from anonymizer.engines.postgres.connection import PostgresEngine


# Targets of the releases in a ledger: a file, or a database of a server.


ON_SERVER = "postgres:"
"""Prefix of the places that are Postgres databases."""


class Place(Protocol):
    """The target of a run's releases."""

    @property
    def text(self) -> str:
        """The place as the ledger stores it."""

    def holds(self, place: str, run_id: str) -> bool | None:
        """Return whether `place`, stored by an earlier run, has the release of that run.

        None if that cannot be determined.
        """

    def may_hold(self, run_id: str) -> bool:
        """Return whether the release of this run may be published although publishing failed."""


def on_server(place: str) -> bool:
    """Return whether a place is a Postgres database."""
    return place.startswith(ON_SERVER)


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A DuckDB file; None for an in-memory database."""

    file: Path | None
    tells: bool = True
    """False if it may hold a release although publishing failed."""

    @property
    def text(self) -> str:
        return str(self.file) if self.file is not None else ""

    def holds(self, place: str, run_id: str) -> bool | None:
        if not place or on_server(place):
            return None
        if not Path(place).exists():
            return False
        found = entries_in_file(Path(place))  # if not known, assumed to be published, which is safe
        return None if found is None else run_id in {o.run_id for o in found}

    def run_of(self, view: str) -> str | None:
        """The run whose release of that name the file holds; None where that is not known."""
        if self.file is None or not self.file.exists():
            return None
        held = entries_in_file(self.file) or ()  # (what is locked or damaged is told by the target)
        return next((o.run_id for o in held if o.release == view), None)

    def may_hold(self, run_id: str) -> bool:
        del run_id
        return not self.tells


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """The Postgres database in which the run works."""

    engine: PostgresEngine
    text: str

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
        from anonymizer.engines.postgres.workplace import entries, is_over, records

        if place != self.text or place == ON_SERVER:
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
        return self.holds(self.text, run_id) is not False


def place_of(engine: Engine, file: Path | None) -> Place:
    """The target of a run: a file, or the database of its engine."""
    from anonymizer.engines.postgres.connection import PostgresEngine

    if isinstance(engine, PostgresEngine):
        return ServerPlace.of(engine)
    # (a file target always knows, and a catalog of Spark does not)
    return FilePlace(file) if isinstance(engine, DuckDBEngine) else FilePlace(None, tells=False)


# The entries of a ledger, one per release.


PENDING: Literal["pending"] = "pending"
PUBLISHED: Literal["published"] = "published"
Count = Annotated[StrictInt, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Entry:
    """One release, and how to read its members."""

    release: Count
    run_id: Annotated[str, Field(pattern=r"^[0-9A-Za-z_]{1,64}$")]
    """It is part of file names."""
    view: str
    target: str
    """The file that it was published into, or the database of a server; empty for an in-memory
    database."""
    policy_digest: str
    created: str
    state: Literal["pending", "published"]
    owner: str
    key_check: str
    secret_digest: str
    several: StrictBool
    """True if a person may have several rows in it."""
    facets: tuple[str, ...]
    scopes: tuple[str, ...]
    marks: tuple[str, ...]
    persons: Count
    counterfeits: Count
    person_column: str | None = None
    """The column that identifies its persons; empty: the content of their rows."""
    person_kind: str | None = None
    """The kind of its values, or the row's columns; None in ledgers of older versions."""
    forms: tuple[str, ...] | None = None
    """The form in which values of the facets are written; None in ledgers of before it was kept."""
    held: tuple[StrictInt, ...] | None = None
    """Counts of its rows in the other tables; None in ledgers of before it was kept."""
    seal: str | None = None
    """The keyed digest of all that is kept of it; None in ledgers of before there were seals."""
    opens: tuple[str, ...] | None = None
    """The columns that are published as they are; None in ledgers of before it was kept."""
    recoded: tuple[str, ...] | None = None
    """The columns of rows that are published otherwise, or protected; None in ledgers of before it
    was kept, and of tables of counts."""
    grouped: tuple[str, ...] | None = None
    """The columns of groups of a table of counts; None for rows."""
    minimum: Count | None = None
    """The smallest group of a table of counts."""

    @property
    def is_counts(self) -> bool:
        """True for a table of counts."""
        return self.grouped is not None

    @property
    def recognized(self) -> Recognition | None:
        """The rule by which its persons are recognized."""
        if self.person_column is None or self.person_kind is None:
            return None
        return Recognition(self.person_column, self.person_kind)

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> Entry:
        named = dict(zip(cls.__slots__, row, strict=True))
        for name in LISTS:
            named[name] = None if named[name] is None else tuple(named[name])
        return cls(**named)

    @property
    def engine(self) -> str:
        """The engine that made it."""
        return "postgres" if on_server(self.target) else "duckdb"

    def place(self, column: str) -> Sql:
        """The group of its members for a protected column."""
        index = self.facets.index(column)
        return Sql("class_id" if self.scopes[index] == CLASS else f"buckets[{index + 1}]")

    def differs(self, facet: Facet) -> bool:
        """Return whether its values of a protected column are known to have another form."""
        if self.forms is None or facet.column not in self.facets:
            return False
        return self.forms[self.facets.index(facet.column)] != facet.form

    def marked(self, mark: Mark) -> list[int]:
        """The positions of a column among its pseudonyms; tables may share a column name."""
        return [place for place, name in enumerate(self.marks, 1) if name == mark.label]

    def sql(self) -> str:
        """The statement that inserts it into the table of releases."""
        parts = []
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, tuple):
                parts.append(f"cast([{', '.join(lit(v).text for v in value)}] as varchar[])")
            else:
                parts.append(lit(value).text)
        named = ", ".join(self.__slots__)
        return f"insert into {ident(RELEASES)} ({named}) values ({', '.join(parts)})"

    def as_dict(self) -> dict[str, Any]:
        """The fields that may be displayed: no persons, no digests of a key or secret."""
        shown = ("release", "run_id", "view", "created", "state", "policy_digest", "persons")
        return {name: getattr(self, name) for name in (*shown, "counterfeits")}


def entries(engine: DuckDBEngine) -> tuple[Entry, ...]:
    """Every release of the attached ledger, oldest first."""
    columns = ", ".join(_columns(engine))
    rows = engine.raw(f"select {columns} from {ident(RELEASES)} order by release", "ledger")
    return tuple(Entry.of(row) for row in rows)


LISTS = ("facets", "scopes", "marks", "forms", "held", "opens", "recoded", "grouped")
UNSEALED = ("opens", "recoded", "grouped", "minimum")
"""Columns that a seal covers where they have a value: entries of before have none."""
LATER = ("person_column", "person_kind", "forms", "held", "seal", *UNSEALED)
"""Columns that a ledger has since releases of later versions were recorded in it."""


def _columns(engine: DuckDBEngine) -> Iterator[str]:
    """The columns to read; NULL for one that a ledger of an older version lacks.

    Raises EngineError if a column is missing that every ledger has.
    """
    known = {name for name, _ in engine.describe(ident(RELEASES).text, "ledger")}
    missing = [name for name in Entry.__slots__ if name not in known and name not in LATER]
    if missing:
        said = f"is damaged: its table of releases has no column {', '.join(missing)}"
        raise EngineError.at("ledger", said, hint="restore it from a copy")
    for name in Entry.__slots__:
        yield name if name in known else f"null as {name}"


def remove(engine: DuckDBEngine, entry: Entry) -> None:
    """Remove a release. The dictionary is removed with the last one."""
    of_all = (MEMBERS, SIGNATURES, SCHEMAS, ROWS, GROUPS, COUNTED, CELLS, SPENDS, RELEASES)
    for table in of_all:
        engine.raw(f"delete from {ident(table)} where release = {lit(entry.release)}", "ledger")
    engine.raw(
        f"delete from {ident(DICTIONARY)} where not exists (from {ident(RELEASES)})", "ledger"
    )


def set_published(engine: DuckDBEngine, run_id: str, seal: str | None) -> None:
    """Record that the release of that run is published, with the seal that it has then."""
    engine.raw(
        f"update {ident(RELEASES)} set state = {lit(PUBLISHED)}, seal = {lit(seal)}"
        f" where run_id = {lit(run_id)}",
        "ledger",
    )


def settle(
    engine: DuckDBEngine, found: tuple[Entry, ...], place: Place, seal: Callable[[Entry], str]
) -> tuple[Entry, ...]:
    """Resolve the entries of runs that ended between recording and publishing.

    A release that is in its target was published; if the target holds something else, it was not.
    If that cannot be determined, or the run may be alive, it counts as published. `place`: the
    target of this run. `seal`: how an entry is sealed.
    """
    kept = []
    for entry in found:
        if entry.state == PENDING and _is_over(entry):
            match place.holds(entry.target, entry.run_id):
                case True:
                    old = entry.seal is None
                    made = None if old else seal(replace(entry, state=PUBLISHED))
                    set_published(engine, entry.run_id, made)
                case False:
                    remove(engine, entry)
                    continue
        kept.append(entry)
    return tuple(kept)


def refuse_other_engines(found: Iterable[Entry], engine: str) -> None:
    """Raise EngineError for releases that were made with another engine.

    Persons are recognized by digests of texts, which engines may write differently.
    """
    others = sorted({entry.engine for entry in found if entry.persons} - {engine})
    if others:
        said = f"has releases that were made with the engine {others[0]}: persons of theirs"
        said += f" may not be recognized by {engine}"
        hint = f"engine: {others[0]}, for all releases of these persons; where no person is in"
        hint += " releases of both engines, a ledger of its own"
        raise EngineError.at("ledger", said, hint=hint)


def owner() -> str:
    """The host of this run, so that another machine does not consider the run dead."""
    return json.dumps({"host": socket.gethostname()})


def _is_over(entry: Entry) -> bool:
    host = json.loads(entry.owner).get("host")
    return host == socket.gethostname() and not run_folder.is_live(entry.run_id)
