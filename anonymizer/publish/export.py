"""Export of a published release as Parquet, CSV or a database, with its manifest."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident, lit, one_file
from anonymizer.contract.layout import Layout
from anonymizer.contract.reading import in_release
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.dialect_types import MOST_DIGITS
from anonymizer.engines.registry import chosen_engine
from anonymizer.errors import (
    AnonymizerError,
    EngineError,
    GuaranteeError,
    Problem,
    TargetError,
)
from anonymizer.hierarchy.scale import DECIMAL
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.fields import separated_tables
from anonymizer.policy.paths import column_path, name_text, table_path
from anonymizer.policy.referenced_files import digest_of, refuse_files
from anonymizer.process.files import move, read_beside, replacing
from anonymizer.process.interrupts import decide, deciding
from anonymizer.publish.duckdb.file import create_schema, create_view
from anonymizer.publish.postgres.objects import PostgresPublished, published_in
from anonymizer.release import objects, signing
from anonymizer.release.across_tables import names_of, released_tables
from anonymizer.release.consistency import refuse_not_as_published, refuse_other_figures
from anonymizer.release.formats import TEXT, in_csv, selected, types_in
from anonymizer.release.integrity import (
    manifest_digest,
    objects_of,
    row_text,
    seal_of,
    sealed_in,
)
from anonymizer.release.judge import judge, judge_tables
from anonymizer.release.manifest import Manifest, parsed, read_manifest, write_manifest
from anonymizer.release.objects import Names
from anonymizer.release.opening import (
    members_at_hand,
    open_for_reading,
    place_of,
    population_files,
    release_file,
    unchanged,
    with_population,
)
from anonymizer.verification.fast import fast_release

# The files of an export: written under temporary names, read back, swapped in, and listed in a
# manifest.


FORMATS = {".parquet": "(format parquet, compression zstd)", ".csv": "(format csv, header true)"}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A written file."""

    path: Path
    rows: int
    sha256: str
    types: Mapping[str, str] = field(default_factory=dict)
    """Columns that the format cannot hold as they are, with the types as which they left."""

    @property
    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = {"rows": self.rows, "sha256": self.sha256}
        return found | ({"types": dict(self.types)} if self.types else {})


@dataclass(frozen=True, slots=True)
class Export:
    """The files of an export: that of the view, then those of further tables (of sensitive columns
    with msb, or of a release of several tables).
    """

    view: str
    run_id: str
    files: tuple[ExportedFile, ...]
    manifest: Path

    def as_dict(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "run_id": self.run_id,
            "files": [{"path": str(file.path), **file.facts} for file in self.files],
            "manifest": str(self.manifest),
        }


def write_export(
    engine: DuckDBEngine,
    manifest: Manifest,
    tables: dict[Path, Table],
    aside: ExportPaths,
    force: bool,
) -> Export:
    """Write the files of an unchanged release, and its manifest next to the first."""
    target, *_ = tables
    view = str(manifest.data["view"])
    if not force:
        _refuse_foreign(list(tables), view)
    earlier = [path for path in _earlier(target, view) if path not in tables]
    written = _write(engine, tables, aside)
    beside = manifest_of(target)
    listed = [{"name": file.path.name, **file.facts} for file in written]
    told = Manifest({**manifest.data, "export": {"files": listed}})
    with replacing(beside) as written_aside:
        written_aside.write_text(told.text() + "\n", encoding="utf-8")
    for path in earlier:
        path.unlink(missing_ok=True)
    return Export(view, manifest.run_id, tuple(written), beside)


def manifest_of(file: Path) -> Path:
    """The path of the manifest of an exported file."""
    return file.with_name(f"{file.name}.manifest.json")


def check_target(target: Path, source: Path, formats: Iterable[str] = FORMATS) -> None:
    """Raise TargetError if the file cannot be written or has an unknown suffix."""
    where = "-o"
    if target.suffix.lower() not in formats:
        raise TargetError.at(
            where, "has an unknown format", allowed=", ".join(f"*{s}" for s in formats)
        )
    if not target.parent.is_dir():
        hint = f"mkdir -p {target.parent}"
        raise TargetError.at(where, "is in a folder that does not exist", hint=hint)
    if not os.access(target.parent, os.W_OK):
        raise TargetError.at(where, "is in a folder that cannot be written")
    if target.is_dir() or target.resolve() == source.resolve():
        raise TargetError.at(where, "is a folder, or the release itself")


def refuse_read(files: Iterable[Path], policy: AnyPolicy) -> None:
    """Raise TargetError for export files that the policy reads, even with `--force`."""
    for file in files:
        refuse_files(file, [policy])


def _refuse_foreign(files: list[Path], view: str) -> None:
    """Refuse to replace files that no manifest of an export of this release describes."""
    known = _earlier_files(files[0], view)
    problems = [
        Problem(
            "-o",
            f"{file.name} exists and is not an earlier export of this release",
            hint="name another file, or replace it with --force",
        )
        for file in files
        if file.exists() and known.get(file.name) != digest_of(file)
    ]
    if not known and manifest_of(files[0]).exists() and not problems:
        name = manifest_of(files[0]).name
        said = f"{name} exists and is not a manifest of an earlier export of this release"
        hint = "name another file, or replace it with --force"
        problems = [Problem("-o", said, hint=hint)]
    TargetError.refuse(problems)


def _earlier_files(target: Path, view: str) -> dict[str, str]:
    """Names and digests of the files of an earlier export of this release, from the manifest next
    to the first. None if that is of another release, was changed, or lists a file that no export of
    its release writes: files that it lists are replaced and removed.
    """
    try:
        data = json.loads(read_beside(manifest_of(target)))
        listed = data.pop("export")["files"]
        found = {str(entry["name"]): str(entry["sha256"]) for entry in listed}
        earlier = parsed(json.dumps(data))
        genuine = seal_of(earlier).digest == manifest_digest(data) and data["view"] == view
        return found if genuine and found.keys() <= _names(target, earlier) else {}
    except (OSError, LookupError, AttributeError, TypeError, ValueError, RecursionError):
        return {}
    except AnonymizerError:
        return {}


def _names(target: Path, manifest: Manifest) -> set[str]:
    """The names of the files that an export of a release writes, the first of them as `target`."""
    tables = released_tables(manifest)
    separate = {ExportPaths(target).separate(column).name for column in manifest.layout.tables}
    linked = {f"{one.name}{target.suffix}" for one in tables.children} if tables else set()
    return {target.name, *separate, *linked}


def _earlier(target: Path, view: str) -> list[Path]:
    """The files of an earlier export that have not changed since."""
    found = {
        target.with_name(name): digest for name, digest in _earlier_files(target, view).items()
    }
    return [path for path, digest in found.items() if path.is_file() and digest_of(path) == digest]


@dataclass(frozen=True, slots=True)
class ExportPaths:
    """Paths of the files of an export."""

    target: Path
    mark: str = field(default_factory=partial(secrets.token_hex, 8))

    def separate(self, column: str) -> Path:
        """The path of the separate table of a sensitive column."""
        return self.target.with_name(f"{self.target.stem}_{column}{self.target.suffix}")

    def of(self, file: Path) -> Path:
        """The temporary path of a file until it is moved into place."""
        return file.absolute().with_name(f"{file.name}.{self.mark}.tmp")


def _write(
    engine: DuckDBEngine, tables: dict[Path, Table], names: ExportPaths
) -> list[ExportedFile]:
    """Write all files under temporary names, compare them, then swap them in one by one."""
    aside = {target: names.of(target) for target in tables}
    written: list[ExportedFile] = []
    try:
        for target, table in tables.items():
            written.append(_write_one(engine, table, target, aside[target]))
        decide()
        for target, file in aside.items():
            move(file, target)
    finally:
        for file in aside.values():
            file.unlink(missing_ok=True)
    return written


def _write_one(engine: DuckDBEngine, table: Table, target: Path, aside: Path) -> ExportedFile:
    """Write the rows of a table, read them back, and compare them with those of the table."""
    suffix, source = target.suffix.lower(), ident(table).text
    columns = tuple(engine.describe(source, "export"))
    types, wanted, names = {}, source, dict(columns)
    if suffix == ".csv":
        cells = ", ".join(in_csv(name, kind) for name, kind in columns)
        query, names = f"select {cells} from {source}", dict.fromkeys(names, TEXT)
        first = ", ".join(lit(name).text for name in names)
        wanted, found = f"({query} union all select {first})", csv_rows(aside, list(names))
    else:
        types = types_in("parquet", lambda text: engine.raw(text, "-o"), source, columns)
        query = f"select {selected(columns, types)} from {source}"
        found = f"read_parquet({one_file(aside)}, hive_partitioning = false)"
    rows = engine.raw(f"copy ({query}) to {lit(str(aside))} {FORMATS[suffix]}", "-o")
    there = engine.describe(found, "-o")
    same = [tuple(one) for one in there] == list((types or names).items())
    if not same or _digest(engine, wanted, names) != _digest(engine, found, names):
        raise TargetError.at(
            "-o",
            f"{target.name} does not hold the rows of the release after it was written",
            hint="export it again, or in another format",
        )
    cast = {name: types[name] for name, kind in columns if types.get(name, kind) != kind}
    return ExportedFile(target, int(rows[0][0]), digest_of(aside), cast)


def csv_rows(file: Path, names: Sequence[str]) -> str:
    """The lines of a CSV file, all of them rows, as texts in columns of these names."""
    numbers = range(1, len(names) + 1)
    listed = ", ".join(f"{lit(f'c{n}')}: 'VARCHAR'" for n in numbers)
    named = ", ".join(f"c{n} as {ident(name)}" for n, name in zip(numbers, names, strict=True))
    return (
        f"(select {named} from read_csv({one_file(file)}, columns = {{{listed}}}, header = false,"
        " delim = ',', quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false,"
        " parallel = false, auto_detect = false, max_line_size = 100000000, new_line = '\\n'))"
    )


def _digest(engine: DuckDBEngine, relation: str, columns: Mapping[str, str]) -> Sequence[object]:
    """Count and order-independent digest of the rows of a relation, as texts."""
    texts = tuple((n, f"{TEXT}[]" if kind.endswith("[]") else TEXT) for n, kind in columns.items())
    return engine.raw(
        "select count(*), sum(cast(hash(line) as hugeint)), bit_xor(hash(line, 1))"
        f" from (select {row_text(texts)} as line from {relation})",
        "-o",
    )[0]


# Copies a Postgres release into a DuckDB database, to verify or distribute it there.
#
# Only published data is copied: the rows of the view, the further tables, and the manifest.


def carry(policy: AnyPolicy, database: Any, file: Path, limits: Limits) -> None:
    """Write the release of `policy` in a Postgres database as a new DuckDB database."""
    import duckdb

    with published_in(database, limits) as found, duckdb.connect(str(file)) as connection:
        (view,) = found.views(policy.lead)
        manifest = found.manifest(view)
        changes = found.changes(view, manifest, alone=False)
        refuse_not_as_published(policy, found.engine, view, manifest, changes)
        target = DuckDBEngine(connection, owns_connection=True)
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
        objects.record(target, catalog, names.entries())
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
        (
            name,
            _decimal_type(found.engine, origin, name, sizes.get(name))
            if kind == "DECIMAL"
            else kind,
        )
        for name, kind in found.engine.describe(ident(origin).text, "export")
    ]
    with tempfile.TemporaryDirectory(prefix="anonymizer-export-") as folder:
        file = Path(folder) / "rows.csv"
        # (lists as JSON, which DuckDB can parse)
        listed = ", ".join(
            f"to_json({ident(name)})" if kind.endswith("]") else ident(name).text
            for name, kind in columns
        )
        found.engine.copy_out(f"select {listed} from {ident(origin)}", file, "export")
        named = [f"c{number}" for number, _ in enumerate(columns, start=1)]
        values = ", ".join(
            f"{_cast(text, kind)} as {ident(name)}"
            for text, (name, kind) in zip(named, columns, strict=True)
        )
        target.raw(
            f"create table {ident(made)} as select {values} from {csv_rows(file, named)}", "export"
        )


def _decimal_type(engine: PostgresEngine, origin: Table, column: str, said: str | None) -> str:
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
    """Return whether a decimal type has enough digits before and after the point."""
    found = DECIMAL.match(decimal)
    assert found is not None
    return int(found[1]) - int(found[2]) >= whole and int(found[2]) >= scale


_ERA = "([0-9]+-[0-9][0-9]-[0-9][0-9])([T ][0-9:.+-]+)? BC"
"""A date before the year 1 as Postgres writes it; DuckDB reads it without its era, as another."""


def _cast(column: str, kind: str) -> str:
    if kind.startswith(("DATE", "TIMESTAMP")):
        column = f"regexp_replace({column}, {lit(_ERA)}, '\\1 (BC)\\2', 'g')"
    text = f"cast({column} as json)" if kind.endswith("]") else column
    return f"cast({text} as {kind})"


# Export of a published release as Parquet or CSV, with its manifest in a separate file.
#
# Only the published view is read, so neither the file nor its statistics can contain suppressed
# rows. Files are written next to the target and swapped in.


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
    sign: str | Path | None = None,
) -> Export:
    """Write the release of `policy` in `database` (default: publish.database) as `file`.

    The suffix is the format: .parquet or .csv, and .duckdb for a release in Postgres (then
    `database` is its address). For several tables, `file` is a folder, for Parquet files named like
    the published tables, or the file of the persons; the others are written next to it.
    `population`: a file with the population of k_map and delta_presence. `limits`: as for `run`.
    `sign`: a private key, which signs the manifest with the digests of the files. Raises
    TargetError for a file that exists and is not an earlier export of this release, unless `force`;
    NothingToCheckError if there is no release.
    """
    target, complete = Path(file), policy.lead
    key = signing.private_key(sign) if sign is not None else None
    within = limits or Limits()
    if population is not None:
        complete = with_population(complete, Path(population))
    if chosen_engine(policy.lead, database) == "postgres":
        done = _export_through_duckdb(policy, target, database, force, complete, within)
    else:
        done = _export(policy, target, release_file(policy, database), force, complete, within)
    signing.sign_export(done.manifest, key)
    return done


def _export(
    policy: AnyPolicy, given: Path, source: Path, force: bool, complete: Policy, limits: Limits
) -> Export:
    """Export from a file. `complete`: the policy with the path of the available population.

    `given`: the file of the view; with several tables also a folder.
    """
    names, target, made = Names.of(policy, ""), given, False
    if policy.several:
        _refuse_names({name: policy.view(name) for name in (policy.person, *policy.children)})
        if given.is_dir() or not given.suffix:
            target = given / f"{names.name}.parquet"
            made = _make_folder(given)
    try:
        check_target(target, source)
        aside = ExportPaths(target)
        files = {names.name: target} | {
            name: aside.separate(column) for column, name in separated_tables(policy.lead).items()
        }
        files |= {
            one.publish.name: target.with_name(f"{one.publish.name}{target.suffix}")
            for one in policy.further.values()
        }
        refuse_read(files.values(), policy)
        if len({str(file).casefold() for file in files.values()}) < len(files):
            said = f"{target.name} is the name of another table's file"
            raise TargetError.at("-o", said, hint="name the folder alone")
        # the release is untrusted: it can access only the files to be written
        reach = [*map(aside.of, files.values()), *population_files(complete)]
        with open_for_reading(source, place_of(policy, source), reach, limits) as (engine, catalog):
            view, manifest, _ = unchanged(policy, engine, catalog, source)
            refuse_untrue(engine, view, manifest, complete)
            tables = {file: replace(view, name=name) for name, file in files.items()}
            return write_export(engine, manifest, tables, aside, force)
    finally:
        if made:
            with suppress(OSError):  # a failed export leaves no folder
                given.rmdir()


def _export_through_duckdb(
    policy: AnyPolicy, target: Path, database: Any, force: bool, complete: Policy, limits: Limits
) -> Export:
    """Export from Postgres, through a DuckDB database."""
    if not policy.several:
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
        with open_for_reading(beside, "--database", population_files(complete), limits) as (
            engine,
            catalog,
        ):
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
