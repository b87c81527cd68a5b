"""Enhanced identity-reserved (α,β)-anonymity (EIR): IR that also withstands knowing who is whose.

    |R(p)|/|E| <= α for every person p,  max_s |P(s)|/n_E <= β

P(s) the persons that hold value s, n_E the persons that hold any. The second is equivalent to the
definition, by which no value takes more than a share β of any *reasoning set* (one record of every
person): all persons that hold s can be represented by s at once. Units: shares. Source: Wang, Du,
Luo, Li, "Two privacy-preserving approaches for data publishing with identity reservation" (2018),
definition 3.4 and theorem 3.2, which holds in both directions.

Persons without a value lend nobody diversity and are left out of n_E. Exact (whole numbers). The α
is that of IR (`ir.PersonShare`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql
from anonymizer.privacy.exact import at_most, share
from anonymizer.privacy.ir import PersonShare, ValueShare, within
from anonymizer.privacy.rule import Layers, layer, window


@dataclass(frozen=True, slots=True)
class EirPersonShare(PersonShare):
    """No person with more than a share `alpha` of the records."""

    name: ClassVar[str] = "eir_alpha"


@dataclass(frozen=True, slots=True)
class EirValueShare(ValueShare):
    """No value held by more than a share `beta` of the persons. Repeated pairs change nothing."""

    name: ClassVar[str] = "eir_beta"
    extra: ClassVar[tuple[str, ...]] = ()

    def layers(self, part: Sql) -> Layers:
        return (layer(value_persons=f"count(*) {window(part, 'value')}"),)

    def holds(self) -> Sql:
        return Sql(within(self._most("value_persons"), at_most(self.beta), self._persons))

    def achieved(self) -> Sql:
        return share(self._most("value_persons"), self._persons)

    @property
    def _persons(self) -> str:
        return f"count(distinct person) filter (where {self.counts})"
