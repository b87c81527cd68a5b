"""A session on a source: the engine, the relation that is read, and its profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from anonymizer.compile import Table, quote
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.values import QUOTES, TABLE_NAMES, table_parts
from anonymizer.source.profile import TableProfile
from anonymizer.source.snapshot import Relation

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LISTED = 5
"""Tables that are named where none was found."""
Database: TypeAlias = "str | Path | DuckDBPyConnection | None"


@dataclass(frozen=True, slots=True)
class Session:
    """An engine with the scratch catalog attached, and the source as a relation."""

    engine: Engine
    source: Relation
    profile: TableProfile
    database: Path | None
    """File of the source database, if the tool opened one."""

    @property
    def embedded(self) -> DuckDBEngine:
        """The engine, as the embedded one, for operations that only it has."""
        assert isinstance(self.engine, DuckDBEngine)
        return self.engine


def refuse_repeated(columns: Sequence[tuple[str, str]]) -> None:
    """Raises SourceError if several columns have the same name."""
    names = [name for name, _ in columns]
    repeated = {name for name in names if names.count(name) > 1}
    SourceError.refuse(Problem("source", f"has several columns named {name}") for name in repeated)


@dataclass(frozen=True, slots=True)
class Workplace:
    """The identity of a run, and the file that it builds."""

    run_id: str
    file: Path | None = None
    """The file of the release, if it is one; it is built in another file next to it."""
    writes: bool = False
    """True if anything will be published."""
    beside: Mapping[str, Policy] = field(default_factory=dict)
    """Policies of further tables that are read in the same session, by name."""
    check: Callable[[Session], None] | None = None
    """Refuse what cannot be published. Where a query of the source is run before the session is
    ready, this is called first."""


def find_table(engine: Engine, name: str, path: str) -> Table:
    """Find a table or view by a name of one to three parts; its catalog defaults to the source's.

    For a view of a database that the tool opened, this is a copy of its rows.
    """
    meant = engine.resolve(name, path)
    if meant is not None:
        return meant
    tables = engine.tables(path)
    written = table_parts(name)
    if not 1 <= len(written) <= 3:
        raise SourceError(_no_name(name, tables, path))
    parts = _in_own_catalog(engine, written)
    wanted = [part.lower() for part in parts]
    found = [
        table for table in tables if [p.lower() for p in table.parts][-len(wanted) :] == wanted
    ]
    found = [t for t in found if len(parts) == 3 or t.catalog in (engine.catalog, "temp")] or (
        found if not engine.owns_connection else []
    )
    if not found and len(parts) == 2 and not engine.owns_connection:
        # the engine also reads such a name as a catalog and a table of its main schema
        found = [
            t
            for t in tables
            if [(t.catalog or "").lower(), t.name.lower()] == wanted and t.schema == "main"
        ]
    for schema in (engine.schema, "main", None):
        chosen = [t for t in found if schema is None or t.schema == schema]
        if chosen:
            return engine.readable_relation(chosen[0], path)
    own = [t for t in tables if t.catalog == engine.catalog]
    near = get_close_matches(parts[-1], sorted({t.name for t in own}), n=1)
    hint = f"did you mean {near[0]}?" if near else _tables_hint(own)
    raise SourceError.at(path, "is not a table of the source", hint=hint)


def _tables_hint(tables: Sequence[Table]) -> str:
    """A hint at the tables of a source, as a policy names them."""
    if not tables:
        return "the source has no table"
    named = sorted(
        ".".join(
            p if table_parts(p) == (p,) else quote(p)
            for p in (t.schema, t.name)
            if p and p != "main"
        )
        for t in tables
    )
    more = f" and {len(named) - LISTED} more" if len(named) > LISTED else ""
    return f"the source has {', '.join(named[:LISTED])}{more}"


def _no_name(name: str, tables: Sequence[Table], path: str) -> Problem:
    """A name that has to stand in double quotes, or is none."""
    if name.lower() in {table.name.lower() for table in tables}:
        hint = f"put the whole name in double quotes: '{quote(name)}'"
    else:
        hint = QUOTES
    return Problem(path, "is not a table name", allowed=TABLE_NAMES, hint=hint)


def _in_own_catalog(engine: Engine, parts: Sequence[str]) -> Sequence[str]:
    """The parts of a name; the source's catalog becomes the name under which it is attached."""
    if len(parts) < 3 or engine.own_name is None or engine.catalog is None:
        return parts
    own = parts[0].lower() == engine.own_name.lower()
    return [engine.catalog, *parts[1:]] if own else parts
