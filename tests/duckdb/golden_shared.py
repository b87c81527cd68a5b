"""What golden files have in common stands in the first of them; the others refer to it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile

STATEMENT = re.compile(r"-- (.+?): [A-Z{]")
"""The line above a statement, with its name."""
STEP = re.compile(r"(?: |loop |guard |note |compute |until none: )*(.+?)[:,]")
"""A line of an outline, with the name of its step."""
Place = tuple[Sequence[str], int, str]
"""The lines of a file, the number of one of them, and where it stands in words."""


def told_once(
    files: Mapping[str, str], heading: re.Pattern[str], least: int, *, across: bool
) -> Iterator[tuple[str, str]]:
    """The files in their order, with one line for `least` or more lines that were told before.

    `across`: such lines may have a `heading` among them. No reference leads to another one.
    """
    places: dict[tuple[str, ...], list[Place]] = defaultdict(list)
    for path, text in files.items():
        lines, kept, where = text.splitlines(), list[str](), [path]
        while lines:
            known = places.get(tuple(map(_plain, lines[:least])), [])
            until = None if across else heading
            found = [(_same(lines, others, at, until), said) for others, at, said in known]
            same, said = max(found, default=(0, ""))
            if same >= least:
                indent = lines[0].removesuffix(lines[0].lstrip())
                kept.append(f"{indent}-- {same} lines as in {said}")
            else:
                same = 1
                kept.append(lines[0])
            named = heading.match(lines[0])
            where.append(f"{path}, {named[1]}" if named else where[-1])
            if len(kept) >= least:
                at = len(kept) - least
                places[tuple(map(_plain, kept[at:]))].append((kept, at, where[at + 1]))
            lines = lines[same:]
        yield path, "\n".join(kept) + "\n"


def _same(
    lines: Sequence[str], others: Sequence[str], at: int, until: re.Pattern[str] | None
) -> int:
    """How many lines are the same as those from `at` on; blank ones at the end do not count."""
    pairs = takewhile(
        lambda pair: pair[0] == pair[1] and not (until and until.match(pair[0])),
        zip(map(_plain, lines), map(_plain, islice(others, at, None)), strict=False),
    )
    return max((number for number, (line, _) in enumerate(pairs, 1) if line), default=0)


def _plain(line: str) -> str:
    """A line without the end of a statement, which templates do not have."""
    return line.removesuffix(";")
