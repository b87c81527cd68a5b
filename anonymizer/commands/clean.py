"""`anonymizer clean`: remove the leftovers of killed runs."""

from __future__ import annotations

import click

from anonymizer.commands.options import database_option, output_options
from anonymizer.commands.output import Output


@click.command()
@database_option("Database of releases: a file, or postgresql://...", required=True)
@output_options
def command(output: Output, database: str) -> None:
    """Remove the leftovers of killed runs: private folders, and files being built.

    Only folders of runs whose process is gone, and files named <database>.<run id>.tmp of such
    runs. Releases, sources and everything else stay as they are.
    """
    from pathlib import Path

    from anonymizer.engines.registry import told_by
    from anonymizer.run.clean import clean

    if told_by(database) == "postgres":
        from anonymizer.engines.postgres.workplace import clean_database

        schemas = clean_database(database)
        gone = [f"removed the schema {name}" for name in schemas]
        output.done({"removed": list(schemas), "kept": []}, gone or ["nothing to remove"])
        return
    found = clean(database)
    if not Path(database).exists():
        output.warn(f"there is no file {Path(database).name}")
    lines = [f"removed {path}" for path in found.removed]
    lines += [f"wrote {path} again: it told of another run" for path in found.refreshed]
    lines += [f"kept {path}: its run is alive, or cannot be told to be dead" for path in found.kept]
    output.done(found.as_dict(), lines or ["nothing to remove"])
