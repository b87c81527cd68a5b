"""The masks as expressions over the values as read."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

from anonymizer.compile import Sql, Table, lit, sql
from anonymizer.policy.safe_harbor import NO_AREA
from anonymizer.source.identifiers import FORMS, Form, usual_characters
from anonymizer.source.masking.masks import (
    DATES,
    Mask,
    bind,
    bounds,
    exact_type,
    precision,
    typed_literal,
)
from anonymizer.source.masking.values import without_values

# Replaces identifiers in free text by their kind: `[mail]`, `[phone]`.


LAST = {"phone": 1, "card": 2}
"""Kinds that are searched for after the others."""
PASSES = 2
"""Matches include neighbouring characters: two that share one are found in different passes."""


def forms_of(kinds: Sequence[str]) -> tuple[Form, ...]:
    """The forms that are replaced: all forms of the kinds that may be part of a text.

    Telephone numbers and cards come last: part of another number may look like a telephone number,
    and cards without check digits are only long numbers.
    """
    found = (f for f in FORMS if f.inside and (not kinds or f.kind in kinds))
    return tuple(sorted(found, key=lambda form: LAST.get(form.kind, 0)))


def redact(value: Sql, kinds: Sequence[str]) -> Sql:
    """The text with every identifier replaced by its kind in brackets."""
    made = usual = Sql(f"({usual_characters(value.text)})")
    for _ in range(PASSES):
        for form in forms_of(kinds):
            made = sql(
                "regexp_replace({v}, {p}, {r}, 'g')",
                v=made,
                p=lit(flat(form.pattern)),
                r=lit(replacement(form)),
            )
    found = lit("|".join(f"({form.pattern})" for form in forms_of(kinds)))
    return sql(
        "case when regexp_matches({t}, {p}) then {m} else {v} end",
        t=usual,
        v=value,
        p=found,
        m=made,
    )


def replacement(form: Form) -> str:
    """The replacement for a match, which keeps the characters before and after it."""
    after = "\\3" if re.compile(flat(form.pattern)).groups > 2 else ""
    return f"\\1[{form.kind}]{after}"


def flat(pattern: str) -> str:
    """The pattern whose nested groups are not numbered: only nine groups can be referred to."""
    depth, made = 0, ""
    blank = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]", lambda found: "." * len(found[0]), pattern)
    for sign, known in zip(pattern, blank, strict=True):
        nested = known == "(" and depth > 0
        depth += (known == "(") - (known == ")")
        made += sign + "?:" * nested
    return made.replace("(?:?", "(?")


PIECES = 4503599627370496
"""2^52: number of steps into which draws divide an interval, each exact as a double."""
TOKENS = 10**18
"""Number of possible numeric tokens."""


def mask_value(mask: Mask, value: Sql, key: str, raw: Table) -> Sql:
    """The masked `value` of a row with the alias r.

    `raw`: the rows that may be published, with all values of the column.
    """
    match mask.kind:
        case "token":
            return _token(mask, value, key)
        case "shift":
            return _shift(mask, value, key)
        case "top_code" | "bottom_code":
            return _code_beyond(mask, value, raw)
        case "round":
            return _round(mask, value, key)
        case "noise":
            return _noisy(mask, value, key, raw)
        case "redact":
            return redact(without_values(mask, value), mask.options.get("patterns", ()))
        case "zip3":
            return _three_digits(mask, value)
        case "constant":
            return typed_literal(mask.options["value"], mask.published_type)
    return sql("cast(null as {t})", t=Sql(mask.published_type))


def _three_digits(mask: Mask, value: Sql) -> Sql:
    """The first three digits of a ZIP code; 000 for restricted areas and invalid codes."""
    text, form = f"trim(cast({value} as varchar))", "^([0-9]{3}|[0-9]{5}(-?[0-9]{4})?)$"
    if mask.family == "whole":
        # numbers have lost their leading zeros (and lpad truncates longer texts)
        length = f"case when length({text}) > 9 then 10 when length({text}) > 5 then 9 else 5 end"
        text = f"lpad({text}, {length}, '0')"
        form = "^([0-9]{5}|[0-9]{9})$"
    first = f"substr({text}, 1, 3)"
    shown = f"regexp_matches({text}, {lit(form)})"
    if mask.options["restricted"]:
        few = ", ".join(str(lit(area)) for area in mask.options["restricted"])
        shown += f" and {first} not in ({few})"
    return Sql(
        f"case when {value} is null then null when {shown} then {first} else '{NO_AREA}' end"
    )


def draws_rows(mask: Mask) -> bool:
    """Return whether every row has a separate draw."""
    random = mask.kind == "round" and mask.options["method"] == "random"
    return mask.kind == "noise" or (random and mask.family not in DATES)


def text_of(mask: Mask, value: Sql) -> Sql:
    """The text from which a token is made, the same on every engine."""
    if mask.family == "zoned":
        return Sql(instant_text(value.text))
    if mask.family == "double":
        # -0.0 and 0.0 are equal, and have to have one token; engines print different digits of
        # single precision
        number = f"cast({value} as double)"
        return Sql(
            f"cast(cast(case when {number} = 0 then 0 else {number} end as double) as varchar)"
        )
    text = sql("cast({v} as varchar)", v=value)
    if mask.family == "decimal":
        return Sql(zero_before_point(text.text, mask.sql_type))
    return text


def instant_text(value: str) -> str:
    """A timestamp with a time zone as text, as DuckDB prints it in UTC; NULL for NULL."""
    return f"(cast(timezone('UTC', {value}) as varchar) || '+00')"


def zero_before_point(text: str, sql_type: str) -> str:
    """A decimal as text; DuckDB prints no zero if the type has no digits before the point."""
    if len(set(precision(sql_type))) > 1:
        return text
    return f"regexp_replace({text}, '^(-?)[.]', '\\10.')"


def hmac(text: Sql, key: str) -> Sql:
    """HMAC-SHA256 (RFC 2104) of a text in UTF-8, as 64 hexadecimal digits."""
    return Sql(
        f"sha256(unhex(${bind(key, 'outer')}) ||"
        f" unhex(sha256(unhex(${bind(key, 'inner')}) || encode({text}))))"
    )


def like_alias(mask: Mask) -> Sql:
    """The alias under which the tokens of a column with the format `like` are joined."""
    return Sql(f"like_{mask.original}")


def _token(mask: Mask, value: Sql, key: str) -> Sql:
    if mask.options["format"] == "like":
        return Sql(f"{like_alias(mask)}.token")
    digest = hmac(text_of(mask, value), key)
    match mask.options["format"]:
        case "uuid":
            # version 8 of RFC 9562: its bits are taken from the digest
            made = (
                f"concat(substr({digest}, 1, 8), '-', substr({digest}, 9, 4), '-8',"
                f" substr({digest}, 14, 3), '-a', substr({digest}, 18, 3), '-',"
                f" substr({digest}, 21, 12))"
            )
        case "number":
            made = f"cast(md5_number_lower({digest}) % {TOKENS} as bigint)"
        case _:
            made = str(digest)
    return sql("case when {v} is not null then {m} end", v=value, m=Sql(made))


def _shift(mask: Mask, value: Sql, key: str) -> Sql:
    weeks = "weekday" in mask.options.get("keep", ())
    unit = 7 if weeks else 1
    most = mask.options["within"] // unit
    # at least one day: -most to -1, and 1 to most
    digest = f"concat(${bind(key, 'draw')}, ':', r.{per(mask)})"
    draw = f"cast(md5_number_lower({digest}) % {2 * most} as integer)"
    days = f"(({draw}) - {most} + case when {draw} >= {most} then 1 else 0 end) * {unit}"
    if mask.family == "date":
        made = f"{value} + cast({days} as integer)"
    else:
        made = f"{value} + to_hours(24 * ({days}))"
    return _if_finite(mask, value, made)


def _if_finite(mask: Mask, value: Sql, made: str) -> Sql:
    """A date or timestamp that is `made`, unless it is infinite; an engine without such dates has
    to see the type.
    """
    finite = f"isfinite(cast({value} as {mask.sql_type}))"
    return Sql(f"case when {finite} then cast({made} as {mask.sql_type}) else {value} end")


def per(mask: Mask) -> Sql:
    """The column whose equal values have the same shift."""
    return Sql(f"per_{mask.original}")


def _code_beyond(mask: Mask, value: Sql, raw: Table) -> Sql:
    top = mask.kind == "top_code"
    limit = _limit(mask, top, raw)
    beyond = ">" if top else "<"
    return sql("case when {v} {b} {l} then {l} else {v} end", v=value, b=Sql(beyond), l=limit)


def _limit(mask: Mask, top: bool, raw: Table) -> Sql:
    if "at" in mask.options:
        return typed_literal(mask.options["at"], mask.sql_type)
    return found_limit(mask, top, raw)


def found_limit(mask: Mask, top: bool, raw: Table) -> Sql:
    """The most extreme value with at least this many rows (persons) at or beyond it."""
    order, outer, inner = ("desc", "min", "max") if top else ("asc", "max", "min")
    column = mask.physical
    rows = f"select {column} as v from {{raw}} where {column} is not null"
    if mask.person:
        rows = (
            f"select {inner}({column}) as v from {{raw}} where {column} is not null group by person"
        )
    least = mask.options["at_least"]
    return sql(
        f"(select {outer}(v) from (select v from ({rows}) as own order by v {order}"
        f" limit {least}) as beyond)",
        raw=raw,
    )


def _draw(mask: Mask, key: str) -> str:
    """A 64-bit draw for the row and the column."""
    return f"md5_number_lower(concat(${bind(key, 'draw')}, ':', r.identity, ':{mask.original}'))"


def _part(mask: Mask, key: str) -> str:
    """A number in [0, 1)."""
    return f"(cast({_draw(mask, key)} % {PIECES} as double) / {PIECES}.0)"


def _round(mask: Mask, value: Sql, key: str) -> Sql:
    if mask.family in DATES:
        unit = lit(mask.options["to"])
        if mask.family == "zoned":
            cut = f"timezone('UTC', date_trunc({unit}, timezone('UTC', {value})))"
        else:
            # (date_trunc of nanoseconds would round the last one of a year into the next year)
            nanoseconds = mask.sql_type == "TIMESTAMP_NS"
            exact = f"make_timestamp(epoch_us({value}))" if nanoseconds else value
            cut = f"date_trunc({unit}, {exact})"
        return _if_finite(mask, value, cut)
    method = mask.options["method"]
    if mask.family == "double":
        step = typed_literal(mask.options["to"], "DOUBLE")
        ratio = f"({value} / {step})"
        up = {
            "nearest": f"floor({ratio} + 0.5)",
            "down": f"(floor({ratio}) + 0)",  # (never -0.0)
            "random": f"(floor({ratio}) + case when {_part(mask, key)} < {ratio} - floor({ratio})"
            " then 1 else 0 end)",
        }[method]
        # from the limit on, the type has neighbouring values without a multiple between them
        limit = typed_literal(min(float(mask.options["to"]) * PIECES, sys.float_info.max), "DOUBLE")
        return Sql(
            f"case when isfinite({value}) and abs({value}) < {limit}"
            f" then cast({up} * {step} as {mask.sql_type}) else {value} end"
        )
    wide = exact_type(mask.sql_type)
    step = typed_literal(mask.options["to"], wide)
    own = f"cast({value} as {wide})"
    over = f"({own} % {step})"
    rest = f"(case when {over} < 0 then {over} + {step} else {over} end)"
    upwards = {
        "nearest": f"{rest} >= {step} - {rest}",
        "down": "false",
        "random": f"{_part(mask, key)} < cast({rest} as double) / cast({step} as double)",
    }[method]
    least, most = (typed_literal(end, wide) for end in bounds(mask.sql_type))
    # if the type does not have the multiple, round to the other side; both conditions stay within
    # the range of the type
    up_is_there = f"{own} <= {most} - ({step} - {rest})"
    down_is_not = f"{own} < {least} + {rest}"
    return Sql(
        f"case when {over} = 0 then {value}"
        f" when (({upwards}) and {up_is_there}) or {down_is_not}"
        f" then cast(cast({own} + ({step} - {rest}) as {wide}) as {mask.sql_type})"
        f" else cast(cast({own} - {rest} as {wide}) as {mask.sql_type}) end"
    )


def _noisy(mask: Mask, value: Sql, key: str, raw: Table) -> Sql:
    number = f"cast({value} as double)"
    if "amount" in mask.options:
        reach = f"cast({typed_literal(mask.options['amount'], 'DOUBLE')} as double)"
    else:
        reach = f"({typed_literal(mask.options['share'], 'DOUBLE')} * abs({number}))"
        if "between" in mask.options and mask.family == "double":
            # a share of an infinite number is undefined
            reach = f"(case when isfinite({number}) then {reach} else 0 end)"
    # up to 64 bits the sum is exact, and both ends fit into the wider type
    exact = mask.family == "whole" and "HUGEINT" not in mask.sql_type
    wide = "hugeint" if exact else "double"
    least, most = _between(mask, raw)
    low, high = f"cast({least} as {wide})", f"cast({most} as {wide})"
    own = f"cast({value} as {wide})"
    if "between" in mask.options:
        own = f"least(greatest({own}, {low}), {high})"
    move = f"{reach} * (2 * {_part(mask, key)} - 1)"
    moved = f"({own} + {f'cast(floor({move} + 0.5) as hugeint)' if exact else move})"
    # values beyond an end are reflected, so that no value is frequent there
    inside = (
        f"(case when {moved} < {low} then 2 * {low} - {moved}"
        f" when {moved} > {high} then 2 * {high} - {moved} else {moved} end)"
    )
    made = f"least(greatest({inside}, {low}), {high})"
    if not exact and mask.family != "double":
        # an end may not be a double, and the next double may not be in the type
        whole = f"floor({made} + 0.5)" if mask.family == "whole" else made
        made = (
            f"case when {made} >= {high} then {most} when {made} <= {low} then {least}"
            f" else cast(cast({whole} as double) as {mask.sql_type}) end"
        )
    if "between" in mask.options:
        return Sql(f"case when {value} is not null then cast({made} as {mask.sql_type}) end")
    return Sql(
        f"case when isfinite({number}) then cast({made} as {mask.sql_type}) else {value} end"
    )


def _between(mask: Mask, raw: Table) -> tuple[Sql, Sql]:
    given: Any = mask.options.get("between")
    if given is not None:
        return typed_literal(given[0], mask.sql_type), typed_literal(given[1], mask.sql_type)
    column = mask.physical
    finite = f"{column} is not null and isfinite(cast({column} as double))"
    low, high = (
        sql(f"(select {end}({column}) from {{raw}} where {finite})", raw=raw)
        for end in ("min", "max")
    )
    return low, high
