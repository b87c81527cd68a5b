"""`anonymizer compile`: the SQL of a run."""

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
def command(
    output: Output,
    policy: str,
    database: str | None,
    dialect: str | None,
    target: str | None,
    preset: str | None,
    limits: Limits,
) -> None:
    """Print every statement that a run of POLICY would execute, in order.

    The source is read, because the statements depend on its counts; nothing is published. If
    --dialect is not the engine of --database, the file has to hold a copy of the table.

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
            output.written(text)
        return
    write_text(target, text)
    output.done({"dialect": dialect, "file": target}, [f"wrote {Path(target).name}"])
