"""Identity-reserved models (IR), for tables in which a person has several rows.

IR k-anonymity        n_E >= k
IR (k,l)-anonymity    n_E >= k and m_E >= l
IR (α,β)-anonymity    |R(p)|/|E| <= α for every person p, |R(s)|/|E| <= β for every value s

n_E the persons of the class, m_E its different values, R(p) and R(s) the records of a person and of
a value, E the records of the class, repeated (person, value) pairs taken once. Units: persons,
values, shares. Source: Tong, Tao, Tang, Yang, "Identity-reserved anonymity in privacy preserving
data publishing" (2010), as stated by Wang et al. (2018), definition 2.3.

NULL: persons without a value count for k and for α; m, and β's records, are those with a value.
Exact (whole numbers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from anonymizer.compile import Sql, lit
from anonymizer.privacy.exact import at_most, big, share
from anonymizer.privacy.rule import Basis, Layers, Rule, layer, window


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

    alpha: float

    def required(self) -> Mapping[str, object]:
        return {"alpha": self.alpha}

    def layers(self, part: Sql) -> Layers:
        return (layer(person_records=f"count(*) {window(part, 'person')}"),)

    def holds(self) -> Sql:
        alpha = at_most(self.alpha)
        most = big("coalesce(max(person_records), 0)")
        return Sql(
            f"{most} * {lit(alpha.denominator)} <= {big('count(*)')} * {lit(alpha.numerator)}"
        )

    def achieved(self) -> Sql:
        return share("max(person_records)", "count(*)")


@dataclass(frozen=True, slots=True)
class ValueShare(Rule):
    """No value with more than a share `beta` of the records: the β of IR."""

    name: ClassVar[str] = "ir_beta"
    basis: ClassVar[Basis] = "pairs"

    beta: float

    def required(self) -> Mapping[str, object]:
        return {"beta": self.beta}

    def layers(self, part: Sql) -> Layers:
        # pairs are different, so the records of a value are its persons
        return (layer(value_persons=f"count(*) {window(part, 'value')}"),)

    def holds(self) -> Sql:
        beta = at_most(self.beta)
        return Sql(
            f"{big(self._most)} * {lit(beta.denominator)}"
            f" <= {big(self._among)} * {lit(beta.numerator)}"
        )

    def achieved(self) -> Sql:
        return share(self._most, self._among)

    @property
    def _most(self) -> str:
        return f"coalesce(max(value_persons) filter (where {self.counts}), 0)"

    @property
    def _among(self) -> str:
        return f"count(*) filter (where {self.counts})"
