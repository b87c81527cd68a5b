"""The values that the nodes of hierarchies admit, for the verifier and the measures."""

from __future__ import annotations

from anonymizer.compile import Sql, Table, work
from anonymizer.contract.layout import PublishedColumn
from anonymizer.hierarchy.scale_of_type import scale_of
from anonymizer.hierarchy.text import from_text
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
from anonymizer.source.profile import Attribute
from anonymizer.steps import Step


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
