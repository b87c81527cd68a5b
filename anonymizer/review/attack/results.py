"""Results of attacks, and the bounds that a release guarantees."""

from __future__ import annotations

from collections.abc import Mapping
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
class Differences:
    """Rows of one of two releases only: of those who left, joined or changed.

    Classes of the two are joined where somebody could be in both; such a part shows rows that the
    other release does not have.
    """

    columns: tuple[str, ...]
    """The columns whose values both releases publish as they are."""
    gone: int
    """Rows that the earlier release has and this one does not."""
    come: int
    """Rows that this release has and the earlier one does not."""
    below_k: int
    """Such rows of which there are fewer than k in their part."""
    fewest: int | None
    below_l: Mapping[str, int]
    """By column: such rows that show fewer values than this release guarantees."""
    k: int | None

    @property
    def holds(self) -> bool:
        """Whether those who left or joined have the guarantees of the releases."""
        return not self.below_k and not any(self.below_l.values())

    def says(self) -> list[str]:
        """What the differences show, in sentences; empty if they do no harm."""
        of = f"of {self.gone + self.come:,} rows that one of the releases has"
        said = []
        if self.below_k:
            said.append(
                f"{self.below_k:,} {of} are read from the differences of classes, among fewer than"
                f" {self.k}, at the worst {self.fewest}"
            )
        said += [
            f"{n:,} {of} show too few values of {column} in the differences of classes"
            for column, n in self.below_l.items()
            if n
        ]
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
    differences: Differences | None = None
    """What classes of one release show and those of the other do not; None if nothing that both
    publish as it is can differ, or if they keep signatures."""

    @property
    def holds(self) -> bool:
        """Whether no attack exceeds a promised bound, including attacks with an earlier release."""
        return self.alone_holds and self.together_holds

    @property
    def together_holds(self) -> bool:
        """Whether the guarantees of this release and of the earlier one hold for both together."""
        different = self.differences is None or self.differences.holds
        return different and all(found.holds for found in self.intersection)

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
        intersected = any(found.targets for found in self.intersection)
        return self.beside and not intersected and self.differences is None

    def together(self) -> list[str]:
        """The effect of this release and the earlier one together, in words."""
        said = [one for found in self.intersection for one in found.says(self.unit)]
        return said + (self.differences.says() if self.differences is not None else [])

    def broken(self) -> list[str]:
        """What breaks a guarantee of this release and the earlier one together, in words."""
        said = [s for x in self.intersection if not x.holds for s in x.says(self.unit)]
        different = self.differences
        return said + (different.says() if different is not None and not different.holds else [])

    def as_dict(self) -> dict[str, Any]:
        d = self.differences
        return {
            "view": self.view,
            "share": self.share,
            "holds": self.holds,
            "linking": {**asdict(self.linking), "holds": self.linking.holds},
            "inference": [{**asdict(i), "holds": i.holds} for i in self.inference],
            "known_value": [asdict(found) for found in self.known_value],
            "proved_records": self.proved,
            "intersection": [{**asdict(x), "holds": x.holds} for x in self.intersection],
            "differences": None if d is None else {**asdict(d), "holds": d.holds},
        }
