"""From the SQL of the templates (DuckDB's) to that of another engine, or an error.

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
"""Stands for the place of a run's work tables in a translated text, until the run is known."""

CACHED = 4096
"""Translated texts that are kept; a run has about a hundred."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How texts become those of one engine."""

    name: str
    """As sqlglot calls it."""
    transforms: tuple[Callable[[Tree], Tree], ...]
    """Rewrites of the whole tree, in order."""
    finish: Callable[[Tree], Iterable[Tree | str]]
    """One tree as the statements that it takes, in order; texts are the dialect's own."""
    nodes: frozenset[str]
    """Kinds of nodes that mean there what they mean in DuckDB, after the rewrites."""
    functions: frozenset[str]
    """Functions that sqlglot does not know and the engine does."""
    spelled: Callable[[str], str] = str
    """Rewrites the text before it is parsed, where the tree would not tell two things apart."""

    def translate(self, text: str, *, pretty: bool = False) -> tuple[str, ...]:
        """The statements that do what `text` does; `MARK` stands for the run's schema.

        Raises `TemplateError` for constructs that are not on the allow-list.
        """
        return _translated(self, text, pretty)


DEEP = 20_000
"""Calls within calls that a translation may need: expressions are trees, some of them deep."""


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
    """Raises `TemplateError` with every kind of node and function that is not on the list."""
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
    if strange:
        listed = ", ".join(sorted(strange))
        raise TemplateError(f"{listed}: not known to work on {dialect.name}\n{printed}")


def is_work_table(table: exp.Table) -> bool:
    """Whether a table of a text is one of the run's."""
    return table.catalog == SCRATCH
