"""Names of the work tables with the source values that the verifier compares a release with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymizer.algorithms.population import POPULATION
from anonymizer.compile import Sql, Table, work
from anonymizer.contract.layout import PublishedColumn
from anonymizer.contract.originals import MaskedColumn, Originals
from anonymizer.hierarchy.scale_of_type import scale_of
from anonymizer.hierarchy.text import from_text
from anonymizer.policy import Policy
from anonymizer.policy.builders import (
    Cardinality,
    Conventional,
    Date,
    Divisor,
    Frequency,
    Intervals,
    Order,
    Prefix,
    Suffix,
    Taxonomy,
)
from anonymizer.release.population import population_of
from anonymizer.source.masking.expressions import per
from anonymizer.source.masking.masks import Mask
from anonymizer.source.profile import Attribute, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Step
from anonymizer.verification.population import NEEDED, Members


def nodes_step(
    attribute: Attribute,
    column: PublishedColumn,
    nodes: Table,
    *,
    typed: bool,
    link: Table | None = None,
    original: Table | None = None,
    data: Table | None = None,
) -> Step:
    """The step that writes `nodes`: values of the published rows, with the labels that admit them.

    With `link` and `original`, only the values of published rows are used; otherwise all values of
    the source, and the release is `data`.
    """
    if not attribute.height:
        raise ValueError(f"the levels of {attribute.column}'s hierarchy have not been counted")
    spec = attribute.spec
    return Step(
        f"labels of {attribute.column}",
        "verify/nodes.sql.j2",
        {
            "values": attribute.values,
            "hierarchy": attribute.hierarchy,
            "nodes": nodes,
            "link": link,
            "original": original,
            "data": link if link is not None else data,
            "row_ref": "row_ref",
            "physical": attribute.q.text,
            "name": column.name,
            "height": attribute.height,
            "typed": typed,
            "codes": isinstance(spec, Prefix | Suffix),
            "suffix": isinstance(spec, Suffix),
            "listed": isinstance(spec, Taxonomy),
        },
    )


def declares_leaves(attribute: Attribute) -> bool:
    """Whether its categories and their tree come from a file or table named in the policy."""
    return not attribute.ordered and attribute.height > 0 and isinstance(attribute.spec, Taxonomy)


def lists_members(attribute: Attribute) -> bool:
    """Whether its nodes are published as sets of values."""
    return isinstance(attribute.spec, Frequency | Order)


def listed_leaves(attribute: Attribute) -> Table:
    """The listed leaves (value, label) with every ancestor."""
    return work(f"listed_{attribute.index}")


FREE_BOUNDS = (Taxonomy, Date, Intervals, Conventional, Divisor, Cardinality)
"""Builders whose nodes have bounds beyond those of the values below them."""


def has_free_bounds(attribute: Attribute) -> bool:
    """Whether a node may have a bound that no published row has."""
    return attribute.ordered and attribute.height > 0 and isinstance(attribute.spec, FREE_BOUNDS)


def admitted_step(attribute: Attribute, admitted: Table) -> Step:
    """The step that writes `admitted`: bounds that need not occur in a published row."""
    spec = attribute.spec
    return Step(
        f"bounds of {attribute.column}",
        "verify/admitted.sql.j2",
        {
            "hierarchy": attribute.hierarchy,
            "admitted": admitted,
            "listed": listed_leaves(attribute) if isinstance(spec, Taxonomy) else None,
            "typed": from_text(Sql("value"), attribute.sql_type),
            "type": Sql(attribute.sql_type),
            "given": _cuts(spec, attribute.sql_type) if isinstance(spec, Intervals) else None,
            "height": attribute.height,
            "built": isinstance(spec, Conventional | Divisor | Cardinality) and spec.domain is None,
            "period": isinstance(spec, Date),
        },
    )


def _cuts(spec: Intervals, sql_type: str) -> tuple[list[Sql], list[Sql]]:
    """The bounds given by cuts, top code and bottom code: low and high ones."""
    scale = scale_of(sql_type)
    assert scale is not None
    first, last = scale.ends()
    marks = [
        scale.literal(mark) for mark in (spec.bottom, *spec.cuts, spec.top) if mark is not None
    ]
    lows, highs = [*marks], [scale.before(mark) for mark in marks]
    if spec.bottom is not None:
        lows.append(first)
        highs.append(highs[0])
    if spec.top is not None:
        lows.append(marks[-1])
        highs.append(last)
    return lows, highs


ORIGINALS = work("originals")


def originals(
    roles: Roles, table: Table = ORIGINALS, *, person: str | None = "person", forged: bool = False
) -> Originals:
    """The source values to compare with, from the snapshot or that of one of several tables.

    With `forged` rows in the same table, the counted values are incomplete, and some values were
    not masked.
    """
    values = {a.column: a.q.text for a in roles.quasi}
    values |= {s.column: s.s.text for s in roles.sensitive}
    values |= {k.column: k.k.text for k in roles.kept}
    return Originals(
        table=table,
        values=values,
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
