"""The hierarchy of a column: one model per builder, discriminated by name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from anonymizer.policy.paths import closest
from anonymizer.policy.values import (
    TAG,
    AsTuple,
    Bound,
    DataValue,
    LocalPath,
    OneOf,
    Options,
    Positive,
    PositiveNumber,
    TableName,
    ascending,
    bound_key,
    fail,
)

# The builders of generalization hierarchies and their options: one model each.


Domain = Annotated[tuple[Bound, Bound], AsTuple, AfterValidator(ascending)]


class Conventional(Options):
    """CGH: the domain is halved from the root down (Yaseen et al. 2018)."""

    builder: Literal["conventional"]
    min_width: PositiveNumber | None = None
    """Narrowest leaf interval, in units of the column (days for dates); default: one unit."""
    domain: Domain | None = None
    """Lowest and highest value of the domain; default: those of the data."""


def _divisors(given: tuple[int, ...]) -> tuple[int, ...]:
    if any(a >= b for a, b in pairwise(given)):
        raise fail("must ascend, each divisor once")
    return given


class Divisor(Options):
    """DBGH: one level per divisor of the largest value (Yaseen et al. 2018)."""

    builder: Literal["divisor"]
    mode: Literal["independent", "chain"] = "chain"
    """`chain` keeps divisors that divide each other, so that levels nest; `independent` keeps all
    of them, as full-domain levels that need not nest."""
    divisors: (
        Annotated[tuple[Positive, ...], AsTuple, Field(min_length=1), AfterValidator(_divisors)]
        | None
    ) = None
    """Widths of the levels, ascending; default: divisors of the largest value."""
    min_width: Positive | None = None
    """Narrowest leaf interval, in units of the column."""
    domain: Domain | None = None
    """Lowest and highest value of the domain; default: those of the data."""

    @model_validator(mode="after")
    def _nest(self) -> Divisor:
        given = self.divisors or ()
        if self.mode == "chain" and any(wide % narrow for narrow, wide in pairwise(given)):
            raise fail(
                "has a divisor that does not divide the next, so levels would not nest",
                at="divisors",
                hint="mode: independent",
            )
        return self


class Cardinality(Options):
    """CBGH: neighbouring intervals are paired by their counts (Yaseen et al. 2018)."""

    builder: Literal["cardinality"]
    min_width: PositiveNumber | None = None
    """Width of the leaf intervals, in units of the column (days for dates); default: one unit."""
    domain: Domain | None = None
    """Lowest and highest value of the domain; default: those of the data."""


class OnTheFly(Options):
    """OTF: neighbours whose weighted centres are closest are merged (Campan and Cooper 2010)."""

    builder: Literal["on_the_fly"]


def _lengths(given: tuple[int, ...]) -> tuple[int, ...]:
    if any(a <= b for a, b in pairwise(given)):
        raise fail("must descend: from the finest level to the coarsest")
    return given


class _Affix(Options):
    lengths: (
        Annotated[tuple[Positive, ...], AsTuple, Field(min_length=1), AfterValidator(_lengths)]
        | None
    ) = None
    """Characters that each level keeps, from the finest level to the coarsest."""
    step: Positive | None = None
    """Characters that each level removes; default: 1. Cannot be combined with lengths."""

    @model_validator(mode="after")
    def _one_way(self) -> _Affix:
        if self.lengths is not None and self.step is not None:
            raise fail("cannot be combined with lengths", at="step", allowed="lengths or step")
        return self


class Prefix(_Affix):
    """Prefixes of codes and postcodes."""

    builder: Literal["prefix"]


class Suffix(_Affix):
    """Suffixes of codes."""

    builder: Literal["suffix"]


DateLevel = Literal["day", "month", "quarter", "year", "decade"]
DATE_LEVELS: tuple[DateLevel, ...] = ("day", "month", "quarter", "year", "decade")


def _date_levels(given: tuple[DateLevel, ...]) -> tuple[DateLevel, ...]:
    ranks = [DATE_LEVELS.index(one) for one in given]
    if any(a >= b for a, b in pairwise(ranks)):
        raise fail("must go from fine to coarse, each level once", allowed=", ".join(DATE_LEVELS))
    return given


class Date(Options):
    """Calendar levels for dates and timestamps."""

    builder: Literal["date"]
    levels: Annotated[
        tuple[DateLevel, ...], AsTuple, Field(min_length=1), AfterValidator(_date_levels)
    ] = DATE_LEVELS
    """Levels from fine to coarse: any of day, month, quarter, year, decade."""


class Intervals(Options):
    """Intervals between given cut points, with bottom- and top-coding."""

    builder: Literal["intervals"]
    cuts: Annotated[tuple[Bound, ...], AsTuple, Field(min_length=1), AfterValidator(ascending)]
    """Ascending cut points; each begins an interval."""
    bottom: Bound | None = None
    """Values below this form one interval (bottom-coding)."""
    top: Bound | None = None
    """Values from this on form one interval (top-coding)."""

    @model_validator(mode="after")
    def _coding(self) -> Intervals:
        given = (self.bottom, *self.cuts, self.top)
        present = [one for one in given if one is not None]
        if len({isinstance(one, str) for one in present}) > 1:
            raise fail("mixes numbers and dates")
        try:
            if self.bottom is not None and bound_key(self.bottom) > bound_key(self.cuts[0]):
                raise fail("must not lie above the first cut", at="bottom")
            if self.top is not None and bound_key(self.top) < bound_key(self.cuts[-1]):
                raise fail("must not lie below the last cut", at="top")
        except TypeError:
            raise fail("mixes dates with and without a time zone") from None
        return self


class Taxonomy(OneOf):
    """A given tree, one row per leaf: the leaf first, then its ancestors up to the root."""

    ONE_OF = ("file", "table")

    builder: Literal["taxonomy"]
    file: LocalPath | None = None
    """CSV file with `;` between the levels and no header."""
    table: TableName | None = None
    """Table of the source database; its columns, in order, are the levels."""
    nested: bool = True
    """True if every level has to be a coarsening of the one below. `false` reads the output of
    `divisor` with mode independent: levels of intervals that need not nest, listed in order."""


class Frequency(Options):
    """Rare values are merged first."""

    builder: Literal["frequency"]


def _distinct(given: tuple[Any, ...]) -> tuple[Any, ...]:
    if len({(isinstance(value, bool), value) for value in given}) < len(given):
        raise fail("lists a value twice")
    return given


class Order(Options):
    """Values in the order given; neighbours are merged."""

    builder: Literal["order"]
    values: Annotated[
        tuple[DataValue, ...], AsTuple, Field(min_length=1), AfterValidator(_distinct)
    ]
    """Every value of the column, in order."""


def levels_given(spec: Options) -> bool:
    """True if the policy alone says how many levels a tree has; else the values do as well."""
    match spec:
        case Taxonomy() | Intervals() | Date() | Order():
            return True
        case Prefix() | Suffix():
            return spec.lengths is not None
        case Conventional():
            return spec.domain is not None
    return False


# The hierarchy of a column: any of the builders, discriminated by name.
#
# `{file: x.csv}` and `{table: t}` without a builder are short for `taxonomy`.


BUILDERS: dict[str, type[Options]] = {
    "conventional": Conventional,
    "divisor": Divisor,
    "cardinality": Cardinality,
    "on_the_fly": OnTheFly,
    "prefix": Prefix,
    "suffix": Suffix,
    "date": Date,
    "intervals": Intervals,
    "taxonomy": Taxonomy,
    "frequency": Frequency,
    "order": Order,
}


def _shorthand(given: object) -> object:
    if isinstance(given, Options):
        return given
    if not isinstance(given, Mapping):
        raise fail("must be a mapping", hint="hierarchy: {builder: cardinality}")
    named = given.get("builder")
    if "builder" not in given:
        if "file" not in given and "table" not in given:
            raise fail("is missing", at="builder", allowed=", ".join(BUILDERS))
        return {"builder": "taxonomy", **given}
    if not isinstance(named, str) or named not in BUILDERS:
        raise fail(
            "is not a builder",
            at="builder",
            allowed=", ".join(BUILDERS),
            hint=closest(named, BUILDERS),
        )
    return given


def _tag(given: Any) -> str:
    return TAG + str(given["builder"] if isinstance(given, Mapping) else given.builder)


Hierarchy = Annotated[
    Annotated[Conventional, Tag(TAG + "conventional")]
    | Annotated[Divisor, Tag(TAG + "divisor")]
    | Annotated[Cardinality, Tag(TAG + "cardinality")]
    | Annotated[OnTheFly, Tag(TAG + "on_the_fly")]
    | Annotated[Prefix, Tag(TAG + "prefix")]
    | Annotated[Suffix, Tag(TAG + "suffix")]
    | Annotated[Date, Tag(TAG + "date")]
    | Annotated[Intervals, Tag(TAG + "intervals")]
    | Annotated[Taxonomy, Tag(TAG + "taxonomy")]
    | Annotated[Frequency, Tag(TAG + "frequency")]
    | Annotated[Order, Tag(TAG + "order")],
    Discriminator(_tag),
    BeforeValidator(_shorthand),
]
"""Any of the builders, distinguished by `builder`."""
