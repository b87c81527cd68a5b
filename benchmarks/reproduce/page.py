"""The page of a paper: header, claims with verdicts, reasons, tables and plots, raw values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import RESULTS, markdown_table, write_csv
from benchmarks.reproduce.claims import Finding, Panel, Paper, Runs, Verdict, judged
from benchmarks.reproduce.fingerprint import ROOT, fingerprint
from benchmarks.reproduce.interval import Interval, interval

PAGES = RESULTS / "papers"
CODE = re.compile(r"^\| code \| `([0-9a-f]{12})`", re.MULTILINE)


@dataclass(frozen=True)
class Header:
    """Where the figures come from."""

    command: str
    code: str
    date: str
    machine: str
    seeds: int
    seconds: float
    cpu: float
    quick: bool = False


def write(paper: Paper, records: Sequence[Mapping[str, Any]], header: Header, folder: Path) -> Path:
    """Page, raw values and plots of one paper."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = Runs(records)
    write_csv(str(folder.absolute() / f"{paper.name}.csv"), records)
    plots = [
        name
        for name, panels in paper.figures.items()
        if _plot(panels, runs, folder / f"{paper.name}_{name}.png")
    ]
    path = folder / f"{paper.name}.md"
    path.write_text(rendered(paper, runs, header, plots))
    return path


def rendered(paper: Paper, runs: Runs, header: Header, plots: Sequence[str] = ()) -> str:
    findings = [judged(claim, runs) for claim in paper.claims]
    counted = Counter(finding.verdict for finding in findings)
    parts = [f"# {paper.title}", paper.citation, _head(paper, header)]
    if header.quick:
        parts.append(
            "**A quick run: small tables, few seeds. It shows that the code runs, no more.**"
        )
    parts += [
        paper.notes,
        "## Claims",
        f"{len(findings)}: " + ", ".join(f"{counted[v]} × {v}" for v in Verdict) + ".",
        _claims(findings),
        _reasons(findings),
    ]
    if more := paper.more(runs):
        parts.append(more)
    for name, panels in paper.figures.items():
        for panel in panels:
            if table := _table(panel, runs):
                parts += [f"## {panel.title}", table]
        if name in plots:
            parts.append(f"![{name}]({paper.name}_{name}.png)")
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(paper: Paper, header: Header) -> str:
    seeds = f"{header.seeds}; a figure is the mean with its 95 % interval (Student's t)"
    if header.seeds == 1:
        seeds = "1, so no interval"
    rows = {
        "made by": f"`{header.command}`",
        "code": f"`{header.code}` of {', '.join(f'`{given}`' for given in paper.code)}",
        "date": header.date,
        "machine": header.machine,
        "seeds": seeds,
        "took": f"{header.seconds:.0f} s, {header.cpu:.0f} CPU seconds",
    }
    lines = ["| | |", "| --- | --- |"]
    return "\n".join(lines + [f"| {name} | {value} |" for name, value in rows.items()])


def _claims(findings: Sequence[Finding]) -> str:
    rows: list[dict[str, Any]] = []
    for number, finding in enumerate(findings, start=1):
        claim = finding.claim
        rows.append(
            {
                "": number,
                "where": claim.where,
                "the paper says": claim.says,
                "paper": claim.paper,
                "measured here": claim.figure,
                "ours": "" if finding.found is None else str(finding.found),
                "holds if": "" if claim.measure is None else str(claim.rule),
                "verdict": f"**{finding.verdict}**",
            }
        )
    return markdown_table(rows)


def _reasons(findings: Sequence[Finding]) -> str:
    """Each reason once, with the numbers of its claims."""
    said: dict[tuple[str, str], list[int]] = {}
    for number, finding in enumerate(findings, start=1):
        if finding.why:
            said.setdefault((finding.verdict, finding.why), []).append(number)
    lines = [
        f"- {', '.join(map(str, numbers))} ({verdict}): {why}"
        for (verdict, why), numbers in said.items()
    ]
    return "\n".join(["By the number of the claim:", "", *lines]) if lines else ""


Points = dict[str, dict[float, Interval]]


def _points(panel: Panel, runs: Runs) -> Points:
    found: dict[str, dict[float, list[float]]] = {}
    for record in runs.where(**panel.fixed):
        if record.get(panel.y) is not None and record.get(panel.x) is not None:
            line = found.setdefault(panel.series(record), {})
            line.setdefault(record[panel.x], []).append(float(record[panel.y]))
    return {
        name: {x: interval(values) for x, values in sorted(line.items())}
        for name, line in sorted(found.items(), key=lambda item: _natural(item[0]))
    }


def _natural(name: str) -> list[tuple[int, str]]:
    """Numbers by their size: k = 5 before k = 10."""
    return [(int(part or 0), text) for text, part in re.findall(r"(\D*)(\d*)", name)]


def _table(panel: Panel, runs: Runs) -> str:
    points = _points(panel, runs)
    rows: list[dict[str, Any]] = []
    for x in sorted({x for line in points.values() for x in line}):
        row: dict[str, Any] = {panel.x: f"{x:,g}"}
        row |= {name: str(line[x]) if x in line else "" for name, line in points.items()}
        rows.append(row)
    return markdown_table(rows) if rows else ""


def _plot(panels: Sequence[Panel], runs: Runs, file: Path) -> bool:
    shown = [(panel, points) for panel in panels if (points := _points(panel, runs))]
    if not shown:
        return False
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(
        1, len(shown), figsize=(4.6 * len(shown), 3.6), layout="constrained", squeeze=False
    )
    for axes, (panel, points) in zip(grid[0], shown, strict=True):
        for marker, (label, line) in zip("os^vDP*X<>" * 3, points.items(), strict=False):
            axes.plot([*line], [i.mean for i in line.values()], marker=marker, label=label)
            low, high = [i.low for i in line.values()], [i.high for i in line.values()]
            axes.fill_between([*line], low, high, alpha=0.15)
        axes.set_title(panel.title, fontsize="small", wrap=True)
        axes.set(xlabel=panel.x, ylabel=panel.label)
        axes.set_yscale("log" if panel.log else "linear")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    figure.savefig(file, dpi=80)
    plt.close(figure)
    return True


def stale(paper: Paper, folder: Path = PAGES, root: Path = ROOT) -> str | None:
    """What is wrong with the page of a paper, and the command that mends it."""
    page = folder / f"{paper.name}.md"
    remedy = f"run: python -m benchmarks reproduce {paper.name}"
    if not page.exists():
        return f"{page.name} is missing; {remedy}"
    found = CODE.search(page.read_text())
    now = fingerprint(paper.code, root)
    if found is None or found[1] != now:
        was = found[1] if found else "none"
        return f"{page.name} was made by other code ({was}, now {now}); {remedy}"
    return None
