"""What a run tells besides: conditions that are NULL, sensitive columns without any rule, and
columns that look like person keys.

Neither stops a run. The counts come from the snapshot in one statement; those of conditions stay
in the measures as `null_conditions.<column>`.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.hierarchies import unused_hierarchies
from anonymizer.algorithms.prepare import SNAPSHOT
from anonymizer.algorithms.roles import Roles
from anonymizer.compile import Sql, Table, ident, join, sql
from anonymizer.drafting import words
from anonymizer.drafting.persons import countable, repeats_like_persons
from anonymizer.execute import Executor
from anonymizer.plan import Note, Step
from anonymizer.policy import Policy
from anonymizer.profile import TableProfile
from anonymizer.session import Session
from anonymizer.verify.requirements import requirements_of

NULLS = "null_conditions."
DIFFERENT = "different_values."
KNOWN = "known_values."
MOST = "most_rows."


def key_like(policy: Policy, profile: TableProfile) -> tuple[str, ...]:
    """Unpublished columns that may tell whose row it is, where the policy names no person."""
    if policy.person is not None:
        return ()
    return tuple(
        name
        for name, column in policy.columns.items()
        if name != policy.key
        and column.role in ("identifier", "drop")
        and countable(profile.type_of(name))
        and (
            words.names_person(name)
            or (
                not words.says(name, words.QUASI | words.SENSITIVE | words.OTHERS)
                and (column.role == "identifier" or words.says(name, words.KEY))
            )
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
    conditions = [
        (sql("count(*) filter (where {f} is null)", f=a.f), ident(NULLS + a.column))
        for a in roles.flagged
    ]
    keys = [_Repeats.of(name, _digest(j)) for j, name in enumerate(key_like(policy, profile))]
    if not conditions and not keys:
        return ()
    return _counting(conditions, keys, SNAPSHOT, ident(SNAPSHOT))


def repeats(policy: Policy, session: Session) -> dict[str, Any]:
    """The same counts of key-like columns from the source itself, where there is no snapshot."""
    names = key_like(policy, session.profile)
    if not names:
        return {}
    columns = join(sql("{e} as {h}", e=e, h=h) for e, h in digests(policy, session.profile))
    rows = sql("(select {c} from {r}) as source", c=columns, r=session.source.sql)
    keys = [_Repeats.of(name, _digest(j)) for j, name in enumerate(names)]
    executor = Executor(session.engine)
    executor.run(_counting([], keys, session.source.table or session.source.sql, rows))
    return dict(executor.notes)


@dataclass(frozen=True, slots=True)
class _Repeats:
    """A key-like column's digest, and the names of its counts."""

    digest: Sql
    different: Sql
    known: Sql
    most: Sql

    @classmethod
    def of(cls, column: str, digest: Sql) -> _Repeats:
        return cls(digest, *(ident(prefix + column) for prefix in (DIFFERENT, KNOWN, MOST)))


def _counting(
    conditions: list[tuple[Sql, Sql]],
    keys: list[_Repeats],
    table: Table | Sql,
    rows: Sql,
) -> tuple[Note, ...]:
    context = {"snapshot": table, "rows": rows, "conditions": conditions, "keys": keys}
    return (Note(Step("remarks on the source", "prepare/remarks.sql.j2", context)),)


def remarks(policy: Policy, notes: MutableMapping[str, Any], kinds: Mapping[str, str]) -> list[str]:
    """The warnings that counts and kinds of columns give rise to; what only they need is taken out
    of `notes`.
    """
    different, known, most = (_taken(notes, prefix) for prefix in (DIFFERENT, KNOWN, MOST))
    found = list(unused_hierarchies(policy, kinds))
    for name in policy.semi_sensitive:
        nulls = notes.get(NULLS + name, 0)
        if nulls:
            found.append(
                f"columns.{name}.sensitive_when is NULL in {nulls:,} rows:"
                " their cells count as sensitive"
            )
    for name in unprotected(policy):
        found.append(
            f"columns.{name}: is sensitive and no rule protects it: everybody in a class may have"
            " the same value, and who finds the class then knows it; for instance"
            " protect: {l_diversity: 3}"
        )
    repeating = [n for n in different if repeats_like_persons(n, different[n], known[n])]
    # names of people repeat beside their numbers: who knows the number needs no guess
    sure = [name for name in repeating if words.names_person(name)]
    for name in sure or repeating:
        mean = known[name] / different[name]
        found.append(
            f"columns.{name}: {different[name]:,} values in {known[name]:,} rows (on average"
            f" {mean:.1f} rows per value, at most {most[name]:,}):"
            + ("" if sure else " if it tells whose row it is,")
            + " k and the other guarantees count rows, not persons, and a class may hold the rows"
            f" of one person only; name it as `person: {name}`, so that persons are counted"
        )
    return found


def unprotected(policy: Policy) -> list[str]:
    """Sensitive columns that no guarantee of the policy speaks of, of the table or of their own."""
    spoken = {requirement.column for requirement in requirements_of(policy)}
    return [name for name in policy.sensitive if name not in spoken]


def _taken(notes: MutableMapping[str, Any], prefix: str) -> Mapping[str, int]:
    names = [name for name in notes if name.startswith(prefix)]
    return {name.removeprefix(prefix): int(notes.pop(name)) for name in names}
