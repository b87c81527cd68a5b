"""The parts of a standard's page, and how each is filled from a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from anonymizer.contract.checks import Check
from anonymizer.policy.safe_harbor import PRESET
from anonymizer.process.text import figure
from anonymizer.review.assess.risk import at_risk_below
from anonymizer.review.evidence.entries import Cell, Compared, Entry, Open, Rows, Stated, Words
from anonymizer.review.evidence.facts import Facts
from anonymizer.review.report.words import CHECKS

Sentences: TypeAlias = tuple[str, ...]
IN_CONTEXT = "state it in the policy: context: {{{field}: …}}"
BY_HAND = "to be filled in by a person"
STATED = "Largest risk, against what the policy's context states as acceptable"
WITH_SOURCE = "anonymizer report POLICY --source DATABASE"


class Part(Protocol):
    """One element of a section."""

    def entries(self, facts: Facts) -> Iterator[Entry]:
        """Its entries for one report."""


@dataclass(frozen=True, slots=True)
class Says:
    """The standard's own text."""

    text: str

    def entries(self, facts: Facts) -> Iterator[Entry]:
        del facts
        yield Words((self.text,))


@dataclass(frozen=True, slots=True)
class Quotes:
    """Sentences of the report."""

    of: Callable[[Facts], Sentences]

    def entries(self, facts: Facts) -> Iterator[Entry]:
        if found := self.of(facts):
            yield Words(found)


@dataclass(frozen=True, slots=True)
class Figure:
    """A named figure by its path in the report, with another path for persons."""

    says: str
    path: str
    of_persons: str | None = None

    def path_in(self, facts: Facts) -> str:
        """The path of the figure in this report."""
        persons = facts.report.unit == "persons"
        return self.of_persons if persons and self.of_persons else self.path


@dataclass(frozen=True, slots=True)
class Figures:
    """A table of figures; missing figures are open fields, or omitted."""

    caption: str
    listed: tuple[Figure, ...]
    without: str | None = None
    """How to obtain the missing figures; None omits them."""

    def entries(self, facts: Facts) -> Iterator[Entry]:
        rows, missing = [], []
        for one in self.listed:
            says = one.says.format(unit=facts.report.unit)
            value = facts.value(one.path_in(facts))
            if value is None:
                missing.append(says)
            else:
                rows.append((says, value))
        if rows:
            yield Rows(self.caption, ("Figure", "Value"), tuple(rows))
        if missing and self.without is not None:
            yield Open(f"{self.caption}: {'; '.join(missing)}", self.without)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A figure that must not exceed a number of the standard."""

    says: str
    of: Figure
    at_most: float

    def entries(self, facts: Facts) -> Iterator[Entry]:
        yield from compared(facts, self.says, self.of, self.at_most)


@dataclass(frozen=True, slots=True)
class Acceptable:
    """A figure for which the standard has no number; the policy's context may state one."""

    says: str
    of: Figure

    def entries(self, facts: Facts) -> Iterator[Entry]:
        stated = facts.context.acceptable_risk
        if stated is None:
            how = f"{BY_HAND}, or {IN_CONTEXT.format(field='acceptable_risk')}"
            yield Open(self.says, how)
            return
        yield from compared(facts, STATED, self.of, stated)


def compared(facts: Facts, says: str, of: Figure, at_most: float) -> Iterator[Entry]:
    """Compare a figure with a threshold, and state the class size that the threshold requires."""
    value = facts.value(of.path_in(facts))
    unit = facts.report.unit
    asked = f"at most {figure(at_most)}: classes of {figure(at_risk_below(at_most))} {unit} or more"
    if value is None:
        yield Open(f"{says} ({asked})", "the release has no classes, and the report no such figure")
        return
    yield Compared(f"{says} ({asked})", at_most, value, value.value <= at_most)


@dataclass(frozen=True, slots=True)
class Ask:
    """A statement that the policy's context can make."""

    says: str
    field: str

    def entries(self, facts: Facts) -> Iterator[Entry]:
        stated = getattr(facts.context, self.field)
        if stated is None:
            yield Open(self.says, f"{BY_HAND}, or {IN_CONTEXT.format(field=self.field)}")
            return
        text = (stated,) if isinstance(stated, str) else tuple(map(str, stated))
        yield Stated(self.says, f"context.{self.field}", text)


@dataclass(frozen=True, slots=True)
class ByHand:
    """What no policy states: a judgement, or a signature."""

    says: str

    def entries(self, facts: Facts) -> Iterator[Entry]:
        del facts
        yield Open(self.says, BY_HAND)


@dataclass(frozen=True, slots=True)
class Columns:
    """Every column of the source and its treatment."""

    caption: str

    def entries(self, facts: Facts) -> Iterator[Entry]:
        rows = tuple((c["column"], c["role"], c["says"]) for c in facts.report.columns)
        yield Rows(self.caption, ("Column", "Role", "What is done"), rows)


def promised(check: Check) -> bool:
    """Whether a check is a guarantee rather than a condition of form."""
    return not check.form


def on_values(check: Check) -> bool:
    """Whether a check is a guarantee on the values of a column."""
    return promised(check) and check.column is not None


def of_safe_harbor(check: Check) -> bool:
    """Whether a check is a Safe Harbor condition on the published values of a column."""
    return check.name.startswith(PRESET)


@dataclass(frozen=True, slots=True)
class Checks:
    """Required and achieved figures, verified again for the report."""

    caption: str
    of: Callable[[Check], bool] = promised

    def entries(self, facts: Facts) -> Iterator[Entry]:
        rows: list[tuple[Cell, ...]] = []
        for at, check in enumerate(facts.report.verification.checks):
            if not self.of(check):
                continue
            path = f"verification.checks.{at}"
            required = facts.value(f"{path}.required") or "-"
            achieved = facts.value(f"{path}.achieved") or "-"
            holds = "holds" if check.passed else "does not hold"
            name = CHECKS.get(check.name, check.name)
            rows.append((name, check.column or "the table", required, achieved, holds))
        head = ("Guarantee", "Column", "Required", "Achieved", "Verdict")
        if rows:
            yield Rows(self.caption, head, tuple(rows))
        else:
            yield Words((f"{self.caption}: the policy asks for none.",))


@dataclass(frozen=True, slots=True)
class Identifiers:
    """The eighteen identifiers of Safe Harbor, with the treatment of each."""

    caption: str

    def entries(self, facts: Facts) -> Iterator[Entry]:
        head = ("Letter", "Identifier", "What was done")
        yield Rows(self.caption, head, facts.report.safe_harbor)
