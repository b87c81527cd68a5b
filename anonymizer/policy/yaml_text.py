"""Reads YAML 1.2 as plain data: with size limits, and without duplicate keys or tags.

The parser's own messages are dropped, because they quote the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    ScalarEvent,
)
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from anonymizer.errors import PolicyError, Problem, is_waited_for
from anonymizer.policy.paths import path_text
from anonymizer.policy.values import file_format

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
ODD = re.compile(r"_|^[-+]?0b|^[-+]0[ox]")
MAX_NODES = 100_000
"""Most nodes after aliases are expanded: bounds the cost of nested aliases."""


def read(path: Path) -> object:
    """The data in a policy file. Raises `PolicyError`."""
    return parse(text_of(path), path.name)


def text_of(path: Path) -> str:
    """The text of a policy file. Raises `PolicyError`."""
    name = str(path)
    try:
        if path.is_dir():
            raise PolicyError.at(name, "is a folder, not a policy file")
        if is_waited_for(path):
            raise PolicyError.at(name, "is a named pipe, not a policy file")
        if file_format(path.name) in ("parquet", "csv", "excel") and path.is_file():
            hint = f"anonymizer init {path} -o policy.yml drafts a policy for it"
            raise PolicyError.at(name, "is a file of data, not a policy file", hint=hint)
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        hint = "anonymizer init writes a draft"
        raise PolicyError.at(name, "does not exist", hint=hint) from None
    except (OSError, ValueError):
        raise PolicyError.at(name, "cannot be read") from None
    if begins_as_database(raw):
        hint = "the policy is a YAML file; databases are named by an option, as in --database FILE"
        raise PolicyError.at(name, "is a DuckDB database, not a policy file", hint=hint)
    return decode(raw, path.name)


def begins_as_database(raw: bytes) -> bool:
    """Return whether the bytes begin like a DuckDB database."""
    return raw[8:12] == b"DUCK"


def decode(raw: bytes, name: str = "policy") -> str:
    """Text of UTF-8 bytes, with or without a byte order mark."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(raw) <= MAX_BYTES:
            line = raw.count(b"\n", 0, error.start) + 1
            problem = Problem(name, f"is not UTF-8 text (line {line})", hint="save it as UTF-8")
        else:
            problem = _too_large(name)
    raise PolicyError(problem)


def _too_large(name: str) -> Problem:
    return Problem(name, "is too large for a policy", allowed=f"at most {MAX_BYTES} bytes")


def parse(text: str, name: str = "policy") -> object:
    """The data in a YAML text; `name` is used in messages. Raises `PolicyError`."""
    if len(text) > MAX_BYTES:
        raise PolicyError(_too_large(name))
    problems: list[Problem] = []
    data: object = None
    try:
        problems += _refused(text, name)
        if not problems:
            node = _yaml().compose(text)
            problems += [*_duplicates(node, ()), *_odd_numbers(node, ())]
            if not problems and node is not None:
                data = _yaml().constructor.construct_document(node)
    except MarkedYAMLError as error:
        problems.append(_syntax(error, name))
    except (YAMLError, ValueError, TypeError, OverflowError, RecursionError):
        problems.append(Problem(name, "holds something that YAML 1.2 cannot read"))
    PolicyError.refuse(problems)
    return data


def blanks(text: str) -> list[Problem]:
    """Names with nothing behind them, in a YAML text that can be parsed.

    A value that was forgotten (`person:`) would drop what it promises; `null` says that on purpose.
    """
    return _blanks(_yaml().compose(text), ())


def _blanks(node: Node | None, path: tuple[Any, ...]) -> list[Problem]:
    if isinstance(node, MappingNode):
        children = [((*path, key.value), value) for key, value in node.value]
    elif isinstance(node, SequenceNode):
        children = [((*path, at), item) for at, item in enumerate(node.value)]
    elif isinstance(node, ScalarNode) and node.value == "" and node.style is None and path:
        if path[:-1] == ("aggregate", "by"):
            return []  # a column without options
        return [Problem(path_text(path), "is empty", hint="give it a value, or leave it out")]
    else:
        return []
    return [problem for here, child in children for problem in _blanks(child, here)]


def _yaml() -> YAML:
    return YAML(typ="safe", pure=True)


def _syntax(error: MarkedYAMLError, name: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
    hint = "indent with spaces, a colon and a space after each name"
    if error.context_mark is not None and ("flow" in error.context or "quoted" in error.context):
        hint = "close every {, [ and quote"
        if "node" not in error.context:  # whose mark is where the bracket should have closed
            hint += f": the one that begins in line {error.context_mark.line + 1} is still open"
    return Problem(name, f"is not valid YAML{where}", hint=hint)


def _refused(text: str, name: str) -> list[Problem]:
    """Features that a policy may not use, found in the event stream, before anything is built."""
    depth, nodes, documents = 0, 0, 0
    sizes: dict[str, int] = {}
    anchors: set[str | None] = set()
    open_anchors: list[tuple[str | None, int]] = []
    for event in _yaml().parse(text):
        where = f"(line {event.start_mark.line + 1})"
        if isinstance(event, DocumentStartEvent):
            documents += 1
            if documents > 1:
                return [Problem(name, f"holds more than one document {where}")]
            if event.version is not None and tuple(event.version) != (1, 2):
                return [Problem(name, f"asks for another YAML version {where}", allowed="1.2")]
        elif isinstance(event, AliasEvent):
            if event.anchor not in sizes:
                return [Problem(name, f"refers to an anchor not complete before it {where}")]
            nodes += sizes[event.anchor]
        elif isinstance(event, ScalarEvent | CollectionStartEvent):
            nodes += 1
            if event.anchor is not None and event.anchor in anchors:
                return [Problem(name, f"defines an anchor a second time {where}")]
            anchors.add(event.anchor)
            if event.ctag is not None:
                hint = "leave out what begins with an exclamation mark"
                return [Problem(name, f"uses a YAML tag {where}", hint=hint)]
            if isinstance(event, CollectionStartEvent):
                depth += 1
                open_anchors.append((event.anchor, nodes))
            elif event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
            anchor, before = open_anchors.pop()
            if anchor is not None:
                sizes[anchor] = nodes - before + 1
        if depth > MAX_DEPTH:
            return [Problem(name, f"is nested too deeply {where}", allowed=f"{MAX_DEPTH} levels")]
        if nodes > MAX_NODES:
            return [Problem(name, f"is too large {where}", allowed=f"{MAX_NODES} items")]
    return []


def _odd_numbers(node: Node | None, path: tuple[Any, ...]) -> Iterator[Problem]:
    """Every number that only the parser takes for one: YAML 1.2 has no `1_000` and no `0b1`, so
    that another reader of the policy finds a text there.
    """
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield from _odd_numbers(key, path)
            yield from _odd_numbers(value, (*path, getattr(key, "value", "")))
    elif isinstance(node, SequenceNode):
        for at, item in enumerate(node.value):
            yield from _odd_numbers(item, (*path, at))
    elif isinstance(node, ScalarNode) and str(node.tag) in NUMBERS and ODD.search(node.value):
        line = node.start_mark.line + 1
        said = f"is a number in a form that YAML 1.2 does not have (line {line})"
        hint = "a number without underscores and 0b; or quotes, if it is a text"
        yield Problem(path_text(path) or "policy", said, hint=hint)


def _duplicates(node: Node | None, path: tuple[Any, ...]) -> list[Problem]:
    """Every key that occurs twice in a mapping, with both lines."""
    found: list[Problem] = []
    if isinstance(node, MappingNode):
        lines: dict[tuple[str, str], int] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                line = key.start_mark.line + 1
                place = path_text(path) or "policy"
                found.append(Problem(place, f"has a name that is not text (line {line})"))
                continue
            here, line = (*path, key.value), key.start_mark.line + 1
            same = (str(key.tag), key.value)
            if same in lines:
                said = f"stands twice (lines {lines[same]} and {line})"
                found.append(Problem(path_text(here), said))
            lines.setdefault(same, line)
            found += _duplicates(value, here)
    elif isinstance(node, SequenceNode):
        for at, item in enumerate(node.value):
            found += _duplicates(item, (*path, at))
    return found
