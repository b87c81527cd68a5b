"""Export of a published release as Parquet or CSV, with its manifest in a separate file.

Only the published view is read, so neither the file nor its statistics can contain suppressed rows.
Files are written next to the target and swapped in.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.contract.tables import in_release
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.registry import chosen_engine
from anonymizer.errors import GuaranteeError, NothingToCheckError, Problem, TargetError, no_file
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.files import digest_of
from anonymizer.policy.paths import name_text
from anonymizer.policy.schema.derived import lead_of
from anonymizer.policy.schema.paths import table_path
from anonymizer.process.files import replacing
from anonymizer.process.interrupts import decide, deciding
from anonymizer.publish.exported import (
    FORMATS,
    Aside,
    Export,
    ExportedFile,
    check_target,
    manifest_of,
    refuse_read,
    write_export,
)
from anonymizer.publish.from_postgres import carry
from anonymizer.release.figures import refuse_other_figures
from anonymizer.release.judge import judge
from anonymizer.release.manifest import Manifest, read_manifest
from anonymizer.release.names import Names
from anonymizer.release.opening import opened, place_of, unchanged, unchanged_tables
from anonymizer.release.population import members_at_hand, population_files, with_population
from anonymizer.release.tables import released_tables
from anonymizer.release.tables_judge import judge_tables
from anonymizer.verification.fast.release import fast_release


def refuse_untrue(engine: DuckDBEngine, view: Table, manifest: Manifest, policy: Policy) -> None:
    """Raise GuaranteeError unless the release has the figures stated in its manifest.

    A digest shows that nothing changed since the seal, not that the sealed figures were true.
    `policy`: with the path of the available population.
    """
    layout = manifest.layout
    ask = fast_release(view, layout)
    members = members_at_hand(policy, engine, layout)
    judged = judge(engine, view, layout, manifest.requirements, members, ask)
    tables = released_tables(manifest)
    if tables is not None:
        judged += judge_tables(engine, tables, in_release(view))
    refuse_other_figures(engine, view, manifest, judged)
    # (in a population that is not that of the run)
    GuaranteeError.refuse(
        Problem(check.name, "does not hold", hint="verify shows the figures")
        for check in judged.failed
    )


LONGEST = 120
"""Most bytes of a table's name, which is part of the names of its file and temporary file."""


def export_tables(
    policy: SchemaPolicy, given: Path, source: Path, force: bool, limits: Limits
) -> Export:
    """Write the tables of a release as files named like them, in one folder.

    `given`: a folder, or the file of the persons. See `anonymizer.publish.export.export`.
    """
    names = {name: policy.view(name) for name in (policy.person, *policy.children)}
    _refuse_names(names)
    target, made = given, False
    if given.is_dir() or not given.suffix:
        target = given / f"{names[policy.person]}.parquet"
        made = _make_folder(given)
    files = {
        name: target if name == policy.person else target.with_name(f"{published}{target.suffix}")
        for name, published in names.items()
    }
    try:
        check_target(target, source)
        refuse_read(files.values(), policy)
        if len({str(file).casefold() for file in files.values()}) < len(files):
            said = f"{target.name} is the name of another table's file"
            raise TargetError.at("-o", said, hint="name the folder alone")
        aside = Aside(target)
        reach = [aside.of(file) for file in files.values()]
        with opened(source, place_of(lead_of(policy), source), reach, limits) as (engine, catalog):
            view, manifest, tables = unchanged_tables(policy, engine, catalog, source)
            refuse_untrue(engine, view, manifest, lead_of(policy))
            where = in_release(view)
            placed = {files[one.table]: where(one) for one in tables.tables}
            return write_export(engine, manifest, placed, aside, force)
    finally:
        if made:
            with suppress(OSError):  # a failed export leaves no folder
                given.rmdir()


def _refuse_names(names: Mapping[str, str]) -> None:
    """Raise TargetError for published tables whose names no file can have."""
    TargetError.refuse(
        Problem(
            table_path(table),
            f"is published as {name_text(name)}, which cannot be the name of a file",
            hint=f"publish: {{names: {{{name_text(table)}: <another name>}}}}",
        )
        for table, name in names.items()
        if Path(name).name != name or name.startswith(".") or len(name.encode()) > LONGEST
    )


def _make_folder(folder: Path) -> bool:
    """Create the folder of an export if it is missing; return whether it was."""
    if folder.exists() and not folder.is_dir():
        raise TargetError.at("-o", "is a file, and not a folder")
    if not folder.parent.is_dir():
        hint = f"mkdir -p {folder.parent}"
        raise TargetError.at("-o", "is in a folder that does not exist", hint=hint)
    if folder.exists():
        return False
    try:
        folder.mkdir()
    except OSError as error:
        raise TargetError.at("-o", "is in a folder that cannot be written") from error
    return True


DATABASE = ".duckdb"


@deciding()
def export(
    policy: AnyPolicy,
    file: str | Path,
    database: Any = None,
    *,
    force: bool = False,
    population: str | Path | None = None,
    limits: Limits | None = None,
) -> Export:
    """Write the release of `policy` in `database` (default: publish.database) as `file`.

    The suffix is the format: .parquet or .csv, and .duckdb for a release in Postgres (then
    `database` is its address). For several tables, `file` is a folder, for Parquet files named like
    the published tables, or the file of the persons; the others are written next to it.
    `population`: a file with the population of k_map and delta_presence. `limits`: as for `run`.
    Raises TargetError for a file that exists and is not an earlier export of this release, unless
    `force`; NothingToCheckError if there is no release.
    """
    target, complete = Path(file), lead_of(policy)
    within = limits or Limits()
    if population is not None:
        complete = with_population(complete, Path(population))
    if isinstance(policy, SchemaPolicy):
        return export_tables(policy, target, _database(lead_of(policy), database), force, within)
    if chosen_engine(policy, database) == "postgres":
        return _carried(policy, target, database, force, complete, within)
    return _export(policy, target, _database(policy, database), force, complete, within)


def _export(
    policy: Policy, target: Path, source: Path, force: bool, complete: Policy, limits: Limits
) -> Export:
    """Export from a file. `complete`: the policy with the path of the available population."""
    check_target(target, source)
    names = Names.of(policy, "")
    aside = Aside(target)
    # the release is untrusted: it can access only the files to be written
    files = (target, *map(aside.separate, policy.sensitive))
    refuse_read(files, policy)
    reach = [*(aside.of(file) for file in files), *population_files(complete)]
    with opened(source, place_of(policy, source), reach, limits) as (engine, catalog):
        view, manifest = unchanged(policy, engine, catalog, source)
        refuse_untrue(engine, view, manifest, complete)
        tables = {target: view} | {
            aside.separate(column): Table(name, names.schema, catalog)
            for column, name in manifest.layout.tables.items()
        }
        return write_export(engine, manifest, tables, aside, force)


def _carried(
    policy: Policy, target: Path, database: Any, force: bool, complete: Policy, limits: Limits
) -> Export:
    """Export from Postgres, through a DuckDB database."""
    check_target(target, target.parent, (*FORMATS, DATABASE))
    refuse_read([target], policy)
    with tempfile.TemporaryDirectory(prefix="anonymizer-export-") as folder:
        beside = Path(folder) / "release.duckdb"
        carry(policy, database, beside, limits)
        if target.suffix.lower() != DATABASE:
            return _export(policy, target, beside, force, complete, limits)
        if target.exists() and not force:
            raise TargetError.at(
                "-o", f"{target.name} exists", hint="another file, or --force replaces it"
            )
        with opened(beside, "--database", population_files(complete), limits) as (engine, catalog):
            view = Names.of(policy, "").view(catalog)
            manifest = read_manifest(engine, view)
            refuse_untrue(engine, view, manifest, complete)
            rows = engine.raw(f"select count(*) from {ident(view)}", "export")[0][0]
        with replacing(target) as aside:
            shutil.copyfile(beside, aside)
            decide()
    written = ExportedFile(target, int(rows), digest_of(target))
    with replacing(manifest_of(target)) as aside:
        aside.write_text(manifest.text() + "\n", encoding="utf-8")
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
