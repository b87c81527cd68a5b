"""Opening a published release for reading: from its file, or on a user's open connection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

from anonymizer.compile import Table, ident, lit, quote
from anonymizer.contract.tables import Tables
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.borrowed import refuse_transaction
from anonymizer.engines.duckdb.connection import SOURCE, DuckDBEngine, afterwards
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.duckdb.session import usual_settings
from anonymizer.engines.session import Database
from anonymizer.errors import EngineError, GuaranteeError, PolicyError, SourceError
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.schema.derived import lead_of
from anonymizer.policy.schema.paths import within
from anonymizer.release.agreement import HINT, refuse_other
from anonymizer.release.manifest import Manifest, read_manifest
from anonymizer.release.manifest_files import changes_beside
from anonymizer.release.names import Names
from anonymizer.release.population import AT_HAND
from anonymizer.release.sealing import changes_in_database
from anonymizer.release.tables import released_tables, tables_unmet
from anonymizer.release.unchanged import refuse_not_as_published
from anonymizer.release.unknown_columns import refuse_unknown_columns


def unchanged(
    policy: Policy, engine: DuckDBEngine, catalog: str, file: Path
) -> tuple[Table, Manifest]:
    """The view and the manifest of the release of `policy` in `file`.

    Raises NothingToCheckError if there is none, PolicyError if the policy has other columns, and
    GuaranteeError if the release was changed. Its guarantees are not verified again.
    """
    view = Names.of(policy, "").view(catalog)
    manifest = read_manifest(engine, view)
    refuse_other(policy, manifest.layout)
    _refuse_changed(policy, engine, view, manifest, file)
    return view, manifest


def unchanged_tables(
    policy: SchemaPolicy, engine: DuckDBEngine, catalog: str, file: Path
) -> tuple[Table, Manifest, Tables]:
    """Like `unchanged`, for several tables: the view is that of the persons."""
    view = Names.of(policy, "").view(catalog)
    manifest = read_manifest(engine, view)
    try:
        refuse_other(lead_of(policy), manifest.layout)
    except PolicyError as error:
        raise PolicyError(within(policy.person, error.problems)) from None
    tables = released_tables(manifest)
    if tables is None:
        raise GuaranteeError.at("policy", "is of several tables, and the release of one", hint=HINT)
    GuaranteeError.refuse(tables_unmet(policy, tables))
    _refuse_changed(policy, engine, view, manifest, file, tables)
    return view, manifest, tables


def _refuse_changed(
    policy: AnyPolicy,
    engine: DuckDBEngine,
    view: Table,
    manifest: Manifest,
    file: Path,
    tables: Tables | None = None,
) -> None:
    refuse_unknown_columns(engine, view, manifest.layout, tables)
    alone = policy.publish.database is not None
    inside = changes_in_database(engine, view, manifest, alone=alone)
    changes = chain(inside, changes_beside(file, view, manifest))
    refuse_not_as_published(policy, view, manifest, changes)


def place_of(policy: Policy | None, database: Path, option: str = "--database") -> str:
    """Where the file of a release was named: the path in the policy, or the option."""
    named = policy.publish.database if policy is not None else None
    if policy is not None and named is not None and _same(policy.resolve(named), database):
        return "publish.database"
    return option


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


@contextmanager
def opened(
    database: Database, where: str, files: Sequence[Path] = (), limits: Limits | None = None
) -> Iterator[tuple[DuckDBEngine, str]]:
    """The engine that reads a release, and the catalog of the release.

    A file is opened read-only, within the `limits`, in the sandbox, where only it and the `files`
    can be accessed. A user's connection is used itself, since no other one sees an in-memory
    database, and is left unchanged. Raises EngineError if neither can be opened.
    """
    assert database is not None
    if isinstance(database, str | Path):
        path = Path(database).resolve()
        with ExitStack() as stack:
            try:
                engine = stack.enter_context(
                    own_connection(path, files=files, limits=limits or Limits(), where=where)
                )
            except SourceError as error:  # as an error of a release, not of a source
                raise EngineError(error.problems) from error
            yield engine, SOURCE
        return
    refuse_transaction(database)
    with usual_settings(database):
        engine = DuckDBEngine(database, owned=False)
        catalog, schema = engine.raw("select current_catalog(), current_schema()", where)[0]
        # a macro there must not shadow a built-in function
        place = f"{quote(str(catalog))}.{quote(str(schema))}"
        engine.raw(f"set search_path = {lit(f'system.main,{place}')}", where)
        try:
            yield engine, str(catalog)
        finally:
            with afterwards(where):
                engine.raw(f"drop table if exists {ident(AT_HAND)}", where)
