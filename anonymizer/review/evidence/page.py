"""A page of evidence: one HTML file without script or network, or Markdown for wikis."""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.policy.kinds import kind_words
from anonymizer.process.html import environment
from anonymizer.process.text import figure
from anonymizer.review.evidence.content import Evidence
from anonymizer.review.evidence.entries import (
    Cell,
    Compared,
    Entry,
    Open,
    Rows,
    Stated,
    Value,
    Words,
)
from anonymizer.review.report.markdown import cell, table

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
