"""What a forger does who knows how releases are sealed: change one, and make the seal anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import duckdb

from anonymizer import Policy, SchemaPolicy
from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.ledger.entries import entries
from anonymizer.ledger.seal import digests, list_releases, seal
from anonymizer.ledger.store import LISTING, RELEASES, attached, key_checks, read_key, settle_down
from anonymizer.publish.rewrite import rewrite
from anonymizer.release.across_tables import names_of
from anonymizer.release.integrity import objects_of, sealed_in
from anonymizer.release.manifest import Manifest, read_manifest, write_manifest

P = TypeVar("P", Policy, SchemaPolicy)
VIEW = "people_anonymous"
ROWS = [(20 + i % 30, "mf"[i % 2], f"v{i % 5}", i % 7) for i in range(120)]
COLUMNS: dict[str, Any] = {
    "age": "quasi",
    "sex": "quasi",
    "illness": {"role": "sensitive", "protect": {"l_diversity": 2}},
    "visits": "keep",
}
TYPES = {"age": "INTEGER", "sex": "VARCHAR", "illness": "VARCHAR", "visits": "INTEGER"}


@dataclass(frozen=True, slots=True)
class Place(Generic[P]):
    """A signed release, its policy, and the key that it is verified with."""

    folder: Path
    policy: P

    @property
    def file(self) -> Path:
        return self.folder / "release.duckdb"

    @property
    def key(self) -> Path:
        return self.folder / "key.pem.pub"


def seal_again(file: Path, name: str, schema: str = "main") -> None:
    """Seal what stands in a file of one release, without a signature."""
    with duckdb.connect(str(file)) as connection:
        engine = DuckDBEngine(connection, owns_connection=True)
        catalog = str(engine.raw("select current_catalog()", "test")[0][0])
        manifest = read_manifest(engine, Table(name, schema, catalog))
        names = names_of(Table(name, schema), manifest)
        found = objects_of(engine, names, catalog)
        made = sealed_in(Manifest(manifest.data), names, found, alone=True, sign=None)
        write_manifest(engine, names, catalog, made)
    for beside in file.parent.glob(f"{name}.manifest.*"):
        beside.unlink()
    rewrite(file)  # what was there before must not be found in its unused space


def seal_ledger_again(ledger: Path, *, before_lists: bool = False) -> None:
    """Seal every release in a ledger as it stands there, by the ledger's key, and list them.

    `before_lists`: as an earlier version did, which kept no list.
    """
    key = read_key(ledger)
    assert key is not None
    with own_connection(None, databases=[ledger]) as engine, attached(engine, ledger):
        if before_lists:
            old = lit(key_checks(key)[1])
            engine.raw(f"update {ident(RELEASES)} set key_check = {old}", "test")
        for entry in entries(engine):
            text = f"update {ident(RELEASES)} set seal = {lit(seal(key, entry, digests(engine)))}"
            engine.raw(f"{text} where release = {lit(entry.release)}", "test")
        if before_lists:
            engine.raw(f"drop table {ident(LISTING)}", "test")
        else:
            list_releases(engine, key)
        settle_down(engine)
