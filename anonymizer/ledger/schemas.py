"""Releases of several tables in a ledger: their guarantees against observers who know rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from anonymizer.compile import ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem
from anonymizer.ledger.further import Further
from anonymizer.ledger.tables import SCHEMAS
from anonymizer.policy.schema.paths import table_path

NEW = 0
"""The number of the new release."""

OTHER_TABLES = (
    "keep the name of the table in the policy (publish.names gives its view another one); or, if"
    " the earlier release reached nobody, `anonymizer ledger forget`"
)
NO_KEY = (
    "give the table a key in every release, or the event columns of the earlier one; if that"
    " reached nobody, `anonymizer ledger forget`"
)


@dataclass(frozen=True, slots=True)
class Schema:
    """The guarantees of a release of several tables, and how its rows are recognized."""

    k: int
    events: int
    """Number of known rows of a person for which k candidates are guaranteed."""
    rows: bool
    """Whether k candidates are guaranteed against known numbers of rows."""
    tables: Mapping[str, tuple[str | None, str]]
    """The kind of the key and the event columns, by table name; empty columns: no events."""

    @classmethod
    def of(cls, k: int, events: int, tables: Iterable[Further], *, rows: bool) -> Schema:
        return cls(k, events, rows, {one.name: (one.key, one.columns) for one in tables})

    @property
    def known(self) -> frozenset[str]:
        """Tables of which an observer may know rows."""
        return frozenset(name for name, (_, columns) in self.tables.items() if columns)

    def sql(self, release: int) -> str:
        """The statement that inserts it into the ledger."""
        keys, columns = zip(*self.tables.values(), strict=True) if self.tables else ((), ())
        lists = (
            f"cast([{', '.join(lit(v).text for v in values)}] as varchar[])"
            for values in (self.tables, keys, columns)
        )
        figures = f"{lit(release)}, {lit(self.k)}, {lit(self.events)}, {lit(self.rows)}"
        return f"insert into {ident(SCHEMAS)} values ({figures}, {', '.join(lists)})"


def schemas(engine: DuckDBEngine) -> dict[int, Schema]:
    """The schemas of the attached ledger, by release number."""
    rows = engine.raw(
        f"select release, k, events, rows, tables, keys, columns from {ident(SCHEMAS)}", "ledger"
    )
    return {
        release: Schema(
            k, events, counted, dict(zip(tables, zip(keys, columns, strict=True), strict=True))
        )
        for release, k, events, counted, tables, keys, columns in rows
    }


def found_by_key(known: Mapping[int, Schema]) -> frozenset[str]:
    """Tables whose rows are recognized by keys: those with keys of one kind in all releases."""
    names = {name for schema in known.values() for name in schema.known}
    return frozenset(
        name
        for name in names
        if len({s.tables[name][0] for s in known.values() if name in s.known}) == 1
        and None not in {s.tables[name][0] for s in known.values() if name in s.known}
    )


def not_found_again(known: Mapping[int, Schema]) -> Iterator[Problem]:
    """Problems of tables whose rows cannot be compared; `NEW` is one of the releases."""
    by_key = found_by_key(known)
    for name in sorted({name for schema in known.values() for name in schema.known} - by_key):
        if len({s.tables[name][1] for s in known.values() if name in s.known}) > 1:
            said = (
                "has other event columns than in an earlier release and not the same key in both:"
                " its rows cannot be found again, so what the two tell together cannot be counted"
            )
            yield Problem(table_path(name, "key"), said, hint=NO_KEY)
    new = known.get(NEW)
    for schema in known.values():
        if new is not None and new.known - schema.known and schema.known - new.known:
            others = ", ".join(sorted(schema.known - new.known))
            for name in sorted(new.known - schema.known):
                said = (
                    f"is not in an earlier release, which has {others} instead: whether rows are"
                    " the same is not known"
                )
                yield Problem(table_path(name), said, hint=OTHER_TABLES)
