"""Scratch tables in which the verifier compares a release with its source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from anonymizer.algorithms.core.cells import CELLS, Cell, present
from anonymizer.algorithms.core.compiled import Assembly, Compiled, RowWriter
from anonymizer.algorithms.core.encode import CODED, UNITS
from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.algorithms.core.population import POPULATION
from anonymizer.algorithms.schema.compiler import PublishedTable
from anonymizer.algorithms.schema.events import event_columns
from anonymizer.compile import Sql, Table, ident, work
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, MaskedColumn, Originals, PublishedColumn, Requirement
from anonymizer.contract.reading import ReleasedTable
from anonymizer.engines.base import ComparedTables, Engine
from anonymizer.engines.execute import Executor
from anonymizer.guarantees.requirements import requirements_of, with_paths
from anonymizer.hierarchy.scale import from_text, scale_of
from anonymizer.measure import measure_release
from anonymizer.measure.loss import measure_groups
from anonymizer.measure.proofs import proved_records
from anonymizer.policy import Lgb, Policy, SchemaPolicy
from anonymizer.policy.fields import ROW_REF
from anonymizer.policy.hierarchies import (
    Cardinality,
    Conventional,
    Date,
    Divisor,
    Frequency,
    Intervals,
    Order,
    Prefix,
    Suffix,
    Taxonomy,
)
from anonymizer.release.judge import Suppression
from anonymizer.release.opening import population_of
from anonymizer.run.prepare import Prepared
from anonymizer.source.masking.expressions import per
from anonymizer.source.masking.masks import Mask
from anonymizer.source.profile import Attribute, Sensitive, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT, rows_read
from anonymizer.steps import Step
from anonymizer.verification.fast import WorkTables, fast_release, fast_source
from anonymizer.verification.guarantees import NEEDED, TOGETHER, Members, numbered_labels
from anonymizer.verification.questions import Asking, FigureColumn, Question, ask_all
from anonymizer.verification.source_comparison import verify_against_source

# The values that the nodes of hierarchies admit, for the verifier and the measures.


def nodes_step(
    attribute: Attribute,
    column: PublishedColumn,
    nodes: Table,
    *,
    typed: bool,
    link: Table | None = None,
    original: Table | None = None,
    data: Table | None = None,
) -> Step:
    """The step that writes `nodes`: values of the published rows, with the labels that admit them.

    With `link` and `original`, only the values of published rows are used; otherwise all values of
    the source, and the release is `data`.
    """
    if not attribute.height:
        raise ValueError(f"the levels of {attribute.column}'s hierarchy have not been counted")
    spec = attribute.spec
    return Step(
        f"labels of {attribute.column}",
        "verify/nodes",
        {
            "values": attribute.values,
            "hierarchy": attribute.hierarchy,
            "nodes": nodes,
            "link": link,
            "original": original,
            "data": link if link is not None else data,
            "row_ref": "row_ref",
            "physical": attribute.q.text,
            "name": column.name,
            "height": attribute.height,
            "typed": typed,
            "codes": isinstance(spec, Prefix | Suffix),
            "suffix": isinstance(spec, Suffix),
            "listed": isinstance(spec, Taxonomy),
        },
    )


def listed_leaves(attribute: Attribute) -> Table:
    """The listed leaves (value, label) with every ancestor."""
    return work(f"listed_{attribute.index}")


FREE_BOUNDS = (Taxonomy, Date, Intervals, Conventional, Divisor, Cardinality)
"""Builders whose nodes have bounds beyond those of the values below them."""


def has_free_bounds(attribute: Attribute) -> bool:
    """Return whether a node may have a bound that no published row has."""
    return attribute.ordered and attribute.height > 0 and isinstance(attribute.spec, FREE_BOUNDS)


def admitted_step(attribute: Attribute, admitted: Table) -> Step:
    """The step that writes `admitted`: bounds that need not occur in a published row."""
    spec = attribute.spec
    return Step(
        f"bounds of {attribute.column}",
        "verify/admitted",
        {
            "hierarchy": attribute.hierarchy,
            "admitted": admitted,
            "listed": listed_leaves(attribute) if isinstance(spec, Taxonomy) else None,
            "typed": from_text(Sql("value"), attribute.sql_type),
            "type": Sql(attribute.sql_type),
            "given": _cuts(spec, attribute.sql_type) if isinstance(spec, Intervals) else None,
            "height": attribute.height,
            "built": isinstance(spec, Conventional | Divisor | Cardinality) and spec.domain is None,
            "period": isinstance(spec, Date),
        },
    )


def _cuts(spec: Intervals, sql_type: str) -> tuple[list[Sql], list[Sql]]:
    """The bounds given by cuts, top code and bottom code: low and high ones."""
    scale = scale_of(sql_type)
    assert scale is not None
    first, last = scale.ends()
    marks = [
        scale.literal(mark) for mark in (spec.bottom, *spec.cuts, spec.top) if mark is not None
    ]
    lows, highs = [*marks], [scale.before(mark) for mark in marks]
    if spec.bottom is not None:
        lows.append(first)
        highs.append(highs[0])
    if spec.top is not None:
        lows.append(marks[-1])
        highs.append(last)
    return lows, highs


# Names of the work tables with the source values that the verifier compares a release with.


ORIGINALS = work("originals")


def originals(
    roles: Roles, table: Table = ORIGINALS, *, person: str | None = "person", forged: bool = False
) -> Originals:
    """The source values to compare with, from the snapshot or that of one of several tables.

    With `forged` rows in the same table, the counted values are incomplete, and some values were
    not masked.
    """
    return Originals(
        table=table,
        values={column: name.text for column, name in roles.published},
        flags={a.column: a.f.text for a in roles.flagged},
        units={u.column: u.s.text for u in roles.units},
        nodes={a.column: nodes_of(a) for a in roles.quasi if a.height and not a.ordered},
        person=person,
        sets=frozenset(a.column for a in roles.quasi if isinstance(a.spec, Frequency | Order)),
        admitted={a.column: admitted_of(a) for a in roles.quasi if has_free_bounds(a)},
        leaves={
            a.column: listed_leaves(a)
            for a in roles.quasi
            if not a.ordered and a.height > 0 and isinstance(a.spec, Taxonomy)
        },
        distinct={} if forged else {a.column: a.values for a in roles.quasi},
        masked=tuple(masked_originals(roles.masks)),
        read=SNAPSHOT if forged else None,
    )


def masked_originals(masks: Iterable[Mask]) -> Iterator[MaskedColumn]:
    """The masked columns, each with its original values."""
    by_column: dict[str, list[Mask]] = {}
    for mask in masks:
        by_column.setdefault(mask.column, []).append(mask)
    for name, made in by_column.items():
        first = made[0]
        shifted = first.kind == "shift"
        alike = [first.kind, first.options.get("format")]
        alike += [first.options.get(option) for option in ("per", "key_file", "within", "keep")]
        yield MaskedColumn(
            name,
            published_type(first.sql_type),
            first.physical,
            first.original,
            tuple(mask.description for mask in made),
            per(first) if shifted else None,
            tuple((one.table, one.physical) for one in first.values),
            repr(alike),
        )


def members_read(policy: Policy, roles: Roles, where: Originals | None = None) -> Members | str:
    """The population as it was read; the nodes are where `where` says."""
    if population_of(policy) is None:
        return NEEDED
    return Members(
        POPULATION,
        {a.column: f"p{a.index}" for a in roles.quasi},
        (where or originals(roles)).nodes,
    )


def nodes_of(attribute: Attribute) -> Table:
    """The table of a column's published nodes."""
    return work(f"published_nodes_{attribute.index}")


def admitted_of(attribute: Attribute) -> Table:
    """The table of bounds that a column's cells may have."""
    return work(f"admitted_{attribute.index}")


# The link: the published rows, in order, each with a reference to its source row.
#
# It exists in scratch only. The rows of a release are copied from it, so that they are joined and
# sorted once. For a large table memory is the limit: work tables are emptied after their last use,
# and the link stores the texts of cells as numbers (values of an ENUM), which also halves the time
# of sorting and joining. The release has the texts.


LINK = work("link")
CLASSES = work("classes_of_tuples")

LARGE_FROM = 200_000
"""Rows from which a table is large: below, saving memory costs more time than it gains."""

NUMBERED_TO = 256
"""Distinct values of a column up to which its cells are numbered, whatever the number of rows."""

ROWS_PER_TEXT = 10
"""Least number of rows per numbered text: with fewer, texts hardly repeat."""


def release_writes(
    prepared: Prepared, rows: Table, place: Callable[[str], Table], *, numbered: bool = True
) -> tuple[Step, ...]:
    """The steps that write the link, and from it the release; `place` names further tables.

    `numbered`: the engine has enumeration types, by which the link of a large table is small.
    """
    compiled = prepared.compiled
    assembly = compiled.assembly
    further = tuple(one.step(place(one.table)) for one in compiled.separated)
    small = prepared.rows < LARGE_FROM or not numbered
    if not isinstance(assembly, Assembly) or small:
        return (link_step(assembly), _published(rows, assembly), *further)
    by_number = _numbered(prepared)
    keys = {"keys": assembly.keys, "units": UNITS, "members": MEMBERS, "classes": CLASSES}
    spent = (CLASSES, CELLS) if further else (CLASSES, CELLS, CODED)
    own = {a.column for a in by_number}
    written = [c.name for c in compiled.layout.columns if c.name and c.column in own]
    return (
        Step("classes of tuples", "link/classes", keys),
        # (the bound of the loss may still be reading them)
        _forget(UNITS, aside=True),
        _forget(MEMBERS, aside=True),
        *_numbers(by_number),
        link_step(replace(assembly, units=None, members=CLASSES)),
        *map(_forget, spent),
        _published(rows, assembly, written),
        *further,
    )


def link_step(assembly: RowWriter, *, ordered: bool = True) -> Step:
    """The step that writes the link; `ordered`: in the order of the release."""
    return assembly.step(LINK, [(ROW_REF, Sql("r.row_ref"))], ordered=ordered)


def _published(rows: Table, writer: RowWriter, written: Sequence[str] = ()) -> Step:
    """The step that copies the rows of the link; `written`: numbered columns, written as texts."""
    names = [name for name, _ in writer.columns]
    context = {"link": LINK, "release": rows, "columns": names, "written": written}
    return Step("publish the rows", "link/published", context)


def _forget(spent: Table, *, aside: bool = False) -> Step:
    return Step("release memory", "prepare/forget", {"spent": spent}, aside=aside)


def _numbers(numbered: Sequence[Attribute]) -> tuple[Step, ...]:
    """The steps that number the distinct cell texts of some columns."""
    if not numbered:
        return ()
    named = [(Cell(a).out, work(f"texts_{a.index}")) for a in numbered]
    return (
        *(
            Step(
                "texts of cells",
                "link/texts",
                {"cells": CELLS, "name": name, "texts": texts},
            )
            for name, texts in named
        ),
        Step("numbers for cells", "link/numbered_cells", {"cells": CELLS, "named": named}),
    )


def _numbered(prepared: Prepared) -> list[Attribute]:
    """The quasi-identifiers whose cell texts the link of a large table stores as numbers.

    A column of d values has at most d (d + 1) / 2 intervals.
    """
    if prepared.compiled.layout.cells != "text":
        return []
    texts = prepared.rows // ROWS_PER_TEXT
    return [
        a
        for a in prepared.roles.quasi
        if a.distinct <= NUMBERED_TO or a.distinct * (a.distinct + 1) // 2 <= texts
    ]


# Scratch tables of a run for the verifier and the measures: originals, link, suppressed rows.


COMPARED = work("compared")
PAIRS = work("pairs")
JUDGED = WorkTables(tuples=work("tuples"), values=work("counted"))


def suppression(
    policy: Policy, engine: Engine, roles: Roles, view: Table, layout: Layout, counterfeits: int = 0
) -> Suppression:
    """Count the rows (or persons) of the source and the release, without counterfeits."""
    unit, texts = suppression_counts(policy, roles, view, layout)
    # two queries on Spark: one that reads only the release is answered without it
    asked = [f"select {', '.join(f'({text})' for text in texts)}"] if engine.embedded else texts
    found = [int(n) for text in asked for n in engine.raw(text, "suppression")[0]]
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


def _left_out(
    engine: Engine, compiled: Compiled, rows: int, view: Table, found: Suppression
) -> int:
    """Rows missing from the release; counterfeits do not count."""
    if found.unit == "rows":
        return rows - found.published
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
    """The function with which a run answers the questions about its release."""
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
    policy: Policy,
    engine: Engine,
    prepared: Prepared,
    view: Table,
    layout: Layout,
    found: Suppression,
) -> Verification:
    """Verify the release against the snapshot, after `stage_for_judging`, through the link."""
    where = originals(prepared.roles, forged=prepared.compiled.counterfeits is not None)
    # (rows that `nulls: suppress` leaves out are not among the originals)
    rows = prepared.rows - prepared.profile.left_out
    suppressed = _left_out(engine, prepared.compiled, rows, view, found)
    fast = fast_source(where, LINK, view, layout, pairs=PAIRS, suppressed=suppressed)
    promoted = isinstance(policy.algorithm, Lgb) and policy.algorithm.small_patterns == "promote"
    return verify_against_source(
        engine.asking("verification"),
        where,
        LINK,
        view,
        layout,
        compared=COMPARED,
        requirements=requirements_of(policy),
        suppressed=suppressed,
        promoted=promoted,
        ask=fast if engine.embedded else ask_all,
    )


def _compared(where: Originals, view: Table, layout: Layout) -> ComparedTables:
    """The rows and columns that the release is compared by."""
    columns = {*where.values.values(), *where.flags.values(), *where.units.values()}
    if layout.person_id is not None and where.person is not None:
        columns.add(where.person)
    for one in where.masked:
        columns |= {str(name) for name in (one.masked, one.original, one.per) if name is not None}
        columns |= {str(name) for table, name in one.identifiers if table is None}
    return ComparedTables(view.name, LINK.name, where.table.name, sorted(columns), where.row_ref)


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
    suppressed = _left_out(engine, prepared.compiled, prepared.rows, view, found)
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


# Which published cells of event columns with a rule admit one and the same value.


def together(engine: Engine, policy: SchemaPolicy, one: PublishedTable) -> dict[str, list[Any]]:
    """By event column with a rule: the sets of published labels that admit one and the same value.

    Reads the work tables of the published rows.
    """
    found: dict[str, list[Any]] = {}
    names = {column.column: column.name for column in one.layout.columns}
    for a in event_columns(one.child):
        name = a.attribute.column
        if name not in policy.tables[one.child.name].ruled_events:
            continue
        context = {
            "link": one.child.linked,
            "present": present(a.attribute),
            "recoding": a.recoding,
            "shown": a.shown,
            "cell": ident(str(names[name])),
        }
        step = Step(f"cells of {name} that admit one value", "schema/together", context)
        rows = engine.raw(step.statement().text, "verification")
        found[name] = [list(labels) for (labels,) in rows]
    return found


def together_questions(one: PublishedTable, released: ReleasedTable) -> Iterator[Question]:
    """The questions whether the values of the source are in the sets that the release lists."""
    for item in released.requirements:
        if TOGETHER not in item.parameters:
            continue
        attribute = next(a for a in one.child.attributes if a.column == item.column)
        column = next(c for c in one.layout.columns if c.column == item.column)
        parameters = {
            "link": one.child.linked,
            "nodes": nodes_of(attribute),
            "together": numbered_labels(item.parameters[TOGETHER]),
            "cell": column.name,
            "typed": one.layout.cells == "typed",
            "label": "what",
        }
        name = f"{one.child.name}.{item.column}"
        found = (FigureColumn("n", "sum"),)
        yield Question("source_together", name, 0, "source_together", parameters, found)
