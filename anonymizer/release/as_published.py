"""Opening a release after checking that it is unchanged and the one that its policy describes."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from anonymizer.compile import Table
from anonymizer.contract.tables import Tables
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import GuaranteeError, PolicyError
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.schema.derived import lead_of
from anonymizer.policy.schema.paths import within
from anonymizer.release.agreement import HINT, refuse_other
from anonymizer.release.manifest import Manifest, read_manifest
from anonymizer.release.manifest_files import changes_beside
from anonymizer.release.names import Names
from anonymizer.release.sealing import changes_in_database
from anonymizer.release.tables import refuse_tables_unmet, released_tables
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
    refuse_tables_unmet(policy, tables)
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
