"""Safe Harbor, as far as the source shows: types, free text, disguised dates, early birth years.

A column is free text if most of its distinct values have more than five words or 50 characters:
codes and names of wards are shorter. Every value counts once, so that rare sentences show next to
frequent words. It is also free text if it has more than a thousand distinct values that are at
least a fifth of the rows, or one value of more than 30 words or 250 characters: no list of codes
has these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from anonymizer.compile import Sql
from anonymizer.contract.layout import Layout
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.policy.safe_harbor import OLDEST, YEARS, applies, earliest, shows
from anonymizer.source.dates_in_text import DATE_FORMS
from anonymizer.source.masking.masks import DATES, Family, family_of
from anonymizer.source.profile import TableProfile, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.signs import plain
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Guard, Row, Step

WORDS, CHARACTERS = 5, 50
"""A value with more of either is a sentence."""
MOST_WORDS, MOST_CHARACTERS = 30, 250
"""Most words and characters of an entry of a list."""
MANY, OFTEN = 1000, 5
"""A column of more distinct values, with fewer rows per value, is not from a list."""
PLAIN: tuple[Family, ...] = ("whole", "decimal", "double", "text")
"""Types, besides BOOLEAN, that may be free of the eighteen identifiers."""
DAYS = (18_000_101, 22_001_231)
"""Whole numbers in this range may be dates such as 20240131; so may numbers such as 31012024,
1312024, 202401, 12024, 240131 and 310124."""
SAYS: dict[str, tuple[str, str]] = {
    "notes": (
        "holds {n:,} different values like free text, in which anything may stand",
        "role drop, null or constant; publish a code instead of it (source.query)",
    ),
    "many": (
        "holds {n:,} different values: no list of codes, but free text or numbers of persons",
        "role drop, null or constant; publish fewer values (source.query)",
    ),
    "long": (
        "holds {n:,} values of free text, in which anything may stand",
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
        "shows {n:,} values before {first}, which tell ages over 89",
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
                    said = f"is before {first}: births until then tell ages over {OLDEST - 1}"
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
        "many": MANY,
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

    step = Step("what Safe Harbor leaves", "safe_harbor/values.sql.j2", context)
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
                read = plain(f"cast({cell} as varchar)")
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
