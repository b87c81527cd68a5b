"""The error of random COUNT queries on a release of persons (Wang et al. 2018, equation 19)."""

from __future__ import annotations

import csv
import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import informs
from benchmarks.common import HIERARCHIES
from benchmarks.trial import Done

QUERIES = 100
SELECTIVITY = 0.1
"""Expected share of the rows that a query selects if attributes were independent (the paper names
none); every predicate takes that share to the power 1/(lambda+1)."""
Cells = NDArray[np.float64]


def errors(done: Done, given: Any, seed: int, taxonomy: str | None) -> dict[str, float]:
    """Relative error of COUNT queries (equation 19, in rows on both sides), for one predicate on
    quasi-identifiers and for one on each: the median, and the mean as well.
    """
    names = list(given.quasi)
    source = _source(done, names)
    cells = [_shares(done, name, source.known[name], taxonomy) for name in names]
    sizes = [len(source.known[name]) for name in names]
    source_codes = [source.codes[name] for name in names]
    ills, source_ill = source.ills, source.ill
    held = done.raw("select class_id, diagnosis, count(*) from staged group by all order by 1, 2")
    classes = {
        c: i for i, (c,) in enumerate(done.raw("select distinct class_id from staged order by 1"))
    }
    group = np.array([classes[c] for c, _, _ in held])
    ill = np.array([ills[v] for _, v, _ in held])
    number = np.array([n for _, _, n in held], dtype=float)
    found = {}
    for name, predicates in (("error_1", 1), ("error_all", len(names))):
        draw = random.Random(f"{seed}:{predicates}:{len(names)}")
        part = SELECTIVITY ** (1 / (predicates + 1))
        relative: list[float] = []
        while len(relative) < QUERIES:
            chosen = draw.sample(range(len(names)), predicates)
            wanted = np.zeros(len(ills), dtype=bool)
            wanted[draw.sample(range(len(ills)), math.ceil(len(ills) * part))] = True
            true = wanted[source_ill]
            share = np.ones(len(classes))
            for i in chosen:
                width = math.ceil(sizes[i] * part)
                inside = np.zeros(sizes[i] + 1, dtype=bool)  # the last place is NULL's
                if names[i] in informs.NUMERIC:
                    start = draw.randrange(sizes[i] - width + 1)
                    inside[start : start + width] = True
                else:
                    inside[draw.sample(range(sizes[i]), width)] = True
                true = true & inside[source_codes[i]]
                share = share * (cells[i] @ inside[:-1])
            count = int(true.sum())
            if count:
                mine = wanted[ill]
                estimate = float((share[group[mine]] * number[mine]).sum())
                relative.append(abs(estimate - count) / count)
        found[name] = float(np.median(relative))
        found[f"mean_{name}"] = float(np.mean(relative))
    return found


@dataclass
class Source:
    """The source as numbers, read once for all runs."""

    known: dict[str, list[int]]
    codes: dict[str, NDArray[np.int64]]
    """Place of every row's value in `known`; -1 for NULL."""
    ills: dict[str, int]
    ill: NDArray[np.int64]


_SOURCE = Source({}, {}, {}, np.zeros(0, dtype=np.int64))


def _source(done: Done, names: Sequence[str]) -> Source:
    # every run reads the same file, in the same order
    ordered = "select {} from snapshot order by rowid"
    if not _SOURCE.ills:
        listed = done.raw("select distinct s1 from snapshot order by 1")
        _SOURCE.ills |= {v: i for i, (v,) in enumerate(listed)}
        _SOURCE.ill = np.array([_SOURCE.ills[v] for (v,) in done.raw(ordered.format("s1"))])
    for name in names:
        if name not in _SOURCE.known:
            values = [v for (v,) in done.raw(ordered.format(_q(done, name)))]
            known = sorted({int(v) for v in values if v is not None})
            place = {v: i for i, v in enumerate(known)}
            _SOURCE.known[name] = known
            _SOURCE.codes[name] = np.array([place.get(v, -1) for v in values])
    return _SOURCE


def _q(done: Done, name: str) -> str:
    return next(a.q.text for a in done.prepared.roles.quasi if a.column == name)


RANGE = re.compile(r"\[(-?\d+), (-?\d+)\]")


def _shares(done: Done, name: str, known: Sequence[int], taxonomy: str | None) -> Cells:
    """Per class, the weight of every value of the domain in its cell; NULL takes a part as well."""
    texts = done.raw(f'select class_id, min("{name}") from staged group by 1 order by 1')
    below = _below(name, taxonomy)
    shares = np.zeros((len(texts), len(known)))
    for row, (_, cell) in enumerate(texts):
        if cell is None:
            continue
        body, _, nullable = cell.partition(" or NULL")
        extra = 1 if nullable == "" and cell.endswith(" or NULL") else 0
        if body == "*":
            members = list(known)
        elif match := RANGE.fullmatch(body):
            lo, hi = int(match[1]), int(match[2])
            inside = [v for v in known if lo <= v <= hi]
            for v in inside:
                shares[row, known.index(v)] = 1 / (hi - lo + 1 + extra)
            continue
        elif body.startswith("{"):
            members = [int(v) for v in body[1:-1].split(", ")]
        elif body in below:
            members = [v for v in known if v in below[body]]
        else:
            members = [int(body)]
        for v in members:
            shares[row, known.index(v)] = 1 / (len(members) + extra)
    return shares


def _below(name: str, taxonomy: str | None) -> dict[str, set[int]]:
    if taxonomy is None:
        return {}
    found: dict[str, set[int]] = {}
    with (HIERARCHIES / "informs" / taxonomy / f"{name}.csv").open() as handle:
        for leaf, *nodes in csv.reader(handle, delimiter=";"):
            for node in nodes:
                found.setdefault(node, set()).add(int(leaf))
    # a label that is a leaf as well stands for the leaf
    return {node: values for node, values in found.items() if not node.lstrip("-").isdigit()}
