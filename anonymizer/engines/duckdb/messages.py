"""Messages of failed checks as SQL, and the facts of one execution that a script needs."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizer.compile import Statement, lit
from anonymizer.engines.base import Engine
from anonymizer.engines.execute import Event
from anonymizer.errors import AnonymizerError, Problem
from anonymizer.steps import Compute, Loop, Row, Step

# Translates the Python function that explains a failed check to a SQL expression.
#
# An explanation function turns a row of figures into a message. It is executed symbolically, with
# placeholders that record how they are used: a comparison returns true and, in another call, false;
# a figure that indexes a list takes every index once; a figure that is printed leaves a mark in the
# text. These records become the conditions and branches of a CASE expression.


Explain = Callable[[Any], Problem | None]

PLACES = 256
"""Length of the longest list that a figure may index."""
LONGEST = 90
"""Most characters of a message in one literal."""
PRINTED = re.compile("\x00(\\d+)\x00")


def columns(count: int) -> list[str]:
    """Column names for the figures in a row of a check."""
    return [f"f{number}" for number in range(1, count + 1)]


def message(explain: Explain, count: int) -> str:
    """An expression over `columns(count)`: the message, or NULL if nothing is wrong."""
    cases = list(_cases(explain, count))
    if len(cases) == 1 and not cases[0][0]:
        return cases[0][1]
    whens = [
        f"\n    when {' and '.join(conditions) or 'true'}\n      then {said}"
        for conditions, said in cases
    ]
    return f"case{''.join(whens)}\n  end"


@dataclass(slots=True)
class _Trace:
    """One symbolic call: the answers it takes, and the alternatives left for other calls."""

    given: Sequence[object]
    taken: list[object] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    known: dict[str, object] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """Figures that indexed a list, with the index taken."""
    others: list[list[object]] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def choose(self, name: str, options: Sequence[object]) -> object:
        if name in self.known:
            return self.known[name]
        place = len(self.taken)
        if place < len(self.given):
            chosen = self.given[place]
        else:
            chosen = options[0]
            self.others += [[*self.taken, option] for option in options[1:]]
        self.taken.append(chosen)
        self.known[name] = chosen
        return chosen

    def holds(self, condition: str) -> bool:
        new = condition not in self.known
        found = bool(self.choose(condition, (True, False)))
        if new:
            self.conditions.append(condition if found else f"not ({condition})")
        return found

    def place(self, figure: str) -> int:
        if figure not in self.places:
            found = self.choose(figure, range(PLACES))
            assert isinstance(found, int)
            self.places[figure] = found
            self.conditions.append(f"{figure} = {found}")
        return self.places[figure]


class Figure:
    """A placeholder for a figure whose value is known only when the script runs."""

    __slots__ = ("sql", "trace")

    def __init__(self, sql: str, trace: _Trace) -> None:
        self.sql = sql
        self.trace = trace

    def _compare(self, operator: str, other: object) -> bool:
        return self.trace.holds(f"{self.sql} {operator} {_sql(other)}")

    def __eq__(self, other: object) -> bool:
        place = self.trace.places.get(self.sql)
        if place is not None:
            return place == other
        return self._compare("=", other)

    def __ne__(self, other: object) -> bool:
        return not self._compare("=", other)

    def __lt__(self, other: object) -> bool:
        return self._compare("<", other)

    def __le__(self, other: object) -> bool:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> bool:
        return self._compare(">", other)

    def __ge__(self, other: object) -> bool:
        return self._compare(">=", other)

    def __bool__(self) -> bool:
        return self.trace.holds(f"coalesce({self.sql}, 0) <> 0")

    def __hash__(self) -> int:
        return hash(self.trace.place(self.sql))

    def __index__(self) -> int:
        return self.trace.place(self.sql)

    __int__ = __index__

    def __neg__(self) -> Figure:
        return Figure(f"(-{self.sql})", self.trace)

    def __add__(self, other: object) -> Figure:
        return Figure(f"({self.sql} + {_sql(other)})", self.trace)

    def __sub__(self, other: object) -> Figure:
        return Figure(f"({self.sql} - {_sql(other)})", self.trace)

    def __mul__(self, other: object) -> Figure:
        return Figure(f"({self.sql} * {_sql(other)})", self.trace)

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> Figure:
        """Of counts that are not negative, for which SQL and Python agree."""
        return Figure(f"({self.sql} // {_sql(other)})", self.trace)

    def __format__(self, spec: str) -> str:
        text = f"cast({self.sql} as varchar)"
        if spec:
            kind = "hugeint" if spec[-1] in ",d" else "double"
            text = f"format({lit(f'{{:{spec}}}').text}, cast({self.sql} as {kind}))"
        self.trace.printed.append(f"coalesce({text}, 'None')")
        return f"\x00{len(self.trace.printed) - 1}\x00"

    def __str__(self) -> str:
        return format(self, "")

    __repr__ = __str__


numbers.Integral.register(Figure)


def _sql(value: object) -> str:
    if isinstance(value, int) and value >= 2**31:  # its products may need more than 64 bits
        return f"cast({value} as hugeint)"
    return value.sql if isinstance(value, Figure) else lit(value).text


def _cases(explain: Explain, count: int) -> Iterator[tuple[list[str], str]]:
    todo: list[list[object]] = [[]]
    while todo:
        trace = _Trace(todo.pop(0))
        row = tuple(Figure(name, trace) for name in columns(count))
        try:
            found = explain(row)
            said = str(found) if found is not None else None
        except AnonymizerError as error:
            said = str(error)
        except LookupError:
            if not trace.places:
                raise
            continue  # an index outside of the list
        finally:
            todo[:0] = trace.others
        yield trace.conditions, "null" if said is None else _text(said, trace)


def _text(said: str, trace: _Trace) -> str:
    """A text that contains figures, as an expression of literals that fit on a line."""
    parts: list[str] = []
    for number, part in enumerate(PRINTED.split(said)):
        if number % 2:
            parts.append(trace.printed[int(part)])
        else:
            parts += [lit(part[at : at + LONGEST]).text for at in range(0, len(part), LONGEST)]
    return " || ".join(parts)


# Facts recorded from one execution for a script: rounds of loops, and results of Python code.


@dataclass(frozen=True, slots=True)
class Computation:
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
    _computed: dict[int, list[Computation]] = field(default_factory=dict)
    _kept: list[object] = field(default_factory=list)

    def heard(self, event: Event) -> None:
        """Record an executed statement: its number of columns, and its round."""
        self._widths[id(event.step)] = len(self.engine.column_names)
        self._kept.append(event.step)  # keeps the step alive, so that its id is not reused
        if event.round is not None:
            self._rounds[event.stage] = max(self._rounds.get(event.stage, 0), event.round)

    def record(self, compute: Compute, rows: list[Row], made: list[Row]) -> None:
        """Record the result of a computation whose query was just executed."""
        del rows
        statement = compute.query.statement()
        figures = len(self.engine.column_names)
        (found,) = self.engine.raw(f"select ({digest_sql(statement, figures)})", compute.name)
        answer = Computation(str(found[0]), figures, tuple(made))
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

    def answers(self, compute: Compute) -> list[Computation]:
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
