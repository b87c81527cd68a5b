"""The tree of the tables of a policy, with the counts of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError, Problem
from anonymizer.policy import SchemaPolicy
from anonymizer.run.problem_paths import at_table
from anonymizer.run.tables import SourceTable, source_table
from anonymizer.source.roles import roles
from anonymizer.source.snapshot import key_text

# A preview of a run over several tables: their tree, with counts.


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """One table of the policy, as it is and as it would be published."""

    table: str
    depth: int
    """Number of links from it to the persons."""
    above: str | None
    """The table to which its link leads."""
    link: str | None
    key: str | None
    events: tuple[str, ...]
    view: str
    """Name of its published view, as `schema.name`."""
    rows: int | None = None
    """Number of rows; None if the table cannot be read."""
    orphans: int | None = None
    """Rows whose link leads to no row; None if they cannot be counted."""
    left_out: bool = False
    """Whether the policy suppresses such rows."""

    def as_dict(self) -> dict[str, object]:
        """The table as data for JSON."""
        found = asdict(self)
        del found["depth"]
        return found


def tree_of(policy: SchemaPolicy, session: Session) -> tuple[list[PlannedTable], list[Problem]]:
    """The tables, each after its parent, and the problems with their columns."""
    problems: list[Problem] = []
    read: dict[str, SourceTable] = {}
    found = []
    for number, name in enumerate((policy.person, *policy.children)):
        table = _described(policy, name)
        try:
            with at_table(name):
                one = read[name] = source_table(policy, name, session, number)
                roles(policy.apart[f"{name}."], one.profile)
        except AnonymizerError as error:
            problems += error.problems
        if name in read:
            table = _with_counts(policy, table, read, session)
        found.append(table)
    return list(_in_tree(found, policy.person)), problems


def _described(policy: SchemaPolicy, name: str) -> PlannedTable:
    table = policy.tables[name]
    link, above = table.link or (None, None)
    return PlannedTable(
        table=name,
        depth=len(policy.way(name)),
        above=above,
        link=link,
        key=table.key,
        events=table.events,
        view=f"{policy.publish.schema_}.{policy.view(name)}",
        left_out=table.orphans == "drop",
    )


def _with_counts(
    policy: SchemaPolicy, table: PlannedTable, read: dict[str, SourceTable], session: Session
) -> PlannedTable:
    own = read[table.table]
    rows = session.engine.raw(f"select count(*) from {own.relation.sql}", "counts of the source")
    table = replace(table, rows=int(rows[0][0]))
    above = read.get(table.above or "")
    key = policy.tables[table.above].key if table.above is not None else None
    if above is None or key is None or table.link is None:
        return table
    if not (_has(own, table.link) and _has(above, key)):
        return table
    there, here = key_text(key, above.profile), key_text(table.link, own.profile)
    found = session.engine.raw(
        f"select count(*) from (select {here} as link from {own.relation.sql}) as links"
        f" anti join (select distinct {there} as link from {above.relation.sql}) as keys"
        " on keys.link = links.link",
        "counts of the source",
    )
    return replace(table, orphans=int(found[0][0]))


def _has(read: SourceTable, column: str) -> bool:
    return column in {name for name, _ in read.profile.columns}


def _in_tree(tables: list[PlannedTable], above: str | None) -> Iterator[PlannedTable]:
    """A table, followed by its descendants."""
    for one in tables:
        if one.table == above:
            yield one
    for one in tables:
        if one.above == above:
            yield from _in_tree(tables, one.table)
