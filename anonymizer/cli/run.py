"""`anonymizer run` and `anonymizer compile`: anonymize, verify, publish; the SQL of a run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli import options
from anonymizer.cli.output import Output
from anonymizer.process.files import write_text

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.policy import AnyPolicy
    from anonymizer.release.published import Release

UNCHANGED = (
    "source.file: has not changed since the release before was made; if the next file is meant:"
    " --source FILE"
)

# `anonymizer run`: anonymize, verify, publish.


@click.command()
@options.policy_argument
@options.database_option(
    "Database of the source: a file or postgresql://...; not needed for file sources."
)
@options.source_option
@options.engine_option
@options.preset_option
@options.seed_options
@options.limit_options
@options.workers_option
@click.option(
    "--yes-replace-source",
    is_flag=True,
    help="Consent to publish.replace_source: the source table is lost.",
)
@click.option("--sign", metavar="KEYFILE", help="Sign the release with this private key (PEM).")
@click.option(
    "--require-approval",
    is_flag=True,
    help="Refuse a policy that is not approved as it is (anonymizer approve).",
)
@options.approvals_option
@click.option("--explain", is_flag=True, help="Show every statement, its rows and its time.")
@options.output_options
def run_command(
    output: Output,
    policy: str,
    database: str | None,
    source_file: str | None,
    preset: str | None,
    explain: bool,
    yes_replace_source: bool,
    require_approval: bool,
    approvals: str | None,
    **options_of_run: Any,
) -> None:
    """Anonymize the source of POLICY, verify the result, and publish it if everything holds.

    The release goes to publish.database of the policy. If a guarantee, a bound or the suppression
    limit does not hold, nothing is published (exit code 1).
    """
    from anonymizer.cli.failures import UsageError
    from anonymizer.cli.output import progress
    from anonymizer.run.verbs import run

    if approvals is not None and not require_approval:
        raise UsageError.at("--approvals", "needs --require-approval")
    loaded = options.load_policy(policy, preset, source_file)
    approval = None
    if require_approval:
        from anonymizer.review.approval import required

        approval = required(loaded, ledger=approvals)
    unchanged = source_file is None and file_is_older(loaded)
    with progress(output, explain=explain) as listener:
        release = run(
            loaded, database, listener=listener, replace_source=yes_replace_source, **options_of_run
        )
    for warning in release.warnings:
        output.warn(warning)
    if unchanged and release.replaced:
        output.warn(UNCHANGED)
    found, lines = release.as_dict(), describe(release)
    if approval is not None:
        found["approval"] = approval.summary()
        lines = chain(lines, [f"approved by {approval.by} until {approval.until}"])
    output.done(found, lines)


def file_is_older(policy: AnyPolicy) -> bool:
    """Whether the file of a series is older than its last release: another one may be meant."""
    given = getattr(policy, "source", None)  # (several tables have one each)
    release = policy.publish.database
    if policy.ledger is None or given is None or given.file is None or release is None:
        return False
    try:
        made = policy.resolve(release).stat().st_mtime
        return bool(policy.resolve(given.file).stat().st_mtime < made)
    except OSError:  # (a pattern, or the first release)
        return False


def describe(release: Release) -> Iterator[str]:
    """Describe a finished release in lines of text."""
    from anonymizer.measure.loss import measure_words, run_words
    from anonymizer.policy.kinds import ANONYMISED, kind_words
    from anonymizer.process.document import block_lines
    from anonymizer.process.text import table
    from anonymizer.release.manifest import shown_measures

    for replaced in release.replaced:
        yield f"replaced: {replaced}"
    place = release.database.name if release.database is not None else "the database"
    personal = f"{release.kind} release " if release.kind != ANONYMISED else ""
    yield f"published {personal}{release.view} in {place} (run {release.run_id})"
    yield f"kind: {kind_words(release.kind)}"
    if release.manifest.data.get("reproducible"):
        yield "made with a test seed: not for publication"
    if release.tables:
        yield ""
        yield from block_lines(release.listed)
    yield ""
    yield from block_lines(*release.verification.blocks(source=True))
    yield ""
    layout = release.manifest.layout
    words = measure_words(layout) | run_words(layout)
    measures = shown_measures(release.measures, layout)
    figures = {words[name]: value for name, value in measures.items() if name in words}
    yield from table(("figure", "value"), figures.items())
    if len(figures) < len(measures):
        yield f"  and {len(measures) - len(figures)} further ones by --format json"
    yield ""
    yield str(release.manifest.data["certificate"])


# `anonymizer compile`: the SQL of a run.


@click.command()
@options.policy_argument
@options.database_option("Database of the source: a file, or postgresql://...")
@click.option(
    "--dialect",
    type=click.Choice(["duckdb", "spark", "postgres"]),
    help="Dialect of the SQL; default: that of the engine given by --database or the policy.",
)
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE instead.")
@options.preset_option
@options.limit_options
@options.output_options
def compile_command(
    output: Output,
    policy: str,
    database: str | None,
    dialect: str | None,
    target: str | None,
    preset: str | None,
    limits: Limits,
) -> None:
    """Print every statement that a run of POLICY would execute, in order.

    The source is read, because the statements depend on its counts; nothing is published. For
    Postgres, Spark and several tables it is a listing to read, in which a loop stands once.

    The DuckDB shell executes the script (duckdb -f FILE) after you fill in the secret at its top:
    it makes the rows of a run, verifies them, and stops at the first check that fails. To write the
    script, the run is executed once in memory. A policy that has no complete script is refused.
    """
    from pathlib import Path

    from anonymizer.run.scripts import script

    loaded = options.load_policy(policy, preset)
    options.check_target(target, policies=[loaded])
    dialect, text = script(loaded, database, dialect, limits)
    if target is None:
        if output.json:
            output.result({"dialect": dialect, "sql": text})
        else:
            # replacing characters would change the statements
            output.write(text)
        return
    write_text(target, text)
    output.done({"dialect": dialect, "file": target}, [f"wrote {Path(target).name}"])
