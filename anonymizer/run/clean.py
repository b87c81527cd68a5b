"""Removing leftovers of dead runs, and releases that nobody needs any more."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anonymizer.compile import ident, lit
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import SOURCE
from anonymizer.engines.duckdb.sandbox import own_connection, refuse_missing
from anonymizer.errors import AnonymizerError, NothingToCheckError, SourceError
from anonymizer.process import run_folder
from anonymizer.process.files import read_beside
from anonymizer.release import objects
from anonymizer.release.manifest import manifest_file, refresh, signature_file
from anonymizer.release.objects import Names
from anonymizer.release.opening import open_for_reading


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The result of `clean`."""

    removed: tuple[Path, ...]
    kept: tuple[Path, ...]
    """Files that a live run is building."""
    refreshed: tuple[Path, ...] = ()
    """JSON manifests that belonged to another run than the release in the database."""

    def as_dict(self) -> dict[str, list[str]]:
        return {
            "removed": list(map(str, self.removed)),
            "kept": list(map(str, self.kept)),
            "refreshed": list(map(str, self.refreshed)),
        }


def clean(database: str | Path) -> Cleaned:
    """Remove what dead runs left: run folders, and `<database>.<run id>.tmp` files.

    Removes nothing else, and nothing of a live run. Rewrites JSON manifests that a killed run left
    stale. Raises SourceError if the folder of `database` does not exist.
    """
    path = Path(database).resolve()  # for a symbolic link, runs build next to its target
    if not path.parent.is_dir():
        raise SourceError.at("--database", "is in a folder that does not exist")
    removed = remove_leftovers(path, at_least=0.0)
    removed += run_folder.remove_dead(abandoned=0.0)
    kept = [file for file in _building(path) if file.suffix == ".tmp"]
    return Cleaned(tuple(removed), tuple(kept), tuple(_refreshed(path)))


def drop_release(database: str | Path, name: str, limits: Limits | None = None) -> tuple[str, ...]:
    """Drop a release from a DuckDB file: its view, frozen rows, further tables, manifest, and what
    the record says of it, in one transaction. Returns the names of what is gone.

    `name`: the view as `schema.name`, or its name in `main`. Objects that somebody dropped before
    are left out. Raises NothingToCheckError if the file has no such release.
    """
    path = Path(database).resolve()
    refuse_missing(path)
    with (
        own_connection(path, read_only=False, limits=limits or Limits()) as engine,
        engine.transaction("release"),
    ):
        every = objects.object_entries(engine, SOURCE)
        names = {item.release for item in every}
        release = name if name in names else f"main.{name}"
        held = [item for item in every if item.release == release]
        if not held:
            listed = ", ".join(sorted(one.removeprefix("main.") for one in names))
            said = f"{name} is not a release of {path.name}"
            raise NothingToCheckError.at("--drop", said, allowed=listed or "none: it has none")
        ours = objects.standing(engine, SOURCE, every)
        there = objects.present(engine, SOURCE)
        gone = [one for one in held if (one.schema, one.name) in ours & there]
        for one in sorted(gone, key=lambda item: item.kind != "view"):
            kind = "view" if one.kind == "view" else "table"
            engine.raw(f"drop {kind} {ident(one.table(SOURCE))}", "release")
        engine.raw(
            f"delete from {ident(objects.objects_table(SOURCE))} where release = {lit(release)}",
            "release",
        )
    views = [Names(one.schema, one.name, one.run_id) for one in held if one.kind == "view"]
    copies = [copy for view in views for copy in _drop_copies(path, view)]
    return (*(f"{one.schema}.{one.name}" for one in gone), *copies)


def _drop_copies(database: Path, names: Names) -> Iterator[str]:
    """Remove the copy of a release's manifest beside its database, and its signature."""
    for own in (True, False):
        file = manifest_file(database, names, own=own)
        if file.is_file() and names.run_id in read_beside(file):
            for one in filter(Path.is_file, (file, signature_file(file))):
                one.unlink()
                yield one.name


def _refreshed(database: Path) -> list[Path]:
    if not database.is_file():
        return []
    try:
        with open_for_reading(database, "--database") as (engine, catalog):
            return refresh(engine, catalog, database)
    except (AnonymizerError, OSError):
        return []  # no database, or one that is being written: left to the next run


def remove_leftovers(database: Path, at_least: float = run_folder.ABANDONED) -> list[Path]:
    """Remove the files that dead runs were building next to `database`; return them.

    If the run has a folder here, its owner decides. If it has none (it ran elsewhere or lost it),
    the file is removed if no process holds it and it is unchanged for `at_least` seconds.
    """
    dead = [file for file in _building(database) if _is_left(file, at_least)]
    return run_folder.remove_files(dead)


def _building(database: Path) -> list[Path]:
    """Every file with the name of one being built, and its write-ahead log."""
    name = re.compile(re.escape(database.name) + r"\.[0-9a-f]{16}\.tmp(\.wal)?\Z")
    try:
        return sorted(p for p in database.parent.iterdir() if name.match(p.name))
    except OSError:
        return []


def _is_left(file: Path, at_least: float) -> bool:
    run_id = file.name.removesuffix(".wal").removesuffix(".tmp").rsplit(".", 1)[-1]
    if file.is_symlink() or run_folder.is_live(run_id):
        return False
    if run_folder.folder_of(run_id).is_dir():
        return True
    try:
        still = time.time() - file.lstat().st_mtime
    except OSError:
        return False
    return still >= at_least and not _is_held(file)


def _is_held(file: Path) -> bool:
    """Return whether a process holds the lock that the engine takes on an open file."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        with file.open("r+b") as handle:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False
