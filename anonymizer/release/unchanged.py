"""Checks that a release agrees with its manifest, and the manifest with the policy.

Every command that opens a release calls this: verify, report, attack and export.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.contract.checks import Verification, turns
from anonymizer.contract.layout import requirement_dict
from anonymizer.contract.reading import FIGURES
from anonymizer.contract.tables import in_release
from anonymizer.engines.base import Engine
from anonymizer.errors import AnonymizerError, GuaranteeError, Problem
from anonymizer.measure.groups import measure_groups
from anonymizer.measure.release import counts_of
from anonymizer.policy import AnyPolicy, SchemaPolicy, safe_harbor
from anonymizer.policy.paths import column_path
from anonymizer.policy.schema.derived import lead_of, singles_of
from anonymizer.policy.schema.paths import table_path
from anonymizer.policy.weights import weights_given
from anonymizer.privacy.of_policy.requirements import requirements_of, with_paths_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.seal import CHANGED, manifest_problems
from anonymizer.release.tables import (
    as_asked,
    known_attacks_of,
    released_tables,
    stated_certificate,
)
from anonymizer.source.coding import coding
from anonymizer.verification.population import Members, population_questions
from anonymizer.verification.tables import tables_sql
from anonymizer.verification.verify import check_sql

OTHER_POLICY = "use the policy (and --preset) that the release was made with, or run again"
OF_CLASSES = frozenset({"classes", "class_min", "class_mean", "class_max", "c_dm", "ncp", "glm"})
"""Measures that a release without classes does not have."""
UNREADABLE = (
    *(AnonymizerError, ArithmeticError, AttributeError, LookupError),
    *(RuntimeError, TypeError, ValueError),
)
"""Errors of a question that is made from invalid parameters."""
CLOSE = 1e-9
"""Relative tolerance of doubles that were summed in another order."""


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
    refuse_other_policy(policy.digest(), manifest)


def refuse_other_policy(digest: str, manifest: Manifest, *, holds: bool = False) -> None:
    """Raise GuaranteeError if the release was made with a policy of another digest.

    `holds`: the guarantees of this policy were verified and hold.
    """
    if manifest.data.get("policy_digest") != digest:
        said = "is not the one that the release was made with: their digests differ"
        if holds:
            said += "; the guarantees that it asks for hold in the release"
        raise GuaranteeError.at("policy", said, hint=OTHER_POLICY)


def refuse_other_figures(
    engine: Engine, view: Table, manifest: Manifest, found: Verification
) -> None:
    """Raise GuaranteeError for figures of the manifest that differ from the release's."""
    problems = [*other_checks(manifest, found), *_other_measures(engine, view, manifest)]
    GuaranteeError.refuse(problems)


def _manifest_changes(
    policy: AnyPolicy | None, view: Table, manifest: Manifest
) -> Iterator[Problem]:
    yield from manifest_problems(view, manifest)
    if manifest.data.get("certificate") != stated_certificate(manifest):
        yield _problem("manifest.certificate", "is not the sentence that this tool writes")
    if policy is not None and manifest.kind != policy.release_kind:
        said = f"is {policy.release_kind} in the policy, and the release is {manifest.kind}"
        yield Problem("kind", said, hint=OTHER_POLICY)
    tables = released_tables(manifest)
    children = {one.table for one in tables.children} if tables is not None else set()
    if set(manifest.data["measures"].get("tables", {})) != children:
        yield _problem("manifest.measures.tables", "are not those of the release")
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
    if _plain(map(requirement_dict, asked)) != _plain(manifest.data["requirements"]):
        yield Problem("manifest.requirements", "are not those of the policy", hint=OTHER_POLICY)
    if manifest.layout.sets != (policy.privacy.quasi_sets or ()):
        yield Problem("manifest.layout", "has other sets than the policy", hint=OTHER_POLICY)
    weights = {c.column: c.weight for c in manifest.layout.columns if c.weight is not None}
    if weights != weights_given(policy.columns):
        yield Problem("manifest.layout", "has other weights than the policy", hint=OTHER_POLICY)
    yield from _other_ends(of, manifest)
    stated = safe_harbor.stated(of) if safe_harbor.applies(of) else None
    if _plain(stated or []) != (manifest.data.get("safe_harbor") or []):
        yield Problem("manifest.safe_harbor", "is not that of the policy", hint=OTHER_POLICY)
    if manifest.data.get("algorithm") != policy.algorithm.name:
        yield Problem("manifest.algorithm", "is not that of the policy", hint=OTHER_POLICY)
    if manifest.data.get("known_attacks") != known_attacks_of(of):
        yield Problem("manifest.known_attacks", "are not those of the policy", hint=OTHER_POLICY)


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
            if _plain(asked) != [one.bottom, one.top]:
                said = "has intervals with other open ends in the manifest than in the policy"
                yield Problem(f"{path}{column_path(one.column)}", said, hint=OTHER_POLICY)


def _other_statements(view: Table, manifest: Manifest) -> Iterator[Problem]:
    """Statements for recipients that differ from those that this version writes."""
    from anonymizer import __version__

    found = [
        {name: check[name] for name in ("name", "column", "sql")}
        for check in manifest.data["verification"]["checks"]
    ]
    try:
        bare = Table(view.name, view.schema)
        expected = check_sql(bare, manifest.layout, manifest.requirements)
        tables = released_tables(manifest)
        expected += tables_sql(tables, in_release(bare)) if tables is not None else []
        _of_population(manifest)
    except UNREADABLE:
        yield _problem("manifest.requirements", "are none that this tool asks for")
        return
    if manifest.data["versions"].get("anonymizer") != __version__:
        return
    if found[: len(expected)] != _plain(expected):
        yield _problem("manifest.verification", "has other SQL than the checks of this layout")
    if any(check["sql"] is not None for check in found[len(expected) :]):
        yield _problem("manifest.verification", "has SQL of checks that no requirement asks for")


def other_checks(
    manifest: Manifest, found: Verification, *, population: bool = False
) -> Iterator[Problem]:
    """Checks whose stated figures differ from those found, or that do not exist.

    `population`: compare figures of a population too; `verify` may use a later population.
    """
    numbers = turns((check.name, check.column) for check in found.checks)
    now = dict(zip(numbers, found.checks, strict=True))
    listed = manifest.data["verification"]
    if listed["passed"] is not True or not all(one["passed"] for one in listed["checks"]):
        yield _problem("manifest.verification", "does not say that the release passed")
    known = _of_population(manifest)
    told = turns((one["name"], one["column"]) for one in listed["checks"])
    for turn, stated in zip(told, listed["checks"], strict=True):
        check, (name, column, _) = now.get(turn), turn
        path = ".".join(filter(None, ("manifest.verification", name, column)))
        if check is not None and (population or stated["sql"] is not None):
            again = _plain({one: getattr(check, one) for one in FIGURES})
            same = _same({one: stated[one] for one in FIGURES}, again)
            if not same or stated["passed"] is not check.passed:
                yield _problem(path, "states other figures than the release has")
        elif (name, column) in known:
            if not _same(stated["required"], known[name, column]) or stated["failing"] != 0:
                yield _problem(path, "states other figures than its requirement has")
        elif not name.startswith("source_") or any(stated[one] not in (0, None) for one in FIGURES):
            yield _problem(path, "is no check that the release or its source can have passed")


def _of_population(manifest: Manifest) -> dict[tuple[str, str | None], Any]:
    """The required figures of checks that need a population."""
    table, layout = Table(str(manifest.data["view"])), manifest.layout
    nobody = Members(table, {column.column: column.column for column in layout.columns})
    asked = population_questions(table, layout, manifest.requirements, nobody)
    return {(one.name, one.column): _plain([one.required])[0] for one in asked}


def _other_measures(engine: Engine, view: Table, manifest: Manifest) -> Iterator[Problem]:
    """Stated measures that differ from the release's: those of classes and groups."""
    stated = manifest.data["measures"]
    run_sql, layout = engine.asking("measures"), manifest.layout
    left_out = stated.get("suppressed")
    suppressed = left_out if isinstance(left_out, int) else 0
    again: dict[str, Any] = dict(counts_of(run_sql, view, layout, suppressed))
    if layout.group_id is not None:
        told = stated.get("suppressed_persons", suppressed)
        lost = told if isinstance(told, int) else 0
        again |= measure_groups(run_sql, view, layout, manifest.requirements, suppressed=lost)
    if layout.classless:
        for name in sorted(OF_CLASSES & stated.keys()):
            yield _problem(f"manifest.measures.{name}", "is of classes, and the release has none")
    for name, value in _plain(again).items():
        if name in stated and not _same(stated[name], value):
            yield _problem(f"manifest.measures.{name}", "is not what the release has")
    tables = released_tables(manifest)
    for one in tables.children if tables is not None else ():
        (count,) = run_sql(f"select count(*) from {ident(in_release(view)(one))}")
        if stated["tables"][one.table]["rows"] != count[0]:
            said = "is not what the release has"
            yield _problem(f"manifest.measures.tables.{one.table}.rows", said)


def _same(stated: Any, again: Any) -> bool:
    if isinstance(stated, Mapping) and isinstance(again, Mapping):
        return stated.keys() == again.keys() and all(_same(stated[n], again[n]) for n in again)
    if isinstance(stated, bool) or isinstance(again, bool):
        return stated is again
    one, other = _number(stated), _number(again)
    if one is not None and other is not None:
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(stated == again)


def _number(value: Any) -> float | int | None:
    """The number; manifests write decimals of some engines, and infinities, as text."""
    if isinstance(value, int | float):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _plain(value: Any) -> Any:
    """The value after it was written to a manifest and read."""
    made = list(value) if not isinstance(value, Mapping) else value
    text = json.dumps(made, default=str)
    return json.loads(text, parse_constant=lambda name: str(float(name)))


def _problem(path: str, said: str) -> Problem:
    return Problem(path, said, hint=CHANGED)
