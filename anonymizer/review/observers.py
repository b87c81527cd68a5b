"""Observers who know some rows of a person: how many candidates remain for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from anonymizer.compile import Sql, ident, render
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import cell_parts, quasi
from anonymizer.contract.reading import Tables
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Database, Session
from anonymizer.measure.proofs import linked_rows
from anonymizer.measure.queries import about, about_share
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.process.document import (
    Bar,
    Document,
    NotebookResult,
    Section,
    facts,
    say,
    table_section,
)
from anonymizer.process.secret import Seed
from anonymizer.process.text import figure, many
from anonymizer.release.opening import place_of, release_file, unchanged
from anonymizer.review.inputs import Published, attached_release, open_release
from anonymizer.run.problem_paths import at_persons
from anonymizer.run.tables import TablesRead, read_tables
from anonymizer.source.masking.masks import bound_values
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.verification.across_tables import Where, owned_parameters

# Open a release of several tables, alone or with its source tables.


@contextmanager
def open_tables(
    policy: SchemaPolicy,
    release: Path,
    source: str | Path | None = None,
    limits: Limits | None = None,
    option: str = "--database",
) -> Iterator[tuple[Published, Tables, TablesRead | None]]:
    """Open the release of `policy` in a file, with the database of its tables if given.

    Raises NothingToCheckError if there is no release, GuaranteeError if it was changed.
    """
    if source is None and not all(t.source.kind == "file" for t in policy.tables.values()):
        with open_release(policy, release, limits, option) as found:
            assert found.tables is not None, "a release of several tables"
            yield found, found.tables, None
        return
    with (
        open_source(policy, source, databases=(release,), limits=limits) as session,
        attached_release(session, release, place_of(policy, release, option)) as catalog,
    ):
        engine = session.embedded
        found = Published(engine, *unchanged(policy, engine, catalog, release))
        assert found.tables is not None, "a release of several tables"
        # masked values are not compared here, so any key will do and none has to be available
        session.engine.binds = bound_values(policy, Seed.test(0).secret)
        yield found, found.tables, read_tables(policy, session, Executor(session.engine))


@contextmanager
def open_source(
    policy: AnyPolicy,
    database: Database,
    *,
    databases: Sequence[Path] = (),
    limits: Limits | None = None,
) -> Iterator[Session]:
    """Open the source of a policy; with several tables, the persons' table, others readable."""
    opening = open_session(
        policy.lead, database, beside=policy.further, databases=databases, limits=limits
    )
    with ExitStack() as stack:
        with at_persons(policy):
            session = stack.enter_context(opening)
        yield session


# Observers who know a person's class and some rows: how many candidates remain for them.


ONE, TWO, ROWS, ABSENT = "one event", "two events", "the number of rows", "a table without rows"
"""Observers against whom a policy may guarantee something."""
LINKED = ("one event, and the rows above it", "two events, and how their rows belong together")
"""Observers who know how published keys join rows (`knows.joined`)."""
OPEN = {
    who: f"Nothing is promised against somebody who knows {knows}"
    for who, knows in {
        ONE: "a single event of a person (privacy: {knows: {events: 1}} does)",
        TWO: "two events of a person (privacy: {knows: {events: 2}} does)",
        ROWS: "how many rows a person has (privacy: {knows: {rows: true}} does)",
        ABSENT: "that a person has no rows in a table (privacy: {knows: {rows: true}} does)",
        **{
            knows: f"{knows} (published keys join them; privacy: {{knows: {{events: {n}}}}} does)"
            for n, knows in enumerate(LINKED, start=1)
        },
    }.items()
}
"""Sentences on observers against whom nothing is promised, and what would promise something."""
NOTHING = "nothing else"
"""The observer who knows the class only."""
UNCLASSED = ", not the quasi-identifiers"
"""Suffix for the knowledge of an observer who does not know the class."""


@dataclass(frozen=True, slots=True)
class Observer:
    """The candidates that an observer with this knowledge is left with."""

    knows: str
    """Known in addition to the class, unless noted otherwise."""
    persons: int
    alone: int
    """Persons without any other candidate."""
    below: int
    """Persons with fewer than k candidates."""
    fewest: int
    """Fewest candidates for a person."""
    found: float
    """Expected share of persons found: the mean of 1 / number of candidates."""
    promised: bool = False
    """True if the release guarantees k candidates against this observer."""

    @property
    def holds(self) -> bool:
        return not (self.promised and self.below)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}

    def rounded(self) -> Observer:
        """The same in round figures, for a report that is handed on: of a source, they depend on
        hidden values. Exact are the number of persons, and the fewest candidates, as in the
        report of one table.
        """
        return replace(
            self,
            alone=about(self.alone),
            below=about(self.below),
            found=about_share(self.found, self.persons),
        )


def observers_of_release(run_sql: RunSql, tables: Tables, where: Where) -> tuple[Observer, ...]:
    """The observers of a release, from its published tables alone."""
    shown = {
        one.table: [part for column in quasi(one.layout) for part in cell_parts(column)]
        for one in tables.children
    }
    parameters = {**owned_parameters(tables, where, shown), "source": False, "quasi": []}
    linked = map(_observer, linked_rows(run_sql, tables, where))
    promised = (replace(one, promised=_promised(tables, one.knows)) for one in linked)
    return (*_of_release(run_sql, tables, parameters), *promised)


def in_source(run_sql: RunSql, tables: Tables, read: TablesRead) -> tuple[Observer, ...]:
    """The observers of the tables as read; classes are equal quasi-identifiers."""
    return _of_release(run_sql, tables, _read(read))


def _of_release(
    run_sql: RunSql, tables: Tables, parameters: dict[str, Any]
) -> tuple[Observer, ...]:
    """The observers whose knowledge the tables contain."""
    if not tables.children:
        return ()
    events = any(table["shown"] for table in parameters["tables"])
    return tuple(
        replace(one, promised=_promised(tables, one.knows))
        for one in _observers(run_sql, tables.k, parameters)
        if events or one.knows in (ROWS, ABSENT)
    )


def of_source(run_sql: RunSql, k: int, read: TablesRead) -> tuple[Observer, ...]:
    """The observers of a source, including those who know only the class, or only the rows.

    Nothing is guaranteed. Observers of events are left out if there is no event column.
    """
    asked = {NOTHING, ROWS, ABSENT} if read.children else {NOTHING}
    every = any(child.attributes for child in read.children)
    rows_alone = [
        replace(one, knows=one.knows + UNCLASSED)
        for one in _observers(run_sql, k, {**_read(read), "quasi": [Sql("1")]})
        if one.knows in ((ONE, TWO, ROWS, ABSENT) if every else asked - {NOTHING})
    ]
    classed = [
        one
        for one in _observers(run_sql, k, {**_read(read), "alone": True})
        if every or one.knows in asked
    ]
    return tuple(sorted((*rows_alone, *classed), key=lambda one: one.knows.endswith(UNCLASSED)))


def _read(read: TablesRead) -> dict[str, Any]:
    children = read.children
    return {
        "persons": SNAPSHOT,
        "published": [child.kept for child in children],
        "tables": [
            {
                "number": child.number,
                "data": child.kept,
                "shown": [a.q.text for a in child.attributes],
            }
            for child in children
        ],
        "quasi": [a.q for a in read.prepared.roles.quasi],
        "source": True,
    }


def _observers(run_sql: RunSql, k: int, parameters: dict[str, Any]) -> tuple[Observer, ...]:
    text = render("attack/observers", {"alone": False, **parameters, "k": k}).text
    return tuple(map(_observer, run_sql(text)))


def _observer(row: tuple[Any, ...]) -> Observer:
    knows, persons, alone, below, fewest, found = row
    return Observer(knows, persons, alone, below, fewest, float(found))


def _promised(tables: Tables, knows: str) -> bool:
    promised = {ONE: tables.events >= 1, TWO: tables.events >= 2}
    promised |= dict.fromkeys((ROWS, ABSENT), tables.rows)
    if tables.joined:
        promised |= dict(zip(LINKED, (promised[ONE], promised[TWO]), strict=True))
    return promised.get(knows, False)


@dataclass(frozen=True, slots=True)
class TablesAttack:
    """The candidates that observers are left with, before and after."""

    view: str
    k: int
    after: tuple[Observer, ...]
    before: tuple[Observer, ...] = ()
    """The same for the source tables, if they are available."""

    @property
    def holds(self) -> bool:
        """True if every guarantee against an observer holds."""
        return all(observer.holds for observer in self.after)

    def as_dict(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "k": self.k,
            "holds": self.holds,
            "observers": [observer.as_dict() for observer in self.after],
            "before": [observer.as_dict() for observer in self.before] or None,
        }

    def document(self) -> Document:
        """The figures, those of the source before them."""
        earlier = {observer.knows: observer for observer in self.before}
        rows = (
            (
                one.knows,
                *(
                    f"{figure(getattr(was, name))} -> {figure(value)}" if was else value
                    for name in ("alone", "below", "fewest")
                    for value in (getattr(one, name),)
                    for was in (earlier.get(one.knows),)
                ),
                f"{self.k} left" if one.promised else "-",
            )
            for one in self.after
        )
        heads = ("known", "alone", f"below {self.k}", "fewest left", "promised")
        said = "no promised bound was passed" if self.holds else "A PROMISED BOUND WAS PASSED"
        if self.before:
            before = "before -> after; before, classes are persons with equal quasi-identifiers"
            said = f"{before}\n{said}"
        title = f"{self.view}: persons found by somebody who knows their class and, besides,"
        return Document(title, sections=(table_section("", heads, rows), Section(said)))


def attack_tables(
    policy: SchemaPolicy,
    source: str | Path | None = None,
    *,
    release: str | Path | None = None,
    limits: Limits | None = None,
) -> TablesAttack:
    """Evaluate the observers of `review.tables.observers` against the release of `policy`.

    `source`: the database of its tables, for the figures before. Raises NothingToCheckError if
    there is no release.
    """
    path = release_file(policy, release, source, "--release")
    with open_tables(policy, path, source, limits, "--release") as (found, tables, read):
        run_sql = found.engine.asking("attack")
        after = observers_of_release(run_sql, tables, found.where)
        before = in_source(run_sql, tables, read) if read is not None else ()
        return TablesAttack(str(found.manifest.data["view"]), tables.k, after, before)


# Assessment of several existing tables: persons found by what is known of their rows.


READ = ("quasi", "event", "key")
"""Roles of the columns that are read; other columns do not affect who is found."""


@dataclass(frozen=True, slots=True)
class AssessedTable:
    """Counts of one source table."""

    table: str
    above: str | None
    """Its parent table; None for the persons' table."""
    rows: int
    persons: int
    """Persons with at least one row."""
    most: int
    """Largest number of rows of a person."""
    orphans: int
    """Rows that reach no person; no other count includes them."""


@dataclass(frozen=True, slots=True, repr=False)
class TablesAssessment(NotebookResult):
    """The assessment of several existing tables, as figures without values."""

    person: str
    quasi: tuple[str, ...]
    events: tuple[str, ...]
    """Columns known of single rows: `table.column`."""
    k: int
    """Fewer candidates than this are too few."""
    tables: tuple[AssessedTable, ...]
    observers: tuple[Observer, ...]
    """Each knows the quasi-identifiers, unless noted otherwise."""

    def _document(self) -> Document:
        """Persons found by observers who know the quasi-identifiers, and counts of rows."""
        rows: list[tuple[Any, ...]] = [(f"rows of {one.table}", one.rows) for one in self.tables]
        rows += [
            (f"alone by {one.knows}", Bar(one.alone, one.alone / one.persons))
            for one in self.observers
            if not one.knows.endswith(UNCLASSED)
        ]
        return Document(self._title, (facts(rows),))

    @property
    def _title(self) -> str:
        return f"{many(len(self.tables), 'table')}; a row of {self.person} is a person"

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        observers = [
            {name: value for name, value in asdict(one).items() if name != "promised"}
            for one in self.observers
        ]
        return {**asdict(self), "observers": observers}

    def document(self) -> Document:
        """The assessment on one page."""
        known = f"known of a person: {', '.join(self.quasi)}"
        rows = f"known of a row: {', '.join(self.events) or '-'}"
        heads = ("table", "links to", "rows", "persons with rows", "most rows", "reach nobody")
        tables = (
            (t.table, t.above or "-", t.rows, t.persons, t.most, t.orphans) for t in self.tables
        )
        classed, others = (
            [one for one in self.observers if one.knows.endswith(UNCLASSED) == without]
            for without in (False, True)
        )
        found = (
            ("Persons found by somebody who knows their quasi-identifiers and, besides,", classed),
            ("Persons found by somebody who does not, and knows", others),
        )
        head = ("known", "alone", "", f"below {self.k}", "", "fewest left", "found, on average")
        sections = (
            table_section(
                title,
                head,
                (
                    (
                        one.knows.removesuffix(UNCLASSED),
                        *(one.alone, f"{100 * one.alone / one.persons:.1f} %"),
                        *(one.below, f"{100 * one.below / one.persons:.1f} %"),
                        *(one.fewest, f"{100 * one.found:.1f} %"),
                    )
                    for one in observers
                ),
            )
            for title, observers in found
            if observers
        )
        return Document(
            self._title, (say(known), say(rows)), (table_section("", heads, tables), *sections)
        )


def assess_tables(
    policy: SchemaPolicy, database: Database = None, *, limits: Limits | None = None
) -> TablesAssessment:
    """Assess the source tables of a policy with its roles and its k. Writes nothing.

    Rows that reach no person are counted and are not an error. Raises SourceError for keys that are
    NULL or not unique, and for what cannot be found or read.
    """
    bare = as_they_are(policy)
    with open_source(bare, database, limits=limits) as session:
        read = read_tables(bare, session, Executor(session.engine))
        k = policy.privacy.k_anonymity
        assert k is not None, "the policy is checked for its k"
        return TablesAssessment(
            person=policy.person,
            quasi=(*policy.persons.quasi, *policy.lifted),
            events=tuple(f"{name}.{column}" for name, column in policy.events),
            k=k,
            tables=tuple(_tables(policy, session, read)),
            observers=of_source(session.engine.asking("assessment"), k, read),
        )


def as_they_are(policy: SchemaPolicy) -> SchemaPolicy:
    """The tables of a policy, without any processing of their rows."""
    given = policy.to_dict()
    tables = {
        name: {
            **{key: table[key] for key in ("source", "key", "links") if table.get(key)},
            **({"orphans": "drop"} if name != policy.person else {}),
            "columns": {column: _bare(one) for column, one in table["columns"].items()},
        }
        for name, table in given["tables"].items()
    }
    made = {
        "version": 1,
        "person": policy.person,
        "tables": tables,
        "privacy": {"k_anonymity": policy.privacy.k_anonymity},
        "publish": given["publish"],
    }
    return SchemaPolicy.model_validate(made, context={"base": policy.base})


def _bare(column: dict[str, Any]) -> dict[str, Any]:
    if column["role"] not in READ:
        return {"role": "drop"}
    return {key: column[key] for key in ("role", "kind", "of") if column.get(key) is not None}


def _tables(policy: SchemaPolicy, session: Session, read: TablesRead) -> Iterator[AssessedTable]:
    persons = read.prepared.rows
    yield AssessedTable(policy.person, None, persons, persons, 1, 0)
    for child in read.children:
        ((owners, most),) = session.engine.raw(
            "select count(*), coalesce(max(n), 0) from"
            f" (select count(*) as n from {ident(child.kept)} group by person)",
            "assessment",
        )
        rows = child.owned + child.orphans
        yield AssessedTable(child.name, child.above, rows, owners, most, child.orphans)
