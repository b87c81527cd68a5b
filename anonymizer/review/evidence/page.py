"""A page of evidence as data, and as HTML or Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from anonymizer.errors import PolicyError
from anonymizer.policy.kinds import kind_words
from anonymizer.process.text import environment, figure, many
from anonymizer.review.evidence.parts import (
    Cell,
    Compared,
    Entry,
    Facts,
    Open,
    Rows,
    Standard,
    Stated,
    Value,
    Words,
)
from anonymizer.review.evidence.standards import STANDARDS
from anonymizer.review.report.content import Report
from anonymizer.review.report.page import cell, table

# A page of evidence as data, from which HTML, Markdown and JSON are rendered.


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


# A page of evidence: one HTML file without script or network, or Markdown for wikis.


OPEN = "☐ **OPEN**"


def html(evidence: Evidence) -> str:
    """The whole page."""
    template = environment().get_template("evidence/page.html.j2")
    report = evidence.report
    return template.render(
        evidence=evidence,
        standard=evidence.standard,
        report=report,
        manifest=report.manifest,
        verdict=report.verdict,
        kind=kind_words(report.kind),
        is_value=lambda cell: isinstance(cell, Value),
    )


def markdown(evidence: Evidence) -> str:
    """The whole page."""
    return "\n".join(_lines(evidence)) + "\n"


def _lines(evidence: Evidence) -> Iterator[str]:
    report, manifest = evidence.report, evidence.report.manifest
    yield f"# {evidence.standard.title}"
    yield f"\n**{evidence.says}**\n"
    yield from (f"- {OPEN} {clause.number}: {cell(entry.says)}" for clause, entry in evidence.open)
    for clause, high in evidence.above:
        said = f"{clause.number}: {cell(high.says)}: {_text(high.value)}"
        yield f"\n**Above the threshold, {said}.**"
    yield f"\nRelease `{cell(str(manifest['view']))}`, {kind_words(report.kind)}."
    yield f"Run `{manifest['run_id']}`, {manifest['created']}."
    yield f"Policy digest (SHA-256) `{manifest['policy_digest']}`."
    yield f"\n**{cell(report.verdict.says)}**"
    for warning in report.warnings:
        yield f"\n**Note: {cell(warning)}.**"
    yield f"\n{evidence.standard.says}"
    yield f"\nSource: {evidence.standard.source}."
    for clause in evidence.clauses:
        yield f"\n## {clause.number} {clause.title}"
        for entry in clause.entries:
            yield ""
            yield from _entry(entry)


def _entry(entry: Entry) -> Iterator[str]:
    match entry:
        case Rows():
            yield f"{entry.caption}:\n"
            yield from table(entry.head, [[_text(one) for one in row] for row in entry.rows])
        case Compared():
            holds = "at or below the threshold" if entry.holds else "**above the threshold**"
            yield f"{cell(entry.says)}: {_text(entry.value)}, {holds}."
        case Stated():
            yield f"{cell(entry.says)}:\n"
            yield from (f"> {cell(text)}" for text in entry.text)
        case Open():
            yield f"{OPEN} {cell(entry.says)}: ______________________ ({cell(entry.how)})"
        case Words():
            yield from (f"- {cell(sentence)}" for sentence in entry.sentences)


def _text(one: Cell) -> str:
    return figure(one.value) if isinstance(one, Value) else cell(one)
