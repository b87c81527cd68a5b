"""The legend of a script: the columns behind short names, and the content of each table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymizer.compile import SCRATCH
from anonymizer.compile.wrap import comment
from anonymizer.policy import Policy
from anonymizer.source.roles import Roles
from anonymizer.steps import Compute, Loop, Stage, Step

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
