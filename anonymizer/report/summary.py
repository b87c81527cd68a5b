"""A release in a notebook: a small table of what holds and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymizer.release.manifest import shown_measures
from anonymizer.report.page import environment
from anonymizer.report.words import MEASURES

if TYPE_CHECKING:
    from anonymizer.release.release import Release


def summary(release: Release) -> str:
    """HTML without rows or values, with every text escaped."""
    return (
        environment()
        .get_template("report/summary.html.j2")
        .render(
            release=release,
            checks=[check for check in release.verification.checks if check.required != 0],
            rest=sum(check.required == 0 for check in release.verification.checks),
            measures=[
                (MEASURES[name], value)
                for name, value in shown_measures(release.measures, release.manifest.layout).items()
                if name in MEASURES and value is not None
            ],
            certificate=str(release.manifest.data["certificate"]),
            reproducible=bool(release.manifest.data["reproducible"]),
        )
    )
