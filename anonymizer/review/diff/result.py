"""The result of a trial run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from anonymizer.contract.layout import Requirement
from anonymizer.errors import Problem
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.policy.schema.derived import lead_of
from anonymizer.privacy.of_policy.requirements import requirements_of
from anonymizer.release.tables import required_in
from anonymizer.verification.event_rules import TOGETHER

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
    asked = {n: value for n, value in requirement.parameters.items() if n != TOGETHER}
    return ", ".join(f"{name}={value}" for name, value in asked.items())


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial run."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """The columns of the source, each with its path in a policy; empty if it cannot be read. With
    several tables, each is named with its table."""
    replaces: tuple[str, ...] = ()
    """What a run would replace or drop."""
    problems: tuple[Problem, ...] = ()
    """Why the policy cannot run; all other fields are empty then."""
    achieved: dict[Named, tuple[Any, bool]] = field(default_factory=dict)
    """Achieved figure and verdict of every guarantee, by name and column."""
    figures: dict[str, float | int | None] = field(default_factory=dict)
    """Rows, suppression, loss and risk of the table, or of each of several tables."""
    losses: dict[str, float] = field(default_factory=dict)
    """Mean NCP of each quasi-identifier and of each event column."""
    observers: dict[str, int] = field(default_factory=dict)
    """Persons found by observers who know some of their rows; empty for one table."""
    holds: bool = False
    """Whether every guarantee and the suppression limit hold."""

    @property
    def runs(self) -> bool:
        return not self.problems


def of_whole(
    units: str, share: float, measures: Mapping[str, Any], many: int, smallest: int | None
) -> dict[str, float | int | None]:
    """The figures of the table that is divided into classes.

    `many`: published `units` (rows, or persons); `smallest`: units of the smallest class.
    """
    if "classes" not in measures:  # the algorithm forms no classes
        return {"suppressed (share)": share}
    classes = measures["classes"]
    return {
        "suppressed (share)": share,
        "classes": classes,
        f"smallest class ({units})": smallest,
        "loss per cell (NCP)": measures["ncp"],
        "mean risk": classes / many if many else None,
        "largest risk": 1 / smallest if smallest else None,
    }
