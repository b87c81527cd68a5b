"""`python -m benchmarks`: ours, other tools and one pass, side by side, in one run.

Writes benchmarks/results/{comparison.csv,comparison.md,*.png}. With `--check` only the smallest
case is run, and the exit code is 1 where it takes more passes than it may.
`python -m benchmarks reproduce [PAPER ...]` reruns papers instead (benchmarks/reproduce).
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.cases import CASES
from benchmarks.common import RESULTS, line_plot, machine, markdown_table, write_csv
from benchmarks.one import in_its_own_process
from benchmarks.peers import PEERS, TASKS, call
from benchmarks.tables import adult

MEASURED_PEERS = RESULTS / "peers.json"
MEASURED_OTHERS = RESULTS / "others.csv"
"""Tools that pip does not install, measured once on the same tables."""
MOST_PASSES = 150
"""Of the case `QI9, k=5` on 30,162 rows. It takes 70 to 100 on a quiet machine."""
PEER_COLUMNS = (
    "tool",
    "case",
    "ncp",
    "suppressed",
    "classes",
    "seconds",
    "CPU s",
    "peak MB",
)


def main() -> int:
    """Run what the arguments ask for."""
    if sys.argv[1:2] == ["reproduce"]:
        from benchmarks.reproduce import command

        return command.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--check", action="store_true", help="the smallest case against a bound")
    parser.add_argument("--quick", action="store_true", help="no table above 300,000 rows")
    parser.add_argument("--no-peers", action="store_true", help="theirs as measured before")
    asked = parser.parse_args()
    if asked.check:
        return check()
    cases = [case for case in CASES if not asked.quick or case.rows <= 300_000]
    ours = []
    for case in cases:
        found = in_its_own_process(case.name)
        ours.append(found | {"rows": case.rows, "best of others": case.peer})
        print(json.dumps(ours[-1]), flush=True)
    if asked.no_peers:
        peers = json.loads(MEASURED_PEERS.read_text()) if MEASURED_PEERS.exists() else []
    else:
        peers = peer_figures()
        MEASURED_PEERS.write_text(json.dumps(peers, indent=1) + "\n")
    write(ours, peers, when="before" if asked.no_peers else "in this run")
    return 0


def check() -> int:
    """Whether the smallest case stays within its passes; the figures are printed."""
    found = in_its_own_process("QI9, k=5")
    taken, seconds = found["passes"], found["seconds of a pass"]
    print(f"QI9, k=5, 30,162 rows: NCP {found['ncp']:.4f} in {taken:.0f} passes of {seconds:.3f} s")
    if taken > MOST_PASSES or found["ncp"] > 0.036:
        print(f"more than {MOST_PASSES} passes, or an NCP above 0.036")
        return 1
    return 0


def peer_figures() -> list[dict[str, Any]]:
    """Every tool on every task of which it is capable, by the same metric."""
    import duckdb

    from benchmarks.metric import mean_ncp

    rows = []
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        for peer in PEERS:
            for task, (quasi, k) in TASKS.items():
                out = Path(folder) / f"{peer.package}.parquet"
                found: dict[str, Any] = {"tool": peer.requirements[0], "case": task}
                found |= call(peer, adult(), quasi, k, out)
                if out.exists():
                    ncp, lost = mean_ncp(f"'{out}'", adult(), quasi, connection)
                    found |= {"ncp": ncp, "suppressed": lost}
                    out.unlink()
                rows.append(found)
                print(json.dumps(found), flush=True)
    return rows


def write(ours: list[dict[str, Any]], peers: list[dict[str, Any]], when: str) -> None:
    """CSV, Markdown and plots; `when` the others were measured."""
    write_csv("comparison.csv", [*ours, *peers])
    publishers = [row for row in peers if "ncp" in row]
    checkers = [
        {"check": name, **figures}
        for row in peers
        for name, figures in row.items()
        if isinstance(figures, dict) and row["case"] == "QI5, k=5"
    ]
    sizes = sorted({row["rows"] for row in ours})
    of_size = ["QI9, k=5"] + [f"QI9, k=5, {rows:,} rows" for rows in sizes if rows > 30_162]
    by_rows = {
        "ours": [r for r in ours if r["case"] in of_size],
        "ours, compare 1": [r for r in ours if r["case"].endswith(", compare 1")],
    }
    line_plot(
        "time_by_rows.png",
        "QI9, k=5",
        "rows",
        "seconds, publishing included",
        {name: [(r["rows"], r["seconds"]) for r in rows] for name, rows in by_rows.items()},
        log=True,
    )
    line_plot(
        "memory_by_rows.png",
        "QI9, k=5",
        "rows",
        "peak memory of the process, MB",
        {name: [(r["rows"], r["peak MB"]) for r in rows] for name, rows in by_rows.items()},
        log=True,
    )
    line_plot(
        "utility_by_time.png",
        "30,162 rows, k=5 (QI5: lower points, QI9: upper)",
        "seconds",
        "mean NCP",
        utility_by_time(ours, publishers),
        log=True,
    )
    others = ""
    if peers:
        others = f"""
Those that pip installs, measured {when}:

{markdown_table(publishers, [*PEER_COLUMNS])}

pycanon, checks only:

{markdown_table(checkers)}
"""
    text = f"""# Ours and others, side by side

{machine()}. Seconds are those of anonymizing and publishing, without verification (`judging`)
and the lower bound of the loss, which is computed beside both; CPU seconds contain everything.
Medians of three runs in one process. One *pass* is `create temp table … as select q…, count(*)
… group by all` over the same table; one is taken before every run, and divides its seconds.
NCP is computed from the published cells, by the same code for all tools.

{markdown_table(ours)}

Best of others: CPU seconds of the anonymizing call alone, measured before on the same table
([others.csv](others.csv)), perhaps while the machine was faster.
{others}
![time](time_by_rows.png) ![memory](memory_by_rows.png) ![utility](utility_by_time.png)
"""
    (RESULTS / "comparison.md").write_text(text)


def utility_by_time(
    ours: list[dict[str, Any]], peers: list[dict[str, Any]]
) -> dict[str, list[tuple[float, float]]]:
    """Seconds and NCP of every tool, and of every way of ours, on the small table with k = 5."""
    with MEASURED_OTHERS.open(newline="") as handle:
        others = [
            {"tool": f"{row['tool']}, {row['way']}", "case": row["case"],
             "seconds": float(row["CPU s"]), "ncp": float(row["ncp"]), "rows": int(row["rows"])}
            for row in csv.DictReader(handle)
        ]  # fmt: skip
    found: dict[str, list[tuple[float, float]]] = {}
    for row in [*ours, *peers, *others]:
        quasi, k, *way = row["case"].split(", ")
        if quasi in ("QI5", "QI9") and k == "k=5" and row.get("rows", 30_162) == 30_162:
            label = ", ".join([row.get("tool", "ours"), *way])
            found.setdefault(label, []).append((row["seconds"], row["ncp"]))
    return found


if __name__ == "__main__":
    raise SystemExit(main())
