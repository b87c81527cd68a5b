"""The JSON files next to a database of releases. The manifest in the database is authoritative."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from anonymizer.compile import Table, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine, detaching
from anonymizer.engines.duckdb.sandbox import is_database, own_connection
from anonymizer.errors import AnonymizerError, NothingToCheckError, Problem
from anonymizer.process.files import read_beside
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


NEIGHBOUR = "anon_neighbour"


def file_of(database: Path, names: Names, held: Iterable[objects.Recorded]) -> Path:
    """The path of the JSON file of a release in `database`.

    Two databases in one folder may have releases of the same name. The first has
    `<name>.manifest.json`; the file of the other begins with the name of its database, so that they
    do not overwrite each other. `held`: objects of the tool in this database.
    """
    own, plain = manifest_file(database, names, own=True), manifest_file(database, names)
    if own.exists():
        return own
    run_id = _run_of(plain)
    if run_id is None or run_id in {names.run_id, *(item.run_id for item in held)}:
        return plain
    return own if _is_of_neighbour(database, names.release, run_id) else plain


def _is_of_neighbour(database: Path, release: str, run_id: str) -> bool:
    """Whether another database of the folder holds this run; locked databases are skipped."""
    others = [file for file in sorted(database.parent.iterdir()) if file.name != database.name]
    others = [file for file in others if is_database(file)]
    with own_connection(None, databases=others) as gate:
        return any(_holds(gate, file, release, run_id) for file in others)


def _holds(gate: DuckDBEngine, file: Path, release: str, run_id: str) -> bool:
    try:
        gate.raw(f"attach {lit(str(file))} as {NEIGHBOUR} (type duckdb, read_only)", "release")
    except AnonymizerError:
        return False
    with detaching(gate, NEIGHBOUR, "release"):
        try:
            held = objects.recorded(gate, NEIGHBOUR)
        except AnonymizerError:
            return False  # a table of that name that the tool did not make
    return any((item.release, item.run_id) == (release, run_id) for item in held)


def refresh(engine: DuckDBEngine, catalog: str, database: Path) -> list[Path]:
    """Write the files that are missing or belong to another run than the release; return them.

    A run that is killed between its swap and the writing of its file leaves such a file.
    """
    written = []
    held = objects.recorded(engine, catalog)
    for item in held:
        if item.kind != "view":
            continue
        try:
            manifest = read_manifest(engine, item.table(catalog))
        except NothingToCheckError:
            continue
        file = file_of(database, Names(item.schema, item.name, item.run_id), held)
        if _run_of(file) != manifest.run_id:
            aside = database.with_name(f"{database.name}.{secrets.token_hex(8)}.tmp")
            write_manifest_file(file, manifest, aside)
            written.append(file)
    return written


def changes_beside(database: Path, view: Table, manifest: Manifest) -> Iterator[Problem]:
    """Copies of a manifest and of its signature, next to the database, that differ from it."""
    names = Names(view.schema or "main", view.name, manifest.run_id)
    own = manifest_file(database, names, own=True)
    file = own if own.exists() else manifest_file(database, names)
    signed = manifest.signature
    for path, text in ((file, manifest.text()), (signature_file(file), signed)):
        try:
            found = read_beside(path)
        except FileNotFoundError:
            continue  # a recipient of the database alone has no copies
        except (OSError, ValueError):
            found = ""
        if text is None or found != f"{text}\n":
            said = f"{path.name} beside it is not that of the release"
            yield Problem("manifest", said, hint=OTHER)


def other_file(
    database: Path, names: Names, held: Iterable[objects.Recorded] = ()
) -> tuple[str, ...]:
    """A warning if the JSON file of another release is overwritten.

    `held`: objects of the tool in this database. The database of the other one is gone or locked.
    """
    held = tuple(held)
    file = file_of(database, names, held)
    run_id = _run_of(file)
    if run_id is None or run_id in {item.run_id for item in held}:
        return ()
    return (
        f"the file {file.name} beside {database.name} is of another release (run {run_id}) and is"
        " replaced, its signature with it: to keep both, publish into a folder of its own",
    )


def _run_of(file: Path) -> str | None:
    try:
        found = json.loads(read_beside(file))
    except (OSError, ValueError, RecursionError):
        return None
    return found.get("run_id") if isinstance(found, dict) else None
