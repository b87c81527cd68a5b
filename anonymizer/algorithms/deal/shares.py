"""Limits on the shares of a sensitive column's values that follow from its rules.

A class holds t-closeness by equal distance if the surplus of its values over their shares is at
most t: sum of max(0, p_s - q_s) <= t. No hierarchical distance is greater. Under an ordered
distance, consecutive values are grouped, which is a good enough approximation to try.
Beta-likeness and alpha limit the share of single values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.compile import Sql, Table, lit
from anonymizer.privacy.alpha import Alpha
from anonymizer.privacy.beta_likeness import BetaLikeness
from anonymizer.privacy.judge import merge_layers
from anonymizer.privacy.rule import Rule
from anonymizer.privacy.t_equal import TCloseness
from anonymizer.privacy.t_ordered import TOrdered
from anonymizer.source.profile import Sensitive

PARTS = 2
"""Under an ordered distance, values are grouped into about PARTS / t parts."""
MOST_PARTS = 1_000
"""Values, or groups of them, beyond which no units are dealt."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The rules of one column over classes, to be judged by the rules' own statements."""

    cells: Table
    reference: Table
    dense: bool
    """Whether every class has a row for every value."""
    layers: tuple[tuple[tuple[str, Sql], ...], ...]
    holds: Sql


@dataclass(frozen=True, slots=True)
class Shares:
    """How the rules of a column limit the shares of its values in a class."""

    cells: Table
    reference: Table
    t: float
    """Largest surplus of a class, as a share of its rows."""
    parts: int | None
    """Number of parts of the ordered values; None: every value is a part."""
    most: Sql
    """The largest share of a value in a class, over `q`, `total` and `q_known`."""


def judged(column: Sensitive, rules: Sequence[Rule]) -> Judged:
    """The rules as a statement over classes, which are `block` and `grp`."""
    layers = merge_layers(rules, Sql("block, grp"))
    holds = Sql(" and ".join(f"({rule.holds()})" for rule in rules))
    dense = any(rule.dense for rule in rules)
    listed = tuple(tuple(one.items()) for one in layers)
    return Judged(column.cells, column.reference, dense, listed, holds)


def shares(column: Sensitive, rules: Sequence[Rule]) -> Shares | None:
    """The limits of a column; None if its rules give no limits by which units can be dealt."""
    if not any(rule.relative for rule in rules):
        return None
    if any(rule.dense and not isinstance(rule, TCloseness) for rule in rules):
        # a class that needs every value has to be as large as the rarest one requires
        return None
    close = [rule for rule in rules if isinstance(rule, TCloseness)]
    t = min((rule.t for rule in close), default=1.0)
    ordered = any(isinstance(rule, TOrdered) for rule in close)
    limits = [] if ordered else [limit for rule in rules for limit in _limits(rule)]
    return Shares(
        cells=column.cells,
        reference=column.reference,
        t=t,
        # (t may be 0, and no group of values is as close as that)
        parts=round(PARTS / t) + 1 if ordered and t * MOST_PARTS > PARTS else None,
        most=Sql(f"least({', '.join([*limits, '1.0'])})") if limits else Sql("1.0"),
    )


def _limits(rule: Rule) -> list[str]:
    share = "cast(q as double) / q_size"
    match rule:
        case BetaLikeness():
            gain = f"{lit(float(rule.beta))}"
            if rule.enhanced:
                gain = f"least({gain}, - ln({share}))"
            return [f"{share} * (1 + {gain})"]
        case Alpha(only=None):
            return [f"{lit(float(rule.alpha))}"]
        case _:
            return []
