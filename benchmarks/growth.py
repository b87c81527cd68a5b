"""How time and memory grow with rows, columns and k: `python -m benchmarks.growth`.

The table is one of numbers nearly all of whose tuples differ: the worst case for work on distinct
tuples. Adult made larger is the common case. Every measurement is a process of its own. Writes
benchmarks/results/growth.{csv,md} and plots.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from benchmarks import tables
from benchmarks.common import RESULTS, line_plot, machine, markdown_table, write_csv

ROWS = (30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
COLUMNS = (3, 6, 9, 15, 30)
KS = (2, 5, 10, 100, 1_000)
LIMITED = (("median", "2GB"), ("loss", "2GB"), ("loss", "1GB"))
"""Splits and memory limits of the engine for the largest table."""
LARGE, LARGE_LIMIT = 30_000_000, "2GB"
ENLARGED = ((1_000_000, None), (10_000_000, None), (100_000_000, "4GB"))
"""Rows of Adult made larger, and the memory limit of the engine."""


def main() -> None:
    """Measure, print each figure as it comes, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=ROWS[-1], help="rows of the largest table")
    parser.add_argument("--large", action="store_true", help="30 and 100 million rows as well")
    asked = parser.parse_args()
    most = asked.most
    by_rows = [
        numbers(rows, 9, 10, split) for split in ("loss", "median") for rows in ROWS if rows <= most
    ]
    by_columns = [numbers(100_000, columns, 10) for columns in COLUMNS]
    by_k = [numbers(100_000, 9, k) for k in KS]
    limited = [numbers(most, 9, 10, split, memory) for split, memory in LIMITED]
    if asked.large:
        limited.append(numbers(LARGE, 9, 10, "loss", LARGE_LIMIT))
    enlarged = [of_adult(rows, memory) for rows, memory in ENLARGED if rows <= most or asked.large]
    write_csv("growth.csv", [*by_rows, *by_columns, *by_k, *limited])
    write_csv("growth_enlarged.csv", enlarged)
    for name, what in (("seconds", "time"), ("peak MB", "memory")):
        line_plot(
            f"growth_{what}.png",
            "numbers, 9 columns, k=10",
            "rows",
            name,
            {
                f"split: {split}": [
                    (row["rows"], row[name])
                    for row in by_rows
                    if row["split"] == split and name in row
                ]
                for split in ("loss", "median")
            },
            log=True,
        )
    text = f"""# How cost grows

{machine()}. `mondrian` on numbers nearly all of whose tuples differ, cut by loss where nothing else
is said. Seconds of one run, publishing included; `judging` comes on top; `elapsed` is the whole
call, in which the source is read and looked through; peak memory is that of the process.

## Rows (9 columns, k = 10)

{markdown_table(by_rows)}

With a memory limit of the engine:

{markdown_table(limited)}

Adult made larger, most of whose tuples are equal (k = 5):

{markdown_table(enlarged)}

## Quasi-identifiers (100,000 rows, k = 10)

{markdown_table(by_columns)}

## k (100,000 rows, 9 columns)

{markdown_table(by_k)}

![time](growth_time.png) ![memory](growth_memory.png)
"""
    (RESULTS / "growth.md").write_text(text)


def numbers(
    rows: int, columns: int, k: int, split: str = "loss", memory: str | None = None
) -> dict[str, Any]:
    """The table of numbers, anonymized once."""
    tables.numbers(rows, columns)  # or what it takes to make the table would count as well
    return measured("numbers", rows, columns, k, split, *([memory] if memory else []))


def of_adult(rows: int, memory: str | None) -> dict[str, Any]:
    """Adult made larger, anonymized once."""
    tables.adult(rows)
    return measured("enlarged", rows, *([memory] if memory else []))


def measured(*what: object) -> dict[str, Any]:
    """One run in a process of its own; what ended it stands in `failed`."""
    arguments = [str(part) for part in what]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.one", *arguments],
        check=False,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any]
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1][:120]
        found = {"rows": int(arguments[1]), "run": " ".join(arguments), "failed": reason}
    else:
        found = json.loads(done.stdout)
    print(json.dumps(found), flush=True)
    return found


if __name__ == "__main__":
    main()
