"""Wraps SQL to a maximum line length, between tokens only, so that its meaning is unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 118
STEP = "  "
"""Indentation of the rest of a broken line."""

TOKEN = re.compile(
    r"""
      (?P<comment>--[^\n]*|/\*.*?\*/)
    | (?P<text>[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(\w*)\$.*?\$\3\$)
    | (?P<line>[ \t]*\n)
    | (?P<space>[ \t]+)
    | (?P<word>\w+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
PIECE = re.compile(r"(?:[^']|''){1,80}", re.DOTALL)
"""Part of a literal; never splits an escaped quote, which is written as two."""
LONG = 110
"""Length from which a literal is written as several, which the database concatenates."""
CLAUSES = "select from where join left inner cross group order having union on over filter as"
BEFORE = frozenset([*CLAUSES.split(), "and", "or", "when", "then", "else", "end"])
"""Words before which line breaks are preferred."""


def tokens(text: str) -> list[tuple[str, str]]:
    """Kind and text of every token; a name or literal is one token, whatever it contains."""
    return [(str(found.lastgroup), found.group()) for found in _found(text)]


def bound(text: str, name: str, expression: str) -> str:
    """`text` with the parameter `$name` replaced by an expression, except in literals."""
    parts = [part for _, part in tokens(text)]
    for place, part in enumerate(parts[:-1]):
        if part == "$" and parts[place + 1] == name:
            parts[place], parts[place + 1] = expression, ""
    return "".join(parts)


def wrapped(text: str, width: int = WIDTH) -> str:
    """`text` with lines that are longer than `width` broken, if possible."""
    if all(len(line) <= width for line in text.splitlines()):
        return text
    return "\n".join(part for line in _lines(_short(text)) for part in _broken(line, width))


def comment(text: str, first: str = "-- ", more: str = "--   ", width: int = WIDTH) -> str:
    """A comment of one or more lines; a line break in `text` cannot end it."""
    lines = [first.rstrip()]
    for word in text.split():
        prefix = first if len(lines) == 1 else more
        if lines[-1] in (first.rstrip(), more.rstrip()):
            lines[-1] = prefix + word
        elif len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(more + word)
    return "\n".join(lines)


def _short(text: str) -> str:
    """`text` with long literals in pieces, if they are arguments of functions."""
    parts: list[str] = []
    before = ""
    for kind, part in tokens(text):
        if len(part) > LONG and part.startswith("'") and before in ("(", ","):
            pieces = " || ".join(f"'{piece}'" for piece in PIECE.findall(part[1:-1]))
            part = f"({pieces})"
        parts.append(part)
        before = before if kind in ("space", "line") else part
    return "".join(parts)


def _found(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while found := TOKEN.match(text, at):
        yield found
        at = found.end()


def _lines(text: str) -> Iterator[list[tuple[str, str]]]:
    line: list[tuple[str, str]] = []
    for kind, part in tokens(text):
        if kind == "line":
            yield line
            line = []
        else:
            line.append((kind, part))
    yield line


def _broken(line: list[tuple[str, str]], width: int) -> Iterator[str]:
    whole = "".join(part for _, part in line)
    if len(whole) <= width:
        yield whole
        return
    indent = whole[: len(whole) - len(whole.lstrip(" \t"))]
    more = indent + STEP
    current, best, weight = "", 0, 0
    for number, (kind, part) in enumerate(line):
        if kind == "comment" and part.startswith("--"):
            if current.strip():
                yield current.rstrip()
            yield comment(part.removeprefix("--"), f"{indent}-- ", f"{indent}-- ", width)
            return
        if len(current) + len(part) > width and best > len(more):
            yield current[:best].rstrip()
            rest = current[best:].lstrip(" \t")
            # a literal that is as long as a line starts at its beginning
            lead = more if len(more) + len(rest) + len(part) <= width else ""
            current, best, weight = lead + rest, 0, 0
        current += part
        following = line[number + 1 : number + 3]
        found = _weight(kind, part, following)
        if found and (found >= weight or len(current) - best > width // 2):
            best, weight = len(current), found
    yield current.rstrip()


def _weight(kind: str, part: str, following: list[tuple[str, str]]) -> int:
    """The preference for breaking a line after a token; 0 if it cannot be broken."""
    if not following:
        return 0
    if kind == "space":
        return 3 if following[0][1].lower() in BEFORE else 1
    if part == ",":
        return 3
    return 2 if part == "(" else 0
