"""Speed and loss of person-level algorithms under EIR l = 6, first six quasi-identifiers.

    python -m benchmarks.danonyir_speed --seeds 5           # INFORMS: danonyir, mondrian
    python -m benchmarks.danonyir_speed --seeds 5 --all     # danonyir with block_size: all
    python -m benchmarks.danonyir_speed --large             # a million rows
    python -m benchmarks.danonyir_speed --equal             # a million rows, persons ten times

CPU seconds count user and system time of all threads: on a quiet machine with two cores the wall
time lies between half of them and all of them; where others work on it too, both are longer, so
that the least of several runs is told as well, with the load. The page lists all that was measured,
in whichever run. `--all` runs the naive algorithm of the tests, which
`block_size: all` is proven equal to there; the SQL form takes a few statements for every person.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from benchmarks import informs
from benchmarks.common import RESULTS, machine, markdown_table, write_csv
from benchmarks.reproduce.one_block import in_one_block
from benchmarks.trial import anonymized, scratch

PRIVACY = {"eir_l": 6}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "danonyir": {"name": "danonyir"},
    "mondrian": {"name": "mondrian", "split": "loss"},
}


def measured(source: Path, name: str, seed: int) -> dict[str, Any]:
    """One run in scratch, judged by nobody: the time is that of anonymizing."""
    given = informs.policy(source, PRIVACY, ALGORITHMS[name])
    with anonymized(given, seed) as done:
        persons = done.raw("select count(distinct person) from snapshot")[0][0]
        measures = done.measures()
        return {
            "algorithm": name,
            "rows": measures["rows"],
            "persons": persons,
            "seed": seed,
            "cpu_seconds": round(done.seconds, 2),
            "wall_seconds": round(done.wall, 2),
            "load": round(os.getloadavg()[0], 1),
            "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
            "nloss": measures["glm"],
            "classes": measures["classes"],
            "suppressed_rows": measures["suppressed"],
            "residual_persons": done.executor.notes.get("residual_persons"),
        }


PARTS = ("speed", "speed_all", "speed_large", "speed_equal")
"""What is measured by itself, each in a file of its own."""


def known(name: str) -> list[dict[str, Any]]:
    """What a part measured when it ran last."""
    file = RESULTS / "danonyir" / f"{name}.csv"
    if not file.exists():
        return []
    with file.open(newline="") as handle:
        return list(csv.DictReader(handle))


def summary(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for name, total in dict.fromkeys((record["algorithm"], record["rows"]) for record in records):
        mine = [r for r in records if (r["algorithm"], r["rows"]) == (name, total)]

        def of(field: str, mine: list[dict[str, Any]] = mine) -> list[float]:
            return [float(record[field]) for record in mine if record.get(field)]

        losses = of("nloss")
        residual = [count / float(mine[0]["persons"]) for count in of("residual_persons")]
        rows.append(
            {
                "algorithm": name,
                "rows": int(total),
                "seeds": len(mine),
                "NLoss": fmean(losses),
                "spread": stdev(losses) if len(losses) > 1 else None,
                "CPU seconds": median(of("cpu_seconds")),
                "least CPU": min(of("cpu_seconds")),
                "wall seconds": median(of("wall_seconds")),
                "least wall": min(of("wall_seconds")),
                "load": median(of("load")),
                "peak GiB": max(of("peak_gib"), default=None),
                "residual share": fmean(residual) if residual else None,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--all", action="store_true", help="only block_size: all")
    parser.add_argument("--large", action="store_true", help="only a million rows, one seed")
    parser.add_argument("--equal", action="store_true", help="only persons ten times, one seed")
    given = parser.parse_args()
    (RESULTS / "danonyir").mkdir(parents=True, exist_ok=True)
    if given.large:
        part = "speed_large"
        records = [measured(informs.large_table(scratch()), "danonyir", 1)]
    elif given.equal:
        part = "speed_equal"
        record = measured(informs.equal_table(scratch()), "danonyir", 1)
        records = [{**record, "algorithm": "danonyir, equal persons"}]
    else:
        part = "speed_all" if given.all else "speed"
        source = informs.table(scratch())
        records = []
        for seed in range(1, given.seeds + 1):
            if given.all:
                name = "danonyir, block_size: all (numpy)"
                load = {"load": round(os.getloadavg()[0], 1)}
                found = in_one_block(source, seed, {"eir_l": 6}, 6)
                records.append({"algorithm": name, "seed": seed, **found, **load})
            else:
                records += [measured(source, name, seed) for name in ALGORITHMS]
    write_csv(f"danonyir/{part}.csv", records)
    everything = [record for name in PARTS for record in known(name)]
    page = f"# Speed under EIR l = 6\n\n{machine()}\n\n{markdown_table(summary(everything))}\n"
    (RESULTS / "danonyir" / "speed.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
