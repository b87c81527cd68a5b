"""Seconds of `anon_mondrian` in the SQL shell's form: one statement, eight columns of Adult.

    python -m benchmarks.macros

Writes benchmarks/results/macros.md: the median of five calls by the clock and in CPU seconds of two
threads, beside one pass over the same table.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import duckdb

from benchmarks.common import DATA, RESULTS, machine, markdown_table
from benchmarks.one import one_pass

MACROS = Path(__file__).parent.parent / "sql" / "anonymizer.sql"
QI8 = (
    *("age", "workclass", "education", "marital_status"),
    *("race", "sex", "native_country", "occupation"),
)
RUNS = 5


def main() -> None:
    walls, cpus = [], []
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute(MACROS.read_text(encoding="utf-8"))
        connection.execute(
            "create table people as select row_number() over () as id, *"
            f" from '{DATA / 'adult_complete.parquet'}'"
        )
        listed = ", ".join(f"'{name}'" for name in QI8)
        for _ in range(RUNS):
            wall, cpu = time.perf_counter(), time.process_time()
            connection.execute(
                f"create or replace table timed as from anon_mondrian('people', [{listed}], 5)"
            )
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
    one = one_pass(30_162)
    record = {
        "macro": "anon_mondrian, k = 5",
        "rows": 30_162,
        "columns": len(QI8),
        "seconds": statistics.median(walls),
        "passes": statistics.median(walls) / one,
        "cpu seconds": statistics.median(cpus),
        "seconds of a pass": one,
    }
    text = f"# Macros\n\n{machine()}\n\n{markdown_table([record])}\n"
    (RESULTS / "macros.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
