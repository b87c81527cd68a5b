"""What a run tells besides: conditions that are NULL, and columns that look like person keys.

Neither stops a run. The counts come from the snapshot in one statement; those of conditions stay
in the measures as `null_conditions.<column>`.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from anonymizer.algorithms.prepare import SNAPSHOT
from anonymizer.algorithms.roles import Roles
from anonymizer.compile import Sql, ident, sql
from anonymizer.drafting import words
from anonymizer.plan import Note, Step
from anonymizer.policy import Policy
from anonymizer.profile import TableProfile, kind_of

NULLS = "null_conditions."
DIFFERENT = "different_values."
KNOWN = "known_values."
MOST_ROWS = 50
"""Rows per value up to which a repeating number may be that of a person."""


def key_like(policy: Policy, profile: TableProfile) -> tuple[str, ...]:
    """Unpublished columns that may tell whose row it is, where the policy names no person."""
    if policy.person is not None:
        return ()
    return tuple(
        name
        for name, column in policy.columns.items()
        if name != policy.key
        and kind_of(profile.type_of(name)) in ("numeric", "categorical")
        and profile.type_of(name) not in ("BOOLEAN", "FLOAT", "DOUBLE", "TIME")
        and (
            column.role == "identifier"
            or (column.role == "drop" and words.says(name, words.PERSON | words.KEY))
        )
    )


def digests(policy: Policy, profile: TableProfile) -> list[tuple[Sql, Sql]]:
    """Columns of the snapshot from which the repeats of key-like columns are counted."""
    return [
        (sql("case when {c} is not null then hash({c}) end", c=name), _digest(j))
        for j, name in enumerate(key_like(policy, profile))
    ]


def _digest(number: int) -> Sql:
    return Sql(f"h{number}")


def remark_notes(policy: Policy, profile: TableProfile, roles: Roles) -> tuple[Note, ...]:
    """The statement that counts, if there is something to count."""
    counts = [
        (sql("count(*) filter (where {f} is null)", f=a.f), ident(NULLS + a.column))
        for a in roles.flagged
    ]
    for j, name in enumerate(key_like(policy, profile)):
        counts.append((sql("count(distinct {h})", h=_digest(j)), ident(DIFFERENT + name)))
        counts.append((sql("count({h})", h=_digest(j)), ident(KNOWN + name)))
    if not counts:
        return ()
    context = {"snapshot": SNAPSHOT, "counts": counts}
    return (Note(Step("remarks on the source", "prepare/remarks.sql.j2", context)),)


def remarks(policy: Policy, notes: MutableMapping[str, Any]) -> list[str]:
    """The warnings that the counts give rise to; what only they need is taken out of `notes`."""
    different = _taken(notes, DIFFERENT)
    known = _taken(notes, KNOWN)
    found = []
    for name in policy.semi_sensitive:
        nulls = notes.get(NULLS + name, 0)
        if nulls:
            found.append(
                f"columns.{name}.sensitive_when is NULL in {nulls:,} rows:"
                " their cells count as sensitive"
            )
    for name, values in different.items():
        rows = known[name]
        most = 2 if policy.columns[name].role == "identifier" else MOST_ROWS
        if values < rows <= values * most:
            found.append(
                f"columns.{name}: {values:,} values in {rows:,} rows: if it tells whose row it is,"
                f" name it as `person: {name}`, so that persons are counted and not rows"
            )
    return found


def _taken(notes: MutableMapping[str, Any], prefix: str) -> Mapping[str, int]:
    names = [name for name in notes if name.startswith(prefix)]
    return {name.removeprefix(prefix): int(notes.pop(name)) for name in names}
