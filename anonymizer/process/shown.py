"""Displays results in Python and notebooks: a title, a few facts, bars for shares, but no rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anonymizer.process.text import figure, printable

MOST_LINES = 8
"""Most facts that a `repr` lists."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One line: its name, its figure, and the length of its bar."""

    name: str
    value: str
    share: float | None = None
    """Between 0 and 1; None for no bar."""


def fact(name: str, value: object, share: float | None = None) -> Fact:
    """A fact with its figure formatted as in tables and reports."""
    return Fact(name, figure(value), share)


def as_text(title: str, facts: Iterable[Fact]) -> str:
    """A title and facts as at most ten lines of text."""
    listed = list(facts)
    width = max((len(f.name) for f in listed[:MOST_LINES]), default=0)
    lines = [title, *(f"  {f.name:<{width}}  {f.value}" for f in listed[:MOST_LINES])]
    if len(listed) > MOST_LINES:
        lines.append(f"  and {len(listed) - MOST_LINES} more")
    return printable("\n".join(lines))


def as_html(title: str, facts: Iterable[Fact], note: str = "") -> str:
    """A title and facts as an HTML table with bars, with all texts escaped."""
    from anonymizer.process.html import environment

    template = environment().get_template("report/shown.html.j2")
    return template.render(title=title, facts=list(facts), note=note)
