"""The columns of a policy, in the form that algorithms use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from anonymizer.compile import Sql
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.checks.columns import order_of_categories
from anonymizer.policy.columns import MASKS, weights_of
from anonymizer.policy.paths import closest, column_path, path_text
from anonymizer.source.masking.masks import Mask, masks_of
from anonymizer.source.masking.stages import published_areas
from anonymizer.source.masking.values import named_by
from anonymizer.source.profile import (
    PUBLISHED,
    Attribute,
    KeptColumn,
    Sensitive,
    TableProfile,
    check_kind,
    kind_of,
    own_name,
    unusable,
)
from anonymizer.source.public_grid import grid_of

ROLES = f"identifier, quasi, sensitive, keep, drop, {', '.join(MASKS)}"
"""The roles of the columns of a single table."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns by role, from which every statement is made."""

    quasi: tuple[Attribute, ...]
    sensitive: tuple[Sensitive, ...]
    kept: tuple[KeptColumn, ...]
    masks: tuple[Mask, ...] = ()
    """The masks that are applied when columns are read, in order."""
    units: tuple[Sensitive, ...] = ()
    """The columns that are read and not published, of which a class needs several values; they
    are numbered after the sensitive columns."""

    @property
    def ruled(self) -> tuple[Sensitive, ...]:
        """The columns whose values in a class may have rules, published or not."""
        return (*self.sensitive, *self.units)

    @property
    def flagged(self) -> tuple[Attribute, ...]:
        return tuple(a for a in self.quasi if a.flagged)

    @property
    def cut(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers with cells of their own."""
        return tuple(a for a in self.quasi if not a.like)

    @property
    def published(self) -> tuple[tuple[str, Sql], ...]:
        """The columns whose values are published, each with its column of the snapshot."""
        quasi = ((a.column, a.q) for a in self.quasi)
        sensitive = ((s.column, s.s) for s in self.sensitive)
        return (*quasi, *sensitive, *((k.column, k.k) for k in self.kept))

    @property
    def without_masks(self) -> Roles:
        """The roles without the masks of published columns; coarsening when read is kept."""
        published = {str(k.k) for k in self.kept}
        return replace(self, masks=tuple(m for m in self.masks if str(m.physical) not in published))

    def mask_descriptions(self, column: str) -> tuple[dict[str, Any], ...]:
        """The masks of a column as a release describes them."""
        return tuple(mask.description for mask in self.masks if mask.column == column)

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of the quasi-identifiers by name."""
        return {a.column: a.kind for a in self.quasi}


def roles(policy: Policy, profile: TableProfile) -> Roles:
    """Assign the roles. Raises SourceError with every column that does not fit."""
    problems = [*_unmatched_columns(policy, profile), *_without_equality(policy, profile)]
    SourceError.refuse(problems)
    quasi: list[Attribute] = []
    sensitive: list[Sensitive] = []
    kept: list[KeptColumn] = []
    masks: list[Mask] = []
    weights = weights_of(policy.columns)
    for name, column in policy.columns.items():
        sql_type = profile.type_of(name)
        # (the digits of a ZIP code are text, even in a numeric column)
        read = "VARCHAR" if column.zip3 else sql_type
        try:
            if column.role == "quasi":
                i = len(quasi)
                kind = check_kind(name, read, column.kind)
                quasi.append(
                    Attribute(
                        index=i + 1,
                        column=name,
                        sql_type=read,
                        kind=kind,
                        flagged=column.sensitive_when is not None,
                        flag=sum(a.flagged for a in quasi),
                        height=profile.heights[i] if profile.heights else 0,
                        spec=column.hierarchy,
                        grid=grid_of(policy, name, kind, read),
                        like=policy.quasi.index(column.like) + 1 if column.like else 0,
                        distinct=profile.distinct[i] if profile.distinct else 0,
                        span=profile.spans[i] if profile.spans else 0,
                        nulls=profile.nulls[i] if profile.nulls else 0,
                        weight=weights.get(name),
                    )
                )
                problems += order_of_categories(name, column, kind)
                masks += _masks(policy, name, sql_type, quasi[-1].q, len(masks))
            elif column.role == "sensitive":
                kind = check_kind(name, read, column.kind)
                j = len(sensitive)
                height = profile.sensitive_heights[j] if profile.sensitive_heights else 0
                sensitive.append(Sensitive(j + 1, name, read, kind, height))
                masks += _masks(policy, name, sql_type, sensitive[-1].s, len(masks))
                problems += order_of_categories(name, column, kind)
            elif column.role == "keep":
                if _is_nested(sql_type):
                    raise SourceError(unusable(name, sql_type, PUBLISHED))
                kept.append(KeptColumn(len(kept) + 1, name, sql_type))
            elif column.role in MASKS:
                if _is_nested(sql_type):
                    raise SourceError(unusable(name, sql_type, PUBLISHED))
                made = _masks(policy, name, sql_type, Sql(f"k{len(kept) + 1}"), len(masks))
                if column.role == "redact":
                    told = named_by(policy, profile)
                    made = tuple(replace(mask, values=told) for mask in made)
                masks += made
                kept.append(KeptColumn(len(kept) + 1, name, made[-1].published_type, column.role))
        except SourceError as error:
            problems.extend(error.problems)
    units: list[Sensitive] = []
    for number, name in enumerate(policy.privacy.unit_columns, len(sensitive) + 1):
        unit_type = profile.type_of(name)
        if (natural := kind_of(unit_type)) is None:
            said = "has a type whose different values cannot be counted"
            problems.append(
                Problem(path_text(("privacy", "units", name)), said, hint="cast it in source.query")
            )
        else:
            units.append(Sensitive(number, name, unit_type, natural))
    SourceError.refuse(problems)
    return Roles(tuple(quasi), tuple(sensitive), tuple(kept), tuple(masks), tuple(units))


def _masks(
    policy: Policy, name: str, sql_type: str, physical: Sql, before: int
) -> tuple[Mask, ...]:
    column, persons = policy.columns[name], policy.person is not None
    made = masks_of(name, column, sql_type, physical, person=persons, number=before + 1)
    return tuple(
        replace(mask, options=published_areas(policy, name)) if mask.kind == "zip3" else mask
        for mask in made
    )


def _is_nested(sql_type: str) -> bool:
    return sql_type.endswith("]") or sql_type.startswith(("STRUCT", "MAP", "UNION", "VARIANT"))


def _without_equality(policy: Policy, profile: TableProfile) -> list[Problem]:
    """A key or person column whose type has no usable equality."""
    types = dict(profile.columns)
    named = {"key": policy.key, "person": policy.person}
    return [
        Problem(
            option,
            f"has the type {name}, whose equal values may have different texts",
            hint="cast it in source.query: to text, or to what is meant by it",
        )
        for option, column in named.items()
        if column is not None and (name := own_name(types.get(column, "")))
    ]


def _unmatched_columns(policy: Policy, profile: TableProfile) -> list[Problem]:
    """Columns that only the policy or only the source has. Names of columns are not values."""
    present = [name for name, _ in profile.own]
    listed = list(policy.columns)
    if policy.source.format == "csv" and not set(listed) & set(present):
        # the first line may have been a row
        said = "has none of the columns that the policy lists"
        return [Problem("source.file", said, hint="its first line has to name the columns")]
    folded = {name.lower(): name for name in present}
    unlisted = [name for name in present if name not in listed]
    problems = []
    for name in listed:
        if name not in present:
            near = folded.get(name.lower())
            mend = closest(name, unlisted) or "remove it, or mend its name"
            problems.append(
                Problem(
                    column_path(name),
                    "is not a column of the source",
                    hint=f"the source has {near}" if near else mend,
                )
            )
    wanted = {name.lower() for name in listed}
    for name in present:
        if name not in listed and name.lower() not in wanted:
            problems.append(
                Problem(
                    column_path(name),
                    "is a column of the source that the policy does not list",
                    allowed=ROLES,
                    hint="give it a role; drop leaves it out",
                )
            )
    return problems
