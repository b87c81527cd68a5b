"""From a session to a compiled plan: read the source, build hierarchies, count, compile."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from anonymizer import hierarchy
from anonymizer.algorithms.compiled import Compiled
from anonymizer.algorithms.guards import source_guard
from anonymizer.algorithms.hierarchies import OVER_LEVELS
from anonymizer.algorithms.prepare import (
    row_counts,
    snapshot_step,
    values_at_once,
    values_step,
    values_steps,
)
from anonymizer.algorithms.registry import compiler
from anonymizer.algorithms.remarks import digests, remark_notes
from anonymizer.algorithms.roles import Roles, roles
from anonymizer.algorithms.supported import refuse_unsupported
from anonymizer.compile import Table, ident
from anonymizer.engines.base import Engine
from anonymizer.errors import AnonymizerError, PolicyError, Problem, SourceError
from anonymizer.execute import Executor
from anonymizer.hierarchy.shape import Shape, read_shapes
from anonymizer.ledger.keeper import prepare_history
from anonymizer.plan import Plan, Stage
from anonymizer.policy import Policy
from anonymizer.policy.checks.names import clashes
from anonymizer.policy.values import table_parts
from anonymizer.population import population_steps
from anonymizer.profile import Attribute, Sensitive, TableProfile, published_type
from anonymizer.session import Session, find_table


@dataclass(frozen=True, slots=True)
class Prepared:
    """The source has been read once; everything from here on reads the snapshot."""

    roles: Roles
    read: tuple[Stage, ...]
    """The stages that were executed to get here."""
    compiled: Compiled
    rows: int
    profile: TableProfile
    """The source with its counts."""

    def plan(self, policy: Policy) -> Plan:
        """Everything that a run executes, in order, but for judging and publishing."""
        title = f"{policy.algorithm.name} over {self.rows} rows"
        return Plan(title, (*self.read, *self.compiled.plan(title).stages))


def prepare(policy: Policy, session: Session, executor: Executor) -> Prepared:
    """Execute the reading stages in scratch and compile the rest."""
    refuse_unsupported(policy)
    first = roles(policy, session.profile)
    at_once = session.engine.name == "spark"
    refuse_clashes(policy, first)
    check_conditions(policy, session)
    reading: list[Stage] = [
        snapshot_step(
            policy, session.profile, first, session.source, digests(policy, session.profile)
        ),
        *source_guard(policy, first),
        *remark_notes(policy, session.profile, first),
        *(values_at_once(first) if at_once else values_steps(first)),
    ]
    reading += hierarchy_stages(policy, first, session)
    reading += population_steps(policy, session, first)
    executor.run(reading)
    if policy.ledger is not None:
        prepare_history(policy, session.embedded)
    engine = session.engine
    trees = {s.column for s in first.sensitive if policy.columns[s.column].hierarchy is not None}
    all_rows, *known_rows = row_counts(first, at_once=at_once)
    counts = [all_rows]
    for a in first.quasi:
        counts.append(f"select count(*) from {ident(a.values)}")
        has = policy.columns[a.column].hierarchy is not None
        counts.append(f"select max(level) from {ident(a.hierarchy)}" if has else "select 0")
    for s in first.sensitive:
        tree = s.column in trees
        counts.append(f"select max(level) from {ident(s.hierarchy)}" if tree else "select 0")
    counts += known_rows
    figures = engine.raw(
        "select " + ", ".join(f"({query})" for query in counts), "counts of the source"
    )[0]
    rows, quasi = int(figures[0]), len(first.quasi)
    if rows == 0:
        raise SourceError(Problem("source", "has no rows", hint="there is nothing to release"))
    engine.expect(rows)
    profile = dataclasses.replace(
        session.profile,
        rows=rows,
        distinct=tuple(int(n) for n in figures[1 : 2 * quasi + 1 : 2]),
        heights=tuple(int(n or 0) for n in figures[2 : 2 * quasi + 1 : 2]),
        nulls=tuple(rows - int(n) for n in figures[len(figures) - quasi :]),
        sensitive_heights=tuple(int(n or 0) for n in figures[2 * quasi + 1 : -quasi or None]),
        shapes=_shapes(policy, first, engine),
    )
    final = roles(policy, profile)
    compiled = compiler(policy)(policy, profile, final)
    return Prepared(final, tuple(reading), compiled, rows, profile)


def _shapes(policy: Policy, described: Roles, engine: Engine) -> tuple[Shape, ...]:
    """The hierarchies' shapes, for the algorithms that work on whole levels."""
    if policy.algorithm.name not in OVER_LEVELS:
        return ()
    return read_shapes(
        lambda text: engine.raw(text, "hierarchies"), [a.hierarchy for a in described.quasi]
    )


def hierarchy_stages(policy: Policy, described: Roles, session: Session) -> list[Stage]:
    """Build the hierarchies of all columns that have one; problems come together."""

    def resolve(name: str) -> Table:
        return find_table(session.engine, table_parts(name), "hierarchy.table")

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
            stages.append(values_step(a.column, a.values, a.s))
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
    if problems:
        raise SourceError(problems)
    return stages


def refuse_clashes(policy: Policy, described: Roles) -> None:
    """Raises PolicyError for published names that meet, now that the types are known."""
    problems = list(clashes(policy, described.kinds))
    if problems:
        raise PolicyError(problems)


def check_conditions(policy: Policy, session: Session) -> None:
    """Every condition has to be boolean over the source's columns."""
    from anonymizer.compile.condition import condition

    names = [name for name, _ in session.profile.columns]
    problems: list[Problem] = []
    for name in policy.semi_sensitive:
        path = f"columns.{name}.sensitive_when"
        found = condition(policy.columns[name].sensitive_when or "", names, path)
        if isinstance(found, Problem):
            problems.append(found)
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
    if problems:
        raise SourceError(problems)
