"""Facts recorded from one execution for a script: rounds of loops, and results of Python code."""

from __future__ import annotations

from dataclasses import dataclass, field

from anonymizer.compile import Statement
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.messages import columns
from anonymizer.engines.execute import Event
from anonymizer.steps import Compute, Loop, Row, Step


@dataclass(frozen=True, slots=True)
class Computed:
    """The result of a computation, and its input."""

    digest: str
    """The digest of the rows of its query, by `digest_sql`."""
    figures: int
    """Number of columns of the query."""
    made: tuple[Row, ...]


@dataclass(slots=True)
class Rehearsal:
    """Records an execution of a plan; the keys are the stages of that plan."""

    engine: Engine
    _rounds: dict[str, int] = field(default_factory=dict)
    _widths: dict[int, int] = field(default_factory=dict)
    _computed: dict[int, list[Computed]] = field(default_factory=dict)
    _kept: list[object] = field(default_factory=list)

    def heard(self, event: Event) -> None:
        """Record an executed statement: its number of columns, and its round."""
        self._widths[id(event.step)] = len(self.engine.column_names)
        self._kept.append(event.step)  # keeps the step alive, so that its id is not reused
        if event.round is not None:
            self._rounds[event.stage] = max(self._rounds.get(event.stage, 0), event.round)

    def computed(self, compute: Compute, rows: list[Row], made: list[Row]) -> None:
        """Record the result of a computation whose query was just executed."""
        del rows
        statement = compute.query.statement()
        figures = len(self.engine.column_names)
        (found,) = self.engine.raw(f"select ({digest_sql(statement, figures)})", compute.name)
        answer = Computed(str(found[0]), figures, tuple(made))
        self._computed.setdefault(id(compute), []).append(answer)
        self._kept.append(compute)

    def rounds(self, loop: Loop) -> int:
        """The largest number of rounds that the loop took."""
        return self._rounds.get(loop.name, 0)

    def width(self, query: Step) -> int:
        """The number of columns of a query."""
        if id(query) not in self._widths:  # the rehearsal did not execute it
            self.engine.raw(f"from (\n{query.statement().text}\n) limit 0", query.name)
            self._widths[id(query)] = len(self.engine.column_names)
            self._kept.append(query)
        return self._widths[id(query)]

    def answers(self, compute: Compute) -> list[Computed]:
        """Every result of a computation, in order."""
        return self._computed.get(id(compute), [])


def digest_sql(query: Statement, figures: int) -> str:
    """A query for the digest of another query's rows, independent of their order."""
    names = columns(figures)
    texts = ", ".join(f"coalesce(cast({name} as varchar), 'NULL')" for name in names)
    return (
        f"select md5(coalesce(string_agg(md5(concat_ws('|', {texts})), ''"
        f" order by {', '.join(names)}), ''))\nfrom (\n{query.text}\n)"
        f" as asked({', '.join(names)})"
    )
