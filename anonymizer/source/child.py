"""A table whose rows hang on those of another: its columns, and the statements that read it.

Its columns are numbered from 100,000 times the table's number on, so that the work tables of
different tables have different names; those of the hierarchies of sensitive columns are numbered
from 10,000 beyond (`Sensitive.hierarchy_index`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.compile import NumberedTable, Sql, Table, lit, work
from anonymizer.errors import Problem
from anonymizer.policy import Policy
from anonymizer.policy.schema.paths import table_path
from anonymizer.source.masking.masks import Named
from anonymizer.source.profile import Attribute, TableProfile
from anonymizer.source.roles import Roles

APART = 100_000
"""By how much the numbers of the columns of two tables differ at least."""


@dataclass(frozen=True, slots=True)
class Above:
    """The rows on which those of a table hang, while it is read."""

    read: Table
    """All rows as they were read."""
    reached: Table
    """Those that reach a person of the source, published or not."""
    kept: Table
    """Those that may be published."""
    key: Sql
    """Their key as text."""
    profile: TableProfile
    persons: bool = False
    """Whether they are the persons."""


@dataclass(frozen=True, slots=True)
class Child:
    """A table with its columns by role; events stand among the attributes."""

    number: int
    """From 1, each table after the one on which it hangs."""
    name: str
    above: str
    """The table on which it hangs."""
    link: str
    """The column that holds the key of that table."""
    policy: Policy
    """Its source, key and columns, events as quasi-identifiers."""
    profile: TableProfile
    roles: Roles
    drop_orphans: bool = False
    astray: bool = False
    """Whether rows may reach no person: of this table, or of one that it hangs on."""
    keyed: bool = False
    """Whether rows are read with the key of their person, by which dates are shifted."""
    redacts: bool = False
    """Whether values that say who somebody is are looked for in the texts of some table."""
    rows: int = 0
    """Rows that may be published."""
    owned: int = 0
    """Rows that reach a person of the source, published or not."""
    orphans: int = 0
    """Rows that reach nobody, and were left out."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns whose cells somebody may know for single rows."""
        return self.roles.quasi

    read = NumberedTable("read", "number")
    """Work table of all rows, as they were read."""

    @property
    def reached(self) -> Table:
        """Work table of the rows that reach a person of the source, published or not."""
        return work(f"reached_{self.number}") if self.astray else self.read

    kept = NumberedTable("rows", "number")
    """Work table of the rows that reach a person."""

    @property
    def raw(self) -> Table:
        """Work table of the rows that reach a person, before they are masked."""
        return work(f"raw_rows_{self.number}") if self.roles.masks else self.kept

    coded = NumberedTable("coded", "number")
    """Work table of the rows with draws and the codes of their events."""
    rungs = NumberedTable("rungs", "number")
    """Work table of what its events are published as, step by step."""
    gone = NumberedTable("gone", "number")
    """Work table of its rows that are not published."""
    remaining = NumberedTable("remaining", "number")
    """Work table of the rows that are left, with the classes of their persons."""
    linked = NumberedTable("link", "number")
    """Work table of the published rows, each with its original."""
    originals = NumberedTable("originals", "number")
    """Scratch view of what published rows are compared with."""

    @property
    def ladder(self) -> tuple[tuple[int, ...], ...]:
        """The levels of the attributes, from the values to the roots, one raised at every step.

        Raised is the column that, if every level divided its values by the same factor, would have
        the most different cells left.
        """
        levels = [0] * len(self.attributes)
        steps = [tuple(levels)]
        while True:
            left = [
                (a.distinct ** (1 - level / a.height), -place)
                for place, (a, level) in enumerate(zip(self.attributes, levels, strict=True))
                if level < a.height
            ]
            if not left:
                return tuple(steps)
            levels[-max(left)[1]] += 1
            steps.append(tuple(levels))

    def as_above(self) -> Above:
        """As what further tables hang on."""
        return Above(self.read, self.reached, self.kept, Sql("own"), self.profile)


def searched_for(child: Child, named: Sequence[Named]) -> Child:
    """The table with texts in which values of the tables before are looked for as well."""
    masks = tuple(
        replace(m, values=(*named, *m.values)) if m.kind == "redact" else m
        for m in child.roles.masks
    )
    return replace(child, roles=replace(child.roles, masks=masks))


def numbered(described: Roles, number: int) -> Roles:
    """The columns under numbers that no other table uses."""
    apart = number * APART
    return Roles(
        tuple(replace(a, index=a.index + apart) for a in described.quasi),
        tuple(replace(s, index=s.index + apart) for s in described.sensitive),
        tuple(replace(k, index=k.index + apart) for k in described.kept),
        tuple(
            replace(m, physical=_apart(m.physical, apart), original=_apart(m.original, apart))
            for m in described.masks
        ),
    )


def _apart(name: Sql, apart: int) -> Sql:
    """The name of a column of the snapshot under a number that no other table uses."""
    text = str(name)
    return Sql(f"{text[0]}{int(text[1:]) + apart}")


def same_type(child: Child, other: TableProfile, key: str) -> Problem | None:
    """What is wrong between the types of a link and of the key that it leads to."""
    kinds = [family(child.profile.type_of(child.link)), family(other.type_of(key))]
    if kinds[0] == kinds[1]:
        return None
    said = f"is {kinds[0]}, and the key {key} of {child.above} is {kinds[1]}"
    return Problem(
        table_path(child.name, "links", child.link), said, hint="cast one of them in source.query"
    )


def family(sql_type: str) -> str:
    """Types whose equal values have equal texts."""
    whole = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
    if sql_type.removeprefix("U") in whole:
        return "a whole number"
    return "text" if sql_type == "VARCHAR" or sql_type.startswith("ENUM") else sql_type


def offset(child: Child) -> Sql:
    """From where its tuples and cells are numbered."""
    return lit(child.number << 40)
