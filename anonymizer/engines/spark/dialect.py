"""Translate DuckDB's SQL to Spark's where sqlglot does not: one function per difference."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark

from anonymizer.compile.dialect import (
    LENGTH,
    Dialect,
    Rewrite,
    filled,
    from_leaves,
    plain_stars,
    respelled,
    tuple_membership,
)
from anonymizer.errors import TemplateError

# The allow-list of constructs with the same meaning in Spark and DuckDB, after all rewrites.


NODES = frozenset(
    """Abs Add Alias And Array ArrayAgg ArrayAppend ArrayCompact ArrayContains ArrayDistinct
    ArrayFilter ArraySize ArraySlice ArraySort ArrayToString Avg Between BitwiseAnd BitwiseCount
    BitwiseLeftShift BitwiseOr BitwiseOrAgg BitwiseRightShift Boolean Bracket CTE Case
    Cast Ceil Coalesce Column Concat ConcatWs Contains Count DPipe DataType DataTypeParam
    Day Decode DenseRank Distinct Div Dot EQ Encode EndsWith Exists Exp Explode Filter
    FirstValue Floor From GT GTE GenerateSeries Greatest Group GroupConcat Grouping
    GroupingSets Having ILike Identifier If In IntDiv Interval Is IsNan Join LT LTE Lag Lambda
    LastValue Lateral Lead Least Left Length Like Limit Literal Ln LogicalAnd LogicalOr
    Lower MD5 Max Min Mod Month Mul NEQ Neg Not Null NullSafeEQ NullSafeNEQ Nullif Or
    Order Ordered Pad Paren Placeholder Pow PropertyEQ Reduce RegexpExtract RegexpExtractAll
    RegexpLike RegexpReplace RegexpSplit Repeat Replace Reverse Right Round RowNumber
    SHA2 Select Sign SplitPart Sqrt Star StartsWith StrPosition Struct Sub Subquery Substring
    Sum Table TableAlias TimestampTrunc Transform Translate Trim TryCast TsOrDsToDate Tuple
    Unhex Union UnixMicros Upper Values Var Where Window WindowSpec With WithinGroup Year""".split()  # noqa: SIM905 - a list of words reads better
)
"""Kinds of nodes, as sqlglot names them. Bit operations occur only in printed scripts, which no
test runs on Spark. `Reverse` is for digests only: in other texts DuckDB keeps grapheme clusters."""

FUNCTIONS = frozenset(
    {"arrays_overlap", "conv", "make_dt_interval", "octet_length", "slice", "xxhash64"}
)
"""Functions for which sqlglot has no node of their own."""


# Translates expressions that differ on Spark: numbers, draws, texts, dates and lists.


def concatenation(node: exp.Expr) -> exp.Expr:
    """Translate `concat`, which in DuckDB skips NULL and casts every value to text."""
    if not isinstance(node, exp.Concat):
        return node
    parts = [exp.Literal.string(""), *map(_text, node.expressions)]
    return exp.Anonymous(this="concat_ws", expressions=parts)


def _text(value: exp.Expr) -> exp.Expr:
    if isinstance(value, exp.Literal) and value.is_string:
        return value
    return exp.cast(value, "text")


def draws(node: exp.Expr) -> exp.Expr:
    """Translate draws to texts of 32 digits, most significant first.

    DuckDB reads a digest from its end. Its `hex`, used for draws only, writes no leading zeros.
    """
    if isinstance(node, exp.Hex):
        return exp.Trim(this=node.this, expression=exp.Literal.string("0"), position="LEADING")
    if not isinstance(node, exp.Anonymous):
        return node
    if node.name.lower() == "md5_number":
        return _reversed_digest(node.expressions[0])
    if node.name.lower() == "md5_number_lower":
        number = "cast(conv(substring(r, 1, 16), 16, 10) as decimal(20, 0))"
        return filled(number, "spark", r=_reversed_digest(node.expressions[0]))
    return node


def _reversed_digest(text: exp.Expr) -> exp.Expr:
    """An MD5 digest with its bytes, of two digits each, in reverse order.

    Two digits are two bytes of text, and one character of UTF-16: reversing characters takes two
    thirds of the time of assembling sixteen pieces.
    """
    turned = "encode(reverse(decode(cast(md5(t) as binary), 'UTF-16BE')), 'UTF-16BE')"
    return filled(f"upper(cast({turned} as string))", "spark", t=text)


def wide_integers(node: exp.Expr) -> exp.Expr:
    """Map 128-bit integers to decimals."""
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.INT128:
        return exp.DataType.build("decimal(38, 0)", dialect="spark")
    return node


REALS = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT)
MOMENTS = (
    exp.DataType.Type.DATE,
    exp.DataType.Type.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPTZ,
    exp.DataType.Type.TIMESTAMPNTZ,
)


def _is_cast_to(node: exp.Expr, types: tuple[object, ...]) -> bool:
    return isinstance(node, exp.Cast) and node.to.this in types


def rounded_decimals(node: exp.Expr) -> exp.Expr:
    """Cast a double to a decimal as DuckDB does: scaled as a double, halves rounded away from 0.

    A cast to a double, or a computed share of 18 digits, is one; a column or literal may be exact.
    """
    if not isinstance(node, exp.Cast) or isinstance(node, exp.TryCast):
        return node
    kind = node.to
    if kind.this != exp.DataType.Type.DECIMAL or len(kind.expressions) != 2:
        return node
    precision, scale = (int(part.name) for part in kind.expressions)
    own = node.this.this if isinstance(node.this, exp.Neg) else node.this
    real = _is_cast_to(own, REALS)
    exact = isinstance(own, exp.Literal | exp.Cast | exp.Column) and not real
    if scale == 0 or exact or precision > 18 or (precision < 18 and not real):
        return node
    scaled = exp.Mul(
        this=exp.Paren(this=exp.cast(node.this, "double")),
        expression=exp.cast(exp.Literal.string(f"1e{scale}"), "double"),
    )
    digits = exp.cast(exp.func("round", scaled), "decimal(19, 0)", dialect="spark")
    unit = exp.cast(exp.Literal.string(f"1e-{scale}"), f"decimal({scale}, {scale})")
    return exp.cast(
        exp.Mul(this=digits, expression=unit), f"decimal({precision}, {scale})", dialect="spark"
    )


def double_texts(node: exp.Expr) -> exp.Expr:
    """A double as DuckDB prints it: no exponent from 0.0001 to 1e16, and else one of two digits.

    Java prints one from 0.001 and from 1e7 on. Its digits are sometimes more than necessary, and
    not the nearest: in all versions below 1e-300, and before version 19 mostly from 1e16 on, where
    they are computed from the whole number.
    """
    if not isinstance(node, exp.Cast) or isinstance(node, exp.TryCast):
        return node
    if node.to.this not in exp.DataType.TEXT_TYPES or not _is_cast_to(node.this, REALS):
        return node
    # (a list of one, so that the text, its exponent and its digits are computed once)
    return filled(DOUBLE_TEXT, "spark", x=exp.cast(node.this.copy(), "text"))


# Of a number from 1e16 on, the digits are those of the whole number, rounded to as few as read as
# the same double: 15, 16, or 17. A power of 2 may also be the next number of 16 digits, since it
# has nearer neighbours below than above. Of others, digits are taken away.
VALUE = "abs(cast(t.s as double))"
HIGH = f"floor({VALUE} / 4611686018427387904D)"
UNIT = "cast(rpad('1', length(cast(t.w as string)) - abs(k) + 1, '0') as decimal(38, 0))"
SHORTER = "(cast(a.n + digit as bigint) div 10)"
DOUBLE_TEXT = f"""element_at(transform(transform(transform(transform(transform(
array(x), s -> struct(
    s as s,
    cast(nullif(split_part(s, 'E', 2), '') as int) as e,
    replace(replace(replace(replace(concat(split_part(s, 'E', 1), '!'), '.0!', ''), '!', ''),
        '-', ''), '.', '') as d
)), t -> struct(t.s as s, t.e as e, t.d as d, case
    when t.e between 16 and 36
        then cast({HIGH} as decimal(38, 0)) * 4611686018427387904
            + cast({VALUE} - {HIGH} * 4611686018427387904D as bigint)
end as w)), t -> struct(t.s as s, t.e as e, t.d as d, case
    when t.e between 16 and 36 then element_at(filter(
        transform(array(15, 16, -16, 17), k -> struct(
            cast(t.w div {UNIT} + case
                when k < 0 or 2 * (t.w % {UNIT}) + (t.w div {UNIT}) % 2 > {UNIT} then 1 else 0
            end as bigint) as n,
            length(cast(t.w as string)) - abs(k) as p
        )),
        c -> cast(concat(c.n, 'E', c.p) as double) = {VALUE}
    ), 1)
    when t.e < -300 or (t.e is not null and length(t.d) >= 16) then aggregate(
        array(5, 10, 5, 10),
        struct(cast(t.d as bigint) as n, t.e - length(t.d) + 1 as p),
        (a, digit) -> case
            when cast(concat({SHORTER}, 'E', a.p + 1) as double) = {VALUE}
                then struct({SHORTER} as n, a.p + 1 as p)
            else a
        end
    )
end as z)), t -> struct(
    t.s as s,
    coalesce(t.z.p + length(cast(t.z.n as string)) - 1, t.e) as e,
    coalesce(trim(trailing '0' from cast(t.z.n as string)), t.d) as d
)), t -> case
    when t.s = 'NaN' then 'nan'
    when t.s = 'Infinity' then 'inf'
    when t.s = '-Infinity' then '-inf'
    when t.s is null or not contains(t.s, 'E') then t.s
    else concat(
        case when startswith(t.s, '-') then '-' else '' end,
        case
            when t.e between 7 and 15 and length(t.d) <= t.e + 1
                then concat(rpad(t.d, t.e + 1, '0'), '.0')
            when t.e between 7 and 15
                then concat(substring(t.d, 1, t.e + 1), '.', substring(t.d, t.e + 2))
            when t.e = -4 then concat('0.000', t.d)
            else concat(
                substring(t.d, 1, 1),
                case when length(t.d) > 1 then concat('.', substring(t.d, 2)) else '' end,
                case when t.e < 0 then 'e-' else 'e+' end,
                case when abs(t.e) < 10 then '0' else '' end,
                cast(abs(t.e) as string)
            )
        end
    )
end), 1)"""


def strict_dates(node: exp.Expr) -> exp.Expr:
    """Make the cast of a year or month alone to a date NULL, although Spark would accept it."""
    if not isinstance(node, exp.TryCast) or node.to.this != exp.DataType.Type.DATE:
        return node
    whole = exp.RegexpLike(
        this=exp.cast(node.this.copy(), "text"),
        expression=exp.Literal.string("^-?[0-9]+-[0-9]{1,2}-[0-9]{1,2}"),
    )
    return exp.Case(
        ifs=[exp.If(this=whole, true=exp.TryCast(this=node.this, to=node.to, safe=True))]
    )


def patterns(node: exp.Expr) -> exp.Expr:
    """Translate regular expressions to Java's: only a line feed ends a line, `$` is the end of the
    text, brackets inside brackets are escaped, and a replacement refers to a group by `$`.
    """
    if isinstance(node, exp.RegexpFullMatch):
        whole = exp.Literal.string(f"^({node.expression.name})$")
        node = exp.RegexpLike(this=node.this, expression=whole)
    if isinstance(node, exp.RegexpReplace):
        made = node.args.get("replacement")
        if isinstance(made, exp.Literal) and made.is_string:
            text = made.name.replace("$", r"\$")
            node.set("replacement", exp.Literal.string(re.sub(r"\\([0-9])", r"$\1", text)))
    if isinstance(
        node, exp.RegexpLike | exp.RegexpExtract | exp.RegexpExtractAll | exp.RegexpReplace
    ):
        pattern = node.expression
        if isinstance(pattern, exp.Literal) and pattern.is_string:
            node.set("expression", exp.Literal.string(java_pattern(pattern.name)))
    return node


def java_pattern(pattern: str) -> str:
    """Translate a pattern of DuckDB (RE2) to Java; supports only the forms that templates use."""
    if pattern.startswith("(?d)"):
        return pattern
    made, inside, position = [], False, 0
    while position < len(pattern):
        char = pattern[position]
        if char == "\\":
            made.append(pattern[position : position + 2])
            position += 2
            continue
        if char == "[" and not inside:
            inside = True
            made.append("[")
            if pattern[position + 1 : position + 2] == "]":  # a leading bracket is literal
                made.append("\\]")
                position += 1
        elif char == "[":
            made.append("\\[")
        elif char == "]" and inside:
            inside = False
            made.append("]")
        else:
            made.append("\\z" if char == "$" and not inside else char)
        position += 1
    return "(?d)" + "".join(made)


def _is_finite(value: exp.Expr) -> exp.Expr:
    """Translate `isfinite`, for which Spark has no function; dates are never infinite."""
    if _is_cast_to(value, MOMENTS):
        return filled("(x is not null)", "spark", x=value)
    return filled("not (isnan(x) or abs(x) = cast('inf' as double))", "spark", x=value)


def _in_utc(zone: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Translate `timezone` to nothing: a run works in UTC. Raises `TemplateError` for others."""
    if zone.name != "UTC":
        raise TemplateError(f"the time zone {zone} is not known to work on spark")
    return value


FUNCTION_TRANSLATIONS: dict[str, Callable[..., exp.Expr]] = {
    "isfinite": _is_finite,
    "timezone": _in_utc,
    "to_hours": lambda x: filled("make_dt_interval(0, x)", "spark", x=x),
    # texts are not normalized: Spark has no function for it
    "nfc_normalize": lambda x: x,
    "strlen": lambda x: exp.Anonymous(this="octet_length", expressions=[x]),
    "epoch_us": lambda x: exp.Anonymous(
        this="unix_micros", expressions=[exp.cast(x, "timestamptz")]
    ),
    # Spark skips NULLs, so that without their places `(NULL, a)` would be `(a, NULL)`
    "hash": lambda *xs: exp.Anonymous(
        this="xxhash64",
        expressions=[
            *xs,
            *(exp.Is(this=x.copy(), expression=exp.Null()) for x in xs if len(xs) > 1),
        ],
    ),
    "list_count": lambda x: exp.Anonymous(
        this="size", expressions=[exp.Anonymous(this="array_compact", expressions=[x])]
    ),
    "list_has_any": lambda x, y: exp.Anonymous(this="arrays_overlap", expressions=[x, y]),
    LENGTH: lambda x: exp.Anonymous(this="size", expressions=[x]),
}


def named_functions(node: exp.Expr) -> exp.Expr:
    """Translate functions without a node in sqlglot that Spark has under another name."""
    if isinstance(node, exp.Anonymous) and node.name.lower() in FUNCTION_TRANSLATIONS:
        return FUNCTION_TRANSLATIONS[node.name.lower()](*node.expressions)
    return node


def infinity(node: exp.Expr) -> exp.Expr:
    """Translate `isinf`, for which Spark has no function; dates are never infinite."""
    if not isinstance(node, exp.IsInf):
        return node
    value = exp.TryCast(
        this=exp.cast(node.this, "text"), to=exp.DataType.build("double"), safe=True
    )
    return exp.Coalesce(
        this=exp.Paren(
            this=exp.EQ(
                this=exp.Abs(this=value), expression=exp.cast(exp.Literal.string("inf"), "double")
            )
        ),
        expressions=[exp.false()],
    )


def list_members(node: exp.Expr) -> exp.Expr:
    """Translate access by position, appending a member (also NULL), and lists in sorted order."""
    if isinstance(node, exp.Bracket) and not isinstance(node.expressions[0], exp.Literal):
        # positions count from 1; sqlglot translates literal ones
        return exp.Anonymous(this="element_at", expressions=[node.this, *node.expressions])
    if isinstance(node, exp.ArrayAppend):
        return exp.Anonymous(
            this="concat", expressions=[node.this, exp.Array(expressions=[node.expression])]
        )
    if isinstance(node, exp.ArrayAgg) and isinstance(node.this, exp.Order):
        # templates order lists by the value itself only
        listed = exp.Anonymous(this="collect_list", expressions=[node.this.this])
        return exp.Anonymous(this="array_sort", expressions=[listed])
    return node


# Translates DuckDB's SQL to Spark's where sqlglot does not: one function per difference.
#
# Spark has no 128-bit integers: a draw is a text of 32 hexadecimal digits in the order of the
# number, and sums that need more than 64 bits are decimals without scale.


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


def no_hints(node: exp.Expr) -> exp.Expr:
    """Drop the hints of CTEs, which Spark does not read."""
    if isinstance(node, exp.CTE):
        node.set("materialized", None)
    return node


def binary_collation(node: exp.Expr) -> exp.Expr:
    """Drop collations: Spark compares text by bytes."""
    return node.this if isinstance(node, exp.Collate) else node


def drop_frame(node: exp.Expr) -> exp.Expr:
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
    no_hints,
    binary_collation,
    concatenation,
    draws,
    wide_integers,
    rounded_decimals,
    double_texts,
    strict_dates,
    patterns,
    drop_frame,
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


class SparkWithNestedTables(Spark):
    """Spark since version 3. sqlglot moves the CTEs of subqueries to the top, where names clash."""

    class Generator(Spark.Generator):  # type: ignore[misc, valid-type]
        """Prints CTEs where they are."""

        EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[set[type[exp.Expr]]] = set()


DIALECT = Dialect(
    "spark", (_rewritten,), _single, NODES, FUNCTIONS, respelled, SparkWithNestedTables
)
