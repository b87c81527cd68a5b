"""Resolves table names as the server does, under the search path of the role or of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import exp

from anonymizer.compile import Table, quote
from anonymizer.errors import EngineError, PolicyError, Problem, SourceError
from anonymizer.policy.values import written_parts

if TYPE_CHECKING:
    from anonymizer.engines.postgres.connection import PostgresEngine

SAFE_PATH = "pg_catalog, pg_temp"
"""The search path of a run: no user object shadows one of the server's, nor does a temporary table,
which would be searched first unless the path names pg_temp."""
RELATIONS = "('r', 'p', 'v', 'm', 'f')"
"""Kinds of relations (`relkind`) that have rows to read."""


@contextmanager
def own_names(engine: PostgresEngine) -> Iterator[None]:
    """Use the role's search path for a statement written by the user."""
    _set_path(engine, engine.names)
    try:
        yield
    except BaseException:
        with suppress(EngineError):
            _set_path(engine, SAFE_PATH)
        raise
    _set_path(engine, SAFE_PATH)


def _set_path(engine: PostgresEngine, path: str) -> None:
    # qualified, since the user's path may contain functions of any name
    engine.native("select pg_catalog.set_config('search_path', %s, false)", "source", (path,))


def named_table(engine: PostgresEngine, name: str, where: str) -> Table:
    """The relation that the server finds under a name for this role.

    A part without quotes matches in lower case, as on the server, or as written. Raises SourceError
    if there is no such relation, or more than one.
    """
    parts = written_parts(name)
    if len(parts) == 3 and parts[0][0].lower() != (engine.catalog or "").lower():
        raise PolicyError.at(
            where,
            "names another database, and a statement of Postgres reads one only",
            hint="name that database in --database, or make the table a foreign table here",
        )
    found = _resolved(engine, [_spellings(*part) for part in parts[-2:]], where)
    if len(found) == 1:
        return found[0]
    if found:
        listed = " and ".join(sorted(_said(table) for table in found))
        raise SourceError.at(where, f"may mean {listed}", hint="put it in double quotes")
    raise SourceError(_missing(engine, parts, where))


def _spellings(part: str, quoted: bool) -> tuple[str, ...]:
    """The names that a part of a table name may refer to."""
    return (part,) if quoted else tuple(dict.fromkeys((part, part.lower())))


def _resolved(
    engine: PostgresEngine, spellings: Sequence[tuple[str, ...]], where: str
) -> list[Table]:
    """The distinct relations that the server finds under any of the spellings."""
    found = []
    with own_names(engine):
        for written in product(*spellings):
            text = ".".join(map(quote, written))
            query = "select pg_catalog.to_regclass(%s)::pg_catalog.oid"
            found += [row[0] for row in engine.native(query, where, (text,)) if row[0]]
    rows = engine.native(
        "select c.relname, n.nspname, current_database() from pg_class c"
        f" join pg_namespace n on n.oid = c.relnamespace where c.relkind in {RELATIONS}"
        " and c.oid = any(%s::oid[])",
        where,
        (found,),
    )
    return [Table(*map(str, row)) for row in rows]


def _said(table: Table) -> str:
    return f"{quote(table.schema or '')}.{quote(table.name)}"


def named_in(engine: PostgresEngine, query: str) -> tuple[Table, ...]:
    """The relations that a query in Postgres' SQL names; those of views are not among them."""
    import sqlglot

    tree = sqlglot.parse_one(query, read="postgres")
    within = {cte.alias for cte in tree.find_all(exp.CTE)}
    written = {
        ".".join(part.sql("postgres") for part in table.parts[-2:])
        for table in tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and (table.db or table.name not in within)
    }
    with own_names(engine):
        rows = engine.native(
            "select n.nspname, c.relname from pg_catalog.pg_class c"
            " join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid in (select"
            " pg_catalog.to_regclass(name)"
            " from pg_catalog.unnest(%s::pg_catalog.text[]) as names (name)) order by 1, 2",
            "source.query",
            (sorted(written),),
        )
    return tuple(Table(str(name), str(schema)) for schema, name in rows)


def _missing(engine: PostgresEngine, written: Sequence[tuple[str, bool]], where: str) -> Problem:
    """The problem for a name that refers to no table, with a hint at a similar one."""
    tables, parts = engine.tables(where), [part for part, _ in written]
    alike = [table for table in tables if table.name.lower() == parts[-1].lower()]
    same = [table for table in alike if table.name in _spellings(*written[-1])]
    if same and len(parts) == 1:
        listed = ", ".join(sorted(f"{table.schema}.{table.name}" for table in same))
        said = "is in no schema of this role's search_path"
        return Problem(where, said, hint=f"write the schema: {listed}")
    if alike:
        listed = ", ".join(sorted(map(_said, alike)))
        return Problem(where, "is not a table of the source", hint=f"did you mean {listed}?")
    near = get_close_matches(parts[-1], sorted({table.name for table in tables}), n=1)
    hint = f"did you mean {near[0]}?" if near else "other schemas: write schema.table"
    return Problem(where, "is not a table of the source", hint=hint)
