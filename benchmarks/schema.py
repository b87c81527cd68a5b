"""Releases of several tables: `python -m benchmarks.schema`.

INFORMS: 26,735 persons and their 102,673 diagnoses (ICD-9 code, two digits, chapter, `*`), the
frontier over the known events m, k and the weight of events, and what observers are left with.
Then the same persons forty times with new ids and jittered years of birth: a million persons, four
million diagnoses. Every measurement is a process of its own. Writes
benchmarks/results/schema.{csv,md}.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common import DATA, RESULTS, machine, markdown_table, write_csv
from benchmarks.one import peak_megabytes

REPEATS = 3
COPIES = 40
CHAPTERS = (139, 239, 279, 289, 319, 389, 459, 519, 579, 629, 679, 709, 739, 759, 779, 799, 999)
"""The last codes of the chapters of ICD-9; E and V codes are chapters of their own."""
FRONTIER = [
    *((m, 5, 1.0) for m in (0, 1, 2, 3)),
    *((1, k, 1.0) for k in (2, 10, 20)),
    *((2, k, 1.0) for k in (2, 10)),
    *((1, 5, weight) for weight in (0.25, 4.0)),
]


def chapter(code: str) -> str:
    """The chapter of an ICD-9 code."""
    if not code[:3].isdigit():
        return f"{code[0]} codes"
    place = next(n for n, last in enumerate(CHAPTERS, 1) if int(code[:3]) <= last)
    return f"chapter {place}"


def informs(folder: Path, copies: int = 1) -> Path:
    """A database of the persons with a diagnosis, and the levels of the codes beside it."""
    import duckdb

    path = folder / "informs.duckdb"
    with duckdb.connect(str(path)) as made:
        year = "birth_year" if copies == 1 else "birth_year + cast(floor(hash(id) % 5) as int) - 2"
        made.execute(f"""
            create table conditions as
            select person_id || '-' || r as person_id, icd9_code
            from '{DATA}/informs_conditions.parquet', range({copies}) t(r)
            where icd9_code is not null
                and person_id in (select person_id from '{DATA}/informs_persons.parquet')""")
        made.execute(f"""
            create table persons as
            select id as person_id, cast({year} as smallint) as birth_year, sex, race,
                marital_status
            from (select person_id || '-' || r as id, p.*
                from '{DATA}/informs_persons.parquet' p, range({copies}) t(r))
            where id in (select person_id from conditions)""")
        codes = made.execute("select distinct icd9_code from conditions order by 1").fetchall()
    above: dict[str, str] = {}
    lines = []
    for (code,) in codes:
        # two digits belong to the chapter of their first code, so that levels nest
        lines.append(f"{code};{code[:2]}..;{above.setdefault(code[:2], chapter(code))};*\n")
    (folder / "icd9.csv").write_text("".join(lines))
    return path


def policy(folder: Path, m: int, k: int, weight: float) -> dict[str, Any]:
    """What is asked of the release."""
    category = {"role": "quasi", "kind": "categorical"}
    return {
        "version": 1,
        "person": "persons",
        "tables": {
            "persons": {
                "source": {"table": "persons"},
                "key": "person_id",
                "columns": {
                    "person_id": {"role": "key"},
                    "birth_year": {"role": "quasi"},
                    "sex": category,
                    "race": category,
                    "marital_status": category,
                },
            },
            "conditions": {
                "source": {"table": "conditions"},
                "links": {"person_id": "persons"},
                "columns": {
                    "person_id": {"role": "key"},
                    "icd9_code": {"role": "event", "hierarchy": {"file": "icd9.csv"}},
                },
            },
        },
        "privacy": {"k_anonymity": k, "knows": {"events": m}},
        "weight": {"events": weight},
        "publish": {"database": "release.duckdb", "schema": "published"},
    }


def one(folder: Path, m: int, k: int, weight: float, *, attacked: bool) -> dict[str, Any]:
    """One run in this process, and what observers are left with."""
    from anonymizer import Policy, run
    from anonymizer.review.observers import attack_tables

    asked = Policy.model_validate(policy(folder, m, k, weight), context={"base": folder})
    began = time.perf_counter()
    release = run(asked, folder / "informs.duckdb", seed=1)
    seconds = time.perf_counter() - began
    measures = release.manifest.data["measures"]
    conditions = measures["tables"]["conditions"]
    lost = conditions["suppressed"]
    rows = conditions["rows"] + lost
    events = (conditions["ncp"]["icd9_code"] * conditions["rows"] + lost) / rows
    found = {
        "m": m,
        "k": k,
        "weight": weight,
        "demographics": measures["ncp"],
        "events": round(events, 6),
        "sum": round(measures["ncp"] + events, 6),
        "suppressed": f"{100 * lost / rows:.3f} %",
        "classes": measures["classes"],
        "seconds": round(seconds, 2),
        "peak MB": round(peak_megabytes()),
    }
    if attacked:
        attack = attack_tables(asked, folder / "informs.duckdb")  # type: ignore[arg-type]
        for observer in attack.after:
            found[f"below k: {observer.knows}"] = f"{100 * observer.below / observer.persons:.1f} %"
    return found


def measured(folder: Path, *asked: object, repeats: int = REPEATS) -> dict[str, Any]:
    """The medians of some processes."""
    command = [sys.executable, "-m", "benchmarks.schema", "--one", str(folder), *map(str, asked)]
    found = []
    for _ in range(repeats):
        made = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(made.stdout.splitlines()[-1]))
    middle = dict(found[0])
    for name in ("seconds", "peak MB"):
        middle[name] = median(one[name] for one in found)
    print(json.dumps(middle), flush=True)
    return middle


def main() -> int:
    """All measurements, or one of them in this process."""
    if "--one" in sys.argv:
        folder, m, k, weight, attacked = sys.argv[sys.argv.index("--one") + 1 :][:5]
        found = one(Path(folder), int(m), int(k), float(weight), attacked=attacked == "True")
        print(json.dumps(found))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        informs(Path(folder))
        small = [measured(Path(folder), *case, True) for case in FRONTIER]
    with tempfile.TemporaryDirectory() as folder:
        informs(Path(folder), COPIES)
        large = [measured(Path(folder), 1, 5, 1.0, False, repeats=1)]
    write_csv("schema.csv", [*small, *({"copies": COPIES, **one} for one in large)])
    told = [{n: v for n, v in one.items() if not n.startswith("below")} for one in small]
    observers = [
        {"m": one["m"], "k": one["k"]} | {n: v for n, v in one.items() if n.startswith("below")}
        for one in small[:4]
    ]
    text = f"""# Releases of several tables

{machine()}. INFORMS: 26,735 persons (birth year, sex, race, marital status) and 102,673 diagnoses
(ICD-9 code, two digits, chapter, `*`). By the clock, from reading to the published and judged
release, median of {REPEATS} processes. `demographics` and `events` are the mean NCP of a cell, a
suppressed row costing 1; m is the number of diagnoses that an observer knows.

{markdown_table(told)}

Persons with fewer than k candidates, in percent, for an observer who knows their class and:

{markdown_table(observers)}

The same persons {COPIES} times, with new ids and years of birth moved by up to two: 1,069,400
persons, 4,106,920 diagnoses.

{markdown_table([{n: v for n, v in one.items() if not n.startswith("below")} for one in large])}
"""
    (RESULTS / "schema.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
