"""`anonymizer verify`: verify a release again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output

if TYPE_CHECKING:
    from anonymizer.contract.checks import Verification
    from anonymizer.policy import AnyPolicy

ORIGIN = (
    "by whom this release was made is unknown: it is what its manifest says, and anybody could have"
    " written both. POLICY or --public-key tells more."
)
OTHERS = "Name their own policies, or no POLICY: then every release of --database is judged."


@click.command()
@click.argument("policy", metavar="[POLICY]", required=False)
@options.release_option
@options.engine_option
@options.preset_option
@options.population_option
@click.option("--plain", is_flag=True, help="Judge by the plain checks alone, without shortcuts.")
@click.option(
    "--public-key",
    metavar="FILE",
    help="Require a signature by this key (PEM), of the release or of --certificate.",
)
@click.option(
    "--certificate",
    metavar="FILE",
    help="Require this certificate, signed by --public-key, to be of the release.",
)
@click.option(
    "--independent", is_flag=True, help="Judge with a second verifier as well, in plain Python."
)
@options.output_options
def command(
    output: Output,
    policy: str | None,
    database: str | None,
    engine: str | None,
    preset: str | None,
    population: str | None,
    plain: bool,
    public_key: str | None,
    certificate: str | None,
    independent: bool,
) -> None:
    """Judge a release from its own rows, at any time.

    The release must be unchanged since its manifest was sealed. With POLICY, the guarantees of the
    policy are judged; without it, those that the manifests in the database state, whoever wrote
    them. Exit code 1 if the release was changed, a guarantee does not hold, or the release does not
    match POLICY; 2 if there is nothing to judge.
    """
    from anonymizer.commands.failures import UsageError
    from anonymizer.commands.independent import is_export, judge_independently, state_of
    from anonymizer.commands.progress import failed_checks
    from anonymizer.run.verify import verify

    if policy is None and database is None:
        raise UsageError.at("POLICY", "is missing", hint="or name a release: --database FILE")
    loaded = options.load_policy(policy, preset) if policy is not None else None
    if population is not None and loaded is None and not independent:
        raise UsageError.at("--population", "needs the POLICY that asks for it")
    alone = independent and loaded is None and public_key is None and certificate is None
    state = state_of(loaded, database) if independent else None
    if alone and is_export(database):
        output.warn(ORIGIN)
        judge_independently(output, None, database, population, origin="unknown", state=state)
        return
    found = verify(
        loaded,
        database,
        engine=engine,
        population=population,
        public_key=public_key,
        certificate=certificate,
        plain=plain,
    )
    if found.origin == "unknown":
        output.warn(ORIGIN)
    if found.others:
        output.warn(f"not judged, in the same file: {', '.join(found.others)}. {OTHERS}")
    if independent and found.passed:
        origin = found.origin or "unknown"
        judge_independently(
            output,
            loaded,
            database,
            population,
            origin=origin,
            state=state,
            unverified=found.unverified,
        )
    else:
        problems = failed_checks(found, loaded)
        named = {
            "database": options.shown(database) or _named_in(loaded),
            "policy": policy,
            "certificate": certificate,
        }
        output.judged(named | _found(found), _lines(found), problems, holds=found.passed)


def _found(found: Verification) -> dict[str, Any]:
    """What was found, for `--format json`."""
    return {
        "passed": found.passed,
        "origin": found.origin,
        "kinds": dict(found.kinds),
        "others": list(found.others),
        "verification": found.as_dict(),
    }


def _named_in(policy: AnyPolicy | None) -> str | None:
    """The database of the release that a policy names, as `run` reports it."""
    from anonymizer.policy.schema.derived import lead_of

    lead = lead_of(policy) if policy is not None else None
    if lead is None or lead.publish.database is None:
        return None
    return str(lead.resolve(lead.publish.database).resolve())


def _lines(found: Verification) -> Iterator[str]:
    """The kind of every release, and the checks."""
    from anonymizer.commands.progress import check_lines
    from anonymizer.policy.kinds import WORDS

    said = {str(kind): words for kind, words in WORDS.items()}
    for view, kind in found.kinds.items():
        yield f"{view} is {said[kind]}"
    yield from check_lines(found)
