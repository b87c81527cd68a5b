"""Solves the parts of a large table, several at a time, each in an embedded database of its own.

The database of the run hands parts over and gathers their results one after the other, in this
thread; parts are solved in threads of their own, since the engine works outside of Python. So
memory is bounded by the parts in work, and the result does not depend on how many these are.
"""

from __future__ import annotations

import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from anonymizer.compile import lit
from anonymizer.engines.base import Engine, Limits, Spreading
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.part import Recipe, solve_alone
from anonymizer.errors import AnonymizerError, EngineError, Problem
from anonymizer.policy import Policy
from anonymizer.process import interrupts, run_folder
from anonymizer.steps import Parts, Row

LEAST = 448 << 20
"""Bytes that a part is given at least, as far as there are: some 250,000 tuples need no more."""
OF_EXECUTOR = Limits(threads=1, memory="1GiB")
"""What a part may use in the process of an executor, which has other tasks beside it."""
UNITS = {"bytes": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}


@dataclass(slots=True)
class PartSolver:
    """What solves the parts of a table on this machine."""

    engine: Engine
    """Runs the statements of the run, and knows where its tables are."""
    home: DuckDBEngine
    """The embedded database from which parts are handed over: that of the run, or of the driver."""
    limits: Limits
    _open: dict[int, DuckDBEngine] = field(default_factory=dict)
    """Connections of the parts in work."""

    def solve(
        self, engine: Engine, stage: Parts, parts: list[Row], done: Callable[[Row, float], None]
    ) -> None:
        """Solve `parts`, the largest first, and gather the results in the order of the parts."""
        assert engine is self.engine
        recipe = Recipe.of(stage)
        memory = _bytes(self.setting("memory_limit"))
        workers = self._workers(memory, len(parts))
        threads = max(1, int(self.setting("threads")) // workers)
        # half for the table, half for the parts in work
        share = Limits(threads, f"{memory // (2 * workers) >> 20}MiB", self.limits.temp_size)
        with self._folder() as folder, self._less_memory(memory // 2):
            files = {part[0]: folder / str(part[0]) / "part.duckdb" for part in parts}
            spread = engine.spread(stage)
            self._all(recipe, parts, files, workers, share, done, spread)
            if spread is not None:
                spread.gather(parts)
                return
            for part in parts:
                recipe.gather(self.engine, part, files[part[0]])
                shutil.rmtree(files[part[0]].parent)

    def _all(
        self,
        recipe: Recipe,
        parts: list[Row],
        files: dict[int, Path],
        workers: int,
        share: Limits,
        done: Callable[[Row, float], None],
        spread: Spreading | None,
    ) -> None:
        elsewhere = self.engine.elsewhere()

        def work(part: Row) -> tuple[Row, float]:
            number = part[0]

            def opened(engine: DuckDBEngine | None) -> None:
                if engine is None:
                    self._open.pop(number)
                else:
                    self._open[number] = engine

            began = time.perf_counter()
            if elsewhere is None:
                recipe.solve(files[number], share, opened)
            elif spread is not None:
                elsewhere.run(spread.task(part, OF_EXECUTOR))
            else:
                elsewhere.run(partial(solve_alone, recipe.stage, files[number], OF_EXECUTOR))
            return part, time.perf_counter() - began

        waiting = sorted(parts, key=lambda part: (part[3], part[0]))
        running: set[Future[tuple[Row, float]]] = set()
        with ThreadPoolExecutor(workers, "part") as pool:
            try:
                while waiting or running:
                    # one more than are solved, so that no worker waits
                    while waiting and len(running) <= workers:
                        part = waiting.pop()
                        if spread is None:
                            files[part[0]].parent.mkdir(mode=0o700, parents=True)
                            recipe.hand_over(self.engine, part, files[part[0]])
                        running.add(pool.submit(work, part))
                    with interrupts.statement(self._interrupt):
                        ended, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in ended:
                        done(*future.result())
            except BaseException:
                self._end(running)
                raise

    def _end(self, running: Iterable[Future[tuple[Row, float]]]) -> None:
        """Interrupt the parts in work until they have ended.

        An interruption that comes between two statements is forgotten, so there may be several.
        """
        left = {future for future in running if not future.cancel()}
        while left:
            self._interrupt()
            _, left = wait(left, timeout=interrupts.AGAIN)

    def _interrupt(self) -> None:
        import duckdb

        if self.engine.elsewhere() is not None:
            self.engine.interrupt()
        for engine in list(self._open.values()):
            with suppress(duckdb.Error):  # closed meanwhile
                engine.interrupt()

    def _workers(self, memory: int, parts: int) -> int:
        elsewhere = self.engine.elsewhere()
        if elsewhere is not None:
            return min(self.limits.workers or elsewhere.at_a_time, parts)
        asked = self.limits.workers or int(self.setting("threads"))
        return min(asked, max(1, memory // (2 * LEAST)), parts)

    def setting(self, name: str) -> str:
        return str(self.engine.raw(f"select current_setting({lit(name)})", "parts")[0][0])

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        """A private folder that the engine may write to."""
        with ExitStack() as stack:
            folder = self.home.parts
            if folder is None:
                own = run_folder.create(secrets.token_hex(8))
                stack.callback(own.remove)
                folder = own.path / "parts"
            folder.mkdir(mode=0o700)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            yield folder

    @contextmanager
    def _less_memory(self, limit: int) -> Iterator[None]:
        """Leave the rest to the parts; a user's connection keeps its own limit."""
        if not self.home.owned:
            yield
            return
        before = self.setting("memory_limit")
        try:
            # what is in use and cannot be spilled stays
            self.engine.raw(f"set memory_limit = {lit(f'{limit >> 20}MiB')}", "--memory-limit")
        except AnonymizerError:
            yield
            return
        try:
            yield
        finally:
            self.engine.raw(f"set memory_limit = {lit(before)}", "--memory-limit")


def _bytes(size: str) -> int:
    """A size as the engine prints it."""
    found = re.fullmatch(r"([0-9.]+) (bytes|[KMGT]iB)", size)
    assert found is not None, size
    return int(float(found[1]) * (1 << UNITS[found[2]]))


def solver_of(
    engine: Engine, home: DuckDBEngine, limits: Limits, policy: Policy
) -> PartSolver | None:
    """What solves parts, if files can be written to hand them over.

    Raises EngineError if they cannot, and the policy asks for parts.
    """
    solver = PartSolver(engine, home, limits)
    if home.owned or solver.setting("enable_external_access") == "True":
        return solver
    if policy.algorithm.must_divide:
        said = "needs files to hand parts over, which the connection may not write"
        hint = "give the path of the database, or leave part_size out"
        raise EngineError(Problem("algorithm.part_size", said, "auto, all", hint))
    return None
