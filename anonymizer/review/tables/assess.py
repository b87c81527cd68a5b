"""Assessment of several existing tables: persons found by what is known of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anonymizer.compile import ident
from anonymizer.engines.base import Limits
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Database, Session
from anonymizer.policy import SchemaPolicy
from anonymizer.process.shown import Fact, as_html, as_text, fact
from anonymizer.process.text import many, table
from anonymizer.review.tables.observers import UNCLASSED, Observer, of_source
from anonymizer.review.tables.opening import open_source
from anonymizer.run.tables import TablesRead, read_tables

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
class TablesAssessment:
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

    def _facts(self) -> list[Fact]:
        """Persons found by observers who know the quasi-identifiers, and counts of rows."""
        known = [one for one in self.observers if not one.knows.endswith(UNCLASSED)]
        return [
            *(fact(f"rows of {one.table}", one.rows) for one in self.tables),
            *(fact(f"alone by {one.knows}", one.alone, one.alone / one.persons) for one in known),
        ]

    def __repr__(self) -> str:
        return as_text(self._title, self._facts())

    def _repr_html_(self) -> str:
        return as_html(self._title, self._facts())

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

    def lines(self) -> Iterator[str]:
        """The assessment as text, on one page."""
        yield self._title
        yield f"  known of a person: {', '.join(self.quasi)}"
        yield f"  known of a row: {', '.join(self.events) or '-'}"
        yield ""
        heads = ("table", "links to", "rows", "persons with rows", "most rows", "reach nobody")
        yield from table(
            heads,
            [(t.table, t.above or "-", t.rows, t.persons, t.most, t.orphans) for t in self.tables],
        )
        for says, without in (
            ("Persons found by somebody who knows their quasi-identifiers and, besides,", False),
            ("Persons found by somebody who does not, and knows", True),
        ):
            found = [one for one in self.observers if one.knows.endswith(UNCLASSED) == without]
            if found:
                yield ""
                yield says
                yield from self._found(found)

    def _found(self, observers: Sequence[Observer]) -> list[str]:
        return table(
            ("known", "alone", "", f"below {self.k}", "", "fewest left", "found, on average"),
            [
                (
                    one.knows.removesuffix(UNCLASSED),
                    one.alone,
                    _share(one.alone, one.persons),
                    one.below,
                    _share(one.below, one.persons),
                    one.fewest,
                    f"{100 * one.found:.1f} %",
                )
                for one in observers
            ],
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


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
    persons = read.persons.rows
    yield AssessedTable(policy.person, None, persons, persons, 1, 0)
    for child in read.children:
        ((owners, most),) = session.engine.raw(
            "select count(*), coalesce(max(n), 0) from"
            f" (select count(*) as n from {ident(child.kept)} group by person)",
            "assessment",
        )
        rows = child.owned + child.orphans
        yield AssessedTable(child.name, child.above, rows, owners, most, child.orphans)
