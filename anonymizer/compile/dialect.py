"""Translate the SQL of the templates (DuckDB's) to that of another engine, or raise an error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlglot import exp, parse_one, tokenize

from anonymizer.errors import TemplateError

if TYPE_CHECKING:
    Tree: TypeAlias = exp.Expr


# Translates the SQL of the templates (DuckDB's) to that of another engine, or raises an error.
#
# A statement is parsed, rewritten by small transforms of the tree, printed, parsed again as the
# target's SQL, and checked against an allow-list of constructs with the same meaning there.
# Anything else raises an error: a printer without a translation prints the source's SQL unchanged,
# and the target may accept it with another meaning.


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
    printer: Any = None
    """The sqlglot dialect that prints; default: the named one."""

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
                dialect=dialect.printer or dialect.name,
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


# Rewrites that more than one engine needs.


Rewrite: TypeAlias = "Callable[[exp.Expr], exp.Expr]"
"""Maps a node to itself or to its replacement."""

LENGTH = "list_length"
"""Replaces `len`, which templates use for lists only: the tree has one node for it and `length`."""


def respelled(text: str, *, unsized: str = "DECIMAL") -> str:
    """Replace, before parsing, the words that the tree does not distinguish from others.

    `unsized` replaces a DECIMAL without sizes: in the tree it would get DuckDB's default sizes.
    """
    if "len(" not in text and (unsized == "DECIMAL" or "DECIMAL" not in text):
        return text
    pieces, done = [], 0
    tokens = tokenize(text, read="duckdb")
    for token, following in pairwise([*tokens, tokens[-1]]):
        word, called = token.text, following.text == "("
        if word.lower() == "len" and called:
            word = LENGTH
        elif token.token_type.name == "DECIMAL" and not called:
            word = unsized
        if word != token.text:
            pieces += [text[done : token.start], word]
            done = token.end + 1
    return "".join([*pieces, text[done:]])


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


def tuple_membership(node: exp.Expr) -> exp.Expr:
    """Translate `(a, b) in (select (a, b) from t)`: others select columns instead of a tuple."""
    if not isinstance(node, exp.In) or not isinstance(node.this, exp.Tuple):
        return node
    query = node.args.get("query")
    select = query.this if isinstance(query, exp.Subquery) else query
    if isinstance(select, exp.Select) and len(select.expressions) == 1:
        only = select.expressions[0]
        if isinstance(only, exp.Tuple):
            select.set("expressions", [part.copy() for part in only.expressions])
    return node


def named_subqueries(node: exp.Expr) -> exp.Expr:
    """Name the queries in FROM by their depth, since many engines require a name."""
    if not isinstance(node, exp.Subquery) or node.alias:
        return node
    if isinstance(node.parent, exp.From | exp.Join):
        depth = sum(1 for _ in _ancestors(node))
        place = "f" if isinstance(node.parent, exp.From) else f"j{node.parent.index}_"
        node.set("alias", exp.TableAlias(this=exp.to_identifier(f"anon_{place}{depth}")))
    return node


def _ancestors(node: exp.Expr) -> list[exp.Expr]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def group_by_all(node: exp.Expr) -> exp.Expr:
    """Translate `group by all` to the positions of all columns without an aggregate."""
    if not isinstance(node, exp.Group) or not node.args.get("all"):
        return node
    select = node.parent
    assert isinstance(select, exp.Select)
    spell_out(select)
    places = [
        exp.Literal.number(place)
        for place, column in enumerate(select.expressions, start=1)
        if not column.find(exp.AggFunc)
    ]
    return exp.Group(expressions=places)


def read_once(node: exp.Expr) -> exp.Expr:
    """Materialize a CTE of distinct values, or of matches of patterns in values.

    Otherwise a condition on an expression of each value is pushed down and evaluated for every
    row, and patterns are evaluated again at every reference.
    """
    if isinstance(node, exp.CTE) and (node.this.args.get("distinct") or _has_patterns(node)):
        node.set("materialized", True)
    return node


def _has_patterns(node: exp.CTE) -> bool:
    calls = node.find_all(exp.Anonymous, exp.RegexpLike, exp.RegexpExtract)
    return any(not isinstance(c, exp.Anonymous) or c.name.startswith("regexp_") for c in calls)


def plain_stars(node: exp.Expr) -> exp.Expr:
    """Spell out `* exclude (a)` and `* replace (x as a)`, which other engines do not have, and `*`
    with QUALIFY, which would include the column that the filter needs.
    """
    if isinstance(node, exp.Select) and node.is_star:
        changed = any(any(star.args.values()) for star in map(star_of, node.expressions) if star)
        if changed or node.args.get("qualify"):
            spell_out(node)
    return node


def star_of(column: exp.Expr) -> exp.Star | None:
    """The star of a column such as `*` or `t.*`."""
    inner = column.this if isinstance(column, exp.Column) else column
    return inner if isinstance(inner, exp.Star) else None


def spell_out(select: exp.Select) -> None:
    """Replace `*` with the columns of the query of the same statement that it selects from."""
    if not select.is_star:
        return
    origin = select.args["from_"].this
    cte = _query_named(select, origin.name) if isinstance(origin, exp.Table) else None
    if isinstance(cte, exp.Select):
        spell_out(cte)
    if cte is None or select.args.get("joins") or cte.is_star:
        raise TemplateError("* of a table cannot be spelled out")
    columns: list[exp.Expr] = []
    for column in select.expressions:
        star = star_of(column)
        columns += [column] if star is None else _columns(star, cte.named_selects)
    select.set("expressions", columns)


def _columns(star: exp.Star, names: Sequence[str]) -> list[exp.Expr]:
    """The columns that a star stands for, of those of its query."""
    left_out = {column.name for column in star.args.get("except_") or ()}
    replaced = {column.alias: column for column in star.args.get("replace") or ()}
    return [replaced.get(name) or exp.column(name) for name in names if name not in left_out]


def _query_named(within: exp.Expr, name: str) -> exp.Query | None:
    above = within.find_ancestor(exp.CTE, exp.With, exp.Query)
    while above is not None:
        listed = above if isinstance(above, exp.With) else above.args.get("with_")
        for cte in listed.expressions if isinstance(listed, exp.With) else ():
            if cte.alias == name and isinstance(cte.this, exp.Query):
                return cte.this
        above = above.parent
    return None
