"""Checks of keys and links: which columns they are, and that the links lead to the persons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.paths import name_text
from anonymizer.policy.schema.paths import table_path
from anonymizer.policy.suggest import closest

if TYPE_CHECKING:
    from anonymizer.policy.schema.fields import SchemaFields


def persons_table(policy: SchemaFields) -> Iterator[Problem]:
    """`person` names a table, not a column as in a policy of one table."""
    if not policy.tables:
        example = "tables: {patients: {source: {table: main.patients}, columns: …}, visits: …}"
        yield Problem("tables", "is empty", hint=example)
    elif policy.person not in policy.tables:
        tables = policy.tables.items()
        of_column = [n for n, t in tables if policy.person in t.columns and not t.links]
        named = name_text(of_column[0] if of_column else next(iter(policy.tables)))
        near = None if of_column else closest(policy.person, policy.tables)
        said, allowed = "is not a table listed under tables", "the table with one row per person"
        yield Problem("person", said, allowed, near or f"person: {named}, its key is the person")


def one_link(policy: SchemaFields) -> Iterator[Problem]:
    """Only the persons' table has no link; every other table has exactly one."""
    if policy.person not in policy.tables:
        return
    persons = name_text(policy.person)
    for name, table in policy.tables.items():
        path = table_path(name, "links")
        if name == policy.person:
            if table.links:
                said = "lead away from the persons: this table has one row per person"
                yield Problem(path, said, hint="leave links out")
        elif not table.links:
            own = next((name_text(column) for column in table.unused_keys), "<own column>")
            said = "is missing: without it the rows of this table reach no person"
            yield Problem(path, said, hint=f"links: {{{own}: {persons}}}")
        elif len(table.links) > 1:
            said = "holds several links, which is not offered yet: rows reach a person by one way"
            yield Problem(path, said, "one link", "leave one link; role: drop for the other keys")


def known_tables(policy: SchemaFields) -> Iterator[Problem]:
    """Every link leads to a table of the policy."""
    for name, table in policy.tables.items():
        for column, other in table.links.items():
            if other not in policy.tables:
                hint = closest(other, policy.tables) or "links: {<own column>: <table>}"
                said = "leads to no table listed under tables"
                yield Problem(table_path(name, "links", column), said, hint=hint)


def no_circle(policy: SchemaFields) -> Iterator[Problem]:
    """Links do not form a cycle; every cycle is reported once."""
    for circle in circles(policy):
        if policy.person in circle:
            continue  # the links of the persons' table are reported
        column = next(iter(policy.tables[circle[0]].links))
        said = f"leads round in a circle: {', '.join(map(name_text, circle))}"
        hint = f"one of these tables links to {name_text(policy.person)}"
        yield Problem(table_path(circle[0], "links", column), said, hint=hint)


def circles(policy: SchemaFields) -> list[list[str]]:
    """The tables of every cycle, the first one repeated at the end."""
    found: list[list[str]] = []
    for name in policy.tables:
        way = _way(policy, name)
        circle = way[way.index(way[-1]) :]
        if len(circle) > 1 and not any(set(circle) & set(other) for other in found):
            found.append(circle)
    return found


def _way(policy: SchemaFields, start: str) -> list[str]:
    """The tables along the links from `start`, up to the first repeated one."""
    way = [start]
    while (link := policy.tables[way[-1]].link) is not None and link[1] in policy.tables:
        seen = link[1] in way
        way.append(link[1])
        if seen:
            break
    return way


def listed(policy: SchemaFields) -> Iterator[Problem]:
    """Key and links are columns of their table."""
    for name, table in policy.tables.items():
        named = [(column, ("links", column)) for column in table.links]
        keys = [(table.key, ("key",))] if table.key is not None else []
        for column, place in (*keys, *named):
            if column not in table.columns:
                free = next((f"did you mean {name_text(key)}?" for key in table.unused_keys), None)
                hint = closest(column, table.columns) or free or "list it there, as role: key"
                said = "is not a column listed under the table's columns"
                yield Problem(table_path(name, *place), said, hint=hint)


def role_of_keys(policy: SchemaFields) -> Iterator[Problem]:
    """The key of a table and its link have the role key."""
    leading = _leading(policy)
    for name, table in policy.tables.items():
        for column in table.links:
            role = table.columns[column].role if column in table.columns else "key"
            if role != "key":
                path = table_path(name, "columns", column, "role")
                yield Problem(path, f"is {role}, and the column is a link", "key", "role: key")
        if table.key is None or table.key in table.links or table.key not in table.columns:
            continue
        path = table_path(name, "columns", table.key, "role")
        role = table.columns[table.key].role
        if name in leading and role != "key":
            yield Problem(path, f"has to be key: {leading[name]}", "key", "role: key")
        elif role not in ("key", "drop", "identifier"):
            said = f"is the key of the table, and would be published by the role {role}"
            yield Problem(path, said, "key, drop, identifier", "role: key")


def one_use(policy: SchemaFields) -> Iterator[Problem]:
    """A column of the role key is either the key of its table or a link."""
    leading, round_about = _leading(policy), {name for way in circles(policy) for name in way}
    for name, table in policy.tables.items():
        if name in round_about:
            continue  # its links are reported as wrong
        if table.key is not None and table.key in table.links:
            said = f"is the link to {name_text(table.links[table.key])} as well"
            yield Problem(table_path(name, "key"), said, hint="leave key out")
        named = {*table.links, *([table.key] if table.key is not None else [])}
        missing = (name in leading and table.key is None) or (
            name != policy.person and not table.links
        )
        if missing or not named <= set(table.columns):
            continue  # a missing column is reported
        for column in table.unused_keys:
            said = "is key, and the column is neither the key of the table nor a link"
            path = table_path(name, "columns", column, "role")
            yield Problem(path, said, hint="links: {<column>: <table>}, or role: drop")


def needed(policy: SchemaFields) -> Iterator[Problem]:
    """The persons' table has a key, and so has every table that others link to."""
    leading = _leading(policy)
    for name, table in policy.tables.items():
        if table.key is None and name in leading:
            own = next((name_text(column) for column in table.unused_keys), "<column>")
            said = f"is missing: {leading[name]}"
            yield Problem(table_path(name, "key"), said, hint=f"key: {own}")


def _leading(policy: SchemaFields) -> dict[str, str]:
    """Tables that need a key, with the reason."""
    round_about = {name for way in circles(policy) for name in way}
    why = {
        other: f"{name_text(name)} links to this table"
        for name, table in policy.tables.items()
        if name not in round_about
        for other in table.links.values()
    }
    return {**why, policy.person: "it is the person"}
