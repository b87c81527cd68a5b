"""A hash of the code that a page measures: what changes it can change the figures.

An input is a file, a folder, or `file.py:Class`. Of Python the syntax tree counts without
docstrings, of SQL templates the text without comments and blank lines; so neither comments nor
layout make a page stale. Other files count by their bytes.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def fingerprint(inputs: Iterable[str], root: Path = ROOT) -> str:
    """Twelve digits for all inputs together; their order and repetition do not count."""
    found = hashlib.sha256()
    for name, content in sorted({part for given in inputs for part in _parts(given, root)}):
        found.update(f"{name}\n{len(content)}\n{content}\n".encode())
    return found.hexdigest()[:12]


def _parts(given: str, root: Path) -> Iterator[tuple[str, str]]:
    name, _, inside = given.partition(":")
    path = root / name
    if not path.exists():
        raise FileNotFoundError(f"{given} is hashed for a page, but is not there")
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        if file.is_file() and file.suffix != ".pyc":
            at = file.relative_to(root).as_posix()
            yield at + f":{inside}" * bool(inside), normal(file, inside)


def normal(file: Path, inside: str = "") -> str:
    """What of a file counts."""
    if file.suffix == ".py":
        return of_python(file.read_text(), inside)
    if file.suffix == ".sql":
        return of_template(file.read_text())
    return hashlib.sha256(file.read_bytes()).hexdigest()


def of_python(text: str, inside: str = "") -> str:
    """The tree without docstrings, positions and empty fields, the same in every version."""
    tree: ast.AST = ast.parse(text)
    if inside:
        (tree,) = (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == inside
        )
    return repr(_shape(tree))


def _shape(node: Any) -> Any:
    if isinstance(node, list):
        return [_shape(one) for one in node if not _is_text(one)]
    if not isinstance(node, ast.AST):
        return node
    fields = [(k, _shape(v)) for k, v in ast.iter_fields(node) if v is not None and v != []]
    return [type(node).__name__, *fields]


def _is_text(node: Any) -> bool:
    """A string that stands alone: a docstring, also one of a field."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def of_template(text: str) -> str:
    """The lines without comments, of Jinja and of SQL, and without the spaces around them."""
    text = re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL)
    lines = (re.sub(r"(^|\s)--.*$", "", line).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)
