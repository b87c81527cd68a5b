"""Translates expressions that differ on Spark: numbers, draws, texts, dates and lists."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from anonymizer.compile.dialects.common import LENGTH, filled


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


def rounded_decimals(node: exp.Expr) -> exp.Expr:
    """Cast a double to a decimal as DuckDB does: scaled as a double, halves rounded away from 0."""
    if not isinstance(node, exp.Cast) or isinstance(node, exp.TryCast):
        return node
    kind = node.to
    if kind.this != exp.DataType.Type.DECIMAL or len(kind.expressions) != 2:
        return node
    precision, scale = (int(part.name) for part in kind.expressions)
    if precision != 18 or scale == 0:
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
    if isinstance(node, exp.RegexpReplace):
        made = node.args.get("replacement")
        if isinstance(made, exp.Literal) and made.is_string:
            text = made.name.replace("$", r"\$")
            node.set("replacement", exp.Literal.string(re.sub(r"\\([0-9])", r"$\1", text)))
    if isinstance(node, exp.RegexpLike | exp.RegexpExtract | exp.RegexpExtractAll):
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


FUNCTIONS: dict[str, Callable[..., exp.Expr]] = {
    "isfinite": lambda x: exp.Not(
        this=exp.Paren(
            this=exp.Or(
                this=exp.func("isnan", x.copy(), dialect="spark"),
                expression=exp.EQ(
                    this=exp.Abs(this=x), expression=exp.cast(exp.Literal.string("inf"), "double")
                ),
            )
        )
    ),
    # texts are not normalized: Spark has no function for it
    "nfc_normalize": lambda x: x,
    "strlen": lambda x: exp.Anonymous(this="octet_length", expressions=[x]),
    "epoch_us": lambda x: exp.Anonymous(
        this="unix_micros", expressions=[exp.cast(x, "timestamptz")]
    ),
    "hash": lambda *xs: exp.Anonymous(this="xxhash64", expressions=list(xs)),
    "list_count": lambda x: exp.Anonymous(
        this="size", expressions=[exp.Anonymous(this="array_compact", expressions=[x])]
    ),
    "list_has_any": lambda x, y: exp.Anonymous(this="arrays_overlap", expressions=[x, y]),
    LENGTH: lambda x: exp.Anonymous(this="size", expressions=[x]),
}


def named_functions(node: exp.Expr) -> exp.Expr:
    """Translate functions without a node in sqlglot that Spark has under another name."""
    if isinstance(node, exp.Anonymous) and node.name.lower() in FUNCTIONS:
        return FUNCTIONS[node.name.lower()](*node.expressions)
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
