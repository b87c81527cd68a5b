"""The report on a table of counts: what is published, what is left out, what holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.algorithms.aggregate.method import METHODS
from anonymizer.compile import ident, lit
from anonymizer.contract.checks import Verification
from anonymizer.contract.counts_layout import Counts
from anonymizer.engines.base import Limits
from anonymizer.policy import AggregatePolicy
from anonymizer.policy.aggregate import ALL
from anonymizer.process.document import Document, Rows, Section, facts, say
from anonymizer.release.manifest import Manifest
from anonymizer.release.opening import open_for_reading, place_of, release_file, unchanged
from anonymizer.run.verify import verify


@dataclass(frozen=True, slots=True)
class CountsReport:
    """A verified table of counts, with figures of its cells. It has nothing of the source."""

    policy: AggregatePolicy
    manifest: Manifest
    verification: Verification
    depths: tuple[tuple[int, int, int, int], ...]
    """For each number of columns that a cell distinguishes: cells, the smallest and the largest
    count of persons."""

    def document(self) -> Document:
        """The report."""
        data, policy, method = self.manifest.data, self.policy, METHODS[self.policy.method]
        asked = [
            ("table", data["view"]),
            ("groups by", ", ".join(policy.by)),
            ("figures", ", ".join(policy.aggregate.measures)),
            ("smallest group", policy.minimum)
            if policy.epsilon is None
            else ("epsilon", f"{policy.epsilon:g}"),
            ("method", f"{method.name}: {method.words}"),
        ]
        shown = [("cells published", data["measures"]["rows"])]
        shown += [("persons left out", data["measures"]["suppressed"])]
        head = ("columns told apart", "cells", "smallest", "largest")
        statements = [say(f"{check.name}: {check.sql}") for check in self.verification.checks]
        return Document(
            f"Report on the table of counts {data['view']}",
            (facts(asked), facts(shown), say(data["certificate"])),
            (
                Section("Cells", (Rows("", head, self.depths),)),
                Section("What holds", tuple(self.verification.blocks())),
                Section("What it does not promise", tuple(map(say, data["known_attacks"]))),
                Section("SQL to check it", tuple(statements)),
            ),
        )

    def as_dict(self) -> dict[str, Any]:
        data = self.manifest.data
        names = ("columns", "cells", "smallest", "largest")
        return {
            "view": data["view"],
            "run_id": self.manifest.run_id,
            "kind": self.manifest.kind,
            "measures": data["measures"],
            "cells": [dict(zip(names, row, strict=True)) for row in self.depths],
            "verification": self.verification.as_dict(),
            "certificate": data["certificate"],
            "known_attacks": data["known_attacks"],
        }


def collect_counts(
    policy: AggregatePolicy,
    database: str | Path | None = None,
    source: str | Path | None = None,
    limits: Limits | None = None,
) -> CountsReport:
    """Verify the release of a policy in a file, and count its cells.

    Raises NothingToCheckError if there is no release, GuaranteeError if it was changed.
    """
    path = release_file(policy, database, source)
    judged = verify(policy, path, limits=limits)
    with open_for_reading(path, place_of(policy, path), limits=limits) as (engine, catalog):
        view, manifest, _ = unchanged(policy, engine, catalog, path)
        counts = manifest.layout.counts
        assert counts is not None, "the policy agrees with the release"
        rows = engine.raw(_by_depth(ident(view).text, counts), "report")
    depths = tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in rows)
    return CountsReport(policy, manifest, judged, depths)


def _by_depth(view: str, counts: Counts) -> str:
    told = " + ".join(
        f"case when {ident(d.name)} = {lit(ALL)} then 0 else 1 end" for d in counts.by
    )
    persons = ident(counts.measures[counts.persons - 1].name)
    shown = f"{ident(counts.status)} = 'shown'"
    figures = f"count(*), min({persons}), max({persons})"
    return f"select {told}, {figures} from {view} where {shown} group by 1 order by 1 desc"
