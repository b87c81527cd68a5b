"""A published release as Parquet or CSV, with its manifest beside it.

Only the published view is read, so nothing of a suppressed row can be in the file or in its
statistics. Files are written beside the target and swapped in.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.choice import chosen_engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import NothingToCheckError, Problem, TargetError, no_file
from anonymizer.policy import Policy, single
from anonymizer.process.interrupts import decide, deciding
from anonymizer.publish.from_postgres import carry
from anonymizer.release.agreement import refuse_other
from anonymizer.release.manifest import Manifest, read_manifest
from anonymizer.release.names import Names
from anonymizer.release.opening import opened, place_of
from anonymizer.release.sealing import changes_in_database
from anonymizer.release.unchanged import refuse_not_as_published
from anonymizer.release.unknown_columns import refuse_unknown_columns

DATABASE = ".duckdb"
FORMATS = {".parquet": "(format parquet, compression zstd)", ".csv": "(format csv, header true)"}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file that was written."""

    path: Path
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Export:
    """What an export wrote: the view's file first, then one for each sensitive table (msb)."""

    view: str
    run_id: str
    files: tuple[ExportedFile, ...]
    manifest: Path

    def as_dict(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "run_id": self.run_id,
            "files": [
                {"path": str(file.path), "rows": file.rows, "sha256": file.sha256}
                for file in self.files
            ],
            "manifest": str(self.manifest),
        }


@deciding()
def export(
    policy: Policy, file: str | Path, database: Any = None, *, force: bool = False
) -> Export:
    """Write the release of `policy` in `database` (default: publish.database) as `file`.

    The suffix tells the format: .parquet or .csv, and .duckdb for a release in Postgres (then
    `database` is its address). Raises TargetError for a file that exists and is not an earlier
    export, unless `force`; NothingToCheckError where there is no release.
    """
    single(policy, "export")
    target = Path(file)
    if chosen_engine(policy, database) == "postgres":
        return _carried(policy, target, database, force)
    return _export(policy, target, _database(policy, database), force)


def _export(policy: Policy, target: Path, source: Path, force: bool) -> Export:
    _check_target(target, source)
    names = Names.of(policy, "")
    aside = _Aside(target, secrets.token_hex(8))
    # the release is untrusted: it can access only the files that are written
    files = [aside.of(file) for file in (target, *map(aside.separate, policy.sensitive))]
    with opened(source, place_of(policy, source), files) as (engine, catalog):
        view = names.view(catalog)
        manifest = read_manifest(engine, view)
        refuse_other(policy, manifest.layout)
        refuse_unknown_columns(engine, view, manifest.layout)
        refuse_not_as_published(policy, view, manifest, changes_in_database(engine, view, manifest))
        tables = {target: view} | {
            aside.separate(column): Table(name, names.schema, catalog)
            for column, name in manifest.layout.tables.items()
        }
        if not force:
            _refuse_foreign(list(tables))
        written = _write(engine, tables, aside)
    beside = manifest_of(target)
    listed = [{"name": f.path.name, "rows": f.rows, "sha256": f.sha256} for f in written]
    _replace_text(beside, Manifest({**manifest.data, "export": {"files": listed}}).text() + "\n")
    return Export(names.release, manifest.run_id, tuple(written), beside)


def _carried(policy: Policy, target: Path, database: Any, force: bool) -> Export:
    """Export from Postgres, by way of a DuckDB database."""
    _check_target(target, target.parent, (*FORMATS, DATABASE))
    with tempfile.TemporaryDirectory(prefix="anonymizer-export-") as folder:
        beside = Path(folder) / "release.duckdb"
        carry(policy, database, beside)
        if target.suffix.lower() != DATABASE:
            return _export(policy, target, beside, force)
        if target.exists() and not force:
            raise TargetError(
                Problem("-o", f"{target.name} exists", hint="another file, or --force replaces it")
            )
        with opened(beside, "--database") as (engine, catalog):
            view = Names.of(policy, "").view(catalog)
            manifest = read_manifest(engine, view)
            rows = engine.raw(f"select count(*) from {ident(view)}", "export")[0][0]
        aside = target.with_name(f"{target.name}.{secrets.token_hex(8)}.tmp")
        shutil.copyfile(beside, aside)
        decide()
        aside.replace(target)
    written = ExportedFile(target, int(rows), _sha256(target))
    _replace_text(manifest_of(target), manifest.text() + "\n")
    return Export(Names.of(policy, "").release, manifest.run_id, (written,), manifest_of(target))


def manifest_of(file: Path) -> Path:
    """The path of the manifest of an exported file."""
    return file.with_name(f"{file.name}.manifest.json")


def _database(policy: Policy, database: str | Path | None) -> Path:
    if database is None and policy.publish.database is None:
        hint = "the policy has no publish.database, so the release is in the source's database"
        raise NothingToCheckError(Problem("--database", "names no release to export", hint=hint))
    path = Path(database) if database is not None else policy.resolve(policy.publish.database or "")
    if not path.is_file():
        raise NothingToCheckError(
            Problem("--database", no_file(path), hint="anonymizer run makes it")
        )
    return path


def _check_target(target: Path, source: Path, formats: Iterable[str] = FORMATS) -> None:
    where = "-o"
    if target.suffix.lower() not in formats:
        raise TargetError(
            Problem(where, "does not tell a format", allowed=", ".join(f"*{s}" for s in formats))
        )
    if not target.parent.is_dir():
        raise TargetError(Problem(where, "is in a folder that does not exist"))
    if not os.access(target.parent, os.W_OK):
        raise TargetError(Problem(where, "is in a folder that cannot be written"))
    if target.is_dir() or target.resolve() == source.resolve():
        raise TargetError(Problem(where, "is a folder, or the release itself"))


def _refuse_foreign(files: list[Path]) -> None:
    """A file may be replaced if the manifest beside the export describes just this file."""
    known: dict[str, str] = {}
    try:
        recorded = json.loads(manifest_of(files[0]).read_text())["export"]["files"]
        known = {str(entry["name"]): str(entry["sha256"]) for entry in recorded}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    problems = [
        Problem(
            "-o",
            f"{file.name} exists and is not an earlier export of this tool",
            hint="name another file, or replace it with --force",
        )
        for file in files
        if file.exists() and known.get(file.name) != _sha256(file)
    ]
    if not known and manifest_of(files[0]).exists() and not problems:
        name = manifest_of(files[0]).name
        problems = [Problem("-o", f"{name} exists and is not a manifest of an earlier export")]
    if problems:
        raise TargetError(problems)


@dataclass(frozen=True, slots=True)
class _Aside:
    """Names of the files of an export."""

    target: Path
    mark: str

    def separate(self, column: str) -> Path:
        """The path of the separate table of a sensitive column."""
        return self.target.with_name(f"{self.target.stem}_{column}{self.target.suffix}")

    def of(self, file: Path) -> Path:
        """The temporary path of a file until it is moved into place."""
        return file.absolute().with_name(f"{file.name}.{self.mark}.tmp")


def _write(engine: DuckDBEngine, tables: dict[Path, Table], names: _Aside) -> list[ExportedFile]:
    """Write all files aside, then swap in one after the other."""
    aside = {target: names.of(target) for target in tables}
    written: list[ExportedFile] = []
    try:
        for target, table in tables.items():
            options = FORMATS[target.suffix.lower()]
            columns = _columns(engine, table, as_text=target.suffix.lower() == ".csv")
            rows = engine.raw(
                f"copy (select {columns} from {ident(table)})"
                f" to {lit(str(aside[target]))} {options}",
                "export",
            )
            written.append(ExportedFile(target, int(rows[0][0]), _sha256(aside[target])))
        decide()
        for target, file in aside.items():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())
            file.replace(target)
    finally:
        for file in aside.values():
            file.unlink(missing_ok=True)
    return written


def _columns(engine: DuckDBEngine, table: Table, *, as_text: bool) -> str:
    """Every column as it is; an ENUM, whose type lists values, as text; in CSV lists as JSON."""
    listed = []
    for name, kind in engine.describe(ident(table).text, "export"):
        column = ident(name).text
        if kind.startswith("ENUM"):
            column = f"cast({column} as varchar) as {column}"
        elif as_text and kind.endswith("]"):
            column = f"cast(to_json({column}) as varchar) as {column}"
        listed.append(column)
    return ", ".join(listed)


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _replace_text(path: Path, text: str) -> None:
    aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
