"""The files of an export: written under temporary names, swapped in, listed in a manifest."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import AnonymizerError, Problem, TargetError
from anonymizer.policy import AnyPolicy
from anonymizer.policy.files import digest_of, refuse_files
from anonymizer.process.files import read_beside, replacing
from anonymizer.process.interrupts import decide
from anonymizer.release.manifest import Manifest, parsed
from anonymizer.release.seal import manifest_digest, seal_of
from anonymizer.release.tables import released_tables

FORMATS = {".parquet": "(format parquet, compression zstd)", ".csv": "(format csv, header true)"}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A written file."""

    path: Path
    rows: int
    sha256: str


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
            "files": [
                {"path": str(file.path), "rows": file.rows, "sha256": file.sha256}
                for file in self.files
            ],
            "manifest": str(self.manifest),
        }


def write_export(
    engine: DuckDBEngine, manifest: Manifest, tables: dict[Path, Table], aside: Aside, force: bool
) -> Export:
    """Write the files of an unchanged release, and its manifest next to the first."""
    target, *_ = tables
    view = str(manifest.data["view"])
    if not force:
        _refuse_foreign(list(tables), view)
    earlier = [path for path in _earlier(target, view) if path not in tables]
    written = _write(engine, tables, aside)
    beside = manifest_of(target)
    listed = [{"name": f.path.name, "rows": f.rows, "sha256": f.sha256} for f in written]
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
            where, "does not tell a format", allowed=", ".join(f"*{s}" for s in formats)
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
    known = _known(files[0], view)
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


def _known(target: Path, view: str) -> dict[str, str]:
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
    separate = {Aside(target).separate(column).name for column in manifest.layout.tables}
    linked = {f"{one.name}{target.suffix}" for one in tables.children} if tables else set()
    return {target.name, *separate, *linked}


def _earlier(target: Path, view: str) -> list[Path]:
    """The files of an earlier export that have not changed since."""
    found = {target.with_name(name): digest for name, digest in _known(target, view).items()}
    return [path for path, digest in found.items() if path.is_file() and digest_of(path) == digest]


@dataclass(frozen=True, slots=True)
class Aside:
    """Paths of the files of an export."""

    target: Path
    mark: str = field(default_factory=partial(secrets.token_hex, 8))

    def separate(self, column: str) -> Path:
        """The path of the separate table of a sensitive column."""
        return self.target.with_name(f"{self.target.stem}_{column}{self.target.suffix}")

    def of(self, file: Path) -> Path:
        """The temporary path of a file until it is moved into place."""
        return file.absolute().with_name(f"{file.name}.{self.mark}.tmp")


def _write(engine: DuckDBEngine, tables: dict[Path, Table], names: Aside) -> list[ExportedFile]:
    """Write all files under temporary names, then swap them in one by one."""
    aside = {target: names.of(target) for target in tables}
    written: list[ExportedFile] = []
    try:
        for target, table in tables.items():
            options = FORMATS[target.suffix.lower()]
            columns = _columns(engine, table, as_text=target.suffix.lower() == ".csv")
            rows = engine.raw(
                f"copy (select {columns} from {ident(table)})"
                f" to {lit(str(aside[target]))} {options}",
                "-o",
            )
            written.append(ExportedFile(target, int(rows[0][0]), digest_of(aside[target])))
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
    """The columns to select; an ENUM, whose type lists values, as text; lists in CSV as JSON."""
    listed = []
    for name, kind in engine.describe(ident(table).text, "export"):
        column = ident(name).text
        if kind.startswith("ENUM"):
            column = f"cast({column} as varchar) as {column}"
        elif as_text and kind.endswith("]"):
            column = f"cast(to_json({column}) as varchar) as {column}"
        listed.append(column)
    return ", ".join(listed)
