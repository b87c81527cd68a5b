"""The guarantees of a policy as rules for algorithms on persons, and the tables they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.algorithms.encode import CODED, UNITS
from anonymizer.compile import Sql, Table, work
from anonymizer.policy import Policy
from anonymizer.privacy.eir import EirValueShare
from anonymizer.privacy.eir_l import EirL
from anonymizer.privacy.exact import fewest
from anonymizer.privacy.ir import IrK, IrL, PersonShare, ValueShare
from anonymizer.privacy.of_policy.rules import of_basis, table_rules_of
from anonymizer.privacy.of_policy.sizes import fewest_persons, least_class
from anonymizer.privacy.rule import Rule
from anonymizer.privacy.screens import Screen, conjunction, screen, survives_additions
from anonymizer.source.profile import Sensitive
from anonymizer.source.roles import Roles
from anonymizer.steps import Step

HOLDINGS = work("holdings")
SETS = work("held_sets")
PAIRS = work("held_pairs")


@dataclass(frozen=True, slots=True)
class PersonRules:
    """The rules that every group of persons has to satisfy."""

    columns: tuple[Sensitive, ...]
    """The sensitive columns, each of which every rule judges."""
    rules: tuple[Rule, ...]
    """Rules on (person, value) pairs."""
    least: int
    """Fewest persons that a group can have under all rules."""
    k: int = 1
    """Fewest persons that are required explicitly."""

    @property
    def hitting(self) -> int | None:
        """The l of EIR l-diversity, if it is required."""
        return next((rule.l for rule in self.rules if isinstance(rule, EirL)), None)

    @property
    def alpha(self) -> float | None:
        """The largest share of the rows of a class that one person may have, if it is limited."""
        return min((r.alpha for r in self.rules if isinstance(r, PersonShare)), default=None)

    @property
    def value_shares(self) -> tuple[ValueShare, ...]:
        """The rules on the share of a value."""
        return tuple(rule for rule in self.rules if isinstance(rule, ValueShare))

    @property
    def only_hitting(self) -> bool:
        """Whether EIR l-diversity is the only requirement."""
        return bool(self.hitting) and len(self.rules) == 1

    @property
    def screen(self) -> Screen | None:
        return conjunction([screen(rule) for rule in self.rules]) if self.rules else None

    @property
    def monotone(self) -> bool:
        """Whether a group that holds still holds after adding any persons."""
        return all(survives_additions(rule) for rule in self.rules)

    def without_hitting_sets(self) -> PersonRules:
        """The rules without EIR l-diversity, for callers that decide it themselves."""
        left = tuple(rule for rule in self.rules if not isinstance(rule, EirL))
        return PersonRules(self.columns if left else (), left, self.k, self.k)

    def of_some_class(self) -> PersonRules:
        """The rules that a group of persons satisfies if any part of it satisfies these rules.

        If no value has more than a share s of the persons, 1/s values are needed to hit everyone.
        Added persons break none of these rules.
        """
        needed = tuple(_needed(rule) for rule in self.rules)
        hitting = [rule for rule in needed if isinstance(rule, EirL)]
        strictest = [max(hitting, key=lambda rule: rule.l)] if hitting else []
        others = (rule for rule in needed if not isinstance(rule, EirL))
        return replace(self, rules=(*others, *strictest))


def _needed(rule: Rule) -> Rule:
    match rule:
        case PersonShare():
            return IrK(rule.column, fewest(rule.alpha))
        case EirValueShare():
            return EirL(rule.column, fewest(rule.beta), null_as_value=rule.null_as_value)
        case ValueShare():
            return IrL(rule.column, fewest(rule.beta), null_as_value=rule.null_as_value)
        case _:
            return rule


def person_rules(policy: Policy, roles: Roles) -> PersonRules:
    """The identity-reserved guarantees of a policy, with k counting persons."""
    rules: tuple[Rule, ...] = ()
    for column in roles.sensitive:
        # NULL that counts as a value has a number like any other, so one list serves all columns
        # (no rule on pairs uses the code of the value that alpha_k names)
        asked = table_rules_of(column.column, policy.privacy, declared=Sql("null"))
        rules = of_basis(asked, "pairs")
    columns = roles.sensitive if rules else ()
    return PersonRules(columns, rules, fewest_persons(policy), least_class(policy))


def held_values(column: Sensitive) -> Table:
    """Work table that numbers a sensitive column's values."""
    return work(f"held_values_{column.index}")


def holding_steps(
    policy: Policy,
    rules: PersonRules,
    keys: Sequence[Sql],
    numbers: Table | None = None,
    *,
    judged: bool = True,
) -> tuple[Step, ...]:
    """Steps that write HOLDINGS (who holds what) and SETS (the value set of every person).

    If EIR l-diversity is the only requirement and groups are `judged` by it, PAIRS as well.

    `numbers`: the table of persons' numbers, if a unit may be several persons.
    """
    if not rules.columns:
        return ()
    steps = [
        Step(
            f"values of {column.column}",
            "persons/held_values.sql.j2",
            {
                "coded": CODED,
                "held_values": held_values(column),
                "column": column.s,
                "null_as_value": policy.columns[column.column].null_as_value,
                "person": Sql("person"),
            },
        )
        for column in rules.columns
    ]
    columns = [{"index": c.index, "s": c.s, "held_values": held_values(c)} for c in rules.columns]
    steps.append(
        Step(
            "who holds what",
            "persons/holdings.sql.j2",
            {
                "coded": CODED,
                "units": UNITS,
                "numbers": numbers,
                "holdings": HOLDINGS,
                "columns": columns,
                "held_values": [held_values(c) for c in rules.columns],
                "keys": list(keys),
            },
        )
    )
    steps.append(Step("value sets", "persons/sets.sql.j2", {"holdings": HOLDINGS, "sets": SETS}))
    if judged and rules.only_hitting:
        context = {"sets": SETS, "held_pairs": PAIRS}
        steps.append(Step("pairs of persons and values", "persons/held_pairs.sql.j2", context))
    return tuple(steps)
