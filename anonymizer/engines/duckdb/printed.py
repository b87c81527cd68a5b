"""Translates the stages of a plan to statements of a script that a shell can execute.

A check becomes a query that raises its message. The body of a loop becomes macros, and every
round a few lines that call them; a variable holds whether anything is left to do. If nothing is
left, the statements of a round have a constant false condition, and do nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from anonymizer.compile import Table, ident, lit
from anonymizer.compile.render import CREATES, INSERTS
from anonymizer.compile.wrap import bound, comment, wrapped
from anonymizer.engines.duckdb.messages import Explain, columns, message
from anonymizer.engines.duckdb.rehearsal import Rehearsal, digest_sql
from anonymizer.errors import EngineError, Problem
from anonymizer.steps import Composed, Compute, Guard, Loop, Note, Parts, Stage, Step

SECRET = "getvariable('secret')"
MORE_ROUNDS = 4
"""Rounds in a script in addition to twice those of the rehearsal."""
MOST_OF_NAME = 40
"""Most characters in the name of a macro, before its number."""
MOST_INLINED = 100_000
"""Most rows of a hierarchy, or of another table computed in Python, that a script contains."""
ANEW = "compile the policy again"


@dataclass(frozen=True, slots=True)
class Going:
    """A variable that holds whether anything is left for a round."""

    name: str

    @property
    def holds(self) -> str:
        return f"getvariable({lit(self.name).text}) > 0"


@dataclass(slots=True)
class Printer:
    """Prints stages in order, each once."""

    rehearsal: Rehearsal
    _made: set[str] = field(default_factory=set)
    """Names of the tables that exist."""
    _macros: dict[int, str] = field(default_factory=dict)
    """Names of the macros of steps and of the variables of loops, by the object's id."""
    _searches: dict[int, Step] = field(default_factory=dict)

    def stages(self, stages: Iterable[Stage]) -> Iterator[str]:
        for stage in stages:
            match stage:
                case Step():
                    yield said(stage.name, stage.purpose, self._statement(stage))
                case Note():
                    text = self._statement(stage.query)
                    yield said(stage.name, stage.query.purpose, text)
                case Guard():
                    width = self.rehearsal.width(stage.query)
                    yield check(
                        stage.name,
                        stage.query.purpose,
                        self._statement(stage.query),
                        stage.explain,
                        width,
                    )
                case Compute(in_sql=None):
                    yield from self._computed(stage)
                case Compute():
                    step = self._step(stage)
                    yield said(step.name, step.purpose, self._statement(step))
                case Loop():
                    yield from self._loop(stage)
                case Composed() | Parts():
                    raise _without_script(stage.name)

    def _step(self, part: Step | Compute) -> Step:
        """The step itself, or the statement that replaces a computation, built once."""
        if isinstance(part, Step):
            return part
        if part.in_sql is None:
            raise _without_script(part.name)
        if id(part) not in self._searches:
            self._searches[id(part)] = part.in_sql()
        return self._searches[id(part)]

    def _statement(self, step: Step) -> str:
        statement = step.statement()
        self._made |= {target for (target,) in statement.writes}
        text = statement.text
        for name in step.binds:
            text = bound(text, name, SECRET)
        return wrapped(text)

    def _computed(self, compute: Compute) -> Iterator[str]:
        """The rows that Python computed, after a check that the query's result is unchanged."""
        (answer,) = self.rehearsal.answers(compute)
        if len(answer.made) > MOST_INLINED:
            raise EngineError.at(
                compute.name,
                f"makes {len(answer.made):,} rows, which would stand in the script",
                allowed=f"at most {MOST_INLINED:,}",
                hint="anonymizer run does it",
            )
        purpose = (compute.function.__doc__ or "").strip().splitlines()[0]
        if not compute.given:
            yield check(
                compute.name,
                "The rows below were made by the tool of what this asks; it has to be so still.",
                f"select 1 where ({digest_sql(compute.query.statement(), answer.figures)})"
                f" <> {lit(answer.digest).text}",
                lambda _: Problem("source", "is not what the script was made from", hint=ANEW),
                1,
            )
        self._made.add(ident(compute.target).text)
        yield said(compute.name, purpose, "\n".join(_values(compute, answer.made)))

    def _loop(self, loop: Loop, outer: Going | None = None, *, first: bool = True) -> Iterator[str]:
        rounds = min(2 * self.rehearsal.rounds(loop) + MORE_ROUNDS, loop.at_most)
        if first:
            yield comment(
                f"Loop: {loop.name}, {rounds} rounds. What it repeats becomes macros, which the"
                " first round makes. A round does nothing where the one before it left nothing to"
                " do; a check at the end makes sure that nothing is left.",
                more="-- ",
            )
        going = Going(self._name_of(loop, f"left_{loop.name}"))
        for number in range(1, rounds + 1):
            # without a query before it, the first round is always executed
            certain = number == 1 and first and not loop.asked_first
            yield "\n".join(self._round(loop, number, going, outer, certain=certain))
        yield "\n".join(self._asked(loop, going, outer))
        yield check(
            f"{loop.name}: the end",
            f"Nothing is left after {rounds} rounds.",
            f"select 1 where {going.holds}",
            lambda _: Problem(
                loop.name, f"is not done after the {rounds} rounds of this script", hint=ANEW
            ),
            1,
        )

    def _round(
        self, loop: Loop, number: int, going: Going, outer: Going | None, *, certain: bool
    ) -> Iterator[str]:
        yield comment(f"{loop.name}, round {number}")
        if number == 1 and not loop.asked_first:
            value = "1" if outer is None else f"cast({outer.holds} as integer)"
            yield f"set variable {going.name} = {value};"
        else:
            yield from self._asked(loop, going, outer)
        for part in loop.body:
            if isinstance(part, Loop):
                yield from self._loop(part, going, first=certain)
            else:
                yield from self._called(self._step(part), None if certain else going)

    def _asked(self, loop: Loop, going: Going, outer: Going | None) -> Iterator[str]:
        """Run the exit query; an inner loop has nothing to do if the outer one has not."""
        yield from self._macro(loop.until)
        left = f"(from {self._macros[id(loop.until)]}())"
        value = left if outer is None else f"case when {outer.holds} then {left} else 0 end"
        yield wrapped(f"set variable {going.name} = {value};")

    def _macro(self, step: Step) -> Iterator[str]:
        """The macro for the rows that a step of a loop writes, made once, when its tables exist."""
        if id(step) in self._macros:
            return
        text = step.statement().text
        for pattern in (CREATES, INSERTS):
            if found := pattern.match(text):
                text = text[found.end() :]
        name = self._name_of(step, step.name)
        body = wrapped(text.strip())
        yield said(step.name, step.purpose, f"create or replace macro {name}() as table\n{body}")

    def _called(self, step: Step, going: Going | None) -> Iterator[str]:
        """The statement of one round; unconditional without `going`."""
        yield from self._macro(step)
        statement = step.statement()
        ((target,),) = statement.writes
        call = f"from {self._macros[id(step)]}()"
        condition = f"\n  where {going.holds}" if going is not None else ""
        if statement.kind == "insert":
            yield f"insert into {target} {call}{condition};"
            return
        if going is not None and target in self._made:
            condition += f"\n  union all by name from {target}\n  where not {going.holds}"
        self._made.add(target)
        yield f"create or replace table {target} as {call}{condition};"

    def _name_of(self, part: Step | Loop, text: str) -> str:
        """The name of the macro of a step, or of the variable of a loop."""
        if id(part) not in self._macros:
            slug = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "step"
            self._macros[id(part)] = f"{slug[:MOST_OF_NAME]}_{len(self._macros) + 1}"
        return self._macros[id(part)]


def said(name: str, purpose: str, text: str) -> str:
    """A statement, preceded by its name and purpose."""
    return f"{comment(f'{name}: {purpose}', more='-- ')}\n{text};"


def check(
    name: str, purpose: str, query: str, explain: Explain, width: int, *, each: bool = True
) -> str:
    """A query that raises the messages of `explain` for the rows of `query`; no rows: it holds.

    Without `each`, rows for which `explain` returns None are ignored.
    """
    names = ", ".join(columns(width))
    text = message(explain, width)
    stops = "count(*) > 0" if each else "count(said) > 0"
    otherwise = lit(f"{name}: the run stops here").text
    return said(
        f"check {name}",
        purpose,
        wrapped(
            f"select case when {stops}\n"
            f"  then error(coalesce(string_agg(said, chr(10)), {otherwise}))\n"
            f"  else 'holds' end as {ident(name)}\n"
            f"from (\n"
            f"  select\n  {text} as said\n"
            f"  from (\n{query}\n) as found({names})\n)"
        ),
    )


def _values(compute: Compute, rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """A statement that creates the target of a computation from known rows."""
    target: Table = compute.target
    kinds = ", ".join(f"cast(col{n} as {kind}) as {ident(name)}"
                      for n, (name, kind) in enumerate(compute.columns))  # fmt: skip
    listed = [f"  ({', '.join(lit(value).text for value in row)})" for row in rows]
    nothing = not listed
    if nothing:
        listed = [f"  ({', '.join('null' for _ in compute.columns)})"]
    yield wrapped(f"create or replace table {ident(target)} as\nselect {kinds}\nfrom (values")
    yield wrapped(",\n".join(listed))
    yield (
        ") as listed("
        + ", ".join(f"col{n}" for n, _ in enumerate(compute.columns))
        + ")"
        + ("\nwhere false" if nothing else "")
    )


def _without_script(name: str) -> EngineError:
    said = "has no script: it is computed by the program between two statements"
    return EngineError.at(name, said, hint="anonymizer run does it")
