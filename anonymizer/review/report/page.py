"""A report as one HTML file without scripts, and as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import jinja2

from anonymizer.algorithms.registry import BY_NAME
from anonymizer.measure.loss import least_sentence, measure_words
from anonymizer.measure.proofs import RECORDS
from anonymizer.policy.kinds import kind_words
from anonymizer.process.text import environment, figure, printable
from anonymizer.release.certificate import SAFE_HARBOR
from anonymizer.release.manifest import shown_measures
from anonymizer.review.report import pictures
from anonymizer.review.report.content import Report
from anonymizer.review.report.distributions import Distribution
from anonymizer.review.report.pictures import Picture
from anonymizer.review.report.words import CHECKS, ROLES, attack_sentences, moved_sentence

# A report as one HTML file: no script, no network, readable on a phone and in print.


@dataclass(frozen=True, slots=True)
class Tile:
    """One of the most important figures, with its meaning."""

    figure: str
    says: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A distribution and its picture."""

    found: Distribution
    picture: Picture


@cache
def page_environment() -> jinja2.Environment:
    """The HTML templates with the filters of a report."""
    made = environment().overlay()
    made.filters = {
        **made.filters,
        "percent": percent,
        "share": share,
        "moved": moved_sentence,
        "capital": capital,
    }
    return made


def percent(value: float | None) -> str:
    """A probability or share in percent."""
    if value is None:
        return "–"
    if 0 < value < 0.0005:
        return "<0.1 %"
    return f"{100 * value:.1f} %".replace(".0 %", " %")


def share(value: float | None) -> str:
    """A rounded share of a bar, as shown in the chart."""
    return "–" if value is None else pictures.share_text(value)


def capital(text: str) -> str:
    """Capitalize a sentence; names in it keep their case."""
    return text[:1].upper() + text[1:]


def html(report: Report) -> str:
    """The whole page."""
    template = page_environment().get_template("report/page.html.j2")
    return template.render(
        report=report,
        manifest=report.manifest,
        measures=report.manifest["measures"],
        verdict=report.verdict,
        safe_harbor=SAFE_HARBOR,
        attacked=list(attack_sentences(report.attacked)) if report.attacked else [],
        tiles=list(tiles(report)),
        algorithm=BY_NAME[report.policy.algorithm.name].words,
        roles=ROLES,
        check_names=CHECKS,
        checks=report.verification.guarantees,
        form=report.verification.form,
        risk_rows=list(risk_rows(report)),
        risk_picture=_risk_picture(report),
        sizes_picture=_sizes_picture(report),
        size_rows=list(size_rows(report)),
        drawn=[Drawn(d, pictures.distribution(d)) for d in report.distributions],
        utility=list(utility_rows(report)),
        manifest_text=json.dumps(
            {k: v for k, v in report.manifest.items() if k not in ("verification", "layout")},
            indent=2,
            default=str,
        ),
    )


def tiles(report: Report) -> Iterator[Tile]:
    """The most important figures."""
    sizes, risk, measures = report.after.sizes, report.after.risk, report.manifest["measures"]
    smallest = sizes.k if report.policy.person is None else sizes.person_k
    yield Tile(figure(smallest), f"{report.unit} in the smallest class")
    before = report.before.risk.prosecutor_max if report.before else None
    yield Tile(
        percent(risk.prosecutor_max),
        "largest risk of picking somebody's row",
        f"before: {percent(before)}" if before is not None else "",
    )
    if report.before is not None:
        alone = report.before.sizes
        count = alone.uniques if alone.unique_persons is None else alone.unique_persons
        now = sizes.uniques if sizes.unique_persons is None else sizes.unique_persons
        yield Tile(figure(now), f"{report.unit} alone in their class", f"before: {figure(count)}")
    yield Tile(percent(measures.get("suppressed_share", 0)), f"{report.unit} left out")
    if report.attacked is not None:
        link = report.attacked.linking
        bound = "" if link.bound is None else f"promised: {percent(link.bound)}"
        yield Tile(percent(link.most), "largest chance of an attack to pick the right one", bound)
        if report.attacked.intersection:
            exposed = figure(report.attacked.exposed)
            unit = report.attacked.unit
            yield Tile(exposed, f"{unit} with one value left beside the earlier release")
    if measures.get("ncp") is not None:
        lost = "information lost in a generalized cell, on average"
        yield Tile(percent(measures["ncp"]), lost, least_sentence(measures))
    if report.counts is not None:
        yield Tile(report.counts.median, "error of a random count query (median)")


def risk_rows(report: Report) -> Iterator[tuple[str, str | None, str]]:
    """Risk figures with their labels, before and after."""
    unit = report.unit
    pairs = (
        ("prosecutor_max", "Largest risk: the observer knows that somebody is in the table"),
        ("prosecutor_average", "Average risk: share of rows matched correctly by linking all"),
        ("prosecutor_above", f"Share of {unit} with a risk above 20 %"),
        ("unique_share", f"Share of {unit} alone in their class"),
    )
    for name, says in pairs:
        before = percent(getattr(report.before.risk, name)) if report.before else None
        yield says, before, percent(getattr(report.after.risk, name))
    for name, says in (("classes", "Classes"), ("k", "Rows in the smallest class (k)")):
        before = figure(getattr(report.before.sizes, name)) if report.before else None
        yield says, before, figure(getattr(report.after.sizes, name))
    if report.policy.person is not None:
        before = figure(report.before.sizes.person_k) if report.before else None
        yield "Persons in the smallest class", before, figure(report.after.sizes.person_k)
    proved = report.manifest["measures"].get(RECORDS)
    if proved is not None:
        said = f"Complete records that the cells prove and fewer than k {unit} may share"
        yield said, None, figure(proved)


def _risk_picture(report: Report) -> Picture:
    names = {
        "prosecutor_max": "largest risk",
        "prosecutor_average": "average risk",
        "prosecutor_above": "at risk above 20 %",
        "unique_share": "alone in a class",
    }
    before = [getattr(report.before.risk, n) if report.before else None for n in names]
    after = [getattr(report.after.risk, n) for n in names]
    said = "; ".join(
        f"{says}: {percent(b)} before, {percent(a)} after"
        for says, b, a in zip(names.values(), before, after, strict=True)
    )
    return pictures.bars(
        list(names.values()), before, after, alt=f"Risk of re-identification. {said}.",
        axis="percent",
    )  # fmt: skip


def size_rows(report: Report) -> Iterator[tuple[str, float | None, float]]:
    """Share of units by size of their class, before and after."""
    after = {b["from"]: b["units"] for b in report.after.size_bins}
    before = {b["from"]: b["units"] for b in report.before.size_bins} if report.before else None
    listed = sorted({*after, *(before or {})})
    for at, low in enumerate(listed):
        n = before.get(low, 0) / report.before.sizes.units if before and report.before else None
        yield _size_label(low, listed[at:]), n, after.get(low, 0) / report.after.sizes.units


def _size_label(low: int, rest: list[int]) -> str:
    if low < 5:
        return str(low)
    if len(rest) == 1:
        return f"{low:,} or more"
    steps = {1: 2, 2: 5, 5: 10}
    power = 10 ** (len(str(low)) - 1)
    return f"{low:,} – {steps[low // power] * power - 1:,}"


def _sizes_picture(report: Report) -> Picture:
    rows = list(size_rows(report))
    said = ", ".join(
        f"{label}: " + " then ".join(percent(x) for x in (b, a) if x is not None)
        for label, b, a in rows
    )
    return pictures.bars(
        [label for label, _, _ in rows],
        [before for _, before, _ in rows],
        [after for _, _, after in rows],
        alt=f"Percent of {report.unit} by the size of their class. {said}.",
        axis=f"percent of {report.unit}, by {report.unit} in their class",
    )


def utility_rows(report: Report) -> Iterator[tuple[str, str]]:
    """Measures of the manifest with their labels; those of single columns keep their names."""
    measures = shown_measures(report.manifest["measures"], report.layout)
    words = measure_words(report.layout)
    for name, value in measures.items():
        if name in words and value is not None:
            yield words[name], figure(value)


# A report as Markdown: the same parts without charts, for wikis and pull requests.


RETURNS = (
    "Anybody who has the release can run these statements on it; each returns the classes or"
    " buckets that break a condition, and no row where it holds."
)


def markdown(report: Report) -> str:
    """The whole report."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield from _head(report)
    yield from _policy_lines(report)
    yield from _risk_lines(report)
    yield from _column_lines(report)
    yield "\n## What it cost: utility\n"
    yield from table(("measure", "value"), list(utility_rows(report)))
    yield from _query_lines(report)
    yield "\n## What it does not promise\n"
    yield report.certificate + "\n"
    for attack in report.attacks:
        yield f"- {attack}"
    yield "\n## The SQL to check it\n"
    yield RETURNS
    for check in report.verification.checks:
        name = check.name + (f": {cell(check.column)}" if check.column else "")
        yield f"\n{name}\n\n```sql\n{check.sql};\n```"


def _head(report: Report) -> Iterator[str]:
    manifest, verdict = report.manifest, report.verdict
    yield f"# Privacy report: {cell(str(manifest['view']))}"
    yield ""
    yield f"Kind of release: **{kind_words(report.kind)}**."
    yield ""
    yield f"Run `{manifest['run_id']}`, {manifest['created']}. **{cell(verdict.says)}**"
    if verdict.reasons:
        yield ""
    yield from (f"- {cell(reason)}" for reason in verdict.reasons)
    if report.attacked is not None:
        yield ""
        yield from (f"- {cell(said)}" for said in attack_sentences(report.attacked))
    for warning in report.warnings:
        yield f"\n**Note: {cell(warning)}.**"


def _policy_lines(report: Report) -> Iterator[str]:
    yield "\n## The policy in words\n"
    for sentence in report.guarantees:
        yield f"- {cell(sentence)}"
    yield ""
    columns = [(code(c["column"]), c["role"], cell(c["says"])) for c in report.columns]
    yield from table(("column", "role", "meaning"), columns)
    if report.safe_harbor:
        yield "\n## Safe Harbor: the eighteen identifiers\n"
        yield f"{SAFE_HARBOR}\n"
        eighteen = [(letter, says, cell(done)) for letter, says, done in report.safe_harbor]
        yield from table(("45 CFR 164.514(b)(2)(i)", "identifier", "what was done"), eighteen)
    yield "\n## Guarantees required and achieved\n"
    checks = [
        (c.name, cell(c.column or "-"), figure(c.required), figure(c.achieved),
         "holds" if c.passed else "**does not hold**")
        for c in report.verification.guarantees
    ]  # fmt: skip
    yield from table(("guarantee", "column", "required", "achieved", "verdict"), checks)


def _risk_lines(report: Report) -> Iterator[str]:
    yield "\n## Risk of re-identification\n"
    if not report.has_source:
        yield "The source was not at hand: nothing can be said of the time before.\n"
    yield from table(
        ("figure", "before", "after"), [(s, b or "-", a) for s, b, a in risk_rows(report)]
    )
    yield f"\n## Class sizes: percent of {report.unit}\n"
    sizes = [(label, percent(b), percent(a)) for label, b, a in size_rows(report)]
    yield from table(("in a class of", "before", "after"), sizes)


def _column_lines(report: Report) -> Iterator[str]:
    yield "\n## Every column: percent of rows\n"
    yield f"Nothing is shown that fewer than {report.floor} {report.unit} have; shares are rounded."
    for found in report.distributions:
        yield f"\n### {code(found.column)}\n"
        if found.distance is not None:
            yield f"{moved_sentence(found)}.\n"
        if found.unit != "rows":
            yield f"In percent of {found.unit}: their values are published once.\n"
        bars = [(cell(b.label), share(b.before), share(b.after)) for b in found.bars]
        yield from table(("value", "before", "after"), bars)


def _query_lines(report: Report) -> Iterator[str]:
    if report.counts is not None:
        yield (
            f"\n{report.counts.queries} random count queries over {report.counts.least}"
            f" {report.unit} or more: median error {report.counts.median},"
            f" mean {report.counts.mean}."
        )
    if report.workload:
        yield "\nQueries of the policy:\n"
        rows = [
            (code(a.sql), a.problem or a.median_error or "-", a.total_error or "-")
            for a in report.workload
        ]
        yield from table(("query", "median error", "error in total"), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table with its header."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def cell(text: str) -> str:
    """Text escaped for tables and HTML."""
    plain = printable(" ".join(text.split()), keep="")
    return plain.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def code(text: str) -> str:
    """A name or query as code; only what would end a table's cell is escaped.

    The fence is longer than any run of backticks within (CommonMark 0.31, code spans).
    """
    plain = printable(" ".join(text.split()), keep="").replace("|", "\\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", plain)), default=0))
    inner = f" {plain} " if plain.startswith("`") or plain.endswith("`") else plain
    return f"{fence}{inner}{fence}"
