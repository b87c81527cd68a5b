"""`anonymizer approve`: record who accepts the residual risks of a policy."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output

if TYPE_CHECKING:
    from anonymizer.ledger.approvals import Approval


@click.command()
@options.policy_argument
@click.option("--by", metavar="NAME", required=True, help="Who accepts the residual risks.")
@click.option(
    "--until",
    type=click.DateTime(formats=["%Y-%m-%d"]),
    metavar="DATE",
    required=True,
    help="The last day of the approval (YYYY-MM-DD, in UTC).",
)
@click.option("--note", metavar="TEXT", default="", help="Why, or under which conditions.")
@options.approvals_option
@options.preset_option
@options.output_options
def command(
    output: Output,
    policy: str,
    by: str,
    until: datetime,
    note: str,
    approvals: str | None,
    preset: str | None,
) -> None:
    """Record that NAME accepts the residual risks of POLICY, beside a ledger and under its key.

    The risks are listed. `anonymizer run POLICY --require-approval` refuses a policy that nobody
    approved, that has changed in meaning since, or whose approval has ended. Approve with the same
    --preset as the run.
    """
    from anonymizer.review.approval import approve

    loaded = options.load_policy(policy, preset)
    made = approve(loaded, by=by, until=until.date(), note=note, ledger=approvals)
    output.done({"approval": made.shown()}, _lines(made))


def _lines(made: Approval) -> Iterator[str]:
    yield f"{made.by} accepts until {made.until} what {made.release} leaves open:"
    yield from (f"  - {risk}" for risk in made.risks)
