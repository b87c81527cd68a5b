"""One of several tables: its source, its key, the links to other tables, its columns."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from anonymizer.policy.columns import Column, NamedNull
from anonymizer.policy.frozen import FrozenMap, Options, Refused
from anonymizer.policy.hierarchies import Hierarchy
from anonymizer.policy.masking import MaskRole
from anonymizer.policy.protect import Levels, Protect
from anonymizer.policy.publish import Source
from anonymizer.policy.values import AtLeastTwo, Text

SchemaRole = Literal["identifier", "quasi", "event", "sensitive", "keep", "drop", "key"] | MaskRole
Orphans = Literal["error", "drop"]

SINGLE = "is not offered with several tables"
WEIGHT = Refused(f"{SINGLE}", "leave it out")
MONDRIAN = Refused(f"{SINGLE}: mondrian does not use it", "leave it out")


class SchemaProtect(Protect):
    """What must hold for the values of a sensitive column in every class, counted by persons."""

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
    weight: Annotated[None, WEIGHT] = None
    priority: Annotated[None, MONDRIAN] = None
    minimum_level: Annotated[None, MONDRIAN] = None
    presampling_level: Annotated[None, MONDRIAN] = None


class SchemaTable(Options):
    """One of several tables."""

    source: Source
    """Where its rows are."""
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

    def _with_role(self, role: SchemaRole) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if column.role == role)

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """Quasi-identifiers of the persons; other tables have only lifted ones."""
        return self._with_role("quasi")

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
    def sensitive(self) -> tuple[str, ...]:
        """Columns of the role sensitive."""
        return self._with_role("sensitive")

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """Columns published unchanged."""
        return self._with_role("keep")

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

    @cached_property
    def protected(self) -> tuple[str, ...]:
        """Sensitive columns with a rule."""
        return tuple(name for name in self.sensitive if self.columns[name].protect is not None)
