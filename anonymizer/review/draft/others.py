"""Columns that name another person, such as `manager_id`: their values are keys of the persons."""

from __future__ import annotations

from collections.abc import Iterable

from anonymizer.compile import ident, render
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.policy.words import words
from anonymizer.review.draft.guess import ANOTHER, Guess
from anonymizer.review.draft.profiles import A_HANDFUL, Profile
from anonymizer.source import column_names
from anonymizer.source.child import family
from anonymizer.source.persons import CATEGORY, countable
from anonymizer.source.relation import Relation

REFERRING = column_names.KEY | {"by", "to", "of"}
"""Last words of names of numbers that may refer to a row: `team_lead_no`, `approved_by`."""


def of_others(
    engine: DuckDBEngine,
    rows: Relation,
    columns: Iterable[Profile],
    persons: Relation,
    key: Profile,
    name: str,
) -> dict[str, Guess]:
    """The columns of `rows` that hold keys of `persons`, the table `name`, and nothing else."""
    likely = [p for p in columns if p.column != key.column and _may_refer(p, key)]
    if not likely:
        return {}
    pairs = [
        {
            "table": rows.sql,
            "column": ident(p.column),
            "to": persons.sql,
            "key": ident(key.column),
        }
        for p in likely
    ]
    context = {"tables": [rows.table, persons.table], "pairs": pairs}
    text = render("drafting/strangers.sql.j2", context).text
    return {
        p.column: Guess("identifier", f"all its values are keys of {name}; {ANOTHER}")
        for p, (_, strangers) in zip(likely, engine.raw(text, "columns"), strict=True)
        if not strangers
    }


def _may_refer(p: Profile, key: Profile) -> bool:
    """Whether it would be no chance if all values were keys: small numbers are keys of anything."""
    if not countable(p.sql_type) or family(p.sql_type) != family(key.sql_type):
        return False
    meant = column_names.QUASI | column_names.SENSITIVE | column_names.OTHERS
    if column_names.says(p.column, meant):
        return False
    if not p.number:
        return (p.different or 0) > CATEGORY
    return (p.different or 0) > A_HANDFUL and not REFERRING.isdisjoint(words(p.column)[-1:])
