"""The random COUNT queries of a report, drawn and answered in plain Python (Xiao and Tao 2006).

A query has conditions on two of the quasi-identifiers (all, where there are fewer). Its draws are
MD5 digests of texts, read as little-endian numbers (128 bits, or the last eight bytes): of

* `seed:query:column:chosen`, in whose order columns are taken;
* `seed:query:column:value`: which value of an ordered column, or how many of a category;
* `seed:query:column:operator`: one of = <> < <= > >=;
* `seed:query:column:code:member`, in whose order categories are taken.

Columns and values are numbered from 1, values in their order. A query that selects fewer than
`least` rows (persons) is left out and another one is drawn.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice
from typing import Any

from tests.oracle.cells import Domain, as_text, is_null, parse
from tests.oracle.queries import AnyOf, Compare, Predicate, _bucket_shares, share

Row = Mapping[str, Any]
OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def long(text: str) -> int:
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest(), "little")


def short(text: str) -> int:
    return long(text) >> 64


def drawn(
    seed: int, query: int, values: Mapping[str, Sequence[Any]], kinds: Mapping[str, str]
) -> dict[str, Predicate]:
    """One query; `values`: those of every column in their order."""
    numbers = {name: number for number, name in enumerate(values, start=1)}
    place = {name: f"{seed}:{query}:{number}" for name, number in numbers.items()}
    able = [name for name in values if values[name]]
    chosen = sorted(able, key=lambda name: (long(f"{place[name]}:chosen"), numbers[name]))[:2]
    found: dict[str, Predicate] = {}
    for name in chosen:
        listed = values[name]
        number = short(f"{place[name]}:value") % len(listed)
        if kinds[name] == "categorical":
            codes = sorted(
                range(1, len(listed) + 1),
                key=lambda code, at=place[name]: (long(f"{at}:{code}:member"), code),  # type: ignore[misc]
            )
            some = codes[: number + 1]
            found[name] = AnyOf(frozenset(as_text(listed[code - 1]) for code in some))
        else:
            operator = OPERATORS[short(f"{place[name]}:operator") % 6]
            found[name] = Compare(operator, listed[number])
    return found


@dataclass(frozen=True)
class Answered:
    """The relative errors of the queries that select enough, and how many others there were."""

    errors: list[Fraction]
    too_few: int


def answered(
    source: Sequence[Row],
    release: Sequence[Row],
    domains: Mapping[str, Domain],
    *,
    seed: int,
    queries: int,
    least: int,
    person: str | None,
    most: int = 2000,
) -> Answered:
    """Errors of `queries` random queries, in no more than `most` draws."""
    kinds = {name: domain.kind for name, domain in domains.items()}
    values = {name: in_order([row[name] for row in source]) for name in domains}
    errors: list[Fraction] = []
    tried = 0
    for query in islice(count(), most):
        if len(errors) == queries:
            break
        tried += 1
        wanted = drawn(seed, query, values, kinds)
        hits = list(matching(source, wanted, kinds))
        units = len(hits) if person is None else len({source[at][person] for at in hits})
        if hits and units >= least:
            told = expected(release, wanted, domains)
            errors.append(abs(told - len(hits)) / len(hits))
    return Answered(errors, tried - len(errors))


def in_order(values: Sequence[Any]) -> list[Any]:
    return sorted({value for value in values if not is_null(value)})


def matching(
    source: Sequence[Row], wanted: Mapping[str, Predicate], kinds: Mapping[str, str]
) -> Iterator[int]:
    """Numbers of the rows that a query selects."""
    fits: dict[str, set[Any]] = {}
    for name, predicate in wanted.items():
        different = {row[name] for row in source}
        fits[name] = {value for value in different if predicate.matches(value, kinds[name])}
    for at, row in enumerate(source):
        if all(row[name] in fits[name] for name in wanted):
            yield at


def expected(
    release: Sequence[Row], wanted: Mapping[str, Predicate], domains: Mapping[str, Domain]
) -> Fraction:
    """The rows that a recipient expects: of each the product of what its cells hold."""
    parts: dict[str, dict[Hashable, Fraction]] = {}
    for name, predicate in wanted.items():
        domain = domains[name]
        buckets = _bucket_shares(release, name, predicate, domain)
        parts[name] = {("bucket", bucket): part for bucket, part in buckets.items()}
        for text in {row[name] for row in release if row.get(f"{name}_bucket") is None}:
            parts[name]["cell", text] = share(parse(text, domain.kind), predicate, domain)
    total = Fraction(0)
    for cells, n in Counter(tuple(cell(row, name) for name in wanted) for row in release).items():
        product = Fraction(n)
        for name, key in zip(wanted, cells, strict=True):
            product *= parts[name][key]
        total += product
    return total


def cell(row: Row, name: str) -> Hashable:
    """What tells a cell from others: its bucket, or its text."""
    bucket = row.get(f"{name}_bucket")
    return ("cell", row[name]) if bucket is None else ("bucket", bucket)


def steps(error: Fraction | float) -> set[str]:
    """The step of an error; two where it is as good as on the border of both."""
    return {_step(float(error) - 1e-9), _step(float(error) + 1e-9)}


def _step(error: float) -> str:
    for end in STEPS:
        if error < end:
            return f"< {round(100 * end)} %"
    return "50 % or more"
