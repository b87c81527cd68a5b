"""The columns that are searched for identifiers before they are published."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from anonymizer.compile import Sql, ident, join, lit
from anonymizer.policy import Policy
from anonymizer.source import column_names
from anonymizer.source.column_names import names_people
from anonymizer.source.identifiers import IDEOGRAPHS
from anonymizer.source.masking import masks
from anonymizer.source.masking.masks import UNTOLD, family_of
from anonymizer.source.masking.values import LEAST, forms, identifying, value_text
from anonymizer.source.profile import TableProfile, kind_of
from anonymizer.source.roles import Roles

PLAIN = re.compile(r"BOOLEAN|U?(TINY|SMALL)INT|DATE|TIME|TIMESTAMP|INTERVAL|BIT\b")
"""Types whose values are too short for an identifier, or never one."""
NUMBERS = re.compile(r"U?(INTEGER|BIGINT|HUGEINT)\Z|DECIMAL|DOUBLE|FLOAT")
"""Types of card and person numbers; for the last three, of whole values only."""
WHOLE = re.compile(r"U?(INTEGER|BIGINT|HUGEINT)\Z")
LONG = 100_000_000
"""The smallest number with as many digits as a person or card number."""
APART = "[^0-9a-zß-힣]+"
"""Separators between words, in lower case."""
LONG_ENOUGH = (
    "^ (.{5,}|[^0-9].{3}|.[^0-9].{2}|.{2}[^0-9].|.{3}[^0-9]"
    f"|[{IDEOGRAPHS}] [{IDEOGRAPHS}]) $"
)
"""Shorter texts and numbers occur in other texts by chance."""
LETTERS = "[A-Za-zß-힣]"


@dataclass(frozen=True, slots=True)
class ScannedColumn:
    """A column that is published and searched."""

    place: int
    name: str
    cell: Sql
    sql_type: str
    named: bool
    """True if its name indicates an identifier, without an acknowledgement."""
    free: bool
    """True if it must not contain values of identifying columns."""
    redacted: bool = False
    """True if it is a redacted text, which is searched like any other."""
    beside: tuple[Sql, ...] = ()
    """For a redacted text, the snapshot columns with the values that its row must not contain."""

    @property
    def text(self) -> Sql:
        """The searched text, or the whole numbers of many digits as text."""
        return scanned_text(self.cell, self.sql_type)

    @property
    def own(self) -> Sql:
        """True if the cell contains an identifier of its own row, in the snapshot."""
        if self.redacted:
            held = [_holds(self.text, value) for value in self.beside]
            return join(held, " or ") if held else Sql("false")
        return Sql(f"held_{self.place}")


def scanned_columns(policy: Policy, roles: Roles) -> list[ScannedColumn]:
    """Texts and large numbers, and text or number columns that are named like identifiers."""
    found: list[ScannedColumn] = []
    masks = {mask.column: mask.values for mask in roles.masks}
    for column, cell, sql_type in (
        *((k.column, k.k, k.sql_type) for k in roles.kept if k.mask not in UNTOLD),
        *((s.column, s.s, s.sql_type) for s in roles.sensitive),
        *((a.column, a.q, a.sql_type) for a in roles.quasi),
    ):
        given = policy.columns[column]
        named = (
            given.role in ("keep", "sensitive")
            and "name" not in given.acknowledge
            and kind_of(sql_type) in ("categorical", "numeric")
            and (
                column_names.names_identifier(column)
                or (kind_of(sql_type) == "categorical" and names_people(column))
            )
        )
        if named or may_hold(sql_type):
            free = "identifier_value" not in given.acknowledge
            sought = tuple(
                form
                for n in masks.get(column, ())
                if n.table is None
                for form in forms(n.physical, n.sql_type)
            )
            looked = ScannedColumn(len(found), column, cell, sql_type, named, free)
            if given.role == "redact":
                looked = replace(looked, redacted=True, beside=sought)
            found.append(looked)
    return found


def may_hold(sql_type: str) -> bool:
    """Return whether values of a type may be or contain identifiers: all but the shortest."""
    return PLAIN.match(sql_type) is None


def is_number(sql_type: str) -> bool:
    """Return whether values of a type may be person or card numbers."""
    return NUMBERS.match(sql_type) is not None


def scanned_text(value: Sql, sql_type: str) -> Sql:
    """The text of a value that is searched for identifiers."""
    if not is_number(sql_type):
        return Sql(f"cast({value} as varchar)")
    if WHOLE.match(sql_type) is not None:
        return Sql(f"case when {value} >= {LONG} then cast({value} as varchar) end")
    return Sql(f"cast({_exact(value, LONG)} as varchar)")


def _exact(value: Sql, least: int) -> str:
    """A number of any type if it is whole and at least `least`, else NULL."""
    number = f"cast({value} as double)"
    whole = f"{number} between {least} and 9e18 and {number} = floor({number})"
    return f"case when {whole} then cast({value} as bigint) end"


def identifiers(policy: Policy, profile: TableProfile) -> tuple[list[str], list[str]]:
    """The identifying columns that are not numbers, and those that are."""
    named = identifying(policy, profile)
    numbers = [n for n in named if family_of(profile.type_of(n)) in masks.NUMBERS]
    return [name for name in named if name not in numbers], numbers


def identifier_columns(
    policy: Policy, profile: TableProfile, roles: Roles, *, of_several: bool = False
) -> list[tuple[Sql, Sql]]:
    """The snapshot columns that replace identifier columns.

    `of_several`: other tables are published with this one, and may contain its identifiers.
    """
    searched = of_several or any(column.free for column in scanned_columns(policy, roles))
    return [
        *(lettered_identifiers(policy, profile) if searched else ()),
        *in_row(policy, profile, roles),
    ]


def lettered_identifiers(policy: Policy, profile: TableProfile) -> list[tuple[Sql, Sql]]:
    """Snapshot columns with the words of identifiers with letters."""
    return [
        (_rare(words(form)), column)
        for column, form in zip(
            named_columns(policy, profile), _named_forms(policy, profile), strict=True
        )
    ]


def named_columns(policy: Policy, profile: TableProfile) -> list[Sql]:
    """The names of these columns."""
    return [Sql(f"v{j}") for j, _ in enumerate(_named_forms(policy, profile))]


def _named_forms(policy: Policy, profile: TableProfile) -> list[Sql]:
    texts, _ = identifiers(policy, profile)
    return [form for name in texts for form in _forms_of(name, profile)]


def _forms_of(name: str, profile: TableProfile) -> list[Sql]:
    sql_type = profile.type_of(name)
    return forms(value_text(ident(name), sql_type), sql_type)


def in_row(policy: Policy, profile: TableProfile, roles: Roles) -> list[tuple[Sql, Sql]]:
    """Snapshot columns with whether a published cell contains the identifier of its row."""
    texts, numbers = identifiers(policy, profile)
    if not texts and not numbers:
        return []
    found = []
    for column in scanned_columns(policy, roles):
        if column.free and not column.redacted:
            number = is_number(profile.type_of(column.name))
            held = []
            for name in numbers if number else (*texts, *numbers):
                if number:
                    cell, other = _exact(ident(column.name), LEAST), _exact(ident(name), LEAST)
                    held.append(Sql(f"coalesce({cell} = {other}, false)"))
                    continue
                holds = _holds_number if name in numbers else _holds
                held += [holds(text_of(column.name), form) for form in _forms_of(name, profile)]
            found.append((Sql(f"({join(held, ' or ').text})" if held else "false"), column.own))
    return found


def text_of(column: str) -> Sql:
    """A column of the source as text."""
    return Sql(f'cast({ident(column)} as varchar) collate "binary"')


def words(text: Sql) -> Sql:
    """The words of a text in lower case, with one space before, between and after them."""
    apart = f"regexp_replace({_small(text)}, '([{IDEOGRAPHS}])', ' \\1 ', 'g')"
    return Sql(f"regexp_replace(concat(' ', {apart}, ' '), {lit(APART)}, ' ', 'g')")


def _small(text: Sql) -> str:
    """A text in lower case, with composed letters."""
    return f"nfc_normalize(lower({text}))"


def _holds(value: Sql, identifier: Sql) -> Sql:
    held = words(identifier)
    # the first condition is cheap and rules out most texts
    return Sql(
        f"case when strpos({_small(value)}, {_small(identifier)}) > 0"
        f" then strpos({words(value)}, {held}) > 0 and regexp_matches({held}, {lit(LONG_ENOUGH)})"
        " else false end"
    )


def _holds_number(value: Sql, number: Sql) -> Sql:
    return Sql(
        f"case when strpos({value}, {number}) > 0"
        f" then strpos({words(value)}, {words(number)}) > 0 else false end"
    )


def _rare(held: Sql) -> Sql:
    """The words of an identifier, if it has letters and is long enough."""
    return Sql(
        f"case when regexp_matches({held}, {lit(LONG_ENOUGH)})"
        f" and regexp_matches({held}, '[^0-9 ]') then trim({held}) end"
    )
