"""Detects contact data and identity numbers in text that is published unchanged.

A column of role `keep` or `sensitive` leaves the database as it is. Mail addresses, telephone
numbers and US social security numbers in it are counted in one statement over the snapshot; only
counts come out, and none of them is part of a release.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from anonymizer.compile import Sql, Table, ident
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Note, Step

PREFIX = "raw_text."
DETECTORS = {
    "mail addresses": r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+([.][A-Za-z0-9-]+)*[.][A-Za-z]{2,}",
    "telephone numbers": (
        r"(^|[^0-9A-Za-z])[+][0-9][0-9 ().-]{6,}[0-9]"
        r"|(^|[^0-9.-])[(]?[0-9]{3}[)]?[ .-] ?[0-9]{3}[ .-][0-9]{4}([^0-9]|$)"
    ),
    "social security numbers": r"(^|[^0-9-])[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}([^0-9-]|$)",
}
"""Patterns in the words that all engines know: no word boundaries, no look-around."""


def raw_text_notes(roles: Roles, snapshot: Table = SNAPSHOT) -> tuple[Note, ...]:
    """The statement that counts, if there is published text."""
    columns = [
        (
            cell,
            [
                (pattern, ident(f"{PREFIX}{number}.{column}"))
                for number, pattern in enumerate(DETECTORS.values())
            ],
        )
        for column, cell in _texts(roles)
    ]
    if not columns:
        return ()
    context = {"snapshot": snapshot, "columns": columns}
    return (Note(Step("published text", "prepare/raw_text.sql.j2", context)),)


def _texts(roles: Roles) -> Iterator[tuple[str, Sql]]:
    for column, cell, sql_type in (
        *((k.column, k.k, k.sql_type) for k in roles.kept),
        *((s.column, s.s, s.sql_type) for s in roles.sensitive),
    ):
        if sql_type == "VARCHAR" or sql_type.startswith("ENUM"):
            yield column, cell


def raw_text(notes: MutableMapping[str, Any]) -> Iterator[str]:
    """A warning for every column with findings; the counts are taken out of `notes`."""
    found: dict[str, list[str]] = {}
    kinds = list(DETECTORS)
    for name in [name for name in notes if name.startswith(PREFIX)]:
        number, column = name.removeprefix(PREFIX).split(".", 1)
        count = int(notes.pop(name))
        if count:
            found.setdefault(column, []).append(f"{count:,} values with {kinds[int(number)]}")
    for column, listed in found.items():
        yield (
            f"columns.{column}: holds what looks like {', '.join(listed)}, and is published as it"
            " is: role drop, or take them out in source.query"
        )
