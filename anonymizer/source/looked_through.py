"""The columns that are looked through before they are published, and what identifiers they hold.

Identifier columns are not in the snapshot. In their place it has, for every row, whether a
published column holds the identifier of that row, and the words of identifiers that have letters.
"""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import Sql, ident, join, lit
from anonymizer.policy import Policy
from anonymizer.source import column_names
from anonymizer.source.masking.masks import UNTOLD
from anonymizer.source.profile import TableProfile, kind_of, read_as_text
from anonymizer.source.roles import Roles

WHOLE = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT")
"""Types that hold numbers of cards and persons."""
SMALLER = ("INTEGER", "UINTEGER")
"""Whole numbers of five digits and more."""
APART = "[^0-9a-zß-힣]+"
"""What stands between words, in small letters."""
LONG_ENOUGH = "^ (.{5,}|[^0-9].{3}|.[^0-9].{2}|.{2}[^0-9].|.{3}[^0-9]) $"
"""Shorter texts and numbers are found in other texts by chance."""
LETTERS = "[A-Za-zß-힣]"
LEAST = 10_000
"""The same of whole numbers."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A column that is published and looked through."""

    place: int
    name: str
    cell: Sql
    named: bool
    """Whether its name says who somebody is, and nobody has acknowledged that."""
    free: bool
    """Whether it must not hold values of identifier columns."""

    @property
    def own(self) -> Sql:
        """Whether it holds an identifier of its row, in the snapshot."""
        return Sql(f"held_{self.place}")


def looked_through(policy: Policy, roles: Roles) -> list[Looked]:
    """Texts and large numbers, and columns of either with a name that says who somebody is."""
    found: list[Looked] = []
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
            and column_names.says_who(column)
        )
        if named or is_text(sql_type) or sql_type in WHOLE:
            # (a redacted text was searched for them when it was masked)
            free = given.role != "redact" and "identifier_value" not in given.acknowledge
            found.append(Looked(len(found), column, cell, named, free))
    return found


def is_text(sql_type: str) -> bool:
    """Whether values of a type are texts."""
    return read_as_text(sql_type)


def identifiers(policy: Policy, profile: TableProfile) -> tuple[list[str], list[str]]:
    """The identifier columns that are texts, and those that are whole numbers; keys among them."""
    named = [
        name
        for name, column in policy.columns.items()
        if column.role in ("identifier", "token")
        or (column.role == "drop" and name in (policy.key, policy.person))
    ]
    types = {name: profile.type_of(name) for name in named}
    texts = [name for name in named if is_text(types[name]) or types[name] == "UUID"]
    return texts, [name for name in named if types[name] in (*WHOLE, *SMALLER)]


def identifier_columns(
    policy: Policy, profile: TableProfile, roles: Roles, *, of_several: bool = False
) -> list[tuple[Sql, Sql]]:
    """What the snapshot has in place of identifier columns.

    `of_several`: other tables are published with this one, and may hold its identifiers.
    """
    searched = of_several or any(column.free for column in looked_through(policy, roles))
    return [*(named(policy, profile) if searched else ()), *in_row(policy, profile, roles)]


def named(policy: Policy, profile: TableProfile) -> list[tuple[Sql, Sql]]:
    """Columns of the snapshot with the words of identifiers that have letters."""
    texts, _ = identifiers(policy, profile)
    return [(_rare(words(text_of(name))), Sql(f"v{j}")) for j, name in enumerate(texts)]


def in_row(policy: Policy, profile: TableProfile, roles: Roles) -> list[tuple[Sql, Sql]]:
    """Columns of the snapshot that say whether a published one holds an identifier of the row."""
    texts, numbers = identifiers(policy, profile)
    if not texts and not numbers:
        return []
    found = []
    for column in looked_through(policy, roles):
        if column.free:
            value = text_of(column.name)
            held = [_holds(value, text_of(name)) for name in texts]
            held += [_holds_number(value, ident(name)) for name in numbers]
            found.append((Sql(f"({join(held, ' or ').text})"), column.own))
    return found


def text_of(column: str) -> Sql:
    """A column of the source as text."""
    return Sql(f"cast({ident(column)} as varchar)")


def words(text: Sql) -> Sql:
    """The words of a text in small letters, with one space before, between and after them."""
    return Sql(f"regexp_replace(concat(' ', lower({text}), ' '), {lit(APART)}, ' ', 'g')")


def _holds(value: Sql, identifier: Sql) -> Sql:
    held = words(identifier)
    # most texts are done with the first, which is cheap
    return Sql(
        f"case when strpos(lower({value}), lower({identifier})) > 0"
        f" then strpos({words(value)}, {held}) > 0 and regexp_matches({held}, {lit(LONG_ENOUGH)})"
        " else false end"
    )


def _holds_number(value: Sql, identifier: Sql) -> Sql:
    text = f"cast({identifier} as varchar)"
    return Sql(
        f"case when {identifier} >= {lit(LEAST)} and strpos({value}, {text}) > 0"
        f" then strpos({words(value)}, concat(' ', {text}, ' ')) > 0 else false end"
    )


def _rare(held: Sql) -> Sql:
    """The words of an identifier that has letters and is not too short."""
    return Sql(
        f"case when regexp_matches({held}, {lit(LONG_ENOUGH)})"
        f" and regexp_matches({held}, '[^0-9 ]') then trim({held}) end"
    )
