"""The guarantees of a policy, read from its fields alone; each must be verified.

This uses neither the requirements nor the verifier's questions, so that a guarantee whose
requirement or question is missing is detected by its absence from the verification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anonymizer.contract.checks import Verification
from anonymizer.policy import Policy, safe_harbor
from anonymizer.policy.columns import Column
from anonymizer.policy.paths import column_path
from anonymizer.privacy.guarantee import Guarantee
from anonymizer.privacy.of_policy.registry import BY_NAME, GUARANTEES

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
            yield _of_table(policy, f"privacy.{name}", by_field.get(f"privacy.{name}"))
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
        shown = shown_by_release(policy.columns[masked])
        if shown is not None:
            yield Promise(column_path(masked), frozenset({(shown, masked)}))
    if safe_harbor.applies(policy):
        for shown, given in policy.columns.items():
            if given.role not in safe_harbor.UNPUBLISHED:
                judged = _harbor_check(given)
                yield Promise(column_path(shown, "safe_harbor"), frozenset({(judged, shown)}))
    if policy.republish is not None and policy.republish.m is not None:
        yield _of_table(policy, "republish.m", by_field.get("republish.m"))


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


def shown_by_release(column: Column) -> str | None:
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


def told_by_source(policy: Policy) -> Iterator[Promise]:
    """The checks of masked columns against their original values, which every run makes."""
    for name in policy.masked:
        for mask, _ in policy.columns[name].masks:
            if mask in BY_SOURCE:
                checks = frozenset((check, name) for check in BY_SOURCE[mask])
                yield Promise(column_path(name), checks)


def _of_table(policy: Policy, path: str, guarantee: Guarantee | None) -> Promise:
    if guarantee is None:
        return Promise(path, frozenset({(path.partition(".")[2], None)}))
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


def unanswered(
    policy: Policy, verification: Verification, *, source: bool = False
) -> Iterator[tuple[str, str]]:
    """Every guarantee with missing checks: its path, and the names of those checks.

    A check that is listed as impossible is not missing. `source`: the release was compared with its
    source, so that those checks are required too.
    """
    found = {(check.name, check.column) for check in verification.checks}
    left = {item.name for item in verification.not_checked}
    more = told_by_source(policy) if source else ()
    for promise in (*promises_of(policy), *more):
        missing = {name for name, _ in promise.checks - found if name not in left}
        if missing:
            yield promise.path, ", ".join(sorted(missing))
