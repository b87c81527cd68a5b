"""What a fault is played on: a source with planted markers, a target with an older release, and
things of the user's that no run may touch."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits

MARKERS = (b"QXMARKNAME", b"QXMARKKEY", b"QXMARKDROP")
"""Stand in identifiers, keys and dropped columns of every row, and nowhere else."""
ROWS = 60
LIMITS = Limits(threads=1)
OLD_SEED, NEW_SEED = 1, 2

COLUMNS: dict[str, Any] = {
    "id": {"role": "identifier"},
    "name": {"role": "identifier"},
    "note": {"role": "drop"},
    "hide": {"role": "drop"},
    "age": {"role": "quasi"},
    "district": {"role": "drop"},
    "disease": {"role": "sensitive", "protect": {"l_diversity": 2}},
}
LGB_COLUMNS = COLUMNS | {
    "age": {"role": "quasi", "sensitive_when": "hide", "protect": {"l_diversity": 2}},
    "district": {"role": "quasi"},
    "disease": {"role": "sensitive"},
}
INVARIANT_COLUMNS = COLUMNS | {"disease": {"role": "sensitive"}}

KINDS: dict[str, dict[str, Any]] = {
    "lgb": {
        "columns": LGB_COLUMNS,
        "algorithm": {"name": "lgb"},
        "publish": {"name": "released", "database": "release.duckdb"},
    },
    "mondrian": {
        "columns": COLUMNS,
        "publish": {"name": "released", "database": "release.duckdb"},
    },
    "beside": {"columns": COLUMNS, "publish": {"name": "released"}},
    "ledger": {
        "columns": INVARIANT_COLUMNS,
        "republish": {"m": 2},
        "ledger": "private.duckdb",
        "publish": {"name": "released", "database": "release.duckdb"},
    },
    "replace": {"columns": COLUMNS, "publish": {"replace_source": True}},
}
"""Runs on which the full matrix is played: targets, algorithms, ledger."""


@dataclass(frozen=True)
class Stage:
    """A folder with everything in it."""

    folder: Path
    kind: str

    @property
    def source(self) -> Path:
        return self.folder / "source.duckdb"

    @property
    def target(self) -> Path:
        inside = self.kind in ("beside", "replace")
        return self.source if inside else self.folder / "release.duckdb"

    @property
    def saved(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}-saved")

    @property
    def policy(self) -> Policy:
        given = {
            "version": 1,
            "source": {"table": "visits"},
            "key": "id",
            "privacy": {"k_anonymity": 2},
            **KINDS[self.kind],
        }
        return Policy.model_validate(given, context={"base": self.folder})

    def run(self, seed: int = NEW_SEED) -> None:
        replacing = self.kind == "replace"
        anonymizer.run(self.policy, self.source, seed=seed, limits=LIMITS, replace_source=replacing)

    def build(self) -> None:
        """The source, things of the user's beside everything, and the older release."""
        self.folder.mkdir(parents=True)
        with duckdb.connect(str(self.source), config={"threads": 1}) as connection:
            connection.execute(
                "create table visits as select 'QXMARKKEY' || i as id, 'QXMARKNAME' || i as name,"
                " 'QXMARKDROP' || i as note, i % 4 = 0 as hide, 20 + (i * 7) % 40 as age,"
                " (i * 3) % 5 as district, ['flu', 'cold', 'ulcer'][1 + i % 3] as disease"
                f" from range({ROWS}) r(i)"
            ).fetchall()
            connection.execute("create table mine as select 'untouched' as word").fetchall()
            connection.execute("create view my_view as from mine").fetchall()
        with duckdb.connect(str(self.folder / "mine.duckdb")) as connection:
            connection.execute("create table mine as select 1 as one").fetchall()
        # a file that looks like ours and is not
        (self.folder / "release.duckdb.notes.tmp").write_text("mine")
        if self.kind != "replace":
            self.run(OLD_SEED)
            # another release of ours in the same file has to survive as well
            other = self.policy.model_copy(
                update={
                    "publish": self.policy.publish.model_copy(update={"name": "other"}),
                    "ledger": None,
                    "republish": None,
                }
            )
            anonymizer.run(other, self.source, seed=OLD_SEED, limits=LIMITS)
        shutil.copytree(self.folder, self.saved)

    def restore(self) -> None:
        """As it was built, but for what killed runs left."""
        kept = {path.name for path in self.saved.iterdir()}
        for path in self.saved.iterdir():
            shutil.copy2(path, self.folder / path.name)
        for path in self.folder.iterdir():
            if path.name not in kept and not path.name.endswith(".tmp"):
                path.unlink()

    def rows(self) -> str:
        """A digest of what readers of the target see, views and further tables alike."""
        found: list[Any] = []
        with duckdb.connect(str(self.target), read_only=True) as connection:
            names = ["visits"] if self.kind == "replace" else ["released", "other"]
            for name in names:
                found.append(sorted(map(repr, connection.execute(f"from {name}").fetchall())))
            if self.target == self.source:
                found.append(connection.execute("from my_view").fetchall())
                if self.kind == "beside":
                    found.append(connection.execute("from visits order by all").fetchall())
        return hashlib.sha256(json.dumps(found, default=str).encode()).hexdigest()

    def users_files(self) -> dict[str, str]:
        """Digests of the files that no run may touch."""
        names = ["mine.duckdb", "release.duckdb.notes.tmp"]
        if self.target != self.source:
            names.append("source.duckdb")
        return {
            name: hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in names
        }

    def marked(self) -> list[str]:
        """Files that hold a marker and must not: everything but the source's database."""
        return [
            path.name
            for path in sorted(self.folder.iterdir())
            if not path.name.startswith("source.duckdb")
            and any(marker in path.read_bytes() for marker in MARKERS)
        ]

    def leftovers(self, temporary: Path) -> list[str]:
        """What a run that ended must not leave."""
        found = [path.name for path in temporary.glob("anonymizer-run-*")]
        found += [
            path.name
            for path in self.folder.iterdir()
            if path.name.endswith((".tmp", ".wal"))
            # the log of the user's own database is the engine's, and part of it
            and path.name not in ("release.duckdb.notes.tmp", "source.duckdb.wal")
        ]
        return sorted(found)
