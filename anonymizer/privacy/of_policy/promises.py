"""The guarantees of a policy, read from its fields alone: each of them has to be verified.

This uses neither the requirements nor the verifier's questions, so that a guarantee whose
requirement or question is missing is detected by its absence from the verification.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anonymizer.contract.checks import Verification
from anonymizer.policy import Policy
from anonymizer.privacy.guarantee import Guarantee
from anonymizer.privacy.of_policy.registry import BY_NAME, GUARANTEES


@dataclass(frozen=True, slots=True)
class Promise:
    """A field of a policy, and the checks that have to come back for it."""

    path: str
    checks: frozenset[tuple[str, str | None]]
    """Name and column of each."""


def promises_of(policy: Policy) -> Iterator[Promise]:
    """Every field of the policy that promises something."""
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
                path = f"columns.{column}.protect.{name}"
                yield Promise(path, frozenset({(judged, column)}))
    if policy.republish is not None and policy.republish.m is not None:
        yield _of_table(policy, "republish.m", by_field.get("republish.m"))


def _of_table(policy: Policy, path: str, guarantee: Guarantee | None) -> Promise:
    if guarantee is None:
        return Promise(path, frozenset({(path.partition(".")[2], None)}))
    if not guarantee.of_values:
        return Promise(path, frozenset({(guarantee.name, None)}))
    # without a sensitive column there is nothing that could be judged, hence nothing that holds
    columns: tuple[str | None, ...] = policy.sensitive or (None,)
    return Promise(path, frozenset(c for name in columns for c in _checks(policy, guarantee, name)))


def _checks(
    policy: Policy, guarantee: Guarantee, column: str | None
) -> Iterator[tuple[str, str | None]]:
    """The check of a column, or those that stand for it where its values are in buckets."""
    if policy.algorithm.values_in != "bucket" or column not in policy.protected:
        yield guarantee.name, column
        return
    for name in guarantee.in_buckets or (guarantee.name,):
        yield name, column if BY_NAME[name].of_values else None


def unanswered(policy: Policy, verification: Verification) -> Iterator[tuple[str, str]]:
    """Every promise of which a check is missing: its path, and the names of those checks.

    What could not be judged, and is listed as such, is answered.
    """
    found = {(check.name, check.column) for check in verification.checks}
    left = {item.name for item in verification.not_checked}
    for promise in promises_of(policy):
        missing = {name for name, _ in promise.checks - found if name not in left}
        if missing:
            yield promise.path, ", ".join(sorted(missing))
