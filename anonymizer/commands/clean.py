"""`anonymizer clean`: remove what dead runs left."""

from __future__ import annotations

import click

from anonymizer.commands.options import database_option, output_options
from anonymizer.commands.output import Output


@click.command()
@database_option("Database file of a release.", required=True)
@output_options
def command(output: Output, database: str) -> None:
    """Remove what runs left that were killed: private folders, and files being built.

    Only folders of runs whose process is gone, and files named <database>.<run id>.tmp of such
    runs. Releases, sources and everything else stay as they are.
    """
    from pathlib import Path

    from anonymizer.clean import clean

    found = clean(database)
    if not Path(database).exists():
        output.warn(f"there is no file {Path(database).name}")
    lines = [f"removed {path}" for path in found.removed]
    lines += [f"kept {path}: its run is alive, or cannot be told to be dead" for path in found.kept]
    output.result(found.as_dict(), lines or ["nothing to remove"])
