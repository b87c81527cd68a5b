"""What a policy of several tables states: links to the persons, and one release of all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from anonymizer.policy import defaults
from anonymizer.policy.algorithms import ALGORITHMS, Mondrian
from anonymizer.policy.document import Document
from anonymizer.policy.frozen import AsTuple, FrozenMap, Options, Refused, fail
from anonymizer.policy.kinds import ReleaseKind, kind_of
from anonymizer.policy.privacy import DeltaPresence, KMap, Privacy
from anonymizer.policy.publish import Context, Publish
from anonymizer.policy.safe_harbor import PRESET
from anonymizer.policy.schema.table import MONDRIAN, SINGLE, SchemaColumn, SchemaTable
from anonymizer.policy.suggest import closest
from anonymizer.policy.values import LocalPath, OneOf, Positive, PositiveNumber, Share, Text

POPULATION = Refused(f"{SINGLE}: classes are not compared with a population", "leave it out")


class Knows(Options):
    """What an observer may know about a person besides the quasi-identifiers."""

    events: Annotated[int, Field(ge=0, le=3)] = 0
    """Number of rows of a person whose event values may be known: k candidates remain."""
    rows: bool = False
    """The number of rows that the person has in every table: k candidates remain."""
    sensitive: bool = False
    """The rules of sensitive columns also hold among the candidates that remain (LKC)."""

    @property
    def anything(self) -> bool:
        """Whether an observer knows anything besides the quasi-identifiers."""
        return self.events > 0 or self.rows


class SchemaPrivacy(Privacy):
    """Guarantees for all tables together, counted by persons; k_anonymity is required."""

    knows: Knows = Knows()
    """What else an observer may know; default: nothing, and the report shows what that leaves
    open."""
    level_l: Annotated[FrozenMap[int, Positive] | None, MONDRIAN] = None
    k_map: Annotated[KMap | None, POPULATION] = None
    delta_presence: Annotated[DeltaPresence | None, POPULATION] = None

    @property
    def guarantees(self) -> tuple[str, ...]:
        """Names of the required guarantees of classes."""
        return tuple(name for name in super().guarantees if name != "knows")


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
    """How releases of several tables relate to earlier ones."""

    ONE_OF = ("new_population",)

    new_population: Literal[True] | None = None
    """Release the tables although fewer than half of the persons of the last release are
    recognized: the persons are others."""
    m: Annotated[None, LEAVE] = Field(None, exclude=True)
    append_only: Annotated[None, LEAVE] = Field(None, exclude=True)


OF_TABLE = Refused("cannot be combined with tables: every table has its own", "move it there")
MERGED = Refused(f"{SINGLE}: the persons' table has one row per person", "leave it out")


def _duckdb(given: object) -> object:
    if given in ("postgres", "spark"):
        raise fail("does not anonymize several tables", allowed="duckdb", hint="engine: duckdb")
    return given


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

    kind: ReleaseKind | None = None
    """The kind of the release: anonymised, or pseudonymised (still personal data); default: it
    follows from the policy."""
    engine: Annotated[Literal["duckdb"], BeforeValidator(_duckdb)] = "duckdb"
    """Where the work is done."""
    person: Text
    """The table with one row per person; its key is the person."""
    tables: FrozenMap[Text, SchemaTable]
    """Every table by name. Each is the table of the persons, or is linked to it, directly or
    through other tables."""
    privacy: SchemaPrivacy = SchemaPrivacy()
    """Guarantees for all tables together."""
    suppression_limit: Share = 0.0
    """Largest share of persons that may be suppressed; a person is suppressed in all tables."""
    weight: Weight = Weight()
    """Weights of losses in the search for classes."""
    algorithm: Annotated[Mondrian, BeforeValidator(_mondrian)] = Mondrian(name="mondrian")
    """How the tables are anonymized."""
    publish: SchemaPublish = SchemaPublish()
    """Where and under which names the release is published."""
    preset: Annotated[defaults.PresetOfTables | None, BeforeValidator(_of_several)] = None
    """internal: k = 5, l = 2; external: k = 11, l = 3 (for sensitive columns without a rule); both
    with 5 % suppression. What the policy itself states takes precedence."""
    ledger: LocalPath | None = None
    """A private database file that records releases; never the file of the release."""
    republish: SchemaRepublish | None = None
    """How this release relates to earlier ones in the ledger."""
    context: Context | None = None
    """Who receives the release and what is known about them; printed in evidence, without effect
    on the run."""
    source: Annotated[None, OF_TABLE] = None
    key: Annotated[None, OF_TABLE] = None
    columns: Annotated[None, OF_TABLE] = None
    merge_person_rows: Annotated[None, MERGED] = None
    workload: Annotated[None, LEAVE] = None

    @property
    def release_kind(self) -> ReleaseKind:
        """The kind of the release: as stated, or as it follows from the policy."""
        return kind_of(self)

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
