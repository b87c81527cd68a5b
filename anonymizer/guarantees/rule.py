"""Rules: privacy models as SQL that judges a class, with exact comparisons."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar, Literal, TypeAlias

from anonymizer.compile import Sql, lit

# Exact comparisons: parameters as fractions, counts as whole numbers.
#
# `n/N <= alpha` is computed as `n * denominator <= numerator * N`, so that ties are exact on every
# engine, with any number of threads. Products of two counts fit a BIGINT as long as group and
# reference hold fewer than 3·10^9 units (beyond that engines raise an overflow error); larger
# products are DECIMAL(38, 0).


DIGITS = 18
"""Decimal places of a parameter below 1, significant digits of a larger one. The verifier and the
second verifier state the same number; docs/models.md gives it to the reader."""

SHARE_DIGITS = 12
"""Decimal places of a share that a statement multiplies by a count of rows."""

LARGEST = 10**12
"""Upper limit of a parameter: more than any ratio of two supported counts."""


def at_most(parameter: float) -> Fraction:
    """An upper bound as an exact fraction: 0.2 is 1/5.

    Taken to 18 digits and rounded down, the strict direction for an upper bound.
    """
    return _fraction(Decimal(repr(float(parameter))), ROUND_FLOOR)


def at_least(parameter: float) -> Fraction:
    """A lower bound as an exact fraction, to 18 digits, rounded up, the strict direction."""
    return _fraction(Decimal(repr(float(parameter))), ROUND_CEILING)


def share_at_most(share: float) -> Sql:
    """A share as a decimal, rounded down: floor(it * n) is the largest count out of n."""
    exact = Decimal(repr(float(share)))
    decimal = exact.quantize(Decimal(1).scaleb(-SHARE_DIGITS), rounding=ROUND_FLOOR)
    return Sql(f"cast('{decimal:f}' as decimal(18, {SHARE_DIGITS}))")


def fewest(share: float) -> int:
    """The fewest units of which none has more than `share` of all."""
    bound = at_most(share)
    return math.ceil(1 / bound) if bound else 10**DIGITS


def exp_at_most(parameter: float) -> Fraction:
    """The exponential of a parameter as an upper bound, to 18 digits, rounded down."""
    with localcontext() as context:
        context.prec = 60
        return _fraction(min(Decimal(repr(float(parameter))), Decimal(28)).exp(), ROUND_FLOOR)


def _fraction(number: Decimal, rounding: str) -> Fraction:
    if not number.is_finite() or number >= LARGEST:
        return Fraction(LARGEST)
    decimals = DIGITS - max(0, number.adjusted() + 1)
    with localcontext() as context:
        context.prec = 60
        return Fraction(number.quantize(Decimal(1).scaleb(-decimals), rounding=rounding))


def big(expression: str) -> str:
    """The expression as a 38-digit whole number, large enough for products of three counts."""
    return f"cast({expression} as decimal(38, 0))"


def within(most: str, bound: Fraction, among: str) -> str:
    """SQL condition on aggregates: `most` is at most the share `bound` of `among`. Exact."""
    return f"{big(most)} * {lit(bound.denominator)} <= {big(among)} * {lit(bound.numerator)}"


def share_of_known(numerator: str, denominator: str) -> Sql:
    """A quotient for reports; infinite if the denominator is 0, where no bound holds."""
    return Sql(
        f"coalesce(cast({numerator} as double) / nullif(cast({denominator} as double), 0),"
        f" {lit(math.inf)})"
    )


def share(numerator: str, denominator: str) -> Sql:
    """A quotient for reports (double precision); 0 if the denominator is 0."""
    return Sql(
        f"coalesce(cast({numerator} as double) / nullif(cast({denominator} as double), 0),"
        " cast(0 as double))"
    )


# Rules: privacy models as parameters, and SQL that judges a class.
#
# A rule is judged over a relation that holds some rows for every *group* (a class, one half of a
# candidate cut, a lattice node's class). Its `basis` says which relation:
#
# `histogram` One row per group and sensitive value: `value` (code: 0 NULL, 1..m in the column's
# order), `n` (units with that value in the group: rows, or different (person, value) pairs), and of
# the reference, the published table: `q` (units with that value), `q_known` (units with any value),
# `q_size` (units, NULL included), `m` (number of non-NULL values). A rule with `dense` needs a row
# for every value of the reference in every group, with `n` = 0 where it is absent. `pairs` One row
# per group and different (person, value): `person`, `value` (0 for NULL, whose rows are kept, so
# that persons without a value count as persons), and for shares of records `n`, the records with
# this pair. `classes` Rows with an additive `n` (units of the group), and `population` for the
# models that need it. The histogram of one column serves for `n` as well.
#
# Window columns are named `group_…`, `rank_by_…`, `running_…`, `surplus_…`, `first_…`,
# `leaf_surplus`, `person_…`, `value_…` and `eir_…`: names that the relation must not have.
#
# Every rule of this package is preserved under union: if two groups satisfy it, so does their union
# (for models of persons: if no person is in both). Hence, if the whole table as one group fails,
# every partition fails, which is how infeasible policies are found.


Basis: TypeAlias = Literal["histogram", "pairs", "classes"]
Layer: TypeAlias = Mapping[str, Sql]
Layers: TypeAlias = tuple[Layer, ...]


@dataclass(frozen=True, slots=True)
class Rule(ABC):
    """One requirement. A model with two figures, such as IR (k,l), is two rules."""

    name: ClassVar[str]
    """Unique among the rules that are judged over one relation."""
    basis: ClassVar[Basis] = "histogram"
    dense: ClassVar[bool] = False
    """Needs a row for every value of the reference in every group."""
    paths: ClassVar[bool] = False
    """Needs the ancestors `a1` (parent) to `ah` (root) of every value in the histogram."""
    relative: ClassVar[bool] = False
    """Compares a class with the whole table, so suppression affects what other classes need."""
    upward: ClassVar[bool] = False
    """Continues to hold for a group when any units are added to it."""

    column: str | None
    """The sensitive column; None for rules that do not depend on values."""
    _: KW_ONLY
    null_as_value: bool = False
    """Treat NULL as one more value. By default it never counts towards l, and shares are relative
    to the non-NULL values."""

    def layers(self, part: Sql) -> Layers:
        """Window columns, added layer by layer; each layer is a SELECT around the previous one.

        `part` is the list of partition columns of the group; it may be empty. Columns of the same
        name are the same column in every rule.
        """
        del part
        return ()

    @abstractmethod
    def holds(self) -> Sql:
        """Aggregate over the rows of a group, after the layers: true or false, never NULL."""

    @abstractmethod
    def achieved(self) -> Sql:
        """Aggregate over the rows of a group: the achieved figure, for reports."""

    # The following define, for all rules on values, which values count.

    @property
    def counts(self) -> str:
        """Condition: this row's value counts."""
        return "value >= 0" if self.null_as_value else "value > 0"

    @property
    def known_units(self) -> str:
        """Aggregate: units of the group whose value counts."""
        return f"coalesce(sum(n) filter (where {self.counts}), 0)"

    @property
    def q_total(self) -> str:
        """Column: units of the reference whose value counts."""
        return "q_size" if self.null_as_value else "q_known"

    @property
    def reference_values(self) -> str:
        """Aggregate: number of values of the reference that count."""
        return categories() if self.null_as_value else "coalesce(max(m), 0)"

    def known_layer(self, part: Sql) -> tuple[str, Layer]:
        """A window column with the units of the group whose value counts, and its name."""
        if self.null_as_value:
            return "group_size", size_layer(part)
        over = window(part)
        text = f"cast(sum(case when value > 0 then n else 0 end) {over} as bigint)"
        return "group_known", layer(group_known=text)


@dataclass(frozen=True, slots=True)
class ShareRule(Rule):
    """Compares the share of every value in the class with its share in the reference."""

    relative: ClassVar[bool] = True

    def layers(self, part: Sql) -> Layers:
        return (self.known_layer(part)[1],)

    @property
    def _counted_values(self) -> str:
        return f"{self.counts} and n > 0"

    @property
    def _share_in_class(self) -> str:
        """The share of a value in the class, times the units of class and reference."""
        return f"(n * {self.q_total})"

    @property
    def _share_in_reference(self) -> str:
        """Its share in the reference, times the same units."""
        return f"(q * {'group_size' if self.null_as_value else 'group_known'})"


def categories() -> str:
    """Aggregate: number of categories of the reference, including NULL if it occurs."""
    return "(coalesce(max(m), 0) + case when max(q_size) > max(q_known) then 1 else 0 end)"


def layer(**columns: str) -> Layer:
    """A layer of window columns."""
    return MappingProxyType({name: Sql(text) for name, text in columns.items()})


def size_layer(part: Sql) -> Layer:
    """A window column with all units of the group."""
    return layer(group_size=f"cast(sum(n) {window(part)} as bigint)")


def window(part: Sql, *more: str, order: str | None = None, running: bool = False) -> str:
    """An OVER clause within the group, divided further by `more`."""
    keys = ", ".join([*([part.text] if part.text else []), *more])
    pieces = [f"partition by {keys}"] if keys else []
    pieces += [f"order by {order}"] if order else []
    pieces += ["rows unbounded preceding"] if running else []
    return f"over ({' '.join(pieces)})"


# The window columns of several rules that are judged over one relation.


def all_hold(rules: Sequence[Rule]) -> Sql:
    """Aggregate over the rows of a group, after the layers: whether every rule holds."""
    return Sql(" and ".join(f"({rule.holds()})" for rule in rules))


def merge_layers(rules: Sequence[Rule], part: Sql) -> tuple[tuple[tuple[str, Sql], ...], ...]:
    """The layers of several rules over one relation, as templates list their columns; shared
    columns occur once.
    """
    merged: list[dict[str, Sql]] = []
    seen: dict[str, tuple[int, Sql]] = {}
    for rule in rules:
        for depth, columns in enumerate(rule.layers(part)):
            if depth == len(merged):
                merged.append({})
            for name, expression in columns.items():
                if seen.setdefault(name, (depth, expression)) != (depth, expression):
                    raise ValueError(f"two rules define the column {name} differently")
                merged[depth][name] = expression
    return tuple(tuple(layer.items()) for layer in merged)
