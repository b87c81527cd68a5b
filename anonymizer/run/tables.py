"""The tables of a policy: read, written and compared with their source, persons first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from anonymizer.algorithms.core.compiled import STAGED
from anonymizer.algorithms.core.guards import source_guard
from anonymizer.algorithms.schema.compiler import PublishedTable, compile_tables, published_table
from anonymizer.compile import Sql, Table, ident, work
from anonymizer.contract.checks import Verification, verification
from anonymizer.contract.reading import Tables
from anonymizer.engines.base import Engine
from anonymizer.engines.execute import Executor
from anonymizer.engines.registry import further_source
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError, PolicyError, Problem, SourceError, raise_together
from anonymizer.measure.loss import column_losses
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.checks.schema import clashes
from anonymizer.policy.hierarchies import Cardinality, Date
from anonymizer.policy.paths import of_source, table_path
from anonymizer.policy.values import FrozenMap
from anonymizer.process.text import many
from anonymizer.publish.target import Places
from anonymizer.release.across_tables import tables_of
from anonymizer.run.ambiguities import meant_notes
from anonymizer.run.prepare import Prepared, hierarchy_stages, prepare, read_source
from anonymizer.run.problem_paths import at_persons, at_table
from anonymizer.run.raw_text import named_in, node_text_stages, raw_text_stages
from anonymizer.run.release_rows import (
    LINK,
    ORIGINALS,
    cell_statements,
    originals,
    published_paths,
    release_writes,
    together,
    together_questions,
)
from anonymizer.run.warnings import remarks, table_remarks, written_as_notes
from anonymizer.source.child import (
    Above,
    Child,
    counts_step,
    flat_step,
    kept_step,
    masked_stages,
    orphans_guard,
    reached_step,
    read_step,
    same_type,
    searched_for,
    values_of,
    with_counts,
    with_number,
)
from anonymizer.source.masking.masks import IdentifierColumn
from anonymizer.source.masking.values import named_before
from anonymizer.source.profile import TableProfile, kind_of
from anonymizer.source.roles import Roles, roles
from anonymizer.source.snapshot import SNAPSHOT, Relation, key_text, rows_read
from anonymizer.steps import Guard, Plan, Row, Stage, Step
from anonymizer.verification.across_tables import Where
from anonymizer.verification.questions import FigureColumn, Question, ask_all
from anonymizer.verification.source_comparison import verify_against_source

# Lifted columns: columns of other tables with one value per person, as columns of the persons.


LIFTED = work("lifted")


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table of the source that can be read."""

    relation: Relation
    profile: TableProfile

    @property
    def named(self) -> Table | Sql:
        """The table or expression that a statement declares as read."""
        return self.relation.table or self.relation.sql

    def text_of(self, column: str) -> Sql:
        return Sql(key_text(column, self.profile))


def source_table(policy: SchemaPolicy, name: str, session: Session, number: int) -> SourceTable:
    """A table as a relation; 0: the persons. Raises AnonymizerError if it cannot be read.

    A query is executed again, into another table, when the table is read for a run.
    """
    if not number:
        return SourceTable(session.source, session.profile)
    return SourceTable(*further_source(policy.single(name), session.engine, work(f"seen_{number}")))


def with_lifted(
    policy: SchemaPolicy, session: Session, executor: Executor
) -> tuple[Session, tuple[Stage, ...]]:
    """A session whose source includes the lifted columns, and the stages that add them.

    Raises SourceError if a column has several values for one person. Links are not checked yet: a
    row that is linked to no person adds nothing.
    """
    if not policy.lifted:
        return session, ()
    read = {policy.person: SourceTable(session.source, session.profile)}
    for number, name in enumerate(policy.children, 1):
        # (the query is executed again when the table itself is read)
        if any(name in (of, *(above for _, above in policy.way(of))) for of in policy.lifted_from):
            with at_table(name):
                child = policy.single(name)
                target = work(f"lifted_query_{number}")
                read[name] = SourceTable(*further_source(child, session.engine, target))
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
        "called": Sql(_unlike([name for name, _ in session.profile.columns])),
        "lifted": LIFTED,
    }
    stages.append(Step("columns of the persons", "schema/lifted", context))
    executor.run(stages, "reading")
    return replace(session, source=Relation(ident(LIFTED), LIFTED), profile=profile), tuple(stages)


def _unlike(names: Iterable[str]) -> str:
    """A name with which that of no column begins, ignoring case."""
    taken = tuple(name.lower() for name in names)
    made = (f"anonymizer_key_{n}" for n in count())
    return next(name for name in made if not any(one.startswith(name) for one in taken))


def _of_table(
    policy: SchemaPolicy, read: dict[str, SourceTable], name: str, columns: list[str], rows: Table
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
    yield Step(f"rows of {name} by person", "schema/lifted_rows", context)

    def explain(row: Row) -> Problem:
        place, persons = row
        differ = many(persons, "person has", "persons have")
        return Problem(
            table_path(name, "columns", columns[int(place)], "of"),
            f"is not the same in all rows of a person: {differ} different ones",
            hint="role: event, or choose one in source.query",
        )

    step = Step(f"columns of {name} that differ", "schema/lifted_differ", context)
    yield Guard(step, explain, SourceError)


# Reading of several tables, persons first; each table is linked to one read before.


@dataclass(frozen=True, slots=True)
class TablesRead:
    """All tables of a policy as read, and the result of their compilation."""

    policy: AnyPolicy
    prepared: Prepared
    """The table of the view that names the release, with the stages that read all tables."""
    session: Session
    """The session in which they were read; its source is that table."""
    told: tuple[str, ...]
    """Warnings about the source, table by table."""
    children: tuple[Child, ...] = ()
    tables: tuple[PublishedTable, ...] = ()

    def plan(self) -> Plan:
        """Everything that a run executes, in order, except verification and publishing."""
        if not self.policy.several:
            return self.prepared.plan(self.policy.one_table("plan"))
        rows = ", ".join(f"{child.rows:,} of {child.name}" for child in self.children)
        title = f"several tables: {many(self.prepared.rows, 'person')}, and rows: {rows or 'none'}"
        stages = (*self.prepared.read, *self.prepared.compiled.stages)
        return Plan(title, (*stages, *self.writes(STAGED, work)))

    def writes(self, rows: Table, place: Places) -> Iterator[Stage]:
        """The stages that write the rows of all tables; `rows`: those of the view."""
        numbered = self.session.engine.embedded
        yield from release_writes(self.prepared, rows, place, numbered=numbered)
        above: dict[str, Table] = {}
        for one in self.tables:
            yield from one.steps(above.get(one.child.above, LINK))
            yield one.publish(place(one.name))
            above[one.child.name] = one.child.linked


def read_tables(policy: AnyPolicy, session: Session, executor: Executor) -> TablesRead:
    """Execute the statements that read the tables, and compile the rest.

    Raises SourceError, with paths of the tables, for a source that does not fit the policy.
    """
    if not policy.several:
        single = policy.one_table("a trial run")
        prepared = prepare(single, session, executor)
        found = remarks(single, executor.notes, prepared.roles.kinds)
        return TablesRead(policy, prepared, session, tuple(found))
    single = policy.lead
    session, lifting = with_lifted(policy, session, executor)
    sources = _sources(policy, single, session)
    with at_persons(policy):
        persons = read_source(
            single, session, executor, persons=True, redacts=has_role(policy, "redact")
        )
    _refuse_clashes(policy, policy.person, persons.roles)
    told = list(_table_warnings(policy, policy.person, single, persons.roles, executor))
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
            child = with_counts(child, session.engine.execute(counts.statement(), counts.name))
            meant = meant_notes(
                child.policy, child.profile, child.roles, child.kept, alone=False, rows=child.rows
            )
            executor.run(meant, f"reading {name}")
        above[name] = child.as_above()
        named += named_in(child.policy, child.profile, child.kept)
        sought += named_before(child.policy, child.profile, child.read)
        children.append(child)
        stages += (*read, *meant)
        told += _table_warnings(policy, name, child.policy, child.roles, executor)
    with at_persons(policy):
        compiled = compile_tables(policy, single, persons.profile, persons.roles, children)
    prepared = Prepared(persons.roles, tuple(stages), compiled, persons.rows, persons.profile)
    told += [*_as_they_are(policy), *_left_out(children)]
    tables = tuple(published_table(policy, child, children) for child in children)
    return TablesRead(policy, prepared, session, tuple(told), tuple(children), tables)


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


def _table_warnings(
    policy: SchemaPolicy, name: str, single: Policy, described: Roles, executor: Executor
) -> Iterator[str]:
    """The warnings about one table; removes its counts from the notes."""
    spoken = [column for table, column in policy.reserved if table == name]
    found = table_remarks(single, spoken, executor.notes, described.kinds)
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


def _sources(policy: SchemaPolicy, single: Policy, session: Session) -> dict[str, SourceTable]:
    """The sources of the tables other than that of the persons, whose rows have not been read.

    Raises the problems of all tables together: a table that is missing, a column without a role.
    """
    found: dict[str, SourceTable] = {}
    errors: list[AnonymizerError] = []
    try:
        with at_persons(policy):
            roles(single, session.profile)
    except (PolicyError, SourceError) as error:
        errors.append(error)
    for number, name in enumerate(policy.children, 1):
        try:
            with at_table(name):
                own = policy.single(name)
                queried = work(f"queried_{number}")
                found[name] = SourceTable(*further_source(own, session.engine, queried))
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
    sought: Sequence[IdentifierColumn],
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
        with_number(roles(own, profile), number),
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
    """Return whether any column of any table has this role."""
    return any(c.role == role for t in policy.tables.values() for c in t.columns.values())


def _refuse_clashes(policy: SchemaPolicy, name: str, described: Roles) -> None:
    """Raise PolicyError for published names that clash, once the types are known."""
    PolicyError.refuse(clashes(policy, {name: described.kinds}))


def _with_levels(policy: SchemaPolicy, name: str, profile: TableProfile) -> Policy:
    """The table's policy, with default levels for event columns of dates and numbers."""
    own = policy.single(name)
    types, columns = dict(profile.columns), dict(own.columns)
    default = {"date": Date(builder="date"), "numeric": Cardinality(builder="cardinality")}
    for column in policy.tables[name].events:
        described = columns[column]
        spec = default.get(str(described.kind or kind_of(types.get(column, ""))))
        if described.hierarchy is None and spec is not None:
            columns[column] = described.model_copy(update={"hierarchy": spec})
    return own.model_copy(update={"columns": FrozenMap(columns)})


# A release of several tables: written, judged and published together.


def tables_read(policy: SchemaPolicy, read: TablesRead, engine: Engine) -> Tables:
    """The tables of the release that is made from what was read."""
    layouts = {one.child.name: one.layout for one in read.tables}
    layouts[policy.person] = read.prepared.compiled.layout
    # by table and column: the paths of values under a hierarchical distance, and which cells of
    # events admit one and the same value
    named = [(policy.person, read.prepared.roles)]
    named += [(child.name, child.roles) for child in read.children]
    paths: dict[tuple[str, str], Any] = {
        (name, s.column): published_paths(engine, s)
        for name, roles in named
        for s in roles.sensitive
        if s.height
    }
    for one in read.tables:
        labels = together(engine, policy, one)
        paths |= {(one.child.name, column): sets for column, sets in labels.items()}
    return tables_of(policy, layouts, paths)


def stage_table_originals(engine: Engine, one: PublishedTable) -> None:
    """Create what the cells of a table are compared with, in scratch only."""
    child = one.child
    engine.raw(
        f"create or replace view {ident(child.originals)} as"
        f" select rowid as row_ref, * from {ident(child.kept)}",
        "verification",
    )
    for text in cell_statements(child.attributes, one.layout, child.linked, child.originals):
        engine.raw(text, "verification")


def tables_measures(
    engine: Engine, read: TablesRead, tables: Tables, where: Where, *, all_rows: bool = False
) -> dict[str, Any]:
    """Rows, suppressed rows and losses of every table except the persons'.

    `all_rows`: losses over all rows; a suppressed row costs 1.
    """
    run_sql = engine.asking("measures")
    found: dict[str, Any] = {}
    for one in read.tables:
        child, released = one.child, tables.table(one.child.name)
        rows = int(run_sql(f"select count(*) from {ident(where(released))}")[0][0])
        lost = child.owned - rows
        losses = column_losses(
            run_sql,
            where(released),
            one.layout,
            originals(child.roles, child.originals, person=None),
            suppressed=lost if all_rows else 0,
        )
        found[child.name] = {
            "rows": rows,
            "suppressed": lost,
            **({"orphans": child.orphans} if child.astray else {}),
            "ncp": {name: round(loss, 6) for name, loss in losses.items()},
        }
    return found


SUMS = (FigureColumn("n", "sum"),)


def tables_against_source(
    engine: Engine, read: TablesRead, tables: Tables, where: Where
) -> Verification:
    """Compare every published row of every table with its original."""
    links = {tables.person: (LINK, tables.persons.layout.key)}
    order = {
        "link": LINK,
        "original": ORIGINALS,
        "row_ref": "row_ref",
        "label": "what",
        "key": tables.persons.layout.key,
        "own": "identity",
    }
    name = tables.person
    drawn = Question("source_key_order", name, 0, "key_order", order, SUMS)
    total = verification(ask_all([drawn], engine.asking("verification")))
    for one in read.tables:
        child, released = one.child, tables.table(one.child.name)
        stage_table_originals(engine, one)
        run_sql = engine.asking("verification")
        published = engine.raw(f"select count(*) from {ident(where(released))}", "suppression")
        judged = verify_against_source(
            run_sql,
            originals(child.roles, child.originals, person=None),
            child.linked,
            where(released),
            one.layout,
            compared=work(f"compared_{child.number}"),
            suppressed=child.rows - int(published[0][0]),
            ask=ask_all,
        )
        checks = [
            replace(c, column=child.name if c.column is None else f"{child.name}.{c.column}")
            for c in judged.checks
        ]
        further = (*_keys(one, links[child.above]), *together_questions(one, released))
        keys = ask_all(further, run_sql)
        links[child.name] = (child.linked, one.layout.key)
        total += verification((*checks, *keys))
    return total


def rows_left_out(measures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A warning for every table with suppressed rows."""
    for name, found in measures.items():
        lost, rows = found["suppressed"], found["rows"] + found["suppressed"]
        if lost:
            yield (
                f"{lost:,} of {rows:,} rows of {name} are left out ({100 * lost / rows:.1f} %): too"
                " few persons share what may be known of them; suppression_limit.rows limits that"
            )


def _keys(one: PublishedTable, above: tuple[Table, str | None]) -> Iterator[Question]:
    child, (link, key) = one.child, above
    shared = {
        "link": child.linked,
        "original": child.originals,
        "row_ref": "row_ref",
        "label": "what",
    }
    links = {**shared, "above": link, "above_key": key, "link_column": child.link}
    yield Question("source_links", child.name, 0, "source_links", links, SUMS)
    if one.layout.key is not None:
        order = {**shared, "key": one.layout.key, "own": "own"}
        yield Question("source_key_order", child.name, 0, "key_order", order, SUMS)
