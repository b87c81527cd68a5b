"""A report as Markdown: the same parts without charts, for wikis and pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from anonymizer.policy.kinds import kind_words
from anonymizer.process.text import figure, printable
from anonymizer.release.certificate import SAFE_HARBOR
from anonymizer.review.report.content import Report
from anonymizer.review.report.page import percent, risk_rows, share, size_rows, utility_rows
from anonymizer.review.report.words import attack_sentences, moved_sentence

RETURNS = (
    "Anybody who has the release can run these statements on it; each returns the classes or"
    " buckets that break a condition, and no row where it holds."
)


def markdown(report: Report) -> str:
    """The whole report."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield from _head(report)
    yield from _policy_lines(report)
    yield from _risk_lines(report)
    yield from _column_lines(report)
    yield "\n## What it cost: utility\n"
    yield from table(("measure", "value"), list(utility_rows(report)))
    yield from _query_lines(report)
    yield "\n## What it does not promise\n"
    yield report.certificate + "\n"
    for attack in report.attacks:
        yield f"- {attack}"
    yield "\n## The SQL to check it\n"
    yield RETURNS
    for check in report.verification.checks:
        name = check.name + (f": {cell(check.column)}" if check.column else "")
        yield f"\n{name}\n\n```sql\n{check.sql};\n```"


def _head(report: Report) -> Iterator[str]:
    manifest, verdict = report.manifest, report.verdict
    yield f"# Privacy report: {cell(str(manifest['view']))}"
    yield ""
    yield f"Kind of release: **{kind_words(report.kind)}**."
    yield ""
    yield f"Run `{manifest['run_id']}`, {manifest['created']}. **{cell(verdict.says)}**"
    if verdict.reasons:
        yield ""
    yield from (f"- {cell(reason)}" for reason in verdict.reasons)
    if report.attacked is not None:
        yield ""
        yield from (f"- {cell(said)}" for said in attack_sentences(report.attacked))
    for warning in report.warnings:
        yield f"\n**Note: {cell(warning)}.**"


def _policy_lines(report: Report) -> Iterator[str]:
    yield "\n## The policy in words\n"
    for sentence in report.guarantees:
        yield f"- {cell(sentence)}"
    yield ""
    columns = [(code(c["column"]), c["role"], cell(c["says"])) for c in report.columns]
    yield from table(("column", "role", "meaning"), columns)
    if report.safe_harbor:
        yield "\n## Safe Harbor: the eighteen identifiers\n"
        yield f"{SAFE_HARBOR}\n"
        eighteen = [(letter, says, cell(done)) for letter, says, done in report.safe_harbor]
        yield from table(("45 CFR 164.514(b)(2)(i)", "identifier", "what was done"), eighteen)
    yield "\n## Guarantees required and achieved\n"
    checks = [
        (c.name, cell(c.column or "-"), figure(c.required), figure(c.achieved),
         "holds" if c.passed else "**does not hold**")
        for c in report.verification.guarantees
    ]  # fmt: skip
    yield from table(("guarantee", "column", "required", "achieved", "verdict"), checks)


def _risk_lines(report: Report) -> Iterator[str]:
    yield "\n## Risk of re-identification\n"
    if not report.has_source:
        yield "The source was not at hand: nothing can be said of the time before.\n"
    yield from table(
        ("figure", "before", "after"), [(s, b or "-", a) for s, b, a in risk_rows(report)]
    )
    yield f"\n## Class sizes: percent of {report.unit}\n"
    sizes = [(label, percent(b), percent(a)) for label, b, a in size_rows(report)]
    yield from table(("in a class of", "before", "after"), sizes)


def _column_lines(report: Report) -> Iterator[str]:
    yield "\n## Every column: percent of rows\n"
    yield f"Nothing is shown that fewer than {report.floor} {report.unit} have; shares are rounded."
    for found in report.distributions:
        yield f"\n### {code(found.column)}\n"
        if found.distance is not None:
            yield f"{moved_sentence(found)}.\n"
        if found.unit != "rows":
            yield f"In percent of {found.unit}: their values are published once.\n"
        bars = [(cell(b.label), share(b.before), share(b.after)) for b in found.bars]
        yield from table(("value", "before", "after"), bars)


def _query_lines(report: Report) -> Iterator[str]:
    if report.counts is not None:
        yield (
            f"\n{report.counts.queries} random count queries over {report.counts.least}"
            f" {report.unit} or more: median error {report.counts.median},"
            f" mean {report.counts.mean}."
        )
    if report.workload:
        yield "\nQueries of the policy:\n"
        rows = [
            (code(a.sql), a.problem or a.median_error or "-", a.total_error or "-")
            for a in report.workload
        ]
        yield from table(("query", "median error", "error in total"), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table with its header."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def cell(text: str) -> str:
    """Text escaped for tables and HTML."""
    plain = printable(" ".join(text.split()), keep="")
    return plain.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def code(text: str) -> str:
    """A name or query as code; only what would end a table's cell is escaped.

    The fence is longer than any run of backticks within (CommonMark 0.31, code spans).
    """
    plain = printable(" ".join(text.split()), keep="").replace("|", "\\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", plain)), default=0))
    inner = f" {plain} " if plain.startswith("`") or plain.endswith("`") else plain
    return f"{fence}{inner}{fence}"
