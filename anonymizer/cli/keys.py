"""`anonymizer key`, `approve` and `ledger`: keys, approvals, earlier releases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import click

from anonymizer.cli import options
from anonymizer.cli.options import Group, output_options
from anonymizer.cli.output import Output
from anonymizer.process.text import many, table

if TYPE_CHECKING:
    from anonymizer.ledger.approvals import Approval


# `anonymizer key`: keys for signing releases.


@click.group(cls=Group, no_args_is_help=False)
def key_command() -> None:
    """Make keys for `run --sign` and `verify --public-key` (Ed25519, PEM), and for tokens."""


@key_command.command()
@click.argument("file", metavar="FILE")
@click.option("--secret", is_flag=True, help="A key_file for tokens and shifts, not for signing.")
@output_options
def new(output: Output, file: str, secret: bool) -> None:
    """Write a new private key to FILE, readable by its owner only, and FILE.pub, its public key."""
    from pathlib import Path

    from anonymizer.release.signing import new_key
    from anonymizer.source.masking.masks import new_secret

    if secret:
        new_secret(Path(file))
        hint = "who has it can make the token of any value; without it no token is made again"
        output.done({"secret": file}, [f"wrote {file}", hint])
        return
    public = new_key(Path(file))
    result = {"private": file, "public": str(public)}
    hint = "give the .pub file to recipients; keep the other one secret"
    output.done(result, [f"wrote {file} and {public.name}", hint])


# `anonymizer approve`: record who accepts the residual risks of a policy.


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
def approve_command(
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
    output.done({"approval": made.summary()}, _lines(made))


def _lines(made: Approval) -> Iterator[str]:
    yield f"{made.by} accepts until {made.until} what {made.release} leaves open:"
    yield from (f"  - {risk}" for risk in made.risks)


# `anonymizer ledger`: list the contents of a ledger, or remove a release from it.


@click.group(cls=Group, no_args_is_help=False)
def ledger_command() -> None:
    """List or remove releases in the private ledger that a policy names under `ledger:`, and list
    the approvals beside it.
    """


@ledger_command.command()
@click.argument("ledger", metavar="LEDGER")
@output_options
def show(output: Output, ledger: str) -> None:
    """List the releases in LEDGER. Shows nothing about any person."""
    from anonymizer.ledger.session import listed, spends

    found = [entry.as_dict() for entry in listed(ledger)]
    names = ["release", "run_id", "view", "created", "state", "persons", "counterfeits"]
    if spent := spends(ledger):
        names.append("epsilon")
        found = [{**entry, "epsilon": spent.get(entry["release"])} for entry in found]
    rows = [[str(entry[name] or 0) for name in names] for entry in found]
    output.result({"releases": found}, table(names, rows) if rows else ["no release"])


@ledger_command.command()
@click.argument("ledger", metavar="LEDGER")
@click.argument("run_id", metavar="RUN")
@output_options
def forget(output: Output, ledger: str, run_id: str) -> None:
    """Remove the release of RUN from LEDGER, as if it had never been published.

    Only safe if nobody outside has seen that release: later ones are no longer compared with it.
    """
    from anonymizer.ledger.session import forget_release

    entry = forget_release(ledger, run_id)
    output.done(
        {"forgotten": entry.as_dict()},
        [f"forgot run {entry.run_id} ({many(entry.persons, 'person')}): later runs do not see it"],
    )


@ledger_command.command()
@click.argument("ledger", metavar="LEDGER")
@click.argument("person", metavar="KEY...", nargs=-1, required=True)
@output_options
def who(output: Output, ledger: str, person: tuple[str, ...]) -> None:
    """List the releases in LEDGER that hold the person with KEY.

    KEY is the value of the column that policies name under `key:` or `person:`; where they name
    several columns, their values in that order.
    """
    from pathlib import Path

    from anonymizer.ledger.erasure import releases_of
    from anonymizer.ledger.session import listed

    found = [entry.as_dict() for entry in releases_of(ledger, *person)]
    names = ("release", "run_id", "view", "created")
    rows = [[str(entry[name]) for name in names] for entry in found]
    known = sorted({entry.person_column for entry in listed(Path(ledger)) if entry.person_column})
    nowhere = (
        f"in no release; KEY is the text of {' or '.join(known)}" if known else "in no release"
    )
    output.result({"releases": found}, table(names, rows) if rows else [nowhere])


@ledger_command.command()
@click.argument("ledger", metavar="LEDGER")
@click.argument("person", metavar="KEY...", nargs=-1, required=True)
@click.option(
    "--vault",
    "vaults",
    metavar="FILE",
    multiple=True,
    help="Also erase the tokens of KEY from this vault of a mask; may be repeated.",
)
@output_options
def erase(output: Output, ledger: str, person: tuple[str, ...], vaults: tuple[str, ...]) -> None:
    """Erase what LEDGER knows of the person with KEY: nobody can find them in it again.

    First take them out of the source, and run the policy again. Releases that are published cannot
    be recalled: they are listed.
    """
    from pathlib import Path

    from anonymizer.ledger.erasure import erase_person
    from anonymizer.run.vaults import erase_values

    found = erase_person(ledger, *person)
    tokens = sum(erase_values(Path(vault), person) for vault in vaults)
    said = many(len(found.releases), "release still holds", "releases still hold")
    output.done(
        {
            "erased": found.rows,
            "tokens": tokens,
            "releases": [entry.as_dict() for entry in found.releases],
        },
        [
            f"erased {many(found.rows, 'row')} of the ledger",
            *(
                [f"erased {many(tokens, 'token')} of {many(len(vaults), 'vault')}"]
                if vaults
                else []
            ),
            f"{said} them, and whoever has one keeps it:",
            *(
                f"  {entry.view} in {entry.target or 'memory'}, {entry.created}"
                for entry in found.releases
            ),
        ],
    )


@ledger_command.command()
@click.argument("ledger", metavar="LEDGER")
@output_options
def approvals(output: Output, ledger: str) -> None:
    """List the approvals that are kept beside LEDGER, oldest first."""
    from pathlib import Path

    from anonymizer.ledger.approvals import all_approvals

    found = [approval.summary() for approval in all_approvals(Path(ledger).resolve())]
    names = ("release", "by", "at", "until", "note")
    rows = [[str(approval[name]) for name in names] for approval in found]
    output.result({"approvals": found}, table(names, rows) if rows else ["no approval"])
