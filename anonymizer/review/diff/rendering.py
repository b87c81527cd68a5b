"""A comparison as tables, for a terminal and for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.process.text import figure, printable, table
from anonymizer.review.diff.comparison import Change, Comparison

HEAD = ("", "old", "new", "")


@dataclass(frozen=True, slots=True)
class Part:
    """One table with its title; `all_rows` includes unchanged rows."""

    title: str
    changes: Sequence[Change]
    all_rows: bool = False

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (change.what, shown(change.old), shown(change.new), _mark(change))
            for change in self.changes
            if self.all_rows or change.changed
        ]


def parts(found: Comparison) -> Iterator[Part]:
    """All tables that are not empty."""
    for part in (
        Part("tables", found.tables),
        Part("roles", found.roles),
        Part("settings", found.settings),
        Part("guarantees", found.required, all_rows=True),
        Part("reached", found.achieved, all_rows=True),
        Part("release", found.figures, all_rows=True),
        Part("loss per column (NCP, 0 exact, 1 nothing left)", found.losses, all_rows=True),
        Part("persons found by somebody who knows their class and", found.observers, all_rows=True),
    ):
        if part.rows:
            yield part


def shown(value: Any) -> str:
    """One side of a change as a short text."""
    if isinstance(value, dict) and "holds" in value:
        return figure(value["reaches"]) + ("" if value["holds"] else " (does not hold)")
    return figure(value)


def _mark(change: Change) -> str:
    old, new = change.old, change.new
    if isinstance(old, dict) and isinstance(new, dict):
        old, new = old.get("reaches"), new.get("reaches")
    if not change.changed:
        return "="
    if isinstance(old, int | float) and isinstance(new, int | float):
        return f"{new - old:+.4g}"
    return "new" if old is None else "gone" if new is None else "changed"


def verdict(found: Comparison) -> str:
    """One line: whether the new policy can be used."""
    if found.unclassified:
        listed = ", ".join(found.unclassified)
        return f"The new policy cannot be taken: no policy classifies {listed}."
    if not found.new.runs:
        return "The new policy cannot run."
    if not found.new.holds:
        return "The new policy runs, and a guarantee or limit does not hold."
    compared = (*found.tables, *found.roles, *found.settings, *found.required)
    if not any(change.changed for change in compared):
        return "The policies are the same in everything that is compared."
    return "The new policy runs, and everything holds."


def text_lines(found: Comparison) -> Iterator[str]:
    """Lines for a terminal."""
    yield from _replaced(found)
    yield from _problems(found)
    yield verdict(found)
    for part in parts(found):
        yield ""
        yield part.title
        yield from table(HEAD, part.rows)


def _problems(found: Comparison) -> Iterator[str]:
    """Why a policy cannot run; shown before the verdict, which depends on it."""
    for name, side in (("old", found.old), ("new", found.new)):
        for problem in side.problems:
            yield f"{name} policy: {problem}"


def markdown_lines(found: Comparison) -> Iterator[str]:
    """Lines for a comment on a pull request; names may contain any character."""
    for said in _replaced(found):
        yield f"**{cell(said)}**"
        yield ""
    yield "### What this change of policy does"
    yield ""
    lines = [f"- {cell(problem)}" for problem in _problems(found)]
    if lines:
        yield from lines
        yield ""
    yield cell(verdict(found))
    for part in parts(found):
        yield ""
        yield f"**{part.title}**"
        yield ""
        yield "| | old | new | |"
        yield "| --- | --- | --- | --- |"
        for row in part.rows:
            yield "| " + " | ".join(map(cell, row)) + " |"
    yield ""
    yield "Both policies were run aside, on the same data with the same draws; nothing was written."


def _replaced(found: Comparison) -> Iterator[str]:
    """What a run would replace; shown before everything else."""
    for name, side in (("new", found.new), ("old", found.old)):
        for replaced in side.replaces:
            if name == "new" or replaced not in found.new.replaces:
                yield f"A run of the {name} policy replaces: {replaced}"


def cell(text: str) -> str:
    """Escape text so that Markdown shows it unchanged, on one line."""
    plain = printable(text, keep="")
    for char in "\\`*_{}[]<>#|":
        plain = plain.replace(char, "\\" + char)
    return plain
