"""Lifted columns: columns of other tables with one value per person, as columns of the persons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from anonymizer.compile import Sql, Table, ident, work
from anonymizer.engines.duckdb.session import relation_of
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.schema.derived import child_policy
from anonymizer.policy.schema.paths import table_path
from anonymizer.process.text import many
from anonymizer.run.at_table import at_table
from anonymizer.source.profile import TableProfile
from anonymizer.source.relation import Relation
from anonymizer.source.roles import roles
from anonymizer.source.snapshot import key_text
from anonymizer.steps import Guard, Row, Stage, Step

LIFTED = work("lifted")


@dataclass(frozen=True, slots=True)
class _Read:
    relation: Relation
    profile: TableProfile

    @property
    def named(self) -> Table | Sql:
        """The table or expression that a statement declares as read."""
        return self.relation.table or self.relation.sql

    def text_of(self, column: str) -> Sql:
        return Sql(key_text(column, self.profile))


def with_lifted(
    policy: SchemaPolicy, session: Session, executor: Executor
) -> tuple[Session, tuple[Stage, ...]]:
    """A session whose source includes the lifted columns, and the stages that add them.

    Raises SourceError if a column has several values for one person. Links are not checked yet: a
    row that is linked to no person adds nothing.
    """
    if not policy.lifted:
        return session, ()
    read = {policy.person: _Read(session.source, session.profile)}
    for number, name in enumerate(policy.children, 1):
        # (the query is executed again when the table itself is read)
        if any(name in (of, *(above for _, above in policy.way(of))) for of in policy.lifted_from):
            with at_table(name):
                child = child_policy(policy, name)
                target = work(f"lifted_query_{number}")
                read[name] = _Read(*relation_of(child, session.embedded, target))
                roles(child, read[name].profile)
    key = policy.persons.key
    assert key is not None, "the policy is checked for the key of its persons"
    types = [(c, read[table].profile.type_of(c)) for c, table in policy.lifted.items()]
    profile = replace(session.profile, columns=(*session.profile.columns, *types))
    if key not in dict(session.profile.columns):
        return replace(session, profile=profile), ()  # reported with the other columns
    stages: list[Stage] = []
    tables: list[dict[str, Any]] = []
    for number, name in enumerate(policy.lifted_from, 1):
        columns = [c for c, table in policy.lifted.items() if table == name]
        rows = work(f"lifted_rows_{number}")
        stages += _of_table(policy, read, name, columns, rows)
        tables.append({"rows": rows, "columns": columns})
    context = {
        "source": read[policy.person].named,
        "relation": session.source.sql,
        "key": read[policy.person].text_of(key),
        "rows": [table["rows"] for table in tables],
        "tables": tables,
        "called": _unlike([name for name, _ in session.profile.columns]),
        "lifted": LIFTED,
    }
    stages.append(Step("columns of the persons", "schema/lifted.sql.j2", context))
    executor.run(stages, "reading")
    return replace(session, source=Relation(ident(LIFTED), LIFTED), profile=profile), tuple(stages)


def _unlike(names: Iterable[str]) -> str:
    """A name that no column has, ignoring case."""
    taken = {name.lower() for name in names}
    return next(name for n in count() if (name := f"anonymizer_key_{n}") not in taken)


def _of_table(
    policy: SchemaPolicy, read: dict[str, _Read], name: str, columns: list[str], rows: Table
) -> Iterator[Stage]:
    (first, _), *_ = policy.way(name)
    steps = []
    for _, above in policy.way(name)[:-1]:
        key, (further, _) = policy.tables[above].key, policy.way(above)[0]
        assert key is not None, "the policy is checked for keys of tables that others link to"
        table = read[above]
        steps.append((table.relation.sql, table.text_of(key), table.text_of(further)))
    context: dict[str, Any] = {
        "source": read[name].named,
        "above": [read[above].named for _, above in policy.way(name)[:-1]],
        "relation": read[name].relation.sql,
        "link": read[name].text_of(first),
        "columns": columns,
        "steps": steps,
        "rows": rows,
    }
    yield Step(f"rows of {name} by person", "schema/lifted_rows.sql.j2", context)

    def explain(row: Row) -> Problem:
        place, persons = row
        differ = many(persons, "person has", "persons have")
        return Problem(
            table_path(name, "columns", columns[int(place)], "of"),
            f"is not the same in all rows of a person: {differ} different ones",
            hint="role: event, or choose one in source.query",
        )

    step = Step(f"columns of {name} that differ", "schema/lifted_differ.sql.j2", context)
    yield Guard(step, explain, SourceError)
