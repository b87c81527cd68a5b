"""Replaces names of columns that are too long for Postgres.

A statement may name a result after a column of the source (`level.<column>`). The server would
truncate such a name, so that two of them could become equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import md5

from sqlglot import exp

from anonymizer.engines.postgres.names import is_long
from anonymizer.policy.names import OWN


def _stand_in(name: str) -> str:
    return OWN + md5(name.encode(), usedforsecurity=False).hexdigest()


def short_names(node: exp.Expr) -> exp.Expr:
    """Replace a name that would be truncated; `as_written` reverses this."""
    if isinstance(node, exp.Identifier) and is_long(node.name):
        return exp.to_identifier(_stand_in(node.name), quoted=True)
    return node


def as_written(text: str, columns: Sequence[str]) -> list[str]:
    """The column names of a result as written in `text`, before its translation."""
    if not any(name.startswith(OWN) for name in columns):
        return list(columns)
    import sqlglot

    tree = sqlglot.parse_one(text, read="duckdb")
    long = {_stand_in(one.name): one.name for one in tree.find_all(exp.Identifier)}
    return [long.get(name, name) for name in columns]
