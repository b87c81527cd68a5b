"""Information loss of a release, from its published cells alone, exact.

NCP of a cell (Xu et al. 2006): numbers and dates: the published interval over the domain's width
(dates in microseconds); categories: 0 if exact, else values or leaves of the cell over those of the
domain; `*` and a suppressed cell cost 1. The domain is what the release spans: from its lowest
bound to its highest, or the categories that it shows, in cells or buckets; the leaves of a
hierarchy are given. GLM differs for categories:
(values - 1)/(domain - 1). Conventions:

* NULL is one more category, of the cell if it is nullable, of the domain if any cell is;
  for ordered columns a nullable cell that is not NULL alone costs `null_penalty` more (0), at most
  1. A NULL cell and an exact cell cost 0.
* A bucketed cell (`<column>_bucket` not None) is no quasi-identifying cell: it costs nothing and is
  not counted.
* Suppressed rows cost 1 per quasi-identifying cell (all columns, unless `suppressed_cells` says how
  many such cells they had) and n each in C_DM, n counting published and suppressed rows.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tests.oracle.cells import Cell, Domain, Exact, Interval, Null, Star, ValueSet, leaves, parse

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Measures:
    """Counts, class sizes and losses of one release."""

    rows: int
    suppressed: int
    classes: int
    class_min: int
    class_mean: Fraction
    class_max: int
    cells: int
    ncp_sum: Fraction
    ncp: Fraction
    glm_sum: Fraction
    glm: Fraction
    c_dm: int


def number(value: Any) -> Fraction:
    """A number, or a moment in microseconds, as an exact number."""
    if isinstance(value, dt.datetime):
        return Fraction((value - dt.datetime(1, 1, 1)) // dt.timedelta(microseconds=1))
    return Fraction(value)


def ncp(cell: Cell, domain: Domain, null_penalty: Fraction = ZERO) -> Fraction:
    """Normalized certainty penalty of one cell, 0 … 1."""
    if isinstance(cell, Star):
        return ONE
    if domain.kind != "categorical":
        return _ordered_loss(cell, domain, null_penalty)
    size, whole = _sizes(cell, domain)
    return Fraction(size, whole) if size > 1 else ZERO


def glm(cell: Cell, domain: Domain, null_penalty: Fraction = ZERO) -> Fraction:
    """Generalized loss metric of one cell (Iyengar 2002), 0 … 1."""
    if isinstance(cell, Star):
        return ONE
    if domain.kind != "categorical":
        return _ordered_loss(cell, domain, null_penalty)
    size, whole = _sizes(cell, domain)
    return Fraction(size - 1, whole - 1) if size > 1 else ZERO


def _sizes(cell: Cell, domain: Domain) -> tuple[int, int]:
    whole = len(domain.members) + domain.has_null
    nullable = not isinstance(cell, Null) and cell.nullable
    return len(leaves(cell, domain)) + nullable, whole


def _ordered_loss(cell: Cell, domain: Domain, null_penalty: Fraction) -> Fraction:
    if isinstance(cell, Null) or domain.lo is None:
        return ZERO
    first, last = number(domain.lo), number(domain.hi)
    share = ZERO
    if isinstance(cell, Interval) and last > first:
        low, high = max(number(cell.lo), first), min(number(cell.hi), last)
        share = max(high - low, ZERO) / (last - first)
    return min(ONE, share + (null_penalty if cell.nullable else ZERO))


def spanned(rows: Sequence[Mapping[str, Any]], column: str, domain: Domain) -> Domain:
    """The domain that a release spans; the leaves and nodes of a hierarchy stay as they are."""
    shown = [parse(row[column], domain.kind) for row in rows]
    has_null = any(isinstance(cell, Null) or cell.nullable for cell in shown)
    if domain.kind != "categorical":
        ends = [(c.lo, c.hi) for c in shown if isinstance(c, Interval)]
        ends += [(c.value, c.value) for c in shown if isinstance(c, Exact)]
        lo, hi = min((a for a, _ in ends), default=None), max((b for _, b in ends), default=None)
        return replace(domain, lo=lo, hi=hi, has_null=has_null)
    if domain.nodes:
        return replace(domain, has_null=has_null)
    members = {str(c.value) for c in shown if isinstance(c, Exact)}
    members |= {m for c in shown if isinstance(c, ValueSet) for m in c.members}
    return replace(domain, members=frozenset(members), has_null=has_null)


def quasi_cells(
    rows: Sequence[Mapping[str, Any]], domains: Mapping[str, Domain]
) -> Iterator[tuple[str, Cell]]:
    """(column, cell) of every quasi-identifying cell of a release with text cells."""
    for row in rows:
        for column, domain in domains.items():
            if row.get(f"{column}_bucket") is None:
                yield column, parse(row[column], domain.kind)


def measure(
    rows: Sequence[Mapping[str, Any]],
    domains: Mapping[str, Domain],
    suppressed: int = 0,
    suppressed_cells: int | None = None,
    null_penalty: Fraction = ZERO,
) -> Measures:
    """All measures of a release; `domains` names its quasi-identifying columns."""
    domains = {column: spanned(rows, column, domain) for column, domain in domains.items()}
    cells = list(quasi_cells(rows, domains))
    lost = suppressed * len(domains) if suppressed_cells is None else suppressed_cells
    count = len(cells) + lost
    ncp_sum = sum((ncp(cell, domains[c], null_penalty) for c, cell in cells), Fraction(lost))
    glm_sum = sum((glm(cell, domains[c], null_penalty) for c, cell in cells), Fraction(lost))
    sizes = Counter(row["class_id"] for row in rows).values()
    return Measures(
        rows=len(rows),
        suppressed=suppressed,
        classes=len(sizes),
        class_min=min(sizes, default=0),
        class_mean=Fraction(len(rows), len(sizes)) if sizes else ZERO,
        class_max=max(sizes, default=0),
        cells=count,
        ncp_sum=ncp_sum,
        ncp=ncp_sum / count if count else ZERO,
        glm_sum=glm_sum,
        glm=glm_sum / count if count else ZERO,
        c_dm=sum(n * n for n in sizes) + (len(rows) + suppressed) * suppressed,
    )
