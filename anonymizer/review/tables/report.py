"""The report on a release of several tables: HTML, Markdown without pictures, or plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import ident
from anonymizer.contract.checks import Verification, verdict
from anonymizer.engines.base import Limits
from anonymizer.measure.usefulness import Little, little_left
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.kinds import ReleaseKind, kind_words
from anonymizer.policy.masking import MASKS
from anonymizer.policy.schema.derived import lead_of, singles_of
from anonymizer.process.text import figure, printable, table
from anonymizer.release.figures import refuse_other_figures
from anonymizer.release.judge import judge
from anonymizer.release.masks import mask_words
from anonymizer.release.tables import known_attacks_of, stated_certificate
from anonymizer.release.tables_judge import judge_tables
from anonymizer.review.report.collect import without_listed
from anonymizer.review.report.page import Tile, page_environment, percent
from anonymizer.review.tables.observers import OPEN, Observer, in_release, in_source
from anonymizer.review.tables.opening import OpenTables, open_tables
from anonymizer.review.with_source import release_file

SAYS = {
    "key": "a key of the source, published as a number drawn for this release",
    "quasi": "generalized, so that at least k persons share all such cells",
    "event": "what somebody may know of a row: raised, class by class, to what enough persons have",
    "sensitive": "published as it is; its rules hold in every class of persons",
    "keep": "published as it is",
    "identifier": "not published",
    "drop": "not published",
}
AS_IT_IS = "published as it is: nobody is to know a row (privacy.knows.events is 0)"
"""Text for an event column if events are not protected."""
IN_CLASSES = "; its rule holds in every class, whatever its cells stand for"
"""Text for an event column with a rule."""


@dataclass(frozen=True, slots=True)
class OneTable:
    """Figures of one published table."""

    name: str
    above: str | None
    rows: int
    suppressed: int
    lost: tuple[tuple[str, float], ...]
    """Mean NCP of the cells of each generalized column."""


@dataclass(frozen=True, slots=True)
class TablesReport:
    """A release of several tables in figures and sentences, without rows or rare values."""

    view: str
    run_id: str
    created: str
    k: int
    verification: Verification
    tables: tuple[OneTable, ...]
    columns: tuple[dict[str, str], ...]
    after: tuple[Observer, ...]
    before: tuple[Observer, ...]
    certificate: str
    kind: ReleaseKind
    attacks: tuple[str, ...]
    warnings: tuple[str, ...]
    little: tuple[Little, ...] = ()
    """Properties of which little is left."""

    @property
    def holds(self) -> bool:
        return self.verification.passed and all(one.holds for one in self.after)

    @property
    def says(self) -> str:
        """The verdict as a sentence."""
        if not self.holds:
            return "This release does not hold, and must not be used."
        form, guarantees = len(self.verification.form), len(self.verification.guarantees)
        holds = "The release holds, but little is left" if self.little else "The release holds"
        return (
            f"{holds}: {guarantees} guarantees and {form} conditions of form, judged"
            " again for this report from the rows of all tables."
        )

    @property
    def open(self) -> tuple[str, ...]:
        """Observers against whom nothing is guaranteed, and what they can learn."""
        return tuple(
            f"{OPEN[one.knows]}: {figure(one.alone)} of {figure(one.persons)} persons are alone to"
            f" them, {figure(one.below)} are among fewer than {figure(self.k)}."
            for one in self.after
            if one.knows in OPEN and not one.promised
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data for programs."""
        return {
            "view": self.view,
            "kind": self.kind,
            "run_id": self.run_id,
            "created": self.created,
            "passed": self.holds,
            "says": self.says,
            "little_left": [asdict(one) for one in self.little],
            "verification": self.verification.as_dict(),
            "tables": [asdict(one) for one in self.tables],
            "columns": list(self.columns),
            "observers": {
                "before": [one.as_dict() for one in self.before] or None,
                "after": [one.as_dict() for one in self.after],
            },
            "not_promised": list(self.open),
            "certificate": self.certificate,
            "known_attacks": list(self.attacks),
            "warnings": list(self.warnings),
        }


def collect_tables(
    policy: SchemaPolicy,
    database: str | Path | None = None,
    source: str | Path | None = None,
    limits: Limits | None = None,
) -> TablesReport:
    """Read and verify the release of `policy`, and compare it with its source if given.

    Raises NothingToCheckError if there is no release, GuaranteeError if it was changed.
    """
    path = release_file(lead_of(policy), database, source)
    with open_tables(policy, path, source, limits) as found:
        run_sql = found.engine.asking("report")
        manifest, data = found.manifest, found.manifest.data
        judged = judge(found.engine, found.view, manifest.layout, manifest.requirements)
        judged += judge_tables(found.engine, found.tables, found.where)
        if judged.passed:
            refuse_other_figures(found.engine, found.view, manifest, judged)
        warnings = ["made with a test seed: not for publication"] if data["reproducible"] else []
        return TablesReport(
            view=str(data["view"]),
            run_id=manifest.run_id,
            created=str(data["created"]),
            k=found.tables.k,
            verification=without_listed(judged, found.tables),
            tables=tuple(_tables(found)),
            columns=tuple(_columns(policy)),
            after=in_release(run_sql, found.tables, found.where),
            before=tuple(one.rounded() for one in in_source(run_sql, found.tables, found.read))
            if found.read
            else (),
            certificate=stated_certificate(manifest),
            kind=manifest.kind,
            attacks=tuple(data.get("known_attacks") or known_attacks_of(policy)),
            warnings=tuple(warnings),
            little=little_left(data["measures"]),
        )


def _tables(found: OpenTables) -> Iterator[OneTable]:
    measures = found.manifest.data["measures"]
    for one in found.tables.tables:
        count = f"select count(*) from {ident(found.where(one))}"
        rows = int(found.engine.raw(count, "report")[0][0])
        if one is found.tables.persons:
            lost = {
                c.column: measures[f"ncp.{c.column}"]
                for c in one.layout.columns
                if f"ncp.{c.column}" in measures
            }
            suppressed = int(measures["suppressed"])
        else:
            told = measures["tables"][one.table]
            lost, suppressed = told["ncp"], int(told["suppressed"])
        above = next(iter(one.layout.links.values()), None)
        yield OneTable(one.name, above, rows, suppressed, tuple(lost.items()))


def _columns(policy: SchemaPolicy) -> Iterator[dict[str, str]]:
    tables = zip((policy.person, *policy.children), singles_of(policy).values(), strict=True)
    for name, single in tables:
        for column, one in policy.tables[name].columns.items():
            masked = mask_words(single, column)
            if one.role in MASKS:
                says = f"published masked: {masked}"
            elif one.role == "sensitive" and one.protect is None:
                says = "published as it is, without a rule of its own"
            else:
                known = one.role != "event" or policy.privacy.knows.events > 0
                says = SAYS[one.role] if known else AS_IT_IS
                says += IN_CLASSES if one.role == "event" and one.protect is not None else ""
                says += f"; read {masked}" if masked else ""
            yield {"table": name, "column": column, "role": one.role, "says": says}


def html(report: TablesReport) -> str:
    """The whole page."""
    was = {one.knows: one for one in report.before}
    template = page_environment().get_template("report/tables.html.j2")
    return template.render(
        report=report,
        tiles=list(_tiles(report)),
        observers=[(was.get(one.knows), one) for one in report.after],
        checks=report.verification.guarantees,
        form=report.verification.form,
        form_holds=all(check.passed for check in report.verification.form),
    )


def _tiles(report: TablesReport) -> Iterator[Tile]:
    was = {one.knows: one for one in report.before}
    for one in report.after[:3]:
        before = was.get(one.knows)
        more = f"before: {figure(before.below)}" if before is not None else ""
        said = f"persons below {report.k} to somebody who knows {one.knows}"
        yield Tile(figure(one.below), said, more)
    rows, left = sum(t.rows for t in report.tables), sum(t.suppressed for t in report.tables)
    yield Tile(percent(left / max(rows + left, 1)), "rows left out, of all tables")


def markdown(report: TablesReport) -> str:
    """The whole report."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: TablesReport) -> Iterator[str]:
    yield f"# Privacy report: {printable(report.view)}"
    yield ""
    yield f"Kind of release: **{kind_words(report.kind)}**."
    yield ""
    yield f"Run `{report.run_id}`, {report.created}. **{report.says}**"
    if report.little:
        yield ""
    yield from (f"- {printable(str(one), keep='')}" for one in report.little)
    for warning in report.warnings:
        yield f"\n**Note: {warning}.**"
    for title, heads, rows in _listed(report):
        yield ""
        yield f"## {title}"
        yield ""
        yield "```text"
        yield from table(heads, rows)
        yield "```"
    yield ""
    yield from (f"- {said}" for said in report.open)
    yield "\n## What it does not promise\n"
    yield report.certificate
    yield ""
    yield from (f"- {printable(said, keep='')}" for said in report.attacks)


def _listed(report: TablesReport) -> Iterator[tuple[str, Sequence[str], list[Sequence[object]]]]:
    """Title, header and rows of each table."""
    yield (
        "Tables",
        ("table", "links to", "rows", "left out", "lost"),
        [
            (one.name, one.above or "-", one.rows, one.suppressed, _losses(one.lost))
            for one in report.tables
        ],
    )
    yield (
        "What is published",
        ("table", "column", "role", "what is done with it"),
        [(one["table"], one["column"], one["role"], one["says"]) for one in report.columns],
    )
    yield (
        "What observers are left with",
        ("known besides the class", "alone", f"below {report.k}", "fewest", "promised"),
        [
            (one.knows, one.alone, one.below, one.fewest, str(report.k) if one.promised else "-")
            for one in report.after
        ],
    )
    yield (
        "Guarantees",
        ("guarantee", "column", "required", "reached", ""),
        [
            (c.name, c.column or "-", c.required, c.achieved, verdict(c))
            for c in report.verification.guarantees
        ],
    )


def _losses(lost: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{column} {percent(loss)}" for column, loss in lost) or "-"
