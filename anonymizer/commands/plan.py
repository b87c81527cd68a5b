"""`anonymizer plan`: what a run would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output
from anonymizer.commands.steps import step_lines
from anonymizer.process.text import figure, many, table

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.policy import AnyPolicy, Policy
    from anonymizer.review.forecast import Forecast
    from anonymizer.review.preview import Preview
    from anonymizer.review.tables.preview import PlannedTable


@click.command()
@options.policy_argument
@options.database_option(
    "Database of the source: a file or postgresql://...; not needed for file sources."
)
@options.engine_option
@options.preset_option
@click.option(
    "--forecast/--no-forecast",
    "foresee",
    default=True,
    help="Try samples to estimate time, memory and loss of a run.  [default: forecast]",
)
@options.limit_options
@options.output_options
def command(
    output: Output,
    policy: str,
    database: str | None,
    engine: str | None,
    preset: str | None,
    foresee: bool,
    limits: Limits,
) -> None:
    """Show what a run of POLICY would do: its steps, the source as it is, and what cannot work.

    The source is read; nothing is written. Exit code 2 if something cannot work.
    """
    from anonymizer.commands.failures import CANNOT
    from anonymizer.review.preview import preview

    loaded = options.load_policy(policy, preset)
    found = preview(loaded, database, engine, foresee=foresee, limits=limits)
    for warning in found.warnings:
        output.warn(warning)
    output.judged(
        found.as_dict(),
        _lines(loaded, found),
        found.problems,
        holds=not found.problems,
        exit_code=CANNOT,
    )


def _masked_lines(policy: AnyPolicy) -> Iterator[str]:
    from anonymizer.policy.paths import column_path
    from anonymizer.policy.schema.derived import singles_of
    from anonymizer.release.masks import mask_words

    found = [
        (at + column_path(name).removeprefix("columns."), mask_words(single, name))
        for at, single in singles_of(policy).items()
        for name in single.masked
    ]
    if found:
        yield "masked columns"
    for name, words in found:
        yield f"  {name}: {words}"


def _lines(policy: AnyPolicy, found: Preview) -> Iterator[str]:
    from anonymizer.policy.kinds import ANONYMISED, kind_words
    from anonymizer.policy.schema.derived import lead_of

    for replaced in found.replaces:
        yield f"a run replaces: {replaced}"
    if found.tables:
        yield from _tree_lines(found.tables)
        yield ""
    if found.current is not None and not policy.algorithm.classless:
        yield from _source_lines(lead_of(policy), found.current)
        yield ""
    masked = list(_masked_lines(policy))
    yield from [*masked, ""] if masked else []
    if found.forecast is not None:
        yield _forecast_line(found.forecast)
        yield ""
    if found.steps:
        steps = f"{many(len(found.steps), 'step')} of {policy.algorithm.name}"
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


def _forecast_line(seen: Forecast) -> str:
    told = [_duration(seen.seconds), f"{seen.memory / 1e6:,.0f} MB of memory"]
    if seen.loss is not None:
        told.append(f"and to lose {figure(round(seen.loss, 4))} per cell (NCP)")
    return (
        f"a run is expected to take {', '.join(told)};"
        f" tried on {seen.sampled:,} rows, half or twice as much is possible"
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


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
