"""Translates DuckDB's lists to Postgres' arrays."""

from __future__ import annotations

from sqlglot import exp

from anonymizer.compile.dialects.common import LENGTH
from anonymizer.engines.postgres.dialect_types import filled


def lists(node: exp.Expr) -> exp.Expr:
    """Translate a list or a list function to its counterpart for arrays."""
    match node:
        case exp.Array() if not node.expressions:
            return exp.Literal.string("{}")
        case exp.Transform():
            return _transformed(node)
        case exp.RegexpExtractAll():
            return filled(
                "array(select g.found[1] from regexp_matches(t, p, 'g') as g(found))",
                t=node.this,
                p=node.expression,
            )
        case exp.RegexpExtract():
            group = node.args.get("group") or exp.Literal.number(0)
            found = int(group.name)
            if found:
                return filled(
                    f"coalesce((regexp_match(t, p))[{found}], '')", t=node.this, p=node.expression
                )
            return filled("coalesce(substring(t from p), '')", t=node.this, p=node.expression)
        case exp.Split():
            return exp.Anonymous(this="string_to_array", expressions=[node.this, node.expression])
        case exp.ArrayDistinct():
            return filled(
                "array(select distinct u.m from unnest(l) as u(m) where u.m is not null)",
                l=node.this,
            )
        case exp.ArraySort():
            return filled("array(select u.m from unnest(l) as u(m) order by u.m)", l=node.this)
        case exp.ArrayContains():
            return filled("v = any(l)", l=node.this, v=node.expression)
        case exp.Max() if node.args.get("count") and not isinstance(node.parent, exp.Filter):
            return _greatest(node, None)
        case exp.Filter() if isinstance(node.this, exp.Max) and node.this.args.get("count"):
            return _greatest(node.this, node.expression)
        case exp.Anonymous() if node.name.lower() == "list_sum":
            return filled("(select sum(u.m) from unnest(l) as u(m))", l=node.expressions[0])
        case exp.Anonymous() if node.name.lower() == "list_has_any":
            return filled("(l && v)", l=node.expressions[0], v=node.expressions[1])
        case exp.ArrayOverlaps():
            return filled("(l && v)", l=node.this, v=node.expression)
        case exp.Anonymous() if node.name.lower() == "list_has_all":
            return filled("(l @> v)", l=node.expressions[0], v=node.expressions[1])
        case exp.ArrayAppend():
            return exp.Anonymous(this="array_append", expressions=[node.this, node.expression])
        case exp.Anonymous() if node.name.lower() == LENGTH:
            return exp.Anonymous(this="cardinality", expressions=node.expressions)
        case exp.Anonymous() if node.name.lower() == "list_count":
            return filled("(select count(u.m) from unnest(l) as u(m))", l=node.expressions[0])
        case exp.Explode() if isinstance(node.this, exp.GenerateSeries):
            return node.this  # a series returns rows, not a list
        case _:
            return node


def _greatest(node: exp.Max, where: exp.Expr | None) -> exp.Expr:
    """Translate `max(x, n)`: the n greatest values in descending order, without NULL."""
    known = filled("x is not null", x=node.this)
    where = exp.Where(this=exp.and_(known, where.this) if where is not None else known)
    values = exp.Filter(this=filled("array_agg(x order by x desc)", x=node.this), expression=where)
    return filled("(l)[1:n]", l=values, n=node.args["count"])


def _transformed(node: exp.Transform) -> exp.Expr:
    function = node.expression
    assert isinstance(function, exp.Lambda)
    (name,) = (parameter.name for parameter in function.expressions)
    body = function.this
    for identifier in list(body.find_all(exp.Identifier)):
        if identifier.name == name and not isinstance(identifier.parent, exp.Column):
            column = exp.column(name, table="u")
            if identifier is body:
                body = column
            else:
                identifier.replace(column)
        elif identifier.name == name and isinstance(identifier.parent, exp.Column):
            identifier.parent.set("table", exp.to_identifier("u"))
    listed = node.this
    # a series returns rows; a list has to be unnested
    source = "l" if isinstance(listed, exp.GenerateSeries) else "unnest(l)"
    made = filled(
        f"array(select e from {'series()' if source == 'l' else source} with ordinality"
        f" as u({name}, place) order by u.place)",
        l=listed,
        e=body,
    )
    for call in list(made.find_all(exp.Anonymous)):
        if call.name == "series":
            call.replace(listed.copy())
    return made
