"""The JSON files beside a database of releases. The manifest in the database is the authority."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from anonymizer.compile import Table
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.release import objects
from anonymizer.release.manifest import (
    Manifest,
    manifest_file,
    read_manifest,
    signature_file,
    write_manifest_file,
)
from anonymizer.release.names import Names

OTHER = (
    "the manifest in the database counts: delete the file, run again, or move the database into a"
    " folder of its own if the file is of another one"
)


def refresh(engine: DuckDBEngine, catalog: str, database: Path) -> list[Path]:
    """Write the files that are missing or of another run than the release; returns them.

    A run that is killed between its swap and the writing of its file leaves such a one.
    """
    written = []
    for item in objects.recorded(engine, catalog):
        if item.kind != "view":
            continue
        try:
            manifest = read_manifest(engine, item.table(catalog))
        except NothingToCheckError:
            continue
        file = manifest_file(database, Names(item.schema, item.name, item.run_id))
        if _run_of(file) != manifest.run_id:
            aside = database.with_name(f"{database.name}.{secrets.token_hex(8)}.tmp")
            write_manifest_file(file, manifest, aside)
            written.append(file)
    return written


def changes_beside(database: Path, view: Table, manifest: Manifest) -> Iterator[Problem]:
    """Copies of a manifest and of its signature, beside the database, that say something else."""
    file = manifest_file(database, Names(view.schema or "main", view.name, manifest.run_id))
    signed = manifest.signature
    for path, text in ((file, manifest.text()), (signature_file(file), signed)):
        try:
            found = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue  # a recipient of only the database has no copies
        except (OSError, ValueError):
            found = ""
        if text is None or found != f"{text}\n":
            said = f"{path.name} beside it is not that of the release"
            yield Problem("manifest", said, hint=OTHER)


def other_file(
    database: Path, names: Names, held: Iterable[objects.Recorded] = ()
) -> tuple[str, ...]:
    """In words, the JSON file of another database that the one of a release takes the place of.

    `held`: what the tool made in this database. Two databases of one folder may have releases of
    one name; their files have one name then.
    """
    file = manifest_file(database, names)
    run_id = _run_of(file)
    if run_id is None or run_id in {item.run_id for item in held}:
        return ()
    return (
        f"the file {file.name} beside {database.name} is of another release (run {run_id}) and is"
        " replaced, its signature with it: to keep both, publish into a folder of its own",
    )


def _run_of(file: Path) -> str | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found.get("run_id") if isinstance(found, dict) else None
