"""Speed and loss of msb, whole runs in processes of their own: read, group, verify, publish.

    python -m benchmarks.msb_speed [--quick]

CPU seconds are user and system time of the whole process, start and imports included; wall seconds
mean something on a quiet machine only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.common import DATA, RESULTS, machine, markdown_table, write_csv
from benchmarks.reproduce.msb import COLUMNS, LEVELS, STRATEGIES

FOLDER = "msb"
QUASI = ("age", "sex", "relationship", "native_country", "hours_per_week")
PLAN = (
    ("exact", 10_000, "mmdcf", 5.0),
    *(("exact", 30_162, strategy, 12.0) for strategy in STRATEGIES),
    *(("batched", 30_162, strategy, 3.0) for strategy in STRATEGIES),
    ("batched", 1_000_000, "mmdcf", 20.0),
)
CHILD = """
import json, sys, time
import anonymizer
began = time.perf_counter()
release = anonymizer.run(anonymizer.Policy.load(sys.argv[1]), seed=1)
found = {"run s": round(time.perf_counter() - began, 2)}
print(json.dumps(found | {k: release.measures[k] for k in ("rows", "groups", "additional_loss",
    "suppression_ratio", "seconds_anonymizing", "seconds_judging")}))
"""


def make_source(path: Path, rows: int) -> None:
    """Records of UCI Adult: a sample, or drawn with replacement."""
    with duckdb.connect() as connection:
        columns = ", ".join((*QUASI, *COLUMNS[:3]))
        connection.execute(
            "create table adult as select row_number() over () - 1 as id, * from"
            f" '{DATA / 'adult_complete.parquet'}'"
        )
        if rows <= 30_162:
            chosen = f"select {columns} from adult order by md5('1 ' || id) limit {rows}"
        else:
            chosen = (
                f"select {columns} from range({rows}) r(i)"
                " join adult on adult.id = hash(r.i) % 30162"
            )
        connection.execute(f"copy ({chosen}) to '{path}' (format parquet)")


def policy(mode: str, strategy: str) -> dict[str, Any]:
    return {
        "version": 1,
        "source": {"file": "source.parquet"},
        "columns": {name: {"role": "quasi"} for name in QUASI}
        | {
            name: {"role": "sensitive", "protect": {"levels": LEVELS[name], "default_level": 1}}
            for name in COLUMNS[:3]
        },
        "privacy": {"level_l": {0: 1, 1: 2, 2: 3}},
        "suppression_limit": 0.001,
        "algorithm": {
            "name": "msb",
            "strategy": strategy,
            "mode": mode,
            "allow_singletons": True,
        },
        "publish": {"name": "release", "database": "release.duckdb"},
    }


def measure(mode: str, rows: int, strategy: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_source(place / "source.parquet", rows)
        (place / "policy.yml").write_text(json.dumps(policy(mode, strategy)))
        before, began = os.times(), time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(place / "policy.yml")],
            capture_output=True,
            text=True,
            check=True,
        )
        wall, after = time.perf_counter() - began, os.times()
        cpu = (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    return {
        "mode": mode,
        "records": rows,
        "strategy": strategy,
        "CPU s": round(cpu, 2),
        "wall s": round(wall, 2),
        **json.loads(done.stdout),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 records only; no results")
    quick = parser.parse_args().quick
    records: list[dict[str, Any]] = []
    for mode, rows, strategy, limit in PLAN:
        if quick and rows > 10_000:
            continue
        found = measure(mode, rows, strategy)
        exact = next(
            (
                r["additional_loss"]
                for r in records
                if r["mode"] == "exact" and r["records"] == 30_162 and r["strategy"] == strategy
            ),
            None,
        )
        if mode == "batched" and exact:
            found["loss by exact's"] = round(found["additional_loss"] / exact, 3)
        records.append({**found, "wanted s": limit})
        print(records[-1], flush=True)
    if quick:
        return
    (RESULTS / FOLDER).mkdir(parents=True, exist_ok=True)
    write_csv(f"{FOLDER}/msb_speed.csv", records)
    (RESULTS / FOLDER / "msb_speed.md").write_text(
        "# Speed of msb, d = 3\n\n"
        f"{machine()}. Whole runs (read, group, verify, publish) in processes of their own on UCI"
        " Adult; a million records are drawn with replacement. `run s` is the run itself by the"
        " clock; `CPU s` (user and system) and `wall s` are of the whole process, with its start"
        " and imports;"
        f" the load of the machine was {os.getloadavg()[0]:.1f} at the end, so wall times may be"
        " too long.\n\n" + markdown_table(records) + "\n"
    )


if __name__ == "__main__":
    main()
