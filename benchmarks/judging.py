"""What verification and ledger add to a run: `python -m benchmarks.judging [--rows N] [--case C]`.

Every run is a process of its own; figures are CPU seconds (user and system, all threads). The
table is census data of the shape that Li and He (2022) use, made larger after a fixed recipe.
Writes benchmarks/results/judging.{csv,md} unless rows or cases are chosen.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.common import DATA, HIERARCHIES, RESULTS, machine, markdown_table, write_csv
from benchmarks.tables import cache

ROWS = (1_000_000, 200_000)
QUASI = ("relationship", "marital_status", "race", "education", "hours_per_week")
SEMI = ("sex", "age", "occupation_code")
NODES = ("relationship", "marital_status", "race", "education")

PLAIN: dict[str, Any] = {
    "id": {"role": "identifier"},
    **{name: {"role": "quasi"} for name in (*QUASI, "sex", "age")},
    "occupation_code": {"role": "drop"},
    "sector": {"role": "drop"},
    "wage": {"role": "sensitive"},
    **{f"flag_{name}": {"role": "drop"} for name in SEMI},
}
L5 = {"protect": {"l_diversity": 5}}
FLAGGED = PLAIN | {
    "sex": {"role": "quasi", "sensitive_when": "flag_sex", "protect": {"t_closeness": 0.2}},
    "age": {"role": "quasi", "sensitive_when": "flag_age", **L5},
    "occupation_code": {"role": "quasi", "sensitive_when": "flag_occupation_code", **L5},
    "wage": {"role": "sensitive", **L5},
}
L3 = {"protect": {"l_diversity": 3}}
DIVERSE = PLAIN | {"sector": {"role": "sensitive", **L3}}
NODED = DIVERSE | {
    name: {"role": "quasi", "hierarchy": {"file": str(HIERARCHIES / f"{name}.csv")}}
    for name in NODES
}
ALL_NODED = (
    NODED
    | {
        "sex": {"role": "quasi", "hierarchy": {"builder": "prefix"}},
    }
    | {
        name: {"role": "quasi", "hierarchy": {"builder": "cardinality", "min_width": 5}}
        for name in ("hours_per_week", "age")
    }
)
PAIRED = PLAIN | {name: {"role": "sensitive", **L3} for name in ("wage", "sector")}

CASES: dict[str, dict[str, Any]] = {
    "mondrian, ledger": {"columns": PLAIN, "ledger": "private.duckdb"},
    "lgb, ledger": {
        "columns": FLAGGED,
        "algorithm": {"name": "lgb", "generalization": "mdp"},
        "ledger": "private.duckdb",
    },
    "msb, batched, ledger": {
        "columns": PAIRED,
        "privacy": {},
        "algorithm": {"name": "msb", "mode": "batched"},
        "suppression_limit": 0.05,
        "ledger": "private.duckdb",
    },
    "privacyfrost, ledger": {
        "columns": ALL_NODED,
        "algorithm": {"name": "privacyfrost"},
        "suppression_limit": 0.05,
        "ledger": "private.duckdb",
    },
    "mondrian, diverse, ledger": {
        "columns": DIVERSE,
        "algorithm": {"name": "mondrian"},
        "ledger": "private.duckdb",
    },
    "lgb, mdp": {"columns": FLAGGED, "algorithm": {"name": "lgb", "generalization": "mdp"}},
    "lgb, ncp": {"columns": FLAGGED, "algorithm": {"name": "lgb", "generalization": "ncp"}},
    "mondrian": {"columns": DIVERSE, "algorithm": {"name": "mondrian"}},
    "mondrian, nodes": {"columns": NODED, "algorithm": {"name": "mondrian"}},
    "full_domain": {
        "columns": ALL_NODED,
        "algorithm": {"name": "full_domain"},
        "suppression_limit": 0.05,
    },
    "msb, batched": {
        "columns": PAIRED,
        "privacy": {},
        "algorithm": {"name": "msb", "mode": "batched"},
        "suppression_limit": 0.05,
    },
    "privacyfrost": {
        "columns": ALL_NODED,
        "algorithm": {"name": "privacyfrost"},
        "suppression_limit": 0.05,
    },
}
AGAIN = ("mondrian, ledger",)
"""Cases whose second release is measured, so that the ledger has something to compare."""


def table(rows: int) -> Path:
    """Workers of the census as they are, and further copies changed a little, with flags.

    In a further copy age, hours and wage move, and a categorical cell is drawn anew with
    probability 0.05. Draws are hashes, so that the table is the same everywhere.
    """
    path = cache() / f"census_{rows}.parquet"
    if path.exists():
        return path
    drawn = (
        "relationship",
        "marital_status",
        "race",
        "education",
        "sex",
        "occupation_code",
        "sector",
    )

    def uniform(purpose: str) -> str:
        return f"((hash('{purpose}', c, i) >> 11) / 9007199254740992.0)"

    def cell(name: str) -> str:
        place = f"1 + cast(floor({uniform('value ' + name)} * n) as int)"
        again = f"c > 0 and {uniform('redraw ' + name)} < 0.05"
        return f"case when {again} then {name}_pool[{place}] else {name} end as {name}"

    def moved(name: str, by: int) -> str:
        by_how_much = f"cast(floor({uniform(name)} * {2 * by + 1}) as int) - {by}"
        return f"greatest(1, {name} + case when c > 0 then {by_how_much} else 0 end) as {name}"

    with duckdb.connect() as connection:
        connection.execute(
            "create table base as select row_number() over (order by household_id, person_no) - 1"
            f" as i, {', '.join(drawn[:-1])}, left(occupation_code, 1) as sector,"
            " hours_per_week, age, wage_income // 100 as wage"
            f" from '{DATA / 'acs2018_persons.parquet'}' where occupation_code is not null"
            " and hours_per_week is not null and wage_income > 0"
        )
        (n,) = connection.execute("select count(*) from base").fetchone() or (0,)
        pools = ", ".join(f"list({name} order by i) as {name}_pool" for name in drawn)
        flags = ", ".join(f"{uniform('flag ' + name)} < 0.2 as flag_{name}" for name in SEMI)
        connection.execute(
            f"copy (select c * {n} + i as id, {', '.join(map(cell, drawn))},"
            f" {moved('hours_per_week', 2)}, {moved('age', 3)}, {moved('wage', 20)}, {flags}"
            f" from range({-(-rows // n)}) as copies(c), base,"
            f" (select {pools}, count(*) as n from base)"
            f" where c * {n} + i < {rows} order by id) to '{path}.tmp' (format parquet)"
        )
    Path(f"{path}.tmp").replace(path)
    return path


ADDED = ("release", "source", "reread", "ledger")
"""Parts of a run that judge it and remember it."""


class Spent:
    """Seconds by part of a run, from clocks around the functions that make it up."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        """Of the processors."""
        self.by_the_clock: dict[str, float] = defaultdict(float)

    def around(self, holder: object, name: str, part: str) -> None:
        function: Callable[..., Any] = getattr(holder, name)

        @wraps(function)
        def clocked(*args: Any, **options: Any) -> Any:
            began, clock = time.process_time(), time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                self.seconds[part] += time.process_time() - began
                self.by_the_clock[part] += time.perf_counter() - clock

        setattr(holder, name, clocked)

    def install(self) -> None:
        from anonymizer.ledger import LedgerSession
        from anonymizer.run import job

        self.around(job, "judge", "release")
        self.around(job, "against_source", "source")
        self.around(job, "fingerprint", "reread")
        self.around(job, "release_measures", "measures")
        for name in ("begin", "remember", "confirm"):
            self.around(LedgerSession, name, "ledger")


def run_one(case: str, rows: int) -> dict[str, Any]:
    """One run in this process."""
    import anonymizer

    source = table(rows)
    with tempfile.TemporaryDirectory() as folder:
        given = {
            "version": 1,
            "source": {"file": str(source)},
            "key": "id",
            "privacy": {"k_anonymity": 5},
            "publish": {"name": "release", "database": "release.duckdb"},
            **CASES[case],
        }
        policy = anonymizer.Policy.model_validate(given, context={"base": Path(folder)})
        if case in AGAIN:
            anonymizer.run(policy)
        spent = Spent()
        spent.install()
        began, clock = time.process_time(), time.perf_counter()
        release = anonymizer.run(policy)
        total, lasted = time.process_time() - began, time.perf_counter() - clock
    parts = {name: spent.seconds[name] for name in ADDED}
    added = sum(parts.values())
    rest = total - added - spent.seconds["measures"]
    waited = sum(spent.by_the_clock[name] for name in ADDED)
    return {
        "case": case,
        "rows": rows,
        "classes": release.measures["classes"],
        "run": round(rest, 2),
        "measures": round(spent.seconds["measures"], 2),
        **{name: round(seconds, 2) for name, seconds in parts.items()},
        "added": round(added, 2),
        "share": f"{added / (total - added):.0%}",
        "by the clock": f"{lasted:.1f}",
        "added by the clock": f"{waited:.1f}",
        "share by the clock": f"{waited / (lasted - waited):.0%}",
    }


def measured(case: str, rows: int) -> dict[str, Any]:
    """The same in a process of its own; what ended it stands in `failed`."""
    command = [sys.executable, "-m", "benchmarks.judging", "--one", case, str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"case": case, "rows": rows, "failed": done.stderr.strip()[-200:]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure, print each figure as it comes, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judging", description=__doc__)
    parser.add_argument("--rows", type=int, action="append")
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(run_one(asked.one[0], int(asked.one[1]))))
        return
    records = []
    for rows in asked.rows or ROWS:
        for case in asked.case or CASES:
            records.append(measured(case, rows))
            print(json.dumps(records[-1]), flush=True)
            if not asked.rows and not asked.case:
                write(records)  # after each run, so that what was measured is there


def write(records: list[dict[str, Any]]) -> None:
    """The results so far, as a file of figures and as a page."""
    write_csv("judging.csv", records)
    text = f"""# What verification and ledger add

{machine()}. CPU seconds of one run. `run`: reading, anonymizing, writing, publishing; `measures`:
information loss and disclosure figures; `release`: requirements judged from the published rows;
`source`: agreement of the release with its source; `reread`: fingerprints of what was judged,
before and after the manifest went in; `share`: release, source, reread and ledger over the rest;
`by the clock`: seconds of the whole run, what of it was added, and the share in these.
Rows are joined and sorted once, into scratch with the references to their originals, and copied
from there into the release: that is part of `run`. `mondrian, ledger` is the second release of its
ledger.

{markdown_table(records)}
"""
    (RESULTS / "judging.md").write_text(text)


if __name__ == "__main__":
    main()
