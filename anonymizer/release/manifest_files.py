"""The JSON files beside a database of releases. The manifest in the database is the authority."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from anonymizer.engines.duckdb import DuckDBEngine
from anonymizer.errors import NothingToCheckError
from anonymizer.release import objects
from anonymizer.release.manifest import manifest_file, read_manifest, write_manifest_file
from anonymizer.release.names import Names


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


def _run_of(file: Path) -> str | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found.get("run_id") if isinstance(found, dict) else None
