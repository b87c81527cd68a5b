"""Columns whose values identify persons, and such values in free text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from anonymizer.compile import Sql, Table, ident, lit, sql, work
from anonymizer.policy import Policy
from anonymizer.source.identifiers import (
    BETWEEN,
    IDEOGRAPHS,
    LETTERS,
    fold_case,
    separate_ideographs,
)
from anonymizer.source.masking.masks import DATES, NUMBERS, IdentifierColumn, Mask, family_of
from anonymizer.source.profile import TableProfile
from anonymizer.steps import Step

# Columns whose values identify persons, and how such values are written in texts.
#
# Shared by everything that searches for such values: their replacement in text, its verification,
# and the refusal of columns that contain them.


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
        and (policy.columns[name].role in ROLES or name in policy.owners)
        and SHORT.match(sql_type) is None
    ]


def value_text(value: Sql, sql_type: str) -> Sql:
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


# Values of identifying columns, found in free text.
#
# No pattern can detect names, but the policy knows some: the values of its identifying columns.
# Texts are compared by words, ignoring case.


MOST_WORDS = 20
"""Most words of a value that is searched for."""
VALUES = work("identifier_values")
APART = f"[^{LETTERS}{IDEOGRAPHS}]+"
"""Separators between words."""
VALUES_SHORT = f"^([^{IDEOGRAPHS}]*[{IDEOGRAPHS}]?[^{IDEOGRAPHS}]*)$"
"""Matches texts with fewer than two ideographs; two are a name in some languages."""


def named_by(policy: Policy, profile: TableProfile) -> tuple[IdentifierColumn, ...]:
    """The columns of a table whose values are searched for in texts."""
    return tuple(
        IdentifierColumn(name, Sql(f"i{number}"), profile.type_of(name))
        for number, name in enumerate(identifying(policy, profile), 1)
    )


def identifier_columns(named: Sequence[IdentifierColumn]) -> Iterator[tuple[Sql, Sql]]:
    """Their expressions in the source and names in the snapshot."""
    for one in named:
        if one.table is None:
            yield value_text(ident(one.column), one.sql_type), one.physical


def read_with(masks: Sequence[Mask]) -> tuple[IdentifierColumn, ...]:
    """The columns that are read with the rows, because some text is redacted."""
    return next((mask.values for mask in masks if mask.values), ())


def named_before(
    policy: Policy, profile: TableProfile, table: Table
) -> tuple[IdentifierColumn, ...]:
    """The columns of a table that was read, for texts of the tables that link to it."""
    return tuple(replace(one, table=table) for one in named_by(policy, profile))


def found_table(mask: Mask) -> Table:
    """Work table of the texts that contain such values."""
    return work(f"found_{mask.original}")


def found_alias(mask: Mask) -> Sql:
    """Its alias in the masking statement."""
    return Sql(f"found_{mask.original}")


@dataclass(frozen=True, slots=True)
class _FoundPatterns:
    """The patterns of one column's values that a text contains, longest values first."""

    number: int
    outer: Sql
    """For values that are not part of another one in the text."""
    every: Sql


def values_steps(masks: Sequence[Mask], raw: Table) -> tuple[Step, ...]:
    """The steps that search every redacted text for such values."""
    if not masks:
        return ()
    named = masks[0].values
    shared = {"values": VALUES, "most": MOST_WORDS, "apart": APART}
    listed = {
        **shared,
        "columns": [
            (number, one.table or raw, Sql(fold_case(_words_of(form).text)))
            for number, one in enumerate(named, 1)
            for form in forms(one.physical, one.sql_type)
        ],
        "sources": [*dict.fromkeys(one.table or raw for one in named)],
        "short": VALUES_SHORT,
    }
    steps = [Step("identifying values", "masking/identifier_values", listed)]
    for mask in masks:
        columns = [
            _FoundPatterns(number, Sql(f"outer_{number}"), Sql(f"every_{number}"))
            for number in range(1, len(named) + 1)
        ]
        context = {
            **shared,
            "raw": raw,
            "found": found_table(mask),
            "text": mask.physical,
            "usual": _words_of(Sql("text")),
            "same": Sql(fold_case("r.words")),
            "same_first": Sql(fold_case("p.words")),
            "columns": columns,
            "clean": _clean(named, columns),
        }
        name = f"identifying values in {mask.column}"
        steps.append(Step(name, "masking/found_values", context))
    return tuple(steps)


def _words_of(value: Sql) -> Sql:
    return Sql(f"({separate_ideographs(value.text)})")


def without_values(mask: Mask, value: Sql) -> Sql:
    """The text with every such value replaced by the name of its column in brackets."""
    return sql("coalesce({a}.clean, {v})", a=found_alias(mask), v=value) if mask.values else value


def _clean(named: Sequence[IdentifierColumn], columns: Sequence[_FoundPatterns]) -> Sql:
    made = Sql("p.usual")
    # outer values first: of `Ada Lovelace`, `Lovelace` would remain if Ada is another name
    patterns = [(one.outer, of) for one, of in zip(columns, named, strict=True)]
    patterns += [(one.every, of) for one, of in zip(columns, named, strict=True)]
    for pattern, of in patterns:
        # twice, since a separator between two values belongs to one match only
        for _ in range(2):
            made = sql(
                "regexp_replace({v}, concat({before}, {p}, {after}), {tag}, 'g')",
                v=made,
                p=Sql(f"p.{pattern}"),
                before=lit(f"(^|[^{LETTERS}{IDEOGRAPHS}])("),
                after=lit(f")($|[^{LETTERS}{IDEOGRAPHS}])"),
                tag=lit(rf"\1[{_tag(of.column)}]\3"),
            )
    return sql("replace({v}, {b}, '')", v=made, b=lit(BETWEEN))


def _tag(name: str) -> str:
    """The name of a column as a tag, without characters that are special in a replacement."""
    return name.replace("\\", "/")
