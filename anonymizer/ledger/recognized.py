"""How persons are recognized from release to release: by which column, and which kind of values.

Digests are made of texts. A number has the same text whatever its type, because types change
unnoticed (a column with a NULL is read from a file as doubles); other changes are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import Sql, ident
from anonymizer.policy import Policy
from anonymizer.policy.paths import name_text
from anonymizer.source.child import family
from anonymizer.source.profile import TableProfile


@dataclass(frozen=True, slots=True)
class Recognized:
    """How the persons of a release are recognized."""

    column: str
    """The person or key column; empty if the row's content identifies the person."""
    kind: str
    """The kind of its values; without such a column, the columns of the row."""

    @classmethod
    def of(cls, policy: Policy, profile: TableProfile) -> Recognized:
        column = policy.person or policy.key
        if column is not None:
            return cls(column, kind(profile.type_of(column)))
        listed = sorted(f"{name_text(name)}: {kind(held)}" for name, held in profile.columns)
        return cls("", ", ".join(listed))


def same_text(text: str, sql_type: str) -> Sql:
    """The text of a value; that of a number does not depend on its type: 7 for 7.0 and 7.00."""
    if kind(sql_type) != NUMBER or sql_type.removeprefix("U") in WHOLE:
        return Sql(text)
    number = f"cast({text} as double)"
    return Sql(
        # (a large number is written as 1e+17)
        f"case when strpos({text}, 'e') > 0 then"
        f" case when abs({number}) < {BIGINTS} and {number} = floor({number})"
        f" then cast(cast({number} as bigint) as varchar) else {text} end"
        f" when strpos({text}, '.') > 0 then rtrim(rtrim({text}, '0'), '.') else {text} end"
    )


def person_text(column: str, sql_type: str) -> Sql:
    """The text of a snapshot column that identifies a row's person."""
    name = ident(column).text
    if sql_type in ("FLOAT", "DOUBLE"):
        name = f"cast(case when {name} = 0 then 0 else {name} end as double)"
    return same_text(f"cast({name} as varchar)", sql_type)


NUMBER = "a number"
BIGINTS = "9e18"
"""Numbers below it fit into BIGINT."""
WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"})


def kind(sql_type: str) -> str:
    """The kind of a type; within a kind, equal values have equal texts."""
    if sql_type in ("FLOAT", "DOUBLE") or sql_type.startswith("DECIMAL"):
        return NUMBER
    found = family(sql_type)
    return NUMBER if found == "a whole number" else found
