"""`anonymizer verify`: verify a release again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from anonymizer.cli import options
from anonymizer.cli.options import without_password
from anonymizer.cli.output import Output
from anonymizer.errors import GuaranteeError, NothingToCheckError, Problem

if TYPE_CHECKING:
    from anonymizer.contract.checks import Origin, Verification
    from anonymizer.engines.base import Limits
    from anonymizer.policy import AnyPolicy, Policy

State: TypeAlias = tuple[int, ...] | None
"""Identifies a file and its version: changes if the file is replaced or modified."""


ORIGIN = (
    "by whom this release was made is unknown: it is what its manifest says, and anybody could have"
    " written both. POLICY or --public-key tells more."
)
OTHERS = "Name their own policies, or no POLICY: then every release of --database is judged."

SIGNED = "signed by the owner of the key"


@click.command()
@click.argument("policy", metavar="[POLICY]", required=False)
@options.release_option
@options.engine_option
@options.preset_option
@options.population_option
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
@options.limit_options
@options.output_options
def verify_command(
    output: Output,
    policy: str | None,
    database: str | None,
    engine: str | None,
    preset: str | None,
    population: str | None,
    public_key: str | None,
    certificate: str | None,
    independent: bool,
    limits: Limits,
) -> None:
    """Judge a release from its own rows, at any time.

    The release must be unchanged since its manifest was sealed. With POLICY, the guarantees of the
    policy are judged; without it, those that the manifests in the database state, whoever wrote
    them. Exit code 1 if the release was changed, a guarantee does not hold, or the release does not
    match POLICY; 2 if there is nothing to judge.
    """
    from anonymizer.cli.failures import UsageError
    from anonymizer.cli.output import failed_checks
    from anonymizer.run.verify import verify

    if policy is None and database is None:
        raise UsageError.at("POLICY", "is missing", hint="or name a release: --database FILE")
    if policy is not None and database is None:
        _refuse_export(policy)
    loaded = options.load_policy(policy, preset) if policy is not None else None
    if population is not None and loaded is None and not independent:
        raise UsageError.at("--population", "needs the POLICY that asks for it")
    exported = is_export(database) and loaded is None and certificate is None
    # (a folder may be a release of Spark, whose signature is another one)
    unnamed = independent and public_key is None
    alone = exported and (unnamed or Path(str(database)).is_file())
    state = state_of(loaded, database) if independent or alone else None
    if alone:
        _judge_export(output, str(database), population, public_key, state)
        return
    found = verify(
        loaded,
        database,
        engine=engine,
        population=population,
        public_key=public_key,
        certificate=certificate,
        limits=limits,
    )
    if found.origin == "unknown":
        output.warn(ORIGIN)
    if found.others:
        output.warn(f"not judged, in the same file: {', '.join(found.others)}. {OTHERS}")
    if independent and found.passed:
        judge_independently(
            output,
            loaded,
            database,
            population,
            origin=found.origin or "unknown",
            state=state,
            unverified=found.unverified,
        )
    else:
        problems = failed_checks(found, loaded)
        named = {
            "database": options.without_password(database) or _named_in(loaded),
            "policy": policy,
            "certificate": certificate,
        }
        output.verdict(
            named
            | {
                "passed": found.passed,
                "origin": found.origin,
                "kinds": dict(found.kinds),
                "others": list(found.others),
                "verification": found.as_dict(),
            },
            _lines(found),
            problems,
            holds=found.passed,
        )


def _refuse_export(given: str) -> None:
    """Raise UsageError if a file that was handed out, or its manifest, is in the policy's place."""
    from anonymizer.cli.failures import UsageError
    from anonymizer.independent.rows import MANIFEST

    file = Path(given.removesuffix(MANIFEST))
    if file.suffix in (".csv", ".parquet") and Path(f"{file}{MANIFEST}").is_file():
        said = f"is {'not a policy but' if given == str(file) else 'the manifest of'} a release"
        raise UsageError.at("POLICY", said, hint=f"anonymizer verify --database {file}")


def _named_in(policy: AnyPolicy | None) -> str | None:
    """The database of the release that a policy names, as `run` reports it."""
    if policy is None or policy.publish.database is None:
        return None
    return str(policy.resolve(policy.publish.database).resolve())


def _lines(found: Verification) -> Iterator[str]:
    """The kind of every release, and the checks."""
    from anonymizer.policy.kinds import WORDS
    from anonymizer.process.document import block_lines

    said = {str(kind): words for kind, words in WORDS.items()}
    for view, kind in found.kinds.items():
        yield f"{view} is {said[kind]}"
    if found.origin == "signature":
        yield SIGNED
    yield from block_lines(*found.blocks())


def state_of(policy: Policy | None, database: str | None) -> State:
    """The state of a release's file, to detect changes between the two verifiers."""
    try:
        found = _place(policy, database).stat()
    except OSError:
        return None
    # (a file's change time cannot be set back)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def judge_independently(
    output: Output,
    policy: Policy | None,
    database: str | None,
    population: str | None,
    *,
    origin: Origin,
    state: State,
    unverified: tuple[str, ...] = (),
) -> None:
    """Verify a file against its manifest. Raises Unfulfilled (exit code 1) if it does not hold.

    `origin`: what shows who published it. `state`: of the file, before it was first opened; raises
    GuaranteeError if it is another one now. `unverified`: what the first verifier could not judge.
    """
    from anonymizer.contract.checks import unverified_blocks as not_judged
    from anonymizer.independent import ChangedError, UnreadableError, judge
    from anonymizer.independent.__main__ import FIGURES, lines
    from anonymizer.process.document import block_lines

    place = _place(policy, database)
    view = None
    if policy is not None:
        from anonymizer.release.objects import Names
        from anonymizer.release.opening import population_files

        view = Names.of(policy, "").release
        named = next(filter(Path.is_file, population_files(policy.lead)), None)
        population = str(named) if population is None and named is not None else population
    try:
        found = judge(
            place,
            view,
            population_file=population,
            population_person=policy.person if policy is not None else None,
        )
    except UnreadableError as error:
        path, _, said = str(error).partition(": ")
        refusal = GuaranteeError if isinstance(error, ChangedError) else NothingToCheckError
        several = policy is None and "none is named" in said
        hint = "name the POLICY of one" if several else None
        raise refusal(Problem(path, said, hint=hint)) from error
    except (MemoryError, RecursionError) as error:
        raise NothingToCheckError.at("release", "is too large to be read here") from error
    if state_of(policy, database) != state:
        said = "was changed or replaced while it was judged"
        raise GuaranteeError.at("release", said, hint="verify again; copy it to a place of yours")
    problems = [
        Problem("release", f"{check.name} does not hold for the second verifier")
        for check in found.checks
        if not check.passed
    ]
    told = [*lines(found), FIGURES, *block_lines(*not_judged(unverified))]
    result = {
        "database": without_password(database),
        "origin": origin,
        "view": found.view,
        "kind": found.kind,
        "rows": found.rows,
        "passed": found.passed,
        "checks": [
            {name: getattr(check, name) for name in ("name", "column", "passed", "failing")}
            for check in found.checks
        ],
        "not_checked": [{"name": one.name, "reason": one.reason} for one in found.not_checked],
        "unverified": list(unverified),
    }
    output.verdict(result, told, problems, holds=found.passed)


def is_export(database: str | None) -> bool:
    """Return whether a place is an exported file, or a folder with one.

    Only the second verifier reads these, and compares them with the digests of their manifest.
    """
    from anonymizer.independent.fetch import SUFFIXES

    place = Path(database or "")
    return database is not None and (place.suffix.lower() in SUFFIXES or place.is_dir())


def _judge_export(
    output: Output, place: str, population: str | None, public_key: str | None, state: State
) -> None:
    """Verify exported files, which only the second verifier reads."""
    from anonymizer.publish.export import manifest_of
    from anonymizer.release.signing import refuse_unsigned_export

    if public_key is None:
        output.warn(ORIGIN)
        judge_independently(output, None, place, population, origin="unknown", state=state)
        return
    beside = manifest_of(Path(place))
    before = beside.read_bytes() if beside.is_file() else b""
    refuse_unsigned_export(beside, public_key)
    judge_independently(output, None, place, population, origin="signature", state=state)
    if beside.read_bytes() != before:
        said = f"{beside.name} was changed while the files were judged"
        raise GuaranteeError.at("manifest", said, hint="verify again; copy it to a place of yours")
    output.say(SIGNED)


def _place(policy: Policy | None, database: str | None) -> Path:
    """Resolve to a file or folder; the second verifier cannot connect to a server."""
    if database is not None and "://" not in database:
        return Path(database)
    named = policy.publish.database if policy is not None and database is None else None
    if policy is None or named is None:
        said = "names no file, and the second reader reads files only"
        raise NothingToCheckError.at("--database", said, hint="anonymizer export writes one")
    return policy.resolve(named)
