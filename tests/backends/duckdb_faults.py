"""Faults of the embedded engine: what others do to its files while a run is at work."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits
from anonymizer.engines.execute import Listener
from tests.backends.faults import COLUMNS, SOURCE, Stage
from tests.backends.tables import PEOPLE
from tests.runs import fill


@dataclass
class Files(Stage):
    """A folder with the files of a source and of a release; `kind`: duckdb or parquet."""

    folder: Path
    kind: str

    @property
    def source(self) -> Path:
        return self.folder / f"people.{self.kind}"

    @property
    def release(self) -> Path:
        return self.folder / "out" / "release.duckdb"

    @property
    def runs(self) -> Path:
        """The folder of runs, to which `ANONYMIZER_TMPDIR` leads."""
        return self.folder / "runs"

    @property
    def policy(self) -> Policy:
        table = {"table": "people"} if self.kind == "duckdb" else {"file": str(self.source)}
        return Policy.model_validate(
            {
                "version": 1,
                "engine": "duckdb",
                "source": table,
                "columns": COLUMNS,
                "privacy": {"k_anonymity": 4},
                "publish": {"name": "released", "database": str(self.release)},
            }
        )

    def build(self) -> None:
        self.runs.mkdir()
        self.release.parent.mkdir()
        self.write(self.source, SOURCE)
        Stage.build(self)

    def write(self, path: Path, rows: list[Any]) -> None:
        """Write a source with these rows."""
        with duckdb.connect(str(path) if self.kind == "duckdb" else ":memory:") as connection:
            fill(connection, PEOPLE, rows, "people")
            if self.kind == "parquet":
                connection.execute(f"copy people to '{path}' (format parquet)").fetchall()

    def run(self, seed: int, listener: Listener | None = None) -> object:
        source = self.source if self.kind == "duckdb" else None
        limits = Limits(threads=1)
        return anonymizer.run(self.policy, source, seed=seed, listener=listener, limits=limits)

    def published(self) -> list[Any]:
        with duckdb.connect(str(self.release), read_only=True) as connection:
            return connection.execute("from main.released").fetchall()

    def passes(self) -> bool:
        return anonymizer.verify(self.policy).passed

    def left(self) -> list[str]:
        found = {
            path.name for folder in (self.runs, self.release.parent) for path in folder.iterdir()
        }
        return sorted(found - {"release.duckdb", "released.manifest.json"})


def remove_source(files: Files) -> None:
    """Somebody removes the source."""
    files.source.unlink()


def replace_source(files: Files) -> None:
    """Somebody puts another table in the place of the source."""
    other = files.folder / f"other.{files.kind}"
    files.write(other, SOURCE[:20])
    other.replace(files.source)


def remove_runs(files: Files) -> None:
    """Somebody tidies up the folder for temporary files."""
    for path in files.runs.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def remove_built(files: Files) -> None:
    """Somebody removes the file that the run is building."""
    for path in files.release.parent.glob("*.tmp"):
        path.unlink()


FAULTS: tuple[tuple[str, str, Callable[[Files], None], str], ...] = (
    ("duckdb", "read the source", remove_source, ""),
    ("duckdb", "read the source", replace_source, ""),
    ("parquet", "read the source", remove_source, ""),
    ("parquet", "read the source", replace_source, ""),
    ("duckdb", "final classes", remove_runs, ""),
    ("duckdb", "write the release", remove_built, "reading or writing failed"),
)
"""The form of the source, the step after which somebody does something, and what the run says;
empty: it goes on with what it has read, and publishes that."""
