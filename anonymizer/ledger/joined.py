"""Columns that identify persons in releases of different tables, which can be joined on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymizer.errors import Problem
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.ways_out import apart
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.policy.schema.derived import child_policy, lead_of
from anonymizer.policy.schema.paths import table_path
from anonymizer.release.certificate import published_as_it_is


def joined_by_name(policy: AnyPolicy, view: str, earlier: Iterable[Entry]) -> Iterator[Problem]:
    """Columns that identify persons both in this release and in an earlier one.

    Tables with different persons cannot be compared person by person, so columns match by name.
    """
    known = list(earlier)
    for path, name in _unacknowledged(policy):
        views = sorted({entry.view for entry in known if name in entry.marks} - {view})
        if views:
            listed = ", ".join(views)
            said = f"tells persons apart in a release of the ledger ({listed}): joined on it,"
            said += " the rows of a person stand side by side, and k holds for neither"
            ways = apart(lead_of(policy), several=isinstance(policy, SchemaPolicy))
            hint = f"{ways}, for a join that leaves k persons, acknowledge_unique: true"
            yield Problem(path, said, hint=hint)


def _unacknowledged(of: AnyPolicy) -> Iterator[tuple[str, str]]:
    """Columns published unchanged that are not acknowledged as unique: path and name."""
    listed = [("columns", lead_of(of))]
    if isinstance(of, SchemaPolicy):
        listed += [(table_path(t, "columns"), child_policy(of, t)) for t in of.children]
    for path, policy in listed:
        for name, column in policy.columns.items():
            if published_as_it_is(policy, name) and not column.acknowledge_unique:
                yield f"{path}.{name}", name
