"""Translate the SQL of the templates to Postgres: words, lists, names, statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from hashlib import md5

from sqlglot import exp

from anonymizer.compile import SCRATCH, WIDE_BITS
from anonymizer.compile.dialect import (
    LENGTH,
    MARK,
    Dialect,
    Rewrite,
    from_leaves,
    group_by_all,
    named_subqueries,
    plain_stars,
    read_once,
    respelled,
    tuple_membership,
)
from anonymizer.engines.postgres import LONGEST
from anonymizer.engines.postgres.dialect_types import (
    by_code_point,
    decimals,
    fill,
    moments,
    texts,
    try_cast,
    types,
)
from anonymizer.errors import TemplateError
from anonymizer.policy.fields import OWN

# Words of Postgres' dialect: what has the same meaning in DuckDB, and names that are too long.


NODES = frozenset(
    """
    Abs Add Alias And Any Array ArrayAgg ArrayAppend ArrayConcat ArrayContainsAll
    ArrayOverlaps ArrayToString Avg Between BitwiseAnd BitwiseAndAgg BitwiseLeftShift BitwiseOr
    BitwiseOrAgg BitwiseRightShift BitwiseXor Boolean Bracket CTE Case Cast Ceil Coalesce
    Collate Column ColumnDef
    Concat ConcatWs Corr Count Create DPipe DataType DataTypeParam Decode DenseRank Distinct Div EQ
    Encode Except Exists Exp Explode ExplodingGenerateSeries Extract Filter FirstValue Floor
    From GT GTE Greatest Group GroupConcat Having Identifier If In Insert IntDiv Interval Is
    JSONObjectAgg Join LT LTE Lag LastValue Lateral Lead Least Left Length Limit Literal Ln Log
    LogicalAnd LogicalOr Lower MD5 Max Min Mod Mul NEQ Neg Normalize Not Null NullSafeNEQ Nullif
    Offset Or Order Ordered Pad Paren Pow Properties RegexpLike RegexpReplace Repeat Replace
    Right Round RowNumber SHA2Digest Schema Select Slice SplitPart Sqrt Star StartsWith StrPosition
    StringToArray Sub Subquery Substring Sum Table TableAlias TimestampTrunc Translate Trim
    Trunc Tuple Union UnloggedProperty Unnest Upper Values Var Where Window WindowSpec With
    """.split()  # noqa: SIM905 - a list of words reads better
)
"""Kinds of nodes with the same meaning in Postgres and DuckDB after all rewrites, as sqlglot names
them. The tests that compare whole releases execute each of them on a server. `Lower`, which depends
on the server beyond ASCII, is only applied to texts that are compared with each other."""

FUNCTIONS = frozenset(
    """
    bit_count cardinality convert_to current_setting get_byte hashtextextended int8send
    json_each_text jsonb_agg octet_length regexp_match regexp_matches row row_to_json
    set_bit timezone
    """.split()  # noqa: SIM905
)
"""Functions for which sqlglot has no node of their own."""


def is_long(name: str) -> bool:
    """Return whether Postgres would truncate the name."""
    return len(name.encode()) > LONGEST


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


# Translates DuckDB's lists to Postgres' arrays.


def lists(node: exp.Expr) -> exp.Expr:
    """Translate a list or a list function to its counterpart for arrays."""
    match node:
        case exp.Array() if not node.expressions:
            return exp.Literal.string("{}")
        case exp.Transform():
            return _transform(node)
        case exp.RegexpExtractAll():
            return fill(
                "array(select g.found[1] from regexp_matches(t, p, 'g') as g(found))",
                t=node.this,
                p=node.expression,
            )
        case exp.RegexpExtract():
            group = node.args.get("group") or exp.Literal.number(0)
            found = int(group.name)
            if found:
                return fill(
                    f"coalesce((regexp_match(t, p))[{found}], '')", t=node.this, p=node.expression
                )
            return fill("coalesce(substring(t from p), '')", t=node.this, p=node.expression)
        case exp.Split():
            return exp.Anonymous(this="string_to_array", expressions=[node.this, node.expression])
        case exp.ArrayDistinct():
            return fill(
                "array(select distinct u.m from unnest(l) as u(m) where u.m is not null)",
                l=node.this,
            )
        case exp.ArraySort():
            return fill("array(select u.m from unnest(l) as u(m) order by u.m)", l=node.this)
        case exp.ArrayContains():
            return fill("v = any(l)", l=node.this, v=node.expression)
        case exp.Max() if node.args.get("count") and not isinstance(node.parent, exp.Filter):
            return _greatest(node, None)
        case exp.Filter() if isinstance(node.this, exp.Max) and node.this.args.get("count"):
            return _greatest(node.this, node.expression)
        case exp.Anonymous() if node.name.lower() == "list_sum":
            return fill("(select sum(u.m) from unnest(l) as u(m))", l=node.expressions[0])
        case exp.Anonymous() if node.name.lower() == "list_has_any":
            return fill("(l && v)", l=node.expressions[0], v=node.expressions[1])
        case exp.ArrayOverlaps():
            return fill("(l && v)", l=node.this, v=node.expression)
        case exp.Anonymous() if node.name.lower() == "list_has_all":
            return fill("(l @> v)", l=node.expressions[0], v=node.expressions[1])
        case exp.ArrayAppend():
            return exp.Anonymous(this="array_append", expressions=[node.this, node.expression])
        case exp.Anonymous() if node.name.lower() == LENGTH:
            return exp.Anonymous(this="cardinality", expressions=node.expressions)
        case exp.Anonymous() if node.name.lower() == "list_count":
            return fill("(select count(u.m) from unnest(l) as u(m))", l=node.expressions[0])
        case exp.Explode() if isinstance(node.this, exp.GenerateSeries):
            return node.this  # a series returns rows, not a list
        case _:
            return node


def _greatest(node: exp.Max, where: exp.Expr | None) -> exp.Expr:
    """Translate `max(x, n)`: the n greatest values in descending order, without NULL."""
    known = fill("x is not null", x=node.this)
    where = exp.Where(this=exp.and_(known, where.this) if where is not None else known)
    values = exp.Filter(this=fill("array_agg(x order by x desc)", x=node.this), expression=where)
    return fill("(l)[1:n]", l=values, n=node.args["count"])


def _transform(node: exp.Transform) -> exp.Expr:
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
    made = fill(
        f"array(select e from {'series()' if source == 'l' else source} with ordinality"
        f" as u({name}, place) order by u.place)",
        l=listed,
        e=body,
    )
    for call in list(made.find_all(exp.Anonymous)):
        if call.name == "series":
            call.replace(listed.copy())
    return made


# Translates the SQL of the templates to Postgres.


ASIDE = "anon_next"
"""A work table is written under this name before it replaces the old one."""
MOST_ARGUMENTS = 90
"""Most arguments in one call; a server accepts 100."""


def setting_of(bind: str) -> str:
    """The session setting that holds a bound value while a statement reads it."""
    return f"anonymizer.{bind}"


def table_text(table: str) -> str:
    """Translate a table name, written as in the templates, to Postgres."""
    tree = exp.to_table(table, dialect="duckdb")
    return places(tree).sql(dialect="postgres")


def places(node: exp.Expr) -> exp.Expr:
    """Qualify work tables with the schema of the run."""
    if isinstance(node, exp.Table) and node.catalog == SCRATCH:
        node.set("catalog", None)
        node.set("db", exp.to_identifier(MARK, quoted=True))
    return node


def draws(node: exp.Expr) -> exp.Expr:
    """Translate draws to texts of 32 digits that are ordered like DuckDB's numbers.

    DuckDB reads a digest as a number from its last byte. Its `hex`, which is used for draws only,
    writes capitals and no leading zeros.
    """
    if isinstance(node, exp.Placeholder):
        # not as a subquery, which would prevent parallel workers
        return fill("current_setting(x)", x=exp.Literal.string(setting_of(node.name)))
    if isinstance(node, exp.Hex):
        return fill("upper(ltrim(x, '0'))", x=node.this)
    if isinstance(node, exp.Unhex):
        return fill("decode(x, 'hex')", x=node.this)
    if not isinstance(node, exp.Anonymous):
        return node
    match node.name.lower():
        case "draw_of":
            return by_code_point(_backwards(node.expressions[0]))
        case "md5_number" if isinstance(node.parent, exp.Mod):
            words = (
                f"cast(('x' || substr(r, {at}, 8)) as bit(32))::bigint" for at in (1, 9, 17, 25)
            )
            return fill(
                reduce(lambda high, word: f"({high} * 4294967296 + {word})", words, "0::numeric"),
                r=_reversed_digest(node.expressions[0]),
            )
        case "md5_number":
            return by_code_point(_reversed_digest(node.expressions[0]))
        case "md5_number_lower" if isinstance(node.parent, exp.BitwiseRightShift):
            # as bits: Postgres has no unsigned integer of 64 bits
            return fill(
                "cast(('x' || substr(r, 1, 16)) as bit(64))",
                r=_reversed_digest(node.expressions[0]),
            )
        case "md5_number_lower":
            return fill(
                "(cast(('x' || substr(r, 1, 16)) as bit(64))::bigint::numeric"
                " + case when substr(r, 1, 1) >= '8' then 18446744073709551616 else 0 end)",
                r=_reversed_digest(node.expressions[0]),
            )
    return node


def _backwards(digest: exp.Expr) -> exp.Expr:
    """The bytes of a digest in reverse order, as digits.

    Assembling them from two integers costs a fifth of using pieces of text or bytes.
    """
    halves = [
        " | ".join(
            f"(cast(get_byte(b, {first + place}) as bigint) << {8 * place})" for place in range(8)
        )
        for first in (8, 0)
    ]
    both = " || ".join(f"int8send({half})" for half in halves)
    return fill(f"encode({both}, 'hex')", b=digest)


def _reversed_digest(text: exp.Expr) -> exp.Expr:
    """The reversed MD5 digest of a text; `offset 0` prevents computing the digest for each byte."""
    if text.find(exp.Window) is not None:
        # inside the subquery, a window would see its single row only
        raise TemplateError(f"a window in a digest has no form on Postgres: {text.sql()}")
    return fill(
        "(select made from (select decode(md5(t), 'hex') as b offset 0) as x)",
        t=text,
        made=_backwards(exp.column("b", table="x")),
    )


ONE_BIT = "set_bit(cast(repeat('0', 128) as bit(128)), cast(127 - n as integer), 1)"
"""`cast(1 as hugeint) << n`, which is not a number on a server: it has no integer of 128 bits."""


def shifts(node: exp.Expr) -> exp.Expr:
    """Shift by an `integer`: Postgres has no operator that shifts by a wider number."""
    if isinstance(node, exp.BitwiseLeftShift | exp.BitwiseRightShift):
        by = node.expression
        one = node.this
        if isinstance(one, exp.Cast) and one.to.this == exp.DataType.Type.DECIMAL:
            return fill(ONE_BIT, n=by)
        if not isinstance(by, exp.Literal):
            node.set("expression", exp.cast(by, "integer"))
    return node


def rows_of_tables(node: exp.Expr) -> exp.Expr:
    """Identify a row of a work table that is never updated by its physical position."""
    if isinstance(node, exp.Column) and node.name == "rowid" and not node.this.quoted:
        node.set("this", exp.to_identifier("ctid"))
    return node


def null_safe_joins(node: exp.Expr) -> exp.Expr:
    """Translate `is not distinct from` in a join to a comparison of arrays, whose NULLs are equal:
    Postgres cannot hash the condition itself.
    """
    if not isinstance(node, exp.NullSafeEQ):
        return node
    join = node.find_ancestor(exp.Join, exp.Select)
    if not isinstance(join, exp.Join):
        return node
    return exp.EQ(
        this=exp.Array(expressions=[node.this]), expression=exp.Array(expressions=[node.expression])
    )


def closest_rows(node: exp.Expr) -> exp.Expr:
    """Translate `asof left join t on x >= t.y`: the row of t with the largest y up to x."""
    if not isinstance(node, exp.Join) or node.args.get("method") != "ASOF":
        return node
    on, table = node.args["on"], node.this
    name = table.alias_or_name
    inner = table.copy()
    found = (
        exp.select("*")
        .from_(inner)
        .where(on)
        .order_by(exp.Ordered(this=on.expression.copy(), desc=True, nulls_first=False))
        .limit(1)
    )
    lateral = exp.Lateral(
        this=exp.Subquery(this=found), alias=exp.TableAlias(this=exp.to_identifier(name))
    )
    return exp.Join(this=lateral, side=node.side, on=exp.true())


def _is_utf8(node: exp.Encode) -> bool:
    """True if a text is encoded as UTF-8, as by DuckDB's `encode`, which takes no charset."""
    charset = node.args.get("charset")
    return charset is None or charset.name.lower() == "utf-8"


NAMES = {"strlen": "octet_length", "nfc_normalize": "normalize"}
CALLS = {
    # only used to compare values within a run, never for the number itself
    "hash": "hashtextextended(cast(x as text), 0)",
    "isfinite": "(cast(x as text) not in"
    " ('NaN', 'Infinity', '-Infinity', 'infinity', '-infinity'))",
    "bit_count": "bit_count(cast(cast(x as bigint) as bit(64)))",
    "epoch_us": "cast(extract(epoch from x) * 1000000 as bigint)",
    "to_hours": "(x * interval '1 hour')",
}
"""Postgres expressions for functions of one argument."""


def functions(node: exp.Expr) -> exp.Expr:
    """Translate functions that have another name or form on Postgres."""
    match node:
        case exp.Anonymous() if node.name.lower() in NAMES:
            name = NAMES[node.name.lower()]
            return exp.Anonymous(this=name, expressions=node.expressions)
        case exp.Anonymous(expressions=[_, _, *_]) if node.name.lower() == "hash":
            together = exp.Anonymous(this="row", expressions=node.expressions)
            return fill(CALLS["hash"], x=together)
        case exp.Anonymous(expressions=[exp.Column() as one]) if (
            node.name.lower() == "bit_count" and one.name.startswith(WIDE_BITS)
        ):
            return node
        case exp.Anonymous(expressions=[bit, exp.Literal() as many]) if (
            node.name.lower() == "bitstring"
        ):
            return fill(f"cast(repeat(x, {many.name}) as bit({many.name}))", x=bit)
        case exp.Anonymous(expressions=[only]) if node.name.lower() in CALLS:
            return fill(CALLS[node.name.lower()], x=only)
        case exp.Anonymous() if node.name.lower() == "regexp_full_match":
            return fill("(x ~ ('^(' || y || ')$'))", x=node.expressions[0], y=node.expressions[1])
        case exp.RegexpFullMatch():
            return fill("(x ~ ('^(' || y || ')$'))", x=node.this, y=node.expression)
        case exp.Encode() if _is_utf8(node):
            return exp.Anonymous(
                this="convert_to", expressions=[node.this, exp.Literal.string("UTF8")]
            )
        case exp.Log() if node.expression is not None:
            # only defined for numerics; the cast keeps the significant digits of a double
            return fill(
                "cast(log(b, cast(x as numeric)) as double precision)",
                b=node.this,
                x=node.expression,
            )
        case exp.IsNan():
            return fill("(x = 'NaN')", x=node.this)
        case exp.IsInf():
            return fill(
                "(cast(x as text) in ('infinity', '-infinity', 'Infinity', '-Infinity'))",
                x=node.this,
            )
        case exp.Round() if node.args.get("decimals") is None:
            # Postgres rounds a double halfway between two integers to the even one
            return fill(
                "(case when x >= 0 then floor(x + 0.5) else ceil(x - 0.5) end)", x=node.this
            )
        case exp.Concat() if len(node.expressions) > MOST_ARGUMENTS:
            parts = [
                exp.Concat(
                    **{**node.args, "expressions": node.expressions[at : at + MOST_ARGUMENTS]}
                )
                for at in range(0, len(node.expressions), MOST_ARGUMENTS)
            ]
            return exp.Concat(**{**node.args, "expressions": parts})
        case exp.StartsWith():
            return exp.Anonymous(this="starts_with", expressions=[node.this, node.expression])
        case exp.EndsWith():
            return fill("(right(x, length(y)) = y)", x=node.this, y=node.expression)
    return node


REWRITES: tuple[Rewrite, ...] = (
    short_names,
    places,
    rows_of_tables,
    plain_stars,
    group_by_all,
    read_once,
    tuple_membership,
    null_safe_joins,
    closest_rows,
    try_cast,
    decimals,
    moments,
    draws,
    shifts,
    types,
    texts,
    lists,
    functions,
    named_subqueries,
)


def rewritten(tree: exp.Expr) -> exp.Expr:
    """Apply all rewrites, from the leaves up."""
    return from_leaves(tree, REWRITES)


def statements(tree: exp.Expr) -> Iterator[exp.Expr | str]:
    """Recreate a work table under another name first, since the statement may read the old one."""
    if not isinstance(tree, exp.Create) or tree.kind != "TABLE":
        yield tree
        return
    table = tree.this if isinstance(tree.this, exp.Table) else tree.this.this
    if table.db != MARK:
        yield tree
        return
    replaced = tree.args.get("replace")
    tree.set("replace", False)
    tree.set("properties", exp.Properties(expressions=[exp.UnloggedProperty()]))
    if not replaced:
        yield tree
        return
    name = table.this.sql(dialect="postgres")
    table.set("this", exp.to_identifier(ASIDE, quoted=True))
    yield tree
    yield f'DROP TABLE IF EXISTS "{MARK}".{name}'
    yield f'ALTER TABLE "{MARK}"."{ASIDE}" RENAME TO {name}'


UNSIZED = partial(respelled, unsized="BIGDECIMAL")
DIALECT = Dialect("postgres", (rewritten,), statements, NODES, FUNCTIONS, UNSIZED)
