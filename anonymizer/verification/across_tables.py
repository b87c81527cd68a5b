"""Checks across tables: references, drawn keys, known rows, and rules of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from anonymizer.compile import Sql, Table
from anonymizer.contract.layout import Layout, Requirement, cell_parts, quasi
from anonymizer.contract.reading import ReleasedTable, Tables
from anonymizer.errors import NothingToCheckError
from anonymizer.verification.form import column_questions
from anonymizer.verification.guarantees import CLASS, OWNED, PERSON, of_cells, questions
from anonymizer.verification.questions import FigureColumn, Over, Question, condition, of_column

Where = Callable[[ReleasedTable], Table]
"""Maps a released table to where its rows are."""


def tables_questions(tables: Tables, where: Where) -> tuple[Question, ...]:
    """Every condition on the tables together, besides those on the persons' view alone."""
    return tuple(_questions(tables, where))


def tables_sql(tables: Tables, where: Where) -> list[dict[str, str | None]]:
    """The statement of every check by name and column, for a manifest, without catalogs."""
    return [
        {"name": one.name, "column": one.column, "sql": one.sql(anywhere=True)}
        for one in tables_questions(tables, where)
    ]


def _questions(tables: Tables, where: Where) -> Iterator[Question]:
    for one in tables.tables:
        if one.layout.key is not None:
            keys = {"data": where(one), "key": one.layout.key, "label": "what"}
            yield _of(one, condition("key_dense", None, keys, "n"))
        for link, above in one.layout.links.items():
            yield _of(one, _references(tables, where, one, link, above))
        if one is not tables.persons:
            for column in quasi(one.layout):
                if column.list_cells and column.lo is None:
                    continue  # lists have no grammar
                form = {"data": where(one), "group": None, "label": "class", **of_column(column)}
                yield _of(one, condition("cell_form", column.column, form, "malformed"))
            yield from (_of(one, question) for question in _mask_questions(tables, one, where(one)))
        yield from _requirement_questions(tables, where, one)
    least = (FigureColumn("achieved", "least"),)
    if tables.events:
        seen = event_columns(tables)
        known = {**owned_parameters(tables, where, seen, joined=tables.joined), "k": tables.k}
        known["events"] = tables.events
        asked = {"k": tables.k, "events": tables.events}
        constants = {"events": tables.events}
        yield Question("known_events", None, asked, "known_events", known, (K,), constants)
    if tables.rows:
        every: dict[str, list[str]] = {one.table: [] for one in tables.children}
        known = {**owned_parameters(tables, where, every), "k": tables.k}
        yield Question("known_rows", None, tables.k, "known_rows", known, least)
    if tables.sensitive:
        yield from _among(tables, where)


def _mask_questions(tables: Tables, one: ReleasedTable, rows: Table) -> Iterator[Question]:
    """The conditions on masked columns; persons are distinguished in tables that link to them."""
    persons = [link for link, above in one.layout.links.items() if above == tables.person]
    yield from column_questions(
        rows, replace(one.layout, person_id=persons[0] if persons else None)
    )


K = FigureColumn("k", "least")


def _references(
    tables: Tables, where: Where, one: ReleasedTable, link: str, above: str
) -> Question:
    other = tables.table(above)
    parameters = {
        "data": where(one),
        "link": link,
        "above": where(other),
        "above_key": other.layout.key,
        "label": "what",
    }
    return condition("references", link, parameters, "n")


def _requirement_questions(tables: Tables, where: Where, one: ReleasedTable) -> Iterator[Question]:
    """The requirements of a table's columns, in the classes of the persons."""
    if one is tables.persons:
        layout = replace(one.layout, person_id=one.layout.key)
        for requirement in one.requirements:
            yield from questions(where(one), layout, requirement)
        return
    cells = {column.column for column in quasi(one.layout)}
    for requirement in one.requirements:
        if requirement.column in cells:
            yield from _of_event(tables, where, one, requirement)
    required = [item for item in one.requirements if item.column not in cells]
    if not required:
        return
    judged = _sensitive_layout(one)
    names = [c.name for c in judged.columns if c.name is not None]
    parameters = owned_parameters(tables, where, {one.table: names})
    over = _over("owned_values", parameters, one, names)
    for requirement in required:
        for question in questions(Table(OWNED), judged, requirement):
            yield replace(_of(one, question), over=over)


def _of_event(
    tables: Tables, where: Where, one: ReleasedTable, requirement: Requirement
) -> Iterator[Question]:
    """A rule on an event column, in the worst case that its cells allow."""
    column = next(c for c in quasi(one.layout) if c.column == requirement.column)
    parameters = owned_parameters(tables, where, {one.table: list(cell_parts(column))})
    for question in of_cells(one.layout, column, requirement, _numbered(parameters, one)):
        yield _of(one, question)


def _over(template: str, parameters: dict[str, Any], one: ReleasedTable, shown: list[str]) -> Over:
    """The rows of a table with the class and person of each."""
    named = {"shown": shown, "class_name": CLASS, "person_name": PERSON}
    return Over(OWNED, template, {**_numbered(parameters, one), **named})


def _numbered(parameters: dict[str, Any], one: ReleasedTable) -> dict[str, Any]:
    """With the number of a table among those that lead to persons; None for the persons'."""
    numbers = {table["table"]: table["number"] for table in parameters["tables"]}
    return {**parameters, "number": numbers.get(one.table)}


def _sensitive_layout(one: ReleasedTable) -> Layout:
    """The layout of a table's sensitive columns, with the class and person of each row."""
    return Layout(
        algorithm=one.layout.algorithm,
        cells=one.layout.cells,
        columns=tuple(c for c in one.layout.columns if c.role == "sensitive"),
        class_id=CLASS,
        person_id=PERSON,
    )


def _among(tables: Tables, where: Where) -> Iterator[Question]:
    """The rules of columns for the candidates that remain if rows, or their number, are known."""
    seen = event_columns(tables) if tables.events else {}
    for one in tables.tables:
        persons = one is tables.persons
        required = (*tables.required, *one.requirements) if persons else one.requirements
        judged = _sensitive_layout(one)
        names = [c.name for c in judged.columns if c.name is not None]
        needed = {name: list(names) for name in ([] if persons else [one.table])}
        if tables.rows:
            needed = {**{other.table: [] for other in tables.children}, **needed}
        parameters = owned_parameters(tables, where, needed, seen, joined=tables.joined)
        parameters |= {"events": tables.events, "rows": tables.rows}
        over = _over("known_values", parameters, one, names)
        for requirement in required:
            if requirement.column is None:
                continue
            if not any(c.column == requirement.column for c in judged.columns):
                said = "is not judged among the persons who remain: it names no sensitive column"
                raise NothingToCheckError.at(f"privacy.{requirement.name}", said)
            for question in questions(Table(OWNED), judged, requirement):
                found = question if persons else _of(one, question)
                beside = {**question.parameters, "whole_beside": True}
                yield replace(found, name=f"known_{found.name}", parameters=beside, over=over)


def event_columns(tables: Tables) -> dict[str, list[str]]:
    """The columns of event cells, by table."""
    return {one.table: _cells(one) for one in tables.children if quasi(one.layout)}


def _of(one: ReleasedTable, question: Question) -> Question:
    """The question, about a column of this table."""
    column = one.table if question.column is None else f"{one.table}.{question.column}"
    return replace(question, column=column)


def _cells(one: ReleasedTable) -> list[str]:
    return [part for column in quasi(one.layout) for part in cell_parts(column)]


def owned_parameters(
    tables: Tables,
    where: Where,
    shown: dict[str, list[str]],
    told: dict[str, list[str]] | None = None,
    *,
    joined: bool = False,
) -> dict[str, Any]:
    """The parameters that link rows to their persons.

    `shown`: the columns that are read, by table; `told`: the columns that may be known, by default
    the same. `joined`: rows are known with those above them, and with which of these they share.
    """
    told = shown if told is None else told
    shown = {
        name: list(dict.fromkeys([*shown.get(name, []), *told.get(name, [])]))
        for name in {**shown, **told}
    }
    wanted = list(_leading(tables, shown))
    numbers = {one.table: place for place, one in enumerate(wanted, 1)}
    parents = {above for one in wanted for above in one.layout.links.values()} if joined else set()
    shared = [numbers[one.table] for one in wanted if one.table in parents]
    cells: dict[str, list[Sql]] = {tables.person: []}
    places: dict[str, list[int]] = {tables.person: []}
    listed = []
    for one in wanted:
        ((link, above),) = one.layout.links.items()
        number = numbers[one.table]
        names = [Sql(f"cell{number}_{i}") for i, _ in enumerate(told.get(one.table, []), 1)]
        own = list(zip(told.get(one.table, []), names, strict=True)) if shared else []
        cells[one.table] = [*cells[above], *(name for _, name in own)]
        places[one.table] = [*places[above], *([number] if number in shared else [])]
        listed.append(
            {
                "number": number,
                "table": one.table,
                "data": where(one),
                "key": one.layout.key,
                "link": link,
                "above": numbers.get(above),
                "shown": shown.get(one.table, []),
                "told": told.get(one.table, []),
                "own_cells": own,
                "above_cells": cells[above],
                "places": places[one.table],
            }
        )
    return {
        "persons": where(tables.persons),
        "published": [where(one) for one in wanted],
        "key": tables.persons.layout.key,
        "group": tables.persons.layout.class_id,
        "label": tables.persons.layout.class_id,
        "tables": listed,
        "joined": shared,
    }


def _leading(tables: Tables, asked: dict[str, Any]) -> Sequence[ReleasedTable]:
    """The tables that are read and those that link them to the persons, in order."""
    needed: set[str] = set()
    for name in asked:
        while name != tables.person:
            needed.add(name)
            (name,) = tables.table(name).layout.links.values()
    return [one for one in tables.children if one.table in needed]
