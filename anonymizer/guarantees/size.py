"""k-anonymity: every class holds at least k rows, or persons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.layout import Ask
from anonymizer.guarantees.guarantee import Example, Flag, Guarantee
from anonymizer.guarantees.rule import Basis, Rule


@dataclass(frozen=True, slots=True)
class KAnonymity(Rule):
    """At least `k` units in the group."""

    name: ClassVar[str] = "k_anonymity"
    basis: ClassVar[Basis] = "classes"

    k: int

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.k)}")

    def achieved(self) -> Sql:
        return Sql("cast(coalesce(sum(n), 0) as bigint)")


def sizes(words: str, *, persons: bool = False) -> tuple[Ask, ...]:
    """The questions about the units of every class, and of every published tuple."""
    ask = Ask("k_anonymity", words, of="units", given=("k",), worst="least", persons=persons)
    tuples = f"{words} of equal published cells"
    return (
        ask,
        replace(
            ask, template="k_anonymity_tuples", words=tuples, of="tuples", name="{name}_tuples"
        ),
    )


K_ANONYMITY = Guarantee(
    name="k_anonymity",
    field="privacy.k_anonymity",
    family="size",
    of_values=False,
    asks=sizes("k-anonymity"),
    rules=lambda given: [KAnonymity(None, given.value)],
    k=int,
    says="Everybody is in a class of at least {k} {unit} that look the same in all columns that"
    " others may know.",
    flags=(
        Flag("k", aliases=("k_anonymity",)),
        Flag("person_k", persons=True),
        Flag("uniques", at_most=True),
        Flag("unique_persons", at_most=True, persons=True),
    ),
    docs=(
        "k-anonymity (Samarati, Sweeney 1998) | `k_anonymity: 5` | `k=5` | units ≥ k"
        " | units, more is safer",
    ),
    examples=(Example(2, holds="aa abb", fails="ab b"),),
)
