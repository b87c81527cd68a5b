"""A plan as an outline: one line per step, loops with their bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymizer.compile import SCRATCH
from anonymizer.steps import Composed, Compute, Guard, Loop, Note, Parts, Plan, Stage, Step
from tests.duckdb.golden_probe import Probe


def steps(stages: Iterable[Stage]) -> Iterator[Step]:
    """Every step with a statement, those of loops once."""
    for stage in stages:
        match stage:
            case Step():
                yield stage
            case Guard():
                if stage.first is not None:
                    yield stage.first
                yield stage.query
            case Note():
                yield stage.query
            case Compute():
                yield stage.query
                if stage.in_sql is not None:
                    yield stage.in_sql()
            case Loop():
                yield from steps(stage.body)
                yield stage.until
            case Composed():
                yield from (stage.query, stage.compose([]))
            case Parts():
                yield from (stage.bounds, stage.gathered, *stage.taken.values())
                yield from steps(stage.stages)
                yield from steps(stage.whole)


def outline(plan: Plan, probe: Probe) -> str:
    """The lines of a plan.

    `name: template (tables read) -> table written; parameters; digest`, where the digest stands for
    all that the parameters say.
    """
    return "\n".join(line for stage in plan.stages for line in _lines(stage, probe)) + "\n"


def _lines(stage: Stage, probe: Probe) -> Iterator[str]:
    match stage:
        case Step():
            yield _line(stage, probe)
        case Guard():
            yield f"guard {_line(stage.query, probe)}; else {stage.error.__name__}"
        case Note():
            yield f"note {_line(stage.query, probe)}"
        case Compute():
            columns = ", ".join(" ".join(column) for column in stage.columns)
            yield f"compute {_line(stage.query, probe)}"
            yield f"  in Python: {stage.function.__name__} -> {stage.target.name} ({columns})"
            if stage.in_sql is not None:
                yield f"  in a script: {_line(stage.in_sql(), probe)}"
        case Loop():
            asked = ", asked first" if stage.asked_first else ""
            yield f"loop {stage.name}, at most {stage.at_most} times{asked}"
            for step in stage.body:
                yield from (f"  {line}" for line in _lines(step, probe))
            yield f"  until none: {_line(stage.until, probe)}"
        case Composed():
            yield f"composed {_line(stage.query, probe)}"
            yield f"  {_line(stage.compose([]), probe)}"
        case Parts():
            yield f"parts, at most {stage.at_most}: {_line(stage.bounds, probe)}"
            yield f"  {_line(stage.gathered, probe)}"
            for table, step in stage.taken.items():
                yield f"  of {table.name}: {_line(step, probe)}"
            for where, inside in (("a part", stage.stages), ("one piece", stage.whole)):
                yield f"  in {where}"
                yield from (f"    {line}" for inner in inside for line in _lines(inner, probe))


def _line(step: Step, probe: Probe) -> str:
    rendering = probe.rendered(step)
    statement = rendering.statement
    reads, writes = (
        ", ".join(sorted(".".join(name).removeprefix(f"{SCRATCH}.main.") for name in names))
        for names in (statement.reads, statement.writes)
    )
    told = [f"{name}={value}" for name, value in probe.scalars(step)]
    told += [f"binds {name}" for name in step.binds]
    template = step.template.removesuffix(".sql.j2")
    parts = [f"{step.name}: {template} ({reads})" + (f" -> {writes}" if writes else "")]
    return "; ".join([*parts, *([", ".join(told)] if told else []), rendering.digest])
