"""A standard: its clauses, and what a page says under each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anonymizer.review.evidence.facts import Facts
from anonymizer.review.evidence.parts import Part


@dataclass(frozen=True, slots=True)
class Section:
    """A clause of a standard, and what the page says under it."""

    clause: str
    title: str
    parts: tuple[Part, ...]


def section(clause: str, title: str, *parts: Part) -> Section:
    """A clause with its parts."""
    return Section(clause, title, parts)


@dataclass(frozen=True, slots=True)
class Standard:
    """A standard in its own headings."""

    name: str
    title: str
    source: str
    """The text that its clauses are of."""
    says: str
    """What the page is, and what it is not."""
    sections: tuple[Section, ...]
    refuses: Callable[[Facts], str | None] = lambda facts: None
    """Why it has nothing to say of a release; None where it has."""
