"""Enhanced identity-reserved (α,β)-anonymity (EIR): IR against observers who link rows of a person.

    |R(p)|/|E| <= α for every person p,  max_s |P(s)|/n_E <= β

where P(s) are the persons that hold value s, and n_E those that hold any. The second condition is
equivalent to the definition, by which no value takes more than a share β of any *reasoning set*
(one record of every person): all persons that hold s can be represented by s at once. Units:
shares. Source: Wang, Du, Luo, Li, "Two privacy-preserving approaches for data publishing with
identity reservation" (2018), definition 3.4 and theorem 3.2, which holds in both directions.

Persons without a value do not count towards n_E; a class of only such persons does not hold. Exact
(whole numbers). The α is that of IR (`ir.PersonShare`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from anonymizer.compile import Sql
from anonymizer.privacy.exact import at_most, fewest, share_of_known
from anonymizer.privacy.guarantee import Example, Flag, Given, Guarantee
from anonymizer.privacy.ir import SHARES, PersonShare, ValueShare, within
from anonymizer.privacy.rule import Layers, Rule, layer, window


@dataclass(frozen=True, slots=True)
class EirPersonShare(PersonShare):
    """No person with more than a share `alpha` of the records."""

    name: ClassVar[str] = "eir_alpha"


@dataclass(frozen=True, slots=True)
class EirValueShare(ValueShare):
    """No value held by more than a share `beta` of the persons. Repeated pairs change nothing."""

    name: ClassVar[str] = "eir_beta"

    def layers(self, part: Sql) -> Layers:
        return (layer(value_persons=f"count(*) {window(part, 'value')}"),)

    def holds(self) -> Sql:
        held = within(self._most("value_persons"), at_most(self.beta), self._persons)
        return Sql(f"({self._persons} > 0 and {held})")

    def achieved(self) -> Sql:
        return share_of_known(self._most("value_persons"), self._persons)

    @property
    def _persons(self) -> str:
        return f"count(distinct person) filter (where {self.counts})"


def _rules(given: Given) -> list[Rule]:
    share = EirValueShare(given.column, given.value.beta, null_as_value=given.null_as_value)
    return [EirPersonShare(given.column, given.value.alpha), share] if given.column else []


ASK = replace(SHARES, template="eir_alpha_beta", words="enhanced identity-reserved (alpha,beta)")
GUARANTEE = Guarantee(
    name="eir_alpha_beta",
    field="privacy.eir_alpha_beta",
    family="persons",
    asks=(ASK,),
    rules=_rules,
    implied=lambda value: max(fewest(value.alpha), fewest(value.beta)),
    says="No person has more than the share {alpha} of a class's records, and no value of {column}"
    " belongs to more than {beta} of its persons.",
    flags=(Flag("eir_alpha_beta", ("alpha", "beta"), persons=True),),
    docs=(
        "enhanced identity-reserved (alpha,beta) (same) | `eir_alpha_beta: {alpha: 0.5, beta: 0.5}`"
        " | `eir_alpha_beta=0.5/0.5` | no person with more than alpha of the records, no value with"
        " more than beta of the persons | shares, less",
    ),
    examples=(Example({"alpha": 0.5, "beta": 0.5}, holds="1a2b 3a4b5c", fails="1a2b 3a3b4a4c"),),
)
