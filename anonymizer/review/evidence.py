"""A release's report arranged by a standard: its headings, its thresholds, and open questions.

A page of evidence contains only figures of the report. It arranges them under the clauses of a
standard (`templates/evidence/standards.yml`), prints the policy's `context`, and marks what only a
person can state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, ClassVar, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from anonymizer.algorithms.registry import BY_NAME
from anonymizer.compile.sql import folder
from anonymizer.contract.checks import Check
from anonymizer.errors import PolicyError
from anonymizer.measure.proofs import RECORDS
from anonymizer.policy.publish import Context
from anonymizer.policy.safe_harbor import PRESET
from anonymizer.process.document import (
    Bad,
    Block,
    Code,
    Document,
    Good,
    Inline,
    Link,
    Open,
    Rows,
    Section,
    Text,
    Value,
    say,
    verdict,
)
from anonymizer.process.text import figure, json_value, many
from anonymizer.release.certificate import SAFE_HARBOR
from anonymizer.review.assess.figures import at_risk_below
from anonymizer.review.report.content import CHECKS, Report
from anonymizer.review.report.linked_tables import full_name
from anonymizer.review.report.page import heading

T = TypeVar("T")
ACCEPTABLE = "acceptable_risk"
ATTACKS = ("attacks", "picked", "linked", "inferred")
"""Parts that are open without figures of attacks."""

# Standards, as they are written in their file.


class Clause(BaseModel):
    """A clause of a standard, and the parts of the page under it, each with its text."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    clause: str
    title: str
    parts: tuple[dict[str, Any], ...]


class Standard(BaseModel):
    """A standard under its own headings."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    title: str
    source: str
    """The text that its clauses are taken from."""
    says: str
    """The purpose of the page, and its limits."""
    preset: str | None = None
    """The preset that a policy must have."""
    sections: tuple[Clause, ...]

    @property
    def attacked(self) -> bool:
        """True if the page asks for figures of attacks, and is open without them."""
        return any(kind in ATTACKS for one in self.sections for part in one.parts for kind in part)

    @property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """The fields of the policy's context that the page asks for, in the standard's words."""
        kinds = (
            (kind, says) for one in self.sections for p in one.parts for kind, says in p.items()
        )
        named = ((ACCEPTABLE if kind == "acceptable" else kind, says) for kind, says in kinds)
        return tuple({kind: says for kind, says in named if kind in Context.model_fields}.items())


@cache
def standards() -> dict[str, Standard]:
    """Standards by name, as used in `report --as`."""
    listed = YAML(typ="safe").load(folder("templates") / "evidence" / "standards.yml")
    return {one["name"]: Standard.model_validate(one) for one in listed}


# Blocks of a page of evidence that JSON describes in more detail than they are shown.


@dataclass(frozen=True, slots=True)
class ThresholdBlock(Block):
    """A figure with the threshold of a standard or of the policy's context."""

    kind: ClassVar[str] = "threshold"
    data: ClassVar[tuple[str, ...]] = ("says", "threshold", "value", "holds")
    says: str
    threshold: float
    value: Value
    holds: bool

    @property
    def block(self) -> Text:
        held = Good("at or below the threshold") if self.holds else Bad("above the threshold")
        return say((f"{self.says}: ", self.value, ", ", held), style="compared")


@dataclass(frozen=True, slots=True)
class StatementBlock(Block):
    """A statement of the policy's context."""

    kind: ClassVar[str] = "stated"
    data: ClassVar[tuple[str, ...]] = ("says", "field", "text")
    says: str
    field: str
    text: tuple[str, ...]

    @property
    def block(self) -> Text:
        lead = (f"{self.says} (stated in the policy: ", Code(self.field), "):")
        return say(*self.text, lead=lead, style="stated")


# The figures of a report by path; a page of evidence contains no other figures.


@dataclass(frozen=True)
class Facts:
    """A report in the form of its JSON."""

    report: Report

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """The JSON of the report."""
        found: Mapping[str, Any] = json_value(self.report.as_dict())
        return found

    @property
    def context(self) -> Context:
        """The context that the policy states."""
        return self.report.policy.context or Context()

    def value(self, path: str) -> Value | None:
        """A figure of the report, by its path; None if it is missing."""
        found: Any = self.data
        for step in path.split("."):
            if isinstance(found, list):
                found = found[int(step)]
            else:
                found = found.get(step) if isinstance(found, Mapping) else None
        return Value(path, found, figure(found)) if found is not None else None

    def largest_risk(self, says: str, at_most: float) -> Block:
        """Compare the largest risk with a threshold, and state the class size that it requires."""
        found = filter(None, (self.value(RISK[1]), self.value(KNOWING[1])))
        value, unit = max(found, key=lambda one: one.value, default=None), self.report.unit
        size = figure(at_risk_below(at_most))
        says = f"{says} (at most {figure(at_most)}: classes of {size} {unit} or more)"
        if value is None:
            return Open(says, "the release has no classes, and the report no such figure")
        return ThresholdBlock(says, at_most, value, value.value <= at_most)


# Tables of figures that standards ask for: words, path, and another path where persons count.


Figures: TypeAlias = tuple[tuple[str, ...], ...]
RISK = ("Largest risk of re-identification (1 / smallest class)", "risk.after.prosecutor_max")
ALONE = ("Share of {unit} alone in their class", "risk.after.unique_share")
KNOWING = (
    "Largest risk for somebody who also knows what the policy says of rows (1 / fewest candidates)",
    "observers.most",
)
RISKS: Figures = (
    RISK,
    KNOWING,
    ("Average risk of re-identification", "risk.after.prosecutor_average"),
    ("Smallest equivalence class, in {unit}", "risk.after.k", "risk.after.person_k"),
    ("Equivalence classes", "risk.after.classes"),
    ALONE,
    (
        "Complete records that the cells prove and fewer than k {unit} may share",
        f"measures.{RECORDS}",
    ),
)
SIZES: Figures = (("Rows published", "measures.rows"), ("Persons published", "risk.after.persons"))
BEFORE: Figures = (
    ("Largest risk in the source", "risk.before.prosecutor_max"),
    ("Average risk in the source", "risk.before.prosecutor_average"),
    ("Share of {unit} of the source alone in their class", "risk.before.unique_share"),
)
UTILITY: Figures = (
    ("Rows published", "measures.rows"),
    ("Share of {unit} left out", "measures.suppressed_share"),
    ("Information lost in a generalized cell, on average (NCP, 0 to 1)", "measures.ncp"),
    ("Error of random count queries, median", "query_error.median"),
)
ATTACKED: Figures = (
    ("Persons or rows that the attacks looked for", "attack.linking.targets"),
    ("Largest chance of an attack to pick the right one", "attack.linking.most"),
    ("Share found on average", "attack.linking.success"),
)
OBSERVED = {
    "alone": "persons alone",
    "below": "persons below k",
    "fewest": "fewest candidates",
    "found": "share found on average",
}
"""What an observer of several tables is left with."""
PICKED: Figures = (ATTACKED[1],)
LINKED: Figures = (
    *ATTACKED[::2],
    ("Fewest candidates that the attack is left with", "attack.linking.fewest_candidates"),
)
WITH_SOURCE = "anonymizer report POLICY --source DATABASE"
BY_HAND = "to be filled in by a person"
IN_CONTEXT = "state it in the policy: context: {{{field}: …}}"
STATED = "Largest risk, against what the policy's context states as acceptable"


# Parts of a page: functions of a report and of the text that the standard gives.


def figures(
    listed: Figures, facts: Facts, caption: str, without: str | None = None
) -> Iterator[Block]:
    """A table of figures; those that are missing are an open field (`without`), or left out."""
    rows, missing = [], []
    persons = facts.report.unit == "persons"
    for words, path, *of_persons in listed:
        says = words.format(unit=facts.report.unit)
        value = facts.value(of_persons[0] if persons and of_persons else path)
        if value is None:
            missing.append(says)
        else:
            rows.append((says, value))
    if rows:
        yield Rows(caption, ("Figure", "Value"), tuple(rows))
    if missing and without is not None:
        yield Open(f"{caption}: {'; '.join(missing)}", without)


def with_tables(listed: Figures, facts: Facts, caption: str) -> Iterator[Block]:
    """A table of figures; with several tables, also the rows and losses of each."""
    yield from figures(listed, facts, caption)
    rows = []
    for at, one in enumerate(facts.data.get("tables", ())):
        path = ".".join(("tables", str(at)))
        counted = (facts.value(f"{path}.{name}") or "-" for name in ("rows", "suppressed"))
        lost: list[Inline] = []
        for number, (column, _) in enumerate(one["lost"]):
            share = facts.value(f"{path}.lost.{number}.1")
            lost += [", " if lost else "", f"{column} ", share or "-"]
        rows.append((one["name"], *counted, tuple(lost) or "-"))
    if rows:
        yield Rows(f"{caption}, by table", ("Table", "Rows", "Left out", "NCP"), tuple(rows))


def observed(
    facts: Facts, caption: str, names: Collection[str], state: str = "after"
) -> Iterator[Block]:
    """With several tables: what is left for those who also know some rows of a person."""
    rows: list[tuple[Inline, ...]] = []
    for at, one in enumerate(facts.data.get("observers", {}).get(state) or ()):
        left = (facts.value(f"observers.{state}.{at}.{name}") or "-" for name in names)
        promised = verdict(one["holds"]) if one["promised"] else "nothing is promised"
        rows.append((one["knows"], *left, *((promised,) if state == "after" else ())))
    if rows:
        head = ("Known besides the quasi-identifiers", *(OBSERVED[name] for name in names))
        head += ("Promised",) if state == "after" else ()
        yield Rows(f"{caption}: to those who know rows", head, tuple(rows))


def risks(
    listed: Figures, state: str, facts: Facts, caption: str, without: str | None = None
) -> Iterator[Block]:
    """Figures of risk; with several tables, also for those who know rows."""
    yield from figures(listed, facts, caption, without)
    yield from observed(facts, caption, ("alone", "below", "fewest"), state)


def attacks(
    listed: Figures, names: Collection[str], facts: Facts, caption: str, without: str | None = None
) -> Iterator[Block]:
    """Figures of attacks; with several tables, the `names` of observers who know rows, if any."""
    if facts.report.linked is None:
        yield from figures(listed, facts, caption, without)
    elif names:
        yield from observed(facts, caption, names)


def acceptable(facts: Facts, says: str) -> Iterator[Block]:
    """The largest risk, where only the policy's context may state a threshold."""
    stated = facts.context.acceptable_risk
    if stated is None:
        how = f"{BY_HAND}, or {IN_CONTEXT.format(field='acceptable_risk')}"
        yield Open(says, how)
    else:
        yield facts.largest_risk(STATED, stated)


def threshold(facts: Facts, given: Mapping[str, Any]) -> Iterator[Block]:
    """The largest risk, with the number of the standard."""
    yield facts.largest_risk(given["says"], given["at_most"])


def ask(field: str, facts: Facts, says: str) -> Iterator[Block]:
    """A statement that the policy's context can make."""
    stated = getattr(facts.context, field)
    if stated is None:
        yield Open(says, f"{BY_HAND}, or {IN_CONTEXT.format(field=field)}")
    else:
        text = (stated,) if isinstance(stated, str) else tuple(map(str, stated))
        yield StatementBlock(says, f"context.{field}", text)


def by_hand(facts: Facts, says: str) -> Iterator[Block]:
    """Items that no policy states: a judgement, or a signature."""
    del facts
    yield Open(says, BY_HAND)


def standard_text(facts: Facts, text: str) -> Iterator[Block]:
    """The standard's own text."""
    del facts
    yield say(text)


def columns(facts: Facts, caption: str) -> Iterator[Block]:
    """Every column of the source and its treatment."""
    rows = tuple((full_name(c), c["role"], c["says"]) for c in facts.report.columns)
    yield Rows(caption, ("Column", "Role", "What is done"), rows)


def identifiers(facts: Facts, caption: str) -> Iterator[Block]:
    """The eighteen identifiers of Safe Harbor, with the treatment of each."""
    yield Rows(caption, ("Letter", "Identifier", "What was done"), facts.report.safe_harbor)


def checks(of: Callable[[Check], bool], facts: Facts, caption: str) -> Iterator[Block]:
    """Required and achieved figures, verified again for the report."""
    rows: list[tuple[Inline, ...]] = []
    for at, check in enumerate(facts.report.verification.checks):
        if of(check):
            path = f"verification.checks.{at}"
            required = facts.value(f"{path}.required") or "-"
            achieved = facts.value(f"{path}.achieved") or "-"
            name, column = CHECKS.get(check.name, check.name), check.column or "the table"
            rows.append((name, column, required, achieved, verdict(check.passed)))
    if rows:
        head = ("Guarantee", "Column", "Required", "Achieved", "Verdict")
        yield Rows(caption, head, tuple(rows))
    else:
        yield say(f"{caption}: the policy asks for none.")


def inferred(facts: Facts, caption: str) -> Iterator[Block]:
    """By sensitive column, how sure an attack is of the value of somebody."""
    rows: list[tuple[Inline, ...]] = []
    for at, one in enumerate((facts.data["attack"] or {}).get("inference", ())):
        path = f"attack.inference.{at}"
        sure, bound = facts.value(f"{path}.most_confident"), facts.value(f"{path}.bound")
        held = verdict(one["holds"]) if bound is not None else "nothing is promised"
        rows.append((one["column"], sure or "-", bound or "-", held))
    kept = [full_name(c) for c in facts.report.columns if c["role"] == "keep"]
    rows += [(name, "not judged: kept as it is", "-", "nothing is promised") for name in kept]
    if rows:
        yield Rows(caption, ("Column", "Largest certainty", "Promised", "Verdict"), tuple(rows))
    if kept:
        yield say(
            f"Kept as they are: {', '.join(kept)}. Who finds a class sees their values, and who"
            " knows them of somebody may find a row in it: no figure of this page counts that."
        )
    if not rows and facts.data["attack"] is not None:
        yield say(f"{caption}: no sensitive column is published.")
    if facts.report.linked is not None:
        yield Open(caption, f"{BY_HAND}: no attack looks for values in several tables")
    elif facts.data["attack"] is None:
        yield Open(caption, f"{WITH_SOURCE} --attack")


def quotes(facts: Facts, what: str) -> Iterator[Block]:
    """Sentences of the report."""
    report = facts.report
    attacks = (f"Not prevented: {said}" for said in report.attacks)
    sentences = {
        "guarantees": report.guarantees,
        "method": (BY_NAME[report.policy.algorithm.name].words,),
        "observer": (
            f"The figures of risk are for an observer who knows {report.observer_knowledge}.",
        ),
        "limits": (report.certificate, *attacks, *(report.linked.open if report.linked else ())),
        "safe_harbor": (SAFE_HARBOR,),
    }
    yield say(*sentences[what])


PARTS: dict[str, Callable[[Facts, Any], Iterator[Block]]] = {
    **{name: partial(ask, name) for name in Context.model_fields},
    **{
        part.__name__: part
        for part in (acceptable, threshold, by_hand, columns, identifiers, inferred)
    },
    "says": standard_text,
    "quotes": quotes,
    "checks": partial(checks, lambda check: not check.form),
    "value_checks": partial(checks, lambda check: not check.form and check.column is not None),
    "safe_harbor_checks": partial(checks, lambda check: check.name.startswith(PRESET)),
    "risks": partial(risks, RISKS, "after"),
    "singled_out": partial(risks, (ALONE,), "after"),
    "size": partial(with_tables, SIZES),
    "utility": partial(with_tables, UTILITY),
    "risks_before": partial(risks, BEFORE, "before", without=WITH_SOURCE),
    "attacked": partial(attacks, ATTACKED, OBSERVED),
    "attacks": partial(attacks, ATTACKED, OBSERVED, without=f"{WITH_SOURCE} --attack"),
    "picked": partial(attacks, PICKED, (), without=f"{WITH_SOURCE} --attack"),
    "linked": partial(attacks, LINKED, ("fewest", "found"), without=f"{WITH_SOURCE} --attack"),
}


# The page.


@dataclass(frozen=True, slots=True)
class Evidence:
    """The report of a release, arranged by a standard."""

    standard: Standard
    report: Report
    clauses: tuple[Section, ...]

    def _of(self, kind: type[T]) -> tuple[tuple[Section, T], ...]:
        return tuple((c, one) for c in self.clauses for one in c.blocks if isinstance(one, kind))

    @property
    def open(self) -> tuple[tuple[Section, Open], ...]:
        """Fields that nobody has filled in."""
        return self._of(Open)

    @property
    def above(self) -> tuple[tuple[Section, ThresholdBlock], ...]:
        """The figures that are above a threshold."""
        return tuple(
            (clause, entry) for clause, entry in self._of(ThresholdBlock) if not entry.holds
        )

    @property
    def says(self) -> str:
        """The sentence about open fields at the top of the page."""
        if not self.open:
            return "Every field of this page is filled in. Who signs it answers for what it says."
        fields = many(len(self.open), "field is", "fields are")
        return f"{fields} open: this page is not complete until a person has filled them in."

    def as_dict(self) -> dict[str, Any]:
        """Plain data for programs."""
        manifest = self.report.manifest
        return {
            "standard": self.standard.name,
            "title": self.standard.title,
            "source": self.standard.source,
            **{name: manifest[name] for name in ("view", "run_id", "created", "policy_digest")},
            "kind": self.report.kind,
            "passed": self.report.verification.passed,
            "verdict": self.report.verdict.says,
            "says": self.says,
            "open": [
                {"clause": clause.number, "says": entry.says, "how": entry.how}
                for clause, entry in self.open
            ],
            "above_threshold": [
                {"clause": clause.number, **entry.as_dict()} for clause, entry in self.above
            ],
            "sections": [
                {
                    "clause": clause.number,
                    "title": clause.title,
                    "entries": [entry.as_dict() for entry in clause.blocks],
                }
                for clause in self.clauses
            ],
            "warnings": list(self.report.warnings),
        }

    def document(self) -> Document:
        """The whole page."""
        report, standard, manifest = self.report, self.standard, self.report.manifest
        fields = (
            Link(f"{clause.number}: {entry.says}", f"open-{at}")
            for at, (clause, entry) in enumerate(self.open, start=1)
        )
        above = (
            say((f"Above the threshold, {c.number}: {high.says}: ", high.value, "."), style="bad")
            for c, high in self.above
        )
        digest = ("Policy digest (SHA-256) ", Code(manifest["policy_digest"]), ".")
        source = f"Source of the headings: {standard.source}. Every figure is one of the ordinary"
        top = (
            say(*fields, lead=self.says, style="warn" if self.open else "good"),
            *above,
            *heading(manifest, report.kind, report.verdict, report.warnings, digest),
            say(standard.says),
            say((f"{source} report (", Code("anonymizer report POLICY"), ")."), style="soft"),
        )
        foot = (
            f"Made by sql-anonymizer {manifest['versions']['anonymizer']} from the release and its"
            " policy. This page judges figures, not law."
        )
        return Document(str(manifest["view"]), top, self.clauses, standard.title, foot)


def collect_evidence(report: Report, name: str) -> Evidence:
    """Arrange a report by a standard, given the standard's name.

    Raises PolicyError if there is no such standard, or if it does not apply to the release.
    """
    standard = standards().get(name)
    if standard is None:
        allowed = ", ".join(standards())
        raise PolicyError.at("--as", "is not a standard with a page", allowed=allowed)
    if standard.preset is not None and not report.safe_harbor:
        said = f"is Safe Harbor, and the release was not made with preset: {standard.preset}"
        raise PolicyError.at("--as", said, hint="another standard, or another policy")
    facts = Facts(report)
    clauses = (
        Section(
            one.title,
            tuple(
                block
                for part in one.parts
                for kind, given in part.items()
                for block in PARTS[kind](facts, given)
            ),
            number=one.clause,
        )
        for one in standard.sections
    )
    return Evidence(standard, report, tuple(clauses))
