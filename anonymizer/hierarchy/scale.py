"""Values of an ordered type on a line, and the text of values, as SQL."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from anonymizer.compile import Sql, Table, lit, sql, work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.steps import Guard, Step

# The text of a single value in a published set or cell, as SQL.


MISREAD = r'^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]'
"""A category that could be mistaken for another cell, or for part of a list."""


def exact(text: Sql) -> Sql:
    """A category as it is published: in double quotes if it could be misread.

    `text` is SQL of type VARCHAR, never NULL.
    """
    return sql(
        "case when regexp_matches({t}, {misread})"
        " then '\"' || replace({t}, '\"', '\"\"') || '\"' else {t} end",
        t=text,
        misread=lit(MISREAD),
    )


def from_text(text: Sql, sql_type: str) -> Sql:
    """Convert a listed text to a value of the column's type; NULL if it is not one."""
    if sql_type == "VARCHAR":
        return text
    return sql("try_cast({t} as {type})", t=text, type=Sql(sql_type))


# Positions of the values of an ordered type on a line, as SQL, and the text of bounds.
#
# There are three kinds of line. *Points*: integers, decimals (in units of their last digit) and
# dates have integer positions, one per value. *Days*: the position of a timestamp is its day in
# UTC, so many values share a position. *Reals*: a floating-point value is its own position;
# neighbouring intervals share a bound.


Bound: TypeAlias = int | float | str

ZONED = "TIMESTAMP WITH TIME ZONE"
MICROSECONDS = 86_400_000_000
TICKS = {"TIMESTAMP_S": 1_000_000, "TIMESTAMP_MS": 1_000}
"""Microseconds between neighbouring values, if more than one."""
EPOCH = dt.datetime(1970, 1, 1)

Line = Literal["points", "days", "reals"]


@dataclass(frozen=True, slots=True)
class Scale:
    """The line of one SQL type."""

    sql_type: str
    line: Line
    unit: int = 1
    """Positions per unit of the column: 10^s for decimals with s digits, else 1."""
    least: int = 0
    greatest: int = 0
    """Ends of the type in positions, for number types that have them."""

    @property
    def can_be_infinite(self) -> bool:
        return self.line != "points" or self.sql_type == "DATE"

    @property
    def is_time(self) -> bool:
        return self.line == "days" or self.sql_type == "DATE"

    def position(self, value: Sql) -> Sql:
        """Position of a value: a whole number, or the value itself as a double for reals."""
        if self.line == "reals":
            return sql("cast({v} as double)", v=value)
        if self.line == "days":
            return sql(
                "date_diff('day', DATE '1970-01-01', cast({v} as date))",
                v=self.utc_timestamp(value),
            )
        if self.sql_type == "DATE":
            return sql("date_diff('day', DATE '1970-01-01', {v})", v=value)
        if self.unit > 1:
            return sql("cast(replace(cast({v} as varchar), '.', '') as hugeint)", v=value)
        return sql("cast({v} as hugeint)", v=value)

    def too_large(self, value: Sql) -> Sql:
        """True if points near a value could not be counted in 128 bits; exact for whole numbers."""
        if self.line == "reals":
            return sql("abs(cast({v} as double)) > cast(1e37 as double)", v=value)
        if self.sql_type not in ("HUGEINT", "UHUGEINT"):
            return Sql("false")  # the largest value of this type is far below that
        ends = {
            "least": lit(str(self.least)),
            "greatest": lit(str(self.greatest)),
            "t": Sql(self.sql_type),
        }
        return sql(
            "{v} not between cast({least} as {t}) and cast({greatest} as {t})", v=value, **ends
        )

    def lower(self, position: Sql) -> Sql:
        """The first value at a position."""
        if self.line == "days":
            return self._instant(sql("{p} * 86400000000", p=position), early=False)
        return self._typed(position)

    def upper(self, past: Sql) -> Sql:
        """The last value before position `past`; for reals the bound itself, which is shared."""
        if self.line == "days":
            return self._instant(sql("{p} * 86400000000", p=past), early=True)
        if self.line == "reals":
            return self._typed(past)
        return self._typed(sql("({p} - 1)", p=past))

    def before(self, value: Sql) -> Sql:
        """The largest value below `value` (for reals `value` itself)."""
        if self.line == "reals":
            return value
        if self.line == "days":
            return self._instant(self._microseconds(value), early=True)
        return self._typed(sql("({p} - 1)", p=self.position(value)))

    def _microseconds(self, value: Sql) -> Sql:
        """Microseconds of a timestamp since 1970, in UTC."""
        if self.sql_type in TICKS:
            # DuckDB 2.0.1 would count in nanoseconds, which cannot represent years from 2262
            value = sql("cast({v} as timestamp)", v=value)
        return sql("epoch_us({v})", v=value)

    def utc_timestamp(self, value: Sql) -> Sql:
        """A date or timestamp as a TIMESTAMP in UTC."""
        if self.sql_type == ZONED:
            return sql("make_timestamp(epoch_us({v}))", v=value)
        if self.sql_type == "TIMESTAMP_NS":
            # a cast would round the last instant of a day into the next one
            return sql(
                "cast(make_timestamp_ns(epoch_ns({v}) - ((epoch_ns({v}) % 1000) + 1000) % 1000)"
                " as timestamp)",
                v=value,
            )
        return sql("cast({v} as timestamp)", v=value)

    def begins_at(self, plain: Sql) -> Sql:
        """A TIMESTAMP in UTC as a value of the type."""
        if self.sql_type == "DATE":
            return sql("cast({p} as date)", p=plain)
        return self._instant(sql("epoch_us({p})", p=plain), early=False)

    def ends_at(self, plain: Sql) -> Sql:
        """The last value before a TIMESTAMP in UTC."""
        if self.sql_type == "DATE":
            return sql("cast({p} as date) - 1", p=plain)
        return self._instant(sql("epoch_us({p})", p=plain), early=True)

    def measure(self, value: Sql) -> Sql:
        """The value as a double whose differences are distances (in days for dates and times)."""
        if self.line == "days":
            return sql("{m} / 86400000000.0", m=self._microseconds(value))
        if self.sql_type == "DATE":
            return sql("cast({p} as double)", p=self.position(value))
        return sql("cast({v} as double)", v=value)

    def centre(self, value: Sql) -> Sql:
        """The value as a number that Python can add without rounding."""
        if self.line == "days":
            if self.sql_type == "TIMESTAMP_NS":
                return sql("epoch_ns({v})", v=value)
            return self._microseconds(value)
        if self.sql_type == "UHUGEINT":  # its upper half does not fit HUGEINT
            return value
        return self.position(value)

    def text(self, value: Sql) -> Sql:
        """The text of one value."""
        if self.sql_type == ZONED:
            return sql("cast({p} as varchar) || '+00'", p=self.utc_timestamp(value))
        return sql("cast({v} as varchar)", v=value)

    def bound_text(self, bound: Sql) -> Sql:
        """The text of a bound in `lo` or `hi`: a date if the bounds are whole days."""
        if self.line != "days":
            return self.text(bound)
        whole = sql(
            "{lo} = date_trunc('day', {lo}) and {hi} = {last}",
            lo=self.utc_timestamp(Sql("lo")),
            hi=Sql("hi"),
            last=self._instant(
                sql(
                    "epoch_us(date_trunc('day', {hi}) + interval '1 day')",
                    hi=self.utc_timestamp(Sql("hi")),
                ),
                early=True,
            ),
        )
        return sql(
            "case when {whole} then cast(cast({p} as date) as varchar) else {t} end",
            whole=whole,
            p=self.utc_timestamp(bound),
            t=self.text(bound),
        )

    def bound_position(self, bound: Bound) -> int | float:
        """Position of a bound from the policy (for days: microseconds).

        Raises ValueError if it has none; the message completes "the bound ...".
        """
        if self.is_time:
            return self._given_time(bound)
        if isinstance(bound, str):
            raise ValueError("is a date, but the column holds numbers")
        if self.line == "reals":
            return float(bound)
        exact = Decimal(str(bound)) * self.unit
        if exact != exact.to_integral_value():
            raise ValueError(f"has more digits than the column's type {self.sql_type}")
        if not self.least <= exact <= self.greatest:
            raise ValueError(f"lies outside of the column's type {self.sql_type}")
        return int(exact)

    def width(self, width: float) -> float:
        """Convert a width in units of the column to positions, for points possibly fractional."""
        return float(Fraction(str(width)) * self.unit)

    def literal(self, bound: Bound) -> Sql:
        """A bound from the policy as a value of the column's type."""
        at = self.bound_position(bound)
        if self.line == "days":
            return self._instant(lit(int(at)), early=False)
        return self._typed(lit(at))

    def ends(self) -> tuple[Sql, Sql]:
        """Bounds that no value is expected to exceed; they do not depend on the data.

        The ends of a number type; the years 1 to 9999 for dates and times.
        """
        if self.is_time:
            first, last = lit("0001-01-01 00:00:00"), lit("9999-12-31 23:59:59")
            days = (lit("0001-01-01"), lit("9999-12-31"))
            low, high = days if self.sql_type == "DATE" else (first, last)
            zone = sql(" || '+00'") if self.sql_type == ZONED else Sql("")
            return tuple(  # type: ignore[return-value]
                sql("cast({v}{z} as {t})", v=v, z=zone, t=Sql(self.sql_type)) for v in (low, high)
            )
        if self.line == "reals":
            most = "1.7976931348623157e308" if self.sql_type == "DOUBLE" else "3.4028234e38"
            kind = Sql(self.sql_type)
            return (
                sql("cast({v} as {t})", v=lit(f"-{most}"), t=kind),
                sql("cast({v} as {t})", v=lit(most), t=kind),
            )
        return self._typed(lit(self.least)), self._typed(lit(self.greatest))

    def _given_time(self, bound: Bound) -> int:
        if not isinstance(bound, str):
            raise ValueError("is a number, but the column holds dates")
        moment = dt.datetime.fromisoformat(bound)
        if moment.tzinfo is not None:
            moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
        since = moment - EPOCH
        if self.line == "days":
            return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        if since.seconds or since.microseconds:
            raise ValueError("has a time of day, but the column holds dates")
        return since.days

    def _typed(self, position: Sql) -> Sql:
        target = Sql(self.sql_type)
        if self.line == "reals":
            return sql("cast({p} as {t})", p=position, t=target)
        if self.sql_type == "DATE":
            return sql("DATE '1970-01-01' + cast({p} as integer)", p=position)
        inside = sql(
            "least(greatest({p}, {least}), {greatest})",
            p=position,
            least=_hugeint(self.least),
            greatest=_hugeint(self.greatest),
        )
        if self.unit == 1:
            return sql("cast({p} as {t})", p=inside, t=target)
        digits = len(str(self.unit)) - 1
        return sql(
            "cast(case when {p} < 0 then '-' else '' end"
            " || regexp_replace(lpad(cast(abs({p}) as varchar), 40, '0'), '(.{{{n}}})$', '.\\1')"
            " as {t})",
            p=inside,
            n=Sql(str(digits)),
            t=target,
        )

    def _instant(self, microseconds: Sql, *, early: bool) -> Sql:
        """Convert microseconds since 1970 in UTC to a value; `early`: the largest value below."""
        at = sql("cast({m} as bigint)", m=microseconds)
        if self.sql_type == "TIMESTAMP_NS":
            less = Sql(" - 1" if early else "")
            return sql("make_timestamp_ns({at} * 1000{less})", at=at, less=less)
        if early:
            at = sql("{at} - {tick}", at=at, tick=lit(TICKS.get(self.sql_type, 1)))
        if self.sql_type == ZONED:
            return sql("make_timestamptz({at})", at=at)
        if self.sql_type == "TIMESTAMP":
            return sql("make_timestamp({at})", at=at)
        return sql("cast(make_timestamp({at}) as {t})", at=at, t=Sql(self.sql_type))


def _hugeint(number: int) -> Sql:
    return sql("cast({n} as hugeint)", n=lit(str(number)))


# The line of an SQL type, if its values have distances.


INTEGER = re.compile(r"(U?)(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)\Z")
DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)\Z")
TIMESTAMP = re.compile(r"TIMESTAMP(_S|_MS|_NS)?\Z")
BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 120}


def scale_of(sql_type: str) -> Scale | None:
    """The line of a type; None if its values have no distance (text, boolean, uuid)."""
    if found := INTEGER.match(sql_type):
        bits = BITS[found[2]]
        if found[1]:
            return Scale(sql_type, "points", least=0, greatest=2**bits - 1)
        return Scale(sql_type, "points", least=-(2 ** (bits - 1)), greatest=2 ** (bits - 1) - 1)
    if found := DECIMAL.match(sql_type):
        end = 10 ** int(found[1]) - 1
        return Scale(sql_type, "points", unit=10 ** int(found[2]), least=-end, greatest=end)
    if sql_type in {"FLOAT", "DOUBLE"}:
        return Scale(sql_type, "reals")
    if sql_type == "DATE":
        return Scale(sql_type, "points")
    if sql_type == ZONED or TIMESTAMP.match(sql_type):
        return Scale(sql_type, "days")
    return None


# The context of building a hierarchy: number, type and policy path of the quasi-identifier.


FOLDER = "hierarchy"


@dataclass(frozen=True, slots=True)
class Place:
    """One quasi-identifier whose hierarchy is built."""

    index: int
    column: str
    sql_type: str

    @property
    def path(self) -> str:
        """The path of its hierarchy in the policy."""
        return column_path(self.column, "hierarchy")

    @property
    def values(self) -> Table:
        return self.table("values")

    @property
    def hierarchy(self) -> Table:
        return self.table("hierarchy")

    @property
    def scale(self) -> Scale | None:
        """The line on which its values lie; None for types whose values have no distances."""
        return scale_of(self.sql_type)

    def table(self, name: str) -> Table:
        """A work table of this hierarchy."""
        return work(f"{name}_{self.index}")

    def step(self, template: str, **parameters: object) -> Step:
        return Step(f"hierarchy_{self.index}.{template}", f"{FOLDER}/{template}", parameters)

    def guard(
        self,
        template: str,
        parameters: Mapping[str, object],
        explain: Callable[[tuple[Any, ...]], Problem],
    ) -> Guard:
        return Guard(self.step(template, **parameters), explain, InfeasibleError)

    def refuse_values(self, condition: Sql, what: str, hint: str) -> Guard:
        """Stop if values satisfy `condition`; `what` completes "N distinct values (M rows)"."""

        def explain(row: tuple[Any, ...]) -> Problem:
            return Problem(self.path, f"{counts_text(row[0], row[1])} {what}", hint=hint)

        return self.guard("guard_values", {"values": self.values, "condition": condition}, explain)


def counts_text(values: int, rows: int) -> str:
    """Counts as text: `1 distinct value (12 rows)`."""
    return f"{many(values, 'distinct value')} ({many(rows, 'row')})"
