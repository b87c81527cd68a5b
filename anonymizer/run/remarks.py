"""Warnings of a run: conditions that are NULL, sensitive columns without any rule, columns
that look like person keys, and releases of little use.

No warning stops a run or is part of a release: they contain counts of unpublished data, which one
statement takes from the snapshot.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.hierarchies import unused_hierarchies
from anonymizer.compile import Sql, Table, ident, join, sql
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.measure.usefulness import little_left
from anonymizer.policy import Policy
from anonymizer.policy.checks import crosscheck
from anonymizer.policy.checks.release import PROTECTS, may_be_invariant
from anonymizer.policy.paths import column_path
from anonymizer.policy.schema.table import SchemaTable
from anonymizer.privacy.of_policy.requirements import requirements_of
from anonymizer.process.text import many
from anonymizer.release.certificate import acknowledged, joined_on, published_as_it_is
from anonymizer.run.meant_remarks import meant_remarks
from anonymizer.run.written_as import written_as_remarks
from anonymizer.source import column_names
from anonymizer.source.csv_files import ends_within_line
from anonymizer.source.person_names import names_part
from anonymizer.source.persons import countable, repeats_like_persons
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Note, Step

NULLS = "null_conditions."
DIFFERENT = "different_values."
KNOWN = "known_values."
MOST = "most_rows."


def key_like(policy: Policy, profile: TableProfile) -> tuple[str, ...]:
    """Columns that may identify persons, if the policy names no person.

    Columns that are published unchanged count only if they are named like identifiers.
    """
    if policy.person is not None or policy.algorithm.classless:
        return ()  # (without guarantees, nothing is counted by rows instead of persons)
    if policy.key is not None and column_names.names_person(policy.key):
        return ()  # every row is a different person; namesakes share a name
    others = column_names.QUASI | column_names.SENSITIVE | column_names.OTHERS
    found = []
    for name, column in policy.columns.items():
        hidden = column.role in ("identifier", "drop")
        if column_names.names_related(name):
            continue  # its rows are those of the person who is related
        if name == policy.key or not (hidden or published_as_it_is(policy, name)):
            continue
        numbered = column.role == "identifier" or column_names.says(name, column_names.KEY)
        like = hidden and numbered and not column_names.says(name, others)
        if (like or column_names.names_person(name)) and countable(profile.type_of(name)):
            found.append(name)
    return tuple(found)


def digests(policy: Policy, profile: TableProfile) -> list[tuple[Sql, Sql]]:
    """Columns of the snapshot in which repeated values of key-like columns are counted."""
    return [
        (sql("case when {c} is not null then hash({c}) end", c=name), _digest(j))
        for j, name in enumerate(key_like(policy, profile))
    ]


def _digest(number: int) -> Sql:
    return Sql(f"h{number}")


def remark_notes(policy: Policy, profile: TableProfile, roles: Roles) -> tuple[Note, ...]:
    """The statement that counts, if there is anything to count."""
    conditions = [
        (sql("count(*) filter (where {f} is null)", f=a.f), ident(NULLS + a.column))
        for a in roles.flagged
    ]
    keys = [_Repeats.of(name, _digest(j)) for j, name in enumerate(key_like(policy, profile))]
    if not conditions and not keys:
        return ()
    return _counting(conditions, keys, SNAPSHOT, ident(SNAPSHOT))


def repeats(policy: Policy, session: Session) -> dict[str, Any]:
    """The counts of key-like columns, taken from the source itself if there is no snapshot."""
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
    conditions: list[tuple[Sql, Sql]], keys: list[_Repeats], table: Table | Sql, rows: Sql
) -> tuple[Note, ...]:
    context = {"snapshot": table, "rows": rows, "conditions": conditions, "keys": keys}
    return (Note(Step("warnings about the source", "prepare/remarks.sql.j2", context)),)


def remarks(
    policy: Policy,
    notes: MutableMapping[str, Any],
    kinds: Mapping[str, str],
    spoken: Collection[str] = (),
    *,
    counts: bool = True,
) -> list[str]:
    """The warnings that follow from counts and column kinds; removes counts from `notes` that serve
    only these warnings.

    `spoken`: sensitive columns with a rule that the policy of the table alone does not have.
    `counts`: whether the reader is the owner of the source, who may see its counts.
    """
    prefixes = (DIFFERENT, KNOWN, MOST, NULLS)
    different, known, most, undecided = (_taken(notes, prefix) for prefix in prefixes)
    found = [*unused_hierarchies(policy, kinds), *written_as_remarks(notes)]
    if counts and policy.source.format == "csv":
        file = policy.resolve(policy.source.file or "")
        if ends_within_line(file):
            found.append(
                "source.file: has no line end after its last line: if the file was cut off there,"
                " rows or the end of a cell are missing"
            )
    for name in policy.semi_sensitive:
        nulls = undecided.get(name, 0)
        if nulls:
            rows = many(nulls, "row") if counts else "some rows"
            found.append(
                f"{column_path(name, 'sensitive_when')} is NULL in {rows}:"
                " their cells count as sensitive"
            )
    for name in acknowledged(policy):
        found.append(f"{column_path(name)}: {joined_on(policy)}")
    for name in (name for name in unprotected(policy) if name not in spoken):
        found.append(
            f"{column_path(name)}: is sensitive and no rule protects it: everybody in a class may"
            f" have the same value, and who finds the class then knows it; {_rule_for(policy)}"
        )
    repeating = [n for n in different if repeats_like_persons(n, different[n], known[n])]
    # names of persons repeat along with their numbers: the numbers alone are reported then
    parts = sorted(filter(names_part, repeating), key=lambda name: different[name])
    repeating = [name for name in repeating if name not in parts[:-1]]  # (of a name, the rarest)
    sure = [name for name in repeating if column_names.names_person(name)]
    for name in sure or repeating:
        said = "several rows have the same value:"
        if counts:
            mean = known[name] / different[name]
            said = (
                f"{different[name]:,} values in {known[name]:,} rows (on average {mean:.1f} rows"
                f" per value, at most {most[name]:,}):"
            )
        found.append(
            f"{column_path(name)}: {said}"
            + (" it is published as it is;" if published_as_it_is(policy, name) else "")
            + ("" if sure else " if it tells whose row it is,")
            + " k and the other guarantees count rows, not persons, and a class may hold the rows"
            f" of one person only; {_counted_by(policy, name)}"
        )
    return [*found, *meant_remarks(policy, notes, repeating)]


def _counted_by(policy: Policy, name: str) -> str:
    if crosscheck(policy.model_copy(update={"person": name})):
        return "with this policy, which can name no person: keep one row of each in source.query"
    return f"name it as `person: {name}`, so that persons are counted"


def table_remarks(
    policy: Policy, table: SchemaTable, notes: MutableMapping[str, Any], kinds: Mapping[str, str]
) -> list[str]:
    """The warnings for one of several tables; `policy`: that of the table alone.

    The links determine which rows belong to one person, so no column is suspected to.
    """
    for name in [name for name in notes if name.startswith((DIFFERENT, KNOWN, MOST))]:
        del notes[name]
    spoken = [n for n, c in table.columns.items() if c.protect is not None and c.protect.eir_l]
    return remarks(policy, notes, kinds, spoken)


def little(measures: Mapping[str, Any]) -> list[str]:
    """A warning if a release is valid but of little use, by its measures."""
    return [f"the release holds, but little is left: {found}" for found in little_left(measures)]


def unprotected(policy: Policy) -> list[str]:
    """Sensitive columns that no guarantee of the table or of the column covers."""
    if policy.algorithm.classless:
        return []  # nothing is protected, as the certificate says
    spoken = {requirement.column for requirement in requirements_of(policy)}
    return [name for name in policy.sensitive if name not in spoken]


def _rule_for(policy: Policy) -> str:
    """What would protect a sensitive column without a rule."""
    if policy.republish is not None and policy.republish.append_only:
        said = "append_only can keep no rule"
        return f"{said}, and {PROTECTS}" if may_be_invariant(policy) else said
    return "for instance protect: {l_diversity: 3}"


def _taken(notes: MutableMapping[str, Any], prefix: str) -> Mapping[str, int]:
    names = [name for name in notes if name.startswith(prefix)]
    return {name.removeprefix(prefix): int(notes.pop(name)) for name in names}
