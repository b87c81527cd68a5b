"""What masks publish, in plain Python: `hmac`, `datetime` and `decimal` instead of SQL."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import math
import struct
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import Any

UTC = dt.UTC
DIGITS = 100
"""Digits of decimals here: more than any type holds."""


def text_of(value: Any) -> str:
    """The text of a value, of which its token is made; single precision is written as double."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, dt.datetime):
        zoned = "" if value.tzinfo is None else "+00"
        plain = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        fraction = f".{plain.microsecond:06d}".rstrip("0") if plain.microsecond else ""
        return plain.replace(microsecond=0).isoformat(sep=" ") + fraction + zoned
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value)


class Single(float):
    """A number of single precision."""

    def __new__(cls, value: float) -> Single:
        return super().__new__(cls, struct.unpack("<f", struct.pack("<f", value))[0])


def token(value: Any, key: bytes, form: str) -> str | int | None:
    """HMAC-SHA256 (RFC 2104) of the text of a value."""
    if value is None:
        return None
    if isinstance(value, float) and value == 0:
        value = 0.0  # equal to -0.0, and so are their tokens
    digest = hmac.new(key, text_of(value).encode(), hashlib.sha256).hexdigest()
    if form == "uuid":
        # version 8 and variant a of RFC 9562 take the place of two digits
        return "-".join(
            (digest[:8], digest[8:12], "8" + digest[13:16], "a" + digest[17:20], digest[20:32])
        )
    if form == "number":
        last = hashlib.md5(digest.encode()).digest()[8:]
        return int.from_bytes(last, "little") % 10**18
    return digest


def form_of(text: str) -> str:
    """The kind of sign in every place of a text."""
    return "".join(
        "0"
        if "0" <= sign <= "9"
        else "A"
        if "A" <= sign <= "Z"
        else "a"
        if "a" <= sign <= "z"
        else sign
        for sign in text
    )


def beyond(value: Any, limit: Any, *, top: bool) -> bool:
    """Whether a value is beyond a code; NaN is above every number."""
    if isinstance(value, float) and math.isnan(value):
        return top
    return bool(value > limit if top else value < limit)


def coded(value: Any, limit: Any, *, top: bool) -> Any:
    """A value, or the code if it is beyond."""
    return limit if value is not None and beyond(value, limit, top=top) else value


def found_limit(rows: list[tuple[Any, Any]], least: int, *, top: bool) -> Any:
    """The value that `least` of the persons of (person, value) reach or pass."""
    furthest: dict[Any, Any] = {}
    for person, value in rows:
        if value is not None:
            pick = max if top else min
            furthest[person] = pick(furthest.get(person, value), value)
    return sorted(furthest.values(), reverse=top)[:least][-1]


def multiples(value: Any, step: Decimal) -> tuple[Decimal, Decimal]:
    """The largest multiple of a step that is no more than a number, and the next one."""
    with localcontext() as context:
        context.prec = DIGITS
        number = Decimal(value)
        down = (number / step).to_integral_value(ROUND_FLOOR) * step
        return (number, number) if down == number else (down, down + step)


def rounded(
    value: Any, step: Decimal, method: str, least: Decimal | None, most: Decimal | None
) -> Decimal:
    """A number rounded to the nearest multiple (halves up), or down; where the type of the column
    does not hold it, to the multiple on the other side."""
    down, up = multiples(value, step)
    with localcontext() as context:
        context.prec = DIGITS
        chosen = (
            up if method == "nearest" and up - Decimal(value) <= Decimal(value) - down else down
        )
    if least is not None and chosen < least:
        return up
    if most is not None and chosen > most:
        return down
    return chosen


def cut_off(value: Any, unit: str) -> Any:
    """The first day or instant of the unit of time in which a date or timestamp is, in UTC."""
    if not isinstance(value, dt.datetime):
        instant = dt.datetime.combine(value, dt.time())
        return cut_off(instant, unit).date()
    if value.tzinfo is not None:
        value = value.astimezone(UTC)
    if unit == "hour":
        return value.replace(minute=0, second=0, microsecond=0)
    day = value.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return day - dt.timedelta(days=day.weekday())
    months = {"year": 12, "quarter": 3, "month": 1}.get(unit)
    if months is None:
        return day
    return day.replace(day=1, month=(day.month - 1) // months * months + 1)
