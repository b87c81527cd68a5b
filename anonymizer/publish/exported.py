"""The files of an export: written under temporary names, read back, swapped in, and listed in a
manifest.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident, lit, one_file
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import AnonymizerError, Problem, TargetError
from anonymizer.policy import AnyPolicy
from anonymizer.policy.files import digest_of, refuse_files
from anonymizer.process.files import read_beside, replacing
from anonymizer.process.interrupts import decide
from anonymizer.release.formats import TEXT, csv_columns, selected, types_in
from anonymizer.release.manifest import Manifest, parsed
from anonymizer.release.rows_digest import row_text
from anonymizer.release.seal import manifest_digest, seal_of
from anonymizer.release.tables import released_tables

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
    """Write all files under temporary names, compare them, then swap them in one by one."""
    aside = {target: names.of(target) for target in tables}
    written: list[ExportedFile] = []
    try:
        for target, table in tables.items():
            written.append(_write_one(engine, table, target, aside[target]))
        decide()
        for target, file in aside.items():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())
            file.replace(target)
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
        query, names = f"select {csv_columns(columns)} from {source}", dict.fromkeys(names, TEXT)
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
