"""The interface of a release's target, and sources that are replaced by their release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from anonymizer.algorithms.core.compiled import STAGED, staged_values
from anonymizer.compile import Sql, Table
from anonymizer.compile.sql import CREATES
from anonymizer.contract.layout import Layout
from anonymizer.engines.base import Engine, Limits
from anonymizer.errors import AnonymizerError, Problem, SourceError, TargetError
from anonymizer.policy import Policy
from anonymizer.process.text import many
from anonymizer.steps import Step

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from anonymizer.engines.session import Session
    from anonymizer.release.integrity import Sign
    from anonymizer.release.manifest import Manifest
    from anonymizer.release.objects import Names, ObjectEntry, Runs


# Sources that are replaced by their release: consent, and whether they have changed.


def refuse_changed(engine: Engine, snapshot: Step) -> None:
    """Raise SourceError if the source differs from the snapshot: rows that were added since would
    be lost.
    """
    text = snapshot.statement().text
    found = CREATES.match(text)
    assert found is not None
    then, now = Sql(f"from {found['target']}"), Sql(f"({text[found.end() :]})")
    rows = engine.raw(
        f"select (select count(*) from (select * {then} except all {now}))"
        f" + (select count(*) from ({now} except all select * {then}))",
        "publish",
    )
    if rows[0][0]:
        raise SourceError.at(
            "source",
            f"{many(rows[0][0], 'row')} changed while the run was at work, and would be lost",
            hint="run again while nothing writes to the table",
        )


def dropped_source(table: str, lost: Sequence[str]) -> str:
    """Describe what becomes of a source that its release replaces, with what is lost with it."""
    also = f" and with {', '.join(lost)}" if lost else ""
    return (
        f"the source table {table} is dropped with all its rows{also}, and its release is put in"
        " its place"
    )


def refuse_without_consent(agreed: bool) -> None:
    """Raise TargetError unless the caller has agreed to lose the source."""
    if not agreed:
        raise TargetError.at(
            "publish.replace_source",
            "the source table would be replaced for good, and nobody has agreed to that",
            hint="--yes-replace-source (in Python: replace_source=True); have a copy",
        )


# The interface of a release's target, common to all engines.


WHAT = {"values": "a table"}
"""Kinds of recorded objects whose description is not the kind itself."""
TOGETHER = "whoever has both may learn more than either promises"
"""The consequence of a second release of the same persons."""
TRY = ": keep a copy and try anonymizer attack --earlier COPY"
"""The hint for a policy of one table."""
NAME = ", or name a ledger"
"""The rest of it, where an engine keeps one."""
COUNTS = ": groups whose counts changed by few persons show them, so publish it rarely"
"""The hint if the policy makes a table of counts."""
COMPARED = "the ledger compares it with all earlier ones that it holds"
"""The hint if the policy names a ledger."""
SPENT = "whoever has both knows more: the ledger adds up what both spend"
"""The hint if their figures have noise."""
Places: TypeAlias = Callable[[str], Table]
"""Maps the published name of a further table to where it is written."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the rows of a finished run."""

    write: Callable[[Table, Places], None]
    """Write the rows of the view to a table, and the further tables to their places."""
    snapshot: Step
    """The step that read the source."""


class Target(Protocol):
    """The target of a release: a run calls `check`, `build`, `built_rows`, `publish` in this order.

    If anything fails before the end of `publish`, the old release stays as it was.
    """

    names: Names
    warnings: tuple[str, ...]
    """Warnings about this target."""
    replaces: tuple[str, ...]
    """Descriptions of what publishing will replace or drop; known after `check`."""

    @property
    def place(self) -> Path | None:
        """The file or folder of the release, if it is one."""

    @property
    def readers(self) -> Readers:
        """Functions that read the published rows back."""

    def check(self, engine: Engine) -> None:
        """Raise TargetError if the target cannot take the release, before anything is read."""

    def build(self, engine: Engine, writer: Writer) -> None:
        """Write the rows where readers cannot see them."""

    def built_rows(
        self, engine: Engine, layout: Layout
    ) -> AbstractContextManager[tuple[Table, Layout]]:
        """The built rows for verification: their view, and the layout with its tables."""

    def publish(self, engine: Engine, manifest: Manifest, sign: Sign | None = None) -> Manifest:
        """Atomically replace the old release by the verified one.

        Returns the manifest as written: sealed, and signed if there is a key.
        """

    @property
    def is_published(self) -> bool:
        """True if the release was swapped in, even if `publish` failed afterwards."""

    def discard(self) -> None:
        """Remove what was built and not published. The session has already ended."""


def replaced_release(
    names: Names,
    earlier: Iterable[ObjectEntry],
    place: str,
    engine: Runs | None = None,
    catalog: str | None = None,
    *,
    keeps_ledger: bool = True,
) -> tuple[str, ...]:
    """Describe the release of the same name that will be replaced.

    With an `engine`, the description has its date, from its manifest in `catalog`; `keeps_ledger`:
    whether runs on the engine can have a ledger.
    """
    return tuple(
        f"the release {item.release} of run {item.run_id}{_made_at(engine, names.view(catalog))}"
        f" in {place} is replaced by the new one; {_together(names, keeps_ledger=keeps_ledger)}"
        for item in earlier
        if item.kind == "view" and item.release == names.release
    )


def _together(names: Names, *, keeps_ledger: bool) -> str:
    """Describe what the two releases disclose together, and what can be done about it."""
    if names.noise:
        return SPENT
    if names.compared:
        return COMPARED
    if names.counts:
        return TOGETHER + COUNTS
    if names.several:
        return TOGETHER
    return TOGETHER + TRY + (NAME if keeps_ledger else "")


def _made_at(engine: Runs | None, view: Table) -> str:
    """The time at which a release was made, to the minute; empty if its manifest cannot be read."""
    from anonymizer.release.manifest import read_manifest

    if engine is None:
        return ""
    try:
        created = str(read_manifest(engine, view).data["created"])
    except (AnonymizerError, KeyError):
        return ""
    return f", made {created[:16].replace('T', ' ')},"


def clashes_with_releases(
    names: Names, held: Iterable[ObjectEntry], *, folds: bool = True
) -> list[Problem]:
    """Names of the release that another release of this tool uses for a different object.

    A release `r` has a manifest `r_manifest`, and tables of its own; none may be overwritten.
    `folds`: whether the engine ignores the case of schema names.
    """
    held = tuple(held)
    if folds and (unlike := schemas_written_otherwise(names, (item.schema for item in held))):
        return unlike
    wanted = {
        (item.schema.lower(), item.name.lower()) for item in names.entries() if item.kind != "rows"
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
    """An existing DuckDB schema whose name differs from the policy's only in case: the engine
    treats them as one, but the seal would name one that is not in the catalog.
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
    """Functions with which a `Release` reads its published rows."""

    view: Table
    connection: DuckDBPyConnection | None = None
    """The user's connection, if only it sees the release."""
    frame: Callable[[], pd.DataFrame] | None = None
    """Reads the rows from an engine other than DuckDB."""


class StagedTarget:
    """A target whose rows are staged and verified in the run's work tables, and then copied."""

    names: Names
    warnings: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    is_published: bool = False
    snapshot: Step | None = None
    """The step that read the source; known after `build`."""

    @property
    def place(self) -> Path | None:
        """None where a release is in no file or folder."""
        return None

    @property
    def staged(self) -> Mapping[str, Table]:
        """The staging tables of the further tables, by their published names."""
        return {name: staged_values(number) for number, name in enumerate(self.names.tables)}

    def build(self, engine: Engine, writer: Writer) -> None:
        del engine
        writer.write(STAGED, self.staged.__getitem__)
        self.snapshot = writer.snapshot

    @contextmanager
    def built_rows(self, engine: Engine, layout: Layout) -> Iterator[tuple[Table, Layout]]:
        del engine
        tables = {column: self.staged[name].name for column, name in layout.tables.items()}
        yield STAGED, replace(layout, tables=tables)

    def discard(self) -> None:
        """Do nothing: work tables are dropped with the session."""


class PublishedReleases(Protocol):
    """Published releases, opened for verification or copying."""

    @property
    def engine(self) -> Engine:
        """The engine that reads them."""

    @property
    def unlisted(self) -> tuple[str, ...]:
        """Names of other data in the same place that no release lists, if that is allowed there."""

    def views(self, policy: Policy | None) -> list[Table]:
        """The policy's view, or every view that this tool published there."""

    def manifest(self, view: Table) -> Manifest:
        """Read a manifest. Raises NothingToCheckError if the view has no readable one."""

    def changes(self, view: Table, manifest: Manifest, *, alone: bool) -> Iterator[Problem]:
        """The differences from the seal; `alone`: the release is in a separate file."""


class Publisher(Protocol):
    """The interface of `anonymizer.publish.<engine>`."""

    def place_of(self, policy: Policy, database: Any) -> Path | None:
        """The file that a release of `policy` will be in, before anything is opened.

        None if it will be in no file. Raises EngineError or TargetError for a file that cannot
        be one.
        """

    def target(self, policy: Policy, session: Session, names: Names) -> Target:
        """The target of the release of `policy`."""

    def open_published(
        self, policy: Policy | None, database: Any, limits: Limits
    ) -> AbstractContextManager[PublishedReleases]:
        """Open the published releases, read-only, within the limits."""


def publisher(engine: str) -> Publisher:
    """The publisher of an engine; its library is imported on first use."""
    return cast(Publisher, import_module(f"anonymizer.publish.{engine}"))
