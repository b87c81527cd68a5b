"""Columns whose values identify persons, and how such values are written in texts.

Shared by everything that searches for such values: their replacement in text, its verification, and
the refusal of columns that contain them.
"""

from __future__ import annotations

import re

from anonymizer.compile import Sql, lit
from anonymizer.policy import Policy
from anonymizer.source.masking.masks import DATES, NUMBERS, family_of
from anonymizer.source.profile import TableProfile

ROLES = ("identifier", "token")
"""Roles whose values identify persons; the key and person columns do so in any role."""
SHORT = re.compile(r"(BOOLEAN|U?TINYINT)\Z")
"""Types whose values occur in any text."""
LEAST = 10_000
"""Smaller numbers may occur in any text."""
NAME = "^[^0-9]*[^0-9 ,][ ,]+[^0-9 ,][^0-9]*$"
"""Several words without a digit, as in a name."""
LAST_FIRST = "^([^,]*),([^,]*)[^0-9]*$"
FIRST_LAST = "^([^0-9]*[^ ]) +([^ ]+) *$"
TURNED = r"\2 \1"
"""Moves the part after the comma, or the last word, to the front."""


def identifying(policy: Policy, profile: TableProfile) -> list[str]:
    """The columns of a table whose values identify persons."""
    return [
        name
        for name, sql_type in profile.columns
        if name in policy.columns
        and (policy.columns[name].role in ROLES or name in (policy.key, policy.person))
        and SHORT.match(sql_type) is None
    ]


def is_numeric(sql_type: str) -> bool:
    """Whether such values are numbers; short ones are ignored."""
    return family_of(sql_type) in NUMBERS


def written(value: Sql, sql_type: str) -> Sql:
    """A value as written in a text; NULL for a number with few digits.

    Whole numbers have no decimals there, and days no time.
    """
    text = f'cast({value} as varchar) collate "binary"'
    match family_of(sql_type):
        case "whole" | "decimal":
            return _long(value, f"regexp_replace({text}, '^-|[.]0*$', '', 'g')")
        case "double":
            number = f"abs(cast({value} as double))"
            whole = f"case when {number} < 9e18 and {number} = floor({number})"
            whole += f" then cast(cast({number} as bigint) as varchar)"
            return _long(value, f"{whole} else regexp_replace({text}, '^-', '') end")
        case "timestamp":
            return Sql(f"regexp_replace({text}, ' 00:00:00$', '')")
        case "zoned":
            text = f"cast(timezone('UTC', {value}) as varchar)"
            return Sql(f"regexp_replace({text}, ' 00:00:00$', '')")
    return Sql(f"trim({text}, '\"')") if sql_type == "JSON" else Sql(text)


def forms(text: Sql, sql_type: str) -> list[Sql]:
    """A value as written, and for a name of several words also the other order of its parts.

    Tables have `Doe, Jane` where texts have `Jane Doe`, and vice versa.
    """
    if family_of(sql_type) in (*NUMBERS, *DATES):
        return [text]
    turned = (
        f"case when regexp_matches({text}, {lit(NAME)}) then"
        f" case when strpos({text}, ',') > 0"
        f" then regexp_replace({text}, {lit(LAST_FIRST)}, {lit(TURNED)})"
        f" else regexp_replace({text}, {lit(FIRST_LAST)}, {lit(TURNED)}) end end"
    )
    return [text, Sql(turned)]


def _long(value: Sql, text: str) -> Sql:
    size = f"abs(cast({value} as double))"
    return Sql(f"case when {size} >= {lit(LEAST)} and {size} <= 1e300 then {text} end")
