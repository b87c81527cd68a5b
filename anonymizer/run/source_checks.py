"""Scratch tables of a run for the verifier and the measures: originals, link, suppressed rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from anonymizer.algorithms.compiled import Compiled
from anonymizer.compile import Table, ident, work
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.contract.originals import Originals
from anonymizer.engines.base import Compared, Engine
from anonymizer.engines.execute import Executor
from anonymizer.measure import measure_release
from anonymizer.measure.groups import measure_groups
from anonymizer.measure.proofs import proved_records
from anonymizer.policy import Lgb, Policy
from anonymizer.privacy.of_policy.requirements import requirements_of, with_paths
from anonymizer.release.judge import Suppression
from anonymizer.run.link import LINK, link_step
from anonymizer.run.nodes import admitted_step, has_free_bounds, nodes_step
from anonymizer.run.original_values import ORIGINALS, admitted_of, nodes_of, originals
from anonymizer.run.prepare import Prepared
from anonymizer.source.profile import Attribute, Sensitive
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT, rows_read
from anonymizer.verification.against_source import verify_against_source
from anonymizer.verification.fast.release import WorkTables, fast_release
from anonymizer.verification.fast.source import fast_source
from anonymizer.verification.questions import Asking, ask_all

COMPARED = work("compared")
PAIRS = work("pairs")
JUDGED = WorkTables(tuples=work("tuples"), values=work("counted"))


def suppression(
    policy: Policy, engine: Engine, roles: Roles, view: Table, layout: Layout, counterfeits: int = 0
) -> Suppression:
    """How many rows (or persons) the source and the release have, without counterfeits."""
    unit, texts = suppression_counts(policy, roles, view, layout)
    # two queries: on Spark, one that reads only the release is answered without it
    found = [int(engine.raw(text, "suppression")[0][0]) for text in texts]
    return Suppression(unit, found[0], found[1] - counterfeits)


def suppression_counts(
    policy: Policy, roles: Roles, view: Table, layout: Layout
) -> tuple[str, tuple[str, str]]:
    """The unit that is counted, and queries that count it in the source and in the release."""
    everything = ident(rows_read(policy, roles))
    if policy.person is not None and layout.person_id is not None:
        counted = ident(layout.person_id).text
        return "persons", (
            f"select count(distinct person) from {everything}",
            f"select count(distinct {counted}) from {ident(view)}",
        )
    return "rows", (f"select count(*) from {everything}", f"select count(*) from {ident(view)}")


def counterfeits(engine: Engine, compiled: Compiled) -> int:
    """The number of counterfeits."""
    if compiled.counterfeits is None:
        return 0
    return int(engine.raw(f"select count(*) from {ident(compiled.counterfeits)}", "release")[0][0])


def _left_out(engine: Engine, compiled: Compiled, rows: int, view: Table) -> int:
    """Rows missing from the release; counterfeits do not count."""
    published = engine.raw(f"select count(*) from {ident(view)}", "suppression")[0][0]
    return rows - int(published) + counterfeits(engine, compiled)


def stage_link(engine: Engine, compiled: Compiled, roles: Roles) -> None:
    """Create the link and what its rows are compared with, in scratch only."""
    Executor(engine).run([link_step(compiled.assembly, ordered=False)])
    stage_originals(engine, compiled, roles)


def stage_originals(engine: Engine, compiled: Compiled, roles: Roles) -> None:
    """Create what the rows and cells of the link are compared with, in scratch only."""
    names = () if engine.embedded else engine.describe(ident(SNAPSHOT).text, "verification")
    for text in original_statements(compiled, roles, [name for name, _ in names]):
        engine.raw(text, "verification")


def original_statements(
    compiled: Compiled, roles: Roles, names: Sequence[str] = ()
) -> Iterator[str]:
    """The statements that create what the rows and cells of the link are compared with.

    `names`: columns of the snapshot, for an engine that unites tables by column position.
    """
    # the checks treat a counterfeit like any row: it has to be covered and kept as well
    forged = compiled.counterfeits
    more = f" union all by name from {ident(forged)}" if forged is not None else ""
    if forged is not None and names:
        has = {str(a.q) for a in roles.quasi} | {str(s.s) for s in roles.sensitive}
        listed = ", ".join(name if name in has else f"null as {name}" for name in names)
        more = f" union all select row_ref, {listed} from {ident(forged)}"
    yield (
        f"create or replace view {ident(ORIGINALS)} as"
        f" select rowid as row_ref, * from {ident(SNAPSHOT)}{more}"
    )
    yield from cell_statements(roles.quasi, compiled.layout, LINK, ORIGINALS)


def cell_statements(
    attributes: Iterable[Attribute], layout: Layout, link: Table, originals: Table
) -> Iterator[str]:
    """The statements that create the nodes and bounds that generalized cells are compared with."""
    columns = {c.column: c for c in layout.columns}
    for a in attributes:
        if a.height and not a.ordered:
            step = nodes_step(
                a,
                columns[a.column],
                nodes_of(a),
                typed=layout.cells == "typed",
                link=link,
                original=originals,
            )
            yield step.statement().text
        elif has_free_bounds(a):
            yield admitted_step(a, admitted_of(a)).statement().text


def judging(engine: Engine, view: Table, layout: Layout) -> Asking:
    """How a run answers the questions about its release."""
    return fast_release(view, layout, JUDGED) if engine.embedded else ask_all


def stage_for_judging(engine: Engine, prepared: Prepared, view: Table, layout: Layout) -> None:
    """Create what the release is compared with, before questions about its rows are asked.

    On DuckDB the link exists already: the rows of the release were copied from it.
    """
    if engine.embedded:
        stage_originals(engine, prepared.compiled, prepared.roles)
    else:
        stage_link(engine, prepared.compiled, prepared.roles)
        engine.compare(_compared(originals(prepared.roles), view, layout))


def against_source(
    policy: Policy, engine: Engine, prepared: Prepared, view: Table, layout: Layout
) -> Verification:
    """Verify the release against the snapshot, after `stage_for_judging`, through the link."""
    where = originals(prepared.roles, forged=prepared.compiled.counterfeits is not None)
    # (rows that `nulls: suppress` leaves out are not among the originals)
    rows = prepared.rows - prepared.profile.left_out
    suppressed = _left_out(engine, prepared.compiled, rows, view)
    fast = fast_source(where, LINK, view, layout, pairs=PAIRS, suppressed=suppressed)
    promoted = isinstance(policy.algorithm, Lgb) and policy.algorithm.small_patterns == "promote"
    return verify_against_source(
        engine.asking("verification"),
        where,
        LINK,
        view,
        layout,
        compared=COMPARED,
        suppressed=suppressed,
        promoted=promoted,
        ask=fast if engine.embedded else ask_all,
    )


def _compared(where: Originals, view: Table, layout: Layout) -> Compared:
    """The rows and columns that the release is compared by."""
    columns = {*where.values.values(), *where.flags.values()}
    if layout.person_id is not None and where.person is not None:
        columns.add(where.person)
    return Compared(view.name, LINK.name, where.table.name, sorted(columns), where.row_ref)


def release_measures(
    requirements: tuple[Requirement, ...],
    engine: Engine,
    prepared: Prepared,
    view: Table,
    layout: Layout,
    found: Suppression,
) -> dict[str, Any]:
    """The measures of the release, including the suppressed rows."""
    run_sql = engine.asking("measures")
    suppressed = _left_out(engine, prepared.compiled, prepared.rows, view)
    where = originals(prepared.roles, forged=prepared.compiled.counterfeits is not None)
    measures: dict[str, Any] = measure_release(
        run_sql, view, layout, where, link=LINK, suppressed=suppressed
    )
    measures |= proved_records(run_sql, view, layout, where, requirements)
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
    """The text of every published sensitive value, with the numbers of its ancestors."""
    rows = engine.raw(
        f"select cast(f.original as varchar), list(h.node order by h.level)"
        f" from {ident(column.reference)} f join {ident(column.hierarchy)} h"
        " on h.value = f.original group by 1",
        "verification",
    )
    return {str(value): list(nodes) for value, nodes in rows}


def policy_requirements(policy: Policy, engine: Engine, roles: Roles) -> tuple[Requirement, ...]:
    """The policy's guarantees; for a hierarchical distance with the paths of its values."""
    found = []
    sensitive = {s.column: s for s in roles.sensitive}
    for item in requirements_of(policy):
        if item.parameters.get("distance") == "hierarchical" and item.column in sensitive:
            item = with_paths(item, published_paths(engine, sensitive[item.column]))
        found.append(item)
    return tuple(found)
