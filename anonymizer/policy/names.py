"""The published names that follow from the policy alone.

A rename applies to the generated column first: with a source column `class_id` and
`rename: {class_id: group}`, the generated one is called `group`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.policy.masking import MASKS

if TYPE_CHECKING:
    from anonymizer.policy.columns import Column
    from anonymizer.policy.fields import PolicyFields

ROW_REF = "row_ref"
"""The reference from a published row to its original during verification; never published."""
OWN = "anonymizer:"
"""Prefix of columns that the verification adds to published ones."""


@dataclass(frozen=True, slots=True)
class PublishedName:
    """A published column before renaming."""

    name: str
    what: str
    """A description for messages."""
    column: str | None
    """The source column that it is or belongs to."""
    generated: bool
    certain: bool = True
    """Whether it is always published; False if that depends on the source column's type."""


def is_reserved(name: str) -> bool:
    """Whether a published column of this name could be mistaken for one of the tool's."""
    return name.casefold() == ROW_REF or name.casefold().startswith(OWN)


def published_names(
    policy: PolicyFields, kinds: Mapping[str, str] | None = None
) -> Iterator[PublishedName]:
    """Every column that the release has or may have; `kinds`: of columns with known types."""
    if policy.algorithm.classless:
        pass
    elif policy.algorithm.values_in == "group":
        yield PublishedName("group_id", "the number of the group", None, True)
        yield PublishedName("class_id", "the number of the class", None, True, False)
    else:
        yield PublishedName("class_id", "the number of the class", None, True)
    if policy.person is not None:
        yield PublishedName("person_id", "the number of the person", None, True)
    for name, column in policy.columns.items():
        if column.role == "quasi":
            yield from cell_names(
                name, column, column.kind or (kinds or {}).get(name), policy.publish.cells
            )
        elif column.role in ("sensitive", "keep", *MASKS):
            yield PublishedName(name, f"the {column.role} column", name, False)
    if policy.algorithm.values_in == "bucket":
        for name in policy.protected:
            yield PublishedName(f"{name}_bucket", "the bucket of", name, True)
            if name in policy.semi_sensitive and policy.publish.cells == "typed":
                yield PublishedName(f"{name}_value", "the bucketed value of", name, True)


def cell_names(
    name: str, column: Column, kind: str | None, cells: str, *, event: bool = False
) -> Iterator[PublishedName]:
    """The columns in which generalized cells are published."""
    what = f"the {column.role} column"
    if cells == "text":
        yield PublishedName(name, what, name, False)
        return
    certain, ordered = kind is not None, kind in ("numeric", "date")
    if ordered or not certain:
        yield PublishedName(f"{name}_lo", "the lower bound of", name, True, certain)
        yield PublishedName(f"{name}_hi", "the upper bound of", name, True, certain)
    if not ordered:
        yield PublishedName(name, what, name, False, certain)
    if ordered or column.hierarchy is not None or event or not certain:
        yield PublishedName(f"{name}_nullable", "the NULL mark of", name, True, certain)


def separated_tables(policy: PolicyFields) -> dict[str, str]:
    """For msb: every sensitive column, and the name of the table of its values by group."""
    if policy.algorithm.values_in != "group":
        return {}
    return {name: f"{policy.publish.name}_{name}" for name in policy.sensitive}


def renamed(policy: PolicyFields, published: PublishedName) -> str:
    """The final name of a published column."""
    if published.generated:
        return policy.generated_name(published.name)
    return policy.column_name(published.name)
