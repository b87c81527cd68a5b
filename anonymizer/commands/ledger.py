"""`anonymizer ledger`: list the contents of a ledger, or remove a release from it."""

from __future__ import annotations

import click

from anonymizer.commands.options import Group, output_options
from anonymizer.commands.output import Output
from anonymizer.process.text import many, table


@click.group(cls=Group, no_args_is_help=False)
def command() -> None:
    """List or remove releases in the private ledger that a policy names under `ledger:`, and list
    the approvals beside it.
    """


@command.command()
@click.argument("ledger", metavar="LEDGER")
@output_options
def show(output: Output, ledger: str) -> None:
    """List the releases in LEDGER. Shows nothing about any person."""
    from anonymizer.ledger.manage import listed

    found = [entry.as_dict() for entry in listed(ledger)]
    names = ("release", "run_id", "view", "created", "state", "persons", "counterfeits")
    rows = [[str(entry[name]) for name in names] for entry in found]
    output.result({"releases": found}, table(names, rows) if rows else ["no release"])


@command.command()
@click.argument("ledger", metavar="LEDGER")
@click.argument("run_id", metavar="RUN")
@output_options
def forget(output: Output, ledger: str, run_id: str) -> None:
    """Remove the release of RUN from LEDGER, as if it had never been published.

    Only safe if nobody outside has seen that release: later ones are no longer compared with it.
    """
    from anonymizer.ledger.manage import forget_release

    entry = forget_release(ledger, run_id)
    output.done(
        {"forgotten": entry.as_dict()},
        [f"forgot run {entry.run_id} ({many(entry.persons, 'person')}): later runs do not see it"],
    )


@command.command()
@click.argument("ledger", metavar="LEDGER")
@output_options
def approvals(output: Output, ledger: str) -> None:
    """List the approvals that are kept beside LEDGER, oldest first."""
    from pathlib import Path

    from anonymizer.ledger.approvals import known

    found = [approval.shown() for approval in known(Path(ledger).resolve())]
    names = ("release", "by", "at", "until", "note")
    rows = [[str(approval[name]) for name in names] for approval in found]
    output.result({"approvals": found}, table(names, rows) if rows else ["no approval"])
