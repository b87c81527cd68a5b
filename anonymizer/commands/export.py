"""`anonymizer export`: a release as Parquet or CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output
from anonymizer.policy.paths import name_text
from anonymizer.process.text import many

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits


@click.command()
@options.policy_argument
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    required=True,
    help="A .parquet or .csv file; from Postgres also a .duckdb file; for several tables a folder,"
    " or the file of the persons.",
)
@options.release_option
@options.preset_option
@options.population_option
@click.option("--force", is_flag=True, help="Replace what is no earlier export of this release.")
@options.limit_options
@options.output_options
def command(
    output: Output,
    policy: str,
    target: str,
    database: str | None,
    preset: str | None,
    population: str | None,
    force: bool,
    limits: Limits,
) -> None:
    """Write the release of POLICY as a file, and its manifest as <FILE>.manifest.json beside it.

    With several tables, each becomes a file with its published name: Parquet files in a folder, or,
    with -o FOLDER/FILE.csv, CSV files, of which FILE.csv has the persons.
    """
    from anonymizer.publish.export import export

    loaded = options.load_policy(policy, preset)
    done = export(loaded, target, database, force=force, population=population, limits=limits)
    lines = []
    for file in done.files:
        lines.append(f"wrote {file.path} ({many(file.rows, 'row')})")
        lines += [f"  {name_text(name)} left as {kind}" for name, kind in file.types.items()]
    output.done(done.as_dict(), [*lines, f"wrote {done.manifest}"])
