"""What the verifier and the measures need of the run's scratch: originals, link, suppression."""

from __future__ import annotations

from typing import Any

from anonymizer.algorithms.compiled import Compiled
from anonymizer.algorithms.labels import node_label
from anonymizer.algorithms.population import POPULATION
from anonymizer.algorithms.prepare import SNAPSHOT
from anonymizer.algorithms.roles import Roles
from anonymizer.compile import Table, ident, work
from anonymizer.engines.base import Engine
from anonymizer.execute import Executor
from anonymizer.measure import measure_release
from anonymizer.measure.groups import measure_groups
from anonymizer.pipeline import Prepared
from anonymizer.policy import Lgb, Policy
from anonymizer.population import population_of
from anonymizer.profile import Sensitive
from anonymizer.release.judge import Suppression
from anonymizer.release.layout import Layout, Requirement
from anonymizer.release.link import LINK, link_step
from anonymizer.verify import Verification
from anonymizer.verify.aids import Aids
from anonymizer.verify.originals import Originals
from anonymizer.verify.population import NEEDED, Members
from anonymizer.verify.source import verify_against_source

ORIGINALS = work("originals")
COMPARED = work("compared")
PAIRS = work("pairs")
AIDS = Aids(tuples=work("tuples"), counted=work("counted"), digests=True)


def suppression(
    policy: Policy, engine: Engine, view: Table, layout: Layout, counterfeits: int = 0
) -> Suppression:
    """How many rows (persons) of the snapshot the release has; counterfeits stand for none."""
    if policy.person is not None and layout.person_id is not None:
        counted, source, unit = ident(layout.person_id).text, "person", "persons"
        published = f"select count(distinct {counted}) from {ident(view)}"
        total = f"select count(distinct {source}) from {ident(SNAPSHOT)}"
    else:
        unit = "rows"
        published = f"select count(*) from {ident(view)}"
        total = f"select count(*) from {ident(SNAPSHOT)}"
    # two questions: on Spark, what asks the release alone is answered without it
    found = [int(engine.raw(text, "suppression")[0][0]) for text in (total, published)]
    return Suppression(unit, found[0], found[1] - counterfeits)


def counterfeits(engine: Engine, compiled: Compiled) -> int:
    """How many published rows stand for nobody."""
    if compiled.counterfeits is None:
        return 0
    return int(engine.raw(f"select count(*) from {ident(compiled.counterfeits)}", "release")[0][0])


def _rows_suppressed(engine: Engine, rows: int, view: Table, forged: int = 0) -> int:
    published = engine.raw(f"select count(*) from {ident(view)}", "suppression")[0][0]
    return rows - int(published) + forged


def originals(roles: Roles, *, forged: bool = False) -> Originals:
    """Where the values stand that the release is checked against: the snapshot, read once.

    With `forged` rows beside it, the values that were counted are not all of them.
    """
    values = {a.column: a.q.text for a in roles.quasi}
    values |= {s.column: s.s.text for s in roles.sensitive}
    values |= {k.column: k.k.text for k in roles.kept}
    return Originals(
        table=ORIGINALS,
        values=values,
        flags={a.column: a.f.text for a in roles.flagged},
        nodes={a.column: _nodes(a.index) for a in roles.quasi if a.height and not a.ordered},
        person="person",
        distinct={} if forged else {a.column: a.values for a in roles.quasi},
        nulls=frozenset(a.column for a in roles.quasi if a.nulls),
    )


def members_read(policy: Policy, roles: Roles, where: Originals | None = None) -> Members | str:
    """The population as it was read once; nodes stand where the originals say."""
    if population_of(policy) is None:
        return NEEDED
    return Members(
        POPULATION,
        {a.column: f"p{a.index}" for a in roles.quasi},
        (where or originals(roles)).nodes,
    )


def _nodes(index: int) -> Table:
    return work(f"published_nodes_{index}")


def stage_link(engine: Engine, compiled: Compiled, roles: Roles) -> None:
    """Make, in scratch only, the link and what its rows are compared with."""
    stage_originals(engine, compiled, roles)
    Executor(engine).run([link_step(compiled, ordered=False)])


def stage_originals(engine: Engine, compiled: Compiled, roles: Roles) -> None:
    """Make, in scratch only, what rows and cells of the link are compared with."""
    # to the checks a counterfeit is a row like any other: it has to be covered and kept as well
    forged = compiled.counterfeits
    more = f" union all by name from {ident(forged)}" if forged is not None else ""
    engine.raw(
        f"create or replace view {ident(ORIGINALS)} as"
        f" select rowid as row_ref, * from {ident(SNAPSHOT)}{more}",
        "verification",
    )
    typed = compiled.layout.cells == "typed"
    for a in roles.quasi:
        if a.height and not a.ordered:
            # typed cells show labels as they are written in texts; texts are read before comparing
            label = node_label("label", a) if typed else "label"
            below = "" if typed else f" where level < {a.height}"
            exact = (
                f"select value, label from {ident(a.domain)} where code > 0"
                f" union select value, '*' from {ident(a.values)}"
                if typed
                else f"select value, cast(value as varchar) from {ident(a.values)}"
            )
            root = f"case when level = {a.height} then '*' else {label} end"
            engine.raw(
                f"create or replace table {ident(_nodes(a.index))} as"
                f" select value, {root if typed else label} as label"
                f" from {ident(a.hierarchy)}{below} union {exact}",
                "verification",
            )


def against_source(
    policy: Policy, engine: Engine, prepared: Prepared, view: Table, layout: Layout
) -> Verification:
    """Verify the release against the snapshot, through the link.

    On DuckDB the link exists already: the rows of the release were copied from it.
    """
    embedded = engine.name == "duckdb"
    if embedded:
        stage_originals(engine, prepared.compiled, prepared.roles)
    else:
        stage_link(engine, prepared.compiled, prepared.roles)
    promoted = isinstance(policy.algorithm, Lgb) and policy.algorithm.small_patterns == "promote"
    return verify_against_source(
        engine.asking("verification"),
        originals(prepared.roles),
        LINK,
        view,
        layout,
        suppressed=_rows_suppressed(
            engine, prepared.rows, view, counterfeits(engine, prepared.compiled)
        ),
        promoted=promoted,
        compared=None if embedded else COMPARED,
        pairs=PAIRS if embedded else None,
        digests=embedded,
    )


def release_measures(
    requirements: tuple[Requirement, ...],
    engine: Engine,
    prepared: Prepared,
    view: Table,
    layout: Layout,
    found: Suppression,
) -> dict[str, Any]:
    """The measures of the release, with what the run suppressed."""
    suppressed = _rows_suppressed(
        engine, prepared.rows, view, counterfeits(engine, prepared.compiled)
    )

    def run_sql(text: str) -> list[tuple[Any, ...]]:
        return engine.raw(text, "measures")

    where = originals(prepared.roles, forged=prepared.compiled.counterfeits is not None)
    measures: dict[str, Any] = measure_release(
        run_sql, view, layout, where, link=LINK, suppressed=suppressed
    )
    if layout.group_id is not None:
        lost = found.suppressed if found.unit == "persons" else suppressed
        measures |= measure_groups(run_sql, view, layout, requirements, suppressed=lost)
    if prepared.compiled.counterfeits is not None:
        measures["counterfeits"] = counterfeits(engine, prepared.compiled)
    measures["suppressed_share"] = found.share
    if found.unit == "persons":
        measures["suppressed_persons"] = found.suppressed
    return measures


def published_paths(engine: Engine, column: Sensitive) -> dict[str, list[int]]:
    """Text of every published value of a sensitive column, with its ancestors' numbers."""
    rows = engine.raw(
        f"select cast(f.original as varchar), list(h.node order by h.level)"
        f" from {ident(column.reference)} f join {ident(column.hierarchy)} h"
        " on h.value = f.original group by 1",
        "verification",
    )
    return {str(value): list(nodes) for value, nodes in rows}
