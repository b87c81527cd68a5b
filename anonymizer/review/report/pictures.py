"""Charts of a report, drawn by matplotlib as SVG: they stay sharp on a phone and in print."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from anonymizer.process.document import Chart, Picture, Rows
from anonymizer.review.report.distributions import LITTLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEFORE = "#b4532a"
AFTER = "#1f5f8b"
"""Contrast above 4.5 to white; distinct for colour-blind readers, and by lightness in print."""
INK = "#333333"
LINES = "#888888"
DARK = {BEFORE: "#f0a37f", AFTER: "#5f9fce", INK: "#dbe4ec"}
"""The colours on a dark page: contrast above 4.5 to its background, and distinct as well."""
STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": LINES,
    "svg.fonttype": "none",
    "svg.hashsalt": "anonymizer",
}
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
"""Steps of shares from one percent."""
LONGEST_LABEL = 24
WIDTH, LEFT, TOP, BOTTOM = 4.0, 1.7, 0.35, 0.5
"""Inches: the width of a phone, so that letters keep their size there."""


@dataclass(frozen=True, slots=True)
class Bars(Chart):
    """Shares of what is named, before and after, as horizontal bars."""

    title: str
    what: str
    bars: tuple[tuple[str, float | None, float | None], ...]
    axis: str

    def figures(self) -> Rows:
        rows = tuple((label, percent(b), percent(a)) for label, b, a in self.bars)
        return Rows("", (self.what, "before", "after"), rows)

    def picture(self) -> Picture:
        said = ", ".join(
            f"{label}: " + " then ".join(percent(v) for v in values if v is not None)
            for label, *values in self.bars
        )
        labels, before, after = zip(*self.bars, strict=True)
        return bars(labels, before, after, alt=f"{self.title}. {said}.", axis=self.axis)


def bars(
    labels: Sequence[str],
    before: Sequence[float | None],
    after: Sequence[float | None],
    *,
    alt: str,
    axis: str,
) -> Picture:
    """Horizontal bars, one pair per label; a side without figures is left out."""
    import matplotlib
    from matplotlib.figure import Figure

    series = (("before", before, BEFORE), ("after", after, AFTER))
    shown = [(n, v, c) for n, v, c in series if any(x is not None for x in v)]
    with matplotlib.rc_context(STYLE):
        # positioned by hand: a layout engine draws everything twice
        bars_high = len(labels) * (0.38 if len(shown) > 1 else 0.29)
        height = TOP + bars_high + BOTTOM
        figure = Figure(figsize=(WIDTH, height))
        place = (LEFT / WIDTH, BOTTOM / height, (WIDTH - LEFT - 0.1) / WIDTH, bars_high / height)
        axes = figure.add_axes(place)
        thick = 0.8 / max(len(shown), 1)
        for at, (name, values, colour) in enumerate(shown):
            places = [i - 0.4 + thick * (at + 0.5) for i in range(len(labels))]
            numbers = [100 * (v or 0) for v in values]
            drawn = axes.barh(places, numbers, height=thick, color=colour, label=name)
            texts = ["" if v is None else percent(v) for v in values]
            axes.bar_label(drawn, texts, padding=2, fontsize=7.5)
        axes.set_yticks(range(len(labels)), [_short(label) for label in labels])
        axes.invert_yaxis()
        axes.set_xlabel(axis, x=0.5 - LEFT / 2 / (WIDTH - LEFT))
        axes.margins(x=0.16, y=0.01)
        axes.tick_params(length=0)
        if len(shown) > 1:
            axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)
        return _picture(figure, alt)


def points(
    title: str,
    x: str,
    y: str,
    groups: Sequence[tuple[str, Sequence[tuple[float, float, str]]]],
    front: Sequence[tuple[float, float]],
) -> Figure:
    """A scatter of labelled points by group, with the Pareto front as a line."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.add_subplot()
        if front:
            axes.plot(*zip(*sorted(front), strict=True), color="#999999", linewidth=1, zorder=1)
        for (name, listed), marker in zip(groups, "os^vDP*X<>" * 3, strict=False):
            axes.scatter([p[0] for p in listed], [p[1] for p in listed], marker=marker, label=name)
            for px, py, label in listed:
                axes.annotate(label, (px, py), (4, 4), textcoords="offset points", fontsize=7)
        axes.set(title=title, xlabel=x, ylabel=y)
        axes.grid(alpha=0.25)
        axes.margins(0.12)
        axes.legend(frameon=False)
        return figure


def save(figure: Figure, target: str) -> None:
    """Write a figure; the suffix gives the format (.svg, .png, .pdf)."""
    figure.savefig(target, dpi=150, metadata={"Date": None} if target.endswith(".svg") else None)


def _picture(figure: Figure, alt: str) -> Picture:
    text = StringIO()
    nothing: dict[str, Any] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with warnings.catch_warnings():
        # letters are drawn with the reader's fonts, not with those measured here
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(text, format="svg", metadata=nothing, transparent=True)
    width, height = figure.get_size_inches()
    encoded = base64.b64encode(_for_both(text.getvalue()).encode()).decode()
    return Picture(
        f"data:image/svg+xml;base64,{encoded}", alt, round(96 * width), round(96 * height)
    )


def _for_both(svg: str) -> str:
    """An image whose colours are those of a light page or of a dark one, as its reader prefers."""
    light, dark = "", ""
    for number, (colour, other) in enumerate(DARK.items()):
        svg = svg.replace(colour, f"var(--c{number})")
        light, dark = f"{light}--c{number}: {colour}; ", f"{dark}--c{number}: {other}; "
    rules = f":root {{ {light}}} @media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}"
    head, tag, rest = svg.partition("<defs>")
    return f"{head}<style>{rules}</style>{tag}{rest}"


def percent(value: float | None) -> str:
    """A share in percent, or "less than" one rounding step."""
    if value is None:
        return "–"
    if 0 < value < 0.0005:
        return "<0.1 %"
    text = f"{100 * value:.1f} %".replace(".0 %", " %")
    return next(
        (f"<{s:.0%}".replace("%", " %") for s in STEPS if value == round(s * LITTLE, 5)), text
    )


def _short(label: str) -> str:
    """Shorten a label to fit, and keep matplotlib from reading it as mathematics."""
    cut = label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"
    return cut.replace("$", r"\$")
