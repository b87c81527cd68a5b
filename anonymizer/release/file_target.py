"""Publishing into a file of its own: built aside, judged from its bytes, swapped in at once.

The target itself is never opened for writing. A reader keeps the release that it has open.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb import DuckDBEngine
from anonymizer.errors import EngineError, Problem, TargetError
from anonymizer.release import objects
from anonymizer.release.manifest_files import refresh
from anonymizer.release.names import Names

BUILT = "anon_release"
PREVIOUS = "anon_previous"

Identity: TypeAlias = tuple[int, int, int, int] | None
"""Device, inode, size and time of a file; None where there is none."""


@dataclass(frozen=True, slots=True)
class FileTarget:
    """The database file of a release, and the file in which the next one is built."""

    path: Path
    names: Names

    @property
    def building(self) -> Path:
        return building_of(self.path, self.names.run_id)

    @property
    def _wal(self) -> Path:
        return self.path.with_name(f"{self.path.name}.wal")

    def check(self) -> None:
        """Raises TargetError for a target that cannot be replaced."""
        import duckdb

        self.check_place()
        with duckdb.connect() as connection:
            self.check_content(DuckDBEngine(connection, owned=True))

    def check_place(self) -> None:
        """Raises TargetError for a place in which no file can be replaced."""
        where = "publish.database"
        folder = self.path.parent
        if not folder.is_dir():
            raise TargetError(Problem(where, "is in a folder that does not exist"))
        if not os.access(folder, os.W_OK):
            raise TargetError(Problem(where, "is in a folder that cannot be written"))
        if self._wal.exists():
            raise TargetError(
                Problem(
                    where,
                    "has a write-ahead log beside it, so another process may be writing to it",
                    hint="close that process, or open and close the file once with duckdb",
                )
            )
        if self.path.exists() and not (self.path.is_file() and os.access(self.path, os.W_OK)):
            raise TargetError(Problem(where, "is not a file that can be replaced"))

    def check_content(self, engine: DuckDBEngine) -> None:
        """Raises TargetError for a file that holds what is not ours.

        Touches nothing but the JSON files of its releases, where a killed run left them stale.
        """
        if not self.path.exists():
            return
        where = "publish.database"
        try:
            engine.raw(f"attach {lit(str(self.path))} as {PREVIOUS} (read_only)", where)
        except EngineError as error:
            raise TargetError(
                Problem(
                    where,
                    "exists and cannot be opened as a DuckDB database, or is locked",
                    hint="close the process that writes to it, or name another file",
                )
            ) from error
        try:
            others = objects.foreign(engine, PREVIOUS)
            if not others:
                refresh(engine, PREVIOUS, self.path)
        finally:
            engine.raw(f"detach {PREVIOUS}", where)
        if others:
            listed = ", ".join(sorted(f"{schema}.{name}" for schema, name in others)[:3])
            raise TargetError(
                Problem(
                    where,
                    f"holds {len(others)} objects that this tool did not publish ({listed})",
                    hint="name a file of its own for the release",
                )
            )

    @contextmanager
    def opened(self, engine: DuckDBEngine, *, read_only: bool) -> Iterator[str]:
        """Attach the file that is being built; yields its catalog."""
        mode = " (read_only)" if read_only else ""
        engine.raw(f"attach {lit(str(self.building))} as {BUILT}{mode}", "publish.database")
        try:
            yield BUILT
        finally:
            engine.raw(f"detach {BUILT}", "publish.database")

    def carry_over(self, engine: DuckDBEngine) -> None:
        """Copy the other releases of ours from the target into the file that is being built."""
        if not self.path.exists():
            return
        engine.raw(f"attach {lit(str(self.path))} as {PREVIOUS} (read_only)", "publish.database")
        try:
            kept = [
                item
                for item in objects.recorded(engine, PREVIOUS)
                if item.release != self.names.release
            ]
            for item in kept:
                create_schema(engine, BUILT, item.schema)
                if item.kind != "view":
                    engine.raw(
                        f"create table {ident(item.table(BUILT))} as"
                        f" from {ident(item.table(PREVIOUS))}",
                        "publish.database",
                    )
            for item in kept:
                if item.kind == "view":
                    copy_view(engine, item)
            objects.record(engine, BUILT, kept)
        finally:
            engine.raw(f"detach {PREVIOUS}", "publish.database")

    def identity(self) -> Identity:
        """Which file the target is; another run that publishes makes it another one."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def swap(self, replaced: Identity) -> None:
        """Make the built file the target, durably. Readers see the old file or the new one.

        Raises TargetError where the target is not what it was when its other releases were
        carried over: another run has published, and its release must not get lost.
        """
        with self.building.open("rb") as handle:
            os.fsync(handle.fileno())
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            _lock(folder)  # two runs that compare and replace take turns
            if self.identity() != replaced:
                raise TargetError(
                    Problem(
                        "publish.database",
                        "was replaced by another run while this one was at work",
                        hint="run again, one run after the other",
                    )
                )
            self.building.replace(self.path)
            os.fsync(folder)
        finally:
            os.close(folder)

    def discard(self) -> None:
        """Remove what was built and not swapped in."""
        for path in (self.building, self.building.with_name(f"{self.building.name}.wal")):
            path.unlink(missing_ok=True)


def building_of(path: Path, run_id: str) -> Path:
    """Where a run builds what will become `path`: a name that clean-up knows."""
    return path.with_name(f"{path.name}.{run_id}.tmp")


def _lock(folder: int) -> None:
    """Lock an open folder until it is closed, where the system can."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(folder, fcntl.LOCK_EX)


def create_schema(engine: DuckDBEngine, catalog: str, schema: str) -> None:
    """Make the schema of a release where it is missing."""
    engine.raw(f"create schema if not exists {ident(Table(schema, None, catalog))}", "publish")


def create_view(engine: DuckDBEngine, names: Names, catalog: str) -> None:
    """The published view: everything of the frozen rows, and nothing else."""
    columns = engine.describe(ident(names.rows(catalog)).text, "publish")
    listed = ", ".join(ident(name).text for name, _ in columns)
    # the view names no catalog, so that it runs under any name the file is attached as
    engine.raw(
        f"create or replace view {ident(names.view(catalog))} as"
        f" select {listed} from {ident(names.rows(None))}",
        "publish",
    )


def copy_view(engine: DuckDBEngine, item: objects.Recorded) -> None:
    """Make the view of another release again, over that release's copied rows."""
    names = Names(item.schema, item.name, item.run_id)
    create_view(engine, names, BUILT)
