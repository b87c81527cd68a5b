"""A forecast of a run's time, memory and loss, from counts and samples.

The run is tried on samples of the source, which shows how fast this machine runs this
policy; how time and memory grow with rows and distinct tuples was measured (docs/scale.md). Loss
is extrapolated from the samples by a power law in the number of rows.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, replace

from anonymizer.algorithms.split.size import ABOVE
from anonymizer.compile import ident, work
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError
from anonymizer.policy import Policy
from anonymizer.process.seed import Seed
from anonymizer.review.diff.result import Trial
from anonymizer.review.diff.trial import tried
from anonymizer.source.masking.keys import bound_values
from anonymizer.source.relation import Relation

DRAWN = work("drawn_rows")


def sample_of(policy: Policy, session: Session, rows: int, wanted: int) -> tuple[Session, int]:
    """A session with a sample of about `wanted` rows as its source, and the number of rows.

    A source with no more rows is used as a whole.
    """
    if rows <= wanted:
        return session, rows
    drawn = f"create or replace table {ident(DRAWN)} as {_drawn(policy, session, rows, wanted)}"
    session.engine.raw(drawn, "sample")
    count = session.engine.raw(f"select count(*) from {ident(DRAWN)}", "sample")[0][0]
    return replace(session, source=Relation(ident(DRAWN), DRAWN)), int(count)


def _drawn(policy: Policy, session: Session, rows: int, wanted: int) -> str:
    """Draw about `wanted` rows of the source, with all rows of a person; the same on every call."""
    every = f"select * from {session.source.sql}"
    if policy.person is not None:
        person = f"cast({ident(policy.person)} as varchar)"
        return f"{every} where md5_number_lower({person}) % {rows} < {wanted}"
    return f"{every} using sample reservoir({wanted} rows) repeatable (7)"


SAMPLED = 20_000
"""Rows of the large sample. A smaller table is used as a whole."""
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


@dataclass(frozen=True, slots=True)
class _Tried:
    rows: int
    seconds: float
    tuples: int
    loss: float | None
    peak: float | None
    """Peak memory of the process in megabytes; None if the trial did not raise it."""


def forecast(policy: Policy, session: Session, rows: int, tuples: int) -> Forecast | None:
    """Forecast a run over a source with `rows` rows and `tuples` different tuples.

    None if the engine is not embedded, or if no sample can be released.
    """
    if not session.engine.embedded or rows == 0:
        return None
    alone = policy.model_copy(update={"ledger": None, "republish": None})
    session.engine.binds = bound_values(policy, Seed.test(0).secret)
    large = _try(alone, session, rows, SAMPLED)
    if large is None:
        return None
    loss = large.loss
    if rows > SAMPLED:
        small = _try(alone, session, rows, SAMPLED // SMALLER)
        loss = _continued(small, large, rows)
    speed = large.seconds / _work(large.rows, large.tuples)
    columns = len(policy.quasi)
    # the parts processed at a time are together about as large as the largest undivided table
    at_once = min(tuples, ABOVE) if policy.algorithm.may_divide else tuples
    needed = _megabytes(rows, at_once, columns)
    if large.peak is not None:
        share = (large.peak - PROCESS) / _megabytes(large.rows, large.tuples, columns)
        needed *= max(share, 1.0)
    return Forecast(
        seconds=speed * _work(rows, tuples),
        memory=round((PROCESS + needed) * 1e6),
        loss=loss,
        sampled=large.rows,
    )


def _try(policy: Policy, session: Session, rows: int, wanted: int) -> _Tried | None:
    sample, drawn_rows = sample_of(policy, session, rows, wanted)
    columns = ", ".join(ident(name).text for name in policy.quasi) or "1"
    before = _peak()
    began = time.perf_counter()
    try:
        found: Trial = tried(policy, sample)
        tuples = session.engine.raw(
            f"select count(*) from (select distinct {columns} from {sample.source.sql})", "sample"
        )[0][0]
    except AnonymizerError:
        return None
    seconds = time.perf_counter() - began
    loss = found.figures.get("loss per cell (NCP)")
    reached = _peak()
    peak = None if reached is None or reached == before else reached
    return _Tried(drawn_rows, seconds, int(tuples), loss, peak)


def _peak() -> float | None:
    """Peak memory of this process so far, in megabytes; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _continued(small: _Tried | None, large: _Tried, rows: int) -> float | None:
    """The loss at `rows` rows, by the power law through both samples."""
    if small is None or not small.loss or not large.loss or small.rows >= large.rows:
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
