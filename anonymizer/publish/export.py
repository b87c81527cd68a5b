"""Export of a published release as Parquet or CSV, with its manifest in a separate file.

Only the published view is read, so neither the file nor its statistics can contain suppressed rows.
Files are written next to the target and swapped in.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.engines.choice import chosen_engine
from anonymizer.errors import NothingToCheckError, TargetError, no_file
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.schema.derived import lead_of
from anonymizer.process.interrupts import decide, deciding
from anonymizer.publish.export_tables import export_tables
from anonymizer.publish.exported import (
    FORMATS,
    Aside,
    Export,
    ExportedFile,
    check_target,
    manifest_of,
    refuse_read,
    replace_text,
    sha256,
    write_export,
)
from anonymizer.publish.from_postgres import carry
from anonymizer.release.as_published import unchanged
from anonymizer.release.manifest import read_manifest
from anonymizer.release.names import Names
from anonymizer.release.opening import opened, place_of
from anonymizer.release.population import population_files, with_population
from anonymizer.release.stated import refuse_untrue

DATABASE = ".duckdb"


@deciding()
def export(
    policy: AnyPolicy,
    file: str | Path,
    database: Any = None,
    *,
    force: bool = False,
    population: str | Path | None = None,
) -> Export:
    """Write the release of `policy` in `database` (default: publish.database) as `file`.

    The suffix is the format: .parquet or .csv, and .duckdb for a release in Postgres (then
    `database` is its address). For several tables, `file` is a folder, for Parquet files named like
    the published tables, or the file of the persons; the others are written next to it.
    `population`: a file with the population of k_map and delta_presence.
    Raises TargetError for a file that exists and is not an earlier export of this release, unless
    `force`; NothingToCheckError if there is no release.
    """
    target, complete = Path(file), lead_of(policy)
    if population is not None:
        complete = with_population(complete, Path(population))
    if isinstance(policy, SchemaPolicy):
        return export_tables(policy, target, _database(lead_of(policy), database), force)
    if chosen_engine(policy, database) == "postgres":
        return _carried(policy, target, database, force, complete)
    return _export(policy, target, _database(policy, database), force, complete)


def _export(policy: Policy, target: Path, source: Path, force: bool, complete: Policy) -> Export:
    """Export from a file. `complete`: the policy with the path of the available population."""
    check_target(target, source)
    names = Names.of(policy, "")
    aside = Aside(target)
    # the release is untrusted: it can access only the files to be written
    files = (target, *map(aside.separate, policy.sensitive))
    refuse_read(files, policy)
    reach = [*(aside.of(file) for file in files), *population_files(complete)]
    with opened(source, place_of(policy, source), reach) as (engine, catalog):
        view, manifest = unchanged(policy, engine, catalog, source)
        refuse_untrue(engine, view, manifest, complete)
        tables = {target: view} | {
            aside.separate(column): Table(name, names.schema, catalog)
            for column, name in manifest.layout.tables.items()
        }
        return write_export(engine, manifest, tables, aside, force)


def _carried(policy: Policy, target: Path, database: Any, force: bool, complete: Policy) -> Export:
    """Export from Postgres, through a DuckDB database."""
    check_target(target, target.parent, (*FORMATS, DATABASE))
    refuse_read([target], policy)
    with tempfile.TemporaryDirectory(prefix="anonymizer-export-") as folder:
        beside = Path(folder) / "release.duckdb"
        carry(policy, database, beside)
        if target.suffix.lower() != DATABASE:
            return _export(policy, target, beside, force, complete)
        if target.exists() and not force:
            raise TargetError.at(
                "-o", f"{target.name} exists", hint="another file, or --force replaces it"
            )
        with opened(beside, "--database", population_files(complete)) as (engine, catalog):
            view = Names.of(policy, "").view(catalog)
            manifest = read_manifest(engine, view)
            refuse_untrue(engine, view, manifest, complete)
            rows = engine.raw(f"select count(*) from {ident(view)}", "export")[0][0]
        aside = target.with_name(f"{target.name}.{secrets.token_hex(8)}.tmp")
        shutil.copyfile(beside, aside)
        decide()
        aside.replace(target)
    written = ExportedFile(target, int(rows), sha256(target))
    replace_text(manifest_of(target), manifest.text() + "\n")
    return Export(Names.of(policy, "").release, manifest.run_id, (written,), manifest_of(target))


def _database(policy: Policy, database: str | Path | None) -> Path:
    if database is None and policy.publish.database is None:
        hint = "the policy has no publish.database, so the release is in the source's database"
        raise NothingToCheckError.at("--database", "names no release to export", hint=hint)
    path = Path(database) if database is not None else policy.resolve(policy.publish.database or "")
    if not path.is_file():
        where = "--database" if database is not None else "publish.database"
        raise NothingToCheckError.at(where, no_file(path), hint="anonymizer run makes it")
    return path
