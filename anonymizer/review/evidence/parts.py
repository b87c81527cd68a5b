"""The parts of a page of evidence: entries, the figures of a report, clauses of standards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeAlias

from anonymizer.algorithms.registry import BY_NAME
from anonymizer.contract.checks import Check
from anonymizer.measure.proofs import RECORDS
from anonymizer.policy.publish import Context
from anonymizer.policy.safe_harbor import PRESET
from anonymizer.process.text import figure, plain
from anonymizer.review.assess.figures import at_risk_below
from anonymizer.review.report.content import Report
from anonymizer.review.report.words import CHECKS

# Entries of a page of evidence: figures, sentences, tables, and open fields.


@dataclass(frozen=True, slots=True)
class Value:
    """A figure of the report."""

    figure: str
    """Path of the figure in the report's JSON, with dots."""
    value: Any
    shown: str


Cell: TypeAlias = str | Value


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a page."""

    kind: ClassVar[str]

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Words(Entry):
    """Sentences, from the standard or from the report."""

    kind: ClassVar[str] = "words"
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rows(Entry):
    """A table; columns of figures are right-aligned."""

    kind: ClassVar[str] = "table"
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def right(self) -> tuple[bool, ...]:
        """For each column, whether it holds figures."""
        return tuple(
            any(isinstance(row[at], Value) for row in self.rows) for at in range(len(self.head))
        )


@dataclass(frozen=True, slots=True)
class Compared(Entry):
    """A figure with the threshold of a standard or of the policy's context."""

    kind: ClassVar[str] = "threshold"
    says: str
    threshold: float
    value: Value
    holds: bool


@dataclass(frozen=True, slots=True)
class Stated(Entry):
    """A statement of the policy's context."""

    kind: ClassVar[str] = "stated"
    says: str
    field: str
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Open(Entry):
    """A question that only a person can answer, or a figure that needs further input."""

    kind: ClassVar[str] = "open"
    says: str
    how: str
    """How to fill it in."""


# The figures of a report by path; a page of evidence contains no other figures.


@dataclass(frozen=True)
class Facts:
    """A report in the form of its JSON."""

    report: Report

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """The JSON of the report."""
        found: Mapping[str, Any] = plain(self.report.as_dict())
        return found

    @property
    def context(self) -> Context:
        """The context that the policy states."""
        return self.report.policy.context or Context()

    def at(self, path: str) -> Any:
        """The report's content at a path; None if it has none."""
        found: Any = self.data
        for step in path.split("."):
            if isinstance(found, list):
                found = found[int(step)]
            elif isinstance(found, Mapping):
                found = found.get(step)
            else:
                return None
        return found

    def value(self, path: str) -> Value | None:
        """A figure of the report; None if it is missing."""
        found = self.at(path)
        return Value(path, found, figure(found)) if found is not None else None


# The parts of a standard's page, and how each is filled from a report.


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


# Figures and sentences of the report that several standards ask for.


def guarantees(facts: Facts) -> Sentences:
    """The guarantees of the policy."""
    return facts.report.guarantees


def method(facts: Facts) -> Sentences:
    """Description of the algorithm."""
    return (BY_NAME[facts.report.policy.algorithm.name].words,)


def observer(facts: Facts) -> Sentences:
    """The knowledge that the risk figures assume of the observer."""
    return (f"The figures of risk are for an observer who knows {facts.report.known}.",)


def limits(facts: Facts) -> Sentences:
    """What the policy does not guarantee."""
    attacks = (f"Not prevented: {said}" for said in facts.report.attacks)
    return (facts.report.certificate, *attacks)


RISK = Figure("Largest risk of re-identification (1 / smallest class)", "risk.after.prosecutor_max")
RISKS = (
    RISK,
    Figure("Average risk of re-identification", "risk.after.prosecutor_average"),
    Figure(
        "Smallest equivalence class, in {unit}", "risk.after.k", of_persons="risk.after.person_k"
    ),
    Figure("Equivalence classes", "risk.after.classes"),
    Figure("Share of {unit} alone in their class", "risk.after.unique_share"),
    Figure(
        "Complete records that the cells prove and fewer than k {unit} may share",
        f"measures.{RECORDS}",
    ),
)
RISKS_BEFORE = (
    Figure("Largest risk in the source", "risk.before.prosecutor_max"),
    Figure("Average risk in the source", "risk.before.prosecutor_average"),
    Figure("Share of {unit} of the source alone in their class", "risk.before.unique_share"),
)
UTILITY = (
    Figure("Rows published", "measures.rows"),
    Figure("Share of {unit} left out", "measures.suppressed_share"),
    Figure("Information lost in a generalized cell, on average (NCP, 0 to 1)", "measures.ncp"),
    Figure("Error of random count queries, median", "query_error.median"),
)
ATTACKED = (
    Figure("Persons or rows that the attacks looked for", "attack.linking.targets"),
    Figure("Largest chance of an attack to pick the right one", "attack.linking.most"),
    Figure("Share found on average", "attack.linking.success"),
)


# A standard: its clauses, and the contents of the page under each.


@dataclass(frozen=True, slots=True)
class Section:
    """A clause of a standard, and the contents of the page under it."""

    clause: str
    title: str
    parts: tuple[Part, ...]


def section(clause: str, title: str, *parts: Part) -> Section:
    """Create a clause with its parts."""
    return Section(clause, title, parts)


@dataclass(frozen=True, slots=True)
class Standard:
    """A standard under its own headings."""

    name: str
    title: str
    source: str
    """The text that its clauses are taken from."""
    says: str
    """What the page is, and what it is not."""
    sections: tuple[Section, ...]
    refuses: Callable[[Facts], str | None] = lambda facts: None
    """Why the standard does not apply to a release; None if it does."""
