"""Public domains of columns: the groups that may exist, whatever the data.

Where every group of the cross of the domains is listed, which of them are listed says nothing of
the data. So hierarchies are built over the domain as well, and not over the values that occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anonymizer.algorithms.aggregate.groups import Dimension
from anonymizer.compile import Sql
from anonymizer.contract.layout import value_text
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy.scale import from_text
from anonymizer.policy import AggregatePolicy
from anonymizer.policy.paths import path_text
from anonymizer.process.text import many
from anonymizer.source.profile import published_type
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Guard, Row, Stage, Step

MOST_GROUPS = 2_000_000
"""Groups of the cross of all domains."""


def domain_stages(policy: AggregatePolicy, found: Sequence[Dimension]) -> Iterator[Stage]:
    """Write the domains that the policy lists, and refuse rows with other values."""
    for d in found:
        kind, texts = published_type(d.sql_type), [*map(_text, d.of.listed or ())]
        if not is_listed(policy, d):
            if d.of.bands is None or not policy.lists_zeros:
                continue
            kind, texts = "VARCHAR", [*d.band_labels]
        context = {"domain": d.domain, "value": d.v, "typed": _typed("text", kind), "texts": texts}
        yield Step(f"domain of {d.column}", "domain/listed", context)
        said = (f"value is no {kind}", f"values are no {kind}")
        yield _guard(d, "mistyped", said, "write values as the column has them", {})
        yield _outside(d, nulls=None in texts)


def domain_of_leaves(policy: AggregatePolicy, d: Dimension) -> tuple[Stage, ...]:
    """Take the values of a hierarchy from a file or table as the domain, where one is needed."""
    if not policy.lists_zeros or is_listed(policy, d):
        return ()
    typed = _typed("value", published_type(d.sql_type))
    context = {"domain": d.domain, "value": d.v, "typed": typed, "listed": d.leaves}
    leaves = Step(f"domain of {d.column}", "domain/leaves", context)
    return leaves, values_of_domain(d), _outside(d, nulls=False)


def is_listed(policy: AggregatePolicy, d: Dimension) -> bool:
    """Return whether the policy lists the values of a column, and they are needed."""
    return d.of.domain is not None or (policy.lists_zeros and d.of.listed is not None)


def values_of_domain(d: Dimension) -> Step:
    """The values for which a hierarchy is built."""
    context = {"values": d.values, "domain": d.domain, "value": d.v}
    return Step(f"values of {d.column}", "domain/values", context)


def size_guard(found: Sequence[Dimension]) -> Guard:
    """Refuse domains with too many groups before they are crossed."""

    def too_many(row: Row) -> Problem:
        said = f"has domains of {row[0]:,.0f} groups together"
        hint = "fewer columns, coarser bands, or shorter domains"
        return Problem("aggregate.by", said, allowed=f"at most {MOST_GROUPS:,}", hint=hint)

    context = {"domains": [d.domain for d in found], "most": MOST_GROUPS}
    return Guard(Step("groups of the domains", "domain/size", context), too_many, SourceError)


def _outside(d: Dimension, *, nulls: bool) -> Guard:
    hint = "NULL is in no band and no hierarchy: give such rows a value in source.query"
    if d.of.listed is not None:
        hint = "add such values to it, or leave such rows out in source.query"
    said = ("row has a value outside of the domain", "rows have values outside of the domain")
    return _guard(d, "outside", said, hint, {"snapshot": SNAPSHOT, "nulls": nulls})


def _guard(
    d: Dimension, template: str, said: tuple[str, str], hint: str, more: Mapping[str, object]
) -> Guard:
    option = "domain" if d.of.domain is not None else "bands" if d.of.bands else "hierarchy"

    def explain(row: Row) -> Problem:
        path = path_text(("aggregate", "by", d.column, option))
        return Problem(path, many(int(row[0]), *said), hint=hint)

    context = {"domain": d.domain, "value": d.v, **more}
    return Guard(
        Step(f"{template}: {d.column}", f"domain/{template}", context), explain, SourceError
    )


def _text(value: object) -> str | None:
    return None if value is None else value_text(value)


def _typed(name: str, kind: str) -> Sql:
    """A listed text in the type that the snapshot has; texts are compared by their bytes."""
    return from_text(Sql(name), kind) if kind != "VARCHAR" else Sql(f'{name} collate "binary"')
