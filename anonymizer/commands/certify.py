"""`anonymizer certify`: a signed certificate of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output
from anonymizer.process.files import write_text

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits


@click.command()
@options.policy_argument
@options.release_option
@options.engine_option
@options.preset_option
@click.option(
    "--sign", metavar="KEYFILE", required=True, help="The private key to sign with (PEM)."
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    default="certificate.json",
    show_default=True,
    help="Where the certificate goes.",
)
@options.population_option
@options.limit_options
@options.output_options
def command(
    output: Output,
    policy: str,
    database: str | None,
    engine: str | None,
    preset: str | None,
    sign: str,
    target: str,
    population: str | None,
    limits: Limits,
) -> None:
    """Judge the release of POLICY again, and sign a certificate of it.

    The certificate is an in-toto statement in a DSSE envelope: the digest of the policy, the
    guarantees required and achieved, versions, and the digests of the published tables. `anonymizer
    verify --certificate FILE --public-key KEY` checks it against the release, offline.
    """
    from anonymizer.run.verify import certify

    loaded = options.load_policy(policy, preset)
    options.check_target(target, policies=[loaded])
    text = certify(loaded, database, sign=sign, engine=engine, population=population, limits=limits)
    write_text(target, text)
    output.done({"certificate": target}, [f"wrote {target}"])
