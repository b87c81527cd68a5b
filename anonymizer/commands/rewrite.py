"""`anonymizer rewrite`: rewrite a database file without the bytes of dropped data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonymizer.commands.options import database_option, limit_options, output_options
from anonymizer.commands.output import Output
from anonymizer.process.text import many

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits


@click.command()
@database_option("Database file to rewrite.", required=True)
@click.option(
    "--absent",
    metavar="FILE",
    help="Text file of values, one per line, that must not be in the rewritten file.",
)
@limit_options
@output_options
def command(output: Output, database: str, absent: str | None, limits: Limits) -> None:
    """Rewrite a DuckDB file without dropped or deleted data, and scan the result.

    Needed after publish.replace_source. The new file replaces the old one only if every table is
    the same and nothing of the old file's unused space is found in it (exit code 1 otherwise).
    Copies, backups and snapshots of the disk keep the old bytes.
    """
    from pathlib import Path

    from anonymizer.commands.failures import UsageError
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
