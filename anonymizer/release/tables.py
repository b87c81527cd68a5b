"""A release of several tables: what its manifest says of them, and what they have to keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from anonymizer.contract.checks import Verification, verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.contract.tables import Released, Tables, in_release
from anonymizer.engines.base import Engine
from anonymizer.errors import GuaranteeError, NothingToCheckError, Problem
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.policy.masking import MASKS
from anonymizer.policy.schema.derived import IDENTITY, child_policy, lead_of, persons_policy
from anonymizer.policy.schema.paths import table_path
from anonymizer.privacy.of_policy.promises import unanswered
from anonymizer.privacy.of_policy.registry import GUARANTEES
from anonymizer.privacy.of_policy.requirements import requirements_of, with_paths
from anonymizer.release.agreement import HINT
from anonymizer.release.certificate import acknowledged, certificate, joined_on, known_attacks
from anonymizer.release.judge import path_of, unmet
from anonymizer.release.manifest import Manifest
from anonymizer.release.names import Names
from anonymizer.source.masking.masks import options_told
from anonymizer.verification.questions import ask_all
from anonymizer.verification.tables import Where, tables_questions, tables_sql

PUBLISHED = {"event": "quasi", **dict.fromkeys(MASKS, "keep")}
"""Roles of a policy as a layout has them."""
CERTIFICATE = (
    " Not promised: that nothing follows from knowing which events a person does not have, from"
    " what else stands in rows like a known one (rules count all rows of those who remain), from"
    " the order of events or the time between them (unless a column shows it), from more events"
    " than stated, or from what the choice of levels itself tells."
)
"""What the certificate of several tables says besides."""

BY_FIELD = {guarantee.field: guarantee for guarantee in GUARANTEES}
OF_VALUES = {
    ask.name.format(name=guarantee.name)
    for guarantee in GUARANTEES
    for ask in guarantee.asks_in("class")
    if ask.of == "values"
}
"""Names of the checks of rules on the values of a column."""
Paths = Mapping[tuple[str, str], Mapping[str, Any]]


def tables_of(policy: SchemaPolicy, layouts: Mapping[str, Layout], paths: Paths) -> Tables:
    """The tables of a release by their layouts, the persons' first."""
    knows = policy.privacy.knows
    assert policy.privacy.k_anonymity is not None
    listed = [policy.person, *policy.children]
    return Tables(
        policy.person,
        policy.privacy.k_anonymity,
        knows.events if policy.events else 0,
        knows.rows,
        knows.sensitive,
        tuple(
            Released(
                name, policy.view(name), layouts[name], tuple(required_in(policy, name, paths))
            )
            for name in listed
        ),
        tuple(_with_paths(requirements_of(persons_policy(policy)), policy.person, paths)),
    )


def required_in(policy: SchemaPolicy, name: str, paths: Paths) -> Iterator[Requirement]:
    """What has to hold for the columns of a table, besides the persons' own requirements."""
    if name == policy.person:
        whole = persons_policy(policy, identity=True)
        asked = {field.partition(".")[2] for field in IDENTITY}
        yield from (r for r in requirements_of(whole) if r.name in asked)
    else:
        required = requirements_of(child_policy(policy, name))
        yield from _with_paths((r for r in required if r.column is not None), name, paths)
    for column, described in policy.tables[name].columns.items():
        if described.protect is not None and described.protect.eir_l is not None:
            nulls = {"null_as_value": True} if described.null_as_value else {}
            yield Requirement("eir_l", column, {"l": described.protect.eir_l, **nulls})


def _with_paths(required: Iterable[Requirement], table: str, paths: Paths) -> Iterator[Requirement]:
    for item in required:
        if item.column is not None and item.parameters.get("distance") == "hierarchical":
            item = with_paths(item, paths.get((table, item.column), {}))
        yield item


def tables_manifest(
    manifest: Manifest,
    policy: SchemaPolicy,
    tables: Tables,
    names: Names,
) -> Manifest:
    """The manifest of the persons' table, with all tables."""
    data = dict(manifest.data)
    data |= {
        "policy_digest": policy.digest(),
        "certificate": data["certificate"] + CERTIFICATE,
        "known_attacks": known_attacks_of(policy),
        "tables": tables.as_dict(),
    }
    shown = {(one["name"], one["column"]): one["sql"] for one in recipients_sql(tables, names)}
    checks = [
        {**check, "sql": shown.get((check["name"], check["column"]), check["sql"])}
        for check in data["verification"]["checks"]
    ]
    data["verification"] = {**data["verification"], "checks": checks}
    return replace(manifest, data=data)


def judge_tables(engine: Engine, tables: Tables, where: Where) -> Verification:
    """Verify the tables together, on the engine that sees them."""
    run_sql = engine.asking("verification")
    return verification(ask_all(tables_questions(tables, where), run_sql))


def refuse_tables_unless_passed(policy: SchemaPolicy, found: Verification) -> None:
    """Raises GuaranteeError naming every check on the tables together that does not hold."""
    problems = [
        replace(
            unmet(check.name, check.column, check.required, check.achieved),
            path=path_in_tables(policy, check.name, check.column),
        )
        for check in found.failed
    ]
    if problems:
        raise GuaranteeError(problems)


def path_in_tables(policy: SchemaPolicy, name: str, column: str | None) -> str:
    """Where the policy asks for what a check judges."""
    if column is None:
        return path_of(name, column)
    for table in sorted(policy.tables, key=len, reverse=True):
        if column == table:
            return table_path(table)
        if column.startswith(f"{table}."):
            return f"{table_path(table)}.{path_of(name, column.removeprefix(f'{table}.'))}"
    return f"{table_path(policy.person)}.{path_of(name, column)}"


def asked_of(policy: AnyPolicy, tables: Tables) -> Tables:
    """The tables of a release with the requirements of a policy, which may ask for more."""
    assert isinstance(policy, SchemaPolicy)
    layouts = {one.table: one.layout for one in tables.tables}
    return tables_of(policy, layouts, _paths(tables))


def _paths(tables: Tables) -> Paths:
    return {
        (one.table, item.column): item.parameters["paths"]
        for one in tables.tables
        for item in (*one.requirements, *(tables.required if one is tables.persons else ()))
        if item.column is not None and "paths" in item.parameters
    }


def recipients_sql(tables: Tables, names: Names) -> list[dict[str, str | None]]:
    """The statements of the checks on the tables together, as a recipient runs them."""
    return tables_sql(tables, in_release(names.view(None)))


def released_tables(manifest: Manifest) -> Tables | None:
    """The tables of a release of several, else None.

    Raises NothingToCheckError where they cannot be read.
    """
    listed = manifest.data.get("tables")
    if listed is None:
        return None
    try:
        tables = Tables.from_dict(listed, manifest.layout, manifest.requirements)
        if tables.as_dict() != listed:
            raise ValueError
    except (AttributeError, KeyError, IndexError, StopIteration, TypeError, ValueError):
        tables = None
    if tables is None:
        raise NothingToCheckError(
            Problem(
                "manifest.tables", "cannot be read", hint="it was changed, or is of a later version"
            )
        )
    return tables


def known_attacks_of(policy: AnyPolicy) -> list[str]:
    """Attacks on the model that the release does not stop, columns of all tables among them."""
    found = known_attacks(lead_of(policy))
    if isinstance(policy, SchemaPolicy):
        for name in policy.children:
            for column in acknowledged(child_policy(policy, name)):
                found.append(f"joining: {name}.{column} {joined_on(policy)}")
    return found


def stated_certificate(manifest: Manifest) -> str:
    """The sentence that stands with a release."""
    said = certificate(
        manifest.kind,
        guaranteed=bool(manifest.requirements),
        safe_harbor="safe_harbor" in manifest.data,
        sets=manifest.layout.sets,
        measures=manifest.data["measures"],
    )
    return said + (CERTIFICATE if "tables" in manifest.data else "")


def as_asked(policy: SchemaPolicy, manifest: Manifest) -> bool:
    """Whether the manifest lists the tables of a policy, with its requirements."""
    tables = released_tables(manifest)
    if tables is None or {one.table for one in tables.tables} != set(policy.tables):
        return False
    return asked_of(policy, tables).as_dict() == tables.as_dict()


def refuse_tables_unmet(policy: SchemaPolicy, tables: Tables) -> None:
    """Raises GuaranteeError where the release has other tables or columns than the policy."""
    problems = list(_unmet(policy, tables))
    if problems:
        raise GuaranteeError(problems)


def _unmet(policy: SchemaPolicy, tables: Tables) -> Iterator[Problem]:
    released = {one.table: one for one in tables.tables}
    for name in sorted(set(policy.tables) ^ set(released)):
        said = "is not in the release" if name in policy.tables else "is not in the policy"
        yield Problem(f"tables.{name}", said, hint=HINT)
    for name in policy.tables:
        if name not in released:
            continue
        table, one = policy.tables[name], released[name]
        path = f"tables.{name}"
        if one.name != policy.view(name):
            yield Problem(path, "is published under another name than the policy's", hint=HINT)
        stated = (table.published_key, dict(table.links))
        if (one.layout.key, dict(one.layout.links)) != stated:
            yield Problem(path, "has another key or other links than the policy's", hint=HINT)
        if one is tables.persons:
            continue
        found = {c.column: c.role for c in one.layout.columns}
        asked = {
            column: PUBLISHED.get(described.role, described.role)
            for column, described in table.columns.items()
            if described.role in ("event", "sensitive", "keep", *MASKS)
        }
        for column in sorted({*found, *asked}):
            if found.get(column) != asked.get(column):
                said = "has another role in the release than in the policy"
                yield Problem(f"{path}.columns.{column}", said, hint=HINT)
        for shown in one.layout.columns:
            described = table.columns.get(shown.column)
            masks = () if described is None else described.masks
            # (of a file of populations, what it holds is not compared)
            if [{n: v for n, v in m.items() if n != "restricted"} for m in shown.masks] != [
                {"mask": mask, **options_told(mask, options)} for mask, options in masks
            ]:
                said = "has other masks in the release than in the policy"
                yield Problem(f"{path}.columns.{shown.column}", said, hint=HINT)


def refuse_tables_unanswered(
    policy: SchemaPolicy, verification: Verification, *, source: bool = False
) -> None:
    """Raises GuaranteeError for every promise of the policy without a check.

    `source`: also for every mask that was not compared with the source.
    """
    found = {(check.name, check.column) for check in verification.checks}
    problems = [
        Problem(path, f"was not judged: the verification has no check {names} of it")
        for path, names in _unanswered(policy, verification, found, source=source)
    ]
    if problems:
        raise GuaranteeError(problems)


def _unanswered(
    policy: SchemaPolicy,
    verification: Verification,
    found: set[tuple[str, str | None]],
    *,
    source: bool,
) -> Iterator[tuple[str, str]]:
    lead = persons_policy(policy, identity=True)
    elsewhere = not lead.sensitive and any(table for table, _ in policy.sensitive)
    for path, names in unanswered(lead, verification, source=source):
        # a guarantee of values is asked of the tables that have some, below
        of_values = BY_FIELD[path].of_values if path in BY_FIELD else False
        if not (elsewhere and of_values):
            yield path, names
    for name in policy.children:
        own = tuple(
            replace(c, column=c.column.removeprefix(f"{name}."))
            for c in verification.checks
            if c.column is not None and c.column.startswith(f"{name}.")
        )
        single = child_policy(policy, name)
        if single.sensitive or single.masked:
            whole = tuple(c for c in verification.checks if c.column is None)
            judged = replace(verification, checks=(*own, *whole))
            for path, names in unanswered(single, judged, source=source):
                yield f"tables.{name}.{path}" if path.startswith("columns.") else path, names
        for column, described in policy.tables[name].columns.items():
            asked = described.protect is not None and described.protect.eir_l is not None
            if asked and ("eir_l", f"{name}.{column}") not in found:
                yield f"tables.{name}.columns.{column}.protect.eir_l", "eir_l"
        if ("references", f"{name}.{policy.way(name)[0][0]}") not in found:
            yield f"tables.{name}.links", "references"
    knows = policy.privacy.knows
    if knows.events and policy.events and ("known_events", None) not in found:
        yield "privacy.knows.events", "known_events"
    if knows.rows and ("known_rows", None) not in found:
        yield "privacy.knows.rows", "known_rows"
    if knows.sensitive:
        for rule, of in sorted(found, key=str):
            among = f"known_{rule}"
            if of is not None and rule in OF_VALUES and (among, of) not in found:
                yield "privacy.knows.sensitive", f"{among} of {of}"
