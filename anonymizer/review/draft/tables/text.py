"""The text of a draft of several tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anonymizer.compile import Table, quote
from anonymizer.process.text import many
from anonymizer.review.draft.guess import Guess
from anonymizer.review.draft.profiles import A_HANDFUL, Profile
from anonymizer.review.draft.tables.found import Found
from anonymizer.review.draft.tables.links import Link, Several
from anonymizer.review.draft.writing import (
    AUDIENCE,
    LIMIT,
    MANY,
    PLAIN,
    REVIEW,
    algorithm,
    column_lines,
    comment,
    everybody_source,
    indent,
    least_k,
    options,
    release_file,
    rule,
    scalar,
)
from anonymizer.review.suggest.rules import of_writing
from anonymizer.source.profile import kind_of

MANY_EVENTS = 4
"""From this many event columns in one table, the draft states their cost."""
HUGE = ("HUGEINT", "UHUGEINT")
"""Types of numbers that may be too large for intervals."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """One table of the policy."""

    found: Found
    guesses: dict[str, Guess]
    key: str | None
    link: Link | None
    everybody: str | None
    """Name of the column that its query adds."""
    not_linked: tuple[Several, ...]

    def of_role(self, role: str) -> int:
        """The number of its columns with a role."""
        return sum(one.role == role for one in self.guesses.values())


@dataclass(frozen=True, slots=True)
class Written:
    """The contents of the text."""

    stem: str | None
    """Stem of the database's file name."""
    person: str
    tables: tuple[Drafted, ...]
    """The tables, the persons' table first."""
    others: tuple[str, ...]
    without: dict[str, str]
    views: int


def text_of(given: Written) -> str:
    """The text of the policy."""
    return "\n".join(_lines(given)) + "\n"


def _lines(given: Written) -> Iterator[str]:
    persons, *further = given.tables
    events = sum(one.of_role("event") for one in further)
    few = "one table" if len(further) == 1 else many(len(further), "table")
    yield comment(
        f"# A draft for {given.stem or 'a database'}: {given.person}, and {few} whose rows lead to"
        " one of them."
    )
    yield "# Made from names, types, counts, and keys of one table that stand in another."
    yield f"# {REVIEW}"
    yield "# Review every link: it says whose row it is."
    yield "version: 1"
    yield f"person: {scalar(given.person)}   # the table with one row per person"
    for other in given.others:
        yield comment(
            f"# {other} looks like a table of persons too: a release protects those of one table."
        )
    yield "tables:"
    for one in given.tables:
        yield f"  {scalar(one.found.name)}:   # {one.found.rows:,} rows"
        yield from indent(_table(one), 4)
    for name, why in given.without.items():
        yield f"  # {comment(f'Left out: {name} {why}.')}"
    if given.views:
        yield f"  # Left out: {given.views:,} views, which show rows of tables."
    yield "# What is known beside the quasi columns: one row of a person, by its event columns."
    knows = ", knows: {events: 1}" if events else ""
    k = least_k(persons.found.rows)
    yield f"privacy: {{k_anonymity: {k}{knows}}}    # {AUDIENCE}"
    yield f"suppression_limit: 0.05     # {LIMIT}"
    yield "# Trees for codes, places and categories: anonymizer hierarchy suggest TABLE."
    sensitive = sum(one.of_role("sensitive") for one in given.tables)
    yield algorithm(persons.found.rows, persons.of_role("quasi"), sensitive)
    yield "# A file of its own: who gets the release must not get the raw tables with it."
    yield f"publish: {{database: {release_file(given.stem or 'database')}}}"


def _table(one: Drafted) -> Iterator[str]:
    found = one.found
    if one.everybody is not None:
        parts = (found.table.schema, found.table.name)
        yield from everybody_source(one.everybody, filter(None, parts))
    else:
        yield f"source: {{table: {_named(found.table)}}}"
    if one.key is not None:
        declared = one.key in found.declared.keys
        said = "declared as a key" if declared else "unique and never NULL"
        yield f"key: {scalar(one.key)}   # {said}"
    if one.link is not None:
        link = one.link
        said = "declared" if link.declared else f"all its values are keys of {link.to}"
        yield f"links: {{{scalar(link.column)}: {scalar(link.to)}}}   # {comment(said)}"
        if link.nulls:
            yield f"orphans: drop   # {link.nulls:,} rows have no {comment(link.column)}"
    for several in one.not_linked:
        yield f"# Not linked: {comment(several.told)}."
        yield f"# For a link, {comment(several.cure)}."
    events, quasi = one.of_role("event"), one.of_role("quasi")
    if max(events - MANY_EVENTS, quasi - MANY) > 0:
        many = f"{events} columns are event" if events else f"{quasi} columns are quasi"
        yield f"# {many}: the more there are, the wider every cell gets."
        yield "# If the release loses too much, drop what is needed least."
    yield "columns:"

    def own(p: Profile, role: Guess) -> Iterator[str]:
        return _options(p, role) if one.link is not None else options(p, role, quasi)

    yield from column_lines(found.profiles, one.guesses, own, one.everybody)


def _options(p: Profile, role: Guess) -> Iterator[str]:
    """Options of a column of a table of rows, other than its role."""
    if role.role == "sensitive":
        yield f"protect: {{{rule(p)}}}"
    if role.role != "event":
        return
    suggestion = of_writing(p, beyond=A_HANDFUL) if p.text else None
    if p.endless or p.sql_type in HUGE:
        yield "kind: categorical"  # no interval holds infinite or very large values
    elif kind_of(p.sql_type) == "date":
        yield "hierarchy: {builder: date}"
    elif suggestion is not None:
        yield f"hierarchy: {suggestion.text}"


def _named(table: Table) -> str:
    """The name of a table in a policy; a table that represents a frame has no schema."""
    parts = [table.name] if table.catalog == "temp" else [str(table.schema), table.name]
    if len(parts) > 1 and all(PLAIN.match(part) for part in parts):
        return ".".join(parts)
    return scalar(".".join(part if PLAIN.match(part) else quote(part) for part in parts))
