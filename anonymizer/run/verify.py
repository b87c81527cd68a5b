"""Verifies published releases again, and certifies them; the same for every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymizer.compile import Table
from anonymizer.contract.checks import Origin, Verification
from anonymizer.contract.reading import in_release
from anonymizer.engines.base import Limits
from anonymizer.engines.registry import chosen_engine
from anonymizer.errors import GuaranteeError, NothingToCheckError, PolicyError, Problem, no_file
from anonymizer.guarantees.requirements import requirements_of, with_paths_of
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.publish.target import PublishedReleases, publisher
from anonymizer.release import signing
from anonymizer.release.across_tables import asked_of, released_tables, tables_unmet
from anonymizer.release.agreement import (
    HINT,
    OTHER_NUMBER,
    cells_apart,
    disagreements,
    files_not_compared,
)
from anonymizer.release.consistency import (
    other_checks,
    refuse_changed,
    refuse_other_figures,
    refuse_other_policy,
    unverified,
)
from anonymizer.release.integrity import of_another, refuse_unknown_columns, seal_of
from anonymizer.release.judge import (
    judge,
    judge_tables,
    refuse_unanswered,
)
from anonymizer.release.lineage import NAMESPACE, run_event
from anonymizer.release.manifest import Manifest
from anonymizer.release.opening import members_at_hand, with_population
from anonymizer.run.problem_paths import at_persons
from anonymizer.verification.fast import fast_release
from anonymizer.verification.questions import Asking, ask_all


def verify(
    policy: AnyPolicy | None,
    database: Any = None,
    *,
    engine: str | None = None,
    population: str | Path | None = None,
    public_key: str | Path | None = None,
    certificate: str | Path | None = None,
    limits: Limits | None = None,
) -> Verification:
    """Verify a release again, from the release alone.

    With a policy, its requirements are judged on its view; without one, those of every manifest in
    the database. In the latter case the publisher is unknown, as `Verification.origin` says. Other
    releases in the file of the policy's are not judged; `Verification.others` names them. What
    manifests state and the release does not show, such as how many rows were left out, is named in
    `Verification.unverified`.

    `database`: the file of the release, or an open DuckDB connection to its database.
    `population`: a file with the population of k_map and delta_presence. `public_key`: the file of
    the public key by which the release, and others in its file, must be signed. `certificate`: the
    file of a certificate of this release, signed by that key; then none needs a signature.
    `engine`, `limits`: as for `run`.

    Raises NothingToCheckError if there is nothing to judge, and GuaranteeError if the release was
    changed, is not signed by this key, or has other columns or roles than the policy.
    """
    stated = _stated(certificate, public_key) if certificate is not None else None
    asked = str(stated["predicate"]["release"]["view"]) if stated is not None else None

    def accept(manifest: Manifest) -> bool:
        if asked is not None:
            return policy is not None or manifest.data.get("view") == asked
        if public_key is not None:
            signing.refuse_unsigned(manifest, public_key)
        return True

    total: Verification | None = None
    kinds: dict[str, str] = {}
    releases, others, unlisted = _releases(
        policy, database, accept, engine, limits, population=population
    )
    if public_key is not None and stated is None:
        _refuse_unsigned(others, public_key)
    for manifest, judged in releases:
        if stated is not None:
            signing.refuse_other_release(stated, manifest)
        total = judged if total is None else total + judged
        kinds |= dict.fromkeys(_views(manifest), manifest.kind)
    if total is None and asked is not None:
        said = f"is of {asked}, and there is no release of this name"
        raise NothingToCheckError.at("certificate", said)
    if total is None:
        raise NothingToCheckError.at("--database", "holds no release of this tool")
    if policy is not None:
        refuse_unanswered(policy, total)
    origin: Origin = "unknown" if policy is None else "policy"
    origin = "signature" if public_key is not None else origin
    named = (*(str(other.data["view"]) for other in others), *unlisted)
    return replace(total, origin=origin, kinds=kinds, others=named)


def _refuse_unsigned(others: Iterable[Manifest], public_key: str | Path) -> None:
    """Raise GuaranteeError unless this key has signed every release in the file."""
    for other in others:
        try:
            signing.refuse_unsigned(other, public_key)
        except GuaranteeError as error:
            raise GuaranteeError(of_another(other, error.problems)) from error


def certify(
    policy: AnyPolicy,
    database: Any = None,
    *,
    sign: str | Path,
    engine: str | None = None,
    population: str | Path | None = None,
    limits: Limits | None = None,
) -> str:
    """Verify the release of a policy again, and sign a certificate of it: a DSSE envelope as JSON.

    `sign`: the file of a private key (Ed25519). Raises GuaranteeError if a guarantee does not hold
    or could not be judged.
    """
    key = signing.private_key(sign)
    manifest, judged = _one(policy, database, engine, limits, population=population)
    GuaranteeError.refuse(
        Problem(item.name, f"was not judged: {item.reason}", hint="--population FILE")
        for item in judged.not_checked
    )
    # (the certificate states the figures of the manifest)
    GuaranteeError.refuse(other_checks(manifest, judged, population=True))
    return signing.signed(signing.PAYLOAD, signing.payload(manifest), key)


def lineage(
    policy: AnyPolicy,
    database: Any = None,
    *,
    engine: str | None = None,
    namespace: str = NAMESPACE,
    sources: str = NAMESPACE,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Verify the release of a policy again, and return the OpenLineage event of its run."""
    if policy.counts is not None:
        policy.one_table("report --as openlineage")
    manifest, _ = _one(policy, database, engine, limits)
    return run_event(policy, manifest, namespace=namespace, sources=sources)


def _one(
    policy: AnyPolicy,
    database: Any,
    engine: str | None,
    limits: Limits | None,
    *,
    population: str | Path | None = None,
) -> tuple[Manifest, Verification]:
    """The manifest and verification of a release. Raises GuaranteeError if a check fails."""
    ((manifest, judged),), *_ = _releases(
        policy, database, lambda _: True, engine, limits, population=population
    )
    if not judged.passed:
        raise GuaranteeError(Problem(c.name, "does not hold") for c in judged.failed)
    refuse_unanswered(policy, judged)
    return manifest, judged


def _views(manifest: Manifest) -> list[str]:
    """The views of a release: one, or one for each of several tables."""
    view = str(manifest.data["view"])
    schema = view.rpartition(".")[0]
    further = manifest.data.get("tables", {}).get("tables", [])[1:]
    return [view, *(f"{schema}.{one['name']}" for one in further)]


def _stated(certificate: str | Path, key: str | Path | None) -> dict[str, Any]:
    """The statement of a certificate that the owner of the key has signed."""
    if key is None:
        said = "is missing: without the key of its owner a certificate proves nothing"
        raise PolicyError.at("--public-key", said, hint="--public-key KEY.pem.pub")
    path = Path(certificate)
    if not path.is_file():
        raise NothingToCheckError.at("--certificate", no_file(certificate))
    signed = signing.signed_payload(path.read_bytes(), signing.PAYLOAD, signing.public_key(key))
    return signing.read(signed)


def _releases(
    policy: AnyPolicy | None,
    database: Any,
    accept: Callable[[Manifest], bool],
    engine: str | None,
    limits: Limits | None,
    *,
    population: str | Path | None = None,
) -> tuple[list[tuple[Manifest, Verification]], list[Manifest], tuple[str, ...]]:
    """Verify every requested release again; also return the others in a file of releases, and the
    names of data that is of none.

    `accept`: whether a release is requested, by its manifest.
    """
    judged, asked = [], set[Table]()
    lead = policy.lead if policy is not None else None
    complete = lead
    if lead is not None and population is not None:
        complete = with_population(lead, Path(population))
    kind = chosen_engine(lead, database, engine)
    place = publisher(kind).open_published(complete, database, limits or Limits())
    with at_persons(policy), place as found:
        for view in found.views(lead):
            manifest = found.manifest(view)
            if accept(manifest):
                again = _repeat_checks(policy, found, view, manifest, complete)
                judged.append((manifest, again))
                asked.add(view)
        alone = lead is not None and lead.publish.database is not None
        alone = alone or any(seal_of(manifest).alone for manifest, _ in judged)
        others = [view for view in found.views(None) if view not in asked] if alone else []
        return judged, [found.manifest(view) for view in others], found.unlisted


def _repeat_checks(
    policy: AnyPolicy | None,
    found: PublishedReleases,
    view: Table,
    manifest: Manifest,
    complete: Policy | None,
) -> Verification:
    """Verify one release: that it is unchanged, then its rows.

    `complete`: the policy with the path of the available population.
    """
    alone = False
    lead = policy.lead if policy is not None else None
    tables = released_tables(manifest)
    if lead is not None:
        GuaranteeError.refuse(disagreements(lead, manifest.layout))
        alone = lead.publish.database is not None
    if policy is not None and policy.several != (tables is not None):
        raise GuaranteeError.at("policy", OTHER_NUMBER, hint=HINT)
    if policy is not None and tables is not None:
        GuaranteeError.refuse(tables_unmet(policy, tables))
        GuaranteeError.refuse(cells_apart(policy, tables))
    refuse_unknown_columns(found.engine, view, manifest)
    refuse_changed(policy, view, manifest, found.changes(view, manifest, alone=alone))
    required = requirements_of(lead) if lead is not None else manifest.requirements
    required = with_paths_of(required, manifest.requirements)
    members = members_at_hand(complete, found.engine, manifest.layout)
    ask: Asking = ask_all
    if found.engine.embedded:
        ask = fast_release(view, manifest.layout)
    judged = judge(found.engine, view, manifest.layout, required, members, ask)
    if tables is not None:
        tables = tables if policy is None else asked_of(policy, tables)
        judged += judge_tables(found.engine, tables, in_release(view))
    if judged.passed:
        if policy is not None:
            refuse_other_policy(policy, manifest, holds=True)
        refuse_other_figures(found.engine, view, manifest, judged)
        stated = manifest.data.get("files", {})
        told = files_not_compared(policy, stated) if policy is not None else tuple(stated)
        judged = replace(judged, unverified=tuple(sorted({*unverified(manifest), *told})))
    return judged
