"""Seconds and passes of `full_domain`: its optimum over the lattices that others are measured on.

    python -m benchmarks.lattice [--quick]

Nine quasi-identifiers of Adult with the hierarchies published with ARX make a lattice of 12,960
nodes; k = 5, at most 5 % suppressed, least NCP. Seconds are those of anonymizing and publishing,
verification apart; a *pass* is one aggregation of the distinct quasi-identifier tuples of the same
table. Larger tables are copies in which age moves by up to 3 years and each other cell is drawn
anew from its column with probability 0.05.
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
            "algorithm": {"name": "full_domain", "optimum": change.get("optimum", "ncp")},
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
