"""What a fault is played on: a source with planted markers, a target with an older release, and
things of the user's that no run may touch."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits
from anonymizer.ledger.session import listed
from anonymizer.policy import AggregatePolicy, AnyPolicy, SchemaPolicy
from anonymizer.policy.values import FrozenMap

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

TABLES: dict[str, Any] = {
    "person": "visits",
    "tables": {
        "visits": {
            "source": {"table": "visits"},
            "key": "id",
            "columns": {
                "id": {"role": "key"},
                "name": {"role": "identifier"},
                "note": {"role": "drop"},
                "hide": {"role": "drop"},
                "age": {"role": "quasi"},
                "district": {"role": "quasi"},
                "disease": {"role": "sensitive"},
            },
        },
        "stays": {
            "source": {"table": "stays"},
            "key": "stay",
            "links": {"id": "visits"},
            "columns": {
                "stay": {"role": "key"},
                "id": {"role": "key"},
                "ward": {"role": "event"},
                "drug": {"role": "sensitive", "protect": {"l_diversity": 2}},
            },
        },
        "tests": {
            "source": {"table": "tests"},
            "links": {"stay": "stays"},
            "columns": {"stay": {"role": "key"}, "test": {"role": "event"}},
        },
    },
    "privacy": {"k_anonymity": 2, "knows": {"events": 1}},
}
PUBLISHED = {"visits": "released", "stays": "released_stays", "tests": "released_tests"}
"""The names of a release of several tables."""

COUNTS: dict[str, Any] = {
    "person": "id",
    "aggregate": {
        "by": {"district": {}, "age": {"bands": [20, 30, 40, 50]}},
        "measures": {"persons": {"count": "persons"}},
    },
    "protect": {"minimum": 3},
    "publish": {"name": "released", "database": "release.duckdb"},
}
REST: dict[str, Any] = COUNTS | {"rest": {"limit": 1.0}}
SUPPRESS: dict[str, Any] = COUNTS | {"method": "suppress", "suppress": {"limit_s": 0}}

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
    "tables": {**TABLES, "publish": {"names": PUBLISHED, "database": "release.duckdb"}},
    "tables_beside": {**TABLES, "publish": {"names": PUBLISHED}},
    "rest": REST,
    "rest_ledger": REST | {"ledger": "private.duckdb"},
    "suppress": SUPPRESS,
    "suppress_ledger": SUPPRESS | {"ledger": "private.duckdb"},
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
        inside = self.kind in ("beside", "replace", "tables_beside")
        return self.source if inside else self.folder / "release.duckdb"

    @property
    def saved(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}-saved")

    @property
    def several(self) -> bool:
        """Whether the policy has several tables."""
        return "tables" in KINDS[self.kind]

    @property
    def policy(self) -> AnyPolicy:
        given = {
            "version": 1,
            "source": {"table": "visits"},
            "key": "id",
            "privacy": {"k_anonymity": 2},
            **KINDS[self.kind],
        }
        if self.several:
            del given["source"], given["key"]
        if self.counts:
            del given["key"], given["privacy"]
        return cast("AnyPolicy", Policy.model_validate(given, context={"base": self.folder}))

    @property
    def counts(self) -> bool:
        """Whether the policy makes a table of counts, which is the same with every seed."""
        return "aggregate" in KINDS[self.kind]

    @property
    def earlier(self) -> AnyPolicy:
        """The policy of the older release: of counts it is another one, that says less."""
        policy = self.policy
        if not isinstance(policy, AggregatePolicy):
            return policy
        first = dict([*policy.by.items()][:1])
        less: dict[str, dict[str, Any]] = {
            "rest": {"margins": "none"},
            "suppress": {"by": FrozenMap(first)},
        }
        counted = policy.aggregate.model_copy(update=less[policy.method])
        return policy.model_copy(update={"aggregate": counted})

    @property
    def other(self) -> AnyPolicy:
        """Another release in the same place."""
        policy = self.policy
        if isinstance(policy, SchemaPolicy):
            names = {table: name.replace("released", "other") for table, name in PUBLISHED.items()}
            changes: dict[str, Any] = {"names": FrozenMap(names)}
            publish = policy.publish.model_copy(update=changes)
            return policy.model_copy(update={"publish": publish})
        publish_one = policy.publish.model_copy(update={"name": "other"})
        return policy.model_copy(update={"publish": publish_one, "ledger": None, "republish": None})

    @property
    def views(self) -> list[str]:
        """What readers of the target see."""
        if self.kind == "replace":
            return ["visits"]
        names = list(PUBLISHED.values()) if self.several else ["released"]
        return names + [name.replace("released", "other") for name in names]

    def run(self, seed: int = NEW_SEED) -> None:
        replacing = self.kind == "replace"
        policy = self.earlier if seed == OLD_SEED else self.policy
        anonymizer.run(policy, self.source, seed=seed, limits=LIMITS, replace_source=replacing)

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
            connection.execute(
                f"create table stays as select 100 + i as stay, 'QXMARKKEY' || i % {ROWS} as id,"
                " ['eyes', 'heart', 'skin'][1 + i % 3] as ward,"
                " ['iron', 'zinc', 'gold', 'tin'][1 + i % 4] as drug"
                f" from range({2 * ROWS}) r(i)"
            ).fetchall()
            connection.execute(
                "create table tests as select 100 + i as stay, 'ab'[1 + i % 2] as test"
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
            anonymizer.run(self.other, self.source, seed=OLD_SEED, limits=LIMITS)
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
            for name in self.views:
                found.append(sorted(map(repr, connection.execute(f"from {name}").fetchall())))
            if self.target == self.source:
                found.append(connection.execute("from my_view").fetchall())
                for name in ["visits", "stays", "tests"] if self.kind != "replace" else []:
                    found.append(connection.execute(f"from {name} order by all").fetchall())
        return hashlib.sha256(json.dumps(found, default=str).encode()).hexdigest()

    def recorded(self) -> list[str]:
        """The states of the releases in the ledger."""
        ledger = KINDS[self.kind].get("ledger")
        return [entry.state for entry in listed(self.folder / ledger)] if ledger else []

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
