"""What the verifier and the measures need of the run's scratch: originals, link, suppression."""

from __future__ import annotations

from typing import Any

from anonymizer.algorithms.compiled import Compiled
from anonymizer.algorithms.labels import value_label
from anonymizer.algorithms.prepare import SNAPSHOT
from anonymizer.algorithms.roles import Roles
from anonymizer.compile import Sql, Table, ident, work
from anonymizer.engines.duckdb import DuckDBEngine
from anonymizer.execute import Executor
from anonymizer.measure import measure_release
from anonymizer.pipeline import Prepared
from anonymizer.policy import Lgb, Policy
from anonymizer.profile import Sensitive
from anonymizer.release.judge import Suppression
from anonymizer.release.layout import Layout
from anonymizer.verify import Verification
from anonymizer.verify.source import Originals, verify_against_source

ORIGINALS = work("originals")
LINK = work("link")


def suppression(policy: Policy, engine: DuckDBEngine, view: Table, layout: Layout) -> Suppression:
    """How many rows (persons) of the snapshot the release has."""
    if policy.person is not None and layout.person_id is not None:
        counted, source, unit = ident(layout.person_id).text, "person", "persons"
        published = f"select count(distinct {counted}) from {ident(view)}"
        total = f"select count(distinct {source}) from {ident(SNAPSHOT)}"
    else:
        unit = "rows"
        published = f"select count(*) from {ident(view)}"
        total = f"select count(*) from {ident(SNAPSHOT)}"
    row = engine.raw(f"select ({total}), ({published})", "suppression")[0]
    return Suppression(unit, int(row[0]), int(row[1]))


def _rows_suppressed(engine: DuckDBEngine, view: Table) -> int:
    row = engine.raw(
        f"select (select count(*) from {ident(SNAPSHOT)}) - (select count(*) from {ident(view)})",
        "suppression",
    )[0]
    return int(row[0])


def originals(roles: Roles) -> Originals:
    """Where the values stand that the release is checked against: the snapshot, read once."""
    values = {a.column: a.q.text for a in roles.quasi}
    values |= {s.column: s.s.text for s in roles.sensitive}
    values |= {k.column: k.k.text for k in roles.kept}
    return Originals(
        table=ORIGINALS,
        values=values,
        flags={a.column: a.f.text for a in roles.flagged},
        nodes={a.column: _nodes(a.index) for a in roles.quasi if a.height and not a.ordered},
        person="person",
    )


def _nodes(index: int) -> Table:
    return work(f"published_nodes_{index}")


def stage_link(engine: DuckDBEngine, compiled: Compiled, roles: Roles) -> None:
    """Make, in scratch only, the staged rows with the reference of the row they stand for."""
    engine.raw(
        f"create or replace view {ident(ORIGINALS)} as"
        f" select rowid as row_ref, * from {ident(SNAPSHOT)}",
        "verification",
    )
    for a in roles.quasi:
        if a.height and not a.ordered:
            label = value_label("label")
            engine.raw(
                f"create or replace table {ident(_nodes(a.index))} as"
                f" select value, case when level = {a.height} then '*' else {label} end as label"
                f" from {ident(a.hierarchy)} union"
                f" select value, label from {ident(a.domain)} where code > 0 union"
                f" select value, '*' from {ident(a.values)}",
                "verification",
            )
    Executor(engine).run([compiled.assembly.step(LINK, extra=[("row_ref", Sql("r.row_ref"))])])


def against_source(
    policy: Policy, engine: DuckDBEngine, prepared: Prepared, view: Table
) -> Verification:
    """Verify the release against the snapshot, through the link."""
    stage_link(engine, prepared.compiled, prepared.roles)
    promoted = isinstance(policy.algorithm, Lgb) and policy.algorithm.small_patterns == "promote"
    return verify_against_source(
        lambda text: engine.raw(text, "verification"),
        originals(prepared.roles),
        LINK,
        view,
        prepared.compiled.layout,
        suppressed=_rows_suppressed(engine, view),
        promoted=promoted,
    )


def release_measures(
    policy: Policy, engine: DuckDBEngine, prepared: Prepared, view: Table, found: Suppression
) -> dict[str, Any]:
    """The measures of the release, with what the run suppressed."""
    del policy
    measures: dict[str, Any] = measure_release(
        lambda text: engine.raw(text, "measures"),
        view,
        prepared.compiled.layout,
        originals(prepared.roles),
        link=LINK,
        suppressed=_rows_suppressed(engine, view),
    )
    measures["suppressed_share"] = found.share
    if found.unit == "persons":
        measures["suppressed_persons"] = found.suppressed
    return measures


def published_paths(engine: DuckDBEngine, column: Sensitive) -> dict[str, list[int]]:
    """Text of every published value of a sensitive column, with its ancestors' numbers."""
    rows = engine.raw(
        f"select cast(f.original as varchar), list(h.node order by h.level)"
        f" from {ident(column.reference)} f join {ident(column.hierarchy)} h"
        " on h.value = f.original group by 1",
        "verification",
    )
    return {str(value): list(nodes) for value, nodes in rows}
