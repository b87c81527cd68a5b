"""Translates DuckDB's SQL to Spark's where sqlglot does not: one function per difference.

Spark has no 128-bit integers: a draw is a text of 32 hexadecimal digits in the order of the number,
and sums that need more than 64 bits are decimals without scale.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from anonymizer.compile.dialects.base import Dialect
from anonymizer.compile.dialects.common import (
    Rewrite,
    filled,
    from_leaves,
    plain_stars,
    respelled,
    tuple_membership,
)
from anonymizer.engines.spark.dialect_names import FUNCTIONS as KNOWN_FUNCTIONS
from anonymizer.engines.spark.dialect_names import NODES
from anonymizer.engines.spark.dialect_values import (
    concatenation,
    draws,
    infinity,
    list_members,
    named_functions,
    patterns,
    rounded_decimals,
    strict_dates,
    wide_integers,
)
from anonymizer.errors import TemplateError

PREFIX = "anonymizer_run_"
"""Prefix of the names of work tables, which the engine replaces with that of the run."""


def work_tables(node: exp.Expr) -> exp.Expr:
    """Turn work tables into temporary views, which have neither schema nor catalog."""
    if isinstance(node, exp.Table) and node.catalog == "anon_scratch":
        return exp.Table(
            this=exp.to_identifier(PREFIX + node.name),
            alias=node.args.get("alias"),
            joins=node.args.get("joins"),
            laterals=node.args.get("laterals"),
        )
    return node


def binary_collation(node: exp.Expr) -> exp.Expr:
    """Drop collations: Spark compares text by bytes."""
    return node.this if isinstance(node, exp.Collate) else node


def unframed(node: exp.Expr) -> exp.Expr:
    """Drop the frame of `lead` and `lag`, which ignore it: Spark refuses it in a named window."""
    if not isinstance(node, exp.Window) or not isinstance(node.this, exp.Lead | exp.Lag):
        return node
    named = node.args.get("alias")
    select = node.find_ancestor(exp.Select)
    windows = select.args.get("windows") or [] if select is not None else []
    for window in windows:
        if named is not None and window.this.name == named.name:
            parts = {key: window.args.get(key) for key in ("partition_by", "order")}
            return exp.Window(
                this=node.this,
                partition_by=[part.copy() for part in parts["partition_by"] or []],
                order=parts["order"].copy() if parts["order"] else None,
            )
    return node


def ordered_numbers(node: exp.Expr) -> exp.Expr:
    """Add an arbitrary order to row numbers without one, as Spark requires."""
    if not isinstance(node, exp.Window) or not isinstance(node.this, exp.RowNumber):
        return node
    if node.args.get("order") is None and node.args.get("alias") is None:
        parts = node.args.get("partition_by") or [exp.Literal.number(1)]
        node.set("order", exp.Order(expressions=[exp.Ordered(this=parts[0].copy())]))
    return node


def nearest_before(node: exp.Expr) -> exp.Expr:
    """Translate `asof join t on x >= t.y`: the row of t with y <= x < y of the next row."""
    if not isinstance(node, exp.Join) or str(node.args.get("method") or "").upper() != "ASOF":
        return node
    table, condition = node.this, node.args["on"]
    if not isinstance(table, exp.Table) or not isinstance(condition, exp.GTE):
        return node
    begins, alias = condition.expression.name, table.alias_or_name
    bare = table.copy()
    bare.set("alias", None)
    following = exp.Window(
        this=exp.Lead(this=exp.column(begins)),
        order=exp.Order(expressions=[exp.Ordered(this=exp.column(begins))]),
    )
    rows = exp.select("*", exp.alias_(following, "anon_next")).from_(bare)
    ends = exp.column("anon_next", table=alias)
    before_next = exp.Or(
        this=exp.Is(this=ends, expression=exp.Null()),
        expression=exp.LT(this=condition.this.copy(), expression=ends.copy()),
    )
    return exp.Join(
        this=exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier(alias))),
        side=node.args.get("side"),
        on=exp.And(this=condition.copy(), expression=exp.Paren(this=before_next)),
    )


def plain_exists(node: exp.Expr) -> exp.Expr:
    """Translate `select exists (...)` to a count: Spark accepts EXISTS in conditions only."""
    if not isinstance(node, exp.Exists) or not isinstance(node.parent, exp.Select):
        return node
    inner = node.this
    query = inner.this if isinstance(inner, exp.Subquery) else inner
    counted = exp.select(
        exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    ).from_(
        exp.Subquery(this=query.copy().limit(1), alias=exp.TableAlias(this=exp.to_identifier("x")))
    )
    return exp.Subquery(this=counted)


def series(node: exp.Expr) -> exp.Expr:
    """Translate `range(a, b)` whose members become rows: none if b <= a.

    Spark would count down, and sqlglot's workaround depends on its version. (Indexes into a list
    are NULL then.) Raises `TemplateError` for a series with a step.
    """
    if not isinstance(node, exp.GenerateSeries) or isinstance(node.parent, exp.Transform):
        return node
    if node.args.get("step") is not None or not node.args.get("is_end_exclusive"):
        raise TemplateError(f"such a series of rows is not known to work on spark\n{node.sql()}")
    text = "slice(sequence(a, greatest(a, b)), 1, greatest(b - a, 0))"
    return filled(text, "spark", a=node.args["start"], b=node.args["end"])


EACH: tuple[Rewrite, ...] = (
    series,
    work_tables,
    binary_collation,
    concatenation,
    draws,
    wide_integers,
    rounded_decimals,
    strict_dates,
    patterns,
    unframed,
    ordered_numbers,
    named_functions,
    infinity,
    list_members,
    tuple_membership,
    plain_stars,
    nearest_before,
    plain_exists,
)


def _rewritten(tree: exp.Expr) -> exp.Expr:
    return from_leaves(tree, EACH)


def _single(tree: exp.Expr) -> Iterable[exp.Expr]:
    yield tree


DIALECT = Dialect("spark", (_rewritten,), _single, NODES, KNOWN_FUNCTIONS, respelled)
