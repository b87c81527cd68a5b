"""Rules on persons judged from a few aggregates of a group, for judging many groups at once.

The window columns of `Rule.layers` give tight bounds, but cost several sorts of all pairs. A
*screen* reads two aggregations only, and decides all rules except EIR l-diversity exactly. It is
judged over a relation with one row per group:

`persons`, `known`        persons of the group, persons with a value that counts
`pairs`, `pairs_most`     different (person, value) pairs, the most of one person
`records`, `records_most` records, the most of one person
`different`               different values that count
`known_pairs`, `known_records`  pairs and records whose value counts
`widest`, `widest_records`      persons, and records, of the most widespread value
`alone`                   different values of persons who hold one value only
`reach_<t>`               persons that the `t` most widespread values have, added up

For EIR l-diversity |H| >= l holds if l values are the only value of some person (each is part of
every hitting set), or if the l-1 most widespread values cannot hit everybody. It fails if there are
fewer than l values or persons, or if the most widespread value and one value for each person
without it are fewer than l. Undecided groups are decided by `hitting`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.compile import Sql, lit
from anonymizer.privacy.eir import EirValueShare
from anonymizer.privacy.eir_l import EirL
from anonymizer.privacy.exact import at_most
from anonymizer.privacy.ir import IrK, IrL, PersonShare, ValueShare, within
from anonymizer.privacy.rule import Rule


@dataclass(frozen=True, slots=True)
class Screen:
    """Conditions over the aggregates of a group, never NULL."""

    holds: Sql
    fails: Sql
    reach: int | None = None
    """The t of the required column `reach_<t>`."""

    @property
    def needed(self) -> frozenset[str]:
        """The columns that the conditions read."""
        return frozenset(re.findall(r"[a-z_0-9]+", f"{self.holds} {self.fails}"))


def screen(rule: Rule) -> Screen:
    """The screen of one rule. Raises `TypeError` for rules that do not use pairs."""
    match rule:
        case IrK():
            return _exact(f"persons >= {lit(rule.k)}")
        case IrL():
            return _exact(f"different >= {lit(rule.l)}")
        case PersonShare():
            alpha = at_most(rule.alpha)
            pairs = within("pairs_most", alpha, "pairs")
            return _exact(f"{pairs} and {within('records_most', alpha, 'records')}")
        case EirValueShare():
            return _exact(f"known > 0 and {within('widest', at_most(rule.beta), 'known')}")
        case ValueShare():
            beta = at_most(rule.beta)
            pairs = within("widest", beta, "known_pairs")
            records = within("widest_records", beta, "known_records")
            return _exact(f"known > 0 and {pairs} and {records}")
        case EirL():
            return _hitting(rule.l)
        case _:
            raise TypeError(f"{rule.name} is not a rule on persons")


def conjunction(screens: Sequence[Screen]) -> Screen:
    """The conjunction of several screens of one column."""
    holds = " and ".join(f"({one.holds})" for one in screens)
    fails = " or ".join(f"({one.fails})" for one in screens)
    reach = next((one.reach for one in screens if one.reach is not None), None)
    return Screen(Sql(holds), Sql(fails), reach)


def survives_additions(rule: Rule) -> bool:
    """Whether a group that satisfies the rule still does after any persons are added."""
    return isinstance(rule, IrK | IrL | EirL)


def _exact(holds: str) -> Screen:
    return Screen(Sql(holds), Sql(f"not ({holds})"))


def _hitting(l: int) -> Screen:
    t = l - 1
    return Screen(
        Sql(f"known > 0 and (alone >= {lit(l)} or reach_{t} < known)"),
        Sql(f"different < {lit(l)} or known < {lit(l)} or known - widest + 1 < {lit(l)}"),
        t,
    )
