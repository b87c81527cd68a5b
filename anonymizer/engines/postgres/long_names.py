"""Names of columns that are longer than Postgres keeps them.

A statement may name a result after a column of the source (`level.<column>`). The server would cut
such a name off, so that two of them could become one.
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
    """Put another name in the place of one that would be cut off; `as_written` takes it back."""
    if isinstance(node, exp.Identifier) and is_long(node.name):
        return exp.to_identifier(_stand_in(node.name), quoted=True)
    return node


def as_written(text: str, columns: Sequence[str]) -> list[str]:
    """The columns of a result by the names that the text gives them, before it was translated."""
    if not any(name.startswith(OWN) for name in columns):
        return list(columns)
    import sqlglot

    tree = sqlglot.parse_one(text, read="duckdb")
    long = {_stand_in(one.name): one.name for one in tree.find_all(exp.Identifier)}
    return [long.get(name, name) for name in columns]
