"""Seconds and passes of `full_domain`: its optimum over the lattices that others are measured on.

    python -m benchmarks.lattice [--quick]

Nine quasi-identifiers of Adult with the hierarchies published with ARX make a lattice of 12,960
nodes; k = 5, at most 5 % suppressed, least NCP. Seconds are those of anonymizing and publishing,
verification apart; a *pass* is one aggregation of the distinct quasi-identifier tuples of the same
table. Larger tables are copies in which age moves by up to 3 years and each other cell is drawn
anew from its column with probability 0.05. The last table has 15 columns of 32 values in trees of
five halvings, every third one following the one before: a lattice of 6^15 nodes, which is searched
within a budget.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.engines.execute import Event
from benchmarks.common import DATA, machine, markdown_table, write_csv
from benchmarks.common import RESULTS as TARGET
from benchmarks.tables import QI9, adult, hierarchy_file

THREE = ("age", "education_num", "hours_per_week")
RUNS = 3
WIDE = tuple(f"c{number}" for number in range(1, 16))
NOTES = """\
`seconds` and `cpu` are those of anonymizing and publishing, from the source to the written rows;
`cpu with judging` adds the judgement of the release and its measures. A pass is one aggregation of
the distinct quasi-identifier tuples of the same table. ARX finds the same optimum for 30,162 rows:
397 classes and 1,346 suppressed rows (`comparison.md`)."""


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the small tables only, once")
    quick = parser.parse_args().quick
    runs = 1 if quick else RUNS
    records = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in [30_162] if quick else [30_162, 300_000, 1_000_000]:
            database = folder / f"adult_{size}.duckdb"
            copies(database, size)
            given = policy(folder, "QI9")
            records.append(measured(f"QI9, {size:,} rows", given, database, QI9, runs))
            for change in (
                ({"suppression_limit": 0.0}, {"optimum": "c_dm"}) if not records[1:] else ()
            ):
                label = ", ".join(f"{key} {value}" for key, value in change.items())
                given = policy(folder, "QI9", **change)
                records.append(measured(f"QI9, {size:,} rows, {label}", given, database, QI9, runs))
            database.unlink()
        database = folder / "three.duckdb"
        three(database)
        given = policy(folder, "three")
        records.append(measured("age, education, hours", given, database, THREE, runs))
        database = folder / "wide.duckdb"
        wide(database)
        for limit, budget in ((0.05, None), (0.0, None), *(() if quick else ((0.05, 10_000),))):
            given = policy(folder, "wide", suppression_limit=limit, budget=budget)
            label = f"15 columns, limit {limit}" + (f", budget {budget:,}" if budget else "")
            records.append(measured(label, given, database, WIDE, runs))
    write_csv("lattice.csv", records)
    text = (
        f"# Full-domain optimum\n\n{machine()}; median of {runs}; load of the machine"
        f" {os.getloadavg()[1]:.1f} at the end: where it is above 2, `seconds` are too long by as"
        f" much, and `cpu` tells more.\n\n{NOTES}\n\n{markdown_table(records)}\n"
    )
    (TARGET / "lattice.md").write_text(text)
    print(text)


def policy(folder: Path, which: str, **change: Any) -> Policy:
    """The policy of one lattice."""
    columns: dict[str, Any]
    if which == "QI9":
        columns = {
            column: {"role": "quasi", "hierarchy": {"file": str(hierarchy_file(column))}}
            for column in QI9
        }
    elif which == "wide":
        columns = {
            column: {"role": "quasi", "hierarchy": {"file": str(halves(folder))}} for column in WIDE
        }
    else:
        columns = {
            column: {"role": "quasi", "hierarchy": {"builder": "cardinality", "min_width": width}}
            for column, width in zip(THREE, (5, 2, 10), strict=True)
        }
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "adult"},
            "columns": columns,
            "privacy": {"k_anonymity": 5},
            "suppression_limit": change.get("suppression_limit", 0.05),
            "algorithm": {
                "name": "full_domain",
                "optimum": change.get("optimum", "ncp"),
                "budget": change.get("budget"),
            },
            "publish": {"name": "released", "database": str(folder / "release.duckdb")},
        }
    )


def copies(database: Path, size: int) -> None:
    """Adult, and as many noisy copies as make `size` rows."""
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"create table adult as select {', '.join(QI9)} from '{adult(size)}'")


def three(database: Path) -> None:
    """Adult, training and test part, the paper's three attributes."""
    files = [str(DATA / f"adult_{part}.parquet") for part in ("train", "test")]
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            f"create table adult as select {', '.join(THREE)} from read_parquet({files!r})"
        )


def wide(database: Path, rows: int = 30_000) -> None:
    """Skewed columns; every third follows the one before, some others nearly equal theirs."""
    made = []
    for number in range(1, len(WIDE) + 1):
        before = f"c{number - 1}"
        if number % 3 == 0:
            text = f"({before} * 7 + cast(hash(r, {number}) % 9 as integer)) % 32"
        elif number % 5 == 0:
            text = f"least(31, {before} + cast(hash(r, {number}) % 5 as integer))"
        else:
            skew = 1 + number % 4 / 2
            text = f"floor(32 * pow((hash(r, {number}) % 1000000) / 1000000.0, {skew}))"
        made.append(f"cast({text} as integer) as c{number}")
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            f"create table adult as select {', '.join(made)} from range({rows}) t(r)"
        )


def halves(folder: Path) -> Path:
    """A tree over 0 to 31, halved five times."""
    path = folder / "halves.csv"
    lines = [
        ";".join(
            [str(value), *(f"{value >> level} of {32 >> level}" for level in range(1, 5)), "*"]
        )
        for value in range(32)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def measured(
    name: str, given: Policy, database: Path, columns: tuple[str, ...], runs: int
) -> dict[str, Any]:
    """Medians over `runs` runs."""
    release = None
    seconds, cpu, judged = [], [], []
    for _ in range(runs):
        stopped: list[float] = []

        def stop(_: Event, stopped: list[float] = stopped) -> None:
            stopped.append(time.process_time())

        began = time.process_time()
        release = anonymizer.run(given, str(database), seed=1, listener=stop)
        judged.append(time.process_time() - began)
        cpu.append(stopped[-1] - began)
        seconds.append(release.measures["seconds_anonymizing"])
    assert release is not None
    a_pass = median_of(5, lambda: one_pass(database, columns))
    found = statistics.median(seconds)
    return {
        "work": name,
        "seconds": round(found, 2),
        "passes": round(found / a_pass, 1),
        "cpu": round(statistics.median(cpu), 2),
        "cpu with judging": round(statistics.median(judged), 2),
        "nodes": release.measures["lattice_nodes"],
        "judged": release.measures["lattice_judged"],
        "ncp": round(release.measures["ncp"], 4),
        "gap": release.measures["lattice_gap"],
        "suppressed": release.measures["suppressed"],
        "classes": release.measures["classes"],
    }


def one_pass(database: Path, columns: tuple[str, ...]) -> float:
    """Seconds of one aggregation of the distinct tuples."""
    with duckdb.connect(":memory:", config={"threads": 2}) as connection:
        connection.execute(f"attach '{database}' as source (read_only)")
        connection.execute("create table adult as from source.adult")
        began = time.perf_counter()
        listed = ", ".join(columns)
        connection.execute(
            f"create or replace temp table tuples as select {listed}, count(*) as n from adult"
            " group by all"
        )
        return time.perf_counter() - began


def median_of(times: int, measure: Callable[[], float]) -> float:
    """The median of several measurements."""
    return statistics.median(measure() for _ in range(times))


if __name__ == "__main__":
    main()
