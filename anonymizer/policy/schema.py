"""Fields of a policy of several tables: links to the persons, and one release of all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from anonymizer.policy import defaults
from anonymizer.policy.algorithms import ALGORITHMS, Mondrian
from anonymizer.policy.columns import ByRole, Column, MaskRole, NamedNull
from anonymizer.policy.document import Document
from anonymizer.policy.hierarchies import Hierarchy
from anonymizer.policy.paths import closest
from anonymizer.policy.privacy import DeltaPresence, KMap, Levels, Privacy, Protect
from anonymizer.policy.publish import Context, Publish, Source
from anonymizer.policy.safe_harbor import PRESET
from anonymizer.policy.values import (
    AsTuple,
    AtLeastTwo,
    FrozenMap,
    LocalPath,
    OneOf,
    Options,
    Positive,
    PositiveNumber,
    Refused,
    Share,
    Text,
    fail,
)

# One of several tables: its source, its key, the links to other tables, its columns.


SchemaRole = Literal["identifier", "quasi", "event", "sensitive", "keep", "drop", "key"] | MaskRole
Orphans = Literal["error", "drop"]

SINGLE = "is not offered with several tables"
MONDRIAN = Refused(f"{SINGLE}: mondrian does not use it", "leave it out")


class SchemaProtect(Protect):
    """Guarantees for the values of a sensitive column in every class, counted by persons."""

    eir_l: AtLeastTwo | None = None
    """Enhanced identity-reserved l-diversity of this column: smallest reasoning set of a class."""
    levels: Annotated[Levels | None, MONDRIAN] = None
    default_level: Annotated[int | None, MONDRIAN] = None


class SchemaColumn(Column):
    """Role of a column in one of several tables, and its options."""

    role: Annotated[SchemaRole, NamedNull]  # type: ignore[assignment]  # two more than in Column
    """key: published as a number drawn for this release; quasi: only in the table of the persons;
    event: what somebody may know about a single row of a person; the others as in a single table.
    """
    hierarchy: Hierarchy | None = None
    """The generalization hierarchy of a quasi or event column, or of a sensitive one for its
    distance."""
    protect: SchemaProtect | None = None
    """Rules for a sensitive column; they count persons in the class. An event may have eir_l."""
    of: Literal["person"] | None = None
    """A quasi column of another table that is the same in all rows of a person: it is published
    with the persons; NULL for a person without a row there."""
    sensitive_when: Annotated[None, MONDRIAN] = None
    priority: Annotated[None, MONDRIAN] = None
    minimum_level: Annotated[None, MONDRIAN] = None
    presampling_level: Annotated[None, MONDRIAN] = None


class SchemaTable(ByRole, Options):
    """One of several tables."""

    source: Source
    """The source of its rows."""
    key: Text | None = None
    """A column that is unique and not null. The table of the persons needs one, and so does every
    table to which another one links."""
    links: FrozenMap[Text, Text] = FrozenMap()
    """Foreign key: a column of this table, and the table whose key it holds. Every table except
    that of the persons has one link, which leads from its rows to their person."""
    orphans: Orphans = "error"
    """Rows that lead to no person: an error, or omitted and counted."""
    columns: FrozenMap[Text, SchemaColumn]
    """Every column of the table by name."""

    @property
    def link(self) -> tuple[str, str] | None:
        """The column of the link and the table to which it leads; None for the persons' table."""
        return next(iter(self.links.items()), None)

    @cached_property
    def lifted(self) -> tuple[str, ...]:
        """Quasi-identifiers of the person that are in a table other than the persons'."""
        return tuple(name for name in self.quasi if self.columns[name].of == "person")

    @cached_property
    def events(self) -> tuple[str, ...]:
        """Columns whose cells an observer may know for single rows."""
        return self._with_role("event")

    @cached_property
    def ruled_events(self) -> tuple[str, ...]:
        """Event columns with a rule on their values."""
        return tuple(name for name in self.events if self.columns[name].protect is not None)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Columns published as random numbers: the table's key and its link."""
        return self._with_role("key")

    @property
    def unused_keys(self) -> tuple[str, ...]:
        """Columns of the role key that are neither the table's key nor a link (a mistake)."""
        return tuple(name for name in self.keys if name != self.key and name not in self.links)

    @property
    def published_key(self) -> str | None:
        """The key, if it is published as a random number."""
        return self.key if self.key is not None and self.columns[self.key].role == "key" else None


POPULATION = Refused(f"{SINGLE}: classes are not compared with a population", "leave it out")
UNITS = Refused(f"{SINGLE}: the persons are the only units of their classes", "leave it out")


class Knows(Options):
    """An observer's knowledge about a person besides the quasi-identifiers."""

    events: Annotated[int, Field(ge=0, le=3)] = 0
    """Number of rows of a person whose event values may be known: k candidates remain."""
    joined: bool = True
    """The rows above these as well, and which of them they share: published keys join them.
    Default: true."""
    rows: bool = False
    """The number of rows that the person has in every table: k candidates remain."""
    sensitive: bool = False
    """The rules of sensitive columns also hold among the candidates that remain (LKC)."""

    @property
    def anything(self) -> bool:
        """True if an observer knows anything besides the quasi-identifiers."""
        return self.events > 0 or self.rows


class SchemaPrivacy(Privacy):
    """Guarantees for all tables together, counted by persons; k_anonymity is required."""

    knows: Knows = Knows()
    """Further knowledge of an observer; default: nothing, and the report shows what that leaves
    open."""
    level_l: Annotated[FrozenMap[int, Positive] | None, MONDRIAN] = None
    k_map: Annotated[KMap | None, POPULATION] = None
    delta_presence: Annotated[DeltaPresence | None, POPULATION] = None
    units: Annotated[FrozenMap[str, AtLeastTwo] | None, UNITS] = None

    @property
    def guarantees(self) -> tuple[str, ...]:
        """Names of the required guarantees of classes."""
        return tuple(name for name in super().guarantees if name != "knows")


class SuppressionLimits(Options):
    """Largest shares that may be suppressed: more fails the run."""

    persons: Share = 0.0
    """Of the persons, each in all tables."""
    rows: Share
    """Of the rows of any other table, whose persons may be published."""


class Weight(Options):
    """Weights of losses relative to each other."""

    events: PositiveNumber = 1.0
    """Weight of the loss of an event cell; that of a quasi-identifying cell is 1."""


LEAVE = Refused(SINGLE, "leave it out")
NAME = Refused("names one view, and every table has one", "names: {visits: encounters}")
RENAME = Refused(SINGLE, "rename the column in a query as source")
BESIDE = Refused(SINGLE, "publish: {database: release.duckdb}")
GRANT = Refused(f"{SINGLE}: it is a Postgres grant, and duckdb anonymizes them", "leave it out")


def _prefix(given: str) -> str:
    if "\0" in given or given != given.strip():
        raise fail("must be the beginning of a name", hint="prefix: anonymous_")
    return given


class SchemaPublish(Publish):
    """The release: names of its views, location and format."""

    prefix: Annotated[str, AfterValidator(_prefix)] = ""
    """Prefix of the name of every view."""
    names: FrozenMap[Text, Text] = FrozenMap()
    """Table to the name of its view; default: the name of the table."""
    name: Annotated[Text, NAME] = Field("", exclude=True)
    rename: Annotated[FrozenMap[Text, Text], RENAME] = Field(FrozenMap(), exclude=True)
    replace_source: Annotated[bool, BESIDE] = Field(False, exclude=True)
    grant_select: Annotated[Text | Annotated[tuple[Text, ...], AsTuple] | None, GRANT] = None

    def view(self, table: str) -> str:
        """The name of the view of a table."""
        return self.prefix + self.names.get(table, table)


class SchemaRepublish(OneOf):
    """The relation of releases of several tables to earlier ones."""

    ONE_OF = ("new_population",)

    new_population: Literal[True] | None = None
    """Release the tables although fewer than half of the persons of the last release are
    recognized: the persons are others."""
    m: Annotated[None, LEAVE] = Field(None, exclude=True)
    append_only: Annotated[None, LEAVE] = Field(None, exclude=True)
    follow: Annotated[None, LEAVE] = Field(None, exclude=True)
    wait: Annotated[None, LEAVE] = Field(None, exclude=True)


OF_TABLE = Refused("cannot be combined with tables: every table has its own", "move it there")
MERGED = Refused(f"{SINGLE}: the persons' table has one row per person", "leave it out")


def _mondrian(given: object) -> object:
    if isinstance(given, Mondrian):
        return given
    if not isinstance(given, Mapping):
        raise fail("must be a mapping", allowed="mondrian", hint="algorithm: {name: mondrian}")
    name = given.get("name")
    if "name" not in given:
        raise fail("is missing", at="name", allowed="mondrian")
    if name != "mondrian":
        known = isinstance(name, str) and name in ALGORITHMS
        said = "does not anonymize several tables" if known else "is not an algorithm"
        raise fail(said, at="name", allowed="mondrian", hint=closest(name, ["mondrian"]))
    return given


def _of_several(given: object) -> object:
    if given == PRESET:
        said = "is for one table: it is not judged over several"
        raise fail(said, allowed="internal, external", hint="a policy for each table")
    return given


class SchemaFields(Document):
    """The fields of a policy of several tables, and what follows from them."""

    engine: Literal["duckdb", "postgres", "spark"] = "duckdb"
    """The engine that does the work."""
    person: Text
    """The table with one row per person; its key is the person."""
    tables: FrozenMap[Text, SchemaTable]
    """Every table by name. Each is the table of the persons, or is linked to it, directly or
    through other tables."""
    privacy: SchemaPrivacy = SchemaPrivacy()
    """Guarantees for all tables together."""
    suppression_limit: Share | SuppressionLimits = 0.0
    """Largest share of persons that may be suppressed; a person is suppressed in all tables. With
    {persons, rows}: that of the rows of every other table as well."""
    weight: Weight = Weight()
    """Weights of losses in the search for classes."""
    algorithm: Annotated[Mondrian, BeforeValidator(_mondrian)] = Mondrian(name="mondrian")
    """The algorithm and its options."""
    publish: SchemaPublish = SchemaPublish()
    """The place and the names of the release."""
    preset: Annotated[defaults.PresetOfTables | None, BeforeValidator(_of_several)] = None
    """internal: k = 5, l = 2; external: k = 11, l = 3 (for sensitive columns without a rule); both
    with 5 % suppression. What the policy itself states takes precedence."""
    ledger: LocalPath | None = None
    """A private database file that records releases; never the file of the release."""
    republish: SchemaRepublish | None = None
    """The relation of this release to earlier ones in the ledger."""
    context: Context | None = None
    """The recipients and what is known about them; printed in evidence, without effect
    on the run."""
    source: Annotated[None, OF_TABLE] = None
    key: Annotated[None, OF_TABLE] = None
    columns: Annotated[None, OF_TABLE] = None
    merge_person_rows: Annotated[None, MERGED] = None
    workload: Annotated[None, LEAVE] = None

    @property
    def allowed(self) -> SuppressionLimits:
        """The shares of persons and rows that may be suppressed."""
        given = self.suppression_limit
        if isinstance(given, SuppressionLimits):
            return given
        return SuppressionLimits(persons=given, rows=1.0)

    def view(self, table: str) -> str:
        """The name of the published view of a table."""
        return self.publish.view(table)

    @property
    def persons(self) -> SchemaTable:
        """The table with one row per person."""
        return self.tables[self.person]

    @cached_property
    def children(self) -> tuple[str, ...]:
        """Every other table, each after the one it links to."""
        return tuple(sorted(set(self.tables) - {self.person}, key=self._place))

    def _place(self, table: str) -> tuple[int, int]:
        return len(self.way(table)), list(self.tables).index(table)

    def way(self, table: str) -> tuple[tuple[str, str], ...]:
        """The links from a table to that of the persons: column and linked table, step by step."""
        links: list[tuple[str, str]] = []
        while (link := self.tables[table].link) is not None:
            links.append(link)
            table = link[1]
        return tuple(links)

    @cached_property
    def lifted(self) -> dict[str, str]:
        """Columns of other tables that are published with the persons, with their tables."""
        return {
            column: name
            for name, table in self.tables.items()
            if name != self.person
            for column in table.lifted
        }

    @property
    def lifted_from(self) -> tuple[str, ...]:
        """The tables with columns that are published with the persons (`of: person`)."""
        return tuple(dict.fromkeys(self.lifted.values()))

    def columns_of(self, table: str) -> dict[str, SchemaColumn]:
        """The columns of a table as published: those with `of: person` are with the persons."""
        own = self.tables[table].columns
        if table != self.person:
            lifted = self.tables[table].lifted
            return {name: column for name, column in own.items() if name not in lifted}
        added = {c: self.tables[other].columns[c] for c, other in self.lifted.items()}
        return {**own, **{c: column for c, column in added.items() if c not in own}}

    @cached_property
    def sensitive(self) -> tuple[tuple[str, str], ...]:
        """Columns of the role sensitive: table and column."""
        return tuple((name, column) for name, t in self.tables.items() for column in t.sensitive)

    @cached_property
    def events(self) -> tuple[tuple[str, str], ...]:
        """Columns of the role event: table and column."""
        return tuple((name, column) for name, t in self.tables.items() for column in t.events)
