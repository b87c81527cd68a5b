"""Checks early, from counts, whether any class can satisfy the guarantees on persons."""

from __future__ import annotations

import math

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.persons.judging import Judging
from anonymizer.algorithms.persons.rules import HOLDINGS, PersonRules
from anonymizer.compile import Sql, lit
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.privacy.eir import EirValueShare
from anonymizer.privacy.exact import at_most, share_at_most
from anonymizer.privacy.ir import PersonShare, ValueShare, within
from anonymizer.privacy.rule import Rule
from anonymizer.privacy.screens import screen, survives_additions
from anonymizer.process.text import many
from anonymizer.steps import Guard, Row, Stage, Step


def feasibility(
    policy: Policy, rules: PersonRules, *, exact: bool = True, leaves_out: bool = False
) -> tuple[Stage, ...]:
    """Guards against persons with more rows than alpha can allow, and for the table as one class.

    Every rule is preserved under union, so a rule that fails for the whole table fails for some
    class of every partition. `exact`: search if counts do not decide EIR l-diversity.
    `leaves_out`: the algorithm suppresses persons whom no class takes, so that a share that is too
    large stops the run only if suppression_limit cannot lower it.
    """
    if not rules.columns:
        return ()
    guards: list[Stage] = []
    names = {column.index: column.column for column in rules.columns}
    alpha = rules.alpha
    allowed: Sql | None = None
    if leaves_out and policy.suppression_limit:
        limit = share_at_most(policy.suppression_limit)
        allowed = Sql(f"cast(floor({limit} * persons) as bigint)")
    if alpha is not None:
        guards.append(_crowding(policy, alpha, allowed))
    screens = [
        screen(rule).fails.text if survives_additions(rule) else _after(rule, allowed)
        for rule in rules.rules
        if not isinstance(rule, PersonShare)
    ]
    if not screens:
        return tuple(guards)
    models = ", ".join(policy.privacy.identity_reserved)

    def explain(row: Row) -> Problem:
        column, persons, different, widest, pairs = row
        needed = max((_needed(rule, persons, pairs, widest) for rule in rules.rules), default=0)
        found = (
            f"{many(persons, 'person')} with a value, {many(different, 'different value')},"
            f" the most widespread with {widest} persons"
        )
        path = column_path(names[int(column)])
        if not needed or needed >= widest:
            return Problem(
                path,
                f"cannot hold {models} in any class: the table as one class fails ({found})",
                hint="ask for less, or leave the most widespread values out in source.query",
            )
        hint = f"raise suppression_limit, so that {needed} persons or more may be left out"
        if not leaves_out:
            hint = "algorithm: {name: danonyir} leaves persons out, up to suppression_limit"
        return Problem(
            path,
            f"holds {models} in every class only if {needed} persons or more with the most"
            f" widespread value are left out: the table as one class fails ({found})",
            hint=f"{hint}; or ask for less",
        )

    query = Step(
        "the table as one class",
        "persons/whole.sql.j2",
        {"holdings": HOLDINGS, "fails": Sql(" or ".join(f"({one})" for one in screens))},
    )
    searched = _searched(rules) if exact and rules.hitting else ()
    return (*guards, Guard(query, explain, InfeasibleError), *searched)


def _after(rule: Rule, allowed: Sql | None) -> str:
    """Whether a rule on the share of a value fails for the table as one class, even without
    `allowed` persons who have this value only.

    Persons with other values as well lower the share less.
    """
    if allowed is None or not isinstance(rule, ValueShare):
        return screen(rule).fails.text
    among = "known" if isinstance(rule, EirValueShare) else "known_pairs"
    left = f"least({allowed}, widest)"
    held = within(f"(widest - {left})", at_most(rule.beta), f"({among} - {left})")
    return f"not (known > 0 and {held})"


def _needed(rule: Rule, persons: int, pairs: int, widest: int) -> int:
    """The persons with the most widespread value who have to be left out at least."""
    if not isinstance(rule, ValueShare) or (beta := at_most(rule.beta)) >= 1:
        return 0
    among = persons if isinstance(rule, EirValueShare) else pairs
    return max(0, math.ceil((widest - beta * among) / (1 - beta)))


def _searched(rules: PersonRules) -> tuple[Stage, ...]:
    """Judge EIR l-diversity of the table as one class, by the same search as for single classes."""
    judging = Judging(rules, "everybody")
    path = column_path(rules.columns[0].column) if len(rules.columns) == 1 else "privacy.eir_l"

    def explain(row: Row) -> Problem:
        return Problem(
            path,
            f"cannot hold eir_l in any class: fewer than {rules.hitting} values meet every one of"
            f" {many(row[0], 'person')}, so that they do in every class",
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


def _crowding(policy: Policy, alpha: float, allowed: Sql | None) -> Guard:
    name = "eir_alpha_beta" if policy.privacy.eir_alpha_beta else "ir_alpha_beta"

    def explain(row: Row) -> Problem:
        return Problem(
            f"privacy.{name}.alpha",
            f"{many(row[0], 'person has', 'persons have')} more than a share {alpha} of all rows,"
            f" so no class can hold them (the most are {row[1]:,} of {many(row[2], 'row')})",
            hint="raise alpha, or leave these persons out: in source.query, or by danonyir with a"
            " suppression_limit for so many",
        )

    share = at_most(alpha)
    query = Step(
        "persons with too many rows",
        "persons/crowding.sql.j2",
        {
            "holdings": HOLDINGS,
            "numerator": lit(share.numerator),
            "denominator": lit(share.denominator),
            "allowed": allowed,
        },
    )
    return Guard(query, explain, InfeasibleError)
