"""Hierarchies given as pairs of child and parent, and labels that are their own ancestors."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.errors import Problem
from anonymizer.process.text import many


def is_parent_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether it has two columns, no single root, and parents that are children of others."""
    if len(rows[0]) != 2 or len({row[1] for row in rows}) == 1:
        return False
    children = {row[0] for row in rows}
    return any(parent in children for child, parent in rows if child != parent)


def unfold(rows: Sequence[Sequence[str]], where: str) -> tuple[list[list[str]], list[Problem]]:
    """Convert a child-parent table to a wide table, or return its problems.

    Levels count from the root; a leaf closer to the root is repeated on the levels below.
    """
    given = {(child, parent) for child, parent in rows}
    above: dict[str, str] = {}
    torn = {child for child, parent in given if above.setdefault(child, parent) != parent}
    if torn:
        said = many(len(torn), "value is", "values are")
        return [], [Problem(where, f"{said} under two parents")]
    if found := cycle_problems(given, where):
        return [], found
    above = {child: parent for child, parent in above.items() if child != parent}
    inner = set(above.values())
    paths: list[list[str]] = []
    for leaf in (row[0] for row in rows):
        if leaf in inner or leaf not in above:
            continue
        path = [leaf]
        while path[-1] in above:
            path.append(above[path[-1]])
        paths.append(path)
    height = max(len(path) for path in paths)
    return [[path[0]] * (height - len(path)) + path for path in paths], []


def cycle_problems(pairs: set[tuple[str, str]], where: str) -> list[Problem]:
    """Report labels that are their own ancestors, except labels repeated on the next level."""
    above: dict[str, set[str]] = {}
    for child, parent in pairs:
        if child != parent:
            above.setdefault(child, set()).add(parent)
    # repeatedly remove labels without a parent; a cycle remains
    below: dict[str, set[str]] = {}
    for child, tops in above.items():
        for top in tops:
            below.setdefault(top, set()).add(child)
    waiting = {child: len(tops) for child, tops in above.items()}
    free = [label for label in below if label not in waiting]
    while free:
        for child in below.get(free.pop(), ()):
            waiting[child] -= 1
            if not waiting[child]:
                del waiting[child]
                free.append(child)
    if not waiting:
        return []
    return [
        Problem(
            where,
            f"has a cycle: {len(waiting):,} labels lie above themselves, or below such labels",
            hint="a label must not come back as an ancestor of its own ancestors",
        )
    ]
