"""What attacks reach, and the bounds that a release promises."""

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
    """Targets that no row can be: they were left out."""
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
    """Intersecting what two releases allow for a target."""

    column: str
    targets: int
    values_now: float | None
    """Values that a target can have by this release, on average."""
    values_left: float | None
    """Values that both releases allow."""
    exposed: int
    """Targets with several values now, and one by both."""
    below_l: int


@dataclass(frozen=True, slots=True)
class Attack:
    """What the attacks reached."""

    view: str
    share: float
    linking: Linking
    inference: tuple[Inference, ...]
    known_value: tuple[KnownValue, ...]
    intersection: tuple[Intersection, ...]

    @property
    def holds(self) -> bool:
        """Whether no attack got beyond a bound that the release promises."""
        return self.linking.holds and all(found.holds for found in self.inference)

    def as_dict(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "share": self.share,
            "holds": self.holds,
            "linking": {**asdict(self.linking), "holds": self.linking.holds},
            "inference": [{**asdict(i), "holds": i.holds} for i in self.inference],
            "known_value": [asdict(found) for found in self.known_value],
            "intersection": [asdict(found) for found in self.intersection],
        }
