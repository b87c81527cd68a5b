"""A draft policy for all tables of a database whose rows reach a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident, quote
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.session import Database
from anonymizer.errors import SourceError
from anonymizer.policy import Policy
from anonymizer.policy.values import file_format
from anonymizer.process.text import many
from anonymizer.review.assess.classes import open_database, open_files
from anonymizer.review.draft.guess import (
    A_HANDFUL,
    ANOTHER,
    FEW,
    Guess,
    Profile,
    of_others,
    spread_of,
    without_quasi,
)
from anonymizer.review.draft.table_draft import (
    AUDIENCE,
    LIMIT,
    MANY,
    PLAIN,
    REVIEW,
    TAKEN,
    algorithm,
    column_lines,
    comment,
    everybody_source,
    indent,
    least_k,
    options,
    own_names,
    relative,
    release_file,
    rule,
    scalar,
    source_lines,
)
from anonymizer.review.draft.table_links import (
    Link,
    Several,
    Tree,
    find_links,
    find_tree,
    links_of_several,
)
from anonymizer.review.draft.tables import (
    OWN,
    WHERE,
    Found,
    Tables,
    find_files,
    find_tables,
    like_key,
)
from anonymizer.review.hierarchies import of_writing
from anonymizer.source import column_names
from anonymizer.source.profile import kind_of
from anonymizer.source.snapshot import Relation

# The text of a draft of several tables.


ALONE = "if its rows tell of no person, it can be published beside the release as it is"
"""What may be done with a table that is left out: a policy of its own does not know whose its rows
are."""
MANY_EVENTS = 4
"""From this many event columns in one table, the draft states their cost."""
HUGE = ("HUGEINT", "UHUGEINT")
"""Types of numbers that may be too large for intervals."""


@dataclass(frozen=True, slots=True)
class TableDraft:
    """One table of the policy."""

    found: Found
    guesses: dict[str, Guess]
    key: str | None
    link: Link | None
    everybody: str | None
    """Name of the column that its query adds."""
    not_linked: tuple[Several, ...]
    file: str | None
    """Its file, as seen from the folder of the policy."""

    def of_role(self, role: str) -> int:
        """The number of its columns with a role."""
        return sum(one.role == role for one in self.guesses.values())


@dataclass(frozen=True, slots=True)
class Written:
    """The contents of the text."""

    stem: str | None
    """Stem of the database's file name."""
    person: str
    tables: tuple[TableDraft, ...]
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
    if events:
        yield "# knows: somebody who knows one row of a person, by any of its event columns,"
        yield "# still finds k persons. events: 2 is for two known rows, and loses more; without"
        yield "# knows, one known row may single a person out: the report counts for how many."
    knows = ", knows: {events: 1}" if events else ""
    k = least_k(persons.found.rows)
    yield f"privacy: {{k_anonymity: {k}{knows}}}    # {AUDIENCE}"
    yield f"suppression_limit: 0.05     # {LIMIT}"
    yield "# Trees for codes, places and categories: anonymizer hierarchy suggest TABLE."
    sensitive = sum(one.of_role("sensitive") for one in given.tables)
    yield algorithm(persons.found.rows, persons.of_role("quasi"), sensitive)
    yield "# A file of its own: who gets the release must not get the raw tables with it."
    yield "# Intervals begin and end with steps, not with values of rows: columns.<name>.bounds."
    yield f"publish: {{database: {release_file(given.stem or 'database')}, bounds: grid}}"


def _table(one: TableDraft) -> Iterator[str]:
    found = one.found
    if one.file is not None:
        yield from source_lines(found.name, one.file, None, found.recognized)
    elif one.everybody is not None:
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
        said = f"{'nearly ' if link.strangers else ''}all its values are keys of {link.to}"
        said = "declared" if link.declared else said
        yield f"links: {{{scalar(link.column)}: {scalar(link.to)}}}   # {comment(said)}"
        if link.orphans:
            yield f"orphans: drop   # {comment(link.orphans)}"
    for several in one.not_linked:
        yield f"# Not linked: {comment(several.description)}."
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
    if p.endless or p.coded or p.sql_type in HUGE:
        yield "kind: categorical"  # no interval holds infinite or very large values, or codes
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


# A draft policy for all tables of a database whose rows reach a person. To be reviewed.


DRAWN = "published as a number drawn for this release"
CODES = frozenset(("code", "icd", "dx"))
"""Words in names of codes, which may be numeric."""
OPEN = ("quasi", "event", "sensitive", "keep")
"""Roles of columns that are published."""
SECRET = "role: sensitive, if nobody knows one"


def key_of(table: str, tree: Tree, tables: Mapping[str, Found]) -> str | None:
    """The key of a table: the column that links refer to and that is not a link itself."""
    one, own = tables[table], tree.links[table].column if table in tree.links else None
    leading = [link.key for link in tree.links.values() if link.to == table]
    named = [
        key for key in one.keys if key in one.declared.keys or like_key(key, one.table.name) in OWN
    ]
    return next((key for key in (*leading, *named) if key != own), None)


def roles(
    table: str,
    tree: Tree,
    tables: Mapping[str, Found],
    links: Sequence[Link],
    others: Mapping[str, Guess],
) -> dict[str, Guess]:
    """The role of every column, in the table's column order; `others`: of those that name another
    person.
    """
    one, key = tables[table], key_of(table, tree, tables)
    person = table == tree.person
    made = dict(one.guesses) if person else dict(_of_rows(one))
    made |= own_names(made, TAKEN if person else TAKEN[1:])
    made |= {name: one for name, one in others.items() if made[name].role in (*OPEN, "drop")}
    made |= _not_taken(table, tree, links)
    if table in tree.links:
        link = tree.links[table]
        made[link.column] = Guess("key", f"leads to {link.to}; {DRAWN}")
    if key is not None:
        whose = "numbers the persons" if person else "numbers the rows"
        made[key] = Guess("key", f"{whose}; {DRAWN}")
    return made | dict(_dates_beside(one, made))


def _dates_beside(one: Found, made: Mapping[str, Guess]) -> Iterator[tuple[str, Guess]]:
    """Dates of rows, which are left out where other events would pay for them."""
    events = [p for p in one.profiles if made[p.column].role == "event"]
    dates = [p for p in events if kind_of(p.sql_type) == "date"]
    for p in dates if len(dates) < len(events) else ():
        said = f"a date, which would cost the other events most of their cells; {spread_of(p)}"
        yield p.column, Guess("drop", f"{said}; role: event, if it is needed more")


def _not_taken(table: str, tree: Tree, links: Sequence[Link]) -> dict[str, Guess]:
    """Columns that hold keys of other tables than the one through which persons are reached."""
    found: dict[str, Guess] = {}
    own = tree.links.get(table)
    # if a column has several links, the reason against it comes first
    for link in sorted(links, key=lambda link: (link not in tree.astray, link.preference)):
        if link.table != table or (own is not None and link.column == own.column):
            continue
        rows = tree.astray.get(link)
        role = "drop"
        if link.to == table == tree.person:
            role, said = "identifier", f"holds keys of {link.to}; {ANOTHER}"
        elif link.to == table:
            said = "leads to rows of the same table, which is not offered"
        elif own is None:
            said = f"holds keys of {link.to}, which has no row per person; role: quasi, if known"
        elif rows:
            said = f"leads to {link.to}, and in {rows:,} rows to another person than {own.column}"
        elif link.to == tree.person or link.to in tree.links:
            said = f"leads to {link.to} as well: rows reach their person by {own.column}"
        else:
            said = f"holds keys of {link.to}, which reaches no person; role: event, if known"
        found.setdefault(link.column, Guess(role, said))
    return found


def _of_rows(one: Found) -> Iterator[tuple[str, Guess]]:
    """Columns of a table with several rows per person; quasi columns become events."""
    for p in one.profiles:
        found = one.guesses[p.column]
        if found.role == "quasi" and _amount(p):
            said = f"an amount, which few know of a row; role: event, if others do; {spread_of(p)}"
            yield p.column, Guess("drop", said)
        elif found.role == "quasi":
            yield p.column, Guess("event", found.reason, found.sure)
        elif found.role == "sensitive":
            yield p.column, _event(p) or found
        else:
            yield p.column, found


def _amount(p: Profile) -> bool:
    """True for numbers of many values, of which each known one would cost all other events."""
    coded = column_names.says(p.column, CODES | column_names.QUASI)
    return p.number and (p.different or 0) > FEW and not coded


def _event(p: Profile) -> Guess | None:
    """Role event for what happened to a person, if others may know of one such row."""
    spread = spread_of(p)
    if kind_of(p.sql_type) == "date":
        return Guess("event", f"says when, which others may know of a row; {spread}")
    if p.measure:
        return None
    text = p.text or p.sql_type.startswith("ENUM")
    many = text and (of_writing(p) is not None or (p.different or 0) > FEW)
    if many or column_names.says(p.column, CODES):
        said = "a code of what happened, which others may know of a row"
        return Guess("event", f"{said}; {SECRET}; {spread}")
    if text and column_names.says(p.column, column_names.DONE):
        said = "says what was done, which others may know of a row"
        return Guess("event", f"{said}; {SECRET}; {spread}")
    return None


def left_out(
    known: Tables,
    tree: Tree,
    links: Sequence[Link],
    missed: Sequence[Link],
    several: Sequence[Several],
) -> dict[str, str]:
    """Tables left out, sorted by name, with the reason."""
    there = {tree.person, *tree.links}
    found = dict.fromkeys(known.empty, "has no rows")
    for name in known.found:
        if name not in there:
            found[name] = (
                f"reaches no person: {_reason(known.found[name], there, links, missed, several)}"
            )
    return dict(sorted(found.items()))


def _reason(
    one: Found,
    there: set[str],
    links: Sequence[Link],
    missed: Sequence[Link],
    several: Sequence[Several],
) -> str:
    name = one.name
    declared = [link for link in several if link.table == name]
    if declared:
        return f"{declared[0].description}; {declared[0].cure}"
    near = [link for link in missed if link.table == name and link.to in there]
    if near:
        return min(near, key=lambda link: (link.fit, link.strangers / link.different)).description
    away = [link for link in links if link.table == name and link.to not in there]
    to_it = [link for link in links if link.to == name and link.table in there]
    if to_it:
        link = to_it[0]
        return (
            f"{link.table}.{link.column} holds its keys; what is needed of it can be joined in"
            f" source.query of {link.table}" + (", from tables of one database" if one.file else "")
        )
    if away:
        return f"it leads to {away[0].to}, which is left out; {ALONE}"
    return (
        "no column holds keys of a table above; if one does, add the table with links:"
        f" {{column: table}}; {ALONE}"
    )


@dataclass(frozen=True, slots=True)
class TablesDraft:
    """A policy of several tables as text, and the findings it is based on."""

    text: str
    person: str
    """The table with one row per person."""
    guesses: dict[str, dict[str, Guess]]
    """By table and column."""
    keys: dict[str, str | None]
    links: dict[str, tuple[str, str]]
    """By table: its own column, and the table that this column links to."""
    left_out: dict[str, str]
    """Tables that are not in the policy, with the reason."""
    not_linked: dict[str, str]
    """By table: a declared link that is not in the policy."""
    orphans: dict[str, str]
    """By table: why some of its rows are left out."""

    def __str__(self) -> str:
        return self.text

    def as_dict(self) -> dict[str, Any]:
        return {
            "policy": self.text,
            "person": self.person,
            "tables": {
                table: {
                    "key": self.keys[table],
                    "links": dict([self.links[table]]) if table in self.links else {},
                    "columns": {n: {"role": g.role, "reason": g.reason} for n, g in found.items()},
                }
                for table, found in self.guesses.items()
            },
            "left_out": self.left_out,
            "not_linked": self.not_linked,
            "orphans": self.orphans,
        }


def draft_tables(
    database: Database = None,
    *,
    tables: Sequence[str] = (),
    base: str | Path = ".",
    limits: Limits | None = None,
) -> TablesDraft:
    """Draft one policy for the tables of `database` whose rows reach a person.

    `tables`: only these tables, or data files, each of which is a table. `base`: the folder of the
    policy file. Raises SourceError if no table has one row per person, or if no other table links
    to it.
    """
    tables = list(dict.fromkeys(tables))
    files = [name for name in tables if file_format(name)] if database is None else []
    if files and len(files) < len(tables):
        other = next(name for name in tables if name not in files)
        said = f"{other} is not a data file, and the others are"
        raise SourceError.at("TABLE", said, hint="name files alone, or tables with --database")
    with ExitStack() as stack:
        if files:
            opened = stack.enter_context(open_files(files, limits))
            engine, known = opened[0].engine, find_files(files, opened)
        else:
            engine = stack.enter_context(open_database(database, limits))
            known = find_tables(engine, tables)
        there = known.found
        links, missed = find_links(engine, there)
        several = links_of_several(there)
        where = "TABLE" if tables else WHERE
        tree = find_tree(engine, there, links, missed, several, where)
        others = _others(engine, tree, there)
    drafted: dict[str, TableDraft] = {}
    for table in (tree.person, *tree.links):
        guesses = roles(table, tree, there, links, others[table])
        one, key = there[table], key_of(table, tree, there)
        everybody = None
        if table == tree.person:
            file = one.file is not None
            everybody = without_quasi(one.profiles, guesses, file=file, key=key)
        drafted[table] = TableDraft(
            one,
            guesses,
            key,
            tree.links.get(table),
            everybody,
            tuple(one for one in several if one.table == table),
            relative(one.file, base) if one.file is not None else None,
        )
    without = left_out(known, tree, links, missed, several)
    stem = tree.person if files else None
    if isinstance(database, str | Path):
        stem = Path(database).stem
    text = text_of(
        Written(stem, tree.person, tuple(drafted.values()), tree.others, without, known.views)
    )
    Policy.loads(text, base)  # an invalid draft is a bug in this tool
    return TablesDraft(
        text,
        tree.person,
        {name: one.guesses for name, one in drafted.items()},
        {name: one.key for name, one in drafted.items()},
        {name: (link.column, link.to) for name, link in tree.links.items()},
        without,
        {one.table: f"{one.description}; {one.cure}" for one in several if one.table in drafted},
        {name: link.orphans for name, link in tree.links.items() if link.orphans},
    )


def _others(
    engine: DuckDBEngine, tree: Tree, tables: Mapping[str, Found]
) -> dict[str, dict[str, Guess]]:
    """The columns of every table that hold keys of persons, besides those that lead to them."""
    persons, key = tables[tree.person], key_of(tree.person, tree, tables)
    numbers = next(p for p in persons.profiles if p.column == key)
    found: dict[str, dict[str, Guess]] = {}
    for name in (tree.person, *tree.links):
        one = tables[name]
        own = tree.links[name].column if name in tree.links else key
        columns = [p for p in one.profiles if p.column != own]
        found[name] = of_others(
            engine, _relation(one), columns, _relation(persons), numbers, tree.person
        )
    return found


def _relation(one: Found) -> Relation:
    return Relation(ident(one.relation), one.relation)
