"""The further tables of a release of several: what the ledger stores of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from anonymizer.compile import Sql, Table, ident, lit
from anonymizer.contract.columns import cell_parts, quasi
from anonymizer.contract.layout import Layout
from anonymizer.ledger.facets import Facet, Mark, facets, marks
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.schema.paths import table_path
from anonymizer.source.child import Child, family


@dataclass(frozen=True, slots=True)
class Written:
    """A further table after writing: its rows with their originals, and its layout."""

    child: Child
    layout: Layout


@dataclass(frozen=True, slots=True)
class Further:
    """A table besides the persons', as the ledger reads it."""

    name: str
    kept: Table
    """The originals (alias `o`), each with the row of its person."""
    link: Table
    """The published rows (alias `l`)."""
    key: str | None
    """The kind of its key; None without a key."""
    columns: str
    """Its event columns, and everything that their true values depend on."""
    values: tuple[Sql, ...]
    """The true values of its events, if an observer may know them."""
    cells: tuple[Sql, ...]
    """The published cells of its events."""
    counted: bool
    """Whether an observer may know how many rows a person has."""
    facets: tuple[Facet, ...]
    marks: tuple[Mark, ...]

    @property
    def remembered(self) -> bool:
        """Whether its rows are stored individually."""
        return self.counted or bool(self.values)

    @property
    def content(self) -> Sql:
        """The true event values of a row as one text."""
        return _text(self.values)

    @property
    def shown(self) -> Sql:
        """The published event cells of a row as one text."""
        return _text(self.cells)

    @property
    def label(self) -> Sql:
        """The prefix of the text that is digested for its rows."""
        return lit(f":{len(self.name)}:{self.name}:")


def further(
    policy: SchemaPolicy,
    written: Iterable[Written],
    group: str | None,
    facets_before: int,
    marks_before: int,
) -> Iterator[Further]:
    """The tables with columns numbered after those of the persons; `group`: the persons' class."""
    knows, number, mark_number = policy.privacy.knows, facets_before, marks_before
    for one in written:
        child, table = one.child, policy.tables[one.child.name]
        described = replace(one.layout, class_id=group)
        found = tuple(
            replace(
                f,
                column=f"{child.name}.{f.column}",
                index=f.index + number,
                rows=child.kept,
                path=table_path(child.name, "columns", f.column),
            )
            for f in facets(child.policy, child.roles, described, reserved(policy, child.name))
        )
        named = tuple(
            replace(
                m,
                index=m.index + mark_number,
                physical=Sql(f"o.{m.physical}"),
                path=table_path(child.name, "columns", m.column),
            )
            for m in marks(child.policy, child.roles)
        )
        number, mark_number = number + len(found), mark_number + len(named)
        known = sorted(child.attributes, key=lambda a: a.column) if knows.events else ()
        shown = sorted(quasi(one.layout), key=lambda c: c.column) if knows.events else ()
        yield Further(
            name=child.name,
            kept=child.kept,
            link=child.linked,
            key=family(child.profile.type_of(table.key)) if table.key is not None else None,
            columns=", ".join(
                f"{c.column}: {family(c.sql_type)}, {c.bottom} to {c.top}" for c in shown
            ),
            values=tuple(Sql(f"o.{a.q}") for a in known),
            cells=tuple(Sql(f"l.{ident(part)}") for c in shown for part in cell_parts(c)),
            counted=knows.rows,
            facets=found,
            marks=named,
        )


def reserved(policy: SchemaPolicy, name: str) -> frozenset[str]:
    """Columns with an identity-reserved rule, which a single-table policy does not have."""
    columns = policy.tables[name].columns.items()
    return frozenset(c for c, d in columns if d.protect is not None and d.protect.eir_l is not None)


def _text(values: Sequence[Sql]) -> Sql:
    """Texts with their lengths, so that the result is unambiguous."""
    text = "coalesce(strlen(cast({0} as varchar)), -1), ':', cast({0} as varchar)"
    return Sql(f"concat({', '.join(text.format(value) for value in values)})")
