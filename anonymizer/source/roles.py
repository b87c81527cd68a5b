"""The columns of a policy, in the form that algorithms use."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.checks.columns import order_of_categories
from anonymizer.policy.suggest import closest
from anonymizer.source.profile import Attribute, Kept, Sensitive, TableProfile, check_kind, unusable

ROLES = "identifier, quasi, sensitive, keep, drop"
"""The roles of the columns of a single table."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns by role, from which every statement is made."""

    quasi: tuple[Attribute, ...]
    sensitive: tuple[Sensitive, ...]
    kept: tuple[Kept, ...]

    @property
    def flagged(self) -> tuple[Attribute, ...]:
        return tuple(a for a in self.quasi if a.flagged)

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of the quasi-identifiers by name."""
        return {a.column: a.kind for a in self.quasi}


def roles(policy: Policy, profile: TableProfile) -> Roles:
    """Raises SourceError with every column that does not fit."""
    problems = list(_unmatched(policy, profile))
    if problems:
        raise SourceError(problems)
    quasi: list[Attribute] = []
    sensitive: list[Sensitive] = []
    kept: list[Kept] = []
    for name, column in policy.columns.items():
        sql_type = profile.type_of(name)
        try:
            if column.role == "quasi":
                i = len(quasi)
                kind = check_kind(name, sql_type, column.kind)
                quasi.append(
                    Attribute(
                        index=i + 1,
                        column=name,
                        sql_type=sql_type,
                        kind=kind,
                        flagged=column.sensitive_when is not None,
                        flag=sum(a.flagged for a in quasi),
                        height=profile.heights[i] if profile.heights else 0,
                        spec=column.hierarchy,
                        distinct=profile.distinct[i] if profile.distinct else 0,
                        nulls=profile.nulls[i] if profile.nulls else 0,
                    )
                )
                problems += order_of_categories(name, column, kind)
            elif column.role == "sensitive":
                kind = check_kind(name, sql_type, column.kind)
                j = len(sensitive)
                height = profile.sensitive_heights[j] if profile.sensitive_heights else 0
                sensitive.append(Sensitive(j + 1, name, sql_type, kind, height))
                problems += order_of_categories(name, column, kind)
            elif column.role == "keep":
                if _nested(sql_type):
                    raise SourceError(unusable(name, sql_type))
                kept.append(Kept(len(kept) + 1, name, sql_type))
        except SourceError as error:
            problems.extend(error.problems)
    if problems:
        raise SourceError(problems)
    return Roles(tuple(quasi), tuple(sensitive), tuple(kept))


def _nested(sql_type: str) -> bool:
    return sql_type.endswith("]") or sql_type.startswith(("STRUCT", "MAP", "UNION", "VARIANT"))


def _unmatched(policy: Policy, profile: TableProfile) -> list[Problem]:
    """Columns that the policy or the source has alone. Names of columns are not values."""
    present = [name for name, _ in profile.columns]
    listed = list(policy.columns)
    folded = {name.lower(): name for name in present}
    unlisted = [name for name in present if name not in listed]
    problems = []
    for name in listed:
        if name not in present:
            near = folded.get(name.lower())
            mend = closest(name, unlisted) or "remove it, or mend its name"
            problems.append(
                Problem(
                    f"columns.{name}",
                    "is not a column of the source",
                    hint=f"the source has {near}" if near else mend,
                )
            )
    wanted = {name.lower() for name in listed}
    for name in present:
        if name not in listed and name.lower() not in wanted:
            problems.append(
                Problem(
                    f"columns.{name}",
                    "is a column of the source that the policy does not list",
                    allowed=ROLES,
                    hint="give it a role; drop leaves it out",
                )
            )
    return problems
