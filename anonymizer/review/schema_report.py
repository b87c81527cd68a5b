"""The report on a release of several tables, and the preview of such a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from anonymizer.compile import ident, work
from anonymizer.contract.checks import Verification
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.source import relation_of
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError, Problem
from anonymizer.measure.usefulness import Little, little_left
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.columns import MASKS
from anonymizer.policy.kinds import ReleaseKind
from anonymizer.policy.schema.derived import child_policy, lead_of, persons_policy, singles_of
from anonymizer.process.document import (
    Bad,
    Document,
    Good,
    Inline,
    Rows,
    Section,
    Tiles,
    say,
)
from anonymizer.process.text import figure
from anonymizer.release.across_tables import known_attacks_of
from anonymizer.release.certificate import mask_words
from anonymizer.release.consistency import refuse_other_figures
from anonymizer.release.judge import judge, judge_tables
from anonymizer.release.manifest import stated_certificate
from anonymizer.release.opening import release_file
from anonymizer.review.observers import (
    OPEN,
    Observer,
    OpenTables,
    in_source,
    observers_of_release,
    open_tables,
)
from anonymizer.review.report.content import State, Verdict, without_listed
from anonymizer.review.report.page import check_blocks, heading, limits, sql_of
from anonymizer.review.report.pictures import percent
from anonymizer.run.problem_paths import at_table
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import roles
from anonymizer.source.snapshot import Relation, key_text

# A preview of a run over several tables: their tree, with counts.


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """One table of the policy, as it is and as it would be published."""

    table: str
    depth: int
    """Number of links from it to the persons."""
    above: str | None
    """The table to which its link leads."""
    link: str | None
    key: str | None
    events: tuple[str, ...]
    view: str
    """Name of its published view, as `schema.name`."""
    rows: int | None = None
    """Number of rows; None if the table cannot be read."""
    orphans: int | None = None
    """Rows whose link leads to no row; None if they cannot be counted."""
    left_out: bool = False
    """True if the policy suppresses such rows."""

    def as_dict(self) -> dict[str, object]:
        """The table as data for JSON."""
        found = asdict(self)
        del found["depth"]
        return found


@dataclass(frozen=True, slots=True)
class _Read:
    """A table that can be read."""

    relation: Relation
    profile: TableProfile


def tree_of(policy: SchemaPolicy, session: Session) -> tuple[list[PlannedTable], list[Problem]]:
    """The tables, each after its parent, and the problems with their columns."""
    problems: list[Problem] = []
    read: dict[str, _Read] = {}
    found = []
    for number, name in enumerate((policy.person, *policy.children)):
        table = _described(policy, name)
        try:
            with at_table(name):
                one = _opened(policy, name, session, number)
                read[name] = one
                single = child_policy(policy, name)
                if not number:
                    single = persons_policy(policy, lifted=False)
                roles(single, one.profile)
        except AnonymizerError as error:
            problems += error.problems
        if name in read:
            table = _counted(policy, table, read, session)
        found.append(table)
    return list(_in_tree(found, policy.person)), problems


def _described(policy: SchemaPolicy, name: str) -> PlannedTable:
    table = policy.tables[name]
    link, above = table.link or (None, None)
    return PlannedTable(
        table=name,
        depth=len(policy.way(name)),
        above=above,
        link=link,
        key=table.key,
        events=table.events,
        view=f"{policy.publish.schema_}.{policy.view(name)}",
        left_out=table.orphans == "drop",
    )


def _opened(policy: SchemaPolicy, name: str, session: Session, number: int) -> _Read:
    """The table as a relation. Raises AnonymizerError if it cannot be read."""
    if not number:
        return _Read(session.source, session.profile)
    # (the same query is read again, into a separate table, when the steps are tried)
    return _Read(*relation_of(child_policy(policy, name), session.embedded, work(f"seen_{number}")))


def _counted(
    policy: SchemaPolicy, table: PlannedTable, read: dict[str, _Read], session: Session
) -> PlannedTable:
    own = read[table.table]
    rows = session.engine.raw(f"select count(*) from {own.relation.sql}", "counts of the source")
    table = replace(table, rows=int(rows[0][0]))
    above = read.get(table.above or "")
    key = policy.tables[table.above].key if table.above is not None else None
    if above is None or key is None or table.link is None:
        return table
    if not (_has(own, table.link) and _has(above, key)):
        return table
    there, here = key_text(key, above.profile), key_text(table.link, own.profile)
    found = session.engine.raw(
        f"select count(*) from (select {here} as link from {own.relation.sql}) as links"
        f" anti join (select distinct {there} as link from {above.relation.sql}) as keys"
        " on keys.link = links.link",
        "counts of the source",
    )
    return replace(table, orphans=int(found[0][0]))


def _has(read: _Read, column: str) -> bool:
    return column in {name for name, _ in read.profile.columns}


def _in_tree(tables: list[PlannedTable], above: str | None) -> Iterator[PlannedTable]:
    """A table, followed by its descendants."""
    for one in tables:
        if one.table == above:
            yield one
    for one in tables:
        if one.above == above:
            yield from _in_tree(tables, one.table)


# The report on a release of several tables: HTML, Markdown without pictures, or plain data.


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
    def verdict(self) -> Verdict:
        """The verdict, and what little is left of."""
        state: State = "fails" if not self.holds else "little" if self.little else "useful"
        return Verdict(state, self.says, tuple(map(str, self.little)) if self.holds else ())

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
            after=observers_of_release(run_sql, found.tables, found.where),
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


def document(report: TablesReport) -> Document:
    """The whole report."""
    was = {one.knows: one for one in report.before}
    run = {"run_id": report.run_id, "created": report.created}
    top = (
        *heading(run, report.kind, report.verdict, report.warnings),
        Tiles(tuple(_tiles(report, was))),
    )
    tables = tuple(
        (one.name, one.above or "–", one.rows, one.suppressed, _losses(one.lost))
        for one in report.tables
    )
    columns = tuple(
        (one["table"], one["column"], one["role"], one["says"]) for one in report.columns
    )
    checks, k = report.verification, figure(report.k)
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
    rows = tuple(_observed(was.get(one.knows), one, k, len(before)) for one in report.after)
    sections = (
        Section(
            "Tables",
            (
                say(
                    "A row is published with the row that its link leads to. Keys are numbers drawn"
                    " for this release."
                ),
                Rows("", ("table", "links to", "rows", "left out", "lost in a cell"), tables),
            ),
        ),
        Section(
            "What is published",
            (Rows("", ("table", "column", "role", "what is done with it"), columns),),
        ),
        Section(
            "What observers are left with",
            (say(said), Rows("", head, rows), *(say(one, style="note") for one in report.open)),
        ),
        Section(
            "Guarantees", (*check_blocks(checks.guarantees, checks.form), *sql_of(checks.checks))
        ),
        limits(report.certificate, report.attacks),
    )
    source = " and their source" if was else ""
    foot = f"Made by sql-anonymizer from the published rows{source}."
    return Document(report.view, top, sections, "Privacy report", foot)


def _observed(was: Observer | None, now: Observer, k: str, before: int) -> tuple[Inline, ...]:
    promised: Inline = "nothing"
    if now.promised:
        promised = Good(f"{k} candidates") if now.holds else Bad(f"{k} candidates: DOES NOT HOLD")
    earlier = (was.alone, was.below) if was else ("-", "-")
    return now.knows, *earlier[:before], now.alone, now.below, now.fewest, promised


def _tiles(report: TablesReport, was: Mapping[str, Observer]) -> Iterator[tuple[str, str, str]]:
    for one in report.after[:3]:
        before = was.get(one.knows)
        more = f"before: {figure(before.below)}" if before is not None else ""
        said = f"persons below {report.k} to somebody who knows {one.knows}"
        yield figure(one.below), said, more
    rows, left = sum(t.rows for t in report.tables), sum(t.suppressed for t in report.tables)
    yield percent(left / max(rows + left, 1)), "rows left out, of all tables", ""


def _losses(lost: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{column} {percent(loss)}" for column, loss in lost) or "–"
