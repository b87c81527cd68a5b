"""The guarantees that a policy requires: their requirements, rules, sizes and promises."""

from __future__ import annotations

import pkgutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from anonymizer.compile import Sql
from anonymizer.contract.checks import UNITS, Verification
from anonymizer.contract.counts_layout import DOMINANCE, GROUPS, MINIMUM, PRIVACY_LOSS
from anonymizer.contract.layout import Requirement, Scope
from anonymizer.errors import Problem, RegistryError
from anonymizer.guarantees.guarantee import Guarantee, RuleInput
from anonymizer.guarantees.rule import Rule
from anonymizer.policy import AggregatePolicy, Policy, safe_harbor
from anonymizer.policy.columns import Column
from anonymizer.policy.paths import column_path
from anonymizer.policy.privacy import Privacy, Protect

# Every guarantee, discovered in the modules of `anonymizer.guarantees`.
#
# Every field of the policy that requires something must be handled by exactly one guarantee.
# Otherwise importing this module raises `RegistryError`, so that no field is ignored silently.


ON_GRID = "cells_on_grid"
"""The check of bounds on a public grid."""
FIELDS = (
    *(f"protect.{name}" for name in Protect.model_fields),
    *(f"privacy.{name}" for name in Privacy.model_fields),
    "republish.m",
)
"""The fields of a policy that guarantee something, or are part of a guarantee."""


def _discover() -> tuple[Guarantee, ...]:
    """The guarantees of all modules, in the order of their fields."""
    found: list[Guarantee] = []
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        values = vars(import_module(f"anonymizer.guarantees.{module.name}")).values()
        found += [value for value in values if isinstance(value, Guarantee)]
        found += [
            g
            for value in values
            if isinstance(value, tuple)
            for g in value
            if isinstance(g, Guarantee)
        ]
    check(found, FIELDS)
    return tuple(sorted(found, key=lambda guarantee: FIELDS.index(guarantee.field)))


def check(guarantees: Sequence[Guarantee], fields: Sequence[str]) -> None:
    """Raises RegistryError unless each field has one guarantee, with questions and examples."""
    answered = Counter(field for g in guarantees for field in (g.field, *g.further))
    names = Counter(guarantee.name for guarantee in guarantees)
    found = [
        *((field, "no guarantee answers for it") for field in fields if not answered[field]),
        *((field, "several guarantees answer for it") for field, n in answered.items() if n > 1),
        *((field, "is no field of a policy") for field in answered if field not in fields),
        *((name, "is the name of several guarantees") for name, n in names.items() if n > 1),
        *((g.field, "asks the verifier nothing") for g in guarantees if not g.asks),
        *((g.field, "has no example to be judged by") for g in guarantees if not g.examples),
    ]
    RegistryError.refuse(Problem(path, said) for path, said in found)


GUARANTEES = _discover()
BY_NAME = {guarantee.name: guarantee for guarantee in GUARANTEES}
OF_COLUMNS = tuple(g for g in GUARANTEES if g.holder == "protect")
OF_TABLE = tuple(g for g in GUARANTEES if g.holder == "privacy")


def required_guarantees(
    guarantees: Sequence[Guarantee], holder: Any
) -> Iterator[tuple[Guarantee, Any]]:
    """The guarantees that a part of a policy requires, each with its field's value."""
    for guarantee in guarantees:
        value = getattr(holder, guarantee.option)
        if value is not None:
            yield guarantee, value


def table_guarantees(policy: Policy) -> list[tuple[Guarantee, Any]]:
    """The table's guarantees, those from the algorithm's options before the policy's."""
    own = policy.algorithm.promises
    found = dict(required_guarantees(OF_TABLE, policy.privacy)) | {
        BY_NAME[n]: value for n, value in own.items()
    }
    return list(found.items())


# The guarantees of a policy, as requirements on its release.


def requirements_of(policy: Policy) -> tuple[Requirement, ...]:
    """Every guarantee of the policy, in its order: of the table, then column by column.

    A hierarchical distance still lacks the paths of its values: see `with_paths`.
    """
    if policy.counts is not None:
        return tuple(_of_counts(policy.counts))
    return (*_of_table(policy), *_of_columns(policy), *_of_signatures(policy))


def _of_counts(policy: AggregatePolicy) -> Iterator[Requirement]:
    protect = policy.protect
    if policy.epsilon is not None:
        loss = {"epsilon": policy.epsilon, "per_person": policy.dp.per_person}
        yield Requirement(PRIVACY_LOSS, None, loss)
    else:
        yield Requirement(MINIMUM, None, {"n": policy.minimum})
    if (rule := protect.dominance) is not None and policy.weighed:
        terms = {"p": rule.p} if rule.p is not None else {"n": rule.n, "k": rule.k}
        insiders = {"insiders": True} if protect.insiders else {}
        yield Requirement(DOMINANCE, None, {**terms, **insiders})
    for column, share in protect.groups.items():
        yield Requirement(GROUPS, column, {"share": float(share)})


def with_paths(requirement: Requirement, paths: Mapping[str, Any]) -> Requirement:
    """The requirement with the hierarchy that its distance needs.

    `paths` maps the text of a *published* value to its ancestors, parent first, root last, all of
    the same length. Any label (or number) that distinguishes the nodes of one level is allowed.
    """
    return replace(requirement, parameters={**requirement.parameters, "paths": dict(paths)})


def with_paths_of(
    required: Iterable[Requirement], published: Iterable[Requirement]
) -> tuple[Requirement, ...]:
    """Requirements with the paths from a release's manifest, for the same distances."""
    paths = {
        (item.name, item.column): item.parameters["paths"]
        for item in published
        if "paths" in item.parameters
    }
    return tuple(
        with_paths(item, paths[item.name, item.column])
        if (item.name, item.column) in paths and item.parameters.get("distance") == "hierarchical"
        else item
        for item in required
    )


def _of_table(policy: Policy) -> Iterator[Requirement]:
    for guarantee, value in table_guarantees(policy):
        if guarantee.of_source:
            for column, least in value.items():
                yield Requirement(guarantee.name, column, guarantee.terms_of(least))
            continue
        terms = guarantee.terms_of(value)
        if not guarantee.of_values:
            yield Requirement(guarantee.name, None, terms)
            continue
        for column in policy.sensitive:
            own = {**terms, **_of_nulls(policy, column)}
            if guarantee.in_buckets and _scope(policy, column) == "bucket":
                yield from _in_buckets(guarantee, column, own)
            else:
                yield Requirement(guarantee.name, column, own)


def _in_buckets(
    guarantee: Guarantee, column: str, terms: Mapping[str, Any]
) -> Iterator[Requirement]:
    """Requirements in buckets: an observer knows a person's bucketized value up to its bucket."""
    sizes = {part: value for part, value in terms.items() if part == "k"}
    shares = {part: value for part, value in terms.items() if part != "k"}
    for name in guarantee.in_buckets:
        if BY_NAME[name].of_values:
            yield Requirement(name, column, shares, "bucket")
        else:
            yield Requirement(name, None, sizes)


def _of_columns(policy: Policy) -> Iterator[Requirement]:
    for name in policy.protected:
        protect = policy.columns[name].protect
        for guarantee, value in required_guarantees(OF_COLUMNS, protect):
            terms = guarantee.terms_of(value)
            if guarantee.terms is not None:
                terms = dict(guarantee.terms(policy, protect))
            terms |= _of_nulls(policy, name)
            yield Requirement(guarantee.name, name, terms, _scope(policy, name))


def _of_signatures(policy: Policy) -> Iterator[Requirement]:
    """Under m-invariance a class has m or more values, each once (Xiao and Tao 2007)."""
    if policy.republish is not None and policy.republish.m is not None:
        (column,) = policy.sensitive
        guarantee = BY_NAME["m_unique"]
        yield Requirement(guarantee.name, column, guarantee.terms_of(policy.republish.m))


def _scope(policy: Policy, column: str) -> Scope:
    """The place of a column's values in a release."""
    return policy.algorithm.values_in if column in policy.protected else "class"


def _of_nulls(policy: Policy, column: str) -> dict[str, Any]:
    return {"null_as_value": True} if policy.columns[column].null_as_value else {}


# Convert a policy to rules: `protect` of a column, `privacy` of the table.


def rules_of(
    column: str, protect: Protect, null_as_value: bool = False, *, height: int = 0
) -> tuple[Rule, ...]:
    """The rules of one column, all judged over its histogram.

    `height`: levels of the column's hierarchy above the leaves (for hierarchical t).
    """
    return tuple(
        rule
        for guarantee, value in required_guarantees(OF_COLUMNS, protect)
        for rule in guarantee.rules(RuleInput(value, column, null_as_value, height))
    )


def rules_of_any(column: str, described: Column) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules of one column that the histogram of any group decides; and the other requirements,
    by their fields: they depend on the whole table, on a hierarchy, or on who has which values.
    """
    judged: list[Rule] = []
    beyond: list[str] = []
    for guarantee, value in (
        required_guarantees(OF_COLUMNS, described.protect) if described.protect else ()
    ):
        rules = tuple(guarantee.rules(RuleInput(value, column, described.null_as_value)))
        found = [r for r in rules if r.basis == "histogram" and not (r.relative or r.paths)]
        judged += found
        if not rules or len(found) < len(rules):
            beyond.append(guarantee.option)
    return tuple(judged), tuple(beyond)


def table_rules_of(
    column: str, privacy: Privacy, null_as_value: bool = False, *, declared: Sql | None = None
) -> tuple[Rule, ...]:
    """The rules of one sensitive column that follow from the table's guarantees.

    `declared`: SQL for the code, in this column, of the value that `alpha_k` names (NULL where the
    column does not have it). Raises `ValueError` (a defect of the caller) if it is missing.
    """
    return tuple(
        rule
        for guarantee, value in required_guarantees(OF_TABLE, privacy)
        if guarantee.of_values
        for rule in guarantee.rules(RuleInput(value, column, null_as_value, declared=declared))
    )


def unit_rules_of(column: str, privacy: Privacy) -> tuple[Rule, ...]:
    """The rules of a column that is not published, whose different values are units."""
    return tuple(
        rule
        for guarantee, value in required_guarantees(OF_TABLE, privacy)
        if guarantee.of_source
        for rule in guarantee.rules(RuleInput(value, column))
    )


def of_basis(rules: Sequence[Rule], *basis: str) -> tuple[Rule, ...]:
    """The rules that are judged over a relation of one of these kinds."""
    return tuple(rule for rule in rules if rule.basis in basis)


# The fewest rows, or persons, that a class can have under the guarantees of a policy.


def least_class(policy: Policy, otherwise: int = 1) -> int:
    """Fewest rows (persons) of a class: the largest k that the policy names."""
    named = [
        g.k(value) for g, value in required_guarantees(OF_TABLE, policy.privacy) if g.k is not None
    ]
    return max(named, default=otherwise)


def asking_for(policy: Policy, least: int) -> str:
    """The path of the guarantee that requires classes of `least` rows (persons)."""
    fields = (
        g.field
        for g, value in required_guarantees(OF_TABLE, policy.privacy)
        if g.k is not None and g.k(value) == least
    )
    return next(fields, "privacy.k_anonymity")


def fewest_persons(policy: Policy) -> int:
    """Fewest persons that a class can have under any of the policy's guarantees."""
    implied = [
        g.implied(v)
        for g, v in required_guarantees(OF_TABLE, policy.privacy)
        if g.implied is not None
    ]
    return max(least_class(policy), *implied, 1)


# Requirements on buckets that follow from the protection of a column.
#
# A bucket assigned by `rank mod B` contains different values only, so its diversity follows from
# its size: with m different values, each once, it is distinct m-diverse, entropy m-diverse, and,
# since 1 < c (m - l + 1) for m = l + ⌊1/c⌋, recursively (c,l)-diverse; no value has a share above
# 1/m. The column must be eligible for m: no value in more than 1/m of the rows in buckets.
#
# t-closeness, beta-likeness and delta-disclosure compare with a distribution, which does not follow
# from different values. For these every bucket is judged, and B is tried downwards from the
# largest, because the condition is not monotone in B.


@dataclass(frozen=True, slots=True)
class BucketRule:
    """The conditions on every bucket of a column."""

    m: int
    """Fewest rows of a bucket, all with different values; 1 if no rule requires more."""
    judged: tuple[Rule, ...]
    """Rules that every bucket must also satisfy, over its histogram."""

    @property
    def unique(self) -> bool:
        """True if values must not repeat in a bucket."""
        return self.m > 1


def bucket_rule(column: str, protect: Protect, *, height: int = 0) -> BucketRule:
    """The rule of the column's buckets; `height` as in `rules_of`. `levels` is not supported."""
    sizes = [1]
    judged: list[Rule] = []
    for guarantee, value in required_guarantees(OF_COLUMNS, protect):
        if guarantee.bucket_size is not None:
            sizes.append(guarantee.bucket_size(value))
        else:
            judged += guarantee.rules(RuleInput(value, column, height=height))
    return BucketRule(max(sizes), tuple(judged))


# The guarantees of a policy, read from its fields alone; each must be verified.
#
# This uses neither the requirements nor the verifier's questions, so that a guarantee whose
# requirement or question is missing is detected by its absence from the verification.


BY_SOURCE: Mapping[str, tuple[str, ...]] = {
    "token": ("source_mask_one_to_one", "source_mask_foreign"),
    "shift": ("source_mask_shift",),
    "top_code": ("source_mask_coded",),
    "bottom_code": ("source_mask_coded",),
    "round": ("source_mask_rounded",),
    "noise": ("source_mask_near",),
    "redact": ("source_mask_identifiers", "source_mask_untouched"),
    "zip3": ("source_mask_zip3",),
}
"""The checks of masks against the source; null and constant retain nothing to compare."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A field of a policy, and the checks that the verification must contain for it."""

    path: str
    checks: frozenset[tuple[str, str | None]]
    """Name and column of each check."""


def promises_of(policy: Policy) -> Iterator[Promise]:
    """Every field of the policy that guarantees something."""
    parameters = {field for guarantee in GUARANTEES for field in guarantee.further}
    by_field = {guarantee.field: guarantee for guarantee in GUARANTEES}
    for name, value in policy.privacy:
        if value is not None and f"privacy.{name}" not in parameters:
            yield _promises_of_table(policy, f"privacy.{name}", by_field.get(f"privacy.{name}"))
    for name in policy.algorithm.promises:
        yield Promise("algorithm", frozenset({(name, None)}))
    for column, said in policy.columns.items():
        for name, value in said.protect or ():
            if value is not None and f"protect.{name}" not in parameters:
                guarantee = by_field.get(f"protect.{name}")
                judged = name if guarantee is None else guarantee.name
                path = column_path(column, "protect", name)
                yield Promise(path, frozenset({(judged, column)}))
    for masked in policy.masked:
        shown = check_without_source(policy.columns[masked])
        if shown is not None:
            yield Promise(column_path(masked), frozenset({(shown, masked)}))
    if safe_harbor.applies(policy):
        for shown, given in policy.columns.items():
            if given.role not in safe_harbor.UNPUBLISHED:
                judged = _harbor_check(given)
                yield Promise(column_path(shown, "safe_harbor"), frozenset({(judged, shown)}))
    if policy.publish.bounds == "grid" and not policy.algorithm.over_levels:
        for name in policy.quasi:
            yield Promise("publish.bounds", frozenset({(ON_GRID, name)}))
    if policy.republish is not None and policy.republish.m is not None:
        yield _promises_of_table(policy, "republish.m", by_field.get("republish.m"))


def _harbor_check(column: Column) -> str:
    """The Safe Harbor check of a column."""
    match column.safe_harbor:
        case "none":
            return "safe_harbor_text"
        case "dates" | "birth" if safe_harbor.shows(column):
            return "safe_harbor_year"
        case "ages" if safe_harbor.shows(column):
            return "safe_harbor_age"
        case "geography" if safe_harbor.shows(column):
            return "safe_harbor_zip3"
    return "safe_harbor_nothing"


def check_without_source(column: Column) -> str | None:
    """The check of a masked column that needs no source; None if the source is required."""
    match column.role:
        case "token":
            return None if column.format == "like" else "mask_form"
        case "top_code" | "bottom_code":
            return "mask_beyond" if column.at is not None else "mask_group"
        case "round":
            return "mask_rounded"
        case "noise":
            return "mask_between" if column.between is not None else None
        case "redact":
            return "mask_patterns"
        case "zip3":
            return "mask_zip3"
        case "null" | "constant":
            return "mask_constant"
    return None


def checks_against_source(policy: Policy) -> Iterator[Promise]:
    """The checks of masked columns against their original values, which every run makes."""
    for name in policy.masked:
        for mask, _ in policy.columns[name].masks:
            if mask in BY_SOURCE:
                checks = frozenset((check, name) for check in BY_SOURCE[mask])
                yield Promise(column_path(name), checks)


def _promises_of_table(policy: Policy, path: str, guarantee: Guarantee | None) -> Promise:
    if guarantee is None:
        return Promise(path, frozenset({(path.partition(".")[2], None)}))
    if guarantee.of_source:
        return Promise(
            path, frozenset((guarantee.name, name) for name in policy.privacy.unit_columns)
        )
    if not guarantee.of_values:
        return Promise(path, frozenset({(guarantee.name, None)}))
    # without a sensitive column nothing can be judged, hence nothing holds
    columns: tuple[str | None, ...] = policy.sensitive or (None,)
    return Promise(path, frozenset(c for name in columns for c in _checks(policy, guarantee, name)))


def _checks(
    policy: Policy, guarantee: Guarantee, column: str | None
) -> Iterator[tuple[str, str | None]]:
    """The check of a column, or the checks that replace it if its values are in buckets."""
    if policy.algorithm.values_in != "bucket" or column not in policy.protected:
        yield guarantee.name, column
        return
    for name in guarantee.in_buckets or (guarantee.name,):
        yield name, column if BY_NAME[name].of_values else None


def missing_checks(
    policy: Policy, verification: Verification, *, source: bool = False
) -> Iterator[tuple[str, str]]:
    """Every guarantee with missing checks: its path, and the names of those checks.

    A check that is listed as impossible is not missing. `source`: the release was compared with its
    source, so that those checks are required too.
    """
    found = {(check.name, check.column) for check in verification.checks}
    left = {item.name for item in verification.not_checked}
    left |= set() if source else {UNITS}
    more = checks_against_source(policy) if source else ()
    for promise in (*promises_of(policy), *more):
        missing = {name for name, _ in promise.checks - found if name not in left}
        if missing:
            yield promise.path, ", ".join(sorted(missing))
