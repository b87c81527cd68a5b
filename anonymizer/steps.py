"""A plan: the named steps that make a release, as data. Nothing here touches a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from anonymizer.compile import Statement, Table, purpose, render, work
from anonymizer.errors import Problem
from anonymizer.process.document import Document, NotebookResult, Section, facts, say

Row: TypeAlias = tuple[Any, ...]
Tell: TypeAlias = Callable[[str, int, int], None]
"""Hears what a computation does, how much of it is done, and how much is left."""


@dataclass(frozen=True, slots=True)
class Step:
    """One statement: a template, its parameters, and the bound values it needs."""

    name: str
    template: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    binds: tuple[str, ...] = ()
    aside: bool = False
    """Whether it may run beside the steps that follow: what it makes is a figure of the release."""
    laborious: bool = False
    """Whether it does far more work than it reads rows: threads help on small tables as well."""

    @property
    def purpose(self) -> str:
        """What the step is for, from the header of its template."""
        return purpose(self.template)

    def statement(self, dialect: str = "duckdb") -> Statement:
        """The rendered statement, in the variant for `dialect` where the template has one."""
        return render(self.template, self.parameters, dialect)


@dataclass(frozen=True, slots=True)
class Loop:
    """Steps that are repeated until the query `until` counts zero, at most `at_most` times."""

    name: str
    body: tuple[Step | Compute | Loop, ...]
    until: Step
    at_most: int
    asked_first: bool = False
    """Whether the query also runs before the first round, so that there may be no round."""


@dataclass(frozen=True, slots=True)
class OfQuery:
    """A query, after which a stage is named."""

    query: Step

    @property
    def name(self) -> str:
        return self.query.name


@dataclass(frozen=True, slots=True)
class Guard(OfQuery):
    """A query whose rows are reasons not to go on: every row becomes a problem.

    `explain` turns a row (counts and positions, never values) into the message.
    Raises `error` (exit code 2 for what a count of the source shows).
    """

    explain: Callable[[Row], Problem]
    error: type[Exception]
    first: Step | None = None
    """A cheap query that is asked before: where it counts zero, there are no such rows."""


@dataclass(frozen=True, slots=True)
class Note(OfQuery):
    """A query whose one row of figures the run keeps under its column names.

    `contract.coarse.of_search` decides which of them are published with the release's measures.
    """


@dataclass(frozen=True, slots=True)
class Compute(OfQuery):
    """What SQL cannot say in a set-based way: aggregated rows in, rows of a work table out.

    Never used on rows of the source: `query` returns state that is small (distinct values with
    counts, classes that bounds leave undecided).
    """

    function: Callable[..., list[Row]]
    target: Table
    columns: tuple[tuple[str, str], ...]
    """Name and SQL type of each column of the target."""
    given: bool = False
    """Whether the policy gives the rows, whatever the query answers."""
    in_sql: Callable[[], Step] | None = None
    """Makes the step that does the same in SQL, where there is one: slower, for who has nothing
    else. It has to lead to the same release."""
    long: bool = False
    """Whether `function` takes long: after the rows it is given what hears of its progress."""


@dataclass(frozen=True, slots=True)
class Composed(OfQuery):
    """A statement whose parameters are the few rows of a query, such as a tree of cuts."""

    compose: Callable[[list[Row]], Step]


@dataclass(frozen=True, slots=True)
class Parts:
    """Stages that solve every part of a table as a problem of its own, in a database of its own.

    `bounds` returns a row per part: its number, its first and its last unit, how many units it
    has. One part is solved where it is, by the stages of `whole`.
    """

    name: str
    bounds: Step
    stages: tuple[Stage, ...]
    """They read work tables that stand before, and write `result`."""
    whole: tuple[Stage, ...]
    taken: Mapping[Table, Step]
    """What a part has of a table, as a query with the bound values `first` and `last`; tables that
    are not among these are the same in every part."""
    result: Table
    gathered: Step
    """Writes `result` with no rows."""
    at_most: int
    """Parts that are expected at most."""
    size: int
    """Units of a part that are aimed at."""
    above: int
    """Units up to which there is one part."""


FlatStage: TypeAlias = Step | Loop | Guard | Note | Compute | Composed | Parts


@dataclass(frozen=True, slots=True)
class Embedded:
    """Stages of compact state whose SQL needs lists or recursion by key.

    An engine that has neither lends the tables that they read to an embedded database, and takes
    back `results`.
    """

    name: str
    stages: tuple[Stage, ...]
    results: tuple[Table, ...]


Stage: TypeAlias = FlatStage | Embedded


def flat(stages: Iterable[Stage]) -> Iterator[FlatStage]:
    """The stages of a plan, with those of an embedded database in its place."""
    for stage in stages:
        if isinstance(stage, Embedded):
            yield from flat(stage.stages)
        else:
            yield stage


def inputs(
    stages: Iterable[Stage], rendered: dict[int, Statement] | None = None
) -> tuple[Table, ...]:
    """The work tables that stages read before they write them.

    Every statement, in DuckDB's form, is added to `rendered` by the id of its step.
    """
    made: set[str] = set()
    found: dict[str, Table] = {}
    for step, target in _in_order(stages):
        statement = step.statement()
        if rendered is not None:
            rendered[id(step)] = statement
        for (name,) in sorted(statement.reads):
            if name not in made:
                found.setdefault(name, work(name.rpartition(".")[2]))
        made |= {name for (name,) in statement.writes}
        if target is not None:
            made.add(".".join(target.parts))
    return tuple(found.values())


def _in_order(stages: Iterable[Stage]) -> Iterator[tuple[Step, Table | None]]:
    """Every step in the order of its first execution, with the table that is computed from it."""
    for stage in flat(stages):
        match stage:
            case Step():
                yield stage, None
            case Compute():
                yield stage.query, stage.target
            case Note() | Guard():
                yield stage.query, None
            case Composed():
                yield stage.query, None
                yield stage.compose([]), None
            case Loop():
                if stage.asked_first:
                    yield stage.until, None
                yield from _in_order(stage.body)
                yield stage.until, None
            case Parts():
                yield stage.bounds, None
                yield from ((step, None) for step in stage.taken.values())
                yield stage.gathered, None
                yield from _in_order((*stage.whole, *stage.stages))


@dataclass(frozen=True, slots=True, repr=False)
class Plan(NotebookResult):
    """Everything that will be executed, in order, and the objects that it creates."""

    title: str
    stages: tuple[Stage, ...]
    views: tuple[str, ...] = ()
    """Statements that create scratch views in place of relations that a run reads separately."""

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages)

    def __add__(self, other: Plan) -> Plan:
        return Plan(self.title, self.stages + other.stages, self.views + other.views)

    def _document(self) -> Document:
        kinds = {Step: "steps", Loop: "loops", Guard: "checks that stop a run", Note: "counts"}
        stages = tuple(flat(self.stages))
        counted = {name: sum(type(one) is kind for one in stages) for kind, name in kinds.items()}
        counted["parts at most"] = sum(s.at_most for s in stages if isinstance(s, Parts))
        counts = facts((name, n) for name, n in counted.items() if n)
        steps = say(", ".join(dict.fromkeys(stage.name for stage in stages)))
        return Document(
            f"Plan: {self.title}; sql() has the statements",
            (counts,),
            (Section("Steps", (steps,)),),
        )

    def sql(self, written: Callable[[Step], str] | None = None) -> str:
        """Every statement in order; a loop once, with its exit query and its bound.

        `written`: the text of a step, such as a translation; default: its statement.
        """
        text = written or _own_text
        views = [f"-- a view of the source\n{view};" for view in self.views]
        return "\n\n".join([*views, *(_show(stage, text) for stage in self.stages)]) + "\n"


def _own_text(step: Step) -> str:
    return f"{step.statement().text};"


def _show(stage: Stage, text: Callable[[Step], str]) -> str:
    match stage:
        case Step():
            return f"-- {stage.name}: {stage.purpose}\n{text(stage)}"
        case Loop():
            inner = "\n\n".join(_show(step, text) for step in stage.body)
            asked = " (asked before the first round as well)" if stage.asked_first else ""
            return (
                f"-- loop: {stage.name}, at most {stage.at_most} times,"
                f" until the exit query counts 0{asked}\n{inner}\n\n"
                f"-- exit query of the loop: {stage.until.purpose}\n{text(stage.until)}\n"
                f"-- end of loop: {stage.name}"
            )
        case Parts():
            return _show_parts(stage, text)
        case Embedded():
            inner = "\n\n".join(_show(one, _own_text) for one in stage.stages)
            return f"-- {stage.name}: beside a server, in an embedded database\n{inner}"
    shown = f"-- {stage.name}: {stage.query.purpose}"
    match stage:
        case Guard():
            return f"{shown} (stops the run if it returns rows)\n{text(stage.query)}"
        case Note():
            return f"{shown}\n{text(stage.query)}"
        case Compute():
            purpose = (stage.function.__doc__ or "").strip().splitlines()[0]
            then = f"-- then in Python, into {stage.target.name}: {purpose}"
        case Composed():
            then = f"-- then a statement with its rows as parameters:\n{text(stage.compose([]))}"
    return f"{shown}\n{text(stage.query)}\n{then}"


def _show_parts(stage: Parts, text: Callable[[Step], str]) -> str:
    inner = "\n\n".join(_show(step, text) for step in stage.stages)
    taken = "\n".join(
        f"-- of {table.name}: {step.purpose}\n{text(step)}" for table, step in stage.taken.items()
    )
    return (
        f"-- parts: {stage.name}; at most {stage.at_most} parts of about {stage.size:,} distinct"
        f" tuples each are expected if there are more than {stage.above:,} tuples, else one\n"
        f"-- {stage.bounds.name}: {stage.bounds.purpose}\n{text(stage.bounds)}\n\n"
        f"-- what a part takes, besides whole tables\n{taken}\n\n"
        f"-- in every part, in a database of its own\n{inner}\n-- end of a part"
    )
