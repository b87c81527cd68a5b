"""Checks that a release agrees with its manifest, and the manifest with the policy.

Every command that opens a release calls this: verify, report, attack and export.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from anonymizer.compile import Table
from anonymizer.contract.coarse import NODES
from anonymizer.contract.columns import quasi
from anonymizer.contract.tables import in_release
from anonymizer.errors import AnonymizerError, GuaranteeError, Problem
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy, safe_harbor
from anonymizer.policy.columns import weights_given
from anonymizer.policy.paths import column_path
from anonymizer.policy.schema.derived import lead_of, singles_of
from anonymizer.policy.schema.paths import table_path
from anonymizer.privacy.of_policy.requirements import requirements_of, with_paths_of
from anonymizer.release.agreement import other_files
from anonymizer.release.figures import changed, plain, required_of_population, suppression_stated
from anonymizer.release.manifest import LEVEL, Manifest, published_measures
from anonymizer.release.seal import CHANGED, manifest_problems
from anonymizer.release.tables import (
    as_asked,
    known_attacks_of,
    released_tables,
    stated_certificate,
)
from anonymizer.source.coding import coding
from anonymizer.verification.tables import tables_sql
from anonymizer.verification.verify import check_sql

OTHER_POLICY = "use the policy (and --preset) that the release was made with, or run again"
OTHER_VERSION = "it names another version: verify it with that one, or run again; or it was changed"
CLOCKS = timedelta(days=1)
"""How far the clocks of a publisher and a recipient may differ."""
UNREADABLE = (
    *(AnonymizerError, ArithmeticError, AttributeError, LookupError),
    *(RuntimeError, TypeError, ValueError),
)
"""What parameters that are none raise where a question is made of them."""


def refuse_changed(
    policy: AnyPolicy | None, view: Table, manifest: Manifest, changes: Iterable[Problem]
) -> None:
    """Raise GuaranteeError with everything that changed since publication.

    `changes`: differences between the seal and the release's objects. `refuse_other_policy` handles
    a policy of another digest, which may have been edited.
    """
    problems = [*_manifest_changes(policy, view, manifest), *changes]
    GuaranteeError.refuse(problems)


def refuse_not_as_published(
    policy: AnyPolicy, view: Table, manifest: Manifest, changes: Iterable[Problem]
) -> None:
    """Make both checks, to read a release without verifying it. Raises GuaranteeError."""
    refuse_changed(policy, view, manifest, changes)
    refuse_other_policy(policy, manifest)


def refuse_other_policy(policy: AnyPolicy, manifest: Manifest, *, holds: bool = False) -> None:
    """Raise GuaranteeError if the release was made with a policy of another digest, or if a file
    that the policy declares had another one.

    `holds`: the guarantees of this policy were verified and hold.
    """
    if manifest.data.get("policy_digest") != policy.digest():
        said = "is not the one that the release was made with: their digests differ"
        if holds:
            said += "; the guarantees that it asks for hold in the release"
        raise GuaranteeError.at("policy", said, hint=OTHER_POLICY)
    GuaranteeError.refuse(other_files(policy, manifest.data.get("files", {})))


def _manifest_changes(
    policy: AnyPolicy | None, view: Table, manifest: Manifest
) -> Iterator[Problem]:
    yield from manifest_problems(view, manifest)
    if manifest.data.get("certificate") != stated_certificate(manifest):
        yield changed("manifest.certificate", "is not the sentence that this tool writes")
    if datetime.fromisoformat(manifest.data["created"]) > datetime.now(UTC) + CLOCKS:
        said = "is in the future"
        yield Problem("manifest.created", said, hint=f"set the clock of this machine; or {CHANGED}")
    if policy is not None and manifest.kind != policy.release_kind:
        said = f"is {policy.release_kind} in the policy, and the release is {manifest.kind}"
        yield Problem("kind", said, hint=OTHER_POLICY)
    tables = released_tables(manifest)
    children = {one.table for one in tables.children} if tables is not None else set()
    if set(manifest.data["measures"].get("tables", {})) != children:
        yield changed("manifest.measures.tables", "are not those of the release")
    yield from _other_statements(view, manifest)
    if policy is not None and manifest.data.get("policy_digest") == policy.digest():
        yield from _other_demands(policy, manifest)


def _other_demands(of: AnyPolicy, manifest: Manifest) -> Iterator[Problem]:
    """Statements of the manifest that differ from the policy; needs no data."""
    policy = lead_of(of)
    if isinstance(of, SchemaPolicy) and not as_asked(of, manifest):
        said = "are not those of the policy, or have other requirements"
        yield Problem("manifest.tables", said, hint=OTHER_POLICY)
    asked = with_paths_of(requirements_of(policy), manifest.requirements)
    if plain(map(asdict, asked)) != plain(manifest.data["requirements"]):
        yield Problem("manifest.requirements", "are not those of the policy", hint=OTHER_POLICY)
    weights = {c.column: c.weight for c in manifest.layout.columns if c.weight is not None}
    if weights != weights_given(policy.columns):
        yield Problem("manifest.layout", "has other weights than the policy", hint=OTHER_POLICY)
    yield from _other_ends(of, manifest)
    stated = safe_harbor.stated(of) if safe_harbor.applies(of) else None
    if plain(stated or []) != (manifest.data.get("safe_harbor") or []):
        yield Problem("manifest.safe_harbor", "is not that of the policy", hint=OTHER_POLICY)
    if not suppression_stated(manifest).within(policy.suppression_limit):
        said = "is more than the policy's suppression_limit"
        yield Problem("manifest.measures.suppressed", said, hint=OTHER_POLICY)
    for name in sorted(_measured_by(policy, manifest) - manifest.data["measures"].keys()):
        said = "is not stated, and every run of the policy states it"
        yield Problem(f"manifest.measures.{name}", said, hint=OTHER_POLICY)
    if manifest.data.get("algorithm") != policy.algorithm.name:
        yield Problem("manifest.algorithm", "is not that of the policy", hint=OTHER_POLICY)
    if manifest.data.get("known_attacks") != known_attacks_of(of):
        yield Problem("manifest.known_attacks", "are not those of the policy", hint=OTHER_POLICY)


def _measured_by(policy: Policy, manifest: Manifest) -> set[str]:
    """Measures that a run states for what the policy asks, and no release shows."""
    made = {"counterfeits"} if policy.republish is not None and policy.republish.m else set()
    if NODES in manifest.data["measures"]:  # (over levels, an algorithm may find none)
        levels = dict.fromkeys((LEVEL + column.column for column in quasi(manifest.layout)), 0)
        made |= published_measures(levels, policy).keys()
    return made


def _other_ends(of: AnyPolicy, manifest: Manifest) -> Iterator[Problem]:
    """Columns with other top or bottom codes than the policy: they determine how cells are read."""
    tables = released_tables(manifest)
    layouts = {"": manifest.layout}
    if tables is not None:
        layouts = {f"{table_path(one.table)}.": one.layout for one in tables.tables}
    for path, policy in singles_of(of).items():
        for one in layouts[path].columns if path in layouts else ():
            generalized = one.role in ("quasi", "semi")
            spec = coding(policy, one.column, one.sql_type) if generalized else None
            asked = (spec.bottom, spec.top) if spec is not None else (None, None)
            if plain(asked) != [one.bottom, one.top]:
                said = "has intervals with other open ends in the manifest than in the policy"
                yield Problem(f"{path}{column_path(one.column)}", said, hint=OTHER_POLICY)


def _other_statements(view: Table, manifest: Manifest) -> Iterator[Problem]:
    """The SQL for recipients: a version knows what it writes itself, and what it can judge."""
    found = [
        {name: check[name] for name in ("name", "column", "sql")}
        for check in manifest.data["verification"]["checks"]
    ]
    try:
        bare = Table(view.name, view.schema)
        expected = check_sql(bare, manifest.layout, manifest.requirements)
        tables = released_tables(manifest)
        expected += tables_sql(tables, in_release(bare)) if tables is not None else []
        required_of_population(manifest)
    except UNREADABLE:
        yield changed("manifest.requirements", "are none that this tool asks for")
        return
    # (whatever version a manifest names: anybody can write that, and recipients run this SQL)
    if found[: len(expected)] != plain(expected):
        said = "has other SQL than the checks of this layout"
        yield Problem("manifest.verification", said, hint=_whose(manifest))
    if any(check["sql"] is not None for check in found[len(expected) :]):
        said = "has SQL of checks that no requirement asks for"
        yield Problem("manifest.verification", said, hint=_whose(manifest))


def _whose(manifest: Manifest) -> str:
    """A way on from SQL that this version does not write."""
    from anonymizer.version import __version__

    other = manifest.data["versions"].get("anonymizer") != __version__
    return OTHER_VERSION if other else CHANGED
