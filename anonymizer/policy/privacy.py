"""Guarantees for a column and for the whole table; counts are of persons where one is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from anonymizer.policy.values import (
    AsTuple,
    AtLeastTwo,
    DataFile,
    DataValue,
    FrozenMap,
    OneOf,
    Options,
    Positive,
    PositiveNumber,
    PositiveShare,
    Share,
    Shorthand,
    TableName,
    fail,
    file_format,
)
from anonymizer.policy.values import Whole as Level

# Rules that protect one sensitive column: l-diversity, t-closeness, alpha, beta, delta, levels.
#
# All rules of a column have to hold. Sensitive NULLs never count towards l.


class TCloseness(Options):
    """Distance of every class's distribution from that of the release (Li et al. 2007)."""

    t: Share
    """Largest distance allowed, between 0 and 1."""
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"
    """Ground distance of the earth mover's distance: equal between any two values, by rank, or by
    the column's hierarchy."""


class RecursiveCL(Options):
    """Recursive (c,l)-diversity (Machanavajjhala et al. 2006): r1 < c·(r_l + … + r_m)."""

    c: PositiveNumber
    """The most frequent value must occur less than c times as often as the tail."""
    l: AtLeastTwo
    """The tail begins with the l-th most frequent value."""


def _t_closeness(given: object) -> object:
    if isinstance(given, int | float) and not isinstance(given, bool):
        return {"t": given}
    if isinstance(given, Mapping | TCloseness):
        return given
    raise fail("must be a number between 0 and 1, or {t, distance}", hint="t_closeness: 0.2")


def whole_keys(given: object) -> object:
    """Parse level numbers in keys: whole numbers, which JSON can only write as text."""
    if not isinstance(given, Mapping):
        return given
    keyed: dict[int, object] = {}
    for key, value in given.items():
        number = key
        if isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 10:
            number = int(key)
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise fail("has a key that is not a level", allowed="whole numbers from 0")
        if number in keyed:
            raise fail(f"names level {number} twice")
        keyed[number] = value
    return keyed


Levels = Annotated[
    FrozenMap[int, Annotated[tuple[DataValue, ...], AsTuple]], BeforeValidator(whole_keys)
]


class Protect(Options):
    """Guarantees for the values of a sensitive or semi-sensitive column in every class."""

    l_diversity: AtLeastTwo | None = None
    """Distinct l-diversity: at least this many different values (Machanavajjhala et al. 2006)."""
    entropy_l: Annotated[float, Field(gt=1)] | None = None
    """Entropy l-diversity: exp(entropy) at least this (Machanavajjhala et al. 2006)."""
    recursive_cl: RecursiveCL | None = None
    """Recursive (c,l)-diversity (Machanavajjhala et al. 2006)."""
    t_closeness: (
        Annotated[
            TCloseness,
            BeforeValidator(_t_closeness),
            Shorthand({"type": "number", "minimum": 0, "maximum": 1}),
        ]
        | None
    ) = None
    """t-closeness to the distribution of the published rows (Li et al. 2007)."""
    alpha: PositiveShare | None = None
    """Largest share of one value in a class, between 0 and 1 (Wong et al. 2006)."""
    beta_likeness: PositiveNumber | None = None
    """Largest relative gain of a value's share over its share in the release (Cao and Karras
    2012)."""
    delta_disclosure: PositiveNumber | None = None
    """Largest |ln| of a value's share in a class over its share in the release (Brickell and
    Shmatikov 2008)."""
    levels: Levels | None = None
    """The values of each security level, for the L_sl model of the algorithm msb."""
    default_level: Level | None = None
    """Level of every value that `levels` does not list."""

    @model_validator(mode="after")
    def _rules(self) -> Protect:
        if self.default_level is not None and self.levels is None:
            raise fail("has a default_level without levels", hint="add levels: {1: […], 0: […]}")
        if all(value is None for name, value in self if name != "default_level"):
            raise fail("names no rule", hint="protect: {l_diversity: 3}")
        if self.levels is not None:
            _check_levels(self.levels)
        return self


def _check_levels(levels: FrozenMap[int, tuple[str | int | float | bool, ...]]) -> None:
    if not levels:
        raise fail("names no level", at="levels")
    seen: dict[tuple[type, object], int] = {}
    for level, values in levels.items():
        for value in values:
            # 1, 1.0 and true are equal in Python, but true is another value in the data
            first = seen.setdefault((bool if isinstance(value, bool) else object, value), level)
            if first != level:
                raise fail(f"lists a value both in level {first} and in level {level}", at="levels")
        if len({(isinstance(value, bool), value) for value in values}) < len(values):
            raise fail("lists a value twice", at=f"levels.{level}")


# Guarantees for the whole table; every count is of persons where the policy names a person.


class Population(OneOf):
    """The population from which the table is a sample, with the same quasi-identifiers."""

    ONE_OF = ("table", "file")

    table: TableName | None = None
    """A table of the source database."""
    file: DataFile | None = None
    """A file (parquet, csv, json)."""


def _population(given: object) -> object:
    if isinstance(given, str):
        return {"file" if file_format(given) else "table": given}
    if isinstance(given, Mapping | Population):
        return given
    raise fail("must name a table or a file", hint="population: {table: main.people}")


PopulationRef = Annotated[
    Population, BeforeValidator(_population), Shorthand({"type": "string", "minLength": 1})
]


class AlphaK(Options):
    """(alpha,k)-anonymity (Wong et al. 2006)."""

    alpha: PositiveShare
    """Largest share of a sensitive value in a class."""
    k: AtLeastTwo
    """Smallest class."""
    value: DataValue | None = None
    """The one value that alpha limits; default: all values."""


class IrKL(Options):
    """Identity-reserved (k,l)-anonymity: k persons and l distinct values in every class."""

    k: AtLeastTwo
    """Fewest persons in a class."""
    l: AtLeastTwo
    """Fewest distinct values in a class."""


class AlphaBeta(Options):
    """Limits of identity-reserved (alpha,beta)-anonymity."""

    alpha: PositiveShare
    """Largest share of a class's rows that belong to one person."""
    beta: PositiveShare
    """Largest share of a class that one sensitive value takes."""


class KMap(Options):
    """k-map: every class matches at least k members of the population (Sweeney 2001)."""

    k: AtLeastTwo
    """Fewest members of the population per class."""
    population: PopulationRef
    """Table or file of the population."""


class DeltaPresence(Options):
    """delta-presence: bounds on the chance that a member is in the table (Nergiz et al. 2007)."""

    min: Share
    """Smallest share of a class's population that is in the table."""
    max: Share
    """Largest share of a class's population that is in the table."""
    population: PopulationRef
    """Table or file of the population."""

    @model_validator(mode="after")
    def _ordered(self) -> DeltaPresence:
        if self.min > self.max:
            raise fail("must not exceed max", at="min")
        return self


class Privacy(Options):
    """Guarantees for the whole table; none is assumed."""

    k_anonymity: AtLeastTwo | None = None
    """k-anonymity: smallest class size (Samarati and Sweeney 1998)."""
    alpha_k: AlphaK | None = None
    """(alpha,k)-anonymity."""
    level_l: Annotated[FrozenMap[int, Positive], BeforeValidator(whole_keys)] | None = None
    """The l that the values of each security level need: {0: 1, 1: 2, 2: 3} (L_sl model)."""
    ir_k: AtLeastTwo | None = None
    """Identity-reserved k-anonymity: fewest persons in a class."""
    ir_kl: IrKL | None = None
    """Identity-reserved (k,l)-anonymity."""
    ir_alpha_beta: AlphaBeta | None = None
    """Identity-reserved (alpha,beta)-anonymity."""
    eir_l: AtLeastTwo | None = None
    """Enhanced identity-reserved l-diversity: smallest reasoning set of a class."""
    eir_alpha_beta: AlphaBeta | None = None
    """Enhanced identity-reserved (alpha,beta)-anonymity."""
    k_map: KMap | None = None
    """k-map against a population."""
    delta_presence: DeltaPresence | None = None
    """delta-presence against a population."""
    units: FrozenMap[str, AtLeastTwo] | None = None
    """Columns that are not published, each with the fewest different values of it in a class:
    {household: 3}."""

    @model_validator(mode="after")
    def _levels(self) -> Privacy:
        if self.level_l is not None:
            if not self.level_l:
                raise fail("names no level", at="level_l", hint="level_l: {0: 1, 1: 2, 2: 3}")
            needed = [self.level_l[level] for level in sorted(self.level_l)]
            if needed != sorted(needed):
                raise fail("asks a higher level for a smaller l than a lower one", at="level_l")
        if self.units is not None and not self.units:
            raise fail("names no column", at="units", hint="units: {household: 3}")
        return self

    @property
    def guarantees(self) -> tuple[str, ...]:
        """Names of the required table guarantees (`level_l` only scales levels)."""
        fields: Any = type(self).model_fields
        other = ("level_l",)
        return tuple(n for n in fields if n not in other and getattr(self, n) is not None)

    @property
    def unit_columns(self) -> tuple[str, ...]:
        """Columns that are not published, of which a class needs several values."""
        return tuple(self.units or ())

    @property
    def populations(self) -> dict[str, Population]:
        """The populations that guarantees compare with, by the guarantee's name."""
        asked = ((name, getattr(self, name)) for name in self.guarantees)
        return {name: value.population for name, value in asked if hasattr(value, "population")}

    @property
    def identity_reserved(self) -> tuple[str, ...]:
        """Names of the required identity-reserved guarantees."""
        return tuple(name for name in self.guarantees if name.startswith(("ir_", "eir_")))
