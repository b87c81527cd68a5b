"""The hierarchies of a policy's columns: built over its source, to be shown or taken elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anonymizer.compile import Table, ident, lit, quote, work
from anonymizer.errors import Problem, SourceError, TargetError
from anonymizer.hierarchy import distortion, exchange, files
from anonymizer.hierarchy.show import Shown, show

if TYPE_CHECKING:
    from anonymizer.policy import Policy
    from anonymizer.profile import Attribute, Sensitive
    from anonymizer.session import Database, Session

Described = TypeVar("Described", "Attribute", "Sensitive")

KIND = "hierarchy"
"""What the record of a database calls the tables that are made here."""
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

    def shown(self, *, published: bool = False) -> Shown:
        """Its nodes with counts and distortion; `published` by the formulas of the paper's Table 4.

        Raises SourceError for a builder that the table has no formula for.
        """
        if published and self.builder not in distortion.PUBLISHED:
            raise SourceError(
                Problem(
                    f"columns.{self.column}.hierarchy.builder",
                    f"{self.builder} has no formula in Table 4",
                    allowed=", ".join(distortion.PUBLISHED),
                )
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
        """Write it in ARX's layout; returns the number of values."""
        try:
            return exchange.export_csv(self.session.engine, self.index, path)
        except OSError:
            hint = "the folder must exist and be writable"
            raise TargetError(Problem("-o", f"{path.name} cannot be written", hint=hint)) from None

    def wide(self) -> Wide:
        """Its wide table: value, level_1 to level_h, and bounds of ordered kinds."""
        engine = self.session.engine
        bounds = self.builder in distortion.INTERVALS
        step = exchange.export_table(self.index, self.height, WIDE, bounds=bounds)
        engine.raw(step.statement().text, step.name)
        columns = engine.describe(ident(WIDE).text, step.name)
        rows = engine.raw(f"select * from {ident(WIDE)} order by rowid", step.name)
        return Wide(tuple(columns), tuple(rows))


@dataclass(frozen=True, slots=True)
class Wide:
    """A hierarchy as a table: names and types of its columns, and a row per value."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]


@contextmanager
def built(
    policy: Policy, database: Database, columns: Sequence[str] = ()
) -> Iterator[tuple[Built, ...]]:
    """Build the hierarchies of `columns` (default: all that have one) over the policy's source.

    Raises SourceError for a column without one, and whatever building them raises.
    """
    from anonymizer.algorithms.prepare import snapshot_step, values_steps
    from anonymizer.algorithms.roles import roles
    from anonymizer.execute import Executor
    from anonymizer.pipeline import hierarchy_stages
    from anonymizer.profile import published_type
    from anonymizer.session import open_session

    _refuse_unknown(policy, columns)
    with open_session(policy, database) as session:
        everything = roles(policy, session.profile)
        wanted = replace(
            everything,
            quasi=_chosen(policy, everything.quasi, columns),
            sensitive=_chosen(policy, everything.sensitive, columns),
        )
        reading = snapshot_step(policy, session.profile, everything, session.source)
        Executor(session.engine).run(
            [reading, *values_steps(wanted), *hierarchy_stages(policy, wanted, session)]
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
            made.append(
                Built(session, a.column, index, published_type(a.sql_type), spec.builder, height)
            )
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
        Problem(f"columns.{name}", "is not a column of the policy", allowed=", ".join(having))
        if name not in policy.columns
        else Problem(
            f"columns.{name}.hierarchy",
            "is missing: the column has no hierarchy",
            ", ".join(having),
        )
        for name in columns
        if name not in having
    ]
    if not having and not columns:
        problems = [Problem("columns", "no column of the policy has a hierarchy")]
    if problems:
        raise SourceError(problems)


def read_csv(path: Path) -> Wide:
    """A hierarchy file, checked as a policy's is. Raises SourceError with all that is wrong."""
    rows, _ = files.read(path, path.name)
    problems = exchange.check(rows, path.name)
    if problems:
        raise SourceError(problems)
    names = ["value", *(f"level_{level}" for level in range(1, len(rows[0])))]
    return Wide(tuple((name, "VARCHAR") for name in names), tuple(tuple(row) for row in rows))


def store(wide: Wide, database: Path, name: Table, *, replace_it: bool = False) -> None:
    """Write a hierarchy as a table of a database, recorded as ours, in one transaction.

    Raises TargetError where a table of that name exists that is not a recorded hierarchy, or that
    is one and may not be replaced.
    """
    import duckdb

    from anonymizer.engines.failures import translate
    from anonymizer.release import objects

    schema = name.schema or "main"
    try:
        with duckdb.connect(str(database)) as connection:
            runs = _Runs(connection)
            catalog = str(runs.raw("select current_database()", "--database")[0][0])
            table = Table(name.name, schema, catalog)
            ours = {(o.schema, o.name) for o in objects.recorded(runs, catalog) if o.kind == KIND}
            if (schema, name.name) in objects.present(runs, catalog):
                _refuse_taken(name.name, (schema, name.name) in ours, replace_it)
            connection.execute("begin")
            objects.create_record(runs, catalog)
            connection.execute(f"create schema if not exists {quote(catalog)}.{quote(schema)}")
            listed = ", ".join(f"{quote(column)} {kind}" for column, kind in wide.columns)
            connection.execute(f"create or replace table {ident(table)} ({listed})")
            for at in range(0, len(wide.rows), 500):
                values = ", ".join(
                    f"({', '.join(lit(cell).text for cell in row)})"
                    for row in wide.rows[at : at + 500]
                )
                connection.execute(f"insert into {ident(table)} values {values}")
            if (schema, name.name) not in ours:
                release = f"{schema}.{name.name}"
                made = objects.Recorded(release, schema, name.name, KIND, "")
                objects.record(runs, catalog, [made])
            connection.execute("commit")
    except duckdb.Error as error:
        raise translate(error, "--database") from error


def _refuse_taken(name: str, ours: bool, replace_it: bool) -> None:
    if not ours:
        said = f"{name} exists and is not a hierarchy that this tool stored"
        raise TargetError(Problem("--table", said, hint="choose another name"))
    if not replace_it:
        said = f"{name} exists"
        raise TargetError(Problem("--table", said, hint="--replace, or choose another name"))


@dataclass(frozen=True, slots=True)
class _Runs:
    connection: Any

    def raw(self, text: str, where: str) -> list[tuple[Any, ...]]:
        del where
        return list(self.connection.execute(text).fetchall())
