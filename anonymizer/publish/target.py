"""The interface of a release's target, common to all engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from anonymizer.algorithms.compiled import STAGED, staged_values
from anonymizer.compile import Table
from anonymizer.contract.layout import Layout
from anonymizer.errors import AnonymizerError, Problem
from anonymizer.policy import Policy
from anonymizer.steps import Step

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from anonymizer.engines.base import Engine
    from anonymizer.engines.session import Session
    from anonymizer.release.manifest import Manifest
    from anonymizer.release.names import Names
    from anonymizer.release.objects import Recorded, Runs
    from anonymizer.release.seal import Sign

WHAT = {"values": "a table"}
"""Kinds of recorded objects that are not called as they are recorded."""
TOGETHER = "whoever has both may learn more than either promises"
"""What follows from a second release of the same persons."""
TRY = ": keep a copy and try anonymizer attack --earlier COPY, or name a ledger"
"""What a policy of one table can do about it."""
COMPARED = "the ledger compares it with all earlier ones that it holds"
"""What is done about it where the policy names a ledger."""
Places: TypeAlias = Callable[[str], Table]
"""Where a further table of the release goes, by its published name."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the rows of a finished run."""

    write: Callable[[Table, Places], None]
    """Write the rows of the view to a table, and the further tables to their places."""
    snapshot: Step
    """The statement that read the source."""


class Target(Protocol):
    """The target of a release. A run calls `check`, `build`, `judged` and `publish`, in this order.

    If anything fails before the end of `publish`, the old release stays as it was.
    """

    names: Names
    warnings: tuple[str, ...]
    """What a user should know of this place."""
    replaces: tuple[str, ...]
    """What publishing will replace or drop, in words; known after `check`."""

    @property
    def place(self) -> Path | None:
        """The file or folder of the release, where it is one."""

    @property
    def readers(self) -> Readers:
        """How the published rows are read back."""

    def check(self, engine: Engine) -> None:
        """Raises TargetError for a place that cannot take the release, before anything is read."""

    def build(self, engine: Engine, writer: Writer) -> None:
        """Write the rows where readers cannot see them yet."""

    def judged(
        self, engine: Engine, layout: Layout
    ) -> AbstractContextManager[tuple[Table, Layout]]:
        """The built rows while they are judged: their view, and the layout with its tables."""

    def publish(self, engine: Engine, manifest: Manifest, sign: Sign | None = None) -> Manifest:
        """Atomically replace the old release by the verified one.

        Returns the manifest as it was written: sealed, and signed if there is a key.
        """

    @property
    def stands(self) -> bool:
        """Whether the release has taken its place, also where `publish` failed afterwards."""

    def discard(self) -> None:
        """Remove what was built and not published. The session has ended by then."""


def replaced_release(
    names: Names,
    earlier: Iterable[Recorded],
    place: str,
    engine: Runs | None = None,
    catalog: str | None = None,
) -> tuple[str, ...]:
    """In words, the release of the same name that the next one takes the place of.

    With an `engine` they say when it was made, by its manifest in `catalog`.
    """
    return tuple(
        f"the release {item.release} of run {item.run_id}{_made(engine, names.view(catalog))}"
        f" in {place} is replaced by the new one; {_together(names)}"
        for item in earlier
        if item.kind == "view" and item.release == names.release
    )


def _together(names: Names) -> str:
    """What the two releases do together, and what can be done about it."""
    if names.compared:
        return COMPARED
    return TOGETHER if names.several else TOGETHER + TRY


def _made(engine: Runs | None, view: Table) -> str:
    """When a release was made, to the minute; nothing where its manifest cannot be read."""
    from anonymizer.release.manifest import read_manifest

    if engine is None:
        return ""
    try:
        created = str(read_manifest(engine, view).data["created"])
    except (AnonymizerError, KeyError):
        return ""
    return f", made {created[:16].replace('T', ' ')},"


def clashes_with_releases(
    names: Names, held: Iterable[Recorded], *, folds: bool = True
) -> list[Problem]:
    """Names of the release that another release of this tool has for something of its own.

    A release `r` has a manifest `r_manifest`, and tables of its own: neither may be overwritten.
    `folds`: whether schemas that differ only in letter case are one to the engine.
    """
    held = tuple(held)
    if folds and (unlike := schemas_written_otherwise(names, (item.schema for item in held))):
        return unlike
    wanted = {
        (item.schema.lower(), item.name.lower()) for item in names.recorded() if item.kind != "rows"
    }
    found = sorted(
        {
            (item.name, item.kind, item.release)
            for item in held
            if item.release != names.release and (item.schema.lower(), item.name.lower()) in wanted
        }
    )
    return [
        Problem(
            names.path,
            f"{name} is {WHAT.get(kind, f'the {kind}')} of the release {release}",
            hint=names.other,
        )
        for name, kind, release in found
    ]


def schemas_written_otherwise(names: Names, schemas: Iterable[str]) -> list[Problem]:
    """A schema of DuckDB that is there, and that the policy names in other letter case: the engine
    takes the two as one, and the seal of the release would name one that is not listed.
    """
    return [
        Problem(
            "publish.schema",
            f"is there as {schema}, and the engine does not tell upper from lower case",
            hint=f"schema: {schema}, or another name",
        )
        for schema in sorted({*schemas} - {names.schema})
        if schema.lower() == names.schema.lower()
    ]


@dataclass(frozen=True, slots=True)
class Readers:
    """How a `Release` reads the published rows."""

    view: Table
    connection: DuckDBPyConnection | None = None
    """A user's connection, which is the only one that sees the release."""
    frame: Callable[[], pd.DataFrame] | None = None
    """Reads the rows from an engine other than DuckDB."""


class StagedTarget:
    """A target whose rows are staged and judged in the run's work tables, and then copied."""

    names: Names
    warnings: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    stands: bool = False
    snapshot: Step | None = None
    """The statement that read the source; known after `build`."""

    @property
    def place(self) -> Path | None:
        """None where a release is in no file or folder."""
        return None

    @property
    def staged(self) -> Mapping[str, Table]:
        """The further tables of the release by their published names, where they are staged."""
        return {name: staged_values(number) for number, name in enumerate(self.names.tables)}

    def build(self, engine: Engine, writer: Writer) -> None:
        del engine
        writer.write(STAGED, self.staged.__getitem__)
        self.snapshot = writer.snapshot

    @contextmanager
    def judged(self, engine: Engine, layout: Layout) -> Iterator[tuple[Table, Layout]]:
        del engine
        tables = {column: self.staged[name].name for column, name in layout.tables.items()}
        yield STAGED, replace(layout, tables=tables)

    def discard(self) -> None:
        """Work tables go with the session."""


class Published(Protocol):
    """Published releases, opened to be verified or copied."""

    @property
    def engine(self) -> Engine:
        """The engine that reads them."""

    def views(self, policy: Policy | None) -> list[Table]:
        """The policy's view, or every view that this tool published there."""

    def manifest(self, view: Table) -> Manifest:
        """Raises NothingToCheckError where the view has no manifest that can be read."""

    def changes(self, view: Table, manifest: Manifest, *, alone: bool) -> Iterator[Problem]:
        """What differs from what the manifest's seal lists; `alone`: from a file of its own."""


class Publisher(Protocol):
    """What `anonymizer.publish.<engine>` offers."""

    def place_of(self, policy: Policy, database: Any) -> Path | None:
        """The file that a release of `policy` will be in, before anything is opened.

        None where it will be in no file. Raises EngineError or TargetError for a file that cannot
        be one.
        """

    def target(self, policy: Policy, session: Session, names: Names) -> Target:
        """The target of the release of `policy`."""

    def published(self, policy: Policy | None, database: Any) -> AbstractContextManager[Published]:
        """Open what was published, read-only."""


def publisher(engine: str) -> Publisher:
    """What publishes on an engine; its library is imported when it is used."""
    return cast(Publisher, import_module(f"anonymizer.publish.{engine}"))
