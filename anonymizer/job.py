"""The second half of a run: write the rows, judge them, and only then publish."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.algorithms.compiled import STAGED, Compiled, staged_values
from anonymizer.compile import Table
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb import DuckDBEngine
from anonymizer.errors import EngineError, Problem
from anonymizer.execute import Executor
from anonymizer.interrupts import decide
from anonymizer.ledger import Keeper
from anonymizer.pipeline import Prepared
from anonymizer.plan import Step
from anonymizer.policy import Policy
from anonymizer.release import objects, replace_target
from anonymizer.release.file_target import FileTarget, building_of, create_schema, create_view
from anonymizer.release.honesty import PRESENCE, presence_disclosed
from anonymizer.release.inplace_target import WARNING, InPlaceTarget
from anonymizer.release.judge import fingerprint, judge, refuse_beyond, refuse_unless_passed
from anonymizer.release.layout import Layout, Requirement
from anonymizer.release.link import LINK, linked_writes
from anonymizer.release.manifest import (
    Manifest,
    make_manifest,
    manifest_file,
    write_manifest,
    write_manifest_file,
)
from anonymizer.release.names import Names
from anonymizer.release.release import Release
from anonymizer.release.replace_target import ReplaceTarget
from anonymizer.release.source_checks import (
    AIDS,
    ORIGINALS,
    against_source,
    counterfeits,
    members_read,
    published_paths,
    release_measures,
    suppression,
)
from anonymizer.seed import Seed
from anonymizer.session import Session
from anonymizer.verify import Verification, requirements_of, with_paths

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from anonymizer.engines.backend import Target


@dataclass(slots=True)
class Job:
    """One run whose stages have run: what it has, and how it becomes a release."""

    policy: Policy
    session: Session
    executor: Executor
    prepared: Prepared
    names: Names
    seed: Seed
    began: float
    keeper: Keeper | None
    told: tuple[str, ...] = ()
    """Warnings about the source."""

    @property
    def engine(self) -> Engine:
        return self.session.engine

    @property
    def embedded(self) -> DuckDBEngine:
        """The engine, for what only the embedded one does."""
        return self.session.embedded

    @property
    def compiled(self) -> Compiled:
        return self.prepared.compiled

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The policy's guarantees; a hierarchical distance comes with the paths of its values."""
        found = []
        sensitive = {s.column: s for s in self.prepared.roles.sensitive}
        for item in requirements_of(self.policy):
            if item.parameters.get("distance") == "hierarchical" and item.column in sensitive:
                item = with_paths(item, published_paths(self.engine, sensitive[item.column]))
            found.append(item)
        return tuple(found)

    def into_file(self, target: FileTarget) -> Release:
        engine, names = self.embedded, self.names
        replaced = target.identity()
        with target.opened(engine, read_only=False) as catalog:
            create_schema(engine, catalog, names.schema)
            objects.create_record(engine, catalog)
            self.executor.run(
                linked_writes(
                    self.prepared, names.rows(catalog), lambda t: names.separate(t, catalog)
                )
            )
            create_view(engine, names, catalog)
            objects.record(engine, catalog, names.recorded())
            target.carry_over(engine)
            engine.raw(f"checkpoint {catalog}", "publish.database")
        with target.opened(engine, read_only=True) as catalog:
            verification, measures = self._judged(names.view(catalog), self.compiled.layout)
            judged = [fingerprint(engine, table) for table in names.published(catalog)]
        manifest = self._manifest(verification, measures)
        with target.opened(engine, read_only=False) as catalog:
            write_manifest(engine, names, catalog, manifest)
            engine.raw(f"checkpoint {catalog}", "publish.database")
        with target.opened(engine, read_only=True) as catalog:
            # the manifest went in after the judgement: the rows have to be the judged ones still
            if [fingerprint(engine, table) for table in names.published(catalog)] != judged:
                raise EngineError(Problem("publish.database", "changed while it was being built"))
        self._remember()
        decide()
        try:
            target.swap(replaced)
        except BaseException:
            if target.building.exists():  # else it stands, whatever came after
                self._withdraw()
            raise
        self._confirm()
        write_manifest_file(manifest_file(target.path, names), manifest, target.building)
        return self._release(manifest, verification, measures, target.path, None, ())

    def _remember(self) -> None:
        """Let the ledger compare and remember; from here on the release counts as published."""
        if self.keeper is None:
            return
        self.keeper.remember(
            self.embedded,
            self.prepared.roles,
            self.compiled.layout,
            link=LINK,
            originals=ORIGINALS,
            secret=self.seed.secret,
        )

    def _withdraw(self) -> None:
        if self.keeper is not None:
            self.keeper.withdraw(self.embedded)

    def _confirm(self) -> None:
        if self.keeper is not None:
            self.keeper.confirm(self.embedded)

    def beside_source(
        self, target: InPlaceTarget, connection: DuckDBPyConnection | None
    ) -> Release:
        tables, manifest, verification, measures = self._staged()
        self._remember()
        warning = WARNING
        try:
            if isinstance(target, ReplaceTarget):
                warning = replace_target.WARNING
                (snapshot,) = (s for s in self.prepared.read[:1] if isinstance(s, Step))
                target.publish_unchanged(self.embedded, STAGED, manifest, tables, snapshot)
            else:
                target.publish(self.embedded, STAGED, manifest, tables)
        except BaseException:
            self._withdraw()
            raise
        self._confirm()
        if target.database is not None:
            file = manifest_file(target.database, self.names)
            aside = building_of(target.database, self.names.run_id)
            write_manifest_file(file, manifest, aside)
        return self._release(
            manifest, verification, measures, target.database, connection, (warning,)
        )

    def onto(self, target: Target) -> Release:
        """Stage and judge the rows on their engine, and let the target publish them there."""
        tables, manifest, verification, measures = self._staged()
        target.publish(self.engine, STAGED, manifest, tables)
        return Release(
            run_id=self.names.run_id,
            view=self.names.release,
            database=target.place,
            verification=verification,
            measures=measures,
            manifest=manifest,
            warnings=(*target.warnings, *self._warnings()),
            _table=self.names.view(None),
            _frame=target.frame,
        )

    def _staged(self) -> tuple[dict[str, Table], Manifest, Verification, dict[str, Any]]:
        """Write the rows to scratch and judge them there."""
        tables = {s.table: staged_values(i) for i, s in enumerate(self.compiled.separated)}
        if self.engine.name == "duckdb":
            self.executor.run(linked_writes(self.prepared, STAGED, tables.__getitem__))
        else:
            self.executor.run(self.compiled.writes(STAGED, tables.__getitem__))
        layout = self.compiled.layout
        staged = {column: tables[name].name for column, name in layout.tables.items()}
        verification, measures = self._judged(STAGED, replace(layout, tables=staged))
        return tables, self._manifest(verification, measures), verification, measures

    def _judged(self, view: Table, layout: Layout) -> tuple[Verification, dict[str, Any]]:
        """Raises GuaranteeError unless everything holds for the rows behind `view`."""
        began = time.perf_counter()
        forged = counterfeits(self.engine, self.compiled)
        found = suppression(self.policy, self.engine, view, layout, forged)
        refuse_beyond(found, self.policy.suppression_limit)
        source = against_source(self.policy, self.engine, self.prepared, view, layout)
        population = members_read(self.policy, self.prepared.roles)
        aids = AIDS if self.engine.name == "duckdb" else None
        verification = judge(self.engine, view, layout, self.requirements, population, aids)
        verification += source
        refuse_unless_passed(verification)
        measures = release_measures(
            self.requirements, self.engine, self.prepared, view, layout, found
        )
        measures |= self.executor.notes
        now = time.perf_counter()
        measures["seconds_anonymizing"] = round(began - self.began, 3)
        measures["seconds_judging"] = round(now - began, 3)
        return verification, measures

    def _manifest(self, verification: Verification, measures: dict[str, Any]) -> Manifest:
        from anonymizer import __version__

        return make_manifest(
            policy=self.policy,
            names=self.names,
            layout=self.compiled.layout,
            requirements=self.requirements,
            verification=verification,
            measures=measures,
            versions={"anonymizer": __version__, self.engine.name: self.engine.version},
            reproducible=self.seed.reproducible,
            findings=self._findings(),
        )

    def _findings(self) -> dict[str, Any]:
        return {
            found.name: found.tell(self.engine.execute(found.query.statement(), found.name))
            for found in self.compiled.findings
        }

    def _warnings(self) -> tuple[str, ...]:
        return (*self.told, *((PRESENCE,) if presence_disclosed(self.policy) else ()))

    def _release(
        self,
        manifest: Manifest,
        verification: Verification,
        measures: dict[str, Any],
        database: Path | None,
        connection: DuckDBPyConnection | None,
        warnings: tuple[str, ...],
    ) -> Release:
        catalog = self.engine.catalog if connection is not None else None
        return Release(
            run_id=self.names.run_id,
            view=self.names.release,
            database=database,
            verification=verification,
            measures=measures,
            manifest=manifest,
            warnings=(*warnings, *self._warnings()),
            _table=self.names.view(catalog),
            _connection=connection,
        )
