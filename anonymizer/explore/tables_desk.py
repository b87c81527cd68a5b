"""The desk of several tables: k, what is known of rows, the roles of columns, and their cost."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import AnonymizerError, SourceError
from anonymizer.explore.edits import OF_OTHERS, OF_PERSONS, Edit, Target, with_edits
from anonymizer.explore.handover import Handover, approval, evidence_fields
from anonymizer.policy import SchemaPolicy
from anonymizer.process.secret import Seed
from anonymizer.process.text import json_value
from anonymizer.review.observers import assess_tables, open_source
from anonymizer.review.preview import sample_of_tables
from anonymizer.review.report.linked_tables import columns_of_tables, full_name
from anonymizer.review.table_tree import tree_of
from anonymizer.review.trial import Bench, Figures


@dataclass(slots=True)
class TablesDesk:
    """The desk's state. A change waits for the tables, or for a sample of the persons of large
    ones.
    """

    title: str
    base: Path
    first: str
    text: str
    policy: SchemaPolicy
    target: Target
    database: Database
    handover: Handover
    found: dict[str, Any] = field(default_factory=dict)
    """The last result, for the page."""
    source: dict[str, Any] = field(default_factory=dict)
    """The tables, and what observers of the source find."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    index = "tables.html"

    def begin(self) -> None:
        """Try the policy as it was opened. Raises SourceError for tables that cannot be read."""
        before = assess_tables(self.policy, self.database, limits=self.handover.limits)
        with open_source(self.policy, self.database, limits=self.handover.limits) as session:
            tables, problems = tree_of(self.policy, session)
        SourceError.refuse(problems)
        self.source = {
            "tables": [table.as_dict() for table in tables],
            "before": {one.knows: one.alone for one in before.observers},
        }
        self.found = self._try(self.policy)

    def change(self, edits: tuple[Edit, ...], label: str) -> None:
        """Try another policy. Raises PolicyError, and changes nothing, if it would be invalid."""
        del label
        with self.lock:
            text, changed = with_edits(self.text, edits, self.base, self.first)
            policy: Any = changed
            if policy.digest() != self.policy.digest():
                self.found = self._try(policy)
            self.text, self.policy = text, policy

    def save(self) -> None:
        """Write the current policy."""
        with self.lock:
            self.target.save(self.text)

    @property
    def saved(self) -> bool:
        """True if the file has the current policy."""
        return self.target.found == self.text

    def paper(self, form: str, standard: str | None) -> str:
        """Make the report of the release, or the page of a standard; returns its name."""
        return self.handover.make(self.policy, form, standard)

    def approve(self, given: Mapping[str, Any]) -> str:
        """Record an approval of the saved policy beside its ledger; returns a sentence."""
        return approval(self.policy, given, saved=self.saved)

    def close(self) -> None:
        """Nothing stays open."""

    def view(self) -> dict[str, Any]:
        """The content of the page."""
        policy, knows = self.policy, self.policy.knows
        found: dict[str, Any] = json_value(
            {
                **self.source,
                **self.found,
                "title": self.title,
                "file": self.target.path.name,
                "saved": self.saved,
                "text": self.text,
                "k": policy.privacy.k_anonymity,
                "knows": {"events": knows.events, "rows": knows.rows},
                "columns": self._columns(),
                "unprotected": [
                    f"{name}.{column}"
                    for name, table in policy.tables.items()
                    for column, one in table.columns.items()
                    if one.role == "sensitive" and one.protect is None and not one.acknowledge
                ],
                "handover": {
                    "reasons": self.handover.reasons(policy, saved=self.saved),
                    "papers": list(self.handover.papers),
                    "standards": evidence_fields(policy),
                },
            }
        )
        return found

    def _columns(self) -> list[dict[str, Any]]:
        """Every column with what is done with it, and the roles that it can have here."""
        listed = []
        for one in columns_of_tables(self.policy):
            offered = OF_PERSONS if one["table"] == self.policy.person else OF_OTHERS
            described = self.policy.tables[one["table"]].columns[one["column"]]
            fixed = one["role"] not in offered or described.of is not None
            name = full_name(one)
            listed.append({**one, "name": name, "offered": [] if fixed else list(offered)})
        return listed

    def _try(self, policy: SchemaPolicy) -> dict[str, Any]:
        try:
            limits = self.handover.limits
            with open_source(policy, self.database, limits=limits) as session:
                rows = sum(table["rows"] or 0 for table in self.source["tables"])
                whole = Bench.of(policy.lead, session)
                whole.seed = Seed.fresh()
                asked, bench, share = sample_of_tables(policy, whole, rows)
                return _answer(bench.figures(asked), share)
        except AnonymizerError as error:
            return _answer(Figures(error.problems), 1.0)


def _answer(found: Figures, share: float) -> dict[str, Any]:
    """Figures of a trial, for the page."""
    return {
        "share": share,
        "persons": found.rows,
        "seconds": found.seconds,
        "holds": found.holds,
        "problems": [problem.as_dict() for problem in found.problems],
        "failed": [
            {name: getattr(one, name) for name in ("name", "column", "required", "achieved")}
            for one in found.checks
            if not one.passed
        ],
        "left_out": found.share,
        "loss": found.loss,
        "losses": dict(found.losses),
        "others": {
            name: {"rows": one["rows"], "suppressed": one["suppressed"]}
            for name, one in found.others.items()
        },
        "observers": [one.as_dict() for one in found.observers],
    }


def open_tables_desk(
    policy: SchemaPolicy, path: Path, target: Path, database: Database, limits: Limits | None
) -> TablesDesk:
    """The desk of the policy in the file `path`, which is saved as `target`."""
    text = path.read_bytes().decode("utf-8-sig")
    handover, saved = Handover(database, limits), Target.of(target)
    return TablesDesk(path.name, path.parent, text, text, policy, saved, database, handover)
