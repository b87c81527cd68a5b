"""Opening published releases in a Postgres database, to verify or copy them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymizer.compile import Table, ident
from anonymizer.engines.base import Limits
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.session import address, postgres_engine
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.policy import Policy
from anonymizer.publish.postgres.objects import published_objects, read_manifest, recorded
from anonymizer.release.manifest import Manifest
from anonymizer.release.names import Names
from anonymizer.release.seal import CHANGED, manifest_object, object_problems, seal_of
from anonymizer.release.tables import names_of


@contextmanager
def published_in(database: Any, limits: Limits) -> Iterator[PostgresPublished]:
    """Open the releases of a database."""
    with postgres_engine(address(database), limits) as engine:
        yield PostgresPublished(engine)


@dataclass(frozen=True, slots=True)
class PostgresPublished:
    """The releases of a database."""

    engine: PostgresEngine
    unlisted: ClassVar[tuple[str, ...]] = ()

    def views(self, policy: Policy | None) -> list[Table]:
        if policy is not None:
            return [Names.of(policy, "").view(self.engine.catalog)]
        found = [
            item.table(self.engine.catalog or "")
            for item in recorded(self.engine, trusted=False)
            if item.kind == "view"
        ]
        if not found:
            raise NothingToCheckError.at("--database", "holds no release of this tool")
        return found

    def manifest(self, view: Table) -> Manifest:
        return read_manifest(self.engine, view)

    def changes(self, view: Table, manifest: Manifest, *, alone: bool) -> Iterator[Problem]:
        del alone  # the database may hold objects of the user
        names = names_of(view, manifest)
        kept = manifest_object(names, manifest)
        replaced = not any(
            (item.schema, item.name) == (names.schema, names.rows(None).name)
            for item in recorded(self.engine, trusted=False)
        )
        found = (*published_objects(self.engine, names, replaced=replaced), kept)
        yield from object_problems(seal_of(manifest), found)
        described = self.engine.describe(ident(names.manifest(None)).text, "seal")
        if [name for name, _ in described] != [name for name, _ in kept.columns]:
            yield Problem("release", f"{names.manifest(None).name} has other columns", hint=CHANGED)
