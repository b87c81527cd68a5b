"""The second half of a run: write the rows, verify them, then publish."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from anonymizer.algorithms.core.compiled import Compiled
from anonymizer.compile import Table, ident, lit
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.contract.rounding import of_search
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import attach_problem
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError, EngineError, Problem
from anonymizer.ledger import LedgerSession, Written
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.process.secret import Seed
from anonymizer.publish.target import Places, Target, Writer
from anonymizer.release.certificate import PRESENCE, presence_disclosed
from anonymizer.release.integrity import Sign
from anonymizer.release.judge import judge, refuse_beyond, refuse_unanswered, refuse_unless_passed
from anonymizer.release.manifest import Manifest, make_manifest, published_measures
from anonymizer.release.published import Release
from anonymizer.run.prepare import Prepared
from anonymizer.run.source_comparison import (
    LINK,
    ORIGINALS,
    against_source,
    counterfeits,
    judging,
    linked_writes,
    members_read,
    policy_requirements,
    release_measures,
    stage_for_judging,
    suppression,
)
from anonymizer.run.warnings import little
from anonymizer.source.masking.masks import Mask
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Step
from anonymizer.version import __version__

# Vaults: private files that map each published token to its value.
#
# A vault is a DuckDB database with one table. It is written before the release is published, so
# that every published token is in it; if the run then fails, it has tokens that were never
# published.


CATALOG = "anon_vault"
TOKENS = Table("tokens", "main", CATALOG)
COLUMNS = (("name", "VARCHAR"), ("value", "VARCHAR"), ("token", "VARCHAR"))


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a column: its name, the columns of values and tokens, and the vault."""

    path: str
    """The path in the policy that names the vault."""
    column: str
    file: Path
    rows: Table
    mask: Mask


def tokens_of(policy: Policy, masks: Iterable[Mask], rows: Table, at: str = "") -> Iterator[Tokens]:
    """The columns of a table whose tokens are recorded in a vault."""
    for mask in masks:
        vault = mask.options.get("vault")
        if vault is not None:
            path = at + column_path(mask.column, "vault")
            yield Tokens(path, mask.column, policy.resolve(vault).resolve(), rows, mask)


def refuse_misplaced(
    policies: Mapping[str, Policy], database: object, release: Path | None
) -> None:
    """Raise EngineError for vaults that others can read, or whose file has another purpose.

    `policies`: those of the tables, by the prefix of their paths.
    """
    source = Path(database).resolve() if isinstance(database, str | Path) else None
    problems: list[Problem] = []
    for at, policy in policies.items():
        ledger = policy.resolve(policy.ledger).resolve() if policy.ledger is not None else None
        others = {source: "the source", release: "the release", ledger: "the ledger"}
        for name, column in policy.columns.items():
            if column.vault is not None:
                file = policy.resolve(column.vault).resolve()
                path = at + column_path(name, "vault")
                problems += _misplaced(path, file, others.get(file))
    EngineError.refuse(problems)


def _misplaced(path: str, file: Path, other: str | None) -> Iterator[Problem]:
    if other is not None:
        yield Problem(path, f"is the file of {other}", hint="a file of its own")
    elif not file.parent.is_dir():
        said = "is in a folder that does not exist"
        yield Problem(path, said, hint=f"mkdir -p {file.parent.name}")
    elif file.exists() and os.name == "posix" and file.stat().st_mode & 0o077:
        said = f"{file.name} can be read by others, and it discloses what tokens stand for"
        yield Problem(path, said, hint=f"chmod 600 {file.name}")


def remember(engine: Engine, found: Iterable[Tokens]) -> None:
    """Add each token to its vault once. Raises EngineError if a vault cannot be written."""
    by_file: dict[Path, list[Tokens]] = {}
    for one in found:
        by_file.setdefault(one.file, []).append(one)
    for file, tokens in by_file.items():
        _write(engine, file, tokens)


def _write(engine: Engine, file: Path, tokens: list[Tokens]) -> None:
    assert isinstance(engine, DuckDBEngine)  # only DuckDB reads and writes vaults
    where = tokens[0].path
    with _opened(where, file):
        engine.raw(f"attach {lit(str(file))} as {CATALOG} (type duckdb, read_write)", where)
        file.chmod(0o600)
    try:
        held = engine.raw(
            "select table_name, column_name, data_type from duckdb_columns()"
            f" where database_name = {lit(CATALOG)} and not internal order by 1, column_index",
            where,
        )
        if held and held != [(TOKENS.name, *column) for column in COLUMNS]:
            said = f"{file.name} is a database with other tables"
            raise EngineError.at(where, said, hint="a file of its own")
        listed = ", ".join(f"{name} {kind}" for name, kind in COLUMNS)
        with engine.transaction(where):
            engine.raw(f"create table if not exists {ident(TOKENS)} ({listed})", where)
            for one in tokens:
                engine.raw(
                    f"insert into {ident(TOKENS)} select distinct {lit(one.column)},"
                    f" cast({one.mask.original} as varchar), cast({one.mask.physical} as varchar)"
                    f" from {ident(one.rows)} where {one.mask.original} is not null"
                    f" except select * from {ident(TOKENS)}",
                    where,
                )
        engine.raw(f"checkpoint {CATALOG}", where)
    finally:
        with suppress(AnonymizerError):
            engine.raw(f"detach {CATALOG}", where)


@contextmanager
def _opened(where: str, file: Path) -> Iterator[None]:
    """Report errors on opening as errors of the vault."""
    try:
        yield
    except (AnonymizerError, OSError) as error:
        said, hint = attach_problem(file, "close the process that has it open")
        raise EngineError.at(where, said, hint=hint) from error


@dataclass(slots=True)
class Job:
    """A run whose stages have been executed: its state, and the steps to a release."""

    unit: ClassVar[str | None] = None
    """The unit of suppression, if it does not follow from `policy`."""
    policy: Policy
    session: Session
    executor: Executor
    prepared: Prepared
    target: Target
    seed: Seed
    began: float
    ledger_session: LedgerSession | None
    told: tuple[str, ...] = ()
    """Warnings about the source."""
    sign: Sign | None = None
    """Signs the manifest, if there is a key."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files that the policy declares, by their paths in it."""

    @property
    def engine(self) -> Engine:
        return self.session.engine

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
            verification, measures = self._judged(view, layout)
        manifest = self._manifest(verification, measures)
        manifest = self._publish(manifest)
        readers = self.target.readers
        return Release(
            run_id=self.target.names.run_id,
            view=self.target.names.release,
            database=self.target.place,
            verification=verification,
            measures=measures,
            findings=self._findings(),
            manifest=manifest,
            warnings=(*self.target.warnings, *self._warnings(), *little(measures)),
            replaced=self.target.replaces,
            _table=readers.view,
            _connection=readers.connection,
            _frame=readers.frame,
        )

    def _write(self, rows: Table, place: Places) -> None:
        if self.engine.embedded:
            self.executor.run(linked_writes(self.prepared, rows, place), "writing")
        else:
            self.executor.run(self.compiled.writes(rows, place), "writing")

    def _publish(self, manifest: Manifest) -> Manifest:
        """Record tokens in vaults, compare and record the release in the ledger, publish it."""
        remember(self.engine, self._tokens())
        ledger_session = self.ledger_session
        if ledger_session is None:
            return self.target.publish(self.engine, manifest, self.sign)
        self._remember(ledger_session)
        try:
            published = self.target.publish(self.engine, manifest, self.sign)
        except BaseException:
            if not self.target.is_published:
                ledger_session.withdraw()
            raise
        ledger_session.confirm()
        return published

    def _tokens(self) -> tuple[Tokens, ...]:
        """The tokens to be recorded in vaults."""
        return tuple(tokens_of(self.policy, self.prepared.roles.masks, SNAPSHOT))

    def _remember(self, ledger_session: LedgerSession, written: Sequence[Written] = ()) -> None:
        ledger_session.remember(
            self.engine,
            self.prepared.roles,
            self.prepared.profile,
            self.compiled.layout,
            link=LINK,
            originals=ORIGINALS,
            secret=self.seed.secret,
            written=written,
        )

    def _judged(self, view: Table, layout: Layout) -> tuple[Verification, dict[str, Any]]:
        """Verify and measure the rows behind `view`. Raises GuaranteeError if a check fails."""
        began = time.perf_counter()
        stage_for_judging(self.engine, self.prepared, view, layout)
        forged = counterfeits(self.engine, self.compiled)
        found = suppression(self.policy, self.engine, self.prepared.roles, view, layout, forged)
        found = replace(found, unit=self.unit or found.unit)
        republish = self.policy.republish
        grows = republish is not None and bool(republish.append_only)
        refuse_beyond(found, self.policy.suppression_limit, grows=grows)
        source = against_source(self.policy, self.engine, self.prepared, view, layout)
        population = members_read(self.policy, self.prepared.roles)
        ask = judging(self.engine, view, layout)
        verification = judge(self.engine, view, layout, self.requirements, population, ask)
        verification += source
        refuse_unless_passed(verification)
        self._refuse_unanswered(verification)
        measures = release_measures(
            self.requirements, self.engine, self.prepared, view, layout, found
        )
        units = measures["persons"] or measures["rows"]
        measures |= of_search(self.executor.notes, units, measures)
        now = time.perf_counter()
        measures["seconds_anonymizing"] = round(began - self.began, 3)
        measures["seconds_judging"] = round(now - began, 3)
        return verification, measures

    def _refuse_unanswered(self, verification: Verification) -> None:
        """Raise GuaranteeError for every guarantee of the policy that has no check."""
        refuse_unanswered(self.policy, verification, source=True)

    def _manifest(self, verification: Verification, measures: dict[str, Any]) -> Manifest:
        made = make_manifest(
            policy=self.policy,
            names=self.target.names,
            layout=self.compiled.layout,
            requirements=self.requirements,
            verification=verification,
            measures=published_measures(measures, self.policy),
            versions={"anonymizer": __version__, self.engine.name: self.engine.version},
            reproducible=self.seed.reproducible,
        )
        return replace(made, data={**made.data, "files": dict(self.files)}) if self.files else made

    def _findings(self) -> dict[str, Any]:
        """The record of the search. It depends on hidden values, and is no part of the release."""
        return {
            found.name: found.tell(self.engine.execute(found.query.statement(), found.name))
            for found in self.compiled.findings
        }

    def _warnings(self) -> tuple[str, ...]:
        return (*self.told, *((PRESENCE,) if presence_disclosed(self.policy) else ()))
