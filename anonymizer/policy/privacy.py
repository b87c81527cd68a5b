"""Guarantees for the whole table; every count is of persons where the policy names a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from anonymizer.policy.frozen import FrozenMap, Options, Shorthand, fail
from anonymizer.policy.protect import whole_keys
from anonymizer.policy.values import (
    AtLeastTwo,
    DataFile,
    DataValue,
    OneOf,
    Positive,
    PositiveShare,
    Share,
    TableName,
    file_format,
)


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

    @model_validator(mode="after")
    def _levels(self) -> Privacy:
        if self.level_l is not None:
            if not self.level_l:
                raise fail("names no level", at="level_l", hint="level_l: {0: 1, 1: 2, 2: 3}")
            needed = [self.level_l[level] for level in sorted(self.level_l)]
            if needed != sorted(needed):
                raise fail("asks a higher level for a smaller l than a lower one", at="level_l")
        return self

    @property
    def guarantees(self) -> tuple[str, ...]:
        """Names of the required table guarantees (`level_l` only scales levels)."""
        fields: Any = type(self).model_fields
        other = ("level_l",)
        return tuple(n for n in fields if n not in other and getattr(self, n) is not None)

    @property
    def populations(self) -> dict[str, Population]:
        """The populations that guarantees compare with, by the guarantee's name."""
        asked = ((name, getattr(self, name)) for name in self.guarantees)
        return {name: value.population for name, value in asked if hasattr(value, "population")}

    @property
    def identity_reserved(self) -> tuple[str, ...]:
        """Names of the required identity-reserved guarantees."""
        return tuple(name for name in self.guarantees if name.startswith(("ir_", "eir_")))
