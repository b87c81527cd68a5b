"""Results of attacks, and the bounds that a release guarantees."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

ROUNDING = 1e-6
"""Probabilities are rounded to nine digits."""


@dataclass(frozen=True, slots=True)
class Linking:
    """Finding the targets' rows (persons) by their quasi-identifiers."""

    targets: int
    not_found: int
    """Targets without a candidate row, because they were suppressed."""
    fewest_candidates: int | None
    mean_candidates: float | None
    success: float
    """Expected share of targets whose row is picked."""
    most: float
    """Largest probability for one target."""
    bound: float | None
    """1/k, if the release guarantees k."""
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
    """Largest probability that an observer assigns to one value of one target."""
    success: float | None
    """Expected share of targets whose value is guessed correctly."""
    blind_success: float | None
    """The same without the targets' quasi-identifiers: always guessing the most frequent value."""
    bound: float | None
    """1/l or alpha, if the release guarantees it for single persons."""

    @property
    def holds(self) -> bool:
        if self.bound is None or self.most_confident is None:
            return True
        return self.most_confident <= self.bound + ROUNDING


@dataclass(frozen=True, slots=True)
class KnownValue:
    """Finding targets by quasi-identifiers and one sensitive value; no model guarantees k here."""

    column: str
    targets: int
    fewest_candidates: int | None
    success: float
    singled_out: int
    below_k: int


@dataclass(frozen=True, slots=True)
class Intersection:
    """Intersecting what two releases allow for a target, by one sensitive column.

    Targets are rows, or persons if the release numbers them. Targets whose own value is impossible
    in one of the releases are not in both and are not counted. The releases do not show whether the
    others are in both, so a target that is new in this release may be counted.
    """

    column: str
    targets: int
    values_now: float | None
    """Mean number of values that this release allows for a target."""
    values_left: float | None
    """Mean number of values that both releases allow."""
    exposed: int
    """Targets with several values by this release, and one by both."""
    below_l: int
    """Targets with fewer than l values left; fewer than two if no l is guaranteed."""
    fewest_left: int | None
    """Fewest candidates that both releases leave for a target."""
    below_k: int
    """Targets with fewer candidates left than both releases guarantee."""
    k: int | None
    """Candidates that both releases guarantee, if any."""
    l: int | None
    """Values that this release guarantees, if any."""

    @property
    def holds(self) -> bool:
        """Whether the guarantees of each release hold for both together."""
        return (self.k is None or not self.below_k) and (self.l is None or not self.below_l)

    def says(self, unit: str) -> list[str]:
        """The effect of both releases together, in sentences; empty if they do no harm."""
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
    """Results of the attacks."""

    view: str
    share: float
    linking: Linking
    inference: tuple[Inference, ...]
    known_value: tuple[KnownValue, ...]
    intersection: tuple[Intersection, ...]
    unit: str = "rows"
    proved: int | None = None
    """Complete records that the cells prove and fewer than k rows (persons) may share."""
    beside: bool = False
    """Whether an earlier release was compared."""

    @property
    def holds(self) -> bool:
        """Whether no attack exceeds a promised bound, including attacks with an earlier release."""
        return self.alone_holds and all(found.holds for found in self.intersection)

    @property
    def alone_holds(self) -> bool:
        """Whether no attack on this release alone exceeds a bound."""
        return self.linking.holds and all(found.holds for found in self.inference)

    @property
    def exposed(self) -> int:
        """Targets with one value left by both releases, in the worst column."""
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
            "proved_records": self.proved,
            "intersection": [{**asdict(x), "holds": x.holds} for x in self.intersection],
        }
