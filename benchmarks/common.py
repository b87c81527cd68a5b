"""What every benchmark shares: data, machine, results as CSV, Markdown and plots."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
HIERARCHIES = HERE / "hierarchies"
DATA = Path(os.environ.get("ANONYMIZER_TEST_DATA", HERE.parent.parent / "shared" / "data"))

Record = Mapping[str, Any]
LEGEND_INSIDE = 5
"""Most series whose legend stands inside the plot."""


def machine() -> str:
    """One line on the machine and the versions that made the figures."""
    import duckdb

    import anonymizer

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()},"
        f" DuckDB {duckdb.__version__}, sql-anonymizer {anonymizer.__version__}"
    )


def write_csv(name: str, records: Sequence[Record]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / name
    columns = list(dict.fromkeys(key for record in records for key in record))
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, columns)
        writer.writeheader()
        writer.writerows(records)
    return path


def markdown_table(records: Iterable[Record], columns: Sequence[str] | None = None) -> str:
    rows = list(records)
    names = list(columns or dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(_shown(row.get(name)) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def line_plot(
    name: str,
    title: str,
    x: str,
    y: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    log: bool = False,
) -> Path:
    """One line per series of points, written as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    RESULTS.mkdir(exist_ok=True)
    aside = len(series) > LEGEND_INSIDE  # a longer legend would cover points
    figure, axes = plt.subplots(figsize=(9.6 if aside else 6.4, 4.0), layout="constrained")
    axes.set_prop_cycle(color=plt.colormaps["tab20" if len(series) > 10 else "tab10"].colors)
    markers = "os^vDP*X<>"
    for number, (label, points) in enumerate(series.items()):
        ordered = sorted(points)
        axes.plot(
            [p[0] for p in ordered],
            [p[1] for p in ordered],
            marker=markers[number % len(markers)],
            label=label,
        )
    axes.set(title=title, xlabel=x, ylabel=y)
    if log:
        axes.set_xscale("log")
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if aside:
        figure.legend(loc="outside right upper")
    else:
        axes.legend()
    path = RESULTS / name
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path
