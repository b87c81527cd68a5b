"""Names of tables and columns: which are keys, and which column may hold keys of which table."""

from __future__ import annotations

from anonymizer.policy.words import words
from anonymizer.source import column_names

AROUND = {
    *("dim", "fact", "fct", "d", "f", "tbl", "table", "t", "stg", "src", "raw", "dwh"),
    *("master", "base", "data", "info", "list"),
}
"""Words in a table's name that do not describe its rows."""
LEADING = ("fk", "ref", "id", "key")
"""Words before the name that a column refers to: `fk_patient`, `id_patient`."""
OWN = (0, 1)
"""The `like_key` ranks of a key that is named after its table."""
SHORTEST = 3
"""Least number of letters that may abbreviate a table's name: `cust_id`."""


def singular(word: str) -> str:
    """The singular of a word: `patients` to patient, `diaries` to diary, `addresses` to address."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def of_one_row(table: str) -> list[str]:
    """Words for one row of a table: lab and result for `dim_lab_results`."""
    found = words(table)
    said = [word for word in found if word not in AROUND] or found
    return [*said[:-1], singular(said[-1])] if said else []


def generic(name: str) -> bool:
    """Whether a key's name says nothing about its table: `id`, `row_no`."""
    return name.isascii() and all(
        word in column_names.KEY or word in ("row", "record") for word in words(name)
    )


def like_key(column: str, table: str) -> int | None:
    """How well a column is named as the key of its table, 0 best; None if it is not."""
    row = "".join(of_one_row(table))
    joined = "".join(words(column))
    keyed = column_names.says(column, column_names.KEY) or joined.endswith("id")
    if keyed and (generic(column) or (row and joined.startswith(row))):
        return 0
    if row and joined == row:
        return 1
    if column_names.names_person(column):
        return 2
    return 3 if keyed else None


def fits(column: str, key: str, table: str) -> int | None:
    """How well a column's name matches the keys of a table, 0 best; None if it does not.

    In order: the key's own name; a row of the table; either after other words; a prefix of the
    table's name.
    """
    own, other = words(column), words(key)
    same = column.casefold() == key.casefold() or (own and "".join(own) == "".join(other))
    if same and not generic(key):
        return 0
    one = of_one_row(table)
    row = "".join(one)
    while len(own) > 1 and own[0] in LEADING:
        own = own[1:]
    if not own or not row:
        return None
    numbered = {row + word for word in column_names.KEY}
    if "".join(own) in (row, *numbered):
        return 1
    *beginning, last = own
    keyed = last in column_names.KEY
    if (keyed and beginning[-len(one) :] == one) or last in numbered:
        return 2
    if len(other) > 1 and own[-len(other) :] == other:
        return 2
    short = "".join(beginning)
    return 3 if keyed and len(short) >= SHORTEST and row.startswith(short) else None
