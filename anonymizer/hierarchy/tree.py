"""Check and number a hierarchy given as a wide table or as pairs of child and parent."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from anonymizer.errors import Problem, SourceError
from anonymizer.process.text import many

# Hierarchies given as pairs of child and parent, and labels that are their own ancestors.


def is_parent_table(rows: Sequence[Sequence[str]]) -> bool:
    """True if it has two columns, no single root, and parents that are children of others."""
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


# Gaps and overlaps of interval labels in a given hierarchy (`[20, 29]` or `20-29`).


SPAN = re.compile(r"\[(-?\d+), (-?\d+)\]\Z|(-?\d+)-(-?\d+)\Z")
WHOLE = re.compile(r"-?\d+\Z")


def span_problems(rows: Sequence[Sequence[str]], where: str) -> list[Problem]:
    """Report overlaps and gaps of levels whose labels are intervals of whole numbers.

    A level with any other label, or without an interval, is not checked. Space between two
    intervals is a gap if it contains a listed value. Space without listed values is harmless,
    because all values of the source must be listed.
    """
    if not all(WHOLE.match(row[0]) for row in rows):
        return []
    values = sorted(int(row[0]) for row in rows)
    found = []
    for level in range(1, len(rows[0])):
        pairs = list(pairwise(sorted(_spans(rows, level))))
        overlaps = sum(after[0] <= before[1] for before, after in pairs)
        gaps = sum(_between(values, before[1], after[0]) for before, after in pairs)
        if overlaps:
            found.append(Problem(where, f"level {level} has {_many(overlaps, 'overlap')}"))
        if gaps:
            found.append(
                Problem(
                    where,
                    f"level {level} has {_many(gaps, 'gap')}",
                    hint="let each interval begin where the one before it ends, plus one",
                )
            )
    return found


def _between(values: Sequence[int], low: int, high: int) -> bool:
    """Return whether one of the sorted values lies strictly between the two."""
    at = bisect_right(values, low)
    return at < len(values) and values[at] < high


def _spans(rows: Sequence[Sequence[str]], level: int) -> set[tuple[int, int]]:
    """The intervals of a level; none if a label is not an interval, or all are numbers (codes)."""
    labels = {row[level] for row in rows}
    spans = {label: match for label in labels if (match := SPAN.match(label))}
    if not spans or not all(label in spans or WHOLE.match(label) for label in labels):
        return set()
    found = set()
    for label in labels:
        match = spans.get(label)
        ends = [bound for bound in match.groups() if bound is not None] if match else [label]
        found.add((int(ends[0]), int(ends[-1])))
    return found


def _many(count: int, what: str) -> str:
    return (
        f"{'an' if what[0] == 'o' else 'a'} {what} between intervals"
        if count == 1
        else (f"{count:,} {what}s between intervals")
    )


# Check and number a hierarchy given as a wide table (value, level 1, ..., level h).
#
# Uses no database. Two columns whose second has values of the first are read as child and parent.


ROOT = "*"

Wide: TypeAlias = Sequence[Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class Node:
    """One value at one level, as `stages` describes it."""

    value: str
    leaf: int
    level: int
    node: int
    label: str
    leaves: int

    @property
    def row(self) -> tuple[str, int, int, int, str, int]:
        return self.value, self.leaf, self.level, self.node, self.label, self.leaves


def nodes(rows: Wide, where: str, lines: Sequence[int] = (), *, nested: bool = True) -> list[Node]:
    """The hierarchy of a wide table: one `Node` per row and level.

    Leaves are numbered along the tree, nodes in order of their first row; the root's label becomes
    `*`. Raises SourceError with all problems; `lines` are the rows' lines in a file. Levels that
    are not `nested` are numbered in the order of the rows.
    """
    found = shape_problems(rows, where, lines)
    if found:
        raise SourceError(found)
    wide = [[str(cell) for cell in row] for row in rows]
    if nested and is_parent_table(wide):
        wide, found = unfold(wide, where)
    found = found or check_wide(wide, where, lines, nested=nested)
    if found:
        raise SourceError(found)
    return _nodes_of_rows(wide, nested=nested)


def shape_problems(rows: Wide, where: str, lines: Sequence[int] = ()) -> list[Problem]:
    """Problems with the rows themselves: no rows, unequal lengths, empty cells."""
    if not rows:
        return [Problem(where, "is empty", hint="one line per value: the value, then its levels")]
    width = len(rows[0])
    ragged = [at for at, row in enumerate(rows) if len(row) != width]
    if ragged:
        return [
            Problem(
                where,
                f"{_rows(len(ragged))} another number of levels than the first"
                + _first(ragged, lines),
                hint="repeat a label on the next level where a branch is shorter",
            )
        ]
    if width < 2:
        return [Problem(where, "has no levels", hint="the value, then its levels, separated by ;")]
    empty = [
        at
        for at, row in enumerate(rows)
        if row[0] is None
        or any(cell is None or (not cell.strip() and cell != row[0]) for cell in row[1:])
    ]
    if empty:
        return [
            Problem(where, f"{_rows(len(empty))} a level without a label{_first(empty, lines)}")
        ]
    return []


def check_wide(
    rows: Sequence[Sequence[str]], where: str, lines: Sequence[int] = (), *, nested: bool = True
) -> list[Problem]:
    """Check that a wide table is a hierarchy; works for any such table.

    Checked: a value under two parents, a value listed twice, levels that are not coarsenings of
    those below, several roots, a label that is its own ancestor, gaps and overlaps of intervals. If
    levels are not `nested`, only the values of each node must be listed together. Messages contain
    counts and line numbers, but no value.
    """
    return [
        *_value_problems(rows, where, lines),
        *(_coarsening_problems(rows, where, lines) if nested else _torn_problems(rows, where)),
        *_root_problems(rows, where),
        *(
            cycle_problems({p for row in rows for p in pairwise(row[1:-1])}, where)
            if nested
            else ()
        ),
        *span_problems(rows, where),
    ]


def _value_problems(
    rows: Sequence[Sequence[str]], where: str, lines: Sequence[int]
) -> list[Problem]:
    seen: dict[str, Sequence[str]] = {}
    repeated: list[int] = []
    torn: list[int] = []
    for at, row in enumerate(rows):
        before = seen.setdefault(row[0], row)
        if before is not row:
            (repeated if list(before) == list(row) else torn).append(at)
    found = []
    if torn:
        found.append(Problem(where, f"{_values(len(torn))} under two parents{_first(torn, lines)}"))
    if repeated:
        found.append(
            Problem(where, f"{_values(len(repeated))} listed twice{_first(repeated, lines)}")
        )
    return found


def _coarsening_problems(
    rows: Sequence[Sequence[str]], where: str, lines: Sequence[int]
) -> list[Problem]:
    found = []
    for level in range(1, len(rows[0]) - 1):
        above: dict[str, str] = {}
        broken: dict[str, int] = {}
        for at, row in enumerate(rows):
            if above.setdefault(row[level], row[level + 1]) != row[level + 1]:
                broken.setdefault(row[level], at)
        if broken:
            found.append(
                Problem(
                    where,
                    f"level {level + 1} is not a coarsening of level {level}: {len(broken):,}"
                    f" of its nodes under two parents{_first(sorted(broken.values()), lines)}",
                    hint="a label stands for one node of its level; give other nodes other labels",
                )
            )
    return found


def _torn_problems(rows: Sequence[Sequence[str]], where: str) -> list[Problem]:
    found = []
    for level in range(1, len(rows[0])):
        runs = 1 + sum(before[level] != after[level] for before, after in pairwise(rows))
        if torn := runs - len({row[level] for row in rows}):
            said = f"level {level} has {many(torn, 'label')} in several places"
            hint = "list the values of a node one after the other"
            found.append(Problem(where, said, hint=hint))
    return found


def _root_problems(rows: Sequence[Sequence[str]], where: str) -> list[Problem]:
    tops = len({row[-1] for row in rows})
    if tops == 1:
        return []
    hint = "add a last column of *"
    if len(rows) > 2 and tops == 2 and rows[0][-1] not in {row[-1] for row in rows[1:]}:
        hint = "the first line may be a header: leave it out, or add a last column of *"
    said = f"has no single root: the last level has {tops:,} labels"
    return [Problem(where, said, hint=hint)]


def _nodes_of_rows(rows: Sequence[Sequence[str]], *, nested: bool) -> list[Node]:
    height = len(rows[0]) - 1
    first: list[dict[str, int]] = [{} for _ in range(height + 1)]
    for at, row in enumerate(rows):
        for level, label in enumerate(row):
            first[level].setdefault(label, at)
    # levels that do not nest keep their order: no path from the root sorts them
    ordered = rows
    if nested:
        ordered = sorted(
            rows, key=lambda row: [first[level][row[level]] for level in range(height, -1, -1)]
        )
    members: dict[tuple[int, str], list[int]] = defaultdict(list)
    for leaf, row in enumerate(ordered, start=1):
        for level in range(1, height + 1):
            members[level, row[level]].append(leaf)
    return [
        Node(
            row[0],
            leaf,
            level,
            members[level, row[level]][0],
            ROOT if level == height else row[level],
            len(members[level, row[level]]),
        )
        for leaf, row in enumerate(ordered, start=1)
        for level in range(1, height + 1)
    ]


def _rows(count: int) -> str:
    return many(count, "row has", "rows have")


def _values(count: int) -> str:
    return many(count, "value is", "values are")


def _first(places: Sequence[int], lines: Sequence[int]) -> str:
    if not lines:
        return ""
    return f" ({'' if len(places) == 1 else 'first: '}line {lines[places[0]]})"
