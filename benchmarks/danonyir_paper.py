"""Figures 2 to 9 of Wang, Du, Luo, Li (2018), rerun on the INFORMS tables.

    python -m benchmarks.danonyir_paper --seeds 5          # measure what is missing, then report
    python -m benchmarks.danonyir_paper --report           # report what has been measured

Every measurement is one line of `results/danonyir/runs.csv`; a run that is there already is not
repeated. Series: GeneIR and DAnonyIR under the IR models, DAnonyIR under the EIR models; GeneIR
twice, with two sets of taxonomies (hierarchies/informs), since the paper prints none.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.measure import measure_release
from anonymizer.measure.vulnerable import enhanced, vulnerable_share
from anonymizer.privacy.of_policy.requirements import requirements_of
from anonymizer.run.source_checks import originals
from anonymizer.verification.guarantees import questions
from benchmarks import informs
from benchmarks.common import HIERARCHIES, RESULTS

FOLDER = RESULTS / "danonyir"
RUNS = FOLDER / "runs.csv"
FIELDS = [
    "model",
    "series",
    "taxonomy",
    "l",
    "alpha",
    "beta",
    "d",
    "seed",
    "nloss",
    "classes",
    "suppressed",
    "vulnerable",
    "error_1",
    "error_all",
    "seconds",
    "verified",
]

L, ALPHA, BETA, D = 6, 0.6, 0.4, 6
LS, ALPHAS, BETAS = (2, 4, 6, 8, 10), (0.2, 0.4, 0.6, 0.8), (0.3, 0.4, 0.5, 0.6, 0.8)
FIRST = {("l", 2), ("l", 6), ("l", 10), ("alpha", 0.4), ("alpha", 0.8), ("beta", 0.3)}
FIRST |= {("beta", 0.6), ("d", 4), ("d", 8)}
DS = (3, 4, 5, 6, 7, 8)
QUERIES = 100
SELECTIVITY = 0.1
"""Expected share of the rows that a query selects if attributes were independent (the paper names
none); every predicate takes that share to the power 1/(lambda+1)."""


@dataclass(frozen=True)
class Point:
    """One setting of one figure."""

    model: str
    """`l` for the pair IR (k,l) and EIR l, `ab` for IR and EIR (alpha,beta)."""
    l: int | None
    alpha: float | None
    beta: float | None
    d: int

    def privacy(self, *, extended: bool) -> dict[str, Any]:
        if self.model == "l":
            return {"eir_l": self.l} if extended else {"ir_kl": {"k": self.l, "l": self.l}}
        name = "eir_alpha_beta" if extended else "ir_alpha_beta"
        return {name: {"alpha": self.alpha, "beta": self.beta}}


def points() -> list[Point]:
    """All settings, those first that show the course of every figure."""
    found: dict[Point, bool] = {}

    def add(point: Point, varied: str, value: float) -> None:
        found[point] = found.get(point, False) or (varied, value) in FIRST or value in (L, D)

    for l in LS:
        add(Point("l", l, None, None, D), "l", l)
    for alpha in ALPHAS:
        add(Point("ab", None, alpha, BETA, D), "alpha", alpha)
    for beta in BETAS:
        add(Point("ab", None, ALPHA, beta, D), "beta", beta)
    for d in DS:
        add(Point("l", L, None, None, d), "d", d)
        add(Point("ab", None, ALPHA, BETA, d), "d", d)
    return sorted(found, key=lambda point: not found[point])


def series(point: Point) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], str | None]]:
    """Name, privacy, algorithm, taxonomy of every series of a figure."""
    yield "DAnonyIR IR", point.privacy(extended=False), {"name": "danonyir"}, None
    yield "DAnonyIR EIR", point.privacy(extended=True), {"name": "danonyir"}, None
    for taxonomy in informs.TAXONOMIES:
        yield "GeneIR IR", point.privacy(extended=False), {"name": "geneir"}, taxonomy


def measure(seeds: int) -> None:
    """Run what is missing, seed by seed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    source = informs.table(informs.scratch())
    known = {_key(row) for row in runs()}
    for seed in range(1, seeds + 1):
        for point in points():
            for name, privacy, algorithm, taxonomy in series(point):
                row: dict[str, Any] = {
                    "model": point.model,
                    "series": name,
                    "taxonomy": taxonomy or "",
                    "l": point.l or "",
                    "alpha": point.alpha or "",
                    "beta": point.beta or "",
                    "d": point.d,
                    "seed": seed,
                }
                if _key(row) in known:
                    continue
                given = informs.policy(source, privacy, algorithm, point.d, taxonomy)
                append(row | run(given, seed, taxonomy))


def run(given: Any, seed: int, taxonomy: str | None) -> dict[str, Any]:
    """The figures of one run; verified by the second path over the released rows."""
    from anonymizer.errors import AnonymizerError

    try:
        with informs.anonymized(given, seed, threads=1) as done:
            layout = done.prepared.compiled.layout
            total = done.raw("select count(*) from snapshot")[0][0]
            published = done.raw("select count(*) from staged")[0][0]
            measures = measure_release(
                done.raw,
                done.view,
                layout,
                originals(done.prepared.roles),
                suppressed=total - published,
            )
            holds = all(
                question.ask(done.raw).passed
                for requirement in requirements_of(given)
                for question in questions(done.view, layout, requirement)
            )
            share: float | str = ""
            if enhanced(given.privacy):
                share = vulnerable_share(done.raw, done.view, layout, "diagnosis", given.privacy)
            one, every = errors(done, given, seed, taxonomy)
            return {
                "nloss": measures["glm"],
                "classes": measures["classes"],
                "suppressed": total - published,
                "vulnerable": share,
                "error_1": one,
                "error_all": every,
                "seconds": done.seconds,
                "verified": holds,
            }
    except AnonymizerError as error:
        print(error)
        return {"verified": "infeasible"}


Cells = NDArray[np.float64]


def errors(done: informs.Done, given: Any, seed: int, taxonomy: str | None) -> tuple[float, float]:
    """Median relative error of COUNT queries (equation 19, in rows on both sides), for one
    predicate on quasi-identifiers and for one on each.
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
    found = []
    for predicates in (1, len(names)):
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
        found.append(float(np.median(relative)))
    return found[0], found[1]


@dataclass
class Source:
    """The source as numbers, read once for all runs."""

    known: dict[str, list[int]]
    codes: dict[str, NDArray[np.int64]]
    """Place of every row's value in `known`; -1 for NULL."""
    ills: dict[str, int]
    ill: NDArray[np.int64]


_SOURCE = Source({}, {}, {}, np.zeros(0, dtype=np.int64))


def _source(done: informs.Done, names: Sequence[str]) -> Source:
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


def _q(done: informs.Done, name: str) -> str:
    return next(a.q.text for a in done.prepared.roles.quasi if a.column == name)


RANGE = re.compile(r"\[(-?\d+), (-?\d+)\]")


def _shares(done: informs.Done, name: str, known: Sequence[int], taxonomy: str | None) -> Cells:
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


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    names = ("model", "series", "taxonomy", "l", "alpha", "beta", "d", "seed")
    return tuple(str(row[name]) for name in names)


def runs() -> list[dict[str, str]]:
    if not RUNS.exists():
        return []
    with RUNS.open(newline="") as handle:
        return list(csv.DictReader(handle))


def append(row: Mapping[str, Any]) -> None:
    new = not RUNS.exists()
    with RUNS.open("a", newline="") as handle:
        writer = csv.DictWriter(handle, FIELDS)
        if new:
            writer.writeheader()
        writer.writerow(row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--report", action="store_true", help="only write tables and plots")
    given = parser.parse_args()
    if not given.report:
        measure(given.seeds)
    from benchmarks.danonyir_report import report

    report(runs(), FOLDER)


if __name__ == "__main__":
    main()
