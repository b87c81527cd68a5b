"""Plan and run, the same for every engine."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymizer.engines.base import Engine, Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.partition_workers import solver_of
from anonymizer.engines.execute import Executor, Listener, aside
from anonymizer.engines.registry import chosen_engine, open_source, refuse
from anonymizer.engines.session import Session, Workplace
from anonymizer.ledger import LedgerSession
from anonymizer.ledger.record import home_of
from anonymizer.policy import AnyPolicy
from anonymizer.policy.referenced_files import declared_digests
from anonymizer.process.interrupts import deciding
from anonymizer.process.run_folder import turn
from anonymizer.process.secret import Seed
from anonymizer.publish.target import Target, publisher, refuse_without_consent
from anonymizer.release.agreement import refuse_changed_while_read
from anonymizer.release.objects import Names
from anonymizer.release.published import Release
from anonymizer.release.signing import signer
from anonymizer.run.clean import remove_leftovers
from anonymizer.run.counts_job import CountsJob, plan_counts, read_counts, refuse_seed
from anonymizer.run.job import Job
from anonymizer.run.problem_paths import at_file, at_persons
from anonymizer.run.tables import read_tables
from anonymizer.run.vaults import refuse_misplaced
from anonymizer.source.masking.masks import bound_values
from anonymizer.steps import Plan


@contextmanager
def executing(
    policy: AnyPolicy,
    database: Any,
    engine: str,
    *,
    seed: Seed,
    run: Workplace | None = None,
    limits: Limits | None = None,
    listener: Listener | None = None,
    lasting: bool = False,
) -> Iterator[tuple[Session, Executor]]:
    """The source of `policy`, opened on an engine, and what executes the stages of a run there.

    Of several tables it is that of the persons, in a session that may read the others as well.
    `lasting`: key files are read, as a release needs them.
    """
    place = run or Workplace(secrets.token_hex(8))
    place = replace(place, beside=policy.further)
    with at_file(policy), ExitStack() as stack:
        with at_persons(policy):
            opening = open_source(engine, policy.lead, database, place, limits or Limits())
            session = stack.enter_context(opening)
        session.engine.binds = bound_values(policy, seed.secret, lasting=lasting)
        session.engine.limits = limits or Limits()
        executor = Executor(session.engine, listener)
        home = session.engine.embedded_duckdb
        if isinstance(home, DuckDBEngine):
            executor.solver = solver_of(session.engine, home, session.engine.limits, policy.lead)
        if place.writes:
            second = stack.enter_context(session.engine.second())
            if second is not None:
                executor.aside = stack.enter_context(aside(second))
        yield session, executor


def plan(
    policy: AnyPolicy,
    database: Any = None,
    *,
    engine: str | None = None,
    limits: Limits | None = None,
) -> Plan:
    """The statements that a run would execute, in order. Reads the source; writes nothing.

    Raises the errors of `run` that can be found by reading the source. `engine` and `limits` are
    those of `run`.
    """
    lead = policy.lead
    kind = chosen_engine(lead, database, engine)
    refuse(policy, kind)
    opening = executing(policy, database, kind, seed=Seed.fresh(), limits=limits)
    with opening as (session, executor):
        if policy.counts is not None:
            made, _ = plan_counts(policy.counts, session, executor)
        else:
            made = read_tables(policy, session, executor).plan()
        return replace(made, views=session.engine.view_definitions())


@deciding()
def run(
    policy: AnyPolicy,
    database: Any = None,
    *,
    seed: Seed | str | int | None = None,
    limits: Limits | None = None,
    listener: Listener | None = None,
    replace_source: bool = False,
    engine: str | None = None,
    sign: str | Path | None = None,
) -> Release:
    """Anonymize, verify, and only then publish. On failure it raises and publishes nothing.

    `database`: the file of the source, or an open DuckDB connection, which the run itself uses; the
    address of a Postgres database (postgresql://...) or a psycopg connection; a Spark session.
    `seed`: a secret of 64 hexadecimal digits; a number makes a release that is marked reproducible.
    `replace_source`: consent, which `publish: {replace_source: true}` requires. `engine`: duckdb,
    postgres or spark; takes precedence over the policy and the kind of database. `sign`: the file
    of a private key (Ed25519), by which the release is signed.
    """
    lead = policy.lead
    kind = chosen_engine(lead, database, engine)
    refuse(policy, kind)
    key = signer(sign) if sign is not None else None
    if lead.publish.replace_source:
        refuse_without_consent(replace_source)
    began = time.perf_counter()
    files = declared_digests(policy)
    chosen = Seed.from_argument(seed)
    if policy.counts is not None:
        refuse_seed(policy.counts, chosen)
    there = publisher(kind)
    place = Workplace(secrets.token_hex(8), there.place_of(lead, database), writes=True)
    names = Names.of(policy, place.run_id)
    ledger_session = _ledger_session(policy, database, place, names)
    targets: list[Target] = []

    def check(session: Session) -> None:
        targets.append(there.target(lead, session, names))
        targets[0].check(session.engine)

    with turn(place.file), ExitStack() as opened:
        if place.file is not None:
            remove_leftovers(place.file)
        running = executing(
            policy,
            database,
            kind,
            seed=chosen,
            run=replace(place, check=check),
            limits=limits,
            listener=listener,
            lasting=True,
        )
        try:
            with running as (session, executor):
                if not targets:
                    check(session)
                (target,) = targets
                if ledger_session is not None:
                    ledger_session.target = target.place
                    opened.enter_context(
                        _begun(ledger_session, policy, session.engine, place.run_id)
                    )
                if policy.counts is not None:
                    counted = read_counts(policy.counts, session, executor)
                    refuse_changed_while_read(files, policy)
                    job = CountsJob(policy.counts, session, executor, counted, target, chosen)
                    job = replace(job, ledger_session=ledger_session, sign=key, files=files)
                    return job.release()
                read = read_tables(policy, session, executor)
                warnings = (*read.told, *(ledger_session.warnings if ledger_session else ()))
                with at_persons(policy):
                    executor.run(read.prepared.compiled.stages, "anonymizing")
                refuse_changed_while_read(files, policy)
                state = (target, chosen, began, ledger_session, warnings, key, files)
                return Job(policy, session, executor, read, *state).release()
        finally:
            for target in targets:
                target.discard()


def _ledger_session(
    policy: AnyPolicy, database: Any, place: Workplace, names: Names
) -> LedgerSession | None:
    """The ledger of the policy, where it and the vault stand apart from source and release."""
    of_its_own = place.file if policy.lead.publish.database is not None else None
    refuse_misplaced(policy.singles, database, of_its_own)
    ledger_session = LedgerSession.of(policy, place.run_id, names.release, of_its_own)
    if ledger_session is not None:
        ledger_session.check(database)
    return ledger_session


@contextmanager
def _begun(
    ledger_session: LedgerSession, policy: AnyPolicy, engine: Engine, run_id: str
) -> Iterator[None]:
    """The ledger, opened for the run until its release has taken its place."""
    with home_of(engine, ledger_session.path, run_id) as home:
        with at_persons(policy):
            ledger_session.begin(engine, home)
        yield
