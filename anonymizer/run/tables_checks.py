"""Scratch tables and figures of a run over several tables, for the verifier and the measures."""

from __future__ import annotations

from typing import Any

from anonymizer.algorithms.schema.publishing import PublishedTable
from anonymizer.compile import ident
from anonymizer.contract.tables import Tables
from anonymizer.engines.base import Engine
from anonymizer.measure.release import column_losses
from anonymizer.policy import SchemaPolicy
from anonymizer.release.tables import tables_of
from anonymizer.run.original_values import originals
from anonymizer.run.source_checks import cell_statements, published_paths
from anonymizer.run.tables import TablesRead
from anonymizer.verification.tables import Where


def tables_read(policy: SchemaPolicy, read: TablesRead, engine: Engine) -> Tables:
    """The tables of the release that is made from what was read."""
    layouts = {one.child.name: one.layout for one in read.compiled.tables}
    layouts[policy.person] = read.compiled.persons.layout
    # the paths of values under a hierarchical distance, by table and column
    named = [(policy.person, read.persons.roles)]
    named += [(child.name, child.roles) for child in read.children]
    paths = {
        (name, s.column): published_paths(engine, s)
        for name, roles in named
        for s in roles.sensitive
        if s.height
    }
    return tables_of(policy, layouts, paths)


def stage_table_originals(engine: Engine, one: PublishedTable) -> None:
    """Create what the cells of a table are compared with, in scratch only."""
    child = one.child
    engine.raw(
        f"create or replace view {ident(child.originals)} as"
        f" select rowid as row_ref, * from {ident(child.kept)}",
        "verification",
    )
    for text in cell_statements(child.attributes, one.layout, child.linked, child.originals):
        engine.raw(text, "verification")


def tables_measures(
    engine: Engine, read: TablesRead, tables: Tables, where: Where, *, all_rows: bool = False
) -> dict[str, Any]:
    """Rows, suppressed rows and losses of every table except the persons'.

    `all_rows`: losses over all rows; a suppressed row costs 1.
    """
    run_sql = engine.asking("measures")
    found: dict[str, Any] = {}
    for one in read.compiled.tables:
        child, released = one.child, tables.named(one.child.name)
        rows = int(run_sql(f"select count(*) from {ident(where(released))}")[0][0])
        lost = child.owned - rows
        losses = column_losses(
            run_sql,
            where(released),
            one.layout,
            originals(child.roles, child.originals, person=None),
            suppressed=lost if all_rows else 0,
        )
        found[child.name] = {
            "rows": rows,
            "suppressed": lost,
            **({"orphans": child.orphans} if child.astray else {}),
            "ncp": {name: round(loss, 6) for name, loss in losses.items()},
        }
    return found
