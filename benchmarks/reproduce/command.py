"""`python -m benchmarks reproduce [PAPER ...]`: reruns the papers and writes a page for each.

A page is written as soon as its paper is done. `--quick` takes small tables and one seed, and
writes to another folder, so that it never replaces a page.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.common import machine
from benchmarks.reproduce import danonyir, hierarchies, lgb, msb, page, privacyfrost
from benchmarks.reproduce.claims import SEEDS, Effort, Paper, Runs, Verdict, judged
from benchmarks.reproduce.fingerprint import fingerprint
from benchmarks.trial import scratch

PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (
        hierarchies.PAPER,
        privacyfrost.PAPER,
        msb.PAPER,
        lgb.PAPER,
        danonyir.PAPER,
    )
}


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks reproduce", description=__doc__)
    parser.add_argument(
        "paper", nargs="*", metavar="PAPER", help=f"of {', '.join(PAPERS)}; default: all"
    )
    parser.add_argument("--quick", action="store_true", help="small tables, one seed")
    once = ", ".join(paper.name for paper in PAPERS.values() if paper.seeds == 1)
    parser.add_argument(
        "--seeds",
        type=int,
        help=f"default: {SEEDS}, and 1 where nothing is drawn ({once}), as on the pages",
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes; default: %(default)s"
    )
    parser.add_argument("--out", type=Path, help="folder of the pages")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.paper if name not in PAPERS]:
        parser.error(f"unknown paper {', '.join(unknown)} (known: {', '.join(PAPERS)})")
    if asked.seeds is not None and asked.seeds < 1:
        parser.error("--seeds must be 1 or more")
    out = asked.out or (scratch() / "quick" if asked.quick else page.PAGES)
    given = " ".join(["python -m benchmarks reproduce", *arguments])
    began, failed = time.perf_counter(), []
    for name in asked.paper or PAPERS:
        paper = PAPERS[name]
        seeds = asked.seeds or (1 if asked.quick else paper.seeds)
        effort = Effort(asked.quick, seeds, asked.jobs, scratch())
        try:
            reproduce(paper, effort, out, given)
        except Exception:
            # half an hour of the others is not lost with it
            traceback.print_exc()
            failed.append(name)
    print(f"{time.perf_counter() - began:.0f} s in all")
    if failed:
        print(f"no page was written for {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def reproduce(paper: Paper, effort: Effort, out: Path, command: str) -> Path:
    """Measure, judge, write."""
    print(f"{paper.name}: {effort.seeds} seeds", flush=True)
    # of the code as it was when the measurements began
    code = fingerprint(paper.code)
    began, used = time.perf_counter(), _cpu()
    records = paper.measured(effort)
    spent, cpu = time.perf_counter() - began, _cpu() - used
    load = os.getloadavg()[1]
    header = page.Header(
        command=command,
        code=code,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        machine=f"{machine()}; load {load:.1f} at the end, with {effort.jobs} processes",
        seeds=len(Runs(records).all("seed")),
        seconds=spent,
        cpu=cpu,
        quick=effort.quick,
    )
    written = page.write(paper, records, header, out)
    verdicts = [judged(claim, Runs(records)).verdict for claim in paper.claims]
    told = ", ".join(f"{verdicts.count(v)} {v}" for v in Verdict)
    print(f"{paper.name}: {told}; {spent:.0f} s; {written}", flush=True)
    return written


def _cpu() -> float:
    """CPU seconds of this process and of those that it ended."""
    return sum(os.times()[:4])
