"""What golden files have in common stands in the first of them; the others refer to it."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile

STATEMENT = re.compile(r"^-- ((?:end of )?loop|.+?(?=: (?:[A-Z{]|as in ))): ", re.MULTILINE)
"""The line above a statement, or in its place, with its name."""
STEP = re.compile(r"(?: |loop |guard |note |compute |until none: )*(.+?)[:,]")
"""A line of an outline, with the name of its step."""
INSTEAD = "-- as in "
"""How a line begins that stands for a whole statement."""


def whole_once(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The files in their order, with one line for a whole statement that was told before."""
    known: dict[str, str] = {}
    for path, text in files.items():
        starts = [0, *(found.start() for found in STATEMENT.finditer(text)), len(text)]
        kept = ""
        for start, end in pairwise(starts):
            told = text[start:end]
            named = STATEMENT.match(told)
            _, _, body = told.strip().partition("\n")
            plain = "\n".join(map(_plain, body.splitlines()))
            if named and plain and told[named.end()] != "{":
                if plain.startswith(INSTEAD):
                    known[plain] = plain.removeprefix("-- ")
                if plain in known:
                    told = f"{named[0]}{known[plain]}\n\n"
                    if kept.rpartition("\n\n")[2] == "" and _is_reference(kept):
                        kept = kept.removesuffix("\n")
                known.setdefault(plain, f"as in {path}, {named[1]}")
            kept += told
        yield path, kept.strip() + "\n"


def _is_reference(text: str) -> bool:
    """The last line stands for a whole statement."""
    last = text.strip().rpartition("\n")[2]
    named = STATEMENT.match(last)
    return named is not None and last.startswith("as in ", named.end())


@dataclass(frozen=True)
class Place:
    """The lines of a text, the number of one of them, and what is said of those that follow."""

    lines: Sequence[str]
    at: int
    said: str
    shown: bool = True
    """In a golden file. If not, a digest of the lines is added."""


def told_once(
    files: Mapping[str, str],
    heading: re.Pattern[str],
    least: int,
    *,
    across: bool,
    templates: Callable[[str], Mapping[str, str]] = lambda path: {},
) -> Iterator[tuple[str, str]]:
    """The files in their order, with one line for `least` or more lines that were told before.

    `across`: such lines may have a `heading` among them. No reference leads to another one.
    `templates`: the texts that a file was made from, by what is said of their lines, which are not
    told but for a digest.
    """
    places: dict[tuple[str, ...], list[Place]] = defaultdict(list)
    for path, text in files.items():
        written: dict[tuple[str, ...], list[Place]] = defaultdict(list)
        for name, source in templates(path).items():
            rows = source.splitlines()
            for at in range(len(rows) - least + 1):
                written[_key(rows, at, least)].append(Place(rows, at, name, shown=False))
        lines, kept, where = text.splitlines(), list[str](), [path]
        while lines:
            key, until = _key(lines, 0, least), None if across else heading
            found = [
                (_same(lines, place, until), place)
                for place in (*written.get(key, ()), *places.get(key, ()))
            ]
            same, place = max(found, default=(0, None), key=lambda pair: pair[0])
            if place is not None and same >= least:
                indent = lines[0].removesuffix(lines[0].lstrip())
                digest = "" if place.shown else f", {digest_of(lines[:same])}"
                kept.append(f"{indent}-- {same} lines {place.said}{digest}")
            else:
                same = 1
                kept.append(lines[0])
            named = heading.match(lines[0])
            where.append(f"{path}, {named[1]}" if named else where[-1])
            if len(kept) >= least:
                at = len(kept) - least
                said = f"as in {where[at + 1]}"
                places[_key(kept, at, least)].append(Place(kept, at, said))
            lines = lines[same:]
        yield path, "\n".join(kept) + "\n"


def digest_of(lines: Sequence[str]) -> str:
    """Eight characters that stand for lines that are not told."""
    return hashlib.sha256("\n".join(map(_plain, lines)).encode()).hexdigest()[:8]


def _key(lines: Sequence[str], at: int, least: int) -> tuple[str, ...]:
    return tuple(map(_plain, lines[at : at + least]))


def _same(lines: Sequence[str], place: Place, until: re.Pattern[str] | None) -> int:
    """How many lines are the same as those of a place; blank ones at the end do not count."""
    pairs = takewhile(
        lambda pair: pair[0] == pair[1] and not (until and until.match(pair[0])),
        zip(map(_plain, lines), map(_plain, islice(place.lines, place.at, None)), strict=False),
    )
    return max((number for number, (line, _) in enumerate(pairs, 1) if line), default=0)


def _plain(line: str) -> str:
    """A line without the end of a statement, which templates do not have."""
    return line.removesuffix(";")
