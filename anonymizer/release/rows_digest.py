"""Digests of published rows, which detect changed, removed and added rows.

SHA-256 over blocks of rows. The encoding of a row is injective: every
cell as the number of its bytes, a colon and its text, a NULL as `-1:`. If rows have a stored
order, the seal covers it; otherwise the digests of the rows are sorted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.release.objects import Runs

STORED = "duckdb-stored-1"
"""SHA-256 of the blocks' SHA-256, 1024 rows a block, in the order in which DuckDB stores them."""
SORTED = "duckdb-sorted-1"
"""SHA-256 of the blocks' SHA-256; rows are sorted by their SHA-256, a block is its first three
digits."""
BLOCK = 1024


@dataclass(frozen=True, slots=True)
class RowsDigest:
    """What is sealed of a table's rows."""

    rows: int
    sha256: str
    definition: str
    """How the digest was made: engine, order, and version."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def stored_rows(runs: Runs, table: Table, columns: tuple[tuple[str, str], ...]) -> RowsDigest:
    """The digest of a DuckDB table's rows, in the order in which they are stored."""
    # uncommitted rows are numbered from another start
    block = f"(rowid - (select min(rowid) from {ident(table)})) // {BLOCK}"
    text = (
        f"select {block} as block, rowid as place, {row_text(columns)} as line from {ident(table)}"
    )
    found = runs.raw(
        "select cast(coalesce(sum(n), 0) as bigint),"
        " sha256(coalesce(string_agg(digest, '' order by block), '')) from ("
        " select block, count(*) as n,"
        " sha256(array_to_string(list(line order by place), '')) as digest"
        f" from ({text}) group by block)",
        "seal",
    )[0]
    return RowsDigest(int(found[0]), str(found[1]), STORED)


def sorted_rows(runs: Runs, relation: Table, columns: tuple[tuple[str, str], ...]) -> RowsDigest:
    """The digest of rows that have no order, of anything that DuckDB can select from."""
    found = runs.raw(
        "select cast(coalesce(sum(n), 0) as bigint),"
        " sha256(coalesce(string_agg(digest, '' order by block), '')) from ("
        " select substr(line, 1, 3) as block, count(*) as n,"
        " sha256(array_to_string(list(line order by line), '')) as digest"
        f" from (select sha256({row_text(columns)}) as line from {ident(relation)})"
        " group by block)",
        "seal",
    )[0]
    return RowsDigest(int(found[0]), str(found[1]), SORTED)


def row_text(columns: tuple[tuple[str, str], ...]) -> str:
    """SQL for the text of a row, from names and types of its columns."""
    cells = (_cell(ident(name).text, kind) for name, kind in columns)
    return f"concat({', '.join(cells)})"


def _cell(column: str, kind: str) -> str:
    if kind.endswith("[]"):
        # the text of a list does not show where its members end
        member = _cell("member", kind.removesuffix("[]"))
        column = (
            f"array_to_string(list_transform({column}, lambda member: concat({member})), '')"
            f" || len({column})"
        )
    elif kind == "TIMESTAMP WITH TIME ZONE":
        column = f"epoch_us({column})"  # its text depends on the session's zone
    text = f"cast({column} as varchar)"
    return f"coalesce(strlen({text}), -1), ':', {text}"
