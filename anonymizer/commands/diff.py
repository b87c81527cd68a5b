"""`anonymizer diff`: the effect of a change of policy, before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output
from anonymizer.errors import Problem
from anonymizer.process.files import write_text

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@options.database_option("Database file of the source; not needed where the policies name a file.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="Text, Markdown for a comment on a pull request, or one JSON object.",
)
@click.option("-o", "--output", "target", metavar="FILE", help="Write Markdown there as well.")
@options.preset_option
@options.limit_options
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@click.option("--debug", is_flag=True, help="Show tracebacks; they may quote data values.")
def command(
    old: str,
    new: str,
    database: str | None,
    form: str,
    target: str | None,
    preset: str | None,
    limits: Limits,
    quiet: bool,
    debug: bool,
) -> None:
    """Run the policies OLD and NEW, publish nothing, and show what changes: roles, guarantees,
    suppression, loss per column, risk.

    Exit code 1 if NEW runs and a guarantee does not hold, 2 if it cannot run, or if a column of
    the source is classified by neither policy.
    """
    from anonymizer.commands.failures import CANNOT
    from anonymizer.review.diff import compare
    from anonymizer.review.diff.rendering import markdown_lines, text_lines, verdict

    output = Output("json" if form == "json" else "text", quiet=quiet, debug=debug)
    before, after = options.load_policy(old, preset), options.load_policy(new, preset)
    options.check_target(target, policies=[before, after])
    found = compare(before, after, database, limits=limits)
    if target is not None:
        write_text(target, "\n".join(markdown_lines(found)) + "\n")
    lines = markdown_lines(found) if form == "markdown" else text_lines(found)
    broken = Problem("NEW", verdict(found), hint="the column `reached` shows which one")
    output.judged(
        found.as_dict(),
        lines,
        found.problems or [broken],
        holds=found.new.holds and not found.problems,
        exit_code=CANNOT if found.problems else 1,
    )
