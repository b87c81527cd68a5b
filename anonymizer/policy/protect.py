"""Rules that protect one sensitive column: l-diversity, t-closeness, alpha, beta, delta, levels.

All rules of a column have to hold. Sensitive NULLs never count towards l.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from anonymizer.policy.frozen import AsTuple, FrozenMap, Options, Shorthand, fail
from anonymizer.policy.values import AtLeastTwo, DataValue, PositiveNumber, PositiveShare, Share
from anonymizer.policy.values import Whole as Level


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
    """What must hold for the values of a sensitive or semi-sensitive column in every class."""

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
