"""Names of the work tables with the source values that the verifier compares a release with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymizer.algorithms.population import POPULATION
from anonymizer.compile import Table, work
from anonymizer.contract.originals import MaskedColumn, Originals
from anonymizer.policy import Policy
from anonymizer.release.population import population_of
from anonymizer.run.nodes import declares_leaves, has_free_bounds, listed_leaves, lists_members
from anonymizer.source.masking.expressions import per
from anonymizer.source.masking.masks import Mask
from anonymizer.source.profile import Attribute, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.verification.population import NEEDED, Members

ORIGINALS = work("originals")


def originals(
    roles: Roles, table: Table = ORIGINALS, *, person: str | None = "person", forged: bool = False
) -> Originals:
    """The source values to compare with, from the snapshot or that of one of several tables.

    With `forged` rows in the same table, the counted values are incomplete, and some values were
    not masked.
    """
    return Originals(
        table=table,
        values={column: name.text for column, name in roles.published},
        flags={a.column: a.f.text for a in roles.flagged},
        nodes={a.column: nodes_of(a) for a in roles.quasi if a.height and not a.ordered},
        person=person,
        sets=frozenset(a.column for a in roles.quasi if lists_members(a)),
        admitted={a.column: admitted_of(a) for a in roles.quasi if has_free_bounds(a)},
        leaves={a.column: listed_leaves(a) for a in roles.quasi if declares_leaves(a)},
        distinct={} if forged else {a.column: a.values for a in roles.quasi},
        masked=tuple(masked_originals(roles.masks)),
        read=SNAPSHOT if forged else None,
    )


def masked_originals(masks: Iterable[Mask]) -> Iterator[MaskedColumn]:
    """The masked columns, each with its original values."""
    by_column: dict[str, list[Mask]] = {}
    for mask in masks:
        by_column.setdefault(mask.column, []).append(mask)
    for name, made in by_column.items():
        first = made[0]
        shifted = first.kind == "shift"
        alike = [first.kind, first.options.get("format")]
        alike += [first.options.get(option) for option in ("per", "key_file", "within", "keep")]
        yield MaskedColumn(
            name,
            published_type(first.sql_type),
            first.physical,
            first.original,
            tuple(mask.told for mask in made),
            per(first) if shifted else None,
            tuple((one.table, one.physical) for one in first.values),
            repr(alike),
        )


def members_read(policy: Policy, roles: Roles, where: Originals | None = None) -> Members | str:
    """The population as it was read; the nodes are where `where` says."""
    if population_of(policy) is None:
        return NEEDED
    return Members(
        POPULATION,
        {a.column: f"p{a.index}" for a in roles.quasi},
        (where or originals(roles)).nodes,
    )


def nodes_of(attribute: Attribute) -> Table:
    """The table of a column's published nodes."""
    return work(f"published_nodes_{attribute.index}")


def admitted_of(attribute: Attribute) -> Table:
    """The table of bounds that a column's cells may have."""
    return work(f"admitted_{attribute.index}")
