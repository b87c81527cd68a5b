"""The guarantees of a policy as rules on persons, evaluated for many groups at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonymizer.algorithms.core.encode import CODED, UNITS
from anonymizer.compile import Sql, Table, work
from anonymizer.guarantees.identity import EirL, EirValueShare, IrK, IrL, PersonShare, ValueShare
from anonymizer.guarantees.requirements import fewest_persons, least_class, of_basis, table_rules_of
from anonymizer.guarantees.rule import Rule, fewest
from anonymizer.guarantees.screening import (
    Screen,
    conjunction,
    has_hitting_set,
    screen,
    survives_additions,
)
from anonymizer.policy import Policy
from anonymizer.source.profile import Sensitive
from anonymizer.source.roles import Roles
from anonymizer.steps import Compute, Row, Step

# The guarantees of a policy as rules for algorithms on persons, and the tables they need.


HOLDINGS = work("holdings")
SETS = work("value_sets")
PAIRS = work("value_pairs")


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
        """True if EIR l-diversity is the only requirement."""
        return bool(self.hitting) and len(self.rules) == 1

    @property
    def screen(self) -> Screen | None:
        return conjunction([screen(rule) for rule in self.rules]) if self.rules else None

    @property
    def monotone(self) -> bool:
        """True if a group that holds still holds after adding any persons."""
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
        needed = tuple(_necessary_rule(rule) for rule in self.rules)
        hitting = [rule for rule in needed if isinstance(rule, EirL)]
        strictest = [max(hitting, key=lambda rule: rule.l)] if hitting else []
        others = (rule for rule in needed if not isinstance(rule, EirL))
        return replace(self, rules=(*others, *strictest))


def _necessary_rule(rule: Rule) -> Rule:
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


def numbered_values(column: Sensitive) -> Table:
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
            "persons/numbered_values",
            {
                "coded": CODED,
                "numbered_values": numbered_values(column),
                "column": column.s,
                "null_as_value": policy.columns[column.column].null_as_value,
                "person": Sql("person"),
            },
        )
        for column in rules.columns
    ]
    columns = [
        {"index": c.index, "s": c.s, "numbered_values": numbered_values(c)} for c in rules.columns
    ]
    steps.append(
        Step(
            "values of persons",
            "persons/holdings",
            {
                "coded": CODED,
                "units": UNITS,
                "numbers": numbers,
                "holdings": HOLDINGS,
                "columns": columns,
                "numbered_values": [numbered_values(c) for c in rules.columns],
                "keys": list(keys),
            },
        )
    )
    steps.append(Step("value sets", "persons/sets", {"holdings": HOLDINGS, "sets": SETS}))
    if judged and rules.only_hitting:
        context = {"sets": SETS, "value_pairs": PAIRS}
        steps.append(Step("pairs of persons and values", "persons/value_pairs", context))
    return tuple(steps)


# Judges many groups of units in parallel: every rule on persons, exactly.
#
# One statement decides by counts. Cases of EIR l-diversity that counts leave undecided are decided
# by an exact search, so every group gets a verdict.


OF_VALUES = ("different", "known_pairs", "known_records", "widest", "widest_records")
"""Figures on the values of a group that a screen may read, in addition to its reach."""


@dataclass(frozen=True, slots=True)
class Judging:
    """The groups of `asked` (grp, unit), judged into `verdicts` (grp, holds, fails) and `searched`.

    `searched` (grp) lists the groups that the search found to hold.
    """

    rules: PersonRules
    name: str = "asked"
    large: bool = False
    """True if every group is known to have enough persons."""

    @property
    def groups(self) -> Table:
        return work(self.name)

    @property
    def verdicts(self) -> Table:
        return work(f"{self.name}_verdicts")

    @property
    def search_results(self) -> Table:
        return work(f"{self.name}_searched")

    def steps(self) -> tuple[Step | Compute, ...]:
        """The statement, followed by the search for the groups that it leaves undecided."""
        judge = self.counts()
        return (judge, self._search(self.rules.hitting)) if self.rules.hitting else (judge,)

    def counts(self) -> Step:
        """The statement without the search."""
        context = {
            "asked": self.groups,
            "units": UNITS,
            "verdicts": self.verdicts,
            "least": self.rules.least,
            "large": self.large,
        }
        if self.rules.only_hitting:
            columns, l = len(self.rules.columns), self.rules.hitting
            context |= {"value_pairs": PAIRS, "l": l, "columns": columns}
            return Step("judge", "persons/judge_hitting", context)
        screen = self.rules.screen
        needed = screen.columns if screen else frozenset()
        of_values = [Sql(name) for name in OF_VALUES if name in needed]
        context |= {"holdings": HOLDINGS, "screen": screen, "needed": needed}
        return Step("judge", "persons/judge", {**context, "of_values": of_values})

    @property
    def verdict_parameters(self) -> Mapping[str, Any]:
        """Parameters of `persons/_passed`, which lists the groups that hold."""
        searched = self.search_results if self.rules.hitting else None
        return {"verdicts": self.verdicts, "searched": searched}

    def _search(self, l: int) -> Compute:
        def search(rows: list[Row]) -> list[Row]:
            """An exact search whether fewer than l values hit everybody in a group."""
            failed: set[int] = set()
            for group, _, sets in rows:
                if group not in failed and has_hitting_set(sets, l - 1):
                    failed.add(group)
            return [(group,) for group in {row[0] for row in rows} - failed]

        step = Step(
            "undecided groups",
            "persons/undecided",
            {"asked": self.groups, "verdicts": self.verdicts, "sets": SETS},
        )
        tables = (self.groups, self.verdicts, SETS)
        return Compute(
            step,
            search,
            self.search_results,
            (("grp", "BIGINT"),),
            in_sql=searching(step, tables, "persons/search_groups", self.search_results, l),
        )


def searching(
    undecided: Step, tables: tuple[Table, ...], template: str, searched: Table, l: int
) -> Callable[[], Step]:
    """The exact search, in SQL, for groups that the query `undecided` over `tables` returns."""

    def made() -> Step:
        asked = Sql(undecided.statement().text)
        own = {"asked": asked, "tables": tables, "searched": searched, "size": l - 1}
        return Step(undecided.name, template, own)

    return made
