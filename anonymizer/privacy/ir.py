"""Identity-reserved models (IR), for tables in which a person has several rows.

IR k-anonymity        n_E >= k
IR (k,l)-anonymity    n_E >= k and m_E >= l
IR (α,β)-anonymity    |R(p)|/|E| <= α for every person p, |R(s)|/|E| <= β for every value s

where n_E are the persons of the class, m_E its different values, R(p) and R(s) the records of a
person and of a value, E the records of the class. If (person, value) pairs are repeated, both
shares must hold twice: on the records as published, and with every pair counted once. Units:
persons, values, shares. Source: Tong, Tao, Tang, Yang, "Identity-reserved anonymity in privacy
preserving data publishing" (2010), as stated by Wang et al. (2018), definition 2.3.

NULL: persons without a value count for k and for α; m, and β's records, are those with a value; a
class without any does not hold. Exact (whole numbers).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.ask import Ask
from anonymizer.privacy.exact import at_most, big, fewest, share, share_of_known
from anonymizer.privacy.guarantee import Example, Flag, Given, Guarantee
from anonymizer.privacy.k_anonymity import sizes
from anonymizer.privacy.rule import Basis, Layers, Rule, layer, window

RECORDS = "sum(n)"


def within(most: str, bound: Fraction, among: str) -> str:
    """SQL condition on aggregates: `most` is at most the share `bound` of `among`. Exact."""
    return f"{big(most)} * {lit(bound.denominator)} <= {big(among)} * {lit(bound.numerator)}"


@dataclass(frozen=True, slots=True)
class IrK(Rule):
    """At least `k` different persons."""

    name: ClassVar[str] = "ir_k"
    basis: ClassVar[Basis] = "pairs"

    k: int

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.k)}")

    def achieved(self) -> Sql:
        return Sql("count(distinct person)")


@dataclass(frozen=True, slots=True)
class IrL(Rule):
    """At least `l` different values, the l of IR (k,l)-anonymity."""

    name: ClassVar[str] = "ir_l"
    basis: ClassVar[Basis] = "pairs"

    l: int

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.l)}")

    def achieved(self) -> Sql:
        return Sql(f"count(distinct value) filter (where {self.counts})")


@dataclass(frozen=True, slots=True)
class PersonShare(Rule):
    """No person with more than a share `alpha` of the records: the α of IR and of EIR."""

    name: ClassVar[str] = "ir_alpha"
    basis: ClassVar[Basis] = "pairs"

    alpha: float

    def layers(self, part: Sql) -> Layers:
        of_person = window(part, "person")
        return (
            layer(
                person_pairs=f"count(*) {of_person}",
                person_records=f"cast(sum(n) {of_person} as bigint)",
            ),
        )

    def holds(self) -> Sql:
        alpha = at_most(self.alpha)
        pairs = within("coalesce(max(person_pairs), 0)", alpha, "count(*)")
        records = within("coalesce(max(person_records), 0)", alpha, "coalesce(sum(n), 0)")
        return Sql(f"({pairs} and {records})")

    def achieved(self) -> Sql:
        pairs, records = (
            share("max(person_pairs)", "count(*)"),
            share("max(person_records)", RECORDS),
        )
        return Sql(f"greatest({pairs}, {records})")


@dataclass(frozen=True, slots=True)
class ValueShare(Rule):
    """No value with more than a share `beta` of the records: the β of IR."""

    name: ClassVar[str] = "ir_beta"
    basis: ClassVar[Basis] = "pairs"

    beta: float

    def layers(self, part: Sql) -> Layers:
        of_value = window(part, "value")
        return (
            layer(
                # pairs are different, so the pairs of a value are its persons
                value_persons=f"count(*) {of_value}",
                value_records=f"cast(sum(n) {of_value} as bigint)",
            ),
        )

    def holds(self) -> Sql:
        beta = at_most(self.beta)
        pairs = within(self._most("value_persons"), beta, f"count(*) filter (where {self.counts})")
        records = within(self._most("value_records"), beta, self._records)
        return Sql(f"({self._records} > 0 and {pairs} and {records})")

    def achieved(self) -> Sql:
        known = f"count(*) filter (where {self.counts})"
        pairs = share_of_known(self._most("value_persons"), known)
        records = share_of_known(self._most("value_records"), self._records)
        return Sql(f"greatest({pairs}, {records})")

    def _most(self, column: str) -> str:
        return f"coalesce(max({column}) filter (where {self.counts}), 0)"

    @property
    def _records(self) -> str:
        return f"coalesce(sum(n) filter (where {self.counts}), 0)"


SHARES = Ask(
    "ir_alpha_beta",
    "identity-reserved (alpha,beta)",
    upper={"alpha": "alpha", "beta": "beta"},
    worst={"alpha": "greatest", "beta": "greatest"},
    persons=True,
)
"""The person and value shares of IR and of EIR."""


def _rules_kl(given: Given) -> list[Rule]:
    if given.column is None:
        return [IrK(None, given.value.k)]
    return [IrL(given.column, given.value.l, null_as_value=given.null_as_value)]


def _rules_shares(given: Given) -> list[Rule]:
    share = ValueShare(given.column, given.value.beta, null_as_value=given.null_as_value)
    return [PersonShare(given.column, given.value.alpha), share] if given.column else []


GUARANTEES = (
    Guarantee(
        name="ir_k",
        field="privacy.ir_k",
        family="persons",
        of_values=False,
        asks=sizes("identity-reserved k", persons=True),
        rules=lambda given: [IrK(None, given.value)],
        k=int,
        says="Every class has at least {k} different persons.",
        flags=(Flag("ir_k", persons=True),),
        docs=(
            "identity-reserved k (Tong et al. 2010) | `ir_k: 3` | `ir_k=3` | persons ≥ k"
            " | persons, more",
        ),
        examples=(Example(2, holds="1a2a 3a4b4c", fails="1a2a 3a3b"),),
    ),
    Guarantee(
        name="ir_kl",
        field="privacy.ir_kl",
        family="persons",
        asks=(
            Ask(
                "ir_kl",
                "identity-reserved (k,l)",
                given=("k", "l"),
                worst={"k": "least", "l": "least"},
                persons=True,
            ),
        ),
        rules=_rules_kl,
        k=lambda value: int(value.k),
        enhanced=("eir_l", ("l",)),
        says="Every class has at least {k} persons and {l} values of {column}.",
        flags=(Flag("ir_kl", ("k", "l"), persons=True),),
        docs=(
            "identity-reserved (k,l) (same) | `ir_kl: {k: 3, l: 2}` | `ir_kl=3/2`"
            " | persons ≥ k, values ≥ l | persons, values, more",
        ),
        examples=(Example({"k": 2, "l": 2}, holds="1a2b 3a4a4c", fails="1a2b 3a4a"),),
    ),
    Guarantee(
        name="ir_alpha_beta",
        field="privacy.ir_alpha_beta",
        family="persons",
        asks=(SHARES,),
        rules=_rules_shares,
        implied=lambda value: fewest(value.alpha),
        enhanced=("eir_alpha_beta", ("alpha", "beta")),
        says="No person has more than the share {alpha} of a class's records, no value of {column}"
        " more than {beta}.",
        flags=(Flag("ir_alpha_beta", ("alpha", "beta"), persons=True),),
        docs=(
            "identity-reserved (alpha,beta) (same) | `ir_alpha_beta: {alpha: 0.5, beta: 0.5}`"
            " | `ir_alpha_beta=0.5/0.5` | of the records no person has more than alpha, no value"
            " more than beta | shares, less",
        ),
        examples=(Example({"alpha": 0.5, "beta": 0.5}, holds="1a2b 3a4b5c", fails="1a2b 3a3b4a"),),
    ),
)
