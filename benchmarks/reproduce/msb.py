"""Xiao and Li (2020), Figs. 2-23, on the same 30,162 records of UCI Adult."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import fmean
from typing import Any

import duckdb

from anonymizer.policy import Policy
from anonymizer.process.secret import Seed
from anonymizer.run.prepare import prepare
from anonymizer.run.verbs import executing
from benchmarks.common import DATA, Record
from benchmarks.reproduce.claims import SEEDS, Claim, Effort, Panel, Paper, Rule, Runs
from benchmarks.reproduce.pool import side_by_side

ROWS = tuple(range(1_000, 10_001, 1_000))
DIMENSIONS = (2, 3, 4, 5)
STRATEGIES = ("mbf", "msdcf", "mmdcf")
COLUMNS = ("occupation", "education", "marital_status", "workclass", "race")
# Table 3; all other values are of level 1
LEVELS: dict[str, dict[int, list[str]]] = {
    "occupation": {0: ["Other-service"], 2: ["Armed-Forces"]},
    "education": {1: ["HS-grad"]},
    "marital_status": {
        2: [
            *("Divorced", "Married-AF-spouse", "Married-spouse-absent"),
            *("Separated", "Widowed"),
        ]
    },
    "workclass": {
        0: ["Private", "Without-pay"],
        2: ["Federal-gov", "Local-gov", "State-gov"],
    },
    "race": {0: ["Other", "White"], 2: ["Amer-Indian-Eskimo", "Asian-Pac-Islander"]},
}
LOSS = """
    with held as (
        select t.type, t.groups, sum(m.c) as size,
            max(greatest({needs})) as needed
        from msb_types t join msb_members m using (type) join msb_buckets b using (bucket)
        group by all
    )
    select sum(groups * (size - needed)) / sum(groups * needed),
        1 - coalesce(sum(groups * size), 0) / {rows}
    from held
"""


def policy(dimensions: int, strategy: str, level_first: bool) -> Policy:
    columns: dict[str, Any] = {"age": {"role": "quasi"}}
    for name in COLUMNS:
        rule: dict[str, Any] = {"l_diversity": 3}
        if level_first:
            rule = {"levels": LEVELS[name], "default_level": 1}
        columns[name] = {"role": "sensitive", "protect": rule}
    for name in COLUMNS[dimensions:]:
        columns[name] = {"role": "drop"}
    algorithm: dict[str, Any] = {"name": "msb", "strategy": strategy, "mode": "exact"}
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "sample"},
            "columns": columns,
            "privacy": {"level_l": {0: 1, 1: 2, 2: 3}} if level_first else {},
            "suppression_limit": 1.0,
            "algorithm": algorithm
            | ({"security_level_first": True, "allow_singletons": True} if level_first else {}),
            "publish": {"name": "release"},
        }
    )


def measure(
    connection: duckdb.DuckDBPyConnection,
    rows: int,
    dimensions: int,
    strategy: str,
    level_first: bool,
    sample: int,
) -> dict[str, float]:
    """Group one sample; loss and suppression (Definitions 14, 15), and the CPU time it took."""
    connection.execute(
        f"create or replace table sample as select age, {', '.join(COLUMNS)} from adult"
        f" order by md5('{sample} ' || id) limit {rows}"
    )
    made = policy(dimensions, strategy, level_first)
    with executing(made, connection, "duckdb", seed=Seed.test(sample)) as (session, executor):
        prepared = prepare(made, session, executor)
        began = time.process_time()
        executor.run(prepared.compiled.stages)
        seconds = time.process_time() - began
        needs = ", ".join(f"b.need{i}" for i in range(1, dimensions + 1))
        query = LOSS.format(needs=needs, rows=rows)
        loss, suppression = session.engine.raw(query, "loss")[0]
    return {"loss": float(loss or 0), "suppression": float(suppression or 0), "seconds": seconds}


def name_of(strategy: str, level_first: bool) -> str:
    return strategy.upper() + ("-MSLF" if level_first else "")


def experiments(quick: bool) -> Iterator[tuple[int, int]]:
    """Rows and dimensions; those of both series once."""
    for dimensions in DIMENSIONS:
        yield 1_000 if quick else 2_000, dimensions
    for rows in (1_000, 2_000) if quick else ROWS:
        if rows != (1_000 if quick else 2_000):
            yield rows, 3


Task = tuple[int, int, str, bool, int]


def measured(effort: Effort) -> list[dict[str, Any]]:
    """Every experiment on every sample; largest first, so that no process waits for the last."""
    tasks = [
        (rows, dimensions, strategy, first, sample)
        for rows, dimensions in experiments(effort.quick)
        for strategy in STRATEGIES
        for first in (False, True)
        for sample in range(1, effort.seeds + 1)
    ]
    tasks.sort(key=lambda task: (-task[0], -task[1]))
    return side_by_side(_task, tasks, effort.jobs)


def _task(task: Task) -> dict[str, Any]:
    rows, dimensions, strategy, first, sample = task
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("set enable_progress_bar = false")
        connection.execute(
            "create table adult as select row_number() over () as id, * from"
            f" '{DATA / 'adult_complete.parquet'}'"
        )
        return {
            "n": rows,
            "d": dimensions,
            "algorithm": name_of(strategy, first),
            "seed": sample,
            **measure(connection, *task),
        }


PLAIN = tuple(name_of(strategy, False) for strategy in STRATEGIES)
FIRST = tuple(name_of(strategy, True) for strategy in STRATEGIES)


def by_rows(runs: Runs, algorithm: str, figure: str) -> list[float]:
    """The figure for every n, with three sensitive attributes."""
    kept = runs.where(algorithm=algorithm, d=3)
    return [kept.one(figure, n=n) for n in kept.all("n")]


def by_dimensions(runs: Runs, algorithm: str, figure: str) -> list[float]:
    """The figure for two to five sensitive attributes."""
    n = runs.where(d=2).all("n")[0]
    return [runs.one(figure, algorithm=algorithm, d=d, n=n) for d in DIMENSIONS]


Series = Callable[[Runs, str, str], list[float]]


def growth(values: list[float]) -> float:
    return values[-1] / values[0]


def change(values: list[float]) -> float:
    """From the first to the last, in their own unit."""
    return values[-1] - values[0]


def wobble(values: list[float]) -> float:
    """How far the values of the larger half lie apart, by their mean."""
    large = values[len(values) // 2 :]
    return (max(large) - min(large)) / fmean(large) if any(large) else 0.0


def extent(values: list[float]) -> float:
    """How far the values of the larger half lie apart."""
    large = values[len(values) // 2 :]
    return max(large) - min(large)


def rise(runs: Runs, algorithm: str) -> float:
    """CPU seconds added from the smallest n to the largest."""
    return change(by_rows(runs, algorithm, "seconds"))


def later(runs: Runs, measure: Callable[[Runs, str], float]) -> float:
    """The largest figure of the three variants with security levels first."""
    return max(measure(runs, algorithm) for algorithm in FIRST)


SUPPRESSING = (
    "Over half of the records are suppressed by the plain variants at d = 3, and 99 % at d = 5:"
    " what is not grouped costs no time."
)
RESIDUAL = (
    "All loss is that of residual records in groups that were complete, and it depends on which of"
    " the groups that could take them do so, which the paper leaves open; here the smallest."
)
SAME_STATEMENT = (
    "Here the three differ by one expression in the same statement, and the capacities that MSDCF"
    " and MMDCF need are kept for all of them."
)
STEPS = Rule(least=0)
CLAIMS = (
    Claim(
        "Figs. 2, 8, 14",
        "compared with the plain variant, MSLF's additional loss increases a little (d = 3)",
        "a little",
        "loss with MSLF - loss without, the largest over n and strategies",
        lambda runs: max(
            a - b
            for plain, first in zip(PLAIN, FIRST, strict=True)
            for a, b in zip(by_rows(runs, first, "loss"), by_rows(runs, plain, "loss"), strict=True)
        ),
        Rule(0, 0.25),
        "Plain variants lose nearly nothing as they suppress over half of the records.",
    ),
    Claim(
        "Figs. 5, 11, 17",
        "... also for every number of sensitive attributes (n = 2,000)",
        "a little",
        "loss with MSLF - loss without, the largest over d and strategies",
        lambda runs: max(
            a - b
            for plain, first in zip(PLAIN, FIRST, strict=True)
            for a, b in zip(
                by_dimensions(runs, first, "loss"), by_dimensions(runs, plain, "loss"), strict=True
            )
        ),
        Rule(0, 0.25),
        "Plain variants lose nearly nothing as they suppress nearly everything: a group that is"
        " formed is seldom joined.",
    ),
    Claim(
        "Figs. 3, 9, 15",
        "MSLF's suppression ratio directly decreases to 0 (d = 3)",
        "0",
        "largest suppression over n and strategies",
        lambda runs: later(runs, lambda r, a: max(by_rows(r, a, "suppression"))),
        Rule(0, 0),
    ),
    Claim(
        "Figs. 6, 12, 18",
        "... and for every number of sensitive attributes (n = 2,000)",
        "0",
        "largest suppression over d and strategies",
        lambda runs: later(runs, lambda r, a: max(by_dimensions(r, a, "suppression"))),
        Rule(0, 0),
    ),
    Claim(
        "Figs. 2, 8, 14",
        "with the volume of data MSLF's loss tends to be stable",
        "stable",
        "(largest - smallest) / mean over the larger half of n, worst strategy",
        lambda runs: later(runs, lambda r, a: wobble(by_rows(r, a, "loss"))),
        Rule(most=0.2),
        "Samples differ from one n to the next by other records, not by more of the same.",
    ),
    Claim(
        "Figs. 2, 8, 14",
        "with the volume of data the plain loss tends to be stable",
        "stable",
        "largest - smallest over the larger half of n, worst strategy",
        lambda runs: max(extent(by_rows(runs, a, "loss")) for a in PLAIN),
        Rule(most=0.02),
        "Samples differ from one n to the next by other records, not by more of the same.",
        remark="Not divided by the mean, which is next to nothing.",
    ),
    Claim(
        "Figs. 3, 9, 15",
        "with the volume of data the plain suppression ratio tends to be stable",
        "stable",
        "(largest - smallest) / mean over the larger half of n, worst strategy",
        lambda runs: max(wobble(by_rows(runs, a, "suppression")) for a in PLAIN),
        Rule(most=0.2),
    ),
    Claim(
        "Figs. 4, 10, 16",
        "CPU time increases gradually with the volume of data, in all six variants",
        "increases",
        "CPU at the largest n / at the smallest, the least of the variants",
        lambda runs: min(growth(by_rows(runs, a, "seconds")) for a in PLAIN + FIRST),
        Rule(least=1),
    ),
    Claim(
        "Figs. 4, 10, 16",
        "... faster with MSLF than without",
        "faster",
        "CPU added from the smallest to the largest n, with MSLF / without, the least strategy",
        lambda runs: min(
            rise(runs, first) / rise(runs, plain) for plain, first in zip(PLAIN, FIRST, strict=True)
        ),
        Rule(least=1),
    ),
    Claim(
        "Section 5, conclusions",
        "the runtime of MSLF is only a small increase over the plain variant's",
        "small",
        "CPU with MSLF / without, mean over n and strategies (d = 3)",
        lambda runs: fmean(
            a / b
            for plain, first in zip(PLAIN, FIRST, strict=True)
            for a, b in zip(
                by_rows(runs, first, "seconds"), by_rows(runs, plain, "seconds"), strict=True
            )
        ),
        Rule(most=1.5),
        SUPPRESSING + " MSLF groups every record, in smaller groups.",
    ),
    Claim(
        "Figs. 5, 11, 17",
        "with the number of sensitive attributes the plain loss tends to 0 quickly",
        "to 0",
        "loss at d = 5, the largest strategy",
        lambda runs: max(by_dimensions(runs, a, "loss")[-1] for a in PLAIN),
        Rule(most=0.02),
        remark="It is nearly 0 at every d here, so that nothing is left to fall.",
    ),
    Claim(
        "Figs. 6, 12, 18",
        "with the number of sensitive attributes the plain suppression ratio increases very fast",
        "increases",
        "least step of the ratio from one d to the next",
        lambda runs: min(
            b - a
            for plain in PLAIN
            for values in [by_dimensions(runs, plain, "suppression")]
            for a, b in pairwise(values)
        ),
        Rule(least=0.01),
    ),
    *(
        Claim(
            f"Fig. {figure}",
            f"with the number of attributes the loss of {name} increases quickly, then decreases",
            "up, then down",
            "loss at its highest d - at d = 2, or - at d = 5: the smaller",
            lambda runs, a=name: min(  # type: ignore[misc]
                max(by_dimensions(runs, a, "loss")[1:3]) - by_dimensions(runs, a, "loss")[end]
                for end in (0, -1)
            ),
            STEPS,
            RESIDUAL,
        )
        for figure, name in zip((5, 11, 17), FIRST, strict=True)
    ),
    Claim(
        "Figs. 7, 13, 19",
        "CPU time increases with the number of attributes in the plain variants",
        "increases",
        "CPU at d = 5 / at d = 2, mean of the strategies",
        lambda runs: fmean(growth(by_dimensions(runs, a, "seconds")) for a in PLAIN),
        Rule(least=1),
        SUPPRESSING,
    ),
    Claim(
        "Figs. 7, 13, 19, 23",
        "CPU time increases with the number of attributes with MSLF",
        "increases",
        "CPU at d = 5 / at d = 2, the least strategy",
        lambda runs: min(growth(by_dimensions(runs, a, "seconds")) for a in FIRST),
        Rule(least=1),
    ),
    Claim(
        "Figs. 7, 13, 19",
        "... faster with MSLF than without",
        "faster",
        "CPU at d = 5 / at d = 2, with MSLF / without, the least strategy",
        lambda runs: min(
            growth(by_dimensions(runs, first, "seconds"))
            / growth(by_dimensions(runs, plain, "seconds"))
            for plain, first in zip(PLAIN, FIRST, strict=True)
        ),
        Rule(least=1),
    ),
    Claim(
        "Fig. 20",
        "MSDCF-MSLF and MMDCF-MSLF lose less than MBF-MSLF at every n (d = 3)",
        "less",
        "loss of MBF-MSLF - that of the others, the smallest over n",
        lambda runs: min(
            a - b
            for other in FIRST[1:]
            for a, b in zip(
                by_rows(runs, FIRST[0], "loss"), by_rows(runs, other, "loss"), strict=True
            )
        ),
        STEPS,
    ),
    Claim(
        "Fig. 21",
        "with the volume of data the CPU time of MSDCF-MSLF and MMDCF-MSLF increases faster than"
        " that of MBF-MSLF",
        "faster",
        "CPU added from the smallest to the largest n, theirs / MBF-MSLF's, the smaller",
        lambda runs: min(rise(runs, other) / rise(runs, FIRST[0]) for other in FIRST[1:]),
        Rule(least=1),
        SAME_STATEMENT,
    ),
    Claim(
        "Fig. 23",
        "with the number of attributes the CPU time of MSDCF-MSLF and MMDCF-MSLF increases faster"
        " than that of MBF-MSLF",
        "faster",
        "CPU added from d = 2 to d = 5, theirs / MBF-MSLF's, the smaller",
        lambda runs: min(
            change(by_dimensions(runs, other, "seconds"))
            / change(by_dimensions(runs, FIRST[0], "seconds"))
            for other in FIRST[1:]
        ),
        Rule(least=1),
        SAME_STATEMENT,
    ),
    Claim(
        "Section 5, conclusions",
        "compared with MBF-MSLF the runtime of MSDCF-MSLF and MMDCF-MSLF is only a small increase",
        "small",
        "CPU of theirs / of MBF-MSLF, means over n and over d, the larger",
        lambda runs: max(
            fmean(
                a / b
                for other in FIRST[1:]
                for a, b in zip(
                    course(runs, other, "seconds"), course(runs, FIRST[0], "seconds"), strict=True
                )
            )
            for course in (by_rows, by_dimensions)
        ),
        Rule(most=1.5),
        SAME_STATEMENT,
    ),
    Claim(
        "Fig. 22",
        "with few attributes they lose less than MBF-MSLF (d = 3, n = 2,000)",
        "less",
        "loss of MBF-MSLF - that of the others at d = 3, the smaller",
        lambda runs: min(
            by_dimensions(runs, FIRST[0], "loss")[1] - by_dimensions(runs, other, "loss")[1]
            for other in FIRST[1:]
        ),
        STEPS,
    ),
    Claim(
        "Fig. 22",
        "with many attributes they lose more than MBF-MSLF (d = 5, n = 2,000)",
        "more",
        "loss of the others - that of MBF-MSLF at d = 5, the smaller",
        lambda runs: min(
            by_dimensions(runs, other, "loss")[-1] - by_dimensions(runs, FIRST[0], "loss")[-1]
            for other in FIRST[1:]
        ),
        STEPS,
        RESIDUAL,
    ),
    Claim(
        "Figs. 2-23",
        "the values themselves",
        "an image",
        why="The figures are images without numbers, and the paper does not say how its n records"
        " were chosen.",
    ),
)


def algorithm_of(record: Record) -> str:
    return str(record["algorithm"])


FIGURES = (
    ("loss", "additional information loss", (2, 8, 14, 20)),
    ("suppression", "suppression ratio", (3, 9, 15)),
    ("seconds", "CPU seconds of grouping", (4, 10, 16, 21)),
)


def panels(figure: str, words: str, numbers: tuple[int, ...]) -> tuple[Panel, ...]:
    def shown(offset: int, last: int) -> str:
        return ", ".join(str(n + (offset if n < 20 else last)) for n in numbers)

    return (
        Panel(
            figure,
            f"{words} (Figs. {shown(0, 0)}; d = 3)",
            "n",
            figure,
            words,
            algorithm_of,
            {"d": 3},
        ),
        Panel(
            figure,
            f"{words} (Figs. {shown(3, 2)}; n = 2,000)",
            "d",
            figure,
            words,
            algorithm_of,
            {"n": 2_000},
        ),
    )


PAPER = Paper(
    name="msb",
    title="MSB: several sensitive attributes with security levels",
    citation="Y. Xiao and H. Li, *Privacy preserving data publishing for multiple sensitive"
    " attributes based on security level*, Information 11 (2020) 166. The plain variants are"
    " those of X. Yang, Y. Wang and B. Wang (2008).",
    inputs=(
        "anonymizer/algorithms/msb",
        "anonymizer/policy/algorithms.py:Msb",
        "templates/msb",
        "benchmarks/reproduce/msb.py",
    ),
    seeds=SEEDS,
    measured=measured,
    claims=CLAIMS,
    figures={figure: panels(figure, words, n) for figure, words, n in FIGURES},
    notes="""\
UCI Adult, 30,162 complete records; levels as in the paper's Table 3 with l = 1, 2, 3, plain
variants with l = 3; mode `exact`, one thread. All ten n of the paper. Every seed draws another
sample of n records, as the paper does not say how it chose them, and other ties between buckets,
as in the paper. CPU seconds are those of grouping alone. Times of whole runs:
[msb_speed](../msb/msb_speed.md).""",
)
