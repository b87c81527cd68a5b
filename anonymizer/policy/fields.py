"""Fields of a policy: roles of columns, required guarantees, how and where to publish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import PrivateAttr

from anonymizer.policy import defaults
from anonymizer.policy.algorithms import Algorithm, Mondrian
from anonymizer.policy.columns import MASKS, ByRole, Column
from anonymizer.policy.document import Document
from anonymizer.policy.privacy import Privacy
from anonymizer.policy.publish import Context, Publish, Republish, Source, Workload
from anonymizer.policy.values import (
    FrozenMap,
    Identity,
    LocalPath,
    Share,
    Text,
    columns_of,
)

# The published names that follow from the policy alone.
#
# A rename applies to the generated column first: with a source column `class_id` and `rename:
# {class_id: group}`, the generated one is called `group`.


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
    """True if it is always published; False if that depends on the source column's type."""


def is_reserved(name: str) -> bool:
    """Return whether a published column of this name could be mistaken for one of the tool's."""
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


def names_kept(policy: PolicyFields) -> dict[str, str]:
    """The published names of source columns, where one column shows their cells or values, and no
    generated one has its name.
    """
    published = list(published_names(policy))
    others = {renamed(policy, one) for one in published if one.generated}
    own = {one.name: renamed(policy, one) for one in published if not one.generated}
    return {column: name for column, name in own.items() if name not in others}


def separated_tables(policy: PolicyFields) -> dict[str, str]:
    """For msb: every sensitive column, and the name of the table of its values by group; for counts
    with hidden figures the table of witnesses.
    """
    if policy._further is not None:
        return dict(policy._further)
    if policy.algorithm.values_in != "group":
        return {}
    return {name: f"{policy.publish.name}_{name}" for name in policy.sensitive}


def renamed(policy: PolicyFields, published: PublishedName) -> str:
    """The final name of a published column."""
    if published.generated:
        return policy.generated_name(published.name)
    return policy.column_name(published.name)


class PolicyFields(ByRole, Document):
    """The fields of a policy of one table, and what follows from them."""

    _further: Mapping[str, str] | None = PrivateAttr(None)
    """The further tables of a table of counts that this policy opens the source for."""

    engine: Literal["duckdb", "spark", "postgres"] = "duckdb"
    """The engine that does the work."""
    source: Source
    """The table to anonymize."""
    key: Identity | None = None
    """A column that is unique and not null, or several that are it together, as in [tenant, id];
    default: the row's content and copy number."""
    person: Identity | None = None
    """The column that identifies the person of a row, or several that do together; all guarantees
    then count persons."""
    merge_person_rows: bool = False
    """If the rows of a person have different quasi-identifiers: merge them into one range or set
    instead of refusing the run."""
    columns: FrozenMap[Text, Column]
    """Every column of the source by name."""
    privacy: Privacy = Privacy()
    """Guarantees for the whole table."""
    suppression_limit: Share = 0.0
    """Largest share of rows (persons, if `person` is set) that may be suppressed."""
    algorithm: Algorithm = Mondrian(name="mondrian")
    """The algorithm and its options."""
    publish: Publish = Publish()
    """The place and the names of the release."""
    preset: defaults.Preset | None = None
    """internal: k = 5, l = 2; external: k = 11, l = 3 (for sensitive columns without a rule); both
    with 5 % suppression. safe_harbor: only what 45 CFR 164.514(b)(2) allows of every column, and no
    guarantee (5 % suppression with k_anonymity). What the policy itself states takes precedence."""
    workload: Workload | None = None
    """The user's own queries, to show their error on the release."""
    republish: Republish | None = None
    """Guarantees over this and earlier releases of the same persons."""
    ledger: LocalPath | None = None
    """A private database file that records releases; never the file of the release."""
    context: Context | None = None
    """The recipients and what is known about them; printed in evidence, without effect
    on the run."""

    @property
    def owners(self) -> frozenset[str]:
        """The columns of the key and of the person."""
        return frozenset((*columns_of(self.key), *columns_of(self.person)))

    @property
    def continues(self) -> bool:
        """True if its releases continue earlier ones."""
        return self.republish is not None and self.republish.continues

    def column_name(self, column: str) -> str:
        """The published name of a column: its own, unless `publish.rename` gives another."""
        if column in self._generated:
            return column  # the rename applies to the generated column of that name
        return self.generated_name(column)

    @cached_property
    def _generated(self) -> frozenset[str]:
        return frozenset(one.name for one in published_names(self) if one.generated)

    def generated_name(self, name: str) -> str:
        """The published name of a generated column such as `class_id` or `zip_bucket`."""
        return self.publish.rename.get(name, name)
