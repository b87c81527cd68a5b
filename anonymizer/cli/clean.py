"""`anonymizer clean`: remove the leftovers of killed runs, and the bytes of dropped data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonymizer.cli.options import database_option, limit_options, output_options
from anonymizer.cli.output import Output
from anonymizer.process.text import many

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits


@click.command()
@database_option(
    "Database of releases: a file, or postgresql://...", required=True, cls=click.Option
)
@click.option("--rewrite", is_flag=True, help="Rewrite the DuckDB file without dropped data.")
@click.option(
    "--absent",
    metavar="FILE",
    help="Text file of values, one per line, that must not be in the rewritten file.",
)
@click.option("--drop", metavar="NAME", help="Drop the release of this view from the DuckDB file.")
@limit_options
@output_options
def clean_command(
    output: Output,
    database: str,
    rewrite: bool,
    absent: str | None,
    drop: str | None,
    limits: Limits,
) -> None:
    """Remove the leftovers of killed runs: private folders, and files being built.

    Only folders of runs whose process is gone, and files named <database>.<run id>.tmp of such
    runs. Releases, sources and everything else stay as they are. A run begins with this by itself.

    With --rewrite: rewrite a DuckDB file without dropped or deleted data, and scan the result, as
    is needed after publish.replace_source. The new file replaces the old one only if every table
    is the same and nothing of the old file's unused space is found in it (exit code 1 otherwise).
    Copies, backups and snapshots of the disk keep the old bytes.

    With --drop: drop the view of a release, its frozen rows, its further tables and its manifest,
    as of a model that was renamed. A ledger still has it, because whoever read it knows it.
    """
    from pathlib import Path

    from anonymizer.cli.failures import UsageError
    from anonymizer.engines.registry import engine_of_database
    from anonymizer.run.clean import clean, drop_release

    if drop is not None:
        if rewrite or engine_of_database(database) == "postgres":
            raise UsageError.at("--drop", "is for a DuckDB file, and goes without --rewrite")
        dropped = drop_release(database, drop, limits)
        gone = [f"dropped {name}" for name in dropped]
        output.done({"dropped": list(dropped)}, [*gone, "clean --rewrite removes their bytes, too"])
        return
    if rewrite:
        _rewrite(output, database, absent, limits)
        return
    if absent is not None:
        raise UsageError.at("--absent", "needs --rewrite")
    if engine_of_database(database) == "postgres":
        from anonymizer.engines.postgres.workplace import clean_database

        schemas = clean_database(database)
        gone = [f"removed the schema {name}" for name in schemas]
        output.done({"removed": list(schemas), "kept": []}, gone or ["nothing to remove"])
        return
    found = clean(database)
    if not Path(database).exists():
        output.warn(f"there is no file {Path(database).name}")
    lines = [f"removed {path}" for path in found.removed]
    lines += [f"wrote {path} again: it described another run" for path in found.refreshed]
    lines += [f"kept {path}: its run is alive, or may be" for path in found.kept]
    output.done(found.as_dict(), lines or ["nothing to remove"])


def _rewrite(output: Output, database: str, absent: str | None, limits: Limits) -> None:
    from pathlib import Path

    from anonymizer.cli.failures import UsageError
    from anonymizer.publish.rewrite import rewrite

    values: list[str] = []
    if absent is not None:
        try:
            values = [v for v in Path(absent).read_text("utf-8").splitlines() if v.strip()]
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError.at("--absent", "cannot be read as UTF-8 text") from error
    done = rewrite(database, values, limits)
    output.done(
        done.as_dict(),
        [
            f"rewrote {Path(database).name}: {many(done.tables, 'table')},"
            f" {done.bytes_before:,} bytes before, {done.bytes_after:,} after",
            f"looked for {many(done.pieces, 'piece')} of old text and"
            f" {many(done.values, 'value')}: none is there",
        ],
    )
