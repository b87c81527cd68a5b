"""Translates the SQL of the templates (DuckDB's) to that of another engine, or raises an error.

A statement is parsed, rewritten by small transforms of the tree, printed, parsed again as the
target's SQL, and checked against an allow-list of constructs with the same meaning there. Anything
else raises an error: a printer without a translation prints the source's SQL unchanged, and the
target may accept it with another meaning.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from anonymizer.compile.sql import SCRATCH
from anonymizer.errors import TemplateError

if TYPE_CHECKING:
    from sqlglot import exp

    Tree: TypeAlias = exp.Expr

MARK = "anon\x01scratch"
"""Placeholder for the schema of a run's work tables in a translated text."""

CACHED = 4096
"""Number of translated texts to cache; a run has about a hundred."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The translation of statements to the SQL of one engine."""

    name: str
    """sqlglot's name of the dialect."""
    transforms: tuple[Callable[[Tree], Tree], ...]
    """Rewrites of the whole tree, in order."""
    finish: Callable[[Tree], Iterable[Tree | str]]
    """Splits a tree into the statements to execute, in order; texts are in the target's SQL."""
    nodes: frozenset[str]
    """Kinds of nodes that have the same meaning as in DuckDB, after the rewrites."""
    functions: frozenset[str]
    """Functions that the engine has and sqlglot does not know."""
    spelled: Callable[[str], str] = str
    """Rewrites the text before parsing, where the tree would not distinguish two constructs."""

    def translate(self, text: str, *, pretty: bool = False) -> tuple[str, ...]:
        """The statements equivalent to `text`, with `MARK` as the run's schema.

        Raises `TemplateError` for constructs that are not on the allow-list.
        """
        return _translated(self, text, pretty)


DEEP = 20_000
"""Recursion limit of a translation, since some expressions are deep trees."""


@lru_cache(maxsize=CACHED)
def _translated(dialect: Dialect, text: str, pretty: bool) -> tuple[str, ...]:
    import sqlglot

    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEP))
    try:
        tree = sqlglot.parse_one(dialect.spelled(text), read="duckdb")
    except sqlglot.errors.SqlglotError as error:
        raise TemplateError(f"does not parse for {dialect.name}: {error}\n{text}") from error
    for transform in dialect.transforms:
        tree = transform(tree)
    made = []
    for statement in dialect.finish(tree):
        if isinstance(statement, str):
            made.append(statement)
            continue
        try:
            printed = statement.sql(
                dialect=dialect.name,
                comments=False,
                pretty=pretty,
                unsupported_level=sqlglot.ErrorLevel.RAISE,
            )
        except sqlglot.errors.UnsupportedError as error:
            raise TemplateError(f"{error} on {dialect.name}\n{text}") from error
        check(dialect, printed)
        made.append(printed)
    return tuple(made)


def check(dialect: Dialect, printed: str) -> None:
    """Raises `TemplateError` with every kind of node and function that is not allowed."""
    import sqlglot
    from sqlglot import exp

    try:
        tree = sqlglot.parse_one(printed, read=dialect.name)
    except sqlglot.errors.SqlglotError as error:
        raise TemplateError(f"is not SQL of {dialect.name}: {error}\n{printed}") from error
    strange = set()
    for node in tree.walk():
        kind = type(node).__name__
        if isinstance(node, exp.Anonymous):
            if node.name.lower() not in dialect.functions:
                strange.add(f"{node.name}()")
        elif kind not in dialect.nodes:
            strange.add(kind)
        elif isinstance(node, exp.Star) and any(node.args.values()):
            strange.add(node.sql(dialect.name))
    if strange:
        listed = ", ".join(sorted(strange))
        raise TemplateError(f"{listed}: not known to work on {dialect.name}\n{printed}")


def is_work_table(table: exp.Table) -> bool:
    """Whether a table in a text is a work table of the run."""
    return table.catalog == SCRATCH
