"""Checks and measures as lines of text, and failed checks as problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from anonymizer.contract.checks import UNVERIFIED, Verification, verdict
from anonymizer.errors import Problem
from anonymizer.process.text import figure, many, table

if TYPE_CHECKING:
    from anonymizer.policy import AnyPolicy
    from anonymizer.release.published import Release


def check_lines(verification: Verification, *, source: bool = False) -> Iterator[str]:
    """Each guarantee on a line; passed conditions of form (required: 0) only as a count.

    `source`: whether the checks include those against the source, which only a run can make.
    """
    shown = [c for c in verification.checks if not (c.form and c.passed)]
    rows = [(c.name, c.column or "-", c.required, c.achieved, verdict(c)) for c in shown]
    if rows:
        yield from table(("guarantee", "column", "required", "achieved", ""), rows)
    else:
        yield "  no guarantee is promised"
    rest = len(verification.checks) - len(shown)
    if rest:
        hold = "holds" if rest == 1 else "hold"
        form = "of form and against the source" if source else "of form"
        yield f"  and {many(rest, 'check')} {form} {hold}"
    for item in verification.not_checked:
        yield f"  NOT CHECKED: {item.name} {item.reason}"
    yield from unverified_lines(verification.unverified)


def unverified_lines(names: Iterable[str]) -> Iterator[str]:
    """What a manifest states, and verifying the release again does not show."""
    listed = ", ".join(names)
    if listed:
        yield f"  {UNVERIFIED}: {listed}"


def table_lines(release: Release) -> Iterator[str]:
    """The tables of a release of several tables, the persons' table first."""
    yield from table(
        ("table", "published as", "rows", "suppressed", "lost (NCP)"),
        [
            (name, release.tables[name], one["rows"], one["suppressed"], one["ncp"])
            for name, one in release.measured.items()
        ],
    )


def failed_checks(verification: Verification, policy: AnyPolicy | None = None) -> list[Problem]:
    """The failed checks with their figures; the check's own SQL finds the classes."""
    from anonymizer.policy import SchemaPolicy
    from anonymizer.release.judge import path_of
    from anonymizer.release.tables_judge import path_in_tables

    return [
        Problem(
            path_in_tables(policy, check.name, check.column)
            if isinstance(policy, SchemaPolicy)
            else path_of(check.name, check.column),
            f"{check.name} requires {figure(check.required)}, the release reaches"
            f" {figure(check.achieved)}",
            hint="the check's SQL (--format json) lists the classes that break it",
        )
        for check in verification.failed
    ] or [Problem("privacy", "nothing could be verified")]
