"""Tables and plots of `danonyir_paper`: figures 2 to 9, and the paper's claims beside the rerun."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from benchmarks.common import RESULTS, line_plot, machine, markdown_table

Run = Mapping[str, str]

FIXED = {"l": {"l": "6", "d": "6"}, "ab": {"alpha": "0.6", "beta": "0.4", "d": "6"}}
FIGURES: tuple[tuple[str, str, str, str, str], ...] = (
    ("2a", "l", "l", "vulnerable", "vulnerable classes"),
    ("2b", "l", "d", "vulnerable", "vulnerable classes"),
    ("3a", "ab", "alpha", "vulnerable", "vulnerable classes"),
    ("3b", "ab", "beta", "vulnerable", "vulnerable classes"),
    ("3c", "ab", "d", "vulnerable", "vulnerable classes"),
    ("4a", "l", "l", "nloss", "NLoss"),
    ("4b", "l", "d", "nloss", "NLoss"),
    ("5a", "ab", "alpha", "nloss", "NLoss"),
    ("5b", "ab", "beta", "nloss", "NLoss"),
    ("5c", "ab", "d", "nloss", "NLoss"),
    ("6a", "l", "l", "error_1", "relative error, lambda = 1"),
    ("6b", "l", "d", "error_all", "relative error, lambda = all"),
    ("7a", "ab", "alpha", "error_1", "relative error, lambda = 1"),
    ("7b", "ab", "beta", "error_1", "relative error, lambda = 1"),
    ("7c", "ab", "d", "error_all", "relative error, lambda = all"),
    ("8a", "l", "l", "seconds", "CPU seconds"),
    ("8b", "l", "d", "seconds", "CPU seconds"),
    ("9a", "ab", "alpha", "seconds", "CPU seconds"),
    ("9b", "ab", "beta", "seconds", "CPU seconds"),
    ("9c", "ab", "d", "seconds", "CPU seconds"),
)
AXES = {"l": "l (= k)", "d": "number of quasi-identifiers", "alpha": "alpha", "beta": "beta"}


def name_of(run: Run) -> str:
    return run["series"] + (f" ({run['taxonomy']})" if run["taxonomy"] else "")


def of_figure(runs: Iterable[Run], model: str, varied: str) -> list[Run]:
    fixed = {key: value for key, value in FIXED[model].items() if key != varied}
    return [
        run
        for run in runs
        if run["model"] == model and all(run[key] == value for key, value in fixed.items())
    ]


def report(runs: Sequence[Run], folder: Path) -> None:
    """Write `README.md` and one plot per figure into `folder`."""
    done = [run for run in runs if run["verified"] == "True"]
    refused = [run for run in runs if run["verified"] == "infeasible"]
    wrong = [run for run in runs if run["verified"] == "False"]
    seeds = sorted({int(run["seed"]) for run in runs})
    parts = [
        "# DAnonyIR and GeneIR on the INFORMS tables",
        "Made by `python -m benchmarks.danonyir_paper`. Settings, series and measures are those of"
        " Wang, Du, Luo, Li (2018), §5, on the year 2005 of the INFORMS tables: 26,735 persons with"
        " a diagnosis, 102,673 rows. Mean over seeds, with the standard deviation where there are"
        " several. CPU seconds count reading and anonymizing, on one thread.",
        f"{machine()}. Seeds: {', '.join(map(str, seeds))}. Runs: {len(done)} verified by the"
        f" second path, {len(wrong)} that did not verify, {len(refused)} refused as infeasible.",
        "## Claims",
        markdown_table(claims(done)),
        TAXONOMIES,
    ]
    for figure, model, varied, measure, label in FIGURES:
        found = [run for run in of_figure(done, model, varied) if run[measure] != ""]
        if not found:
            continue
        parts += [f"## Fig. {figure}: {label} by {AXES[varied]}", _table(found, varied, measure)]
        lines: dict[str, list[tuple[float, float]]] = {}
        for key, values in _grouped(found, varied, measure).items():
            lines.setdefault(key[0], []).append((key[1], fmean(values)))
        where = folder.relative_to(RESULTS) / f"fig{figure}.png"
        line_plot(str(where), f"Fig. {figure}", AXES[varied], label, lines)
        parts.append(f"![Fig. {figure}](fig{figure}.png)")
    (folder / "README.md").write_text("\n\n".join(parts) + "\n")


TAXONOMIES = (
    "The paper does not print its taxonomies. `fine`: birth year by 5, 10 and 20 years, month by"
    " quarter and half, education in seven, two groups, race in five, two, marital status in"
    " three, two, poverty in three. `coarse`: year by 10 and 40, month by half, education, race,"
    " marital status in two, the others at once."
)


def _grouped(
    runs: Iterable[Run], varied: str, measure: str
) -> dict[tuple[str, float], list[float]]:
    found: dict[tuple[str, float], list[float]] = defaultdict(list)
    for run in runs:
        found[name_of(run), float(run[varied])].append(float(run[measure]))
    return dict(sorted(found.items()))


def _table(runs: Sequence[Run], varied: str, measure: str) -> str:
    grouped = _grouped(runs, varied, measure)
    names = sorted({name for name, _ in grouped})
    rows: list[dict[str, Any]] = []
    for value in sorted({value for _, value in grouped}):
        row: dict[str, Any] = {AXES[varied]: f"{value:g}"}
        row |= {name: _spread(grouped.get((name, value), [])) for name in names}
        rows.append(row)
    return markdown_table(rows)


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    mean = f"{fmean(values):.4g}"
    return f"{mean} ± {stdev(values):.2g}" if len(values) > 1 else mean


def claims(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The paper's ratios and courses beside those of the rerun."""
    rows: list[dict[str, Any]] = []

    def ratio(name: str, model: str, above: str, below: str, paper: str) -> None:
        for taxonomy in ("fine", "coarse") if above.startswith("GeneIR") else ("",):
            found = _ratios(runs, model, above, taxonomy, below, "nloss")
            shown = f"{min(found):.3f} to {max(found):.3f}" if found else ""
            label = f"{name} ({taxonomy} taxonomies)" if taxonomy else name
            rows.append({"claim": label, "paper": paper, "here": shown, "settings": len(found)})

    ratio("NLoss, GeneIR / DAnonyIR, IR (k,l)", "l", "GeneIR IR", "DAnonyIR IR", "1.92 to 2.68")
    ratio("NLoss, GeneIR / DAnonyIR, IR (α,β)", "ab", "GeneIR IR", "DAnonyIR IR", "2.02 to 3.04")
    ratio("NLoss, GeneIR IR / DAnonyIR EIR l", "l", "GeneIR IR", "DAnonyIR EIR", "1.86 to 2.63")
    ratio(
        "NLoss, GeneIR IR / DAnonyIR EIR (α,β)", "ab", "GeneIR IR", "DAnonyIR EIR", "1.98 to 2.92"
    )
    ratio("NLoss, EIR l / IR (k,l), DAnonyIR", "l", "DAnonyIR EIR", "DAnonyIR IR", "1.015 to 1.035")
    ratio("NLoss, EIR / IR (α,β), DAnonyIR", "ab", "DAnonyIR EIR", "DAnonyIR IR", "1.013 to 1.052")
    for figure, model, varied, paper in (
        ("vulnerable share by l", "l", "l", "rises"),
        ("vulnerable share by number of quasi-identifiers, IR (k,l)", "l", "d", "hardly changes"),
        ("vulnerable share by alpha", "ab", "alpha", "rises"),
        ("vulnerable share by beta", "ab", "beta", "falls"),
        ("vulnerable share by number of quasi-identifiers, IR (α,β)", "ab", "d", "hardly changes"),
    ):
        rows.append(
            {"claim": f"{figure}, DAnonyIR", "paper": paper,
             "here": _course(runs, model, varied, "vulnerable")}
        )  # fmt: skip
    higher = _pairs(runs, "DAnonyIR IR", "GeneIR IR", "vulnerable", lambda a, b: a > b)
    rows.append(
        {"claim": "vulnerable share higher for DAnonyIR", "paper": "always", "here": higher}
    )
    for measure in ("error_1", "error_all"):
        lower = _pairs(runs, "DAnonyIR IR", "GeneIR IR", measure, lambda a, b: a < b)
        claim = f"query error lower for DAnonyIR ({measure})"
        rows.append({"claim": claim, "paper": "always", "here": lower})
    falls = [
        float(run["error_all"]) < float(run["error_1"]) for run in runs if run["error_1"] != ""
    ]
    rows.append(
        {"claim": "query error falls with lambda", "paper": "yes",
         "here": f"{sum(falls)} of {len(falls)} runs"}
    )  # fmt: skip
    return rows


def _mean(runs: Iterable[Run], measure: str) -> dict[tuple[str, ...], float]:
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for run in runs:
        if run[measure] != "":
            key = (run["model"], run["l"], run["alpha"], run["beta"], run["d"])
            found[key].append(float(run[measure]))
    return {key: fmean(values) for key, values in found.items()}


def _ratios(
    runs: Sequence[Run], model: str, above: str, taxonomy: str, below: str, measure: str
) -> list[float]:
    upper = _mean((r for r in runs if r["series"] == above and r["taxonomy"] == taxonomy), measure)
    lower = _mean((r for r in runs if r["series"] == below), measure)
    return [upper[key] / lower[key] for key in upper if key in lower and key[0] == model]


def _course(runs: Sequence[Run], model: str, varied: str, measure: str) -> str:
    mine = [run for run in of_figure(runs, model, varied) if run["series"] == "DAnonyIR IR"]
    grouped = _grouped((r for r in mine if r[measure] != ""), varied, measure)
    return ", ".join(f"{value:g}: {fmean(found):.3f}" for (_, value), found in grouped.items())


def _pairs(
    runs: Sequence[Run], one: str, other: str, measure: str, better: Callable[[float, float], bool]
) -> str:
    mine = _mean((run for run in runs if run["series"] == one), measure)
    counted = [0, 0]
    for taxonomy in ("fine", "coarse"):
        theirs = _mean(
            (r for r in runs if r["series"] == other and r["taxonomy"] == taxonomy), measure
        )
        for key in mine.keys() & theirs.keys():
            counted[better(mine[key], theirs[key])] += 1
    return f"{counted[1]} of {sum(counted)} settings"
