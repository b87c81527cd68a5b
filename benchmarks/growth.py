"""How time and memory grow with rows, columns and k: `python -m benchmarks.growth`.

The table is one of numbers nearly all of whose tuples differ: the worst case for work on distinct
tuples. Every measurement is a process of its own. Writes benchmarks/results/growth.{csv,md} and
plots.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from benchmarks.common import RESULTS, line_plot, machine, markdown_table, write_csv

ROWS = (30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
COLUMNS = (3, 6, 9, 15, 30)
KS = (2, 5, 10, 100, 1_000)


def main() -> None:
    """Measure, print each figure as it comes, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=ROWS[-1], help="rows of the largest table")
    parser.add_argument("--most-by-loss", type=int, default=ROWS[-1], help="... cut by loss")
    asked = parser.parse_args()
    by_rows = [
        measured(rows, 9, 10, split)
        for split, most in (("loss", min(asked.most, asked.most_by_loss)), ("median", asked.most))
        for rows in ROWS
        if rows <= most
    ]
    by_columns = [measured(100_000, columns, 10) for columns in COLUMNS]
    by_k = [measured(100_000, 9, k) for k in KS]
    limited = [
        measured(asked.most, 9, 10, "median", "2GB"),
        measured(min(asked.most, asked.most_by_loss), 9, 10, "loss", "2GB"),
    ]
    write_csv("growth.csv", [*by_rows, *by_columns, *by_k, *limited])
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
is said. Seconds of one run, publishing included; `judging` comes on top; peak memory is that of the
process.

## Rows (9 columns, k = 10)

{markdown_table(by_rows)}

With a memory limit of the engine:

{markdown_table(limited)}

## Quasi-identifiers (100,000 rows, k = 10)

{markdown_table(by_columns)}

## k (100,000 rows, 9 columns)

{markdown_table(by_k)}

![time](growth_time.png) ![memory](growth_memory.png)
"""
    (RESULTS / "growth.md").write_text(text)


def measured(
    rows: int, columns: int, k: int, split: str = "loss", memory: str | None = None
) -> dict[str, Any]:
    """One run in a process of its own; what ended it stands in `failed`."""
    shape = [str(rows), str(columns), str(k), split]
    command = [sys.executable, "-m", "benchmarks.one", "numbers", *shape]
    done = subprocess.run(
        [*command, *([memory] if memory else [])], check=False, capture_output=True, text=True
    )
    found: dict[str, Any] = {"rows": rows, "columns": columns, "k": k, "split": split}
    found["memory limit"] = memory or ""
    if done.returncode:
        found["failed"] = done.stderr.strip().splitlines()[-1][:120]
    else:
        found = json.loads(done.stdout)
    print(json.dumps(found), flush=True)
    return found


if __name__ == "__main__":
    main()
