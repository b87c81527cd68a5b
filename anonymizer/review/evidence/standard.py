"""A standard: its clauses, and the contents of the page under each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anonymizer.review.evidence.facts import Facts
from anonymizer.review.evidence.parts import Part


@dataclass(frozen=True, slots=True)
class Section:
    """A clause of a standard, and the contents of the page under it."""

    clause: str
    title: str
    parts: tuple[Part, ...]


def section(clause: str, title: str, *parts: Part) -> Section:
    """Create a clause with its parts."""
    return Section(clause, title, parts)


@dataclass(frozen=True, slots=True)
class Standard:
    """A standard under its own headings."""

    name: str
    title: str
    source: str
    """The text that its clauses are taken from."""
    says: str
    """What the page is, and what it is not."""
    sections: tuple[Section, ...]
    refuses: Callable[[Facts], str | None] = lambda facts: None
    """Why the standard does not apply to a release; None if it does."""
