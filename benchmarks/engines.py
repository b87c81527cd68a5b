"""One policy on every engine: seconds by rows and split.

    python -m benchmarks.engines [--engines duckdb,postgres,spark] [--rows 30162,1000000] [--runs 3]

Adult grown to so many rows, 8 quasi-identifiers, k=10. Postgres is a server of the benchmark's own
with the settings of a small machine, or the one at `--database`. Seconds are medians; a table of
that engine is filled before, which does not count. Writes benchmarks/results/engines.{csv,md}.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits
from benchmarks.common import RESULTS, Record, machine, markdown_table, write_csv
from benchmarks.tables import QI8, adult, cache

SPLITS = ("median", "loss")
NOTES = """\
`anonymizing` is the time from the source to the written rows, `judging` that of the checks and
measures, both on the engine itself; `whole` is the run with publishing, `unjudged` the same without
`judging`. Seconds by the clock; Spark's include the start of its session. `server CPU s` is that of
all processes of a Postgres server on this machine during a whole run."""


def main() -> None:
    """Measure, print each figure as it comes, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__)
    parser.add_argument("--engines", default="duckdb,postgres,spark")
    parser.add_argument("--rows", default="30162,300000,1000000")
    parser.add_argument("--splits", default=",".join(SPLITS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--database", help="address of a Postgres server to use")
    asked = parser.parse_args()
    records: list[Record] = []
    for engine in asked.engines.split(","):
        with opened(engine, asked.database) as place:
            for rows in map(int, asked.rows.split(",")):
                for split in asked.splits.split(","):
                    records.append(measured(engine, place, rows, split, asked.runs))
                    print(records[-1], flush=True)
    write_csv("engines.csv", records)
    text = f"# One policy on every engine\n\n{machine()}\n\n{NOTES}\n\n{markdown_table(records)}\n"
    (RESULTS / "engines.md").write_text(text, encoding="utf-8")


@contextmanager
def opened(engine: str, database: str | None) -> Iterator[Any]:
    """What a run on the engine is given as its database."""
    with ExitStack() as stack:
        if engine == "postgres":
            from tests.backends.postgres_server import server

            yield database or stack.enter_context(server())
        elif engine == "spark":
            yield None  # a session of the run's own, whose start counts as well
        else:
            yield Path(stack.enter_context(tempfile.TemporaryDirectory())) / "source.duckdb"


def measured(engine: str, place: Any, rows: int, split: str, runs: int) -> Record:
    """Median seconds of one policy."""
    with tempfile.TemporaryDirectory() as folder:
        source = filled(engine, place, rows)
        publish = {} if engine == "postgres" else {"database": f"{folder}/release.duckdb"}
        policy = Policy.model_validate(
            {
                "version": 1,
                "source": source,
                "columns": {name: {"role": "quasi"} for name in QI8}
                | {"occupation": {"role": "drop"}},
                "privacy": {"k_anonymity": 10},
                "algorithm": {"name": "mondrian", "split": split},
                "publish": {"name": f"adult_{rows}_{split}", **publish},
            }
        )
        found: list[tuple[float, float, float, float]] = []
        for _ in range(runs):
            spent = server_cpu(place) if engine == "postgres" else 0.0
            began = time.perf_counter()
            made = anonymizer.run(policy, place, engine=engine, seed=1, limits=Limits())
            whole = time.perf_counter() - began
            spent = server_cpu(place) - spent if engine == "postgres" else 0.0
            measures = made.measures
            own = (measures["seconds_anonymizing"], measures["seconds_judging"])
            found.append((*own, whole, spent))
    anonymizing, judging, whole, spent = map(statistics.median, zip(*found, strict=True))
    return {
        "engine": engine,
        "rows": rows,
        "split": split,
        "classes": made.measures["classes"],
        "anonymizing": round(anonymizing, 2),
        "judging": round(judging, 2),
        "unjudged": round(whole - judging, 2),
        "whole": round(whole, 2),
        "server CPU s": round(spent, 1) if engine == "postgres" else "",
    }


def server_cpu(place: str) -> float:
    """CPU seconds of a Postgres server on this machine and of its processes that have ended."""
    import psycopg

    with psycopg.connect(place, autocommit=True) as server:
        others = (
            "select count(*) from pg_stat_activity where pid <> pg_backend_pid()"
            " and backend_type in ('client backend', 'parallel worker')"
        )
        while server.execute(others).fetchone() != (0,):  # the server counts those that have ended
            time.sleep(0.05)
        time.sleep(0.2)
        row = server.execute(
            "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"
        ).fetchone()
    assert row is not None
    fields = Path(f"/proc/{row[0]}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def filled(engine: str, place: Any, rows: int) -> dict[str, str]:
    """The source of a policy: a table that is made where it is missing, or a file."""
    file, table = adult(rows), f"adult_{rows}"
    columns = ", ".join((*QI8, "occupation"))
    if engine == "spark":
        narrow = cache() / f"adult_{rows}_narrow.parquet"
        if not narrow.exists():
            duckdb.sql(f"copy (select {columns} from '{file}') to '{narrow}'")
        return {"file": str(narrow)}
    if engine == "duckdb":
        with duckdb.connect(str(place)) as connection:
            connection.execute(
                f"create table if not exists {table} as select {columns} from '{file}'"
            )
        return {"table": table}
    import psycopg

    with (
        psycopg.connect(place, autocommit=True) as server,
        duckdb.connect() as local,
        tempfile.TemporaryDirectory() as folder,
    ):
        text = Path(folder) / "rows.csv"
        local.execute(f"copy (select {columns} from '{file}') to '{text}' (header false)")
        described = local.execute(f"describe select {columns} from '{file}'").fetchall()
        kinds = {"VARCHAR": "text", "TINYINT": "smallint"}
        listed = ", ".join(f"{row[0]} {kinds.get(row[1], row[1])}" for row in described)
        server.execute(f"drop table if exists {table}")
        server.execute(f"create table {table} ({listed})")
        statement = f"copy {table} from stdin (format csv)"
        with text.open("rb") as rows_, server.cursor().copy(statement) as copy:
            while piece := rows_.read(1 << 20):
                copy.write(piece)
        server.execute(f"vacuum analyze {table}")
    return {"table": table}


if __name__ == "__main__":
    main()
