"""`anonymizer plan`: what a run would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from anonymizer.commands.options import (
    database_option,
    engine_option,
    load_policy,
    output_options,
    policy_argument,
    preset_option,
)
from anonymizer.commands.output import Output, figure

if TYPE_CHECKING:
    from anonymizer.commands.preview import Preview
    from anonymizer.policy import Policy


@click.command()
@policy_argument
@database_option("Database of the source: a file or postgresql://...; not needed for file sources.")
@engine_option
@preset_option
@output_options
def command(
    output: Output, policy: str, database: str | None, engine: str | None, preset: str | None
) -> None:
    """Show what a run of POLICY would do: its steps, the source as it is, and what cannot work.

    The source is read; nothing is written. Exit code 2 if something cannot work.
    """
    from anonymizer.commands.failures import CANNOT, Unfulfilled
    from anonymizer.commands.preview import preview

    loaded = load_policy(policy, preset)
    found = preview(loaded, database, engine)
    for warning in found.warnings:
        output.warn(warning)
    if found.problems:
        if not output.json:
            output.result({}, _lines(loaded, found))
        raise Unfulfilled(found.problems, CANNOT, found.as_dict())
    output.result(found.as_dict(), _lines(loaded, found))


def _lines(policy: Policy, found: Preview) -> Iterator[str]:
    if found.current is not None:
        yield from _source_lines(policy, found.current)
        yield ""
    if found.steps:
        yield f"steps of {policy.algorithm.name}"
        for number, step in enumerate(found.steps, start=1):
            yield f"  {number:2}. {step['name']}: {step['purpose']}"
            for inner in step.get("steps", ()):
                yield f"        {inner['name']}: {inner['purpose']}"
        where = policy.publish.database or "the source's database"
        view = f"{policy.publish.schema_}.{policy.publish.name}"
        yield f"  then verify, and publish {view} in {where}"
    if found.problems:
        many = "problem" if len(found.problems) == 1 else "problems"
        yield f"{len(found.problems)} {many}: this cannot work as it is"


def _source_lines(policy: Policy, current: dict[str, Any]) -> Iterator[str]:
    unit = "persons" if policy.person is not None else "rows"
    yield (
        f"the source as it is: {figure(current['rows'])} rows in"
        f" {figure(current['classes'])} classes of equal quasi-identifiers"
    )
    yield f"  k = {figure(current['k'])} ({unit} in the smallest class)"
    alone = "alone" if policy.person is None else "of persons who are alone"
    yield f"  {figure(current['unique_rows'])} rows are {alone} in their class"
    for column, value in current["l"].items():
        yield f"  l = {figure(value)} different values of {column} in the poorest class"
