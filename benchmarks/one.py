"""One measurement in a process of its own: `python -m benchmarks.one NAME` prints it as JSON."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from operator import truediv
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.cases import CASES, Case
from benchmarks.tables import QI9, adult, numbers

REPEATS = 3


def measure(case: Case, repeats: int = REPEATS) -> dict[str, Any]:
    """Medians over runs in one process; the first run warms nothing up and counts as well.

    Before each run, another process takes the pass that its seconds are divided by: a machine may
    be twice as fast a minute later.
    """
    import duckdb

    import anonymizer
    from benchmarks.metric import mean_ncp

    source = adult(case.rows)
    anonymizing, judging, cpu, passes = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "release.duckdb"
        policy = anonymizer.Policy.model_validate(case.policy(database, source))
        for _ in range(repeats):
            passes.append(float(in_its_own_process("pass", case.rows)))
            began = time.process_time()
            release = anonymizer.run(policy, seed=1)
            cpu.append(time.process_time() - began)
            anonymizing.append(float(release.measures["seconds_anonymizing"]))
            judging.append(float(release.measures["seconds_judging"]))
        with duckdb.connect(str(database), read_only=True) as connection:
            relation = f"(select *, 1 as copies from {release.view})"
            ncp, lost = mean_ncp(relation, source, case.quasi, connection)
        measures = release.measures
    return {
        "case": case.name,
        "ncp": ncp,
        "suppressed": lost,
        "classes": measures["classes"],
        "seconds": median(anonymizing),
        "judging": median(judging),
        "CPU s, judging included": median(cpu),
        "peak MB": peak_megabytes(),
        "seconds of a pass": median(passes),
        "passes": median(map(truediv, anonymizing, passes)),
    }


def in_its_own_process(*arguments: object) -> Any:
    """What `python -m benchmarks.one` prints for these arguments."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.one", *map(str, arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def one_pass(rows: int, repeats: int = 5) -> float:
    """Seconds to count the different tuples of Adult's nine columns, in memory, two threads."""
    import duckdb

    listed = ", ".join(QI9)
    with duckdb.connect() as connection:
        connection.execute("set threads = 2")
        connection.execute(f"create table adult as select {listed} from '{adult(rows)}'")
        seconds = []
        for _ in range(repeats):
            began = time.perf_counter()
            connection.execute(
                f"create or replace temp table tuples as select {listed}, count(*) as n"
                " from adult group by all"
            )
            seconds.append(time.perf_counter() - began)
    return median(seconds)


def numbers_run(rows: int, columns: int, k: int, split: str, memory: str | None) -> dict[str, Any]:
    """A table of numbers, nearly all of whose tuples differ, anonymized once."""
    shape = {"rows": rows, "columns": columns, "k": k, "split": split}
    return shape | _run_once(
        numbers(rows, columns),
        {f"q{j}": {"role": "quasi"} for j in range(columns)},
        k,
        split,
        memory,
    )


def enlarged_run(rows: int, memory: str | None) -> dict[str, Any]:
    """Adult made larger, most of whose tuples are equal, anonymized once."""
    columns = {name: {"role": "quasi"} for name in QI9}
    shape = {"rows": rows, "columns": len(QI9), "k": 5, "split": "loss"}
    return shape | _run_once(adult(rows), columns, 5, "loss", memory)


def _run_once(
    source: Path, columns: dict[str, Any], k: int, split: str, memory: str | None
) -> dict[str, Any]:
    import anonymizer
    from anonymizer.engines.base import Limits

    with tempfile.TemporaryDirectory() as folder:
        policy = anonymizer.Policy.model_validate(
            {
                "version": 1,
                "source": {"file": str(source)},
                "columns": columns,
                "privacy": {"k_anonymity": k},
                "algorithm": {"name": "mondrian", "split": split},
                "publish": {"name": "release", "database": f"{folder}/release.duckdb"},
            }
        )
        began, cpu = time.perf_counter(), time.process_time()
        release = anonymizer.run(policy, seed=1, limits=Limits(None, memory, None))
        elapsed, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {
        "memory limit": memory or "",
        "ncp": release.measures["ncp"],
        "seconds": release.measures["seconds_anonymizing"],
        "judging": release.measures["seconds_judging"],
        "elapsed": round(elapsed, 1),
        "CPU s": round(cpu, 1),
        "peak MB": peak_megabytes(),
    }


def peak_megabytes() -> int:
    """Peak resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(arguments: list[str]) -> None:
    """NAME, `pass ROWS`, `numbers ROWS COLUMNS K SPLIT [MEMORY]`, or `enlarged ROWS [MEMORY]`."""
    result: Any
    match arguments:
        case ["pass", rows]:
            result = one_pass(int(rows))
        case ["numbers", rows, columns, k, split, *memory]:
            limit = memory[0] if memory else None
            result = numbers_run(int(rows), int(columns), int(k), split, limit)
        case ["enlarged", rows, *memory]:
            result = enlarged_run(int(rows), memory[0] if memory else None)
        case [name, *repeats]:
            found = next(case for case in CASES if case.name == name)
            result = measure(found, int(repeats[0]) if repeats else REPEATS)
        case _:
            raise SystemExit(main.__doc__)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
