"""The second half of a run: write the rows, verify them, then publish."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anonymizer.algorithms.core.compiled import Compiled
from anonymizer.compile import Table
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.contract.reading import ReleasedTable
from anonymizer.contract.rounding import of_search
from anonymizer.engines.base import Engine
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.errors import GuaranteeError
from anonymizer.ledger import LedgerSession, Written
from anonymizer.measure.proofs import linked_below
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.process.secret import Seed
from anonymizer.publish.target import Places, StagedTarget, Target, Writer
from anonymizer.release.certificate import PRESENCE, presence_disclosed
from anonymizer.release.integrity import Sign
from anonymizer.release.judge import (
    judge,
    judge_tables,
    refuse_beyond,
    refuse_unanswered,
    refuse_unless_passed,
    rows_beyond,
)
from anonymizer.release.manifest import Manifest, make_manifest, published_measures
from anonymizer.release.published import Release
from anonymizer.run.prepare import Prepared
from anonymizer.run.problem_paths import at_persons
from anonymizer.run.release_rows import (
    LINK,
    ORIGINALS,
    against_source,
    counterfeits,
    judging,
    members_read,
    policy_requirements,
    release_measures,
    stage_for_judging,
    suppression,
)
from anonymizer.run.tables import (
    TablesRead,
    rows_left_out,
    tables_against_source,
    tables_measures,
    tables_read,
)
from anonymizer.run.vaults import Tokens, remember, tokens_of
from anonymizer.run.warnings import little
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Step
from anonymizer.verification.across_tables import Where
from anonymizer.version import __version__


@dataclass(slots=True)
class Job:
    """A run whose stages have been executed: its state, and the steps to a release."""

    asked: AnyPolicy
    """The policy of the release."""
    session: Session
    executor: Executor
    read: TablesRead
    target: Target
    seed: Seed
    began: float
    ledger_session: LedgerSession | None
    source_warnings: tuple[str, ...] = ()
    """Warnings about the source."""
    sign: Sign | None = None
    """Signs the manifest, if there is a key."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files that the policy declares, by their paths in it."""
    policy: Policy = field(init=False)
    """The policy of the view that names the release."""

    def __post_init__(self) -> None:
        self.policy = self.asked.lead

    @property
    def engine(self) -> Engine:
        return self.session.engine

    @property
    def prepared(self) -> Prepared:
        return self.read.prepared

    @property
    def compiled(self) -> Compiled:
        return self.prepared.compiled

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The policy's guarantees; for a hierarchical distance with the paths of its values."""
        return policy_requirements(self.policy, self.engine, self.prepared.roles)

    def release(self) -> Release:
        """Build the release, verify what was built, and publish it.

        Raises GuaranteeError if a check fails; nothing is published then.
        """
        snapshot = self.prepared.read[0]
        assert isinstance(snapshot, Step)
        self.target.build(self.engine, Writer(self._write, snapshot))
        with self.target.built_rows(self.engine, self.compiled.layout) as (view, layout):
            verification, measures = self._verify(view, layout)
        manifest = self._manifest(verification, measures)
        manifest = self._publish(manifest)
        readers = self.target.readers
        left_out = rows_left_out(measures.get("tables", {}))
        return Release(
            run_id=self.target.names.run_id,
            view=self.target.names.release,
            database=self.target.place,
            verification=verification,
            measures=measures,
            findings=self._findings(),
            manifest=manifest,
            warnings=(*self.target.warnings, *self._warnings(left_out), *little(measures)),
            replaced=self.target.replaces,
            _table=readers.view,
            _connection=readers.connection,
            _frame=readers.frame,
        )

    def _write(self, rows: Table, place: Places) -> None:
        if self.engine.embedded or self.asked.several:
            self.executor.run([*self.read.writes(rows, place)], "writing")
        else:
            self.executor.run(self.compiled.writes(rows, place), "writing")

    def _publish(self, manifest: Manifest) -> Manifest:
        """Record tokens in vaults, compare and record the release in the ledger, publish it."""
        remember(self.engine, self._tokens())
        ledger_session = self.ledger_session
        if ledger_session is None:
            return self.target.publish(self.engine, manifest, self.sign)
        with at_persons(self.asked):
            ledger_session.remember(
                self.engine,
                self.prepared.roles,
                self.prepared.profile,
                self.compiled.layout,
                link=LINK,
                originals=ORIGINALS,
                secret=self.seed.secret,
                written=[Written(one.child, one.layout) for one in self.read.tables],
            )
        with ledger_session.publishing(self.target):
            return self.target.publish(self.engine, manifest, self.sign)

    def _tokens(self) -> Iterator[Tokens]:
        """The columns of all tables whose tokens are recorded in vaults."""
        further = ((one.policy, one.roles, one.kept) for one in self.read.children)
        tables = ((self.policy, self.prepared.roles, SNAPSHOT), *further)
        for at, (policy, roles, rows) in zip(self.asked.singles, tables, strict=True):
            yield from tokens_of(policy, roles.masks, rows, at)

    def _where(self, view: Table) -> Where:
        """Where the tables are during verification; that of the persons is `view`."""
        target = self.target

        def where(one: ReleasedTable) -> Table:
            if one.table == self.asked.person:
                return view
            if isinstance(target, StagedTarget):
                return target.staged[one.name]
            return Table(one.name, view.schema, view.catalog)

        return where

    def _verify(self, view: Table, layout: Layout) -> tuple[Verification, dict[str, Any]]:
        """Verify and measure the rows behind `view`, and those of further tables.

        Raises GuaranteeError if a check fails.
        """
        began = time.perf_counter()
        with at_persons(self.asked):
            stage_for_judging(self.engine, self.prepared, view, layout)
            forged = counterfeits(self.engine, self.compiled)
            found = suppression(self.policy, self.engine, self.prepared.roles, view, layout, forged)
            if self.asked.several:
                found = replace(found, unit="persons")
            republish = self.policy.republish
            grows = republish is not None and republish.grows
            refuse_beyond(found, self.policy.suppression_limit, grows=grows)
            source = against_source(self.policy, self.engine, self.prepared, view, layout, found)
            population = members_read(self.policy, self.prepared.roles)
            ask = judging(self.engine, view, layout)
            verification = judge(self.engine, view, layout, self.requirements, population, ask)
            refuse_unless_passed(verification + source)
        more: dict[str, Any] = {}
        if self.asked.several:
            tables, where = tables_read(self.asked, self.read, self.engine), self._where(view)
            verification += judge_tables(self.engine, tables, where)
            refuse_unless_passed(verification, self.asked)
            source += tables_against_source(self.engine, self.read, tables, where)
            refuse_unless_passed(source, self.asked)
            more |= linked_below(self.engine.asking("measures"), tables, where)
            more["tables"] = tables_measures(self.engine, self.read, tables, where)
            GuaranteeError.refuse(rows_beyond(self.asked, more["tables"]))
        # checks that a recipient can repeat come before those that need the source
        verification += source
        refuse_unanswered(self.asked, verification, source=True)
        measures = release_measures(
            self.requirements, self.engine, self.prepared, view, layout, found
        )
        units = measures["persons"] or measures["rows"]
        measures |= of_search(self.executor.notes, units, measures) | more
        now = time.perf_counter()
        measures["seconds_anonymizing"] = round(began - self.began, 3)
        measures["seconds_judging"] = round(now - began, 3)
        return verification, measures

    def _manifest(self, verification: Verification, measures: dict[str, Any]) -> Manifest:
        return make_manifest(
            policy=self.asked,
            names=self.target.names,
            layout=self.compiled.layout,
            requirements=self.requirements,
            verification=verification,
            measures=published_measures(measures, self.policy),
            versions={"anonymizer": __version__, self.engine.name: self.engine.version},
            reproducible=self.seed.reproducible,
            files=self.files,
            tables=tables_read(self.asked, self.read, self.engine) if self.asked.several else None,
        )

    def _findings(self) -> dict[str, Any]:
        """The record of the search. It depends on hidden values, and is no part of the release."""
        return {
            found.name: found.tell(self.engine.execute(found.query.statement(), found.name))
            for found in self.compiled.findings
        }

    def _warnings(self, left_out: Iterable[str]) -> tuple[str, ...]:
        presence = (PRESENCE,) if presence_disclosed(self.policy) else ()
        return (*self.source_warnings, *left_out, *presence)
