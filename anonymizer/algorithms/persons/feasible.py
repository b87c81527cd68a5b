"""Checks early, from counts, whether any class can satisfy the guarantees on persons."""

from __future__ import annotations

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.persons.judging import Judging
from anonymizer.algorithms.persons.rules import HOLDINGS, PersonRules
from anonymizer.compile import lit
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.privacy.exact import at_most
from anonymizer.privacy.ir import PersonShare
from anonymizer.steps import Guard, Row, Stage, Step


def feasibility(policy: Policy, rules: PersonRules, *, exact: bool = True) -> tuple[Stage, ...]:
    """Guards against persons with more rows than alpha can allow, and for the table as one class.

    Every rule is preserved under union, so a rule that fails for the whole table fails for some
    class of every partition. `exact`: search if counts do not decide EIR l-diversity.
    """
    if not rules.columns:
        return ()
    guards: list[Stage] = []
    names = {column.index: column.column for column in rules.columns}
    alphas = [rule.alpha for rule in rules.rules if isinstance(rule, PersonShare)]
    if alphas:
        guards.append(_crowding(policy, min(alphas)))

    def explain(row: Row) -> Problem:
        column, persons, different, widest = row
        models = ", ".join(policy.privacy.identity_reserved)
        return Problem(
            column_path(names[int(column)]),
            f"cannot hold {models} in any class: the table as one class fails"
            f" ({persons} persons with a value, {different} different values,"
            f" the most widespread with {widest} persons)",
            hint="ask for less, or leave the most widespread values out in source.query",
        )

    screen = rules.screen
    assert screen is not None
    query = Step(
        "the table as one class",
        "persons/whole.sql.j2",
        {"holdings": HOLDINGS, "screen": screen},
    )
    searched = _searched(rules) if exact and rules.hitting else ()
    return (*guards, Guard(query, explain, InfeasibleError), *searched)


def _searched(rules: PersonRules) -> tuple[Stage, ...]:
    """Judge EIR l-diversity of the table as one class, by the same search as for single classes."""
    judging = Judging(rules, "everybody")
    path = column_path(rules.columns[0].column) if len(rules.columns) == 1 else "privacy.eir_l"

    def explain(row: Row) -> Problem:
        return Problem(
            path,
            f"cannot hold eir_l in any class: fewer than {rules.hitting} values meet every one of"
            f" {row[0]} persons, so that they do in every class",
            hint="ask for less, or leave the most widespread values out in source.query",
        )

    asked = Step("everybody", "persons/everybody.sql.j2", {"asked": judging.asked, "units": UNITS})
    query = Step(
        "everybody as one class",
        "persons/everybody_fails.sql.j2",
        {"verdicts": judging.verdicts, "searched": judging.searched, "units": UNITS},
    )
    return (asked, *judging.steps(), Guard(query, explain, InfeasibleError))


def some_class() -> Guard:
    """A guard that there is a class to publish."""

    def explain(_: Row) -> Problem:
        return Problem(
            "privacy",
            "holds in no class that could be formed, so every person would be suppressed",
            hint="ask for less, or give danonyir larger blocks",
        )

    query = Step("some class", "persons/nobody.sql.j2", {"members": MEMBERS})
    return Guard(query, explain, InfeasibleError)


def _crowding(policy: Policy, alpha: float) -> Guard:
    name = "eir_alpha_beta" if policy.privacy.eir_alpha_beta else "ir_alpha_beta"

    def explain(row: Row) -> Problem:
        return Problem(
            f"privacy.{name}.alpha",
            f"{row[0]} persons have more than a share {alpha} of all rows, so no class can hold"
            f" them (the most are {row[1]} of {row[2]} rows)",
            hint="raise alpha, or leave these persons out in source.query",
        )

    share = at_most(alpha)
    query = Step(
        "persons with too many rows",
        "persons/crowding.sql.j2",
        {
            "holdings": HOLDINGS,
            "numerator": lit(share.numerator),
            "denominator": lit(share.denominator),
        },
    )
    return Guard(query, explain, InfeasibleError)
