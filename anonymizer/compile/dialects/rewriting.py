"""Rewrites a tree bottom-up: a node is rewritten after its children."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sqlglot import exp, parse_one

Rewrite: TypeAlias = "Callable[[exp.Expr], exp.Expr]"
"""Maps a node to itself or to its replacement."""


def from_leaves(tree: exp.Expr, rewrites: Sequence[Rewrite]) -> exp.Expr:
    """Apply all rewrites to every node, children before parents.

    (`exp.Expr.transform` works top-down and does not visit the nodes that it inserted.)
    """
    for node in reversed(list(tree.walk(bfs=False))):
        # read first, since an expression that a rewrite puts around the node becomes its parent
        parent, key, index = node.parent, node.arg_key, node.index
        made = node
        for rewrite in rewrites:
            made = rewrite(made)
        if made is node:
            continue
        if node is tree:
            tree = made
        elif parent is not None and key is not None:
            parent.set(key, made, index)
    return tree


def filled(text: str, dialect: str, **parts: exp.Expr) -> exp.Expr:
    """An expression of the target's SQL with every column named like a part replaced by it."""
    tree = parse_one(text, read=dialect)
    for column in list(tree.find_all(exp.Column)):
        part = None if column.table else parts.get(column.name)
        if part is None:
            continue
        copied = part.copy()
        if not isinstance(copied, exp.Column | exp.Literal | exp.Func | exp.Cast | exp.Subquery):
            copied = exp.paren(copied, copy=False)
        if column is tree:
            return copied
        column.replace(copied)
    return tree
