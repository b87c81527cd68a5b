"""Tables of counts: read, count, protect, verify what was written, publish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from anonymizer import hierarchy
from anonymizer.algorithms.aggregate.domain import (
    domain_of_leaves,
    domain_stages,
    is_listed,
    size_guard,
    values_of_domain,
)
from anonymizer.algorithms.aggregate.groups import (
    Dimension,
    atoms_stages,
    dimensions,
    snapshot_step,
    source_guards,
)
from anonymizer.algorithms.aggregate.method import METHODS, CompiledCounts, Method, method_of
from anonymizer.algorithms.aggregate.rest import SPLIT
from anonymizer.algorithms.aggregate.sums import (
    Summed,
    contributor_column,
    figures,
    measured,
    sum_columns,
    sum_guards,
    summed,
)
from anonymizer.compile import Table, ident
from anonymizer.contract.checks import Verification, verification
from anonymizer.contract.counts_layout import Counts, Spending
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session, find_table
from anonymizer.errors import GuaranteeError, PolicyError, Problem
from anonymizer.guarantees.requirements import requirements_of
from anonymizer.ledger import LedgerSession
from anonymizer.ledger.counts import CountedRelease
from anonymizer.policy import AggregatePolicy
from anonymizer.policy.aggregate import STATUS
from anonymizer.process.secret import Seed
from anonymizer.publish.target import Places, Target, Writer
from anonymizer.release.integrity import Sign
from anonymizer.release.judge import judge, refuse_unanswered, refuse_unless_passed
from anonymizer.release.manifest import Manifest, make_manifest
from anonymizer.release.published import Release
from anonymizer.run.problem_paths import at_groups
from anonymizer.source.profile import published_type
from anonymizer.source.snapshot import SNAPSHOT, values_step
from anonymizer.steps import Plan, Stage, Step
from anonymizer.verification.counts_questions import (
    SourceColumn,
    SourceSum,
    measures_sql,
    source_questions,
)
from anonymizer.version import __version__

UNUSED = (
    "protect.minimum is not applied: under dp every group is listed, with noise; leave it out, or"
    " choose another method"
)
PRIVATE = "for the owner of the source: not to be handed over with the release"


@dataclass(frozen=True, slots=True)
class CountsRead:
    """The finest groups of a source, and the compiled method."""

    policy: AggregatePolicy
    method: Method
    dimensions: tuple[Dimension, ...]
    sums: tuple[Summed, ...]
    snapshot: Step
    stages: tuple[Stage, ...]
    """The executed stages."""
    compiled: CompiledCounts

    def plan(self, figures: Mapping[str, int]) -> Plan:
        """Everything that a run executes, in order, with what it would leave out."""
        said = self.compiled.words(figures)
        title = f"{self.method.name} over {figures['atoms']:,} groups: {said} ({PRIVATE})"
        return Plan(title, (*self.stages, *self.compiled.stages))


def read_counts(policy: AggregatePolicy, session: Session, executor: Executor) -> CountsRead:
    """Read the source, build hierarchies, count the finest groups, and compile the method."""
    method = method_of(policy)
    with at_groups(policy):
        found = dimensions(policy, session.profile)
        sums = summed(policy, session.profile)
        snapshot = snapshot_step(policy, found, sum_columns(policy, sums), session.source)
        stages: list[Stage] = [snapshot, *source_guards(policy, found), *sum_guards(policy, sums)]
        stages += domain_stages(policy, found)
        stages += _hierarchies(policy, found, session)
        executor.run(stages, "reading")
        heights = _heights(found, session)
        found = tuple(replace(d, levels=heights.get(d.index, d.levels)) for d in found)
        counting = atoms_stages(policy, found)
        if policy.lists_zeros:
            counting = (size_guard(found), *counting)
        executor.run(counting, "counting")
    compiled = method.compile(policy, found, sums)
    return CountsRead(policy, method, found, sums, snapshot, (*stages, *counting), compiled)


def _hierarchies(
    policy: AggregatePolicy, found: tuple[Dimension, ...], session: Session
) -> Iterator[Stage]:
    def resolve(name: str) -> Table:
        return find_table(session.engine, name, "hierarchy.table")

    for d in found:
        if d.of.hierarchy is not None:
            listed = is_listed(policy, d)
            yield values_of_domain(d) if listed else values_step(d.column, d.values, d.v)
            built = hierarchy.stages(
                d.index,
                published_type(d.sql_type),
                d.kind,
                d.of.hierarchy,
                column=d.column,
                base=policy.base,
                resolve=resolve,
            )
            yield from built
            if again := domain_of_leaves(policy, d):
                yield from (*again, built[-1])


def _heights(found: tuple[Dimension, ...], session: Session) -> dict[int, int]:
    """The levels of every hierarchy: its root is the total."""
    tall = [d for d in found if d.of.hierarchy is not None]
    text = " union all ".join(
        f"select {d.index} as number, (select max(level) from {ident(d.hierarchy)}) as height"
        for d in tall
    )
    rows = session.engine.raw(text, "hierarchies") if tall else []
    return {int(number): int(height or 1) for number, height in rows}


def plan_counts(
    policy: AggregatePolicy, session: Session, executor: Executor
) -> tuple[Plan, tuple[Problem, ...]]:
    """The plan of a run, which is tried in scratch tables to tell what would be left out, and
    the problem if that is too much.
    """
    read = read_counts(policy, session, executor)
    executor.run(read.compiled.stages, "trying")
    counted = figures_of_search(read, session)
    return read.plan(counted), tuple(beyond_limit(policy, counted))


def beyond_limit(policy: AggregatePolicy, figures: Mapping[str, int]) -> Iterator[Problem]:
    """The problem of a share of persons left out that is above the limit of the policy."""
    share = figures["persons_left_out"] / max(figures["persons"], 1)
    limit = getattr(policy.options, "limit", 1.0)
    if share > limit:
        yield Problem(
            f"{policy.method}.limit",
            f"{share:.1%} of the persons would be left out, more than the limit of {limit:.1%}",
            hint="use coarser groups or fewer columns, or raise the limit",
        )


def figures_of_search(read: CountsRead, session: Session) -> dict[str, int]:
    """Groups, persons, those left out of both, and cells, once the stages of the method ran."""
    step, engine = read.compiled.figures, session.engine
    (row,) = engine.execute(step.statement(engine.name), step.name)
    names = ("atoms", "atoms_left_out", "persons", "persons_left_out", "cells")
    return dict(zip(names, map(int, row), strict=True))


def refuse_seed(policy: AggregatePolicy, seed: Seed) -> None:
    """Refuse a given seed for noise: whoever knows it could subtract the noise."""
    if METHODS[policy.method].noise and seed.given:
        said = "would make the noise known, or makes no difference: it is drawn anew in every run"
        hint = "leave out --seed-file, --test-seed and ANONYMIZER_SEED"
        raise PolicyError.at("seed", said, hint=hint)


@dataclass(slots=True)
class CountsJob:
    """A run whose groups have been counted, and the steps to a release."""

    policy: AggregatePolicy
    session: Session
    executor: Executor
    read: CountsRead
    target: Target
    seed: Seed
    ledger_session: LedgerSession | None = None
    sign: Sign | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    spending: Spending | None = None
    """What noise spends, once that is recorded."""

    def release(self) -> Release:
        """Protect the counts, write them, verify what was written, and publish it.

        What noise spends is recorded before it is drawn, and given back if nothing was published.
        """
        ledger = self.ledger_session
        if self.policy.epsilon is None:
            return self._release(ledger)
        assert ledger is not None
        self.spending = Spending(self.policy.epsilon, *ledger.spend(self.policy))
        with ledger.publishing(self.target):
            return self._release()

    def _release(self, ledger: LedgerSession | None = None) -> Release:
        """The release. `ledger`: compares it with earlier ones, and records it."""
        engine = self.session.engine
        self.executor.run(self.read.compiled.stages, "protecting")
        GuaranteeError.refuse(beyond_limit(self.policy, figures_of_search(self.read, self.session)))
        layout = self._layout()
        writer = Writer(self._write, self.read.snapshot)
        self.target.build(engine, writer)
        requirements = requirements_of(self.policy.lead)
        with self.target.built_rows(engine, layout) as (view, built):
            assert built.counts is not None
            found = judge(engine, view, built, requirements)
            refuse_unless_passed(found)
            found += self._against_source(view, built, requirements)
            refuse_unless_passed(found)
            refuse_unanswered(self.policy, found, source=True)
            counted = self._counted(view)
            if ledger is not None:
                ledger.gather_counts(engine, counted)
            cells, left_out = engine.raw(measures_sql(view, built.counts), "measures")[0]
        measures = {"rows": int(cells), "suppressed": int(left_out)}
        manifest = self._manifest(layout, requirements, found, measures)
        if ledger is not None:
            ledger.remember_counts(counted)
        with ledger.publishing(self.target) if ledger is not None else nullcontext():
            manifest = self.target.publish(engine, manifest, self.sign)
        readers = self.target.readers
        return Release(
            run_id=self.target.names.run_id,
            view=self.target.names.release,
            database=self.target.place,
            verification=found,
            measures=measures,
            findings={},
            manifest=manifest,
            warnings=tuple(self._warnings()),
            replaced=self.target.replaces,
            _table=readers.view,
            _connection=readers.connection,
            _frame=readers.frame,
        )

    def _warnings(self) -> Iterator[str]:
        yield from self.target.warnings
        if self.ledger_session is not None:
            yield from self.ledger_session.warnings
        if self.spending is not None and self.policy.minimum:
            yield UNUSED

    def _counted(self, view: Table) -> CountedRelease:
        """What the ledger reads of the written release."""
        return CountedRelease(self.policy, self.session.profile, self.read.dimensions, SPLIT, view)

    def _write(self, rows: Table, places: Places) -> None:
        named, compiled = self.policy.separated, self.read.compiled
        further = [write(places(named[name])) for name, write in compiled.further.items()]
        self.executor.run([compiled.write(rows), *further], "writing")

    def _layout(self) -> Layout:
        engine, found = self.session.engine, self.read.dimensions
        by = []
        for d in found:
            step = self.read.compiled.labels(d)
            rows = engine.execute(step.statement(engine.name), step.name) if d.levels > 1 else ()
            by.append(d.counted([tuple(map(str, row)) for row in rows]))
        measures = tuple(one.of for one in figures(self.policy, self.read.sums))
        listed = bool(getattr(self.policy.options, "list_hidden", False))
        groupings = self.policy.groupings(tuple(d.levels for d in found))
        more = (self.policy.rounding_base, self.policy.lists_zeros, self.spending)
        counts = Counts(tuple(by), groupings, measures, STATUS, listed, *more)
        return Layout(
            algorithm=self.policy.method,
            cells="text",
            columns=published_columns(counts),
            class_id=None,
            tables=dict(self.policy.separated),
            counts=counts,
        )

    def _against_source(
        self, view: Table, layout: Layout, requirements: tuple[Requirement, ...]
    ) -> Verification:
        columns = [
            SourceColumn(
                d.v, d.texts("s"), d.hierarchy if d.of.hierarchy is not None else None, d.joins
            )
            for d in self.read.dimensions
        ]
        of_source = source_questions(
            view,
            layout,
            requirements,
            SNAPSHOT,
            columns,
            [
                SourceSum(name, one.value if one.column is not None else None)
                for name, one in measured(self.policy, self.read.sums)
            ],
            person=self.policy.person is not None,
            contributor=contributor_column(self.policy),
        )
        run_sql = self.session.engine.asking("verification")
        # one by one: small work tables may be in a database beside the engine, with one connection
        checks = tuple(question.ask(run_sql) for question in of_source.asked)
        if of_source.sums is not None:
            from anonymizer.verification.counts_intervals import interval_checks

            assert layout.counts is not None
            checks += tuple(
                interval_checks(
                    run_sql(of_source.sums.sql()),
                    layout.counts,
                    [one.nonnegative for _, one in measured(self.policy, self.read.sums)],
                    of_source.sums.sql(anywhere=True),
                    insiders=self.policy.protect.insiders,
                )
            )
        return verification(checks)

    def _manifest(
        self,
        layout: Layout,
        requirements: tuple[Requirement, ...],
        found: Verification,
        measures: Mapping[str, Any],
    ) -> Manifest:
        engine = self.session.engine
        return make_manifest(
            policy=self.policy,
            names=self.target.names,
            layout=layout,
            requirements=requirements,
            verification=found,
            measures=measures,
            versions={"anonymizer": __version__, engine.name: engine.version},
            reproducible=self.seed.reproducible,
            files=self.files,
            tables=None,
        )


def published_columns(counts: Counts) -> tuple[PublishedColumn, ...]:
    """The columns of a table of counts, as a layout lists them."""
    named = [
        (name, kind)
        for d in counts.by
        for name, kind in ((d.name, "VARCHAR"), (d.level, "INTEGER"))
        if name is not None
    ]
    named += [(one.name, one.sql_type) for one in counts.measures]
    named.append((counts.status, "VARCHAR"))
    return tuple(PublishedColumn(name, "keep", "categorical", kind, name) for name, kind in named)
