"""Changes to a policy's text: in place, with its comments, and only to parts the desk may change.

The desk may not change what a policy reads and writes (its source, hierarchy files, keys, the
ledger, the target), so a manipulated page cannot reach other files.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.util import load_yaml_guess_indent

from anonymizer.errors import PolicyError, Problem, TargetError
from anonymizer.policy import Policy, yaml_text
from anonymizer.policy.checks.columns import BARE_NAME, CONSTANTS
from anonymizer.policy.columns import MASKS
from anonymizer.policy.paths import path_text
from anonymizer.policy.publish import Context
from anonymizer.process.files import write_text


@dataclass(slots=True)
class Target:
    """The one file that is written, and only on request."""

    path: Path
    found: str | None
    """Its last known content; None if there is no file."""

    @classmethod
    def of(cls, path: Path) -> Target:
        return cls(path, _content(path))

    def save(self, text: str) -> None:
        """Write the text. Raises TargetError if the file was changed by someone else."""
        if _content(self.path) != self.found:
            said = "was changed by somebody else since the desk read it: nothing was saved"
            hint = "begin again with the new file"
            raise TargetError.at(self.path.name, said, hint=hint)
        write_text(str(self.path), text)
        self.found = text


def _content(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise TargetError.at(path.name, "cannot be read as text") from None


TABLE = ("algorithm", "privacy", "suppression_limit")
"""Parts that may change, apart from the columns."""
PRIVACY = ("k_anonymity", "knows")
CONTEXT = "context"
"""The part with statements about the recipients, of which every field may change."""
MASK = ("format", "within", "at", "at_least", "to", "method", "amount", "share", "value")
"""Options of masks that may change: those that name no file and no other column."""
COLUMN = ("role", "kind", "hierarchy", "protect", "nulls", "weight", "sensitive_when", *MASK)
"""Options of a column that may change."""
ROLES = ("identifier", "quasi", "sensitive", "keep", "drop", *MASKS)
"""Roles that the desk offers."""
READ = ("top_code", "bottom_code", "round", "zip3", "safe_harbor")
KEPT: Mapping[str, tuple[str, ...]] = {
    "quasi": ("kind", "hierarchy", "nulls", "weight", *READ),
    "event": ("kind", "hierarchy", "nulls", "weight"),
    "sensitive": ("kind", "hierarchy", "protect", "acknowledge_unique", "acknowledge",
                  "null_as_value", *READ),
    "keep": ("acknowledge_unique", "acknowledge", "safe_harbor"),
}  # fmt: skip
"""Options that a column keeps when it gets a role; others would be meaningless."""
OF_PERSONS = ("quasi", "sensitive", "keep", "drop")
OF_OTHERS = ("event", *OF_PERSONS[1:])
"""With several tables: roles that the desk offers, in the table of the persons and in others."""
MOST = 1_000
"""Largest number of changes in one request."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A value at a path in the policy; None removes it."""

    path: tuple[str, ...]
    value: Any


def edits_of(given: object) -> tuple[Edit, ...]:
    """Parse the changes of a request. Raises PolicyError for invalid and forbidden changes."""
    if not isinstance(given, list) or not 0 < len(given) <= MOST:
        raise PolicyError.at("edits", "must be a list of changes")
    found = []
    for one in given:
        path = one.get("path") if isinstance(one, dict) else None
        if not isinstance(path, list) or not path or not all(isinstance(p, str) for p in path):
            raise PolicyError.at("edits", "has a change without a path")
        edit = Edit(tuple(path), one.get("value"))
        _refuse_unoffered(edit)
        found.append(edit)
    return tuple(found)


def _refuse_unoffered(edit: Edit) -> None:
    path, value = edit.path, edit.value
    offered = path[0] in TABLE and (
        path[0] != "privacy" or path[1:2] in {(name,) for name in PRIVACY}
    )
    if path[0] == CONTEXT:
        offered = len(path) == 2 and path[1] in Context.model_fields
    if path[0] == "tables":
        offered = len(path) == 5 and path[2::2] == ("columns", "role")
        offered &= value in OF_PERSONS + OF_OTHERS
    if path[0] == "columns":
        offered = len(path) > 2 and path[2] in COLUMN
        if offered and path[2] == "role":
            offered = value in ROLES
        if offered and path[2] == "sensitive_when":
            offered = len(path) == 3 and (value is None or _names_column(value))
    if not offered:
        raise PolicyError.at(path_text(path), "is not changed here", hint="edit the file")


def _names_column(value: object) -> bool:
    """True for the plain name of a column: a page cannot send a condition in SQL."""
    if not isinstance(value, str) or value.lower() in CONSTANTS:
        return False
    found = BARE_NAME.fullmatch(value)
    return found is not None and found["plain"] == value


def _refuse_files(path: tuple[str, ...], value: object, known: object) -> None:
    """Refuse hierarchy files other than the one that the policy already names."""
    if not isinstance(value, Mapping) or value == known:
        return
    for name in ("file", "table"):
        if name in value and (not isinstance(known, Mapping) or known.get(name) != value[name]):
            said = "names a file or table that the policy does not have"
            raise PolicyError.at(path_text(path), said, hint="edit the file")


def with_edits(text: str, edits: Sequence[Edit], base: Path, first: str) -> tuple[str, Policy]:
    """Apply changes to a policy's text and parse it. Raises PolicyError if it becomes invalid.

    `first`: the text with which the desk started.
    """
    began = yaml_text.parse(first)
    yaml = _yaml(text)
    document = yaml.load(text)
    unchanged = _yaml_text(yaml, document)
    for edit in edits:
        if edit.path[0] == "columns" and edit.path[2] == "hierarchy":
            _refuse_files(edit.path, edit.value, _at(began, edit.path))
        _apply(document, edit)
        column = _at(document, edit.path[:-1])
        if edit.path[-1] == "role" and isinstance(column, CommentedMap):
            _without_meaningless(column, str(edit.value))
    changed = _as_laid_out(text, unchanged, _yaml_text(yaml, document))
    policy = Policy.loads(changed, base)
    _refuse_elsewhere(Policy.loads(text, base), policy, edits)
    return changed, policy


class _Writer(RoundTripRepresenter):
    """Writes `null` as it is: ruamel writes nothing, which a policy may not have as a value."""

    def write_null(self, _: None) -> ScalarNode:
        node: ScalarNode = self.represent_scalar("tag:yaml.org,2002:null", "null")
        return node


_Writer.add_representer(type(None), _Writer.write_null)


def _yaml(text: str) -> YAML:
    """A reader and writer that keeps comments and quotes, and uses the text's indentation."""
    yaml = YAML()
    yaml.Representer = _Writer
    yaml.preserve_quotes = True
    yaml.width = 100_000
    _, mapping, sequence = load_yaml_guess_indent(text)
    if mapping is not None:
        yaml.indent(mapping=mapping, sequence=mapping + (sequence or 0), offset=sequence or 0)
    return yaml


def _yaml_text(yaml: YAML, document: CommentedMap) -> str:
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def _as_laid_out(text: str, unchanged: str, changed: str) -> str:
    """The changed document, with the lines of `text` wherever nothing changed.

    A YAML writer joins lines and removes blanks that align columns. `unchanged` is its output for
    `text`; where its lines also occur in `changed`, the original lines are used.
    """
    given, before = _lines_of_tokens(text), _lines_of_tokens(unchanged)
    if len(given) != len(before):
        return changed
    # positions where both texts begin a line at the same token
    begins = [
        (line, written)
        for (last, last_written), (line, written) in pairwise(zip(given, before, strict=True))
        if line > last and written > last_written
    ]
    old = _split_text(text, [g for g, _ in begins])
    base = _split_text(unchanged, [b for _, b in begins])
    new = _split_text(changed, sorted(set(_lines_of_tokens(changed))))
    made: list[str] = []
    for kind, start, end, first, last in SequenceMatcher(None, base, new, False).get_opcodes():
        made += old[start:end] if kind == "equal" else new[first:last]
    laid_out = "".join(made)
    return laid_out if _same(laid_out, changed) else changed


def _lines_of_tokens(text: str) -> list[int]:
    """The line on which each token begins."""
    return [token.start_mark.line for token in YAML(typ="safe", pure=True).scan(text)]


def _split_text(text: str, begins: Sequence[int]) -> list[str]:
    """Split the text before each of these lines; text before the first is a piece as well."""
    lines = text.splitlines(True)
    ends = [*begins, len(lines)]
    return ["".join(lines[start:end]) for start, end in zip([0, *begins], ends, strict=True)]


def _same(one: str, other: str) -> bool:
    try:
        return bool(yaml_text.parse(one) == yaml_text.parse(other))
    except PolicyError:
        return False


def _at(document: object, path: Sequence[str]) -> object:
    for name in path:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document


def _apply(document: CommentedMap, edit: Edit) -> None:
    *parents, last = edit.path
    place = document
    for name in parents:
        inner = place.get(name)
        if not isinstance(inner, CommentedMap):
            if edit.value is None:
                return
            # (sentences of a context have lines of their own)
            inner = place[name] = CommentedMap() if name == CONTEXT else _flow({})
        place = inner
    if edit.value is not None:
        place[last] = _flow(edit.value)
        return
    place.pop(last, None)
    # remove empty mappings: `protect: {}` is not a rule
    if not place and (parents == [CONTEXT] or (len(parents) > 1 and parents[-1] in COLUMN)):
        _apply(document, Edit(tuple(parents), None))


def _flow(value: Any) -> Any:
    """A mapping or list in YAML's flow style (on one line)."""
    if isinstance(value, Mapping):
        made = CommentedMap({str(name): _flow(item) for name, item in value.items()})
        made.fa.set_flow_style()
        return made
    if isinstance(value, list):
        listed = CommentedSeq([_flow(item) for item in value])
        listed.fa.set_flow_style()
        return listed
    return value


def kept_under(role: str, column: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a column that have a meaning under another role."""
    return {name: value for name, value in column.items() if name in KEPT.get(role, ())}


def _without_meaningless(column: CommentedMap, role: str) -> None:
    for name in {*column} - {"role", *kept_under(role, column)}:
        del column[name]


def _refuse_elsewhere(before: Policy, now: Policy, edits: Sequence[Edit]) -> None:
    """Refuse changes of other parts, which a YAML alias could cause."""
    named = {edit.path[: PART.get(edit.path[0], 1)] for edit in edits}
    old, new = _parts(before), _parts(now)
    changed = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    said = "would change as well, by an alias in the file"
    beside = [path for path in changed if path not in named]
    PolicyError.refuse(Problem(path_text(path), said, hint="edit the file") for path in beside)


PART = {"columns": 2, "tables": 4}
"""Length of the path of one column."""


def _parts(policy: Policy) -> dict[tuple[str, ...], Any]:
    """The policy's parts and its columns, by path."""
    found = policy.to_dict()
    parts: dict[tuple[str, ...], Any]
    parts = {("columns", name): value for name, value in found.pop("columns", {}).items()}
    for table, options in found.pop("tables", {}).items():
        columns = options.pop("columns", {})
        parts |= {("tables", table, "columns", name): value for name, value in columns.items()}
        parts[("tables", table)] = options
    return {**parts, **{(name,): value for name, value in found.items()}}
