"""Computes the published labels of values and hierarchy nodes.

Hierarchies are built before it is known which rows an algorithm suppresses. Their labels are
computed afterwards, from the published values alone: members of sets, and bounds that depend on
the data, are those of published values, and a node that covers all of them is `*`.
"""

from __future__ import annotations

from typing import Any

from anonymizer.algorithms.encode import CODED, UNITS
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.compile import Sql, Table, sql, work
from anonymizer.hierarchy.affix import KEPT
from anonymizer.hierarchy.scale import Scale
from anonymizer.hierarchy.scale_of_type import scale_of
from anonymizer.hierarchy.text import exact, from_text
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
from anonymizer.source.labels import value_text
from anonymizer.source.profile import Attribute
from anonymizer.steps import Step

GRID = (Conventional, Divisor, Cardinality)
"""Builders whose bounds depend on the ends of the domain, by default those of the data."""


def present(attribute: Attribute) -> Table:
    """The table of a column's codes among the published rows."""
    return work(f"present_{attribute.index}")


def shown(attribute: Attribute) -> Table:
    """The table of a column's published values and nodes: level, node, label, lo and hi."""
    return work(f"shown_{attribute.index}")


def present_step(attribute: Attribute, units: Table = UNITS) -> Step:
    """The step that writes `present` from `members` and the tuples of `units`."""
    return Step(
        f"published values of {attribute.column}",
        "nodes/present.sql.j2",
        {
            "members": MEMBERS,
            "units": units,
            "coded": CODED,
            "present": present(attribute),
            "code": attribute.c,
            "dealt": attribute.r if attribute.flagged else None,
        },
    )


def shown_steps(attribute: Attribute, units: Table = UNITS) -> tuple[Step, ...]:
    """Steps that write `shown`, from `members` and the tuples of `units`."""
    shared = {
        "present": present(attribute),
        "domain": attribute.domain,
        "hierarchy": attribute.hierarchy,
        "shown": shown(attribute),
        "height": attribute.height,
    }
    if attribute.ordered:
        template, own = "bounds", _bounds(attribute, attribute.spec)
    else:
        template, own = "labels", _labels(attribute, attribute.spec)
    name = f"nodes of {attribute.column}"
    return (
        present_step(attribute, units),
        Step(name, f"nodes/{template}.sql.j2", {**shared, **own}),
    )


def _labels(attribute: Attribute, spec: Any) -> dict[str, Any]:
    affix = isinstance(spec, Prefix | Suffix)
    return {
        "sets": isinstance(spec, Frequency | Order),
        "kept": work(f"{KEPT}_{attribute.index}") if affix else None,
        "suffix": isinstance(spec, Suffix),
        "written": exact(Sql("n.text")),
    }


def _bounds(attribute: Attribute, spec: Any) -> dict[str, Any]:
    listed = isinstance(spec, Taxonomy)
    built = isinstance(spec, GRID) and spec.domain is None
    lo, hi = _hull(spec)
    value_lo = value_hi = Sql("value")
    scale = scale_of(attribute.sql_type)
    if isinstance(spec, Intervals) and scale is not None:
        lo, hi = _between_cuts(spec, scale)
        value_lo, value_hi = _coded_value(spec, scale)
    return {
        "lo": lo,
        "hi": hi,
        "listed": work(f"listed_{attribute.index}") if listed else None,
        "typed": from_text(Sql("value"), attribute.sql_type),
        "built": built,
        "hung": isinstance(spec, Intervals | Date) and attribute.height > 1,
        "below": attribute.height - 1,
        "value_lo": value_lo,
        "value_hi": value_hi,
        "lo_text": value_text("b.lo", attribute),
        "hi_text": value_text("b.hi", attribute),
    }


def _hull(spec: Any) -> tuple[Sql, Sql]:
    """The bounds of the node above one published value; the node gets the outermost of them."""
    match spec:
        case Taxonomy():
            return Sql("e.lo"), Sql("e.hi")
        case Date() | Intervals():
            return Sql("h.lo"), Sql("h.hi")
        case Conventional() | Divisor() | Cardinality():
            if spec.domain is not None:
                return Sql("h.lo"), Sql("h.hi")
            # a grid between the ends of the data would disclose ends that are not published
            return (
                Sql("case when x.whole then h.lo else h.value end"),
                Sql("case when x.whole then h.hi else h.value end"),
            )
        case _:
            return Sql("h.value"), Sql("h.value")


def _between_cuts(spec: Intervals, scale: Scale) -> tuple[Sql, Sql]:
    """Bounds between cuts; an open interval ends with the type, so that it discloses no extremes.

    If the last interval is not open, it ends with the highest published value.
    """
    first, last = scale.ends()
    lo, hi = Sql("h.lo"), Sql("h.hi")
    if spec.bottom is not None:
        lo = sql("case when starts_with(h.label, '<') then {e} else h.lo end", e=first)
    if spec.top is not None:
        hi = sql("case when starts_with(h.label, '>=') then {e} else h.hi end", e=last)
    else:
        cut = scale.literal(spec.cuts[-1])
        hi = sql("case when h.lo = {c} then greatest(h.lo, h.value) else h.hi end", c=cut)
    return lo, hi


def _coded_value(spec: Intervals, scale: Scale) -> tuple[Sql, Sql]:
    """Bounds of a single value; beyond top or bottom, those of the open interval."""
    first, last = scale.ends()
    lo = hi = Sql("value")
    if spec.bottom is not None:
        bound = scale.literal(spec.bottom)
        lo = sql("case when value < {b} then {e} else value end", b=bound, e=first)
    if spec.top is not None:
        bound = scale.literal(spec.top)
        hi = sql("case when value >= {b} then {e} else value end", b=bound, e=last)
    return lo, hi
