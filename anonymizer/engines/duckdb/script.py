"""Write a run as one DuckDB SQL script, which the shell executes line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anonymizer.compile import SCRATCH, Table, ident, lit
from anonymizer.compile.sql import CREATES, INSERTS
from anonymizer.compile.wrap import bound, comment, wrapped
from anonymizer.engines.duckdb.connection import SOURCE
from anonymizer.engines.duckdb.encryption import KEY, is_encrypted
from anonymizer.engines.duckdb.messages import Explain, Rehearsal, columns, digest_sql, message
from anonymizer.engines.duckdb.source import USUAL
from anonymizer.errors import EngineError, Problem
from anonymizer.policy import Policy
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import QUERIED
from anonymizer.steps import Composed, Compute, Guard, Loop, Note, Parts, Row, Stage, Step, flat

# Translates the stages of a plan to statements of a script that a shell can execute.
#
# A check becomes a query that raises its message. The body of a loop becomes macros, and every
# round a few lines that call them; a variable holds whether anything is left to do. If nothing is
# left, the statements of a round have a constant false condition, and do nothing.


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
        for stage in flat(stages):
            match stage:
                case Step():
                    yield titled_statement(stage.name, stage.purpose, self._statement(stage))
                case Note():
                    text = self._statement(stage.query)
                    yield titled_statement(stage.name, stage.query.purpose, text)
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
                    yield titled_statement(step.name, step.purpose, self._statement(step))
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
                "The tool computed the rows below from this query, whose result must not change.",
                f"select 1 where ({digest_sql(compute.query.statement(), answer.figures)})"
                f" <> {lit(answer.digest).text}",
                lambda _: Problem("source", "is not what the script was made from", hint=ANEW),
                1,
            )
        self._made.add(ident(compute.target).text)
        yield titled_statement(compute.name, purpose, "\n".join(_values(compute, answer.made)))

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
        yield titled_statement(
            step.name, step.purpose, f"create or replace macro {name}() as table\n{body}"
        )

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


def titled_statement(name: str, purpose: str, text: str) -> str:
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
    return titled_statement(
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


# Writes a run as one DuckDB SQL script, which the shell executes from the first to the last line.
#
# The script makes the same rows as a run with the same secret, verifies them, and stops at the
# first check that fails. Stages that are not statements are translated to statements (`printed`);
# facts that only an execution shows, such as the rounds of a loop, come from a rehearsal
# (`rehearsal`).


ALWAYS = (
    ("row_id, row_ref", "number of a row of the source, in an order without meaning"),
    ("identity", "what distinguishes a row from others with the same quasi-identifiers"),
    ("draw", "what orders rows and breaks ties: a digest of the secret and the row"),
    ("unit", "rows with equal codes, or a person, that the algorithm keeps together"),
    ("n", "how many rows (persons) are behind a row of a table"),
    ("class_id", "equivalence class"),
)
"""Names that are the same in every script."""


def legend(policy: Policy, roles: Roles, stages: Iterable[Stage]) -> Iterator[str]:
    """Comment lines that explain the source's columns, then other names, then tables."""
    yield "-- Short names of columns:"
    for a in roles.quasi:
        own = [f"{a.q} its value", f"{a.c} its code (0 is NULL)"]
        if a.flagged:
            own += [f"{a.f} whether the cell is sensitive", f"{a.r} the code of such a cell"]
        yield _line(
            a.column, f"{', '.join(own)}; other names with the number {a.index} are of it too"
        )
    for s in roles.ruled:
        yield _line(s.column, f"{s.s} its value")
    for kept in roles.kept:
        yield _line(kept.column, f"{kept.k} its value")
    if policy.person is not None:
        yield _line(policy.person, "person")
    yield "-- Other names:"
    for name, meaning in ALWAYS:
        yield _line(name, meaning)
    yield f"-- Tables of {SCRATCH}.main, with the step that makes them first:"
    for table, name in _tables(stages):
        yield _line(table, name)


def _line(name: str, meaning: str) -> str:
    return comment(f"{name}: {meaning}", first="--   ", more="--     ")


def _tables(stages: Iterable[Stage]) -> Iterator[tuple[str, str]]:
    known: set[str] = set()
    for step in _steps(stages):
        targets = (
            [step.target.name]
            if isinstance(step, Compute)
            else [target.rpartition(".")[2] for (target,) in sorted(step.statement().writes)]
        )
        for target in targets:
            if target not in known:
                known.add(target)
                yield target, step.name


def _steps(stages: Iterable[Stage]) -> Iterator[Step | Compute]:
    for stage in flat(stages):
        match stage:
            case Step() | Compute():
                yield stage
            case Loop():
                yield from _steps(stage.body)
            case _:
                pass


NO_SECRET = Problem(
    "secret",
    "is not a secret",
    allowed="64 hexadecimal digits",
    hint="fill in the line that sets it, or set the variable before",
)


@dataclass(frozen=True, slots=True)
class Counts:
    """A query for counts that a plan depends on, and its result."""

    query: str
    found: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Judging:
    """A statement that is executed after the rows are written; a check if it has `explain`."""

    name: str
    purpose: str
    text: str
    explain: Explain | None = None
    width: int = 0


@dataclass(frozen=True, slots=True)
class ScriptInput:
    """Everything that is needed to write a script."""

    title: str
    policy: Policy
    roles: Roles
    database: str | Path | None
    search_path: str
    """The search path for names in `source.query`."""
    views: Sequence[str]
    read: Sequence[Stage]
    """The stages before the counts."""
    counts: Sequence[Counts]
    rest: Sequence[Stage]
    judging: Sequence[Judging]
    staged: Sequence[str]
    """The names of the release's tables, as SQL."""
    rehearsal: Rehearsal


def script_text(given: ScriptInput) -> str:
    """The script: header, legend, the statements of the run, and the verification of its rows."""
    printer = Printer(given.rehearsal)
    body = [
        *(f"-- a view of the source\n{text};" for text in given.views),
        *printer.stages(given.read),
        *map(_counts_check, given.counts),
        *printer.stages(given.rest),
        comment("The rows of the release are written. What follows judges them."),
        *map(_judging_check, given.judging),
        _closing(given),
    ]
    head = [*_header(given), *legend(given.policy, given.roles, (*given.read, *given.rest))]
    return "\n\n".join(["\n".join(head), *_opening(given), *body]) + "\n"


def _header(given: ScriptInput) -> Iterator[str]:
    yield comment(given.title)
    yield "--"
    yield comment(
        "COMPLETE: executed from the first line to the last, as by `duckdb -f FILE`, it leaves"
        f" the rows of the release in {', '.join(given.staged)}: those that `anonymizer run`"
        " makes from the same secret. They are judged at the end. `anonymizer run` also publishes"
        " them, with a manifest.",
        more="-- ",
    )
    yield "--"
    yield comment("For the shell of DuckDB 1.5 or later. It stops at the first check that fails.")
    yield comment("Through a library, leave out the lines that begin with a point.")
    yield "--"


def _opening(given: ScriptInput) -> Iterator[str]:
    yield ".bail on"
    yield "\n".join(
        [
            comment("To fill in: the secret, 64 hexadecimal digits. Draw it afresh and forget it:"
                    " who has it can repeat the draws.", more="-- "),
            "set variable secret = lower(trim(coalesce(getvariable('secret'), 'FILL IN')));",
        ]
    )  # fmt: skip
    yield check(
        "secret",
        "It is filled in.",
        "select 1 where not regexp_full_match(getvariable('secret'), '[0-9a-f]{64}')",
        lambda _: NO_SECRET,
        1,
    )
    lines = [comment("settings that statements rely on")]
    lines += [f"set {name} = {lit(value).text};" for name, value in USUAL.items()]
    yield "\n".join(lines)
    lines = [comment("the source, and a place for the tables of the run")]
    if given.database is not None:
        key = f", encryption_key getenv('{KEY}')" if is_encrypted(Path(given.database)) else ""
        lines.append(f"attach {lit(str(given.database)).text} as {SOURCE} (read_only{key});")
    lines.append(f"attach ':memory:' as {SCRATCH};")
    if given.policy.source.kind == "query":
        text = (given.policy.source.query or "").strip().rstrip(";")
        if given.database is not None:
            lines.append(f"set search_path = {lit(given.search_path).text};")
        lines.append(f"create table {ident(QUERIED).text} as\n{wrapped(text)}\n;")
    lines.append(f"use {SCRATCH}.main;")
    yield "\n".join(lines)


def _counts_check(counts: Counts) -> str:
    """A check that the counts on which the plan's statements depend are unchanged."""
    names = ", ".join(f"n{number}" for number, _ in enumerate(counts.found[0]))
    listed = ",\n".join(f"  ({', '.join(lit(n).text for n in row)})" for row in counts.found)
    return check(
        "counts of the source",
        "What follows was made with these, and has to be made again where they have changed.",
        f"with counted({names}) as (\n{counts.query}\n),\n"
        f"made_with({names}) as (values\n{listed}\n)\n"
        "select 1 where exists (from counted except from made_with)\n"
        "  or exists (from made_with except from counted)",
        lambda _: Problem("source", "is not what the script was made from", hint=ANEW),
        1,
    )


def _judging_check(item: Judging) -> str:
    text = wrapped(item.text)
    if item.explain is None:
        return titled_statement(item.name, item.purpose, text)
    return check(item.name, item.purpose, text, item.explain, item.width, each=False)


def _closing(given: ScriptInput) -> str:
    lines = [comment("Everything holds. To take the rows along:")]
    lines += [
        comment(f"copy {table} to 'rows_{number}.parquet';")
        for number, table in enumerate(given.staged, start=1)
    ]
    counts = ", ".join(
        f"(select count(*) from {table}) as {ident(f'rows of {table}')}" for table in given.staged
    )
    lines.append(wrapped(f"select {counts};"))
    return "\n".join(lines)
