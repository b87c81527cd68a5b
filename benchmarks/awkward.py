"""Tables as people bring them: `python -m benchmarks.awkward`.

Columns of thousands of values, hundreds of columns, a sensitive number of 900 values. Every
measurement is a process of its own; what `plan` foresaw stands beside it. Writes
benchmarks/results/awkward.{csv,md}.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from anonymizer import Policy
from benchmarks.common import RESULTS, machine, markdown_table, write_csv
from benchmarks.one import peak_megabytes
from tests.tables import awkward, customers

REPEATS = 3
CUSTOMERS = ("city", "postcode", "date_of_birth", "job", "state", "gender")


@dataclass(frozen=True, slots=True)
class Case:
    """A table, the roles of its columns, and what is asked of it."""

    make: Callable[[Path], Path]
    table: str
    quasi: tuple[str, ...]
    sensitive: dict[str, Any] = field(default_factory=dict)
    algorithm: dict[str, Any] = field(default_factory=lambda: {"name": "mondrian"})
    bound: str = ""
    """What it may take at most."""


CASES = {
    "customers, 8,000": Case(
        lambda path: customers.make(path, 8_000), "customers", CUSTOMERS, bound="10 s, 600 MB"
    ),
    "customers, 8,000, compare 1": Case(
        lambda path: customers.make(path, 8_000),
        "customers",
        CUSTOMERS,
        algorithm={"name": "mondrian", "compare": 1},
    ),
    "customers, 100,000": Case(
        lambda path: customers.make(path, 100_000), "customers", CUSTOMERS, bound="60 s, 2 GB"
    ),
    "airports, 3,376": Case(
        awkward.airports, "airports", ("city", "state", "latitude", "longitude"), bound="5 s"
    ),
    "ordered t of 900 values, 10,000": Case(
        awkward.incomes,
        "incomes",
        ("age", "education", "job", "sex"),
        {"income": {"t_closeness": {"t": 0.15, "distance": "ordered"}}},
        bound="10 s",
    ),
    "200 columns, 2,000, l = 2": Case(
        awkward.wide,
        "answers",
        tuple(f"q{i}" for i in range(1, 201)),
        {"ill": {"l_diversity": 2}},
        bound="60 s",
    ),
}


def main() -> None:
    """Measure every case in a process of its own, and write the results."""
    found = []
    for name, case in CASES.items():
        record = {**_alone("run", name), **_alone("plan", name), "at most": case.bound}
        found.append(record)
        print(json.dumps(record), flush=True)
    write_csv("awkward.csv", found)
    text = f"""# Tables as people bring them

{machine()}. `mondrian`, k = 5, without hierarchies, by the clock: a whole run from reading to the
published and judged release, median of {REPEATS} in one process; peak memory of that process.
`foreseen` is what `anonymizer plan` tells before.

{markdown_table(found)}
"""
    (RESULTS / "awkward.md").write_text(text)


def _alone(verb: str, name: str) -> dict[str, Any]:
    """The figures of one verb on one case, in a process of its own."""
    call = [sys.executable, "-m", "benchmarks.awkward", verb, name]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def measure(verb: str, name: str) -> dict[str, Any]:
    """One verb on one case, in this process."""
    import duckdb

    import anonymizer

    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        database = case.make(Path(folder) / "source.duckdb")
        with duckdb.connect(str(database), read_only=True) as connection:
            rows = connection.execute(f"describe {case.table}").fetchall()
        columns: dict[str, Any] = {name: {"role": "drop"} for name, *_ in rows}
        columns |= {name: {"role": "quasi"} for name in case.quasi}
        columns |= {n: {"role": "sensitive", "protect": p} for n, p in case.sensitive.items()}
        policy = anonymizer.Policy.model_validate(
            {
                "version": 1,
                "source": {"table": case.table},
                "columns": columns,
                "privacy": {"k_anonymity": 5},
                "algorithm": case.algorithm,
                "publish": {"database": str(Path(folder) / "release.duckdb")},
            }
        )
        if verb == "plan":
            return _foreseen(policy, database)
        seconds = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            release = anonymizer.run(policy, database, seed=1)
            seconds.append(time.perf_counter() - began)
    return {
        "case": name,
        "ncp": round(release.measures["ncp"], 5),
        "seconds": round(median(seconds), 2),
        "peak MB": peak_megabytes(),
    }


def _foreseen(policy: Policy, database: Path) -> dict[str, Any]:
    from anonymizer.review.preview import preview

    seen = preview(policy, str(database)).forecast
    assert seen is not None
    assert seen.loss is not None
    return {
        "foreseen ncp": round(seen.loss, 5),
        "foreseen s": round(seen.seconds, 2),
        "foreseen MB": round(seen.memory / 1e6),
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1], sys.argv[2])))
    else:
        main()
