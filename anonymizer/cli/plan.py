"""`anonymizer plan`: what a run would do, and every node of its lattice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli import options
from anonymizer.cli.output import Output, step_lines
from anonymizer.process.text import figure, many, table

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.policy import AnyPolicy, Policy
    from anonymizer.republish.outlook import Outlook
    from anonymizer.review.lattice import LatticeTable
    from anonymizer.review.preview import Forecast, Preview
    from anonymizer.review.table_tree import PlannedTable


# `anonymizer plan`: what a run would do.


@click.command()
@options.policy_argument
@options.database_option(
    "Database of the source: a file or postgresql://...; not needed for file sources."
)
@options.source_option
@options.engine_option
@options.preset_option
@click.option(
    "--forecast/--no-forecast",
    "foresee",
    default=True,
    help="Try samples to estimate time, memory and loss of a run.  [default: forecast]",
)
@click.option("--lattice", is_flag=True, help="Judge every node of the generalization lattice.")
@click.option(
    "--measure",
    type=click.Choice(["ncp", "glm", "distortion", "dcp"]),
    help="Of the lattice's Pareto front and optimum; default: the policy's, else ncp.",
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    help="Write all nodes (.csv, .json), or draw k against cost (.png, .svg, .pdf).",
)
@options.limit_options
@options.output_options
def plan_command(
    output: Output,
    policy: str,
    database: str | None,
    source_file: str | None,
    engine: str | None,
    preset: str | None,
    foresee: bool,
    lattice: bool,
    measure: str | None,
    target: str | None,
    limits: Limits,
) -> None:
    """Show what a run of POLICY would do: its steps, the source as it is, and what cannot work.

    The source is read; nothing is written. Exit code 2 if something cannot work.

    With --lattice: judge every node of the generalization lattice of POLICY's hierarchies. Shows k
    against cost of the nodes on the Pareto front, and the node that full_domain would publish under
    the policy's guarantees and suppression limit.
    """
    from anonymizer.cli.failures import CANNOT, UsageError
    from anonymizer.cli.run import UNCHANGED, file_is_older
    from anonymizer.review.preview import preview

    loaded = options.load_policy(policy, preset, source_file)
    if lattice:
        _judge_lattice(output, loaded, database, measure, target, limits)
        return
    if measure is not None or target is not None:
        raise UsageError.at("--measure" if measure else "-o", "needs --lattice")
    found = preview(loaded, database, engine, foresee=foresee, limits=limits)
    for warning in found.warnings:
        output.warn(warning)
    if found.replaces and source_file is None and file_is_older(loaded):
        output.warn(UNCHANGED)
    output.verdict(
        found.as_dict(),
        _lines(loaded, found),
        found.problems,
        holds=not found.problems,
        exit_code=CANNOT,
    )


def _masked_lines(policy: AnyPolicy) -> Iterator[str]:
    from anonymizer.policy.paths import column_path
    from anonymizer.release.certificate import mask_words

    found = [
        (at + column_path(name).removeprefix("columns."), mask_words(single, name))
        for at, single in policy.singles.items()
        for name in single.masked
    ]
    if found:
        yield "masked columns"
    for name, words in found:
        yield f"  {name}: {words}"


def _lines(policy: AnyPolicy, found: Preview) -> Iterator[str]:
    from anonymizer.policy.kinds import ANONYMISED, kind_words

    for replaced in found.replaces:
        yield f"a run replaces: {replaced}"
    if found.tables:
        yield from _tree_lines(found.tables)
        yield ""
    if found.current is not None and not policy.algorithm.classless:
        yield from _source_lines(policy.lead, found.current)
        yield ""
    if found.series is not None:
        yield from _series_lines(found.series, policy.lead.suppression_limit)
        yield ""
    masked = list(_masked_lines(policy))
    yield from [*masked, ""] if masked else []
    if found.forecast is not None:
        yield _forecast_line(found.forecast, policy.person if policy.several else None)
        yield ""
    if found.steps:
        name = policy.counts.method if policy.counts is not None else policy.algorithm.name
        steps = f"{many(len(found.steps), 'step')} of {name}"
        yield steps if found.tables else f"{steps} (anonymizer compile has their SQL)"
        yield from step_lines(found.steps)
        where = policy.publish.database or "the source's database"
        views = [table.view for table in found.tables]
        views = views or [f"{policy.publish.schema_}.{policy.publish.name}"]
        personal = f"the {found.kind} release " if found.kind != ANONYMISED else ""
        yield f"  then verify, and publish {personal}{', '.join(views)} in {where}"
        yield f"  kind: {kind_words(found.kind)}"
    if found.problems:
        yield f"{many(len(found.problems), 'problem')}: this cannot work as it is"


def _tree_lines(tables: Sequence[PlannedTable]) -> Iterator[str]:
    """Every table after its parent."""
    person = tables[0].table
    yield f"{many(len(tables), 'table')}; a row of {person} is a person"
    yield from table(
        ("table", "link", "events", "rows", "of nobody", "published as"),
        [
            (
                "  " * one.depth + one.table,
                f"{one.link} -> {one.above}" if one.link is not None else "",
                ", ".join(one.events),
                one.rows,
                _orphans(one),
                one.view,
            )
            for one in tables
        ],
    )


def _orphans(one: PlannedTable) -> str:
    """Rows whose link leads to no row, and their treatment."""
    if not one.orphans:
        return "" if one.link is None else figure(one.orphans)
    return f"{one.orphans:,} ({'left out' if one.left_out else 'an error'})"


WAITS = {
    "wait": "republish.wait places them together",
    "too few": "they are too few for a class",
    "rule": "by themselves they break a rule of a column",
    "": "",
}
"""Why new ones wait."""


def _series_lines(seen: Outlook, limit: float) -> Iterator[str]:
    """What changes with the next release of a table that is followed; `limit`: the largest share
    that a release may leave out.
    """
    unit = "person" if seen.unit == "persons" else "row"
    yield f"beside the last of {many(seen.releases, 'release')}: {many(seen.last_release, unit)}"
    yield (
        f"  new: {many(seen.joiners, unit)}, of which {seen.joiners_now:,} would be published now"
        f" and {seen.joiners_later:,} wait"
    )
    if not seen.joiners and not seen.leavers:
        yield "  nobody has joined or left since: is it the source of the next release?"
    if seen.joiners_later:
        yield (
            f"    {WAITS[seen.reason]}: the next chance is in"
            f" {many(seen.next_chance, 'release')}; nobody has waited for more than"
            f" {many(seen.longest_wait, 'release')} so far"
        )
    yield (
        f"  withdrawn: {many(seen.leavers + seen.along, unit)} ({seen.withdrawal:.2%}):"
        f" {seen.leavers:,} have left, and {seen.along:,} with the same history go along"
    )
    others = [
        (seen.for_values, "left out because values of their classes have changed"),
        (seen.still_out, "still left out since an earlier release"),
        (seen.back, "back again"),
    ]
    yield from (f"  {many(number, unit)} {said}" for number, said in others if number)
    if seen.along:
        room = limit * (seen.last_release + seen.joiners) - seen.left_out
        more = many(max(int(room // seen.along), 0) + 1, "further release")
        yield (
            f"  left out in all: {many(seen.left_out, unit)}; at this rate {more} reach the"
            f" suppression_limit of {limit:g}, if none of them comes back"
        )
    if seen.frontier:
        yield "  leaving is frequent; if it goes on like this, a release withdraws"
        rows = [
            (one.choice, f"{one.withdrawal:.2%}", _added(one.of_thirty), one.note)
            for one in seen.frontier
        ]
        yield from table(("choice", "of its rows", "in the time of 30", ""), rows, "    ")
        yield "    (to let those who leave stay until a whole class does is not offered)"


def _added(share: float) -> str:
    """Shares of a table that follow each other, added up: rows may go and others may come."""
    return f"{share:.0%}" if share <= 1 else f"as many as {share:.1f} tables have"


def _forecast_line(seen: Forecast, persons: str | None) -> str:
    told = [
        f"{seen.seconds:.1f} s" if seen.seconds < 100 else f"{seen.seconds / 60:.0f} min",
        f"{seen.memory / 1e6:,.0f} MB of memory",
    ]
    if seen.loss is not None:
        parts = [figure(round(seen.loss, 4)) + (f" in {persons}" if persons else "")]
        parts += [f"{figure(round(loss, 4))} in {name}" for name, loss in seen.others.items()]
        told.append(f"and to lose {', '.join(parts)} per cell (NCP)")
    return (
        f"a run is expected to take {', '.join(told)};"
        f" tried on {seen.sampled:,} rows, half or twice as much is possible"
    )


def _source_lines(policy: Policy, current: dict[str, Any]) -> Iterator[str]:
    if not current["rows"]:
        yield "the source as it is: no rows"
        return
    unit = "persons" if policy.person is not None else "rows"
    classes = many(current["classes"], "class", "classes")
    yield (
        f"the source as it is: {many(current['rows'], 'row')} in"
        f" {classes} of equal quasi-identifiers"
    )
    alone = "alone" if policy.person is None else "of persons who are alone"
    yield (
        f"  k = {figure(current['k'])} ({unit} in the smallest class);"
        f" {many(current['unique_rows'], 'row is', 'rows are')} {alone} in their class"
    )
    if current["l"]:
        least = ", ".join(f"{figure(value)} of {column}" for column, value in current["l"].items())
        yield f"  l in the poorest class, in different values: {least}"


MOST_LINES = 40


def _judge_lattice(
    output: Output,
    policy: AnyPolicy,
    database: str | None,
    measure: str | None,
    target: str | None,
    limits: Limits,
) -> None:
    from anonymizer.cli.output import progress
    from anonymizer.review.lattice import FORMS, lattice_table

    options.check_target(target, suffixes=FORMS, policies=[policy])
    with progress(output) as listener:
        found = lattice_table(policy, database, measure=measure, limits=limits, listener=listener)
    if target is not None:
        found.write(Path(target))
    output.result(found.as_dict(), _lattice_lines(found, target))


def _lattice_lines(found: LatticeTable, target: str | None) -> Iterator[str]:
    front = found.front
    holding = sum(node["holds"] for node in found.nodes)
    yield f"{many(len(found.rows), 'node')}, {holding:,} of them hold the policy's guarantees"
    best = found.optimum
    if best is None:
        yield "no node holds: a run would fail"
    else:
        yield (
            f"optimum by {found.measure}: {_levels(best)}, {many(best['suppressed'], 'row')}"
            f" suppressed, {found.measure} {figure(best[f'published_{found.measure}'])}"
        )
    yield ""
    shown = front[:: max(len(front) // MOST_LINES, 1)]
    yield f"Pareto front, nothing suppressed: {many(len(front), 'node')}"
    head = ["k", "classes", "ncp", "distortion", "dcp", *found.columns]
    yield from table(head, (_row(node) for node in shown))
    if target is not None:
        yield f"wrote {target}"


def _levels(node: dict[str, Any]) -> str:
    return ", ".join(f"{column} {level}" for column, level in node["levels"].items())


def _row(node: dict[str, Any]) -> list[str]:
    figures = [figure(node[name]) for name in ("k", "classes", "ncp", "distortion", "dcp")]
    return [*figures, *(str(level) for level in node["levels"].values())]
