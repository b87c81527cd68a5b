"""Check and number a hierarchy given as a wide table (value, level 1, ..., level h).

Uses no database. Two columns whose second has values of the first are read as child and parent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy import parents
from anonymizer.hierarchy.spans import span_problems
from anonymizer.process.text import many

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
    if nested and parents.is_parent_table(wide):
        wide, found = parents.unfold(wide, where)
    found = found or check_wide(wide, where, lines, nested=nested)
    if found:
        raise SourceError(found)
    return _numbered(wide, nested=nested)


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
        if row[0] is None or any(_unlabelled(cell, row[0]) for cell in row[1:])
    ]
    if empty:
        return [
            Problem(where, f"{_rows(len(empty))} a level without a label{_first(empty, lines)}")
        ]
    return []


def _unlabelled(cell: str | None, value: str) -> bool:
    """Whether a cell is missing, or blank without being the value itself."""
    return cell is None or (not cell.strip() and cell != value)


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
        *(_cycle_problems(rows, where) if nested else ()),
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


def _cycle_problems(rows: Sequence[Sequence[str]], where: str) -> list[Problem]:
    """Report cycles among inner levels; values and root are excluded, as a value may be `*`."""
    return parents.cycle_problems({p for row in rows for p in pairwise(row[1:-1])}, where)


def _root_problems(rows: Sequence[Sequence[str]], where: str) -> list[Problem]:
    tops = len({row[-1] for row in rows})
    if tops == 1:
        return []
    hint = "add a last column of *"
    if len(rows) > 2 and tops == 2 and rows[0][-1] not in {row[-1] for row in rows[1:]}:
        hint = "the first line may be a header: leave it out, or add a last column of *"
    said = f"has no single root: the last level has {tops:,} labels"
    return [Problem(where, said, hint=hint)]


def _numbered(rows: Sequence[Sequence[str]], *, nested: bool) -> list[Node]:
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
