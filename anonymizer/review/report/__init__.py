"""The report of a release: HTML with charts, Markdown, or plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from anonymizer.engines.base import Limits
    from anonymizer.policy import AnyPolicy
    from anonymizer.process.document import Document
    from anonymizer.review.counts_report import CountsReport
    from anonymizer.review.report.content import Report

__all__ = ["write_report"]


def write_report(
    policy: AnyPolicy,
    target: str | Path,
    *,
    database: str | Path | None = None,
    source: str | Path | None = None,
    attacks: bool = False,
    earlier: str | Path | None = None,
    standard: str | None = None,
    limits: Limits | None = None,
) -> None:
    """Write the report of a release to `target`; its suffix gives the format: .html, .docx, .md,
    .json.

    `database`: the release (default: publish.database of the policy); `source`: the database it
    was made from, for the figures before. `attacks`: run the attacks; `earlier`: also together with
    this earlier release. `standard`: arrange the figures by the clauses of a standard
    (`anonymizer.review.evidence`). `limits`: as for `run`. Raises NothingToCheckError if there is
    no release.
    """
    from pathlib import Path

    from anonymizer.policy.referenced_files import refuse_files
    from anonymizer.process.files import write_bytes

    refuse_files(Path(target), [policy], filter(None, (database, source, earlier)), "target")
    options = {"attacks": attacks, "earlier": earlier, "limits": limits}
    found = collected(policy, database, source, **options)
    write_bytes(str(target), rendered_bytes(found, form_of(target), standard))


def collected(
    policy: AnyPolicy, database: str | Path | None, source: str | Path | None, **options: Any
) -> Report | CountsReport:
    """Collect the report of a release, of rows or of counts; `options` are those of `collect`."""
    from anonymizer.review.counts_report import collect_counts
    from anonymizer.review.report.content import collect

    if policy.counts is None:
        return collect(policy, database, source, **options)
    if options.get("attacks") or options.get("earlier") is not None:
        policy.one_table("report --attack")
    return collect_counts(policy.counts, database, source, options.get("limits"))


def form_of(target: str | Path) -> str:
    """Return `html`, `docx`, `md` or `json`, by the suffix of a file."""
    from pathlib import Path

    suffix = Path(target).suffix.lower().lstrip(".")
    return {"htm": "html", "markdown": "md"}.get(suffix, suffix)


def rendered(report: Report | CountsReport, form: str, standard: str | None = None) -> str:
    """Render a collected report as text, or as the page of a standard.

    Raises TargetError for an unknown form, PolicyError for a standard without a page.
    """
    import json

    from anonymizer.errors import TargetError
    from anonymizer.process.document import html, markdown
    from anonymizer.process.text import json_value

    data, document = _arranged(report, standard)
    match form:
        case "json":
            return json.dumps(json_value(data.as_dict()), indent=2, allow_nan=False) + "\n"
        case "html":
            return html(document)
        case "md":
            return markdown(document)
    raise TargetError.at("-o", "has an unknown format", allowed="*.html, *.docx, *.md, *.json")


def rendered_bytes(report: Report | CountsReport, form: str, standard: str | None = None) -> bytes:
    """Render a collected report as the content of a file; `docx` needs the extra docx.

    Raises TargetError for an unknown form, PolicyError for a standard without a page, EngineError
    without the library for docx.
    """
    if form != "docx":
        return rendered(report, form, standard).encode()
    from anonymizer.process.word_document import word

    return word(_arranged(report, standard)[1])


def _arranged(report: Report | CountsReport, standard: str | None) -> tuple[Any, Document]:
    """The data of a report, or of the page of a standard, and its document."""
    from anonymizer.review.counts_report import CountsReport
    from anonymizer.review.evidence import collect_evidence
    from anonymizer.review.report import page

    if isinstance(report, CountsReport):
        if standard is not None:
            report.policy.one_table("report --as")
        return report, report.document()
    if standard is None:
        return report, page.document(report)
    found = collect_evidence(report, standard)
    return found, found.document()
