"""Reading of several tables, persons first; each table is linked to one read before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from anonymizer.algorithms.compiled import STAGED, staged_values
from anonymizer.algorithms.guards import source_guard
from anonymizer.algorithms.schema.compiler import CompiledTables, compile_tables
from anonymizer.compile import Sql, Table, work
from anonymizer.engines.duckdb.session import relation_of
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError, PolicyError, SourceError, raise_together
from anonymizer.policy import Policy, SchemaPolicy
from anonymizer.policy.builders import Cardinality, Date
from anonymizer.policy.schema.checks.release import clashes
from anonymizer.policy.schema.derived import child_policy, persons_policy, with_hierarchies
from anonymizer.policy.schema.paths import of_source, table_path
from anonymizer.process.text import many
from anonymizer.run.at_table import at_persons, at_table
from anonymizer.run.lifted import with_lifted
from anonymizer.run.link import LINK, linked_writes
from anonymizer.run.meant import meant_notes
from anonymizer.run.prepare import Prepared, SourceRead, hierarchy_stages, read_source
from anonymizer.run.raw_text import named_in, node_text_stages, raw_text_stages
from anonymizer.run.remarks import table_remarks
from anonymizer.run.written_as import written_as_notes
from anonymizer.source.child import Above, Child, numbered, same_type, searched_for
from anonymizer.source.child_reading import (
    counted,
    counts_step,
    flat_step,
    kept_step,
    masked_stages,
    orphans_guard,
    reached_step,
    read_step,
    values_of,
)
from anonymizer.source.masking.masks import Named
from anonymizer.source.masking.values import named_before
from anonymizer.source.profile import TableProfile, kind_of
from anonymizer.source.relation import Relation
from anonymizer.source.roles import Roles, roles
from anonymizer.source.snapshot import SNAPSHOT, rows_read
from anonymizer.steps import Plan, Stage


@dataclass(frozen=True, slots=True)
class TablesRead:
    """All tables as read, and the result of their compilation."""

    single: Policy
    """The policy of the persons' table alone."""
    persons: SourceRead
    children: tuple[Child, ...]
    compiled: CompiledTables
    stages: tuple[Stage, ...]
    """The stages that read the tables."""
    session: Session
    """The session in which they were read; its source is the persons' table."""
    told: tuple[str, ...]
    """Warnings about the source, table by table."""

    @property
    def prepared(self) -> Prepared:
        """The persons' table, prepared like that of a single-table release."""
        found = self.persons
        return Prepared(found.roles, self.stages, self.compiled.persons, found.rows, found.profile)

    def plan(self) -> Plan:
        """Everything that a run executes, in order, except verification and publishing."""
        rows = ", ".join(f"{child.rows:,} of {child.name}" for child in self.children)
        title = f"several tables: {many(self.persons.rows, 'person')}, and rows: {rows or 'none'}"
        return Plan(title, (*self.stages, *self.compiled.persons.stages, *self.writes()))

    def writes(self) -> Iterator[Stage]:
        """The stages that write the rows of all tables in scratch."""
        yield from linked_writes(self.prepared, STAGED, work)
        above: dict[str, Table] = {}
        for one in self.compiled.tables:
            yield from one.steps(above.get(one.child.above, LINK))
            yield one.publish(staged_values(one.child.number))
            above[one.child.name] = one.child.linked


def refuse_other_engines(kind: str) -> None:
    """Raise PolicyError for an engine that cannot anonymize several tables."""
    if kind != "duckdb":
        said = f"of several tables cannot be anonymized on {kind}"
        raise PolicyError.at("tables", said, allowed="duckdb")


def read_tables(policy: SchemaPolicy, session: Session, executor: Executor) -> TablesRead:
    """Execute the statements that read the tables, and compile the rest.

    Raises SourceError, with paths of the tables, for a source that does not fit the policy.
    """
    single = persons_policy(policy)
    session, lifting = with_lifted(policy, session, executor)
    sources = _sources(policy, single, session)
    with at_persons(policy):
        persons = read_source(
            single, session, executor, persons=True, redacts=has_role(policy, "redact")
        )
    _refuse_clashes(policy, policy.person, persons.roles)
    told = list(_told(policy, policy.person, single, persons.roles, executor))
    everybody = rows_read(single, persons.roles)
    key = Sql("identity")
    above = {policy.person: Above(everybody, everybody, SNAPSHOT, key, persons.profile, True)}
    named = named_in(single, persons.profile, SNAPSHOT)
    sought = list(named_before(single, persons.profile, everybody))
    children: list[Child] = []
    stages: list[Stage] = [*lifting, *persons.stages]
    for number, name in enumerate(policy.children, 1):
        with at_table(name):
            child = _child(policy, number, sources[name].profile, above, sought)
            read = _reading(child, sources[name].relation, above[child.above], named, session)
            executor.run(read, f"reading {name}")
            counts = counts_step(child)
            child = counted(child, session.engine.execute(counts.statement(), counts.name))
            meant = meant_notes(
                child.policy, child.profile, child.roles, child.kept, alone=False, rows=child.rows
            )
            executor.run(meant, f"reading {name}")
        above[name] = child.as_above()
        named += named_in(child.policy, child.profile, child.kept)
        sought += named_before(child.policy, child.profile, child.read)
        children.append(child)
        stages += (*read, *meant)
        told += _told(policy, name, child.policy, child.roles, executor)
    with at_persons(policy):
        compiled = compile_tables(policy, single, persons.profile, persons.roles, children)
    return TablesRead(
        single,
        persons,
        tuple(children),
        compiled,
        tuple(stages),
        session,
        (*told, *_as_they_are(policy), *_left_out(children)),
    )


def _as_they_are(policy: SchemaPolicy) -> Iterator[str]:
    """The event columns, if the policy assumes that a recipient knows no event."""
    events = [
        f"{name}.{column}"
        for name, table in policy.tables.items()
        for column, given in table.columns.items()
        if given.role == "event"
    ]
    if events and policy.privacy.knows.events == 0:
        yield (
            f"privacy.knows.events: is 0, so the event columns ({', '.join(events)}) are published"
            " as they are: whoever knows one row of a person may find them. `knows: {events: 1}`"
            " leaves k candidates"
        )


def _told(
    policy: SchemaPolicy, name: str, single: Policy, described: Roles, executor: Executor
) -> Iterator[str]:
    """The warnings about one table; removes its counts from the notes."""
    found = table_remarks(single, policy.tables[name], executor.notes, described.kinds)
    path = f"{table_path(name)}."
    return (path + of_source(path, warning) for warning in found)


def _left_out(children: Sequence[Child]) -> Iterator[str]:
    for child in children:
        if child.orphans:
            with_what = "orphans: drop" if child.drop_orphans else f"with those of {child.above}"
            rows = many(
                child.orphans,
                "row reaches no person and is left out",
                "rows reach no person and are left out",
            )
            yield f"{table_path(child.name)}: {rows} ({with_what})"


@dataclass(frozen=True, slots=True)
class _Source:
    relation: Relation
    profile: TableProfile


def _sources(policy: SchemaPolicy, single: Policy, session: Session) -> dict[str, _Source]:
    """The sources of the tables other than that of the persons, whose rows have not been read.

    Raises the problems of all tables together: a table that is missing, a column without a role.
    """
    found: dict[str, _Source] = {}
    errors: list[AnonymizerError] = []
    try:
        with at_persons(policy):
            roles(single, session.profile)
    except (PolicyError, SourceError) as error:
        errors.append(error)
    for number, name in enumerate(policy.children, 1):
        try:
            with at_table(name):
                own = child_policy(policy, name)
                queried = work(f"queried_{number}")
                found[name] = _Source(*relation_of(own, session.embedded, queried))
                roles(own, found[name].profile)
        except (PolicyError, SourceError) as error:
            errors.append(error)
    raise_together(errors)
    return found


def _child(
    policy: SchemaPolicy,
    number: int,
    profile: TableProfile,
    above: Mapping[str, Above],
    sought: Sequence[Named],
) -> Child:
    """A table whose rows have not been read."""
    name = policy.children[number - 1]
    table = policy.tables[name]
    assert table.link is not None, "the policy is checked for links"
    own = _with_levels(policy, name, profile)
    link, held_by = table.link
    over = above[held_by]
    drop = table.orphans == "drop"
    astray = drop or over.reached != over.read
    child = Child(
        number,
        name,
        held_by,
        link,
        own,
        profile,
        numbered(roles(own, profile), number),
        drop_orphans=drop,
        astray=astray,
        keyed=has_role(policy, "shift"),
        redacts=has_role(policy, "redact"),
    )
    child = searched_for(child, sought)
    _refuse_clashes(policy, name, child.roles)
    key = policy.tables[held_by].key
    assert key is not None
    other = same_type(child, over.profile, key)
    if other is not None:
        raise SourceError(other)
    return child


def _reading(
    child: Child,
    source: Relation,
    over: Above,
    named: Sequence[tuple[Table, Sql]],
    session: Session,
) -> list[Stage]:
    """The stages that read the rows of a table and check them."""
    own = child.policy
    first = read_step(child, source)
    reading: list[Stage] = [first]
    if not child.drop_orphans:
        reading.append(orphans_guard(child, over))
    if child.astray:
        reading.append(reached_step(child, over))
    reading += [kept_step(child, over), *masked_stages(child, first)]
    reading += raw_text_stages(own, child.profile, child.roles, child.kept, named)
    reading += source_guard(own, child.profile, child.roles, child.kept, eras=session.profile.eras)
    reading += values_of(child)
    reading += hierarchy_stages(own, child.roles, session, child.kept)
    reading += node_text_stages(own, child.attributes)
    reading += [flat_step(a) for a in child.attributes if a.spec is None]
    reading += written_as_notes(own, child.roles, events=True)
    return reading


def has_role(policy: SchemaPolicy, role: str) -> bool:
    """Whether any column of any table has this role."""
    return any(c.role == role for t in policy.tables.values() for c in t.columns.values())


def _refuse_clashes(policy: SchemaPolicy, name: str, described: Roles) -> None:
    """Raise PolicyError for published names that clash, once the types are known."""
    PolicyError.refuse(clashes(policy, {name: described.kinds}))


def _with_levels(policy: SchemaPolicy, name: str, profile: TableProfile) -> Policy:
    """The table's policy, with default levels for event columns of dates and numbers."""
    own = child_policy(policy, name)
    types = dict(profile.columns)
    added: dict[str, Cardinality | Date] = {}
    for column in policy.tables[name].events:
        described = own.columns[column]
        kind = described.kind or kind_of(types.get(column, ""))
        if described.hierarchy is None and kind == "date":
            added[column] = Date(builder="date")
        elif described.hierarchy is None and kind == "numeric":
            added[column] = Cardinality(builder="cardinality")
    return with_hierarchies(own, dict(added))
