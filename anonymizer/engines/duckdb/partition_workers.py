"""Solve each partition of a large table in its own embedded database."""

from __future__ import annotations

import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from anonymizer.compile import Statement, Table, ident, lit
from anonymizer.engines.base import Engine, Limits, Spreading
from anonymizer.engines.duckdb.connection import DuckDBEngine, detaching
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.execute import Executor
from anonymizer.errors import AnonymizerError, EngineError
from anonymizer.policy import Policy
from anonymizer.process import interrupts, run_folder
from anonymizer.steps import Parts, Row, inputs

# One part of a large table, written to a file and solved in a database of its own.
#
# The file is a DuckDB database, so values of every type are passed unchanged, and no row is
# converted to a Python object.


HANDED = "anon_part"
"""Catalog name under which the file of a part is attached."""
ATTEMPT = "attempt-"
"""Prefix of the names of folders in which an executor works on a part."""
NUMBERS = 32
"""Bits for the number of a class within its part."""


def file_table(table: Table) -> Table:
    """The name of a work table in the file of a part."""
    return Table(table.name, "main", HANDED)


@dataclass(slots=True)
class Recipe:
    """The input of all parts: the statements, rendered once, and the tables that they need."""

    stage: Parts
    rendered: dict[int, Statement] = field(default_factory=dict)
    needed: list[Table] = field(default_factory=list)

    @classmethod
    def of(cls, stage: Parts) -> Recipe:
        """Render the statements; tables that are read before they are written come from outside."""
        recipe = cls(stage)
        recipe.needed += inputs(stage.stages, recipe.rendered)
        return recipe

    def hand_over(self, engine: Engine, part: Row, file: Path) -> None:
        """Write the tables that a part needs to its file."""
        _, first, last, *_ = part
        with attach_part(engine, file):
            for table in self.needed:
                step = self.stage.taken.get(table)
                text = f"from {ident(table)}" if step is None else step.statement().text
                values = {"first": first, "last": last} if step is not None else None
                made = f"create table {ident(file_table(table))} as {text}"
                engine.raw(made, self.stage.name, values)

    def solve(
        self, file: Path, limits: Limits, opened: Callable[[DuckDBEngine | None], None]
    ) -> None:
        """Solve a part in a database of its own, and store the result in its file.

        `opened` is called with the connection, and with None before it is closed.
        """
        folder = file.parent
        with own_connection(None, spill=folder, writable=(folder,), limits=limits) as engine:
            opened(engine)
            try:
                with attach_part(engine, file):
                    for table in self.needed:
                        made = f"create table {ident(table)} as from {ident(file_table(table))}"
                        engine.raw(made, self.stage.name)
                    Executor(engine, known=self.rendered).run(self.stage.stages)
                    result = self.stage.result
                    # (the table exists if the result of another executor was lost)
                    made = f"table {ident(file_table(result))} as from {ident(result)}"
                    engine.raw(f"create or replace {made}", self.stage.name)
            finally:
                opened(None)

    def gather(self, engine: Engine, part: Row, file: Path) -> None:
        """Append the classes of a part to the result of the run."""
        with attach_part(engine, file, read_only=True):
            engine.raw(
                f"insert into {ident(self.stage.result)} {self.classes(part)}", self.stage.name
            )

    def classes(self, part: Row) -> str:
        """The query of a part's classes; their numbers contain the part's, so they are unique."""
        number, *_ = part
        return (
            f"select unit, (cast({lit(number)} as bigint) << {NUMBERS}) + class_id as class_id"
            f" from {ident(file_table(self.stage.result))}"
        )


def solve_alone(stage: Parts, file: Path, limits: Limits) -> None:
    """Solve one part in a process that shares no state with the run.

    An executor that was given up may still work on the part when another begins: each works on its
    own copy, which replaces the file atomically.
    """
    with TemporaryDirectory(prefix=ATTEMPT, dir=file.parent.parent) as own:
        copy = Path(own) / file.name
        shutil.copyfile(file, copy)
        Recipe.of(stage).solve(copy, limits, lambda _: None)
        copy.replace(file)


@contextmanager
def attach_part(engine: Engine, file: Path, *, read_only: bool = False) -> Iterator[None]:
    """Attach the file of a part for the duration of a block."""
    mode = "read_only" if read_only else "read_write, storage_version 'latest'"
    home = engine.embedded_duckdb
    assert isinstance(home, DuckDBEngine)
    home.attach(file, HANDED, mode, "parts")
    with detaching(engine, HANDED, "parts"):
        yield


# Solves the parts of a large table, several at a time, each in an embedded database of its own.
#
# The database of the run hands over parts and gathers their results one after the other, in this
# thread; parts are solved in separate threads, since the engine works outside Python. So memory is
# bounded by the parts in progress, and the result does not depend on their number.


LEAST = 448 << 20
"""Minimum bytes per part, if available: enough for about 250,000 tuples."""
OF_EXECUTOR = Limits(threads=1, memory="1GiB")
"""Limits of a part in the process of an executor, which runs other tasks too."""
NEEDED = 64 << 20
"""Bytes that even the smallest part needs."""
UNITS = {"bytes": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40, "PiB": 50, "EiB": 60}
"""The units in which the engine prints sizes, as powers of two. It accepts units up to TiB only."""


@dataclass(slots=True)
class PartSolver:
    """Solves the parts of a table."""

    engine: Engine
    """Executes the statements of the run, and holds its tables."""
    home: DuckDBEngine
    """The embedded database that hands over parts: that of the run, or of the driver."""
    limits: Limits
    _open: dict[int, DuckDBEngine] = field(default_factory=dict)
    """Connections of the parts in progress, by part number."""

    def solve(
        self, engine: Engine, stage: Parts, parts: list[Row], done: Callable[[Row, float], None]
    ) -> None:
        """Solve `parts`, the largest first, and gather the results in the order of the parts."""
        assert engine is self.engine
        recipe = Recipe.of(stage)
        memory = _bytes(self.setting("memory_limit"))
        workers = self._workers(memory, len(parts))
        threads = max(1, int(self.setting("threads")) // workers)
        # half for the table, half for parts; up to three quarters if one part needs more
        size = max(memory // 2, min(NEEDED, memory * 3 // 4)) // workers
        share = Limits(threads, _size_text(size), self.limits.temp_size)
        left = memory - workers * size
        with _naming_part_size(), self._folder() as folder, self._less_memory(memory, left):
            files = {part[0]: folder / str(part[0]) / "part.duckdb" for part in parts}
            spread = engine.spreading(stage)
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
                    # hand over one more part than there are workers, so that none waits
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
        """Interrupt the parts in progress until they have ended.

        An interrupt between two statements has no effect, so it is repeated.
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
            with suppress(duckdb.Error):  # closed in the meantime
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
            folder.mkdir(mode=0o700, exist_ok=True)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            yield folder

    @contextmanager
    def _less_memory(self, before: int, limit: int) -> Iterator[None]:
        """Lower the memory limit to leave the rest to parts; a user's connection keeps its own."""
        if not self.home.owns_connection:
            yield
            return
        try:
            # (fails if more is in use and cannot be spilled)
            self.engine.raw(f"set memory_limit = {lit(_size_text(limit))}", "--memory-limit")
        except AnonymizerError:
            yield
            return
        try:
            yield
        finally:
            self.engine.raw(f"set memory_limit = {lit(_size_text(before))}", "--memory-limit")


def _bytes(size: str) -> int:
    """The bytes of a size that the engine printed."""
    found = re.fullmatch(rf"([0-9.]+) ({'|'.join(UNITS)})", size)
    assert found is not None, size
    return int(float(found[1]) * (1 << UNITS[found[2]]))


def _size_text(size: int) -> str:
    """A size in bytes as text that the engine reads."""
    return f"{size >> 20}MiB"


@contextmanager
def _naming_part_size() -> Iterator[None]:
    """If parts run out of memory, add a hint to change their size."""
    import duckdb

    try:
        yield
    except EngineError as error:
        if not isinstance(error.__cause__, duckdb.OutOfMemoryException):
            raise
        hint = (
            "raise --memory-limit, or change algorithm.part_size: smaller parts need less,"
            " and a small table needs least in one piece (all)"
        )
        raise EngineError([replace(p, hint=hint) for p in error.problems]) from error.__cause__


def solver_of(
    engine: Engine, home: DuckDBEngine, limits: Limits, policy: Policy
) -> PartSolver | None:
    """The solver of parts, or None if no files can be written to hand them over.

    Raises EngineError if none can be written and the policy requires parts.
    """
    solver = PartSolver(engine, home, limits)
    if home.owns_connection or solver.setting("enable_external_access") == "True":
        return solver
    if policy.algorithm.must_divide:
        said = "needs files to hand parts over, which the connection may not write"
        hint = "give the path of the database, or leave part_size out"
        raise EngineError.at("algorithm.part_size", said, "auto, all", hint)
    return None
