"""A preview of a run: the problems that prevent it, its time, memory and loss."""

from __future__ import annotations

import math
import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from statistics import mean
from typing import Any

from anonymizer.algorithms.core.split import ABOVE
from anonymizer.compile import ident
from anonymizer.engines.base import Limits
from anonymizer.engines.execute import Executor
from anonymizer.engines.registry import chosen_engine, refuse
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError, InfeasibleError, Problem
from anonymizer.guarantees.requirements import least_class
from anonymizer.ledger import LedgerSession
from anonymizer.ledger.matches import first_of_series
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.kinds import ANONYMISED, ReleaseKind
from anonymizer.policy.paths import table_path
from anonymizer.process.secret import Seed
from anonymizer.process.text import figure
from anonymizer.publish.target import publisher
from anonymizer.release.objects import Names
from anonymizer.republish.outlook import Outlook, outlook
from anonymizer.review.table_tree import PlannedTable, tree_of
from anonymizer.review.trial import Bench, Figures, SharedExecutor, alone, sample_of
from anonymizer.run.counts_job import plan_counts
from anonymizer.run.prepare import Prepared
from anonymizer.run.problem_paths import at_persons, of_file
from anonymizer.run.tables import TablesRead, read_tables
from anonymizer.run.verbs import executing
from anonymizer.source.roles import Roles, roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import (
    Composed,
    Compute,
    Embedded,
    FlatStage,
    Guard,
    Loop,
    Note,
    Parts,
    Stage,
    Step,
    flat,
)

# A forecast of a run's time, memory and loss, from counts and samples.
#
# The run is tried on samples of the source, which shows how fast this machine runs this policy; how
# time and memory grow with rows and distinct tuples was measured (docs/scale.md). Loss is
# extrapolated from the samples by a power law in the number of rows.


WHOLE = 50_000
"""Up to this many rows the table itself is anonymized: what was read for the preview is used."""
SAMPLED = (6_000, 20_000)
"""Rows of the large sample of a larger table, at least and at most."""
PART = 8
"""Rows of the table for one of the sample, in between: a forecast costs less than the run."""
PROCESS = 140
"""Megabytes used by a process that has only loaded the engine."""
SMALLER = 4
"""Size ratio of the large sample to the small one."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Expected time, memory and loss of a run."""

    seconds: float
    memory: int
    """Peak memory in bytes; with less memory, the engine spills to disk and takes longer."""
    loss: float | None
    """NCP per cell."""
    sampled: int
    """Rows of the largest sample; all rows if the table was used as a whole."""
    others: Mapping[str, float] = field(default_factory=dict)
    """With several tables: NCP per cell of each one with events, beside the persons' `loss`."""
    left_out: float | None = None
    """Share of the persons, or rows, left out; None if only a sample was tried."""
    failing: tuple[str, ...] = ()
    """Guarantees that the whole table did not reach."""
    lost: Mapping[str, float] = field(default_factory=dict)
    """Columns of which the whole table lost nearly all, with their NCP."""


def forecast(policy: Policy, bench: Bench, tuples: int, reading: float) -> Forecast | None:
    """Forecast a run over the source of a bench with so many different tuples, which it has read in
    so many seconds (`reading`).

    None if the engine is not embedded, or if no sample can be released.
    """
    session, rows = bench.session, bench.rows
    if not session.engine.embedded or rows == 0:
        return None
    policy = alone(policy)
    before = _peak()
    if rows <= WHOLE:
        sample, size = session, rows
    else:
        least, most = SAMPLED
        size = min(max(least, rows // PART), most)
        sample, drawn = sample_of(policy, session, rows, size)
        bench = Bench(sample, rows=drawn)
    large = bench.figures(policy)
    peak = _peak()
    if not large.runs:
        return None
    columns = ", ".join(ident(name).text for name in policy.quasi) or "1"
    text = f"select count(*) from (select distinct {columns} from {sample.source.sql})"
    found = int(session.engine.raw(text, "sample")[0][0])
    loss = large.loss
    if rows > size:
        sample, drawn = sample_of(policy, session, rows, size // SMALLER)
        small = Bench(sample, rows=drawn, sampled=True)  # (how loss falls, without refinement)
        loss = _continued(small.figures(policy), large, rows)
    seconds = large.seconds + (reading if rows == size else 0.0)
    speed, width = seconds / _work(large.rows, found), len(policy.quasi)
    # the parts processed at a time are together about as large as the largest undivided table
    at_once = min(tuples, ABOVE) if policy.algorithm.may_divide else tuples
    needed = _megabytes(rows, at_once, width)
    if peak is not None and peak != before:  # (else the trial did not raise it)
        needed *= max((peak - PROCESS) / _megabytes(large.rows, found, width), 1.0)
    return Forecast(
        seconds=speed * _work(rows, tuples),
        memory=round((PROCESS + needed) * 1e6),
        loss=loss,
        sampled=large.rows,
        **(_outcome(large) if rows == size else {}),
    )


def _outcome(tried: Figures) -> dict[str, Any]:
    """What a run over the same rows is expected to leave out and to miss."""
    return {
        "left_out": tried.share,
        "failing": tuple(check.name for check in tried.checks if not check.passed),
        "lost": {name: loss for name, loss in tried.losses.items() if loss >= OF_COLUMN},
    }


def forecast_tables(
    policy: AnyPolicy, bench: Bench, tables: Sequence[PlannedTable], reading: float
) -> Forecast | None:
    """Forecast a run over several tables; of large ones, over a sample of the persons with their
    rows. None if the engine is not embedded, or if the sample cannot be released.
    """
    if not bench.session.engine.embedded or bench.rows == 0:
        return None
    rows = sum(table.rows or 0 for table in tables)
    policy, bench, share = sample_of_tables(policy, bench, rows)
    made = bench.figures(policy)
    if not made.runs:
        return None
    peak = _peak() or PROCESS
    return Forecast(
        seconds=made.seconds / share + (reading if share == 1.0 else 0.0),
        memory=round((PROCESS + max(peak - PROCESS, 0.0) / share) * 1e6),
        loss=made.loss,
        sampled=round(rows * share),
        others={name: mean(of["ncp"].values()) for name, of in made.others.items() if of["ncp"]},
        **(_outcome(made) if share == 1.0 else {}),
    )


def sample_of_tables(policy: AnyPolicy, bench: Bench, rows: int) -> tuple[AnyPolicy, Bench, float]:
    """What several tables of so many rows are tried with: all, or a sample of the persons with
    their rows; and the share of the persons.
    """
    if rows <= WHOLE:
        return policy, bench, 1.0
    wanted = max(bench.rows * WHOLE // rows, 1)
    sample, drawn = sample_of(policy.lead, bench.session, bench.rows, wanted)
    tables = {
        name: table.model_copy(update={"orphans": "drop"}) for name, table in policy.tables.items()
    }
    policy = policy.model_copy(update={"tables": tables})
    return policy, Bench(sample, rows=drawn), drawn / bench.rows


def _peak() -> float | None:
    """Peak memory of this process so far, in megabytes; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _continued(small: Figures, large: Figures, rows: int) -> float | None:
    """The loss at `rows` rows, by the power law through both samples."""
    if not small.loss or not large.loss or small.rows >= large.rows:
        return large.loss
    exponent = math.log(large.loss / small.loss) / math.log(large.rows / small.rows)
    return large.loss * math.pow(rows / large.rows, min(exponent, 0.0))


def _work(rows: int, tuples: int) -> float:
    """Seconds to partition and verify nine columns on the machine of docs/scale.md."""
    return 0.15 + 2e-6 * rows + 3.5e-4 * math.pow(tuples, 0.8)


def _megabytes(rows: int, tuples: int, columns: int) -> float:
    """Peak memory there, beyond that of the process before it reads anything; `tuples`: of those
    that are cut up at a time.
    """
    return 0.25 * rows / 1000 + 13 * math.pow(tuples / 1000, 0.6) * columns / 9


# A preview of a run and of the problems that prevent it, without writing anything.


@dataclass(slots=True)
class Preview:
    """The steps of a run, the state of its source, and its problems."""

    kind: ReleaseKind = ANONYMISED
    """Kind of the release."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    current: dict[str, Any] | None = None
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    replaces: list[str] = field(default_factory=list)
    """Objects that a run would replace or drop."""
    forecast: Forecast | None = None
    series: Outlook | None = None
    """For a table that is followed: what the next release would change of the last one."""
    tables: list[PlannedTable] = field(default_factory=list)
    """With several tables: each with its findings, after its parent."""

    def as_dict(self) -> dict[str, Any]:
        several = {"tables": [table.as_dict() for table in self.tables]} if self.tables else {}
        return {
            "kind": self.kind,
            **several,
            "steps": self.steps,
            "current": self.current,
            "problems": [problem.as_dict() for problem in self.problems],
            "warnings": self.warnings,
            "replaces": self.replaces,
            "forecast": asdict(self.forecast) if self.forecast is not None else None,
            **({"series": self.series.as_dict()} if self.series is not None else {}),
        }


def preview(
    policy: AnyPolicy,
    database: str | None,
    engine: str | None = None,
    *,
    foresee: bool = True,
    limits: Limits | None = None,
) -> Preview:
    """Read the source into memory, compile, and try every check that precedes a run.

    With `foresee`, samples are anonymized in scratch to forecast time, memory and loss of a run.
    Problems are collected; AnonymizerError is raised only if the source cannot be opened.
    """
    found = Preview(kind=policy.release_kind)
    lead = policy.lead
    kind = chosen_engine(lead, database, engine)
    refuse(policy, kind)
    there = publisher(kind)
    with _collecting(found):
        there.place_of(lead, database)
    with _collecting(found):
        found.warnings += _check_ledger(policy, database)
    hindered = bool(found.problems)
    seed = Seed.fresh()
    opening = executing(policy, database, kind, seed=seed, limits=limits)
    with opening as (session, simple):
        executor = SharedExecutor(session.engine, solver=simple.solver)
        if not hindered:
            with _collecting(found):
                target = there.target(lead, session, Names.of(policy, secrets.token_hex(8)))
                found.warnings += target.warnings
                try:
                    target.check(session.engine)
                finally:
                    found.replaces += target.replaces
        _try(policy, session, executor, found, seed if foresee else None)
    found.problems = [of_file(policy, problem) for problem in found.problems]
    return found


def _try(
    policy: AnyPolicy,
    session: Session,
    executor: SharedExecutor,
    found: Preview,
    seed: Seed | None,
) -> None:
    """Read all tables, prepare a run over them, and try its checks. `seed`: that of a forecast, if
    one is wanted.
    """
    began = time.perf_counter()
    if policy.counts is not None:
        with _collecting(found):
            made, problems_left = plan_counts(policy.counts, session, executor)
            found.steps = [_stage_outline(stage) for stage in flat(made.stages)]
            found.warnings.append(made.title)
            found.problems += problems_left
        return
    problems: list[Problem] = []
    if policy.several:
        found.tables, problems = tree_of(policy, session)
        found.problems += problems
    read: TablesRead | None = None
    try:
        read = read_tables(policy, session, executor)
    except AnonymizerError as error:
        # problems with the columns of the first table were found above as well
        found.problems += [one for one in error.problems if one not in problems]
    else:
        found.warnings += read.told
        astray = {child.name: child.orphans for child in read.children}  # (also of rows above)
        found.tables = [replace(t, orphans=astray.get(t.table, t.orphans)) for t in found.tables]
        found.steps = [_stage_outline(stage) for stage in flat(read.plan().stages)]
        with _collecting(found), at_persons(policy):
            InfeasibleError.refuse(_tried(read.prepared.compiled.stages, executor))
        found.series = _series(policy.lead, read.session)
    if read is not None or not policy.lifted:
        with _collecting(found), at_persons(policy):
            _look(policy.lead, session if read is None else read.session, found)
    reading = time.perf_counter() - began
    if seed and read and found.current and not found.problems:
        bench = Bench(session, seed, rows=found.current["rows"], held=executor.held)
        if policy.several:
            found.forecast = forecast_tables(policy, bench, found.tables, reading)
        else:
            found.forecast = forecast(policy.lead, bench, found.current["classes"], reading)
        if found.forecast is not None:
            found.warnings += _too_large(found.forecast, read.prepared)
            found.warnings += _useless(found.forecast)
            found.problems += _refusals(policy.lead, found.forecast)
    if found.series is not None:
        found.problems += _withdrawals(policy.lead, found.series)


OF_COLUMN, OF_EVENTS = 0.95, 0.8
"""From these losses on, a column, or the events of a table, tell hardly more than nothing."""
CLEARLY = 1.1
"""Beyond this part of a limit, another draw will hardly keep it."""


def _refusals(policy: Policy, seen: Forecast) -> Iterator[Problem]:
    """What a run over the same rows would refuse, too."""
    limit = policy.suppression_limit
    if seen.left_out is not None and seen.left_out > limit * CLEARLY:
        yield _beyond(policy, seen.left_out)
    for name in dict.fromkeys(seen.failing):
        said = f"{name} was not reached when the whole table was tried"
        yield Problem("privacy", said, hint="anonymizer explore shows what is reached")


def _withdrawals(policy: Policy, seen: Outlook) -> Iterator[Problem]:
    """What a series leaves out, if that is clearly more than the policy allows."""
    there = max(seen.last_release - seen.leavers + seen.joiners + seen.still_out, 1)
    if seen.left_out > there * policy.suppression_limit * CLEARLY:
        of = f"{seen.leavers:,} of the {seen.last_release:,} {seen.unit} of the last release"
        gone = f"{of} are missing in the source: is it whole? If it is, " if seen.leavers else ""
        yield _beyond(policy, seen.left_out / there, gone)


def _beyond(policy: Policy, share: float, gone: str = "") -> Problem:
    said = f"allows {figure(policy.suppression_limit)}, and a run would leave out about {share:.1%}"
    return Problem("suppression_limit", said, hint=f"{gone}raise it, or ask for less")


def memory_there() -> int:
    """Memory of the machine in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _too_large(seen: Forecast, prepared: Prepared) -> Iterator[str]:
    """A warning if a run needs more memory than available, with the column and a remedy."""
    there = memory_there()
    if seen.memory <= 0.8 * there:
        return
    most = max(prepared.roles.quasi, key=lambda a: a.distinct)
    wanted, have = f"{seen.memory / 1e9:.1f} GB", f"{there / 1e9:.1f}"
    yield (
        f"memory: a run may want {wanted} of {have}, and spill to disk; {most.column} has most"
        f" values ({most.distinct:,}): give it a hierarchy or drop it, or set --memory-limit"
    )


def _useless(seen: Forecast) -> Iterator[str]:
    for name, lost in seen.lost.items():
        yield (
            f"{name}: {lost:.0%} of it would be lost: drop it, which the others gain from, give it"
            " a hierarchy, or ask for less"
        )
    for name, lost in seen.others.items():
        if lost >= OF_EVENTS:
            yield (
                f"{table_path(name)}: a cell of its events loses {lost:.0%} on average: drop the"
                " one that loses most (explore shows it), give it a hierarchy, or let less be known"
            )


@contextmanager
def _collecting(found: Preview) -> Iterator[None]:
    """Collect problems, so that the preview continues."""
    try:
        yield
    except AnonymizerError as error:
        found.problems += error.problems


def _check_ledger(asked: AnyPolicy, database: str | None) -> tuple[str, ...]:
    """Check where the ledger is. Returns what a run says that begins it."""
    policy = asked.lead
    published = policy.publish.database
    target = policy.resolve(published).resolve() if published is not None else None
    ledger_session = LedgerSession.of(policy, "", "", target)
    if ledger_session is not None:
        ledger_session.check(database)
        if not ledger_session.path.exists():
            return tuple(first_of_series(asked, Names.of(asked, "").release))
    return ()


def _stage_outline(stage: FlatStage) -> dict[str, Any]:
    match stage:
        case Step():
            return {"name": stage.name, "purpose": stage.purpose}
        case Loop():
            steps = [_stage_outline(step) for step in stage.body]
            purpose = f"repeated until no more is left ({stage.until.purpose})"
            told = {"name": stage.name, "purpose": purpose}
            return {**told, "at_most": stage.at_most, "steps": steps}
        case Guard() | Note():
            return {"name": stage.name, "purpose": stage.query.purpose, "check": True}
        case Compute() | Composed():
            return {"name": stage.name, "purpose": stage.query.purpose}
        case Parts():
            steps = [_stage_outline(step) for step in flat(stage.stages)]
            return {
                "name": f"at most {stage.at_most:,} parts of about {stage.size:,} tuples",
                "purpose": "in every part by itself",
                "parts_at_most": stage.at_most,
                "steps": steps,
            }


def _tried(stages: Sequence[Stage], executor: Executor) -> list[Problem]:
    """Run the stages before the last guard. After a guard has failed, loops are skipped."""
    guards = [at for at, stage in enumerate(stages) if isinstance(stage, Guard)]
    problems: list[Problem] = []
    for stage in stages[: guards[-1] + 1] if guards else ():
        if problems and isinstance(stage, Loop | Embedded):
            continue
        try:
            executor.run([stage])
        except AnonymizerError as error:
            if isinstance(stage, Guard) or not problems:
                problems += error.problems
            if not isinstance(stage, Guard):
                break
    return problems


def _series(policy: Policy, session: Session) -> Outlook | None:
    """What the next release would change, if the policy follows its table and was tried."""
    if policy.republish is None or not policy.republish.follow:
        return None
    try:
        return outlook(policy, session.engine)
    except AnonymizerError:
        return None


def _look(policy: Policy, session: Session, found: Preview) -> None:
    """Describe the classes of the source before anonymization, if it could be read."""
    try:
        columns = roles(policy, session.profile)
        found.current = current_state(policy, session, columns)
    except AnonymizerError:
        return


def current_state(policy: Policy, session: Session, columns: Roles) -> dict[str, Any]:
    """Classes of equal quasi-identifiers in the source, before any generalization.

    `k` is the smallest class size (in persons if the policy names them), `l` the fewest different
    values of a sensitive column in a class; NULL quasi-identifiers are equal to each other.
    """
    unit = "count(distinct person)" if policy.person is not None else "count(*)"
    grouped = ", ".join(str(a.q) for a in columns.quasi)
    diversity = "".join(
        f", count(distinct {column.s}) as l{i}" for i, column in enumerate(columns.sensitive)
    )
    k = least_class(policy)
    least = "".join(f", min(l{i})" for i in range(len(columns.sensitive)))
    row = session.engine.raw(
        f"select cast(coalesce(sum(size), 0) as bigint), count(*), min(n), avg(n), max(n),"
        f" cast(coalesce(sum(size) filter (where n = 1), 0) as bigint),"
        f" cast(coalesce(sum(size) filter (where n < {int(k)}), 0) as bigint){least} from"
        f" (select count(*) as size, {unit} as n{diversity} from {ident(SNAPSHOT)}"
        + (f" group by {grouped})" if grouped else ")"),
        "current state",
    )[0]
    rows, classes, smallest, mean, largest, unique, below = row[:7]
    return {
        "rows": rows,
        "classes": classes,
        "k": smallest,
        "class_mean": mean,
        "class_max": largest,
        "unique_rows": unique,
        "rows_below_k": below,
        "l": {s.column: value for s, value in zip(columns.sensitive, row[7:], strict=True)},
    }
