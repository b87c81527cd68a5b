"""Identity-reserved models (IR), for tables in which a person has several rows.

IR k-anonymity        n_E >= k
IR (k,l)-anonymity    n_E >= k and m_E >= l
IR (α,β)-anonymity    |R(p)|/|E| <= α for every person p, |R(s)|/|E| <= β for every value s

n_E the persons of the class, m_E its different values, R(p) and R(s) the records of a person and of
a value, E the records of the class. Where (person, value) pairs are repeated, both shares have to
hold twice: on the records as they are published, and with every pair taken once. Units: persons,
values, shares. Source: Tong, Tao, Tang, Yang, "Identity-reserved anonymity in privacy preserving
data publishing" (2010), as stated by Wang et al. (2018), definition 2.3.

NULL: persons without a value count for k and for α; m, and β's records, are those with a value.
Exact (whole numbers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from anonymizer.compile import Sql, lit
from anonymizer.privacy.exact import at_most, big, share
from anonymizer.privacy.rule import Basis, Layers, Rule, layer, window

RECORDS = "sum(n)"


def within(most: str, bound: Fraction, among: str) -> str:
    """Comparison of aggregates: `most` is at most the share `bound` of `among`. Exact."""
    return f"{big(most)} * {lit(bound.denominator)} <= {big(among)} * {lit(bound.numerator)}"


@dataclass(frozen=True, slots=True)
class IrK(Rule):
    """At least `k` different persons."""

    name: ClassVar[str] = "ir_k"
    basis: ClassVar[Basis] = "pairs"
    worst: ClassVar[Literal["min", "max"]] = "min"

    k: int

    def required(self) -> Mapping[str, object]:
        return {"k": self.k}

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.k)}")

    def achieved(self) -> Sql:
        return Sql("count(distinct person)")


@dataclass(frozen=True, slots=True)
class IrL(Rule):
    """At least `l` different values, the l of IR (k,l)-anonymity."""

    name: ClassVar[str] = "ir_l"
    basis: ClassVar[Basis] = "pairs"
    worst: ClassVar[Literal["min", "max"]] = "min"

    l: int

    def required(self) -> Mapping[str, object]:
        return {"l": self.l}

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.l)}")

    def achieved(self) -> Sql:
        return Sql(f"count(distinct value) filter (where {self.counts})")


@dataclass(frozen=True, slots=True)
class PersonShare(Rule):
    """No person with more than a share `alpha` of the records: the α of IR and of EIR."""

    name: ClassVar[str] = "ir_alpha"
    basis: ClassVar[Basis] = "pairs"
    extra: ClassVar[tuple[str, ...]] = ("n",)

    alpha: float

    def required(self) -> Mapping[str, object]:
        return {"alpha": self.alpha}

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
    extra: ClassVar[tuple[str, ...]] = ("n",)

    beta: float

    def required(self) -> Mapping[str, object]:
        return {"beta": self.beta}

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
        return Sql(f"({pairs} and {records})")

    def achieved(self) -> Sql:
        pairs = share(self._most("value_persons"), f"count(*) filter (where {self.counts})")
        records = share(self._most("value_records"), self._records)
        return Sql(f"greatest({pairs}, {records})")

    def _most(self, column: str) -> str:
        return f"coalesce(max({column}) filter (where {self.counts}), 0)"

    @property
    def _records(self) -> str:
        return f"coalesce(sum(n) filter (where {self.counts}), 0)"
