"""One part of a large table, written to a file and solved in a database of its own.

The file is a DuckDB database, so values of every type are passed unchanged, and no row is converted
to a Python object.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from anonymizer.compile import Statement, Table, ident, lit, work
from anonymizer.engines.base import Engine, Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine, detaching
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.execute import Executor
from anonymizer.steps import Compute, Loop, Parts, Row, Stage, Step

HANDED = "anon_part"
"""Catalog name under which the file of a part is attached."""
ATTEMPT = "attempt-"
"""Prefix of the names of folders in which an executor works on a part."""
NUMBERS = 32
"""Bits for the number of a class within its part."""


def handed(table: Table) -> Table:
    """The name of a work table in the file of a part."""
    return Table(table.name, "main", HANDED)


@dataclass(slots=True)
class Recipe:
    """What all parts share: the statements, rendered once, and the tables that they need."""

    stage: Parts
    rendered: dict[int, Statement] = field(default_factory=dict)
    needed: list[Table] = field(default_factory=list)

    @classmethod
    def of(cls, stage: Parts) -> Recipe:
        """Render the statements; tables that are read before they are written come from outside."""
        recipe = cls(stage)
        made: set[str] = set()
        for step, computed in _steps(stage.stages):
            statement = recipe.rendered[id(step)] = step.statement()
            for (name,) in sorted(statement.reads):
                if name not in made:
                    made.add(name)
                    recipe.needed.append(work(name.rpartition(".")[2]))
            made |= {name for (name,) in statement.writes} | computed
        return recipe

    def hand_over(self, engine: Engine, part: Row, file: Path) -> None:
        """Write the tables that a part needs to its file."""
        _, first, last, *_ = part
        with attached(engine, file):
            for table in self.needed:
                step = self.stage.taken.get(table)
                text = f"from {ident(table)}" if step is None else step.statement().text
                values = {"first": first, "last": last} if step is not None else None
                made = f"create table {ident(handed(table))} as {text}"
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
                with attached(engine, file):
                    for table in self.needed:
                        made = f"create table {ident(table)} as from {ident(handed(table))}"
                        engine.raw(made, self.stage.name)
                    Executor(engine, known=self.rendered).run(self.stage.stages)
                    result = self.stage.result
                    # (the table exists if the result of another executor was lost)
                    made = (
                        f"create or replace table {ident(handed(result))} as from {ident(result)}"
                    )
                    engine.raw(made, self.stage.name)
            finally:
                opened(None)

    def gather(self, engine: Engine, part: Row, file: Path) -> None:
        """Append the classes of a part to the result of the run."""
        with attached(engine, file, read_only=True):
            engine.raw(
                f"insert into {ident(self.stage.result)} {self.classes(part)}", self.stage.name
            )

    def classes(self, part: Row) -> str:
        """The query of a part's classes; their numbers contain the part's, so they are unique."""
        number, *_ = part
        return (
            f"select unit, (cast({lit(number)} as bigint) << {NUMBERS}) + class_id as class_id"
            f" from {ident(handed(self.stage.result))}"
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
def attached(engine: Engine, file: Path, *, read_only: bool = False) -> Iterator[None]:
    """Attach the file of a part for the duration of a block."""
    mode = "read_only" if read_only else "read_write, storage_version 'latest'"
    engine.raw(f"attach {lit(str(file))} as {HANDED} ({mode})", "parts")
    with detaching(engine, HANDED, "parts"):
        yield


def _steps(stages: Sequence[Stage]) -> Iterator[tuple[Step, set[str]]]:
    """Every step in the order of its first execution, with the tables that are computed from its
    result.
    """
    for stage in stages:
        match stage:
            case Step():
                yield stage, set()
            case Loop():
                if stage.asked_first:
                    yield stage.until, set()
                yield from _steps(stage.body)
                yield stage.until, set()
            case Compute():
                yield stage.query, {".".join(stage.target.parts)}
