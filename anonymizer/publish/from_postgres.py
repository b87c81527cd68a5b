"""Copies a Postgres release into a DuckDB database, to verify or distribute it there.

Only published data is copied: the rows of the view, the further tables, and the manifest.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident, lit
from anonymizer.contract.layout import Layout
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.types import MOST_DIGITS
from anonymizer.errors import EngineError
from anonymizer.hierarchy.scale_of_type import DECIMAL
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.publish.duckdb.file import create_schema, create_view
from anonymizer.publish.exported import csv_rows
from anonymizer.publish.postgres.published import PostgresPublished, published_in
from anonymizer.release import objects
from anonymizer.release.agreement import refuse_other
from anonymizer.release.manifest import Manifest, write_manifest
from anonymizer.release.seal import seal_of
from anonymizer.release.sealing import objects_of, sealed_in
from anonymizer.release.tables import names_of
from anonymizer.release.unchanged import refuse_not_as_published
from anonymizer.release.unknown_columns import refuse_unknown_columns


def carry(policy: Policy, database: Any, file: Path, limits: Limits) -> None:
    """Write the release of `policy` in a Postgres database as a new DuckDB database."""
    import duckdb

    with published_in(database, limits) as found, duckdb.connect(str(file)) as connection:
        (view,) = found.views(policy)
        manifest = found.manifest(view)
        refuse_other(policy, manifest.layout)
        refuse_unknown_columns(found.engine, view, manifest.layout)
        changes = found.changes(view, manifest, alone=False)
        refuse_not_as_published(policy, view, manifest, changes)
        target = DuckDBEngine(connection, owned=True)
        catalog = str(target.raw("select current_catalog()", "export")[0][0])
        names = names_of(view, manifest)
        create_schema(target, catalog, names.schema)
        objects.create_record(target, catalog)
        sizes = _sizes(manifest.layout)
        _copy(found, view, target, names.rows(catalog), sizes)
        create_view(target, names, catalog)
        for name in names.tables:
            origin = Table(name, view.schema, view.catalog)
            _copy(found, origin, target, names.separate(name, catalog), sizes)
        # the rows have other types in DuckDB, so they are sealed again
        carried = Manifest({**manifest.data, "carried_from": seal_of(manifest).digest})
        made = objects_of(target, names, catalog)
        carried = sealed_in(carried, names, made, alone=True, sign=None)
        write_manifest(target, names, catalog, carried)
        objects.record(target, catalog, names.recorded())
        target.raw("checkpoint", "export")


def _sizes(layout: Layout) -> dict[str, str]:
    """The declared types of published decimal columns."""
    return {
        name: column.sql_type
        for column in layout.columns
        for name in (column.name, column.lo, column.hi, column.value)
        if name is not None and DECIMAL.match(column.sql_type)
    }


def _copy(
    found: PostgresPublished,
    origin: Table,
    target: DuckDBEngine,
    made: Table,
    sizes: Mapping[str, str],
) -> None:
    """Copy a published table, in order, through a private file."""
    columns = [
        (name, _sized(found.engine, origin, name, sizes.get(name)) if kind == "DECIMAL" else kind)
        for name, kind in found.engine.describe(ident(origin).text, "export")
    ]
    with tempfile.TemporaryDirectory(prefix="anonymizer-export-") as folder:
        file = Path(folder) / "rows.csv"
        found.engine.copy_out(_as_text(origin, columns), file, "export")
        named = [f"c{number}" for number, _ in enumerate(columns, start=1)]
        values = ", ".join(
            f"{_typed(text, kind)} as {ident(name)}"
            for text, (name, kind) in zip(named, columns, strict=True)
        )
        target.raw(
            f"create table {ident(made)} as select {values} from {csv_rows(file, named)}", "export"
        )


def _sized(engine: PostgresEngine, origin: Table, column: str, said: str | None) -> str:
    """A decimal type for every value of a numeric column without precision: the one in the
    manifest, since the server keeps the precision of few expressions, or else the smallest.
    """
    name = ident(column)
    whole, scale, strange = engine.native(
        f"select coalesce(max(case when abs({name}) >= 1 then length(trunc(abs({name}))::text)"
        " else 0 end), 0),"
        f" coalesce(max(scale({name})), 0), count({name}) - count(scale({name}))"
        f" from {ident(origin)}",
        "export",
    )[0]
    if said is not None and not strange and _holds(said, whole, scale):
        return said
    if strange or whole + scale > MOST_DIGITS:
        refusal = "holds numbers that no DECIMAL holds: too many digits, NaN or infinite"
        hint = "cast the column in source.query, as in cast(x as numeric(18, 4))"
        raise EngineError.at(column_path(column), refusal, hint=hint)
    return f"DECIMAL({max(whole + scale, 1)},{scale})"


def _holds(decimal: str, whole: int, scale: int) -> bool:
    """Whether a decimal type has enough digits before and after the point."""
    found = DECIMAL.match(decimal)
    assert found is not None
    return int(found[1]) - int(found[2]) >= whole and int(found[2]) >= scale


def _as_text(origin: Table, columns: list[tuple[str, str]]) -> str:
    """A Postgres query whose columns are texts that DuckDB can parse: lists as JSON."""
    listed = ", ".join(
        f"to_json({ident(name)})" if kind.endswith("]") else ident(name).text
        for name, kind in columns
    )
    return f"select {listed} from {ident(origin)}"


_ERA = "([0-9]+-[0-9][0-9]-[0-9][0-9])([T ][0-9:.+-]+)? BC"
"""A date before the year 1 as Postgres writes it; DuckDB reads it without its era, as another."""


def _typed(column: str, kind: str) -> str:
    if kind.startswith(("DATE", "TIMESTAMP")):
        column = f"regexp_replace({column}, {lit(_ERA)}, '\\1 (BC)\\2', 'g')"
    text = f"cast({column} as json)" if kind.endswith("]") else column
    return f"cast({text} as {kind})"
