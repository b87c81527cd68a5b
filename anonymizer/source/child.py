"""A further table, whose rows link to those of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from anonymizer.compile import NumberedTable, Sql, Table, lit, work
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.paths import table_path
from anonymizer.process.text import many
from anonymizer.source.identifier_scan import identifier_columns
from anonymizer.source.masking.expressions import per
from anonymizer.source.masking.masks import IdentifierColumn
from anonymizer.source.masking.stages import masking_stages
from anonymizer.source.masking.values import identifier_columns as sought_columns
from anonymizer.source.masking.values import named_by
from anonymizer.source.profile import Attribute, Sensitive, TableProfile
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import Relation, columns_read, content, key_text, values_step
from anonymizer.steps import Guard, Row, Stage, Step

# A further table, whose rows link to those of another: its columns, and their work tables.
#
# Its columns are numbered from 100,000 times the table's number, so that work tables of different
# tables have different names. Hierarchies of its sensitive columns are numbered from 10,000 above
# that (`Sensitive.hierarchy_index`).


APART = 100_000
"""Difference between the first column numbers of two tables."""


@dataclass(frozen=True, slots=True)
class Above:
    """The rows that a table links to, while it is read."""

    read: Table
    """All rows as they were read."""
    reached: Table
    """Rows that are linked to a person of the source, published or not."""
    kept: Table
    """Rows that may be published."""
    key: Sql
    """Their key as text."""
    profile: TableProfile
    persons: bool = False
    """True if it is the persons' table."""


@dataclass(frozen=True, slots=True)
class Child:
    """A further table with its columns by role; events are attributes."""

    number: int
    """Its number, from 1; each table comes after the one it links to."""
    name: str
    above: str
    """The table it links to."""
    link: str
    """The column that holds the key of that table."""
    policy: Policy
    """Its source, key and columns, with events as quasi-identifiers."""
    profile: TableProfile
    roles: Roles
    drop_orphans: bool = False
    astray: bool = False
    """True if rows of this table, or of one above it, may be linked to no person."""
    keyed: bool = False
    """True if rows are read with the key of their person, which determines the shift of dates."""
    redacts: bool = False
    """True if texts of some table are searched for identifiers."""
    rows: int = 0
    """Rows that may be published."""
    owned: int = 0
    """Rows that are linked to a person of the source, published or not."""
    orphans: int = 0
    """Rows without a person, which were left out."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns whose cells an observer may know for single rows."""
        return self.roles.quasi

    read = NumberedTable("read", "number")
    """Work table of all rows, as read."""

    @property
    def reached(self) -> Table:
        """Work table of the rows linked to a person of the source, published or not."""
        return work(f"reached_{self.number}") if self.astray else self.read

    kept = NumberedTable("rows", "number")
    """Work table of the rows linked to a person who may be published."""

    @property
    def raw(self) -> Table:
        """Work table of the same rows before masking."""
        return work(f"raw_rows_{self.number}") if self.roles.masks else self.kept

    coded = NumberedTable("coded", "number")
    """Work table of the rows with draws and the codes of their events."""
    steps = NumberedTable("steps", "number")
    """Work table of its events' published values at every step of generalization."""
    gone = NumberedTable("gone", "number")
    """Work table of its rows that are not published."""
    remaining = NumberedTable("remaining", "number")
    """Work table of the remaining rows, with the classes of their persons."""
    linked = NumberedTable("link", "number")
    """Work table of the published rows, each with its original."""
    originals = NumberedTable("originals", "number")
    """Scratch view of the originals of the published rows."""

    @property
    def step_levels(self) -> tuple[tuple[int, ...], ...]:
        """The levels of the attributes, from values to roots; every step raises one.

        It raises the column that would have the most distinct cells left if every level divided its
        values by the same factor.
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
        """The table as one that further tables link to."""
        return Above(self.read, self.reached, self.kept, Sql("own"), self.profile)


def searched_for(child: Child, named: Sequence[IdentifierColumn]) -> Child:
    """The table, with texts that are also searched for identifiers of the tables before it."""
    masks = tuple(
        replace(m, values=(*named, *m.values)) if m.kind == "redact" else m
        for m in child.roles.masks
    )
    return replace(child, roles=replace(child.roles, masks=masks))


def with_number(described: Roles, number: int) -> Roles:
    """The columns, with numbers that no other table uses."""
    apart = number * APART
    return Roles(
        tuple(replace(a, index=a.index + apart) for a in described.quasi),
        tuple(replace(s, index=s.index + apart) for s in described.sensitive),
        tuple(replace(k, index=k.index + apart) for k in described.kept),
        tuple(
            replace(
                m,
                physical=_numbered_name(m.physical, apart),
                original=_numbered_name(m.original, apart),
            )
            for m in described.masks
        ),
    )


def _numbered_name(name: Sql, apart: int) -> Sql:
    """The name of a snapshot column, with a number that no other table uses."""
    text = str(name)
    return Sql(f"{text[0]}{int(text[1:]) + apart}")


def same_type(child: Child, other: TableProfile, key: str) -> Problem | None:
    """The problem if the types of a link and of its key do not match."""
    kinds = [family(child.profile.type_of(child.link)), family(other.type_of(key))]
    if kinds[0] == kinds[1]:
        return None
    said = f"is {kinds[0]}, and the key {key} of {child.above} is {kinds[1]}"
    return Problem(
        table_path(child.name, "links", child.link), said, hint="cast one of them in source.query"
    )


def family(sql_type: str) -> str:
    """The family of a type; within one, equal values have equal texts."""
    whole = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
    if sql_type.removeprefix("U") in whole:
        return "a whole number"
    return "text" if sql_type == "VARCHAR" or sql_type.startswith("ENUM") else sql_type


def offset(child: Child) -> Sql:
    """The first number of its tuples and cells."""
    return lit(child.number << 40)


# The statements that read a further table: its rows, their persons, and its values.


def read_step(child: Child, source: Relation) -> Step:
    """Read the table once: its events, other columns, key and link."""
    policy, profile = child.policy, child.profile
    columns = columns_read(policy, profile, child.roles)
    columns += [
        (Sql(f"coalesce({key_text(str(mask.options['per']), profile)}, '')"), per(mask))
        for mask in child.roles.masks
        if "per" in mask.options
    ]
    columns.append((Sql(key_text(child.link, profile)), Sql("link")))
    if policy.key is not None:
        identity = Sql(key_text(policy.key, profile))
        columns.append((identity, Sql("own")))
    else:
        identity = content((name for name, _ in profile.columns), profile)
    columns.append((identity, Sql("identity")))
    columns += identifier_columns(policy, profile, child.roles, of_several=True)
    if child.redacts:
        columns += sought_columns(named_by(policy, profile))
    context = {
        "snapshot": child.read,
        "columns": columns,
        "source": source.table or source.sql,
        "relation": source.sql,
    }
    return Step(f"read {child.name}", "prepare/snapshot", context)


def orphans_guard(child: Child, above: Above) -> Guard:
    """The guard that raises SourceError if links lead to no row of the table above."""
    context = {"read": child.read, "above": above.read, "key": above.key}

    def explain(row: Row) -> Problem:
        return Problem(
            table_path(child.name, "links", child.link),
            f"{many(row[0], 'row has', 'rows have')} a link that leads to no row of {child.above}",
            hint=f"mend them in source.query, or tables: {{{child.name}: {{orphans: drop}}}}",
        )

    step = Step(f"orphans of {child.name}", "schema/orphans", context)
    return Guard(step, explain, SourceError)


def reached_step(child: Child, above: Above) -> Step:
    """Select the rows linked to a person of the source, if some may not be."""
    context = {
        "read": child.read,
        "above": above.reached,
        "reached": child.reached,
        "key": above.key,
    }
    return Step(f"rows of {child.name} with persons", "schema/reached", context)


def kept_step(child: Child, above: Above) -> Step:
    """Select the rows linked to a person who may be published."""
    context = {
        "read": child.read,
        "above": above.kept,
        "kept": child.raw,
        "key": above.key,
        "persons": above.persons,
        "keyed": child.keyed,
        "shifts": [
            per(m) for m in child.roles.masks if m.kind == "shift" and not m.options.get("per")
        ],
    }
    return Step(f"rows of {child.name}", "schema/kept", context)


def masked_stages(child: Child, read: Step) -> tuple[Stage, ...]:
    """The steps that mask the columns of a table; `read`: the step that read it."""
    if not child.roles.masks:
        return ()
    names = [name for _, name in read.parameters["columns"]]
    names += [per(m) for m in child.roles.masks if m.kind == "shift" and per(m) not in names]
    names += [Sql(name) for name in ("above", "person")]
    names += [Sql("person_key")] if child.keyed else []
    return masking_stages(
        child.policy, child.roles.masks, names, child.kept, child.raw, alone=False
    )


def values_of(child: Child) -> Iterator[Step]:
    """The steps that collect the distinct values of every event column."""
    for a in child.attributes:
        yield values_step(a.column, a.values, a.q, child.kept)


def flat_step(attribute: Attribute) -> Step:
    """The hierarchy of a categorical column without one: `*` above all values."""
    context = {"values": attribute.values, "hierarchy": attribute.hierarchy}
    return Step(f"hierarchy of {attribute.column}", "schema/flat", context)


def counts_step(child: Child) -> Step:
    """The query that counts rows, and values, NULLs and levels of event columns, and levels of
    sensitive columns.
    """
    of_sensitive = [s.hierarchy for s in child.roles.sensitive if _has_levels(child, s)]
    context = {
        "read": child.read,
        "reached": child.reached,
        "kept": child.kept,
        "values": [a.values for a in child.attributes],
        "hierarchies": [a.hierarchy for a in child.attributes] + of_sensitive,
        "columns": [(a.values, a.hierarchy, a.q) for a in child.attributes],
        "sensitive": of_sensitive,
    }
    return Step(f"counts of {child.name}", "schema/counts", context)


def with_counts(child: Child, found: list[Row]) -> Child:
    """The table with its counts."""
    figures = {int(number): (int(n), int(nulls), int(height)) for number, n, nulls, height in found}
    attributes = tuple(
        replace(a, distinct=figures[i][0], nulls=figures[i][1], height=figures[i][2])
        for i, a in enumerate(child.attributes, 1)
    )
    read, owned, rows = (figures[i][0] for i in (-2, -1, 0))
    heights = (figures[i][2] for i in range(len(attributes) + 1, len(figures) - 2))
    sensitive = tuple(
        replace(s, height=next(heights)) if _has_levels(child, s) else s
        for s in child.roles.sensitive
    )
    described = replace(child.roles, quasi=attributes, sensitive=sensitive)
    return replace(child, roles=described, rows=rows, owned=owned, orphans=read - owned)


def _has_levels(child: Child, column: Sensitive) -> bool:
    """Return whether a sensitive column has a hierarchy for distances."""
    return child.policy.columns[column.column].hierarchy is not None
