"""Refuse to publish text that identifies persons, and what Safe Harbor does not allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit, sql, work
from anonymizer.contract.layout import Layout
from anonymizer.engines.base import Engine
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy, safe_harbor
from anonymizer.policy.paths import column_path
from anonymizer.policy.safe_harbor import OLDEST, YEARS, applies, earliest, shows
from anonymizer.source.identifier_scan import (
    LETTERS,
    ScannedColumn,
    in_row,
    is_number,
    may_hold,
    named_columns,
    scanned_columns,
    scanned_text,
    words,
)
from anonymizer.source.identifiers import ANY, DATE_FORMS, FORMS, KINDS, SIGNS, usual_characters
from anonymizer.source.masking.expressions import PASSES
from anonymizer.source.masking.masks import DATES, Family, family_of
from anonymizer.source.profile import Attribute, TableProfile, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT, Relation
from anonymizer.steps import Guard, Row, Stage, Step

# Refuses to publish text that identifies persons, such as mail addresses and account numbers.
#
# Columns of role `keep` or `sensitive` are published unchanged, and so may a `quasi` one be if all
# values of a class are equal. Statements over the snapshot search for the forms of
# `source.detectors`, for columns named like identifiers, and for values of identifier columns in
# other columns. They return only counts.


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
    columns = scanned_columns(policy, roles)
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
            f"seems to contain {found}, and would be published",
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
        _Column(place, ident(name), scanned_text(ident(name), sql_type))
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


def _columns(looked: Sequence[ScannedColumn], values: Mapping[str, Table]) -> list[_Column]:
    found = []
    for column in looked:
        counted = values.get(column.name)
        text = column.text if counted is None else scanned_text(Sql("value"), column.sql_type)
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
    """The relation that is read, if not the table."""

    def steps(self) -> tuple[Step, Step, Step]:
        """The steps that collect the suspects, count them, and judge them."""
        shared = {
            "snapshot": self.table,
            "rows": self.relation or ident(self.table),
            "suspects": SUSPECTS,
            "columns": self.columns,
        }
        looked = {"any": ANY, "signs": SIGNS, "named": self.named, "few": FEW, "hits": self.hits}
        looked["plain"] = Sql(usual_characters("value"))
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
            Step("suspected identifiers", "prepare/suspects", {**shared, **looked}),
            Step("suspects", "prepare/suspects_counted", {"suspects": SUSPECTS}),
            Step(
                "identifiers in published text",
                "prepare/identifiers_in_text",
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
    columns = [column for column in scanned_columns(policy, roles) if column.free]
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
    return (Step("values of identifiers", "prepare/identifier_values", context),)


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


# Safe Harbor, as far as the source shows: types, free text, disguised dates, early birth years.
#
# A column is free text if most of its distinct values have more than five words or 50 characters:
# codes and names of wards are shorter. Every value counts once, so that rare sentences show next to
# frequent words. It is also free text if it has more than a thousand distinct values that are at
# least a fifth of the rows, or one value of more than 30 words or 250 characters: no list of codes
# has these.


WORDS, CHARACTERS = 5, 50
"""A value with more of either is a sentence."""
MOST_WORDS, MOST_CHARACTERS = 30, 250
"""Most words and characters of an entry of a list."""
SAFE_HARBOR_MANY, OFTEN = 1000, 5
"""A column of more distinct values, with fewer rows per value, is not from a list."""
PLAIN: tuple[Family, ...] = ("whole", "decimal", "double", "text")
"""Types, besides BOOLEAN, that may be free of the eighteen identifiers."""
DAYS = (18_000_101, 22_001_231)
"""Whole numbers in this range may be dates such as 20240131; so may numbers such as 31012024,
1312024, 202401, 12024, 240131 and 310124."""
SAYS: dict[str, tuple[str, str]] = {
    "notes": (
        "holds {n:,} different values like free text, which may contain anything",
        "role drop, null or constant; publish a code instead of it (source.query)",
    ),
    "many": (
        "holds {n:,} different values: no list of codes, but free text or numbers of persons",
        "role drop, null or constant; publish fewer values (source.query)",
    ),
    "long": (
        "holds {n:,} values of free text, which may contain anything",
        "role drop, null or constant; publish a code instead of it (source.query)",
    ),
    "days": (
        "holds dates in {n:,} rows, and is none",
        "safe_harbor: dates, with role: round and to: year; cast it to DATE in source.query",
    ),
    "numbered_days": (
        "holds {n:,} numbers that are days as 20240131, and is none",
        "safe_harbor: dates, with role: round and to: year; make it a DATE in source.query",
    ),
    "early": (
        "shows {n:,} values before {first}, which disclose ages over 89",
        "bottom_code: the year {first}, as {first}-01-01 (or {first}, for whole numbers)",
    ),
    "late": ("holds {n:,} whole numbers that are no years", "cast it to DATE in source.query"),
}
SAYS["early_years"] = SAYS["early"]


def year_of_release() -> int:
    """The year from which ages are computed."""
    return datetime.now(UTC).year


def harbored(policy: Policy, layout: Layout) -> Layout:
    """The layout with the content that the policy declares for every column."""
    if not applies(policy):
        return layout
    columns = tuple(
        replace(column, safe_harbor=policy.columns[column.column].safe_harbor)
        for column in layout.columns
    )
    return replace(layout, columns=columns, safe_harbor=year_of_release())


def refuse_unfit(policy: Policy, profile: TableProfile) -> None:
    """Raise SourceError with every column whose type contradicts what the policy declares."""
    problems = list(_unfit(policy, profile)) if applies(policy) else []
    SourceError.refuse(problems)


def _unfit(policy: Policy, profile: TableProfile) -> Iterator[Problem]:
    first = earliest(year_of_release())
    for name, column in policy.columns.items():
        if not shows(column):
            continue
        sql_type = profile.type_of(name)
        family, told = family_of(sql_type), published_type(sql_type)
        path, masks = column_path(name, "safe_harbor"), dict(column.masks)
        match column.safe_harbor:
            case "none" if family in DATES:
                said = (
                    f"is none, and the column holds dates ({told}), of which the year may be shown"
                )
                hint = "safe_harbor: dates, with role: round and to: year"
                yield Problem(path, said, "dates or birth", hint)
            case "none" if family not in PLAIN and sql_type != "BOOLEAN":
                said = f"is none, which is not judged for the type {told}"
                yield Problem(path, said, hint="role: drop, or cast it in source.query")
            case "dates" | "birth" if "round" not in masks and family != "whole":
                said = f"is {column.safe_harbor}, and the column is published by more than its year"
                yield Problem(path, said, hint="role: round, to: year (of dates and timestamps)")
            case "birth":
                at = getattr(masks.get("bottom_code"), "at", None)
                year = int(at[:4]) if isinstance(at, str) else at
                if year is None or year < first:
                    said = f"is before {first}: births until then disclose ages over {OLDEST - 1}"
                    path = column_path(name, *_place(column.role))
                    yield Problem(path, said, f"{first} or later")


def _place(role: str) -> tuple[str, ...]:
    return ("at",) if role == "bottom_code" else ("bottom_code",)


def harbor_guard(policy: Policy, roles: Roles) -> tuple[Guard, ...]:
    """The statement that checks the values to be published."""
    looks = list(_looks(policy, roles)) if applies(policy) else []
    if not looks:
        return ()
    first = earliest(year_of_release())
    context = {
        "snapshot": SNAPSHOT,
        "looks": [(place, what, cell) for place, (_, what, cell) in enumerate(looks)],
        "first": first,
        "last": YEARS[1],
        "words": WORDS,
        "characters": CHARACTERS,
        "most_words": MOST_WORDS,
        "most_characters": MOST_CHARACTERS,
        "many": SAFE_HARBOR_MANY,
        "often": OFTEN,
        "days": DAYS,
        "dates": "|".join(f"({form})" for form in DATE_FORMS),
    }

    def explain(row: Row) -> Problem:
        place, n = row
        name, what, _ = looks[int(place)]
        said, hint = SAYS[what]
        return Problem(
            column_path(name), said.format(n=n, first=first), hint=hint.format(first=first)
        )

    step = Step("what Safe Harbor leaves", "safe_harbor/values", context)
    return (Guard(step, explain, SourceError),)


def _looks(policy: Policy, roles: Roles) -> Iterator[tuple[str, str, Sql]]:
    """Each checked column, what it is checked for, and its physical name."""
    for name, cell, sql_type in (
        *((k.column, k.k, k.sql_type) for k in roles.kept),
        *((s.column, s.s, s.sql_type) for s in roles.sensitive),
        *((a.column, a.q, a.sql_type) for a in roles.quasi),
    ):
        column, family = policy.columns[name], family_of(sql_type)
        if not shows(column):
            continue
        match column.safe_harbor:
            case "none" if family == "text":
                yield from ((name, what, cell) for what in ("notes", "many", "long"))
                read = usual_characters(f"cast({cell} as varchar)")
                yield name, "days", Sql(read)
                yield name, "numbered_days", Sql(f"try_cast({read} as bigint)")
            case "none" if family == "whole":
                yield name, "numbered_days", cell
            case "none" if family in ("decimal", "double"):
                # a number with a fraction is not a date
                whole = (
                    f"case when {cell} <> floor({cell}) then 0 else try_cast({cell} as bigint) end"
                )
                yield name, "numbered_days", Sql(whole)
            case "dates" | "birth" if family == "whole":
                yield name, "early_years", cell
                yield name, "late", cell
            case "dates" | "birth":
                yield name, "early", cell
