"""The guarantees of a policy by name and column, with their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from anonymizer.contract.layout import Requirement
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.policy.schema.derived import lead_of
from anonymizer.privacy.of_policy.requirements import requirements_of
from anonymizer.release.tables import required_in

Named: TypeAlias = tuple[str, str | None]
"""Name and column of a guarantee; with several tables, `table.column`."""


def required_of(policy: AnyPolicy) -> dict[Named, str]:
    """Every guarantee, with its parameters."""
    if isinstance(policy, SchemaPolicy):
        return dict(_of_tables(policy))
    return {(r.name, r.column): _parameters(r) for r in requirements_of(policy)}


def _of_tables(policy: SchemaPolicy) -> Iterator[tuple[Named, str]]:
    own = requirements_of(lead_of(policy))
    for table in (policy.person, *policy.children):
        for r in (*(own if table == policy.person else ()), *required_in(policy, table, {})):
            column = r.column and f"{table}.{r.column}"
            yield (r.name, column), _parameters(r)
            if policy.privacy.knows.sensitive and column:
                yield (f"known_{r.name}", column), _parameters(r)
    k, knows = policy.privacy.k_anonymity, policy.privacy.knows
    if knows.events and policy.events:
        yield ("known_events", None), f"k={k}, events={knows.events}"
    if knows.rows:
        yield ("known_rows", None), f"k={k}"


def _parameters(requirement: Requirement) -> str:
    return ", ".join(f"{name}={value}" for name, value in requirement.parameters.items())
