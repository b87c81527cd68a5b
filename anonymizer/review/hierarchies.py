"""The hierarchies of a policy's columns, built over its source to be shown or exported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from anonymizer.compile import Table, ident, lit, quote, work
from anonymizer.errors import Problem, SourceError, TargetError
from anonymizer.hierarchy import exchange, levels
from anonymizer.hierarchy.levels import Shown, show
from anonymizer.policy import Policy, single
from anonymizer.policy.paths import column_path

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.engines.duckdb.connection import DuckDBEngine
    from anonymizer.engines.session import Database, Session
    from anonymizer.source.profile import Attribute, Sensitive

Described = TypeVar("Described", "Attribute", "Sensitive")

KIND = "hierarchy"
"""The kind under which a database's record lists the tables made here."""
WIDE = work("wide_hierarchy")


@dataclass(frozen=True, slots=True)
class Built:
    """One hierarchy in the scratch of an open session."""

    session: Session
    column: str
    index: int
    sql_type: str
    builder: str
    height: int
    nested: bool = True
    """Whether its levels are meant to nest."""

    def shown(self, *, published: bool = False) -> Shown:
        """Its nodes with counts and distortion; `published` by the formulas of the paper's Table 4.

        Raises SourceError if that table has no formula for the builder.
        """
        if published and self.builder not in levels.PUBLISHED:
            raise SourceError.at(
                column_path(self.column, "hierarchy", "builder"),
                f"{self.builder} has no formula in Table 4",
                allowed=", ".join(levels.PUBLISHED),
            )
        return show(
            self.session.engine,
            self.index,
            column=self.column,
            sql_type=self.sql_type,
            builder=self.builder,
            published=published,
        )

    def to_csv(self, path: Path) -> int:
        """Write it in ARX's layout and return the number of values."""
        try:
            return exchange.export_csv(self.session.engine, self.index, path)
        except OSError:
            hint = "the folder must exist and be writable"
            raise TargetError.at("-o", f"{path.name} cannot be written", hint=hint) from None

    def wide(self) -> Wide:
        """Its wide table: value, level_1 to level_h, and bounds of ordered kinds."""
        engine = self.session.engine
        bounds = self.builder in levels.INTERVALS
        step = exchange.export_table(self.index, self.height, WIDE, bounds=bounds)
        engine.raw(step.statement().text, step.name)
        columns = engine.describe(ident(WIDE).text, step.name)
        # cast to text, so that values without a SQL literal or Python type survive the round trip
        texts = f"select columns(*)::varchar from {ident(WIDE)} order by rowid"
        rows = engine.raw(texts, step.name)
        return Wide(tuple(columns), tuple(rows))


@dataclass(frozen=True, slots=True)
class Wide:
    """A hierarchy as a table: names and types of its columns, and a row of texts per value."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str | None, ...], ...]


@contextmanager
def built(
    policy: Policy, database: Database, columns: Sequence[str] = (), limits: Limits | None = None
) -> Iterator[tuple[Built, ...]]:
    """Build the hierarchies of `columns` (default: all that have one) over the policy's source.

    Raises SourceError for a column without a hierarchy, and any error from building one.
    """
    from anonymizer.engines.duckdb.source import open_session
    from anonymizer.engines.execute import Executor
    from anonymizer.run.prepare import hierarchy_stages
    from anonymizer.source.profile import published_type
    from anonymizer.source.roles import roles
    from anonymizer.source.snapshot import reading_steps, values_steps

    single(policy, "hierarchy")
    _refuse_unknown(policy, columns)
    with open_session(policy, database, limits=limits) as session:
        everything = roles(policy, session.profile).unmasked
        wanted = replace(
            everything,
            quasi=_chosen(policy, everything.quasi, columns),
            sensitive=_chosen(policy, everything.sensitive, columns),
        )
        reading = reading_steps(policy, session.profile, everything, session.source)
        Executor(session.engine).run(
            [*reading, *values_steps(wanted), *hierarchy_stages(policy, wanted, session)]
        )
        numbered: list[tuple[Attribute | Sensitive, int]]
        numbered = [(a, a.index) for a in wanted.quasi]
        numbered += [(s, s.hierarchy_index) for s in wanted.sensitive]
        made = []
        for a, index in numbered:
            spec = policy.columns[a.column].hierarchy
            assert spec is not None
            height = session.engine.raw(
                f"select coalesce(max(level), 0) from {ident(work(f'hierarchy_{index}'))}", a.column
            )[0][0]
            nested = getattr(spec, "mode", None) != "independent" and getattr(spec, "nested", True)
            sql_type = published_type(a.sql_type)
            made.append(Built(session, a.column, index, sql_type, spec.builder, height, nested))
        yield tuple(made)


def _chosen(
    policy: Policy, described: tuple[Described, ...], columns: Sequence[str]
) -> tuple[Described, ...]:
    return tuple(
        a
        for a in described
        if policy.columns[a.column].hierarchy is not None and (not columns or a.column in columns)
    )


def _refuse_unknown(policy: Policy, columns: Sequence[str]) -> None:
    having = [name for name, column in policy.columns.items() if column.hierarchy is not None]
    problems = [
        Problem(column_path(name), "is not a column of the policy", allowed=", ".join(having))
        if name not in policy.columns
        else Problem(
            column_path(name, "hierarchy"),
            "is missing: the column has no hierarchy",
            ", ".join(having),
        )
        for name in columns
        if name not in having
    ]
    if not having and not columns:
        problems = [Problem("columns", "no column of the policy has a hierarchy")]
    SourceError.refuse(problems)


def read_csv(path: Path, *, nested: bool = True) -> Wide:
    """Read and check a hierarchy file like a policy's. Raises SourceError listing all errors."""
    of_the_shell = path.parts[:2] in (("/", "dev"), ("/", "proc"))
    if path.exists() and not path.is_file() and not of_the_shell:
        said = "is a folder" if path.is_dir() else "is a named pipe, which nobody may write to"
        raise SourceError.at("FILE", f"{path} {said}", allowed="a CSV file")
    rows, _ = exchange.read(path, path.name)
    problems = exchange.check(rows, path.name, nested=nested)
    SourceError.refuse(problems)
    names = ["value", *(f"level_{level}" for level in range(1, len(rows[0])))]
    return Wide(tuple((name, "VARCHAR") for name in names), tuple(tuple(row) for row in rows))


def store(wide: Wide, database: Path, name: Table, *, replace_it: bool = False) -> None:
    """Write a hierarchy to a table of a database and record it as the tool's, in one transaction.

    Raises TargetError if a table of that name exists and is not a recorded hierarchy, or may not be
    replaced.
    """
    from anonymizer.engines.duckdb.connection import SOURCE
    from anonymizer.engines.duckdb.sandbox import own_connection
    from anonymizer.release import objects

    schema, where = name.schema or "main", "--database"
    table = Table(name.name, schema, SOURCE)
    with own_connection(database.resolve(), read_only=False) as engine:
        ours = {(o.schema, o.name) for o in objects.recorded(engine, SOURCE) if o.kind == KIND}
        _refuse_private(engine, schema)
        # the engine treats names that differ only in case as equal
        alike = [o for o in objects.present(engine, SOURCE) if _same(o, (schema, name.name))]
        if alike:
            _refuse_taken(alike[0][1], (schema, name.name) in {*ours} & {*alike}, replace_it)
        engine.raw("begin", where)
        objects.create_record(engine, SOURCE)
        engine.raw(f"create schema if not exists {ident(Table(schema, None, SOURCE))}", where)
        listed = ", ".join(f"{quote(column)} {kind}" for column, kind in wide.columns)
        engine.raw(f"create or replace table {ident(table)} ({listed})", where)
        for at in range(0, len(wide.rows), 500):
            values = ", ".join(
                f"({', '.join(lit(cell).text for cell in row)})" for row in wide.rows[at : at + 500]
            )
            engine.raw(f"insert into {ident(table)} values {values}", where)
        if (schema, name.name) not in ours:
            release = f"{schema}.{name.name}"
            made = objects.Recorded(release, schema, name.name, KIND, "")
            objects.record(engine, SOURCE, [made])
        engine.raw("commit", where)


def _same(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return [part.lower() for part in one] == [part.lower() for part in other]


def _refuse_private(engine: DuckDBEngine, schema: str) -> None:
    """Raises TargetError for databases and schemas in which a further table would do damage."""
    from anonymizer.engines.duckdb.connection import SOURCE
    from anonymizer.ledger.store import SCHEMA as LEDGER
    from anonymizer.release import objects
    from anonymizer.release.manifest import read_manifest
    from anonymizer.release.seal import seal_of

    if schema.lower() == objects.SCHEMA:
        said = f"is in {objects.SCHEMA}, where the tool keeps its record"
        raise TargetError.at("--table", said, hint="choose another schema")
    held = {other for other, _ in objects.present(engine, SOURCE)}
    alone = (
        seal_of(read_manifest(engine, item.table(SOURCE))).alone
        for item in objects.recorded(engine, SOURCE)
        if item.kind == "view"
    )
    said = "is a ledger" if LEDGER in held else "holds a release that stands there alone"
    if LEDGER in held or any(alone):
        hint = "store it in the database of the source, or in one of its own"
        raise TargetError.at("--database", said, hint=hint)


def _refuse_taken(name: str, ours: bool, replace_it: bool) -> None:
    if not ours:
        said = f"{name} exists and is not a hierarchy that this tool stored"
        raise TargetError.at("--table", said, hint="choose another name")
    if not replace_it:
        said = f"{name} exists"
        raise TargetError.at("--table", said, hint="--replace, or choose another name")
