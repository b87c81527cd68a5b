"""Writes a run as one DuckDB SQL script, which the shell executes from the first to the last line.

The script makes the same rows as a run with the same secret, verifies them, and stops at the first
check that fails. Stages that are not statements are translated to statements (`printed`); facts
that only an execution shows, such as the rounds of a loop, come from a rehearsal (`rehearsal`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anonymizer.compile import SCRATCH, ident, lit
from anonymizer.compile.wrap import comment, wrapped
from anonymizer.engines.duckdb.connection import SOURCE
from anonymizer.engines.duckdb.messages import Explain
from anonymizer.engines.duckdb.printed import ANEW, Printer, check, said
from anonymizer.engines.duckdb.rehearsal import Rehearsal
from anonymizer.engines.duckdb.session import USUAL
from anonymizer.errors import Problem
from anonymizer.policy import Policy
from anonymizer.source.relation import QUERIED
from anonymizer.source.roles import Roles
from anonymizer.steps import Compute, Loop, Row, Stage, Step

ALWAYS = (
    ("row_id, row_ref", "number of a row of the source, in an order without meaning"),
    ("identity", "what tells a row from others with the same quasi-identifiers"),
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
    for s in roles.sensitive:
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
    for stage in stages:
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
class Scripted:
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


def written(given: Scripted) -> str:
    """The script: header, legend, the statements of the run, and the verification of its rows."""
    printer = Printer(given.rehearsal)
    body = [
        *(f"-- a view of the source\n{text};" for text in given.views),
        *printer.stages(given.read),
        *map(_counted, given.counts),
        *printer.stages(given.rest),
        comment("The rows of the release are written. What follows judges them."),
        *map(_judged, given.judging),
        _closing(given),
    ]
    head = [*_header(given), *legend(given.policy, given.roles, (*given.read, *given.rest))]
    return "\n\n".join(["\n".join(head), *_opening(given), *body]) + "\n"


def _header(given: Scripted) -> Iterator[str]:
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


def _opening(given: Scripted) -> Iterator[str]:
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
        lines.append(f"attach {lit(str(given.database)).text} as {SOURCE} (read_only);")
    lines.append(f"attach ':memory:' as {SCRATCH};")
    if given.policy.source.kind == "query":
        text = (given.policy.source.query or "").strip().rstrip(";")
        if given.database is not None:
            lines.append(f"set search_path = {lit(given.search_path).text};")
        lines.append(f"create table {ident(QUERIED).text} as\n{wrapped(text)}\n;")
    lines.append(f"use {SCRATCH}.main;")
    yield "\n".join(lines)


def _counted(counts: Counts) -> str:
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


def _judged(item: Judging) -> str:
    text = wrapped(item.text)
    if item.explain is None:
        return said(item.name, item.purpose, text)
    return check(item.name, item.purpose, text, item.explain, item.width, each=False)


def _closing(given: Scripted) -> str:
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
