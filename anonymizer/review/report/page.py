"""The document of a report on a release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anonymizer.algorithms.registry import BY_NAME
from anonymizer.contract.checks import Check
from anonymizer.measure.loss import least_sentence, measure_words
from anonymizer.measure.proofs import RECORDS
from anonymizer.policy.kinds import PSEUDONYMISED, ReleaseKind, kind_words
from anonymizer.process.document import (
    Bad,
    Block,
    Code,
    Details,
    Document,
    Good,
    Inline,
    Rows,
    Section,
    Tiles,
    say,
    verdict,
)
from anonymizer.process.text import figure, many
from anonymizer.release.certificate import SAFE_HARBOR
from anonymizer.release.manifest import shown_measures
from anonymizer.review.assess.assessment import Assessment
from anonymizer.review.attack import Attack
from anonymizer.review.observers import Observer
from anonymizer.review.report.content import CHECKS, ROLES, Report, Verdict
from anonymizer.review.report.distributions import Distribution
from anonymizer.review.report.linked_tables import TablesReport, full_name
from anonymizer.review.report.pictures import Bars, percent

STYLES = {"useful": "good", "little": "warn", "fails": "bad"}
RETURNS = (
    "Anybody who has the release can run these statements on it; each returns the classes or"
    " buckets that break a condition, and no row where it holds."
)


def document(report: Report) -> Document:
    """The whole report."""
    manifest = report.manifest
    attacked = attack_sentences(report.attacked) if report.attacked else ()
    said = [say(*(f"{one}." for one in attacked), style="note")] if attacked else []
    algorithm = BY_NAME[report.policy.algorithm.name].words
    top = (
        *heading(manifest, report.kind, report.verdict, report.warnings, algorithm, *said),
        Tiles(tuple(tiles(report))),
    )
    foot = f"Made by sql-anonymizer {manifest['versions']['anonymizer']}."
    title = str(manifest["view"])
    return Document(title, top, tuple(_sections(report)), "Privacy report", foot)


def heading(
    release: Mapping[str, Any],
    kind: ReleaseKind,
    found: Verdict,
    warnings: Sequence[str],
    more: Inline = "",
    *said: Block,
) -> Iterator[Block]:
    """The run, the kind of the release, the verdict, and warnings."""
    run = ("Run ", Code(release["run_id"]), f", {release['created']}. ", more)
    yield say(run, style="soft")
    if kind == PSEUDONYMISED:
        personal = "Pseudonymised: this release is personal data. Its rows still belong to persons."
        yield say(personal, style="warn")
    yield say(f"Kind of release: {kind_words(kind)}.", style="soft")
    reasons = (f"{capital(reason)}." for reason in found.reasons)
    yield say(*reasons, lead=found.says, style=STYLES[found.state])
    yield from said
    yield from (say(f"Note: {warning}.", style="bad") for warning in warnings)


def capital(text: str) -> str:
    """Capitalize a sentence; names in it keep their case."""
    return text[:1].upper() + text[1:]


def tiles(report: Report) -> Iterator[tuple[str, str, str]]:
    """The most important figures."""
    sizes, risk, measures = report.after.sizes, report.after.risk, report.manifest["measures"]
    smallest = sizes.k if report.policy.person is None else sizes.person_k
    yield figure(smallest), f"{report.unit} in the smallest class", ""
    before = report.before.risk.prosecutor_max if report.before else None
    more = f"before: {percent(before)}" if before is not None else ""
    yield percent(risk.prosecutor_max), "largest risk of picking somebody's row", more
    if report.before is not None:
        alone = report.before.sizes
        count = alone.uniques if alone.unique_persons is None else alone.unique_persons
        now = sizes.uniques if sizes.unique_persons is None else sizes.unique_persons
        yield figure(now), f"{report.unit} alone in their class", f"before: {figure(count)}"
    yield percent(measures.get("suppressed_share", 0)), f"{report.unit} left out", ""
    if report.linked is not None:
        was = {one.knows: one for one in report.linked.before}
        for seen in report.linked.after[:3]:
            more = f"before: {figure(was[seen.knows].below)}" if seen.knows in was else ""
            says = f"persons below {report.linked.k} to somebody who knows {seen.knows}"
            yield figure(seen.below), says, more
    if report.attacked is not None:
        link = report.attacked.linking
        bound = "" if link.bound is None else f"promised: {percent(link.bound)}"
        yield percent(link.most), "largest chance of an attack to pick the right one", bound
        if report.attacked.intersection:
            says = f"{report.attacked.unit} with one value left beside the earlier release"
            yield figure(report.attacked.exposed), says, ""
    if measures.get("ncp") is not None:
        lost = "information lost in a generalized cell, on average"
        yield percent(measures["ncp"]), lost, least_sentence(measures) or ""
    if report.counts is not None:
        yield report.counts.median, "error of a random count query (median)", ""


def _sections(report: Report) -> Iterator[Section]:
    both = ", before and after" if report.has_source else ""
    head = ("Column", "Role", "Meaning")
    columns = tuple((Code(full_name(c)), c["role"], c["says"]) for c in report.columns)
    caption = "What every column of the source is, and what happens to it"
    yield Section("The policy in words", (say(*report.guarantees), Rows(caption, head, columns)))
    if report.safe_harbor:
        caption = "What was done with the identifiers of 45 CFR 164.514(b)(2)(i)"
        eighteen = Rows(caption, ("Letter", "Identifier", "What was done"), report.safe_harbor)
        title = "Safe Harbor: the eighteen identifiers"
        yield Section(title, (say(SAFE_HARBOR, style="note"), eighteen))
    if report.linked is not None:
        yield from _linked(report.linked)
    title = "Guarantees required and achieved"
    yield Section(
        title, tuple(check_blocks(report.verification.guarantees, report.verification.form))
    )
    yield Section(f"Risk of re-identification{both}", tuple(_risk(report)))
    said = f"How many others look the same: percent of {report.unit} by the size of their class."
    yield Section("Class sizes", (say(said), _sizes(report)))
    said = (
        "Percent of rows. A generalized cell counts evenly for all values that it stands for. No"
        f" value is shown that fewer than {report.floor} {report.unit} have; shares are rounded."
    )
    shown = tuple(map(_column, report.distributions))
    yield Section(f"Every column{both}", (say(said),), shown)
    utility = Rows("Measures of the release", ("Measure", "Value"), tuple(utility_rows(report)))
    queries = Section("Random count queries", (_queries(report),))
    yield Section(
        "What it cost: utility", (utility, queries, Section("Your own queries", (_own(report),)))
    )
    tried: Inline = "What they reach is on top of this page."
    if report.linked is not None:
        tried = None
    elif report.attacked is None:
        command = Code("anonymizer report POLICY --source SOURCE --attack")
        tried = (
            "Try them: ",
            command,
            ", and ",
            Code("--earlier FILE"),
            " beside an earlier release.",
        )
    yield limits(report.certificate, report.attacks, tried)
    yield Section("Manifest and the SQL to check it", tuple(_manifest(report)))


def _linked(linked: TablesReport) -> Iterator[Section]:
    """The tables of a release of several, and observers who know rows of a person."""
    tables = tuple(
        (
            *(one.name, one.above or "–", one.rows, one.suppressed, one.orphans),
            ", ".join(f"{column} {percent(loss)}" for column, loss in one.lost) or "–",
        )
        for one in linked.tables
    )
    said = (
        "A row is published with the row that its link leads to. Keys are numbers drawn for this"
        " release."
    )
    head: tuple[str, ...] = (
        *("table", "links to", "rows", "left out", "reach nobody"),
        "lost in a cell",
    )
    yield Section("Tables", (say(said), Rows("", head, tables)))
    was, k = {one.knows: one for one in linked.before}, figure(linked.k)
    said = (
        "Each knows the quasi-identifiers of a person and, besides, what stands in the first"
        " column. A person is found where no other candidate is left."
    )
    if was:
        said += (
            " Before: in the tables of the source, where classes are persons with equal"
            " quasi-identifiers."
        )
    before = ("alone before", f"below {k} before") if was else ()
    head = ("known besides", *before, "alone", f"below {k}", "fewest candidates", "promised")
    rows = tuple(_observed(was.get(one.knows), one, k, len(before)) for one in linked.after)
    left = (say(one, style="note") for one in linked.open)
    yield Section("What observers are left with", (say(said), Rows("", head, rows), *left))


def _observed(was: Observer | None, now: Observer, k: str, before: int) -> tuple[Inline, ...]:
    promised: Inline = "nothing"
    if now.promised:
        promised = Good(f"{k} candidates") if now.holds else Bad(f"{k} candidates: DOES NOT HOLD")
    earlier = (was.alone, was.below) if was else ("-", "-")
    return now.knows, *earlier[:before], now.alone, now.below, now.fewest, promised


def limits(certificate: str, attacks: Sequence[str], tried: Inline = None) -> Section:
    """List what a release does not promise."""
    known = say(*attacks, lead="Known attacks on the model that this release does not stop:")
    more = [say(tried)] if tried is not None else []
    return Section("What it does not promise", (say(certificate, style="note"), known, *more))


def check_blocks(guarantees: Sequence[Check], form: Sequence[Check]) -> Iterator[Block]:
    """The guarantees as a table, and the conditions of form as a sentence."""
    rows = tuple(
        (
            CHECKS.get(c.name, c.name),
            c.column or "the table",
            figure(c.required),
            figure(c.achieved),
            verdict(c.passed),
        )
        for c in guarantees
    )
    head = ("Guarantee", "Column", "Required", "Achieved", "Verdict")
    yield Rows("The worst class or bucket decides", head, rows)
    broken = sum(not check.passed for check in form)
    checks = many(len(form), "further check")
    if broken:
        do = "does" if broken == 1 else "do"
        yield say(f"{broken:,} of {checks} of the release's form {do} not hold.")
    elif form:
        yield say(f"{checks} of the release's form {'holds' if len(form) == 1 else 'hold'}.")


def _risk(report: Report) -> Iterator[Block]:
    if not report.has_source:
        said = "The source was not at hand: nothing can be said of the time before. With it: "
        yield say((said, Code("anonymizer report POLICY --source DATABASE"), "."), style="note")
    persons = report.unit == "persons"
    yield say(
        f"For somebody who knows {report.observer_knowledge}"
        f"{', of all of their rows,' if persons else ''} and looks for"
        f" {'whom they fit' if persons else 'their row'}. 20 % is one in five."
    )
    names = {
        "prosecutor_max": "largest risk",
        "prosecutor_average": "average risk",
        "prosecutor_above": "at risk above 20 %",
        "unique_share": "alone in a class",
    }
    shares = tuple(
        (
            says,
            getattr(report.before.risk, name) if report.before else None,
            getattr(report.after.risk, name),
        )
        for name, says in names.items()
    )
    yield Bars("Risk of re-identification", "risk", shares, "percent")
    rows = tuple(row if report.has_source else row[::2] for row in risk_rows(report))
    head = ("Figure", "Before", "After") if report.has_source else ("Figure", "After")
    yield Rows("Risk in figures", head, rows)
    if report.before is not None and report.before.combinations is not None:
        without, twos = (
            report.before.combinations.without,
            report.before.combinations.column_involved,
        )
        ordered = sorted(without.items(), key=lambda item: item[1].singled_out)
        damage = Rows(
            "Without the column",
            ("Column", "Alone without it", "In combinations of two that single out")[
                : 3 if twos else 2
            ],
            tuple(
                (Code(name), left.singled_out, *([twos[name]] if twos else []))
                for name, left in ordered
            ),
        )
        said = (
            f"{report.unit.capitalize()} of the source that are alone in their class if one column"
            " is left out."
        )
        yield Section("Which column of the source did the damage", (say(said), damage))


def risk_rows(report: Report) -> Iterator[tuple[str, str, str]]:
    """Risk figures with their labels, before and after."""
    unit, before, after = report.unit, report.before, report.after
    for name, says in (
        ("prosecutor_max", "Largest risk: the observer knows that somebody is in the table"),
        ("prosecutor_average", "Average risk: share of rows matched correctly by linking all"),
        ("prosecutor_above", f"Share of {unit} with a risk above 20 %"),
        ("unique_share", f"Share of {unit} alone in their class"),
    ):
        was = percent(getattr(before.risk, name)) if before else "-"
        yield says, was, percent(getattr(after.risk, name))
    persons = (("person_k", "Persons in the smallest class"),)
    for name, says in (
        ("classes", "Classes"),
        ("k", "Rows in the smallest class (k)"),
        *(persons if report.policy.person is not None else ()),
    ):
        was = figure(getattr(before.sizes, name)) if before else "-"
        yield says, was, figure(getattr(after.sizes, name))
    proved = report.manifest["measures"].get(RECORDS)
    if proved is not None:
        said = f"Complete records that the cells prove and fewer than k {unit} may share"
        yield said, "-", figure(proved)


def _sizes(report: Report) -> Bars:
    """Share of units by size of their class, before and after."""
    unit = report.unit
    axis = f"percent of {unit}, by {unit} in their class"
    rows = size_shares(report.before, report.after)
    return Bars(f"Percent of {unit} by the size of their class", "in a class of", rows, axis)


def size_shares(
    before: Assessment | None, after: Assessment
) -> tuple[tuple[str, float | None, float], ...]:
    """Bins of class sizes: label, and the shares of units in such classes before and after."""
    now = {b["from"]: b["units"] for b in after.size_bins}
    was = {b["from"]: b["units"] for b in before.size_bins} if before else None
    listed = sorted({*now, *(was or {})})
    return tuple(
        (
            _size_label(low, listed[at:]),
            was.get(low, 0) / before.sizes.units if was and before else None,
            now.get(low, 0) / after.sizes.units,
        )
        for at, low in enumerate(listed)
    )


def _size_label(low: int, rest: list[int]) -> str:
    if low < 5:
        return str(low)
    if len(rest) == 1:
        return f"{low:,} or more"
    steps = {1: 2, 2: 5, 5: 10}
    power = 10 ** (len(str(low)) - 1)
    return f"{low:,} – {steps[low // power] * power - 1:,}"


def attack_sentences(found: Attack) -> Iterator[str]:
    """Sentences on the results of the attacks."""
    link = found.linking
    yield (
        f"Attacks on {link.targets:,} {found.unit} whose quasi-identifiers are known: the largest"
        f" chance to pick the right one is {figure(link.most)} ({_promised(link.bound)}), and"
        f" {percent(link.success)} are found on average"
    )
    for item in found.inference:
        if item.most_confident is not None:
            most, bound = figure(item.most_confident), _promised(item.bound)
            yield f"The largest chance of one value of {item.column} is {most} ({bound})"
    if found.uncompared:
        yield "Nothing was compared with the earlier release: no column or target is in both"
    elif found.intersection and not found.together():
        yield "Beside the earlier release nobody has one value left, and no promise falls"


def _promised(bound: float | None) -> str:
    return "nothing is promised" if bound is None else f"{figure(bound)} is promised"


def moved_sentence(found: Distribution) -> str:
    """Describe how far a distribution has moved, and whether the bars hide part of it."""
    if found.distance is None:
        return ""
    if found.distance == 0:
        return "The distribution is as it was"
    moved = f"{percent(found.distance)} of the distribution has moved"
    if found.below is None:
        said = f"{moved}, value by value"
    else:
        said = f"Shares below a value are off by {percent(found.below)} at most"
        said += f"; value by value, {moved}"
    if found.folded:
        said += ". The bars put several values together; the figures do not"
    return said


def _column(found: Distribution) -> Section:
    said = ROLES[{"semi": "quasi"}.get(found.role, found.role)].capitalize()
    if found.distance is not None:
        said += f". {moved_sentence(found)}"
    elif found.cells:
        said += ". The cells as they are published"
    if found.unit != "rows":
        said += f". In percent of {found.unit}: their values are published once"
    bars = tuple((bar.label, bar.before, bar.after) for bar in found.bars)
    axis = f"percent of {found.unit}"
    picture = Bars(f"Distribution of {found.column}", "value", bars, axis)
    return Section(Code(found.column), (say(f"{said}.", style="soft"), picture))


def utility_rows(report: Report) -> Iterator[tuple[str, str]]:
    """Measures of the manifest with their labels; those of single columns keep their names."""
    words = measure_words(report.layout)
    for name, value in shown_measures(report.manifest["measures"], report.layout).items():
        if name in words and value is not None:
            yield words[name], figure(value)


def _queries(report: Report) -> Block:
    counts = report.counts
    if counts is not None:
        return say(
            f"{counts.queries} random count queries with up to two conditions on quasi-identifiers,"
            f" which select {counts.least} {report.unit} or more. The median error of the answers"
            f" from the release is {counts.median}, the mean error {counts.mean}. Errors are"
            " rounded: exact ones would disclose hidden values."
        )
    why = f"most random queries select too few {report.unit}"
    if report.layout.classless:
        why = "no cell stands for several values"
    elif not report.has_source:
        why = "the source was not at hand"
    return say(f"Not measured: {why}.", style="note")


def _own(report: Report) -> Block:
    if report.workload:
        caption = (
            "Queries of the policy on source and release; errors are rounded, groups of few"
            f" {report.unit} left out"
        )
        head = ("Query", "Median error", "Error in total", "Groups", "Missing")
        rows = tuple(
            (Code(a.sql), Bad(f"could not be answered: {a.problem}"), "-", "-", "-")
            if a.problem
            else (Code(a.sql), a.median_error, a.total_error, figure(a.groups), figure(a.missing))
            for a in report.workload
        )
        return Rows(caption, head, rows)
    if report.policy.workload and not report.has_source:
        return say("The source was not at hand.", style="soft")
    said = "None are named. Put them into the policy to see their errors here: "
    return say((said, Code("workload: {sql: workload.sql}"), "."), style="soft")


def _manifest(report: Report) -> Iterator[Block]:
    manifest, measures = report.manifest, report.manifest["measures"]
    classes = f", {figure(measures['classes'])}" if "classes" in measures else ""
    seed = (
        "yes: a test release"
        if manifest["reproducible"]
        else "no: its secret was drawn and forgotten"
    )
    rows = (
        ("Policy digest (SHA-256)", Code(manifest["policy_digest"])),
        ("Versions", ", ".join(f"{name} {of}" for name, of in manifest["versions"].items())),
        ("Rows, classes" if classes else "Rows", f"{figure(measures['rows'])}{classes}"),
        ("Repeatable by a seed", seed),
    )
    yield Rows("The release", ("Fact", "Value"), rows)
    yield say(RETURNS)
    yield from sql_of(report.verification.checks)
    left = {k: v for k, v in manifest.items() if k not in ("verification", "layout")}
    yield Details("Manifest as JSON", json.dumps(left, indent=2, default=str), "json")


def sql_of(checks: Sequence[Check]) -> Iterator[Details]:
    """The statement of every check."""
    for check in checks:
        name = f"{check.name}: {check.column}" if check.column else check.name
        yield Details(name, f"{check.sql};")
