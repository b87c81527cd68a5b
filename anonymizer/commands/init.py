"""`anonymizer init`: draft a policy for a table, or for the tables of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonymizer.commands.options import check_target, database_option, limit_options, output_options
from anonymizer.commands.output import Output
from anonymizer.errors import TargetError
from anonymizer.process.files import write_text

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits


@click.command()
@click.argument("table_name", metavar="[TABLE]", required=False)
@database_option("Database file; not needed if TABLE is a file.")
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE, which must be new.")
@limit_options
@output_options
def command(
    output: Output, table_name: str | None, database: str | None, target: str | None, limits: Limits
) -> None:
    """Draft a policy for TABLE (a table, a view, or a .parquet, .csv or .json file).

    Without TABLE, one policy is drafted for all tables of the database whose rows lead to a person.
    The table of the persons, keys and links are found from declarations, else from names and
    values.

    Roles are guessed from names, types and counts, each with its reason as a comment. Review them
    before you run the policy: only you know what others know. No value of a table is shown.
    """
    from pathlib import Path

    from anonymizer.review.draft.draft import Draft, draft
    from anonymizer.review.draft.tables.draft import TablesDraft, draft_tables

    if target is not None and Path(target).exists():
        raise TargetError.at("-o", f"{Path(target).name} exists", hint="name a new file")
    check_target(target)
    base = Path(target).parent if target is not None else Path()
    found: Draft | TablesDraft
    if table_name is None:
        found = draft_tables(database, base=base, limits=limits)
    else:
        found = draft(table_name, database, base=base, limits=limits)
    if target is None:
        output.result(found.as_dict(), [found.text.rstrip("\n")])
        return
    write_text(target, found.text)
    source = f" --database {database}" if database else ""
    reviewed = "the role of every column"
    if table_name is None:
        reviewed = f"every link, and {reviewed}"
    untold = found.not_linked if isinstance(found, TablesDraft) else {}
    output.done(
        {**found.as_dict(), "file": target},
        [
            *(f"not linked: in {table}, {said}" for table, said in untold.items()),
            f"wrote {Path(target).name}: review {reviewed}, then",
            f"  anonymizer plan {target}{source}",
            f"  anonymizer run {target}{source}",
        ],
    )
