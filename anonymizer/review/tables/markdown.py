"""A report on several tables as Markdown: the same parts without pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from anonymizer.contract.checks import verdict
from anonymizer.policy.kinds import kind_words
from anonymizer.process.text import printable, table
from anonymizer.review.report.page import percent
from anonymizer.review.tables.report import TablesReport


def markdown(report: TablesReport) -> str:
    """The whole report."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: TablesReport) -> Iterator[str]:
    yield f"# Privacy report: {printable(report.view)}"
    yield ""
    yield f"Kind of release: **{kind_words(report.kind)}**."
    yield ""
    yield f"Run `{report.run_id}`, {report.created}. **{report.says}**"
    if report.little:
        yield ""
    yield from (f"- {printable(str(one), keep='')}" for one in report.little)
    for warning in report.warnings:
        yield f"\n**Note: {warning}.**"
    for title, heads, rows in _tables(report):
        yield ""
        yield f"## {title}"
        yield ""
        yield "```text"
        yield from table(heads, rows)
        yield "```"
    yield ""
    yield from (f"- {said}" for said in report.open)
    yield "\n## What it does not promise\n"
    yield report.certificate
    yield ""
    yield from (f"- {printable(said, keep='')}" for said in report.attacks)


def _tables(report: TablesReport) -> Iterator[tuple[str, Sequence[str], list[Sequence[object]]]]:
    """Title, header and rows of each table."""
    yield (
        "Tables",
        ("table", "links to", "rows", "left out", "lost"),
        [
            (one.name, one.above or "-", one.rows, one.suppressed, _losses(one.lost))
            for one in report.tables
        ],
    )
    yield (
        "What is published",
        ("table", "column", "role", "what is done with it"),
        [(one["table"], one["column"], one["role"], one["says"]) for one in report.columns],
    )
    yield (
        "What observers are left with",
        ("known besides the class", "alone", f"below {report.k}", "fewest", "promised"),
        [
            (one.knows, one.alone, one.below, one.fewest, str(report.k) if one.promised else "-")
            for one in report.after
        ],
    )
    yield (
        "Guarantees",
        ("guarantee", "column", "required", "reached", ""),
        [
            (c.name, c.column or "-", c.required, c.achieved, verdict(c))
            for c in report.verification.guarantees
        ],
    )


def _losses(lost: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{column} {percent(loss)}" for column, loss in lost) or "-"
