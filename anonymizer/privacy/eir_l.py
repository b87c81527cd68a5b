"""EIR l-diversity: every reasoning set of a class contains at least l different values.

A reasoning set takes one record of every person. The fewest values that one can contain is the size
of a minimum hitting set H of the persons' value sets S(p), so the model is |H| >= l. Units: values.
Source: Wang et al. (2018), definition 3.3 and theorem 3.1, which holds in both directions.

Minimum hitting sets are NP-hard in general; here SQL computes two bounds. Let F be the values of
the persons who hold one value only: F is part of every hitting set. Among the persons that F does
not hit,

* the smallest t such that the t most widespread values reach as many persons as there are, and
* the number of persons who are first among the holders of each of their values, by (|S(p)|,
  person): two such persons share no value

are lower bounds for the rest of H; the number of different values among the most widespread value
of each person is an upper bound. For l = 2 the bounds always decide. Undecided classes are decided
by `hitting`.

Persons without a value are left out; a class without any value has |H| = 0. Exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.ask import Ask
from anonymizer.privacy.guarantee import Example, Flag, Guarantee
from anonymizer.privacy.rule import Basis, Layers, Rule, layer, window


@dataclass(frozen=True, slots=True)
class EirL(Rule):
    """Every reasoning set contains at least `l` values.

    `holds` is sound: true only if the lower bound proves it; a class that neither `holds` nor
    `fails` needs the exact search.
    """

    name: ClassVar[str] = "eir_l"
    basis: ClassVar[Basis] = "pairs"

    l: int

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.l)}")

    def fails(self) -> Sql:
        """Aggregate: the upper bound proves that the class does not hold. Never NULL."""
        return Sql(f"{self.upper()} < {lit(self.l)}")

    def achieved(self) -> Sql:
        """The lower bound of |H|."""
        cover = f"count(*) filter (where {self._first} and eir_before < eir_unhit)"
        apart = "count(distinct person) filter (where eir_apart = 1)"
        return Sql(f"({self._forced} + greatest({cover}, {apart}))")

    def upper(self) -> Sql:
        """Aggregate: the upper bound of |H|."""
        chosen = "count(distinct value) filter (where eir_left > 0 and eir_best = 1)"
        return Sql(f"({self._forced} + {chosen})")

    def layers(self, part: Sql) -> Layers:
        of_person = window(part, "person", f"({self.counts})")
        of_value = window(part, "value")
        by_reach = "eir_reach desc, value, eir_holder"
        return (
            # number of values of the person
            layer(eir_held=f"count(*) {of_person}"),
            # 1: the value is the only one of some S(p), hence in F
            layer(
                eir_forced=f"case when {self.counts} and min(eir_held) {of_value} = 1"
                " then 1 else 0 end"
            ),
            # 1: a row with a value, of a person that F does not hit
            layer(
                eir_left=f"case when {self.counts} and max(eir_forced) {of_person} = 0"
                " then 1 else 0 end"
            ),
            # number of unhit persons with the value; order of its holders, unhit ones first
            layer(
                eir_reach=f"sum(eir_left) {of_value}",
                eir_holder="row_number() "
                + window(part, "value", order="eir_left desc, eir_held, person"),
            ),
            # order of the person's values by reach; total reach of more widespread values
            layer(
                eir_best="row_number() "
                + window(part, "person", order="eir_left desc, eir_reach desc, value"),
                eir_before=f"sum({self._reach_once}) {window(part, order=by_reach, running=True)}"
                " - eir_reach",
                eir_apart=f"min(case when {self._first} then 1 else 0 end) {of_person}",
            ),
            layer(
                eir_unhit="sum(case when eir_left > 0 and eir_best = 1 then 1 else 0 end)"
                f" {window(part)}"
            ),
        )

    @property
    def _first(self) -> str:
        """Whether this row represents its value among the persons that are not hit."""
        return "eir_left > 0 and eir_holder = 1"

    @property
    def _reach_once(self) -> str:
        return f"case when {self._first} then eir_reach else 0 end"

    @property
    def _forced(self) -> str:
        return "count(distinct value) filter (where eir_forced = 1)"


GUARANTEE = Guarantee(
    name="eir_l",
    field="privacy.eir_l",
    parameter="l",
    family="persons",
    asks=(Ask("eir_l", "enhanced identity-reserved l", given=("l",), worst="least", persons=True),),
    rules=lambda given: (
        [EirL(given.column, given.value, null_as_value=given.null_as_value)] if given.column else []
    ),
    implied=int,
    says="However one value of {column} per person is picked in a class, at least {l} different"
    " ones remain.",
    flags=(Flag("eir_l", ("l",), persons=True),),
    docs=(
        "enhanced identity-reserved l (Wang et al. 2018) | `eir_l: 3` | `eir_l=3`"
        " | every choice of one value per person has ≥ l values | values, more",
    ),
    examples=(Example(2, holds="1a2b 3a3b4c", fails="1a2b 3a3b4a"),),
    values=("together",),
)
