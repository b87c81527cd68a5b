"""Refuses to publish text that identifies persons, such as mail addresses and account numbers.

Columns of role `keep` or `sensitive` are published unchanged, and so may a `quasi` one be if all
values of a class are equal. Statements over the snapshot search for the forms of
`source.detectors`, for columns named like identifiers, and for values of identifier columns in
other columns. They return only counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit, sql, work
from anonymizer.engines.base import Engine
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy, safe_harbor
from anonymizer.policy.paths import column_path
from anonymizer.source.detectors import ANY, FORMS, KINDS, SIGNS
from anonymizer.source.looked_through import (
    LETTERS,
    Looked,
    in_row,
    is_number,
    looked_at,
    looked_through,
    may_hold,
    named_columns,
    words,
)
from anonymizer.source.masking.texts import PASSES
from anonymizer.source.profile import Attribute, TableProfile
from anonymizer.source.relation import Relation
from anonymizer.source.roles import Roles
from anonymizer.source.signs import plain
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Guard, Row, Stage, Step

FEW = 20
"""Distinct values up to which a column is a category, whatever its name."""
SHARE = 0.01
"""Least share of values that contain an identifier of their own row: a word may be a name by
chance, such as `will` in `he will come`."""
SHARE_ANYWHERE = 0.05
"""Least share of values that contain an identifier of any row, which chance matches more often."""
AT_ONCE = 16
"""Patterns per pass over the texts: Postgres caches 32, and compiles further ones each time."""
LEAST = 3
"""Least number of such values in small tables, and of numbers that only a check digit distinguishes
from others."""
MANY = 20
"""Valid check digits that are no coincidence if a quarter of the values with the form has them."""
SUSPECTS = work("suspects")
HITS = work("identifier_hits")
WAYS_OUT = (
    "role: redact, token or drop; take them out in source.query; or, if they are none or may be"
    " published,"
)
"""Remedies, to be followed by the words that acknowledge the finding."""
NO_WAY = "role: drop, null or constant; or take them out in source.query"
"""Remedies under Safe Harbor, where nothing can be acknowledged."""


def raw_text_stages(
    policy: Policy,
    profile: TableProfile,
    roles: Roles,
    snapshot: Table = SNAPSHOT,
    above: Sequence[tuple[Table, Sql]] = (),
    *,
    counted: bool = False,
) -> tuple[Stage, ...]:
    """The stages that find such columns and stop the run, if there are columns to search.

    `above`: tables with columns of the words of further identifiers. `counted`: the distinct values
    of the quasi-identifiers have been counted, and are read instead of the rows.
    """
    columns = looked_through(policy, roles)
    if not columns:
        return ()
    searched = _identifier_values(policy, profile, roles, snapshot, above)
    asked = _Asked(
        snapshot,
        _columns(columns, {a.column: a.values for a in roles.quasi} if counted else {}),
        [(column.place, column.cell) for column in columns if column.named],
        HITS if searched else None,
        {
            kind: [c.place for c in columns if kind in policy.columns[c.name].acknowledge]
            for kind in KINDS
        },
    )

    def explain(row: Row) -> Problem:
        place, found, kinds = row
        return Problem(
            column_path(columns[int(place)].name),
            f"holds what looks like {found}, and would be published",
            hint=NO_WAY if safe_harbor.applies(policy) else f"{WAYS_OUT} acknowledge: [{kinds}]",
        )

    suspects, first, judged = asked.steps()
    return (*searched, suspects, Guard(judged, explain, SourceError, first))


def node_text_stages(policy: Policy, attributes: Sequence[Attribute]) -> tuple[Stage, ...]:
    """The stages that search the nodes of user-defined hierarchies.

    Values are generalized to these texts, which need not occur in the source.
    """
    stages: list[Stage] = []
    for a in attributes:
        given = getattr(a.spec, "file", None) or getattr(a.spec, "table", None)
        if given is None:
            continue
        acknowledged = policy.columns[a.column].acknowledge
        asked = _Asked(
            a.hierarchy,
            [_Column(0, Sql("label"), Sql("label"))],
            acknowledged={kind: [0] if kind in acknowledged else [] for kind in KINDS},
            relation=Sql(f"(select distinct label from {ident(a.hierarchy)}) as nodes"),
        )

        def explain(row: Row, column: str = a.column) -> Problem:
            _, found, kinds = row
            said = f"has nodes with what looks like {found}, and they would be published"
            hint = "other names for them"
            if not safe_harbor.applies(policy):
                hint += f"; or, if they are none or may be published, acknowledge: [{kinds}]"
            return Problem(column_path(column, "hierarchy"), said, hint=hint)

        suspects, first, judged = asked.steps()
        stages += [suspects, Guard(judged, explain, SourceError, first)]
    return tuple(stages)


def forms_found(
    engine: Engine, relation: Relation, types: Sequence[tuple[str, str]]
) -> dict[str, str]:
    """Columns that contain forms of identifiers, each with those found, in words.

    `types`: names of columns with their types.
    """
    columns = [(name, sql_type) for name, sql_type in types if may_hold(sql_type)]
    if not columns:
        return {}
    cells = [
        _Column(place, ident(name), looked_at(ident(name), sql_type))
        for place, (name, sql_type) in enumerate(columns)
    ]
    asked = _Asked(relation.table or relation.sql, cells, relation=relation.sql)
    suspects, first, judged = asked.steps()
    engine.execute(suspects.statement(), suspects.name)
    if engine.execute(first.statement(), first.name)[0][0] == 0:
        return {}
    rows = engine.execute(judged.statement(), judged.name)
    return {columns[place][0]: str(found) for place, found, _ in rows}


@dataclass(frozen=True, slots=True)
class _Column:
    """A searched column."""

    place: int
    cell: Sql
    text: Sql
    """The searched text: of the cell, or of a distinct value."""
    values: Table | None = None
    """Its distinct values, each with its number of rows (n), if they have been counted."""


def _columns(looked: Sequence[Looked], values: Mapping[str, Table]) -> list[_Column]:
    found = []
    for column in looked:
        counted = values.get(column.name)
        text = column.text if counted is None else looked_at(Sql("value"), column.sql_type)
        found.append(_Column(column.place, column.cell, text, counted))
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """A search for identifiers in columns of a table."""

    table: Table | Sql
    columns: list[_Column]
    named: list[tuple[int, Sql]] = field(default_factory=list)
    hits: Table | None = None
    acknowledged: Mapping[str, list[int]] = field(default_factory=dict)
    relation: Sql | None = None
    """What is read, if not the table."""

    def steps(self) -> tuple[Step, Step, Step]:
        """The steps that collect the suspects, count them, and judge them."""
        shared = {
            "snapshot": self.table,
            "rows": self.relation or ident(self.table),
            "suspects": SUSPECTS,
            "columns": self.columns,
        }
        looked = {"any": ANY, "signs": SIGNS, "named": self.named, "few": FEW, "hits": self.hits}
        looked["plain"] = Sql(plain("value"))
        looked["counted"] = [c.values for c in self.columns if c.values is not None]
        kinds = [
            {
                "number": number,
                "name": kind,
                "words": said,
                "forms": [Sql(f"f{at}") for at, form in enumerate(FORMS) if form.kind == kind],
                "acknowledged": self.acknowledged.get(kind, []),
            }
            for number, (kind, said) in enumerate(KINDS.items())
        ]
        forms = list(_forms())
        parts = [forms[at : at + AT_ONCE] for at in range(0, len(forms), AT_ONCE)]
        judged = {"forms": forms, "parts": parts, "kinds": kinds, "whole": _without_uuids()}
        judged |= {"few": LEAST, "many": MANY, "suspects": SUSPECTS}
        return (
            Step("suspected identifiers", "prepare/suspects.sql.j2", {**shared, **looked}),
            Step("suspects", "prepare/suspects_counted.sql.j2", {"suspects": SUSPECTS}),
            Step(
                "identifiers in published text",
                "prepare/identifiers_in_text.sql.j2",
                judged,
            ),
        )


def _identifier_values(
    policy: Policy,
    profile: TableProfile,
    roles: Roles,
    snapshot: Table,
    above: Sequence[tuple[Table, Sql]],
) -> tuple[Step, ...]:
    """The step that searches columns for values of identifier columns."""
    columns = [column for column in looked_through(policy, roles) if column.free]
    rows = bool(in_row(policy, profile, roles))
    texts = [(c.place, c.text) for c in columns if not is_number(c.sql_type)]
    ids = [*above, *named_in(policy, profile, snapshot)] if texts else []
    if not columns or not (rows or ids or any(c.beside for c in columns)):
        return ()
    context = {
        "snapshot": snapshot,
        "hits": HITS,
        "columns": [
            {"place": c.place, "cell": c.cell, "own": c.own if rows or c.redacted else Sql("false")}
            for c in columns
        ],
        "texts": texts,
        "ids": ids,
        "named": [table for table, _ in ids],
        "words": words(Sql("value")),
        "letters": LETTERS,
        "least": LEAST,
        "share": SHARE,
        "share_anywhere": SHARE_ANYWHERE,
    }
    return (Step("values of identifiers", "prepare/identifier_values.sql.j2", context),)


def named_in(policy: Policy, profile: TableProfile, snapshot: Table) -> list[tuple[Table, Sql]]:
    """The columns that hold the words of a table's identifiers."""
    return [(snapshot, column) for column in named_columns(policy, profile)]


def _without_uuids() -> Sql:
    """The value without its UUIDs, whose parts may consist of digits but are not numbers."""
    (pattern,) = (form.pattern for form in FORMS if form.kind == "uuid")
    made = Sql("value")
    for _ in range(PASSES):
        made = sql("regexp_replace({v}, {p}, '\\1 \\3', 'g')", v=made, p=lit(pattern))
    return made


def _forms() -> Iterator[dict[str, Any]]:
    for number, form in enumerate(FORMS):
        yield {
            "pattern": form.pattern,
            "text": Sql("value" if form.kind == "uuid" else "rest"),
            "check": None if form.check is None else Sql(form.check(f"f{number}")),
            "compact": form.check is not None and form.kind != "ip",
            "digits": form.digits,
            "like": form.like,
            "least": form.least,
            "alone": form.check is not None and form.least > 0,
            "f": Sql(f"f{number}"),
            "m": Sql(f"m{number}"),
        }
