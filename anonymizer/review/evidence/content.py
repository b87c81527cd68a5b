"""A page of evidence as data, from which HTML, Markdown and JSON are rendered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from anonymizer.errors import PolicyError
from anonymizer.process.text import many
from anonymizer.review.evidence.entries import Compared, Entry, Open
from anonymizer.review.evidence.facts import Facts
from anonymizer.review.evidence.standard import Standard
from anonymizer.review.evidence.standards import STANDARDS
from anonymizer.review.report.content import Report

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause with its entries."""

    number: str
    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The report of a release, arranged by a standard."""

    standard: Standard
    report: Report
    clauses: tuple[Clause, ...]

    def _of(self, kind: type[T]) -> list[tuple[Clause, T]]:
        return [(c, entry) for c in self.clauses for entry in c.entries if isinstance(entry, kind)]

    @property
    def open(self) -> tuple[tuple[Clause, Open], ...]:
        """Fields that nobody has filled in."""
        return tuple(self._of(Open))

    @property
    def above(self) -> tuple[tuple[Clause, Compared], ...]:
        """The figures that are above a threshold."""
        return tuple((clause, entry) for clause, entry in self._of(Compared) if not entry.holds)

    @property
    def says(self) -> str:
        """The sentence about open fields at the top of the page."""
        if not self.open:
            return "Every field of this page is filled in. Who signs it answers for what it says."
        fields = many(len(self.open), "field is", "fields are")
        return f"{fields} open: this page is not complete until a person has filled them in."

    def as_dict(self) -> dict[str, Any]:
        """Plain data for programs."""
        return {
            "standard": self.standard.name,
            "title": self.standard.title,
            "source": self.standard.source,
            "view": self.report.manifest["view"],
            "run_id": self.report.manifest["run_id"],
            "created": self.report.manifest["created"],
            "policy_digest": self.report.manifest["policy_digest"],
            "kind": self.report.kind,
            "passed": self.report.verification.passed,
            "verdict": self.report.verdict.says,
            "says": self.says,
            "open": [
                {"clause": clause.number, "says": entry.says, "how": entry.how}
                for clause, entry in self.open
            ],
            "above_threshold": [
                {"clause": clause.number, **entry.as_dict()} for clause, entry in self.above
            ],
            "sections": [
                {
                    "clause": clause.number,
                    "title": clause.title,
                    "entries": [entry.as_dict() for entry in clause.entries],
                }
                for clause in self.clauses
            ],
            "warnings": list(self.report.warnings),
        }


def collect_evidence(report: Report, name: str) -> Evidence:
    """Arrange a report by a standard, given the standard's name.

    Raises PolicyError if there is no such standard, or if it does not apply to the release.
    """
    standard = STANDARDS.get(name)
    if standard is None:
        allowed = ", ".join(STANDARDS)
        raise PolicyError.at("--as", "is not a standard with a page", allowed=allowed)
    facts = Facts(report)
    lacking = standard.refuses(facts)
    if lacking is not None:
        raise PolicyError.at("--as", lacking, hint="another standard, or another policy")
    return Evidence(standard, report, tuple(_clauses(standard, facts)))


def _clauses(standard: Standard, facts: Facts) -> Iterator[Clause]:
    for section in standard.sections:
        entries = tuple(entry for part in section.parts for entry in part.entries(facts))
        yield Clause(section.clause, section.title, entries)
