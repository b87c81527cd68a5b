"""A run in scratch: read and anonymized, ready to be measured, nothing published."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer import Policy
from anonymizer.algorithms.core.compiled import STAGED
from anonymizer.compile import Table
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Executor, Listener
from anonymizer.measure import measure_release
from anonymizer.process.secret import Seed
from anonymizer.run.prepare import Prepared, prepare
from anonymizer.run.release_rows import originals, stage_link


@dataclass(frozen=True)
class Done:
    """A run in scratch: everything but the publishing."""

    prepared: Prepared
    executor: Executor
    seconds: float
    """CPU time of reading and anonymizing."""
    wall: float
    """The same by the clock."""
    view: Table = STAGED

    def raw(self, query: str) -> list[tuple[Any, ...]]:
        return self.executor.engine.raw(query, "benchmark")

    def measures(self) -> dict[str, Any]:
        """The measures that a release of these rows would have."""
        total = self.raw("select count(*) from snapshot")[0][0]
        lost = total - self.raw("select count(*) from staged")[0][0]
        layout, roles = self.prepared.compiled.layout, self.prepared.roles
        return {
            "rows": total,
            "suppressed": lost,
            **measure_release(self.raw, self.view, layout, originals(roles), suppressed=lost),
        }


@contextmanager
def anonymized(
    given: Policy, seed: int, threads: int | None = None, listener: Listener | None = None
) -> Iterator[Done]:
    """Run a policy in scratch; the released rows stand in STAGED, the source beside them."""
    began, clock = cpu(), time.perf_counter()
    with open_session(given, None, limits=Limits(threads=threads)) as session:
        session.engine.binds = {"secret": Seed.test(seed).secret}
        executor = Executor(session.engine, listener)
        prepared = prepare(given, session, executor)
        executor.run(prepared.compiled.stages)
        executor.run([prepared.compiled.assembly.step(STAGED)])
        spent, wall = cpu() - began, time.perf_counter() - clock
        stage_link(session.engine, prepared.compiled, prepared.roles)
        yield Done(prepared, executor, spent, wall)


def cpu() -> float:
    """CPU seconds of this process, user and system, all threads."""
    return time.process_time()


def scratch() -> Path:
    """A folder for generated tables, kept between benchmarks."""
    folder = Path(tempfile.gettempdir()) / "sql-anonymizer-benchmarks"
    folder.mkdir(exist_ok=True)
    return folder
