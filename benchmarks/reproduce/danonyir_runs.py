"""The runs of Wang, Du, Luo, Li (2018), Figs. 2-9, on the INFORMS tables.

Series: GeneIR and DAnonyIR under the IR models, DAnonyIR under the EIR models; GeneIR twice, with
two sets of taxonomies (hierarchies/informs), since the paper prints none. DAnonyIR works in
blocks; the algorithm of the paper, all persons in one block, stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from anonymizer.errors import AnonymizerError
from anonymizer.guarantees.requirements import requirements_of
from anonymizer.measure.loss import enhanced_forms, vulnerable_share
from anonymizer.verification.guarantees import questions
from benchmarks import informs
from benchmarks.reproduce.claims import Effort
from benchmarks.reproduce.counts import errors
from benchmarks.reproduce.one_block import in_one_block
from benchmarks.reproduce.pool import side_by_side
from benchmarks.trial import anonymized

L, ALPHA, BETA, D = 6, 0.6, 0.4, 6
LS, ALPHAS, BETAS, DS = (2, 6, 10), (0.2, 0.6, 0.8), (0.4, 0.6, 0.8), (3, 6, 8)
QUICK = ((2, 6), (0.4, 0.6), (0.4, 0.6), (4, 6))
QUICK_PERSONS = 1_000


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


def points(quick: bool) -> list[Point]:
    """All settings, each once: l, alpha, beta and the number of quasi-identifiers are varied."""
    ls, alphas, betas, ds = QUICK if quick else (LS, ALPHAS, BETAS, DS)
    found = [Point("l", l, None, None, D) for l in ls]
    found += [Point("ab", None, alpha, BETA, D) for alpha in alphas]
    found += [Point("ab", None, ALPHA, beta, D) for beta in betas]
    found += [Point("l", L, None, None, d) for d in ds]
    found += [Point("ab", None, ALPHA, BETA, d) for d in ds]
    return list(dict.fromkeys(found))


IN_ONE_BLOCK = (
    *(Point("l", l, None, None, D) for l in LS),
    *(Point("l", L, None, None, d) for d in (DS[0], DS[-1])),
    *(Point("ab", None, alpha, BETA, D) for alpha in ALPHAS),
    Point("ab", None, ALPHA, BETAS[-1], D),
    *(Point("ab", None, ALPHA, BETA, d) for d in (DS[0], DS[-1])),
)
"""The settings of the paper's own algorithm: the ends of every course, and the fixed one."""


class Task(NamedTuple):
    """One run."""

    source: str
    point: Point
    series: str
    taxonomy: str | None
    seed: int


IR, EIR, GENE = "DAnonyIR IR", "DAnonyIR EIR", "GeneIR IR"
WHOLE_IR, WHOLE_EIR = "one block, IR", "one block, EIR"


def tasks(effort: Effort) -> Iterator[Task]:
    source = informs.table(effort.scratch)
    if effort.quick:
        source = _first(source, effort.scratch)
    for seed in range(1, effort.seeds + 1):
        for point in points(effort.quick):
            if effort.quick or point in IN_ONE_BLOCK:
                for series in (WHOLE_EIR, WHOLE_IR):
                    yield Task(str(source), point, series, None, seed)
            for series in (EIR, IR):
                yield Task(str(source), point, series, None, seed)
            for taxonomy in informs.TAXONOMIES:
                yield Task(str(source), point, GENE, taxonomy, seed)


def _first(source: Path, folder: Path) -> Path:
    target = folder / f"informs_first_{QUICK_PERSONS}.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"copy (select * from '{source}' where person_id in (select distinct person_id from"
            f" '{source}' order by 1 limit {QUICK_PERSONS}) order by person_id, diagnosis)"
            f" to '{target}'"
        )
    return target


def measured(effort: Effort) -> list[dict[str, Any]]:
    return side_by_side(measure, list(tasks(effort)), effort.jobs)


def measure(task: Task) -> dict[str, Any]:
    """The figures of one run; the first seed is verified by the second path over the rows."""
    point = task.point
    record: dict[str, Any] = {
        **{name: getattr(point, name) for name in ("model", "l", "alpha", "beta", "d")},
        "series": task.series,
        "taxonomy": task.taxonomy,
        "seed": task.seed,
    }
    if task.series in (WHOLE_IR, WHOLE_EIR):
        privacy = point.privacy(extended=task.series == WHOLE_EIR)
        stricter = None if task.series == WHOLE_EIR else point.privacy(extended=True)
        found = in_one_block(Path(task.source), task.seed, privacy, point.d, stricter)
        wanted = ("nloss", "classes", "persons", *(["vulnerable"] if stricter else []))
        return record | {k: found[k] for k in wanted} | {"seconds": found["cpu_seconds"]}
    name = "geneir" if task.series == GENE else "danonyir"
    privacy = point.privacy(extended=task.series == EIR)
    given = informs.policy(Path(task.source), privacy, {"name": name}, point.d, task.taxonomy)
    try:
        with anonymized(given, task.seed, threads=1) as done:
            layout, measures = done.prepared.compiled.layout, done.measures()
            record |= {
                "nloss": measures["glm"],
                "classes": measures["classes"],
                "persons": done.raw("select count(distinct person) from snapshot")[0][0],
                "suppressed": measures["suppressed"],
                "seconds": done.seconds,
            }
            if task.seed == 1:
                record["verified"] = all(
                    question.ask(done.raw).passed
                    for requirement in requirements_of(given)
                    for question in questions(done.view, layout, requirement)
                )
            if enhanced_forms(given.privacy):
                record["vulnerable"] = vulnerable_share(
                    done.raw, done.view, layout, "diagnosis", given.privacy
                )
            return record | errors(done, given, task.seed, task.taxonomy)
    except AnonymizerError as error:
        print(error)
        return record | {"verified": False}
