"""The report of a release: HTML with pictures, Markdown, or plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from anonymizer.policy import Policy

__all__ = ["write_report"]


def write_report(
    policy: Policy,
    target: str | Path,
    *,
    database: str | Path | None = None,
    source: str | Path | None = None,
) -> None:
    """Write the report of a release as `target`; its suffix tells the form: .html, .md, .json.

    `database`: the release (default: publish.database of the policy); `source`: the database it
    was made from, for what was before. Raises NothingToCheckError where there is no release.
    """
    from anonymizer.commands.options import write_text
    from anonymizer.report.content import collect

    write_text(str(target), rendered(collect(policy, database, source), form_of(target)))


def form_of(target: str | Path) -> str:
    """`html`, `md` or `json`, by the suffix of a file."""
    from pathlib import Path

    suffix = Path(target).suffix.lower().lstrip(".")
    return {"htm": "html", "markdown": "md"}.get(suffix, suffix)


def rendered(report: object, form: str) -> str:
    """A collected report as text. Raises TargetError for a form that there is not."""
    import json

    from anonymizer.commands.output import plain
    from anonymizer.errors import Problem, TargetError
    from anonymizer.report.content import Report
    from anonymizer.report.markdown import markdown
    from anonymizer.report.page import html

    assert isinstance(report, Report)
    match form:
        case "html":
            return html(report)
        case "md":
            return markdown(report)
        case "json":
            return json.dumps(plain(report.as_dict()), indent=2, allow_nan=False) + "\n"
    raise TargetError(Problem("-o", "does not tell a form", allowed="*.html, *.md, *.json"))
