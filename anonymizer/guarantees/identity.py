"""Identity-reserved models (IR, EIR), for tables in which a person has several rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.layout import Ask
from anonymizer.guarantees.guarantee import Example, Flag, Guarantee, RuleInput
from anonymizer.guarantees.rule import (
    Basis,
    Layers,
    Rule,
    at_most,
    fewest,
    layer,
    share,
    share_of_known,
    window,
    within,
)
from anonymizer.guarantees.size import sizes

# Identity-reserved models (IR), for tables in which a person has several rows.
#
# IR k-anonymity        n_E >= k IR (k,l)-anonymity    n_E >= k and m_E >= l IR (α,β)-anonymity
# |R(p)|/|E| <= α for every person p, |R(s)|/|E| <= β for every value s
#
# where n_E are the persons of the class, m_E its different values, R(p) and R(s) the records of a
# person and of a value, E the records of the class. If (person, value) pairs are repeated, both
# shares must hold twice: on the records as published, and with every pair counted once. Units:
# persons, values, shares. Source: Tong, Tao, Tang, Yang, "Identity-reserved anonymity in privacy
# preserving data publishing" (2010), as stated by Wang et al. (2018), definition 2.3.
#
# NULL: persons without a value count for k and for α; m, and β's records, are those with a value; a
# class without any does not hold. Exact (whole numbers).


RECORDS = "sum(n)"


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


def _rules_kl(given: RuleInput) -> list[Rule]:
    if given.column is None:
        return [IrK(None, given.value.k)]
    return [IrL(given.column, given.value.l, null_as_value=given.null_as_value)]


def _rules_shares(
    of_person: type[PersonShare], of_value: type[ValueShare], given: RuleInput
) -> list[Rule]:
    share = of_value(given.column, given.value.beta, null_as_value=given.null_as_value)
    return [of_person(given.column, given.value.alpha), share] if given.column else []


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
        rules=partial(_rules_shares, PersonShare, ValueShare),
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


# Enhanced identity-reserved (α,β)-anonymity (EIR): IR against observers who link rows of a person.
#
# |R(p)|/|E| <= α for every person p,  max_s |P(s)|/n_E <= β
#
# where P(s) are the persons that hold value s, and n_E those that hold any. The second condition is
# equivalent to the definition, by which no value takes more than a share β of any *reasoning set*
# (one record of every person): all persons that hold s can be represented by s at once. Units:
# shares. Source: Wang, Du, Luo, Li, "Two privacy-preserving approaches for data publishing with
# identity reservation" (2018), definition 3.4 and theorem 3.2, which holds in both directions.
#
# Persons without a value do not count towards n_E; a class of only such persons does not hold.
# Exact (whole numbers). The α is that of IR (`ir.PersonShare`).


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


ASK = replace(SHARES, template="eir_alpha_beta", words="enhanced identity-reserved (alpha,beta)")
EIR = Guarantee(
    name="eir_alpha_beta",
    field="privacy.eir_alpha_beta",
    family="persons",
    asks=(ASK,),
    rules=partial(_rules_shares, EirPersonShare, EirValueShare),
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


# EIR l-diversity: every reasoning set of a class contains at least l different values.
#
# A reasoning set takes one record of every person. The fewest values that one can contain is the
# size of a minimum hitting set H of the persons' value sets S(p), so the model is |H| >= l. Units:
# values. Source: Wang et al. (2018), definition 3.3 and theorem 3.1, which holds in both
# directions.
#
# Minimum hitting sets are NP-hard in general; here SQL computes two bounds. Let F be the values of
# the persons who hold one value only: F is part of every hitting set. Among the persons that F does
# not hit,
#
# * the smallest t such that the t most widespread values reach as many persons as there are, and
# * the number of persons who are first among the holders of each of their values, by (|S(p)|,
#   person): two such persons share no value
#
# are lower bounds for the rest of H; the number of different values among the most widespread value
# of each person is an upper bound. For l = 2 the bounds always decide. Undecided classes are
# decided by `hitting`.
#
# Persons without a value are left out; a class without any value has |H| = 0. Exact.


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
        return Sql(f"({self._forced_values} + greatest({cover}, {apart}))")

    def upper(self) -> Sql:
        """Aggregate: the upper bound of |H|."""
        chosen = "count(distinct value) filter (where eir_left > 0 and eir_best = 1)"
        return Sql(f"({self._forced_values} + {chosen})")

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
        """True if this row represents its value among the persons that are not hit."""
        return "eir_left > 0 and eir_holder = 1"

    @property
    def _reach_once(self) -> str:
        return f"case when {self._first} then eir_reach else 0 end"

    @property
    def _forced_values(self) -> str:
        return "count(distinct value) filter (where eir_forced = 1)"


EIR_L = Guarantee(
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
