"""Values of columns that say who somebody is, found inside of free text.

Names are no form that a pattern could tell, but the policy knows some: the values of its columns
of the roles identifier and token. A text is compared by its words, letters without case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from anonymizer.compile import Sql, Table, ident, lit, sql, work
from anonymizer.policy import Policy
from anonymizer.source.masking.masks import Mask, family_of
from anonymizer.source.profile import TableProfile
from anonymizer.steps import Step

SAYING_WHO = ("identifier", "token")
"""Roles of columns whose values are looked for."""
MOST_WORDS = 20
"""Words of the longest value that is looked for."""
VALUES = work("identifier_values")


def identifying(policy: Policy, profile: TableProfile) -> list[str]:
    """The columns whose values are looked for in text: text, whole numbers and UUIDs."""
    return [
        name
        for name, sql_type in profile.columns
        if name in policy.columns
        and policy.columns[name].role in SAYING_WHO
        and (family_of(sql_type) in ("text", "whole") or sql_type == "UUID")
    ]


def identifier_columns(
    policy: Policy, profile: TableProfile, masks: Iterable[Mask]
) -> Iterator[tuple[Sql, Sql]]:
    """What is read of them beside the rows, where some text is redacted."""
    if any(mask.values for mask in masks):
        for number, name in enumerate(identifying(policy, profile), 1):
            yield ident(name), physical(number)


def physical(number: int) -> Sql:
    """The column of the snapshot with the values of such a column."""
    return Sql(f"i{number}")


def found_table(mask: Mask) -> Table:
    """Work table of the texts in which such values stand."""
    return work(f"found_{mask.original}")


def found_alias(mask: Mask) -> Sql:
    """Its alias where rows are masked."""
    return Sql(f"found_{mask.original}")


def values_steps(masks: Sequence[Mask], raw: Table) -> tuple[Step, ...]:
    """The steps that look such values up in every text that is redacted."""
    if not masks:
        return ()
    numbers = range(1, len(masks[0].values) + 1)
    shared = {"raw": raw, "values": VALUES, "most": MOST_WORDS}
    listed = {**shared, "columns": [(number, physical(number)) for number in numbers]}
    steps = [Step("values that say who", "masking/identifier_values.sql.j2", listed)]
    for mask in masks:
        context = {
            **shared,
            "found": found_table(mask),
            "text": mask.physical,
            "columns": [(number, _pattern(number)) for number in numbers],
            "clean": _clean(mask),
        }
        name = f"values that say who in {mask.column}"
        steps.append(Step(name, "masking/found_values.sql.j2", context))
    return tuple(steps)


def _pattern(number: int) -> Sql:
    return Sql(f"p{number}")


def without_values(mask: Mask, value: Sql) -> Sql:
    """The text with every such value replaced by the name of its column in brackets."""
    return sql("coalesce({a}.clean, {v})", a=found_alias(mask), v=value) if mask.values else value


def _clean(mask: Mask) -> Sql:
    made = Sql("text")
    for number, name in enumerate(mask.values, 1):
        # twice, since the sign between two values belongs to one match only
        for _ in range(2):
            made = sql(
                "regexp_replace({v}, concat({before}, {p}, {after}), {tag}, 'gi')",
                v=made,
                p=_pattern(number),
                before=lit(r"(^|[^\p{L}\p{N}])("),
                after=lit(r")($|[^\p{L}\p{N}])"),
                tag=lit(rf"\1[{_plain(name)}]\3"),
            )
    return made


def _plain(name: str) -> str:
    """The name of a column as a tag: no sign in it means anything to a replacement."""
    return name.replace("\\", "/")
