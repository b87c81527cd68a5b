"""What a paper says, what was measured, and the verdict between the two."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchmarks.common import Record
from benchmarks.reproduce.interval import Interval, interval


class Verdict(StrEnum):
    """Of one claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    """Measured, but the interval crosses a bound, or there is none as only one seed was run."""
    UNTESTED = "cannot be tested"
    """Something is missing: data that is not public, a figure that is an image, a measurement."""


@dataclass(frozen=True)
class Rule:
    """Where the figure must lie for the claim to hold: the tolerance, stated on the page."""

    least: float = -math.inf
    most: float = math.inf

    def verdict(self, found: Interval) -> Verdict:
        """Only an interval that lies on one side of the bounds decides."""
        if self.least <= found.low and found.high <= self.most:
            return Verdict.HOLDS
        if found.high < self.least or found.low > self.most:
            return Verdict.FAILS
        return Verdict.UNDECIDED

    def __str__(self) -> str:
        if self.least == self.most:
            return f"{self.least:g}"
        if math.isinf(self.most):
            return f"at least {self.least:g}"
        if math.isinf(self.least):
            return f"at most {self.most:g}"
        return f"{self.least:g} to {self.most:g}"


class Runs:
    """Measured records: parameters, `seed`, and figures."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = list(records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def where(self, **fixed: Any) -> Runs:
        """Those with these parameters."""
        return Runs(r for r in self if all(r.get(k) == v for k, v in fixed.items()))

    def all(self, name: str) -> list[Any]:
        """The different values of a parameter or figure, ascending."""
        return sorted({r[name] for r in self if r.get(name) is not None})

    def by_seed(self) -> Iterator[Runs]:
        for seed in self.all("seed"):
            yield self.where(seed=seed)

    def one(self, figure: str, **fixed: Any) -> float:
        """The figure of the only record with these parameters."""
        (found,) = (r[figure] for r in self.where(**fixed))
        return float(found)

    def has(self, **fixed: Any) -> bool:
        return bool(self.where(**fixed).records)


Measure = Callable[[Runs], "float | None"]
"""The figure of a claim from the runs of one seed; None where they do not have it."""


@dataclass(frozen=True)
class Claim:
    """One sentence, table or curve of a paper."""

    where: str
    """Its table, figure or section."""
    says: str
    paper: str
    """The paper's figure, or what it says in words."""
    figure: str = ""
    """What the number beside it is."""
    measure: Measure | None = None
    rule: Rule = field(default_factory=Rule)
    why: str = ""
    """The cause where it does not hold; the reason where it cannot be tested."""
    remark: str = ""
    """What to know of it whatever the verdict."""
    chance: bool = True
    """False where nothing is drawn and no time is taken, so that one run says all."""


@dataclass(frozen=True)
class Finding:
    """A claim with what was measured."""

    claim: Claim
    found: Interval | None
    verdict: Verdict

    @property
    def why(self) -> str:
        """What the page adds to the verdict."""
        reasons = [self.claim.remark]
        if self.verdict is not Verdict.HOLDS:
            reasons.insert(0, self.claim.why)
        if self.verdict is Verdict.UNTESTED and self.claim.measure is not None:
            reasons.insert(0, "Not measured in this run.")
        if self.verdict is Verdict.UNDECIDED and self.found is not None:
            cause = f"The interval of {self.found.values} seeds crosses the bound."
            if self.found.values == 1:
                cause = "One seed has no interval."
            reasons.insert(0, cause)
        return " ".join(reason for reason in reasons if reason)


def judged(claim: Claim, runs: Runs) -> Finding:
    """One value per seed, their interval, and whether it lies within the rule."""
    if claim.measure is None:
        if not claim.why:
            raise ValueError(f"{claim.where}: says neither how it is measured nor why not")
        return Finding(claim, None, Verdict.UNTESTED)
    values = [value for one in runs.by_seed() if (value := claim.measure(one)) is not None]
    if not values:
        return Finding(claim, None, Verdict.UNTESTED)
    found = interval(values)
    if claim.chance and found.values == 1:
        return Finding(claim, found, Verdict.UNDECIDED)
    return Finding(claim, found, claim.rule.verdict(found))


@dataclass(frozen=True)
class Effort:
    """How much a run measures."""

    quick: bool
    seeds: int
    jobs: int
    scratch: Path
    """A folder for made tables."""


@dataclass(frozen=True)
class Panel:
    """A table and a plot: one line per series, a mean with its interval per point."""

    name: str
    title: str
    x: str
    y: str
    label: str
    """Of the measure."""
    series: Callable[[Record], str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    log: bool = False


SEEDS = 8
"""Of every page on which something is drawn: five leave about ten claims more undecided."""

SHARED = (
    "benchmarks/reproduce/claims.py",
    "benchmarks/reproduce/interval.py",
    "benchmarks/trial.py",
)
"""What every page depends on."""


@dataclass(frozen=True)
class Paper:
    """One paper: how it is measured, what it claims, and what its page says besides."""

    name: str
    title: str
    citation: str
    inputs: tuple[str, ...]
    """Its own code: files, folders and classes (`fingerprint`)."""
    seeds: int
    measured: Callable[[Effort], list[dict[str, Any]]]
    claims: tuple[Claim, ...]
    figures: Mapping[str, tuple[Panel, ...]]
    """Plots by file name; several panels stand side by side."""
    notes: str
    """Differences from the paper, and what the figures are."""
    more: Callable[[Runs], str] = lambda runs: ""
    """Further tables."""

    @property
    def code(self) -> tuple[str, ...]:
        """All that its page is hashed over."""
        return (*self.inputs, *SHARED)
