"""Ten m-invariant releases of Adult, of which each loses and gains some persons.

    python -m benchmarks.republish [--m 2 3 5] [--columns QI5 QI8] [--releases 10]

The first release has 10,000 persons; every later one loses 5 to 10 % of them, and gains as many.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits
from benchmarks.common import markdown_table
from benchmarks.tables import ADULT, QI5, QI8

COLUMNS = {"QI5": QI5, "QI8": QI8}
PERSONS = 10_000


def sequence(releases: int, seed: int = 1) -> list[list[int]]:
    """Who stands in each release, as numbers of rows of Adult."""
    draw = random.Random(seed)
    outside = list(range(30_162))
    draw.shuffle(outside)
    inside, outside = outside[:PERSONS], outside[PERSONS:]
    made = [sorted(inside)]
    while len(made) < releases:
        n = round(PERSONS * draw.uniform(0.05, 0.1))
        draw.shuffle(inside)
        # who left does not come back
        inside, outside = inside[n:] + outside[:n], outside[n:]
        made.append(sorted(inside))
    return made


def measure(columns: str, m: int, releases: int) -> dict[str, float | int | str]:
    """Mean loss, counterfeits and seconds of a sequence of releases."""
    names = COLUMNS[columns]
    losses, forged, seconds = [], 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        policy = Policy.model_validate(
            {
                "version": 1,
                "source": {"table": "people"},
                "key": "id",
                "columns": {"id": {"role": "identifier"}}
                | {column: {"role": "quasi"} for column in names}
                | {"occupation": {"role": "sensitive"}},
                "privacy": {"k_anonymity": m},
                "ledger": "private.duckdb",
                "republish": {"m": m},
                "publish": {"database": "release.duckdb"},
            },
            context={"base": folder},
        )
        for number, rows in enumerate(sequence(releases)):
            source = folder / "source.duckdb"
            source.unlink(missing_ok=True)
            with duckdb.connect(str(source)) as connection:
                connection.execute("create table chosen (id bigint)")
                listed = ", ".join(f"({row})" for row in rows)
                connection.execute(f"insert into chosen values {listed}")
                connection.execute(
                    f"create table people as select id, {', '.join(names)}, occupation from"
                    f" (select row_number() over () - 1 as id, * from '{ADULT}')"
                    " semi join chosen using (id) order by id"
                )
            start = time.perf_counter()
            release = anonymizer.run(policy, source, seed=number, limits=Limits(threads=2))
            seconds += time.perf_counter() - start
            losses.append(release.measures["ncp"])
            forged += release.measures.get("counterfeits", 0)
    return {
        "columns": columns,
        "m": m,
        "NCP": round(sum(losses) / len(losses), 4),
        "first": round(losses[0], 4),
        "last": round(losses[-1], 4),
        "counterfeits": forged,
        "seconds": round(seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Ten m-invariant releases of Adult.")
    parser.add_argument("--m", nargs="*", type=int, default=[2, 3, 5])
    parser.add_argument("--columns", nargs="*", choices=sorted(COLUMNS), default=sorted(COLUMNS))
    parser.add_argument("--releases", type=int, default=10)
    given = parser.parse_args()
    records = [measure(c, m, given.releases) for c in given.columns for m in given.m]
    print(markdown_table(records))


if __name__ == "__main__":
    main()
