"""An executor that skips statements whose result already exists."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from anonymizer.compile import ident
from anonymizer.engines.execute import Executor
from anonymizer.steps import Compute, Row, Step


@dataclass(slots=True)
class SharedExecutor(Executor):
    """Skips a statement if its table already holds the result.

    A table's content is identified by the statement that created it and the contents it read.
    """

    held: dict[tuple[str, ...], object] = field(default_factory=dict)
    left_out: int = 0

    def _step(
        self, step: Step, stage: str, number: int, of: int, round_: int | None = None
    ) -> list[Row]:
        statement = step.statement()
        if statement.kind == "query":
            return Executor._step(self, step, stage, number, of, round_)
        inputs = tuple(sorted((table, self.held.get(table)) for table in statement.reads))
        key = hash((statement.text, repr(inputs)))
        (target,) = statement.writes
        if statement.kind == "create" and self.held.get(target) == key:
            self.left_out += 1
            return []
        before = self.held.pop(target, None)
        rows = Executor._step(self, step, stage, number, of, round_)
        self.held[target] = key if statement.kind == "create" else hash((before, key))
        return rows

    def _compute(self, compute: Compute, stage: str, number: int, of: int) -> None:
        made: list[Row] = []

        def noted(rows: list[Row]) -> list[Row]:
            made.extend(compute.function(rows))
            return made

        self.held.pop((ident(compute.target).text,), None)
        Executor._compute(self, replace(compute, function=noted), stage, number, of)
        # a result computed in Python is identified by its content only
        self.held[(ident(compute.target).text,)] = hash((compute.columns, repr(made)))
