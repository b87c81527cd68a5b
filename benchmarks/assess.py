"""Assessing a table: seconds and passes, beside pycanon on the same table; and do both agree?

    python -m benchmarks.assess [--pycanon PYTHON] [--rows 100000 1000000]

`--pycanon` is a Python in whose environment pycanon is installed. One pass is a
`create table … as select q…, count(*) … group by all` over the table.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import duckdb

from anonymizer.review.assess import assess
from benchmarks.common import RESULTS, machine, markdown_table, write_csv
from benchmarks.tables import QI5, QI8, adult

REPEATS = 3
TABLES = 100
ASKED: dict[str, dict[str, Any]] = {
    "k, uniques": {},
    "k, uniques, l, t and the other models": {"sensitive": ["occupation"]},
    "the same, and judged: k=5, l=3, t=0.2": {
        "sensitive": ["occupation"],
        "require": ["k=5,l=3,t=0.2"],
    },
    "the same, and combinations of up to 3 columns": {"sensitive": ["occupation"], "combined": 3},
}
PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity as a
results = []
for file, quasi, secret in json.loads(sys.stdin.read()):
    frame = pd.read_csv(file)
    out = {}
    for name, call in {
        "k": lambda: a.k_anonymity(frame, quasi),
        "l": lambda: a.l_diversity(frame, quasi, secret),
        "alpha": lambda: a.alpha_k_anonymity(frame, quasi, secret)[0],
        "t": lambda: a.t_closeness(frame, quasi, secret),
    }.items():
        began = time.process_time()
        out[name] = float(call())
        out[name + " seconds"] = time.process_time() - began
    results.append(out)
print(json.dumps(results))
"""
Task = tuple[str, list[str], list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pycanon", metavar="PYTHON")
    parser.add_argument("--rows", nargs="*", type=int, default=[100_000, 1_000_000])
    arguments = parser.parse_args()
    records = [record for rows in arguments.rows for record in ours(rows)]
    lines = ["# Assessing a table", "", f"{machine()}. CPU seconds, medians of {REPEATS}.", ""]
    if arguments.pycanon:
        records += theirs(arguments.pycanon, 100_000)
    write_csv("assess.csv", records)
    lines.append(markdown_table(records))
    if arguments.pycanon:
        lines += ["", agreement(arguments.pycanon)]
    (RESULTS / "assess.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process for one call, all threads."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(rows: int) -> list[dict[str, Any]]:
    """Seconds and passes of each question."""
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute(f"create table people as from '{adult(rows)}'")
        one = f"create or replace temp table p as select {', '.join(QI8)}, count(*) as n"
        a_pass = statistics.median(
            cpu(lambda: connection.execute(f"{one} from people group by all")) for _ in range(5)
        )
        records = []
        for name, options in ASKED.items():
            asked = {"combined": 0, **options}
            seconds = statistics.median(
                cpu(partial(assess, "people", connection, quasi=QI8, **asked))
                for _ in range(REPEATS)
            )
            records.append(_record("sql-anonymizer", rows, QI8, name, seconds, a_pass))
    return records


def theirs(python: str, rows: int) -> list[dict[str, Any]]:
    """Seconds of both on one table: five quasi-identifiers, age in decades.

    With eight, pycanon's t takes minutes: its time grows with the number of classes.
    """
    quasi = list(QI5)
    records = []
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        file = f"{folder}/people.csv"
        connection.execute("set threads = 2")
        connection.execute(
            f"create table people as select * replace (age // 10 * 10 as age) from '{adult(rows)}'"
        )
        connection.execute(f"copy people to '{file}' (header)")
        (found,) = run_pycanon(python, [(file, quasi, ["occupation"])])
        asked: dict[str, Any] = {
            "k": {},
            "k, l, alpha, t and the other models": {"sensitive": ["occupation"]},
        }
        for what, options in asked.items():
            call = partial(assess, "people", connection, quasi=quasi, combined=0, **options)
            seconds = statistics.median(cpu(call) for _ in range(REPEATS))
            records.append(_record("sql-anonymizer", rows, quasi, what, seconds))
    for what in ("k", "l", "alpha", "t"):
        records.append(_record("pycanon", rows, quasi, what, found[f"{what} seconds"]))
    return records


def _record(
    tool: str,
    rows: int,
    quasi: Sequence[str],
    what: str,
    seconds: float,
    a_pass: float | None = None,
) -> dict[str, Any]:
    return {
        "tool": tool,
        "rows": rows,
        "quasi-identifiers": len(quasi),
        "what": what,
        "CPU s": round(seconds, 3),
        "passes": round(seconds / a_pass, 1) if a_pass else None,
    }


def run_pycanon(python: str, tasks: list[Task]) -> list[dict[str, float]]:
    """Every table in one process of the other environment."""
    done = subprocess.run(
        [python, "-c", PYCANON], input=json.dumps(tasks), check=True, capture_output=True, text=True
    )
    found: list[dict[str, float]] = json.loads(done.stdout)
    return found


def agreement(python: str) -> str:
    """Distinct l, alpha, equal and ordered t of random tables without NULL, by both."""
    draw = random.Random(7)
    differing: dict[str, int] = {"k": 0, "l": 0, "alpha": 0, "t": 0}
    wanted: list[dict[str, float]] = []
    tasks: list[Task] = []
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        for number in range(TABLES):
            file = f"{folder}/{number}.csv"
            ordered = number % 2 == 1
            secrets: list[Any] = [3, 5, 8, 13] if ordered else list("wxyz")
            rows = [
                (draw.randint(0, 3), draw.choice("ab"), draw.choice(secrets))
                for _ in range(draw.randint(8, 60))
            ]
            if len({row[2] for row in rows}) < 2:
                continue
            kind = "integer" if ordered else "varchar"
            connection.execute(f"create or replace table t (a integer, b varchar, s {kind})")
            connection.executemany("insert into t values (?, ?, ?)", rows)
            connection.execute(f"copy t to '{file}' (header)")
            mine = assess("t", connection, quasi=["a", "b"], sensitive=["s"], combined=0)
            figures = mine.columns["s"]
            wanted.append(
                {
                    "k": mine.sizes.k or 0,
                    "l": figures.distinct_l,
                    "alpha": figures.alpha,
                    "t": (figures.t_ordered if ordered else figures.t_equal) or 0.0,
                }
            )
            tasks.append((file, ["a", "b"], ["s"]))
        found = run_pycanon(python, tasks)
    for mine_, theirs_ in zip(wanted, found, strict=True):
        for name, value in mine_.items():
            differing[name] += not math.isclose(theirs_[name], value, abs_tol=1e-9)
    said = ", ".join(f"{name} {n}" for name, n in differing.items())
    return (
        f"Random tables without NULL ({len(tasks)}, half with an ordered sensitive column) on which"
        f" the figures differ from pycanon's: {said}."
    )


if __name__ == "__main__":
    main()
