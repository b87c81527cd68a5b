"""Display of a release in a notebook: a small table of guarantees and measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymizer.measure.words import measure_words
from anonymizer.policy.kinds import kind_words
from anonymizer.process.html import environment
from anonymizer.release.manifest import shown_measures

if TYPE_CHECKING:
    from anonymizer.release.published import Release


def summary(release: Release) -> str:
    """HTML without rows or values, with every text escaped."""
    words = measure_words(release.manifest.layout)
    return (
        environment()
        .get_template("report/summary.html.j2")
        .render(
            release=release,
            kind=kind_words(release.kind),
            checks=release.verification.guarantees,
            rest=len(release.verification.form),
            measures=[
                (words[name], value)
                for name, value in shown_measures(release.measures, release.manifest.layout).items()
                if name in words and value is not None
            ],
            certificate=str(release.manifest.data["certificate"]),
            reproducible=bool(release.manifest.data["reproducible"]),
        )
    )
