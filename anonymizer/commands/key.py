"""`anonymizer key`: keys for signing releases."""

from __future__ import annotations

import click

from anonymizer.commands.options import Group, output_options
from anonymizer.commands.output import Output


@click.group(cls=Group, no_args_is_help=False)
def command() -> None:
    """Make keys for `run --sign` and `verify --public-key` (Ed25519, PEM), and for tokens."""


@command.command()
@click.argument("file", metavar="FILE")
@output_options
def new(output: Output, file: str) -> None:
    """Write a new private key to FILE, readable by its owner only, and FILE.pub, its public key."""
    from pathlib import Path

    from anonymizer.release.signing import new_key

    public = new_key(Path(file))
    result = {"private": file, "public": str(public)}
    hint = "give the .pub file to recipients; keep the other one secret"
    output.done(result, [f"wrote {file} and {public.name}", hint])


@command.command()
@click.argument("file", metavar="FILE")
@output_options
def secret(output: Output, file: str) -> None:
    """Write a new secret to FILE, readable by its owner only: a key_file for tokens and shifts."""
    from pathlib import Path

    from anonymizer.source.masking.keys import new_secret

    new_secret(Path(file))
    hint = "who has it can make the token of any value; without it no token is made again"
    output.done({"secret": file}, [f"wrote {file}", hint])
