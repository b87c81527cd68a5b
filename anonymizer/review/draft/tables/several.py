"""Links of several columns, which no policy can have, and the way to make one column of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anonymizer.compile import quote
from anonymizer.review.draft.tables.found import Found
from anonymizer.review.draft.writing import PLAIN


@dataclass(frozen=True, slots=True)
class Several:
    """A link that the database declares."""

    table: str
    columns: tuple[str, ...]
    to: str
    keys: tuple[str, ...]

    @property
    def told(self) -> str:
        """What it is."""
        return (
            f"({', '.join(self.columns)}) is declared as a key of {self.to}"
            f" ({', '.join(self.keys)}), and a policy links by one column"
        )

    @property
    def cure(self) -> str:
        """How it becomes a link."""
        made = " and ".join(dict.fromkeys(map(_joined, (self.columns, self.keys))))
        return (
            f"make one column of them in source.query of both tables, {made}, with the role key,"
            " and link by it"
        )


def links_of_several(tables: Mapping[str, Found]) -> tuple[Several, ...]:
    """The declared links of several columns between these tables."""
    by_place = {(one.table.schema, one.table.name): one.name for one in tables.values()}
    return tuple(
        Several(one.name, columns, by_place[one.table.schema, other], keys)
        for one in tables.values()
        for columns, other, keys in one.declared.several
        if (one.table.schema, other) in by_place
    )


def _joined(columns: Sequence[str]) -> str:
    return " || '-' || ".join(name if PLAIN.match(name) else quote(name) for name in columns)
