"""What a forger does who knows how releases are sealed: change one, and make the seal anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import duckdb

from anonymizer import Policy, SchemaPolicy
from anonymizer.compile import Table
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.publish.rewrite import rewrite
from anonymizer.release.manifest import Manifest, read_manifest, write_manifest
from anonymizer.release.sealing import objects_of, sealed_in
from anonymizer.release.tables import names_of

P = TypeVar("P", Policy, SchemaPolicy)


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
        engine = DuckDBEngine(connection, owned=True)
        catalog = str(engine.raw("select current_catalog()", "test")[0][0])
        manifest = read_manifest(engine, Table(name, schema, catalog))
        names = names_of(Table(name, schema), manifest)
        found = objects_of(engine, names, catalog)
        made = sealed_in(Manifest(manifest.data), names, found, alone=True, sign=None)
        write_manifest(engine, names, catalog, made)
    for beside in file.parent.glob(f"{name}.manifest.*"):
        beside.unlink()
    rewrite(file)  # what was there before must not be found in its unused space
