"""A report as one HTML file: no script, no network, readable on a phone and in print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import jinja2

from anonymizer.algorithms.registry import ALGORITHMS
from anonymizer.measure.proofs import RECORDS
from anonymizer.measure.words import least_sentence, measure_words
from anonymizer.process.html import environment
from anonymizer.process.text import figure
from anonymizer.release.certificate import SAFE_HARBOR
from anonymizer.release.manifest import shown_measures
from anonymizer.review.report import pictures
from anonymizer.review.report.content import Report
from anonymizer.review.report.distributions import Distribution
from anonymizer.review.report.pictures import Picture
from anonymizer.review.report.words import CHECKS, ROLES, attack_sentences, moved_sentence


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
        algorithm=ALGORITHMS[report.policy.algorithm.name].words,
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
