"""A plan as a script of DuckDB's SQL, with what to know of it at its head.

It runs by hand where every step is a statement. What the tool itself drives (loops, steps in
Python) is written down to be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from anonymizer.compile import SCRATCH, ident, lit
from anonymizer.engines.duckdb import SOURCE
from anonymizer.plan import Compute, Loop, Plan, Stage
from anonymizer.policy import Policy
from anonymizer.session import QUERIED

_STAGED = re.compile(rf"^create or replace table ({SCRATCH}\.main\.staged\w*)", re.MULTILINE)


def script(plan: Plan, policy: Policy, database: str | Path | None = None) -> str:
    """Every statement under a header of comments; `database` is the file of the source."""
    body = plan.sql()
    lines = [*_opening(policy, database), "", *_extent(plan, body)]
    return "".join(f"-- {line}".rstrip() + "\n" for line in lines) + f"\n{body}"


def _opening(policy: Policy, database: str | Path | None) -> Iterator[str]:
    yield "Every statement of a run, in order. Connect to nothing (:memory:) and begin with:"
    if database is not None:
        name = str(database)
        # (a name with a line break in it would end the comment)
        shown = lit(name).text if name.isprintable() else "'...'"
        yield f"  attach {shown} as {SOURCE} (read_only);"
    yield f"  attach ':memory:' as {SCRATCH};"
    if policy.source.kind == "query":
        text = (policy.source.query or "").strip().rstrip(";")
        if database is not None:
            yield f"  use {SOURCE};"
        yield f"  create table {ident(QUERIED).text} as"
        yield from (f"  {line}" for line in text.splitlines())
        yield "  ;"
    yield f"  use {SCRATCH}.main;"
    yield "$secret is a parameter: text of 64 hexadecimal digits. Draw it afresh and forget it: who"
    yield "has it can repeat the draws."
    yield "A statement that `stops the run if it returns rows` is a check: a row is a reason to end"
    yield "there."


def _extent(plan: Plan, body: str) -> Iterator[str]:
    """Whether the script is the whole run, and what is missing."""
    loops = [stage.name for stage in _stages(plan.stages) if isinstance(stage, Loop)]
    computed = [stage.name for stage in _stages(plan.stages) if isinstance(stage, Compute)]
    tables = ", ".join(dict.fromkeys(_STAGED.findall(body)))
    if loops or computed:
        yield "NOT COMPLETE: it is to be read, not to be run. What `anonymizer run` drives itself:"
        if loops:
            yield f"  loops, each written once with its exit query: {', '.join(loops)}"
        if computed:
            yield f"  steps in Python (`then in Python, into ...`): {', '.join(computed)}"
        yield f"At its end the rows of the release are in {tables}."
    else:
        yield "COMPLETE: run to its end, statement by statement, it leaves the rows of the release"
        yield f"in {tables}."
    yield "They are not judged: `anonymizer run` verifies and publishes them, with a manifest."


def _stages(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    for stage in stages:
        yield stage
        if isinstance(stage, Loop):
            yield from _stages(stage.body)
