"""Postgres' types as DuckDB's, and casts between them."""

from __future__ import annotations

import re

from sqlglot import exp

from anonymizer.compile import dialect
from anonymizer.compile.dialect import Rewrite
from anonymizer.errors import TemplateError
from anonymizer.source.profile import other_type

# Maps Postgres' types to DuckDB's, as used in profiles and layouts.


_NAMES = {
    "smallint": "SMALLINT",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "real": "FLOAT",
    "double precision": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "uuid": "UUID",
    "text": "VARCHAR",
    "name": "VARCHAR",
    '"char"': "VARCHAR",
    "timestamp without time zone": "TIMESTAMP",
    "timestamp with time zone": "TIMESTAMP WITH TIME ZONE",
    "time without time zone": "TIME",
    "numeric": "DECIMAL",
}
AS_TEXT = frozenset(
    {
        "inet",
        "cidr",
        "macaddr",
        "macaddr8",
        "bit",
        "bit varying",
        "bytea",
        "time with time zone",
        "oid",
        "pg_lsn",
    }
)
"""Types that are read as text: two of their values are equal if and only if their texts are."""
MOST_DIGITS = 38
"""Most digits of a DECIMAL."""
_SIZED = re.compile(r"(?P<base>[a-z0-9 ]+?)\((?P<sizes>[0-9, -]+)\)(?P<rest> .*)?\Z")
_ENUM = "ENUM()"  # without its values: it is read as text


def type_name(given: str, *, is_enum: bool = False) -> str:
    """DuckDB's name of a type (given by `format_type`); types unknown to DuckDB keep their name."""
    if is_enum:
        return _ENUM
    if given.endswith("[]"):
        return type_name(given[:-2]) + "[]"
    base, sizes = _split_type(given)
    if base in ("character varying", "character"):
        return "VARCHAR"
    if base == "numeric" and sizes:
        return _decimal(sizes)
    return _NAMES.get(base, given.upper())


def read_type(given: str, *, is_enum: bool = False) -> str:
    """The type as which values of a source are read: text, except for arrays and plain types."""
    name = type_name(given, is_enum=is_enum)
    base = _split_type(given)[0]
    if base in AS_TEXT:
        return "VARCHAR"
    plain = name == _ENUM or base in _NAMES or base in ("character varying", "character")
    return name if plain or given.endswith("[]") else other_type(given)


def _split_type(given: str) -> tuple[str, str]:
    """The name of a type without its sizes, and the sizes."""
    found = _SIZED.match(given)
    return (found["base"] + (found["rest"] or ""), found["sizes"]) if found else (given, "")


def _decimal(sizes: str) -> str:
    """A decimal of these sizes; one without sizes if DuckDB does not support them."""
    precision, scale = (int(size) for size in (*sizes.split(","), "0")[:2])
    fits = 0 <= scale <= precision <= MOST_DIGITS
    return f"DECIMAL({precision},{scale})" if fits else "DECIMAL"


# Translates DuckDB's types: wide integers, draws, decimals, text, and casts that may fail.


Type = exp.DataType.Type
WIDE = {
    Type.INT128: "numeric",
    Type.UBIGINT: "numeric",
    Type.UINT: "bigint",
    Type.BIGDECIMAL: "numeric",
}
SMALL = {Type.TINYINT: "smallint", Type.UTINYINT: "smallint", Type.USMALLINT: "integer"}
TEXTS = {Type.TEXT, Type.VARCHAR}
TEXTUAL = (exp.Literal, exp.DPipe)
"""Expressions that are cast to a decimal from their text, without rounding as doubles."""
BARE = (exp.StrPosition, exp.Between)
TIMES = {Type.TIMESTAMP, Type.TIMESTAMPNTZ, Type.TIMESTAMPTZ, Type.TIMESTAMP_S, Type.TIMESTAMP_MS}
WHOLE = {
    Type.TINYINT: (-(2**7), 2**7 - 1),
    Type.SMALLINT: (-(2**15), 2**15 - 1),
    Type.INT: (-(2**31), 2**31 - 1),
    Type.BIGINT: (-(2**63), 2**63 - 1),
    Type.UTINYINT: (0, 2**8 - 1),
    Type.USMALLINT: (0, 2**16 - 1),
    Type.UINT: (0, 2**32 - 1),
    Type.UBIGINT: (0, 2**64 - 1),
    Type.INT128: (-(2**127), 2**127 - 1),
}


def fill(text: str, **parts: exp.Expr) -> exp.Expr:
    """An expression of Postgres' SQL with every column named like a part replaced by it."""
    return dialect.filled(text, "postgres", **parts)


def types(node: exp.Expr) -> exp.Expr:
    """Map integers of 128 bits to numerics, and draws, which are unsigned, to texts."""
    if not isinstance(node, exp.DataType):
        return node
    if node.this == Type.UINT128:
        return exp.DataType.build("text")
    name = {**WIDE, **SMALL}.get(node.this)
    return exp.DataType.build(name, dialect="postgres") if name else node


def texts(node: exp.Expr) -> exp.Expr:
    """Compare text by code point, whatever the collation of the database.

    `lower` uses the database's collation, since that of code points lowers ASCII letters only.
    """
    made = _compare(node)
    # the grammar requires parentheses in `position(x in y)` and `between x and y`
    return exp.paren(made) if made is not node and isinstance(node.parent, BARE) else made


def _compare(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Lower):
        known = exp.Collate(this=node.this, expression=exp.to_identifier("default", quoted=True))
        return by_code_point(exp.Lower(this=known))
    if isinstance(node, exp.Collate):
        return node.this if isinstance(node.this, exp.Collate) else by_code_point(node.this)
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        kind = node.to.this
        if kind in TEXTS and not isinstance(node.parent, exp.Collate):
            inner = node.this
            if isinstance(inner, exp.Cast) and inner.to.this in (Type.DOUBLE, Type.FLOAT):
                return by_code_point(_double_text(inner))
            return by_code_point(node.copy())
    return node


def by_code_point(text: exp.Expr) -> exp.Expr:
    """Put `text` under the collation that compares code points."""
    return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))


def _double_text(number: exp.Cast) -> exp.Expr:
    """A double as DuckDB prints it: `1.0` for 1, and no exponent below 1e16 instead of 1e15.

    Both print the shortest digits that identify the double.
    """
    return fill(
        """case
            when x = trunc(x) and abs(x) < 1e16 then cast(cast(x as bigint) as text) || '.0'
            when abs(x) >= 1e15 and abs(x) < 1e16 then
                regexp_replace(
                    cast(x as text), '^(-?[0-9])[.]([0-9]{15})([0-9]*)e.15$', '\\1\\2.\\3')
            when x = 'Infinity' then 'inf'
            when x = '-Infinity' then '-inf'
            when x = 'NaN' then 'nan'
            else cast(x as text) end""",
        x=number,
    )


def decimals(node: exp.Expr) -> exp.Expr:
    """Cast a double to a decimal as DuckDB does: scaled as a double, halves rounded away from 0.

    (Postgres would use its first 15 digits.) Decimals, integers and texts are unchanged.
    """
    if not isinstance(node, exp.Cast) or isinstance(node, exp.TryCast):
        return node
    kind = node.to
    if kind.this != Type.DECIMAL or len(kind.expressions) != 2:
        return node
    precision, scale = (int(part.name) for part in kind.expressions)
    if precision not in (18, 38) or scale == 0 or isinstance(node.this, TEXTUAL):
        return node
    # a double that is too large for a bigint is a multiple of 1024
    scaled = fill(
        """(case when x >= 0 then floor(x * one + 0.5) else ceil(x * one - 0.5) end)""",
        x=node.this,
        one=exp.Literal.number(10**scale),
    )
    return fill(
        """(case when abs(y) < 9000000000000000000 then cast(cast(y as bigint) as numeric)
            when abs(y) < 9000000000000000000000 then
                cast(cast(y / 1024 as bigint) as numeric) * 1024
            else cast(y as numeric) end * unit)""",
        y=scaled,
        unit=exp.Literal.number(f"0.{'0' * (scale - 1)}1"),
    )


def moments(node: exp.Expr) -> exp.Expr:
    """Translate microseconds since 1970 to a timestamp, in days and a rest: `to_timestamp` takes a
    double, which is exact until 2255 only.
    """
    if isinstance(node, exp.UnixToTime) and node.text("scale") == "6":
        return _moment(node.this)
    if isinstance(node, exp.Anonymous) and node.name.lower() == "make_timestamptz":
        return fill("timezone('UTC', t)", t=_moment(node.expressions[0]))
    return node


def _moment(microseconds: exp.Expr) -> exp.Expr:
    return fill(
        "(timestamp '1970-01-01' + cast(x as bigint) / 86400000000 * interval '1 day'"
        " + cast(x as bigint) % 86400000000 * interval '1 microsecond')",
        x=microseconds,
    )


def try_cast(node: exp.Expr) -> exp.Expr:
    """Translate a cast that is NULL if the text is no value of the type; Postgres raises an error.

    The text is compared with the form in which cells show values of the type.
    """
    if not isinstance(node, exp.TryCast):
        return node
    kind, text = node.to.this, exp.cast(node.this, "text")
    if kind in TEXTS:
        return by_code_point(text)
    target = types(node.to)
    if kind in WHOLE:
        low, high = WHOLE[kind]
        return fill(
            """case when t ~ '^-?[0-9]{1,39}$' then
                case when cast(t as numeric) between low and high then cast(t as made) end end""",
            t=text,
            low=exp.Literal.number(low),
            high=exp.Literal.number(high),
        ).transform(_replace_type(target))
    if kind in (Type.DECIMAL, Type.BIGDECIMAL):
        return _dialect_types_decimal(text, target)
    if kind in (Type.DOUBLE, Type.FLOAT):
        limit = "1.7976931348623157e308" if kind == Type.DOUBLE else "3.4028235e38"
        least = "4.9406564584124654e-324" if kind == Type.DOUBLE else "1.4e-45"
        return fill(
            """case when t in ('inf', '-inf', 'nan') then cast(t as made)
                when t ~ '^-?[0-9]+([.][0-9]+)?(e[+-]?[0-9]{1,3})?$' then
                case when abs(cast(t as numeric)) between least and most or cast(t as numeric) = 0
                then cast(t as made) end end""",
            t=text,
            least=exp.Literal.number(least),
            most=exp.Literal.number(limit),
        ).transform(_replace_type(target))
    if kind == Type.DATE:
        return _date(text)
    if kind in TIMES:
        clock = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?"
        zone = "[+]00" if kind == Type.TIMESTAMPTZ else ""
        return fill(
            "case when t ~ form and (day) is not null then cast(t as made) end",
            t=text,
            form=exp.Literal.string(f"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} {clock}{zone}$"),
            day=_date(exp.func("left", text.copy(), exp.Literal.number(10))),
        ).transform(_replace_type(target))
    forms = {
        Type.BOOLEAN: "^(true|false)$",
        Type.UUID: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        Type.TIME: "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?$",
    }
    if kind not in forms:
        raise TemplateError(f"try_cast to {node.to.sql()} has no form on Postgres")
    return fill(
        "case when t ~ form then cast(t as made) end", t=text, form=exp.Literal.string(forms[kind])
    ).transform(_replace_type(target))


def _replace_type(target: exp.Expr) -> Rewrite:
    """A transform that replaces the type `made` with `target`."""

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.DataType) and node.sql().lower() == "made":
            return target.copy()
        return node

    return put


def _dialect_types_decimal(text: exp.Expr, target: exp.Expr) -> exp.Expr:
    sizes = [int(part.name) for part in target.args.get("expressions") or []]
    if not sizes:
        form, whole = "^-?[0-9]+([.][0-9]+)?$", None
    else:
        whole = sizes[0] - (sizes[1] if len(sizes) > 1 else 0)
        form = "^-?[0-9]+([.][0-9]+)?$"
    if whole is None:
        condition = "t ~ form"
    else:
        condition = f"t ~ form and length(split_part(ltrim(t, '-0'), '.', 1)) <= {whole}"
    return fill(
        f"case when {condition} then cast(t as made) end", t=text, form=exp.Literal.string(form)
    ).transform(_replace_type(target))


def _date(text: exp.Expr) -> exp.Expr:
    """Cast a text in ISO form to a date; NULL if its month does not have the day."""
    return fill(
        """case when t ~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'
                and substr(t, 1, 4) <> '0000' then
            case when cast(substr(t, 9, 2) as integer) <= extract(day from
                cast(substr(t, 1, 7) || '-01' as date) + interval '1 month' - interval '1 day')
            then cast(t as date) end end""",
        t=text,
    )
