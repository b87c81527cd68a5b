"""The steps of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymizer.steps import Composed, Compute, Guard, Loop, Note, Parts, Stage, Step, flat


def steps(stages: Iterable[Stage]) -> Iterator[Step]:
    """Every step with a statement, those of loops once."""
    for stage in flat(stages):
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
