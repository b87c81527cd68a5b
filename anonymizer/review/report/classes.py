"""The classes of source and release for the same observer, so that both are comparable.

The observer knows the quasi-identifiers of all rows of a person, and looks for matching persons. In
a release all rows of a person are in one class. In a source they may differ; persons whose rows
have the same set of quasi-identifiers are then in one class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from anonymizer.compile import ident, work
from anonymizer.contract.columns import quasi
from anonymizer.measure.steps import about, about_share
from anonymizer.policy import Policy
from anonymizer.review.assess import Assessment, assess_opened
from anonymizer.review.assess.combinations import Combinations, Subset
from anonymizer.review.assess.figures import Sizes
from anonymizer.review.assess.opening import Opened
from anonymizer.review.assess.risk import Risk
from anonymizer.review.with_source import Beside, Published
from anonymizer.source.relation import Relation

KNOWN, ALONE = work("report_persons"), work("report_persons_without")
FEWEST = 5
"""Smallest bin of class sizes in the source, in units, that is shown."""
EXACT = frozenset({"rows", "persons", "k", "person_k", "threshold", "prosecutor_max"})
"""Figures of the source that are shown unrounded: its size, and its smallest class."""


def before(policy: Policy, beside: Beside) -> Assessment:
    """Classes of the source, with rounded counts."""
    session = beside.session
    opened = Opened(session.embedded, session.source, session.profile.columns)
    if policy.algorithm.classless:
        person = policy.person
        names = [c.column for c in beside.layout.columns if c.column != person]
        found = assess_opened(opened, "source", quasi=names, person=person, combined=0)
        return _about(found)
    if policy.person is not None and _rows_differ(opened, policy.quasi, policy.person):
        return _about(_by_persons(opened, policy.quasi, policy.person))
    found = assess_opened(
        opened,
        "source",
        quasi=policy.quasi,
        sensitive=policy.sensitive,
        person=policy.person,
        combined=2,
    )
    return _about(found)


def after(release: Published) -> Assessment:
    """Classes of the release; without class numbers (msb), rows with equal published cells."""
    layout = release.layout
    described = tuple(release.engine.describe(ident(release.view).text, "release"))
    opened = Opened(release.engine, Relation(ident(release.view), release.view), described)
    names = [layout.class_id] if layout.class_id else [c.name for c in quasi(layout) if c.name]
    if layout.classless:  # everything may be known
        names = [c.name for c in layout.columns if c.name]
    inside = [r.column for r in release.manifest.requirements if r.scope == "class"]
    judged = dict.fromkeys(
        c.name
        for c in layout.columns
        if c.role == "sensitive"
        and c.column in inside
        and c.name
        and c.bucket is None
        and c.column not in layout.tables
    )
    return assess_opened(
        opened,
        "release",
        quasi=[name for name in names if name],
        sensitive=[name for name in judged if name],
        person=layout.person_id,
        combined=0,
    )


def _rows_differ(opened: Opened, columns: Sequence[str], person: str) -> bool:
    """Whether any person's rows differ in quasi-identifiers. Creates the classes of persons."""
    _stage(opened, columns, person, without=None)
    found = opened.engine.raw(f"select coalesce(max(tuples), 0) > 1 from {ident(KNOWN)}", "report")
    return bool(found[0][0])


def _stage(opened: Opened, columns: Sequence[str], person: str, *, without: str | None) -> None:
    left = [name for name in columns if name != without]
    opened.select(
        "report/person_classes",
        "report",
        person=ident(person),
        keys=[(opened.value(name), ident(f"q{i}")) for i, name in enumerate(left)],
        classes=KNOWN if without is None else ALONE,
    )


def _by_persons(opened: Opened, columns: Sequence[str], person: str) -> Assessment:
    """The classes created by `_rows_differ`, and the unique persons without each column."""
    described = tuple(opened.engine.describe(ident(KNOWN).text, "report"))
    staged = Opened(opened.engine, Relation(ident(KNOWN), KNOWN), described)
    found = assess_opened(staged, "source", quasi=["class"], person="person", combined=0)
    without: dict[str, Subset] = {}
    for name in columns if len(columns) > 1 else ():
        _stage(opened, columns, person, without=name)
        ((classes, k, alone, units),) = opened.select(
            "report/person_alone", "report", classes=ALONE
        )
        left = tuple(n for n in columns if n != name)
        without[name] = Subset(left, classes, k, alone, classes / units)
    alone = found.sizes.unique_persons or 0
    together = Combinations(0, (), alone, {}, without) if without else None
    return replace(found, quasi=tuple(columns), combinations=together)


def _about(found: Assessment) -> Assessment:
    """Round counts and shares of the source's classes, because they depend on hidden values."""

    def rounded(figures: Sizes | Risk, by: Callable[[Any], Any]) -> dict[str, Any]:
        return {
            name: value if name in EXACT or value is None else by(value)
            for name, value in asdict(figures).items()
        }

    counted = ("classes", "units")
    bins = [
        {name: about(n) if name in counted else n for name, n in size.items()}
        for size in found.size_bins
        if size["units"] >= FEWEST
    ]
    return replace(
        found,
        sizes=Sizes(**rounded(found.sizes, about)),
        risk=Risk(**rounded(found.risk, partial(about_share, units=found.sizes.units))),
        size_bins=bins,
        combinations=_about_columns(found.combinations),
    )


def _about_columns(found: Combinations | None) -> Combinations | None:
    """Rounded contribution of each column to uniqueness, without the single combinations."""
    if found is None:
        return None
    return replace(
        found,
        subsets=(),
        singled_out=about(found.singled_out),
        column_involved={name: about(n) for name, n in found.column_involved.items()},
        without={
            name: replace(
                subset, classes=about(subset.classes), singled_out=about(subset.singled_out)
            )
            for name, subset in found.without.items()
        },
    )
