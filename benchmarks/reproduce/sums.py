"""The error of random SUM queries on one release (Li and He 2022, §4.2), all queries at once.

The measure is that of `anonymizer.measure.query_error`: a query has predicates on four random
attributes; a row matches with the product of the shares of its cells that satisfy them; in each
bucket of wages between the floor and the ceiling of the expected number of rows count. The cells
come from the same statements; the queries are drawn here, once for all releases of a source, and
answered as arrays, which takes a twentieth of the time of joins.

No NULLs, whole numbers, and no value below 0, as in the tables of this benchmark.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from anonymizer.compile import Table, work
from anonymizer.contract.layout import Originals
from anonymizer.measure.queries import QueryAttribute, QueryTables, stage
from benchmarks.trial import Done

PREDICATES = 4
TINY = 1e-9
"""Of sums of products that are whole numbers but for rounding."""
OPERATORS = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)


@dataclass(frozen=True)
class Queries:
    """Random queries with answers other than 0."""

    predicates: Sequence[Mapping[int, NDArray[np.bool_]]]
    """By query and attribute: the points that satisfy it. A point is a category, or a whole number
    between the least and the greatest of the source."""
    actual: NDArray[np.float64]


DRAWS: dict[tuple[str, int, int], Queries] = {}


def sum_error(
    done: Done, originals: Originals, summed: str, source: str, queries: int, seed: int
) -> dict[str, float]:
    """Mean and median relative error; `source` names the table, whose queries are drawn once."""
    tables, spaces = code_tables(done, originals, summed)
    key = (source, queries, seed)
    if key not in DRAWS:
        DRAWS.clear()  # the next source: the queries of the last are not asked again
        DRAWS[key] = random_queries(done, tables.source, spaces, queries, seed)
    found = errors(Release(done, tables.rows, spaces), DRAWS[key])
    return {"error": fmean(found), "median_error": median(found)}


def code_tables(done: Done, originals: Originals, summed: str) -> tuple[QueryTables, list[Space]]:
    """Source and release as codes, and the attributes that queries restrict."""
    tables, layout = QueryTables(work), done.prepared.compiled.layout
    attributes = stage(done.raw, done.view, layout, originals, summed, tables)
    return tables, [Space(done, attribute) for attribute in attributes]


class Space:
    """The points of an attribute, and the share of every cell that each of them has."""

    def __init__(self, done: Done, attribute: QueryAttribute) -> None:
        self.index, self.ordered = attribute.index, attribute.ordered
        domain = done.raw(f"select place from {_name(attribute.domain)} order by code")
        self.values = len(domain)
        self.point = np.arange(len(domain))
        if self.ordered:
            places = np.array([place for (place,) in domain], dtype=np.int64)
            self.point = places - places.min()
        self.points = int(self.point.max()) + 1
        members = _columns(
            done, f"select cell, code, weight / size from {_name(attribute.members)}", 3
        )
        spans = np.zeros((3, 0))
        if attribute.spans is not None:
            spans = _columns(done, f"select cell, lo, hi from {_name(attribute.spans)}", 3)
        cells = int(max(members[0].max(initial=0), spans[0].max(initial=0)))
        self.shares = np.zeros((cells, self.points))
        if spans.size:
            rows, low, high = spans.astype(np.int64) - [[1], [places.min()], [places.min()]]
            for row, first, last in zip(rows, low, high, strict=True):
                self.shares[row, first : last + 1] = 1 / (last - first + 1)
        rows, codes = members[:2].astype(np.int64) - 1
        np.add.at(self.shares, (rows, self.point[codes]), members[2])

    def predicate(self, draw: random.Random) -> NDArray[np.bool_]:
        """A random operator and value, or so many random categories, the number uniform."""
        if self.ordered:
            compare = OPERATORS[draw.randrange(len(OPERATORS))]
            value = self.point[draw.randrange(self.values)]
            return np.asarray(compare(np.arange(self.points), value))
        found = np.zeros(self.points, dtype=bool)
        found[draw.sample(range(self.points), draw.randint(1, self.points))] = True
        return found


def random_queries(
    done: Done, source: Table, spaces: Sequence[Space], queries: int, seed: int
) -> Queries:
    names = ", ".join(f"c{space.index}" for space in spaces)
    *codes, values = _columns(done, f"select {names}, v from {_name(source)}", len(spaces) + 1)
    points = {s.index: s.point[c.astype(np.int64) - 1] for s, c in zip(spaces, codes, strict=True)}
    draw = random.Random(f"{seed}:sums")
    predicates: list[dict[int, NDArray[np.bool_]]] = []
    actual: list[float] = []
    while len(actual) < queries:
        chosen = {space.index: space.predicate(draw) for space in draw.sample(spaces, PREDICATES)}
        match = np.ones(len(values), dtype=bool)
        for index, satisfied in chosen.items():
            match &= satisfied[points[index]]
        if answer := float(values[match].sum()):
            predicates.append(chosen)
            actual.append(answer)
    return Queries(predicates, np.array(actual))


class Release:
    """The cells of every row, and the help table of every bucket (Zhang et al. 2007)."""

    def __init__(self, done: Done, rows: Table, spaces: Sequence[Space]) -> None:
        names = ", ".join(f"k{space.index}" for space in spaces)
        *cells, buckets, values = _columns(
            done, f"select {names}, b, v from {_name(rows)} order by b, v", len(spaces) + 2
        )
        self.spaces = {space.index: space for space in spaces}
        self.cells = {s.index: c.astype(np.int64) - 1 for s, c in zip(spaces, cells, strict=True)}
        sizes = np.unique(buckets, return_counts=True)[1]
        self.bucket = np.repeat(np.arange(len(sizes)), sizes)
        last = np.cumsum(sizes)
        # sums before each row; the rows of a bucket stand together, the least values first
        self.below = np.concatenate([[0.0], np.cumsum(values)])
        self.first, self.last = last - sizes, last

    def interval(self, expected: NDArray[np.float64]) -> tuple[float, float]:
        """Sums of the smallest and of the largest values of all buckets."""
        fewest = np.floor(expected + TINY).astype(np.int64)
        most = np.ceil(expected - TINY).astype(np.int64)
        low = self.below[self.first + fewest] - self.below[self.first]
        high = self.below[self.last] - self.below[self.last - most]
        return float(low.sum()), float(high.sum())


def errors(release: Release, queries: Queries) -> list[float]:
    """(upper - lower) / actual, of every query."""
    share: dict[int, dict[int, NDArray[np.float64]]] = {}
    for index, space in release.spaces.items():
        numbers = [q for q, chosen in enumerate(queries.predicates) if index in chosen]
        if numbers:
            satisfied = np.array([queries.predicates[q][index] for q in numbers], dtype=np.float64)
            share[index] = dict(zip(numbers, satisfied @ space.shares.T, strict=True))
    found = []
    for q, chosen in enumerate(queries.predicates):
        match = np.ones(len(release.bucket))
        for index in chosen:
            match *= share[index][q][release.cells[index]]
        expected = np.bincount(release.bucket, match, minlength=len(release.first)).astype(float)
        low, high = release.interval(expected)
        found.append((high - low) / float(queries.actual[q]))
    return found


def _columns(done: Done, query: str, width: int) -> NDArray[np.float64]:
    return np.array(done.raw(query), dtype=np.float64).reshape(-1, width).T


def _name(table: Table) -> str:
    return ".".join(f'"{part}"' for part in table.parts)
