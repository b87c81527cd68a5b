"""The first half of a run: read the source, build hierarchies, count, compile the plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from anonymizer import hierarchy
from anonymizer.algorithms.core.compiled import Compiled
from anonymizer.algorithms.core.guards import source_guard
from anonymizer.algorithms.core.person_boxes import span
from anonymizer.algorithms.descriptor import Compiler
from anonymizer.algorithms.registry import BY_NAME, refuse_unsupported
from anonymizer.compile import Table, ident
from anonymizer.compile.condition import columns_of, condition
from anonymizer.contract.layout import Layout
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session, find_table
from anonymizer.errors import (
    AnonymizerError,
    PolicyError,
    Problem,
    SourceError,
    is_waited_for,
    raise_together,
)
from anonymizer.hierarchy.levels import read_shapes
from anonymizer.ledger.history import prepare_history
from anonymizer.policy import Policy
from anonymizer.policy.checks.release_options import clashes, too_long
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.release.opening import population_steps
from anonymizer.run.ambiguities import (
    alone_notes,
    group_notes,
    household_digests,
    meant_notes,
)
from anonymizer.run.raw_text import (
    harbor_guard,
    harbored,
    node_text_stages,
    raw_text_stages,
    refuse_unfit,
)
from anonymizer.run.warnings import digests, refuse_revealing, remark_notes, written_as_notes
from anonymizer.source.identifier_scan import identifier_columns
from anonymizer.source.masking.values import identifier_columns as sought_columns
from anonymizer.source.masking.values import named_by, read_with
from anonymizer.source.profile import Attribute, Sensitive, TableProfile, own_name, published_type
from anonymizer.source.roles import Roles, roles
from anonymizer.source.snapshot import (
    SNAPSHOT,
    reading_steps,
    row_counts,
    rows_read,
    values_at_once,
    values_step,
    values_steps,
)
from anonymizer.steps import Note, Plan, Stage

# Facts about a source after it was read and its hierarchies were built.


def count_source(
    policy: Policy, session: Session, described: Roles
) -> tuple[int, int, TableProfile]:
    """Rows read, rows kept, and the source's profile with counts and the heights of hierarchies.

    Rows that `nulls: suppress` leaves out count only as read. Needs the snapshot, the tables of
    values and the hierarchies.
    """
    engine = session.engine
    text = counting(policy, described, at_once=engine.reads_once)
    read, rows, *figures = _figures(session, text)
    quasi, clusters = len(described.quasi), policy.algorithm.clusters_persons
    return (
        read,
        rows,
        dataclasses.replace(
            session.profile,
            rows=rows,
            left_out=read - rows,
            distinct=tuple(figures[0 : 2 * quasi : 2]),
            heights=tuple(figures[1 : 2 * quasi : 2]),
            spans=_figures(session, spanning(described)) if clusters else (),
            nulls=tuple(rows - n for n in figures[len(figures) - quasi :]),
            sensitive_heights=tuple(figures[2 * quasi : -quasi or None]),
        ),
    )


def counting(policy: Policy, described: Roles, *, at_once: bool) -> str:
    """The query for all counts, one numbered row each: columns would be planned as a join."""
    kept_rows, *known_rows = row_counts(described, at_once=at_once)
    counts: list[str] = [f"select count(*) from {ident(rows_read(policy, described))}", kept_rows]
    for a in described.quasi:
        counts += [
            f"select count(*) from {ident(a.values)}",
            _height(policy, a.column, a.hierarchy),
        ]
    counts += [_height(policy, s.column, s.hierarchy) for s in described.sensitive]
    return _numbered([*counts, *known_rows])


def spanning(described: Roles) -> str:
    """The query for the span of each quasi-identifier; it reads no rows, so that no engine but the
    one of compact state counts units of time.
    """
    return _numbered([span(a) for a in described.quasi])


def _numbered(counts: Iterable[str]) -> str:
    return "\nunion all ".join(
        f"select {number} as number, ({query}) as figure" for number, query in enumerate(counts)
    )


def _figures(session: Session, text: str) -> tuple[int, ...]:
    found = sorted(session.engine.raw(text, "counts of the source"))
    return tuple(int(figure or 0) for _, figure in found)


def _height(policy: Policy, column: str, hierarchy: Table) -> str:
    if policy.columns[column].hierarchy is None:
        return "select 0"
    return f"select max(level) from {ident(hierarchy)}"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source that has been read; all later steps use its snapshot."""

    roles: Roles
    read: tuple[Stage, ...]
    """The stages that were executed so far."""
    compiled: Compiled
    rows: int
    """Rows of the source, including those that `nulls: suppress` leaves out."""
    profile: TableProfile
    """The source's profile, with counts."""

    def plan(self, policy: Policy) -> Plan:
        """Everything that a run executes, in order, except verification and publishing."""
        title = f"{policy.algorithm.name} over {many(self.rows, 'row')}"
        return Plan(title, (*self.read, *self.compiled.plan(title).stages))


@dataclass(frozen=True, slots=True)
class SourceRead:
    """The source as read, with its counts: the input of the compilers."""

    roles: Roles
    stages: tuple[Stage, ...]
    """The executed stages."""
    rows: int
    """Rows of the source, including those that `nulls: suppress` leaves out."""
    profile: TableProfile


def prepare(policy: Policy, session: Session, executor: Executor) -> Prepared:
    """Execute the reading stages in scratch and compile the rest."""
    found = read_source(policy, session, executor)
    compiled = _compiler(policy)(policy, found.profile, found.roles)
    layout = harbored(policy, _masked(compiled.layout, found.roles))
    compiled = dataclasses.replace(compiled, layout=layout)
    return Prepared(found.roles, found.stages, compiled, found.rows, found.profile)


def _masked(layout: Layout, found: Roles) -> Layout:
    """The layout with the masks of all columns, including those in separate tables."""
    columns = tuple(
        dataclasses.replace(column, masks=found.mask_descriptions(column.column))
        for column in layout.columns
    )
    return dataclasses.replace(layout, columns=columns)


def read_source(
    policy: Policy,
    session: Session,
    executor: Executor,
    *,
    persons: bool = False,
    redacts: bool = False,
) -> SourceRead:
    """Execute the reading stages in scratch, and count.

    `persons`: the table has one row per person, so no column is suspected to be a person key.
    `redacts`: identifiers of this table are searched for in the texts of other tables.
    """
    refuse_unsupported(policy)
    first = _described(policy, session)
    refuse_unfit(policy, session.profile)
    refuse_clashes(policy, first, session.engine.longest_name)
    sought = named_by(policy, session.profile) if redacts and not read_with(first.masks) else ()
    reading: list[Stage] = [
        *reading_steps(
            policy,
            session.profile,
            first,
            session.source,
            (
                *(() if persons else digests(policy, session.profile)),
                *household_digests(policy, session.profile),
                *identifier_columns(policy, session.profile, first, of_several=persons),
                *sought_columns(sought),
            ),
            alone=not persons,
        ),
        *(values_at_once(first) if session.engine.reads_once else values_steps(first)),
        *raw_text_stages(policy, session.profile, first, counted=True),
        *source_guard(policy, session.profile, first, eras=session.profile.eras),
        *(() if persons else remark_notes(policy, session.profile, first)),
        *written_as_notes(policy, first),
        *harbor_guard(policy, first),
    ]
    reading += hierarchy_stages(policy, first, session)
    reading += node_text_stages(policy, first.quasi)
    reading += population_steps(policy, session, first)
    executor.run(reading, "reading")
    if policy.ledger is not None:
        prepare_history(policy, session.engine)
    read, rows, profile = count_source(policy, session, first)
    if read == 0:
        raise SourceError.at("source", "has no rows", hint="there is nothing to release")
    session.engine.expect(rows)
    meant = (
        *meant_notes(policy, session.profile, first, SNAPSHOT, alone=not persons, rows=rows),
        *group_notes(policy, session.profile, first),
        *alone_notes(policy, first),
    )
    # notes stand together, so that one statement computes them
    executor.run(sorted(meant, key=lambda stage: isinstance(stage, Note)), "checking")
    refuse_revealing(policy, executor.notes)
    in_parts = profile.in_parts or executor.solver is not None
    profile = dataclasses.replace(profile, in_parts=in_parts)
    if policy.algorithm.over_levels:
        profile = dataclasses.replace(
            profile,
            shapes=read_shapes(
                lambda text: session.engine.raw(text, "hierarchies"),
                [a.hierarchy for a in first.quasi],
            ),
        )
    return SourceRead(roles(policy, profile), (*reading, *meant), read, profile)


def _described(policy: Policy, session: Session) -> Roles:
    """The columns by role. Raises the problems of columns and of conditions together."""
    errors: list[AnonymizerError] = []
    try:
        found = roles(policy, session.profile)
    except (PolicyError, SourceError) as error:
        errors.append(error)
    try:
        check_conditions(policy, session)
    except SourceError as error:
        errors.append(error)
    raise_together(errors)
    return found


DECIDED = "compare it in source.query, as a boolean column that the condition names"


def _of_extensions(text: str, profile: TableProfile) -> list[str]:
    """The columns in a condition whose type comes with its own operators. The run, in which no user
    object shadows a built-in one, would compare them with other operators.
    """
    types = dict(profile.columns)
    return [name for name in columns_of(text, types) if "." in (own_name(types[name]) or "")]


def _compiler(policy: Policy) -> Compiler:
    """The compiler of the policy: of its algorithm, or of a continued series of releases."""
    if not policy.continues:
        return BY_NAME[policy.algorithm.name].compile
    from anonymizer.republish import compile_republish

    return compile_republish


def hierarchy_stages(
    policy: Policy, described: Roles, session: Session, snapshot: Table = SNAPSHOT
) -> list[Stage]:
    """The stages that build all hierarchies; problems are raised together."""

    def resolve(name: str) -> Table:
        return find_table(session.engine, name, "hierarchy.table")

    stages: list[Stage] = []
    problems: list[Problem] = []
    columns: list[tuple[int, Attribute | Sensitive]]
    columns = [(a.index, a) for a in described.quasi]
    columns += [(s.hierarchy_index, s) for s in described.sensitive]
    for index, a in columns:
        spec = policy.columns[a.column].hierarchy
        if spec is None:
            continue
        if isinstance(a, Sensitive):
            stages.append(values_step(a.column, a.values, a.s, snapshot))
        given = getattr(spec, "file", None)
        if given is not None and is_waited_for(policy.resolve(given)):
            where = f"{column_path(a.column, 'hierarchy')}.file"
            problems.append(Problem(where, f"{given} is a named pipe, not a hierarchy file"))
            continue
        try:
            stages += hierarchy.stages(
                index,
                published_type(a.sql_type),
                a.kind,
                spec,
                column=a.column,
                base=policy.base,
                resolve=resolve,
            )
        except AnonymizerError as error:
            problems += error.problems
    SourceError.refuse(problems)
    return stages


def refuse_clashes(policy: Policy, described: Roles, longest: int | None = None) -> None:
    """Raise PolicyError for published names that clash, once the types are known.

    `longest`: number of bytes to which the engine truncates a name, if it does.
    """
    problems = list(clashes(policy, described.kinds))
    if longest is not None:
        problems += too_long(policy, described.kinds, longest)
    PolicyError.refuse(problems)


def check_conditions(policy: Policy, session: Session) -> None:
    """Every condition has to be boolean over the source's columns."""
    names = [name for name, _ in session.profile.columns]
    problems: list[Problem] = []
    for name in policy.semi_sensitive:
        path = column_path(name, "sensitive_when")
        found = condition(policy.columns[name].sensitive_when or "", names, path)
        if isinstance(found, Problem):
            problems.append(found)
            continue
        strangers = _of_extensions(policy.columns[name].sensitive_when or "", session.profile)
        if strangers:
            said = f"reads {', '.join(strangers)}, whose type comes with operators of its own"
            problems.append(Problem(path, said, hint=DECIDED))
            continue
        try:
            described = session.engine.describe(
                f"(select {found} as flag from {session.source.sql})", path
            )
        except AnonymizerError as error:
            problems += error.problems
            continue
        if described[0][1] != "BOOLEAN":
            problems.append(
                Problem(
                    path,
                    "is not boolean",
                    allowed="a boolean column, or a comparison",
                    hint="compare it with a value, as in flag = 1",
                )
            )
    SourceError.refuse(problems)
