"""Counts of the source that show at once that no class can hold the guarantees on persons."""

from __future__ import annotations

from anonymizer.algorithms.mondrian.partition import MEMBERS
from anonymizer.algorithms.persons.rules import HOLDINGS, PersonRules
from anonymizer.compile import lit
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.plan import Guard, Row, Stage, Step
from anonymizer.policy import Policy
from anonymizer.privacy import PersonShare
from anonymizer.privacy.exact import at_most


def feasibility(policy: Policy, rules: PersonRules) -> tuple[Stage, ...]:
    """Guards: persons with more rows than alpha can ever allow, and the whole table as one class.

    Every rule survives the merging of classes, so what fails for the whole table fails for some
    class of every partition.
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
            f"columns.{names[int(column)]}",
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
    return (*guards, Guard(query, explain, InfeasibleError))


def some_class() -> Guard:
    """A guard: all persons are left over, and there is nothing to publish."""

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
