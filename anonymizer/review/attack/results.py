"""Results of attacks, and the bounds that a release promises."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

ROUNDING = 1e-6
"""Chances are rounded to nine digits."""


@dataclass(frozen=True, slots=True)
class Linking:
    """Finding the targets' rows (persons) by their quasi-identifiers."""

    targets: int
    not_found: int
    """Targets without a candidate row: they were suppressed."""
    fewest_candidates: int | None
    mean_candidates: float | None
    success: float
    """Expected share of targets whose row is picked."""
    most: float
    """Largest chance for one target."""
    bound: float | None
    """1/k, where the release promises k."""
    beyond: int
    """Targets with fewer candidates than k."""

    @property
    def holds(self) -> bool:
        return self.bound is None or self.most <= self.bound + ROUNDING


@dataclass(frozen=True, slots=True)
class Inference:
    """Guessing a sensitive value of the targets."""

    column: str
    targets: int
    most_confident: float | None
    """Largest chance that an observer gives to one value of one target."""
    success: float | None
    """Expected share of targets guessed right."""
    blind_success: float | None
    """The same without the targets' quasi-identifiers: always the commonest value."""
    bound: float | None
    """1/l or alpha, where the release promises it for single persons."""

    @property
    def holds(self) -> bool:
        if self.bound is None or self.most_confident is None:
            return True
        return self.most_confident <= self.bound + ROUNDING


@dataclass(frozen=True, slots=True)
class KnownValue:
    """Finding the targets by quasi-identifiers and one sensitive value: no model promises k."""

    column: str
    targets: int
    fewest_candidates: int | None
    success: float
    singled_out: int
    below_k: int


@dataclass(frozen=True, slots=True)
class Intersection:
    """Intersecting what two releases allow for a target, by one sensitive column.

    Targets are rows, or persons if the release numbers them. Only targets whose own value is
    possible in both releases are counted: the others are not in both. Nobody can tell from the
    releases whether the rest is, so somebody who is new may be counted.
    """

    column: str
    targets: int
    values_now: float | None
    """Values that a target can have by this release, on average."""
    values_left: float | None
    """Values that both releases allow."""
    exposed: int
    """Targets with several values now, and one by both."""
    below_l: int
    """Targets with fewer than l values left; fewer than two where no l is promised."""
    fewest_left: int | None
    """Fewest candidates that both releases leave for a target."""
    below_k: int
    """Targets with fewer candidates left than both releases promise."""
    k: int | None
    """What both releases promise of candidates, if anything."""
    l: int | None
    """What this release promises of values, if anything."""

    @property
    def holds(self) -> bool:
        """Whether the promises of each release hold of both together."""
        return (self.k is None or not self.below_k) and (self.l is None or not self.below_l)

    def says(self, unit: str) -> list[str]:
        """What both releases together do to whom, in words; nothing where they do no harm."""
        of = f"of {self.targets:,} {unit}"
        said = []
        if self.exposed:
            said.append(f"{self.exposed:,} {of} have one value of {self.column} left")
        if self.l is not None and self.below_l:
            said.append(f"{self.below_l:,} {of} have fewer than {self.l} values of {self.column}")
        if self.k is not None and self.below_k:
            said.append(
                f"{self.below_k:,} {of} are among fewer than {self.k}, at the worst"
                f" {self.fewest_left}, by {self.column}"
            )
        return said


@dataclass(frozen=True, slots=True)
class Attack:
    """What the attacks reached."""

    view: str
    share: float
    linking: Linking
    inference: tuple[Inference, ...]
    known_value: tuple[KnownValue, ...]
    intersection: tuple[Intersection, ...]
    unit: str = "rows"
    beside: bool = False
    """Whether an earlier release was laid beside it."""

    @property
    def holds(self) -> bool:
        """Whether no attack exceeds a promised bound, including attacks with an earlier release."""
        return self.alone_holds and all(found.holds for found in self.intersection)

    @property
    def alone_holds(self) -> bool:
        """The same of the release alone."""
        return self.linking.holds and all(found.holds for found in self.inference)

    @property
    def exposed(self) -> int:
        """Targets that both releases leave one value, by the worst column."""
        return max((found.exposed for found in self.intersection), default=0)

    @property
    def uncompared(self) -> bool:
        """Whether an earlier release shares no sensitive column, or no target, with this one."""
        return self.beside and not any(found.targets for found in self.intersection)

    def together(self) -> list[str]:
        """The effect of this release and the earlier one together, in words."""
        return [said for found in self.intersection for said in found.says(self.unit)]

    def as_dict(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "share": self.share,
            "holds": self.holds,
            "linking": {**asdict(self.linking), "holds": self.linking.holds},
            "inference": [{**asdict(i), "holds": i.holds} for i in self.inference],
            "known_value": [asdict(found) for found in self.known_value],
            "intersection": [{**asdict(x), "holds": x.holds} for x in self.intersection],
        }
