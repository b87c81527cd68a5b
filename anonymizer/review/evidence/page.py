"""A page of evidence as one HTML file: no script, no network, readable on a phone and in print."""

from __future__ import annotations

from anonymizer.policy.kinds import kind_words
from anonymizer.process.html import environment
from anonymizer.review.evidence.content import Evidence
from anonymizer.review.evidence.entries import Value


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
