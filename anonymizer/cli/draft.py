"""`anonymizer init` and `anonymizer schema`: draft a policy; its JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonymizer.cli.options import check_target, database_option, limit_options, output_options
from anonymizer.cli.output import Output
from anonymizer.errors import TargetError
from anonymizer.process.files import write_text

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits


# `anonymizer init`: draft a policy for a table, or for the tables of a database.


@click.command()
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@database_option("Database file; not needed if TABLE is a file.")
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE, which must be new.")
@limit_options
@output_options
def init_command(
    output: Output,
    tables: tuple[str, ...],
    database: str | None,
    target: str | None,
    limits: Limits,
) -> None:
    """Draft a policy for TABLE (a table, a view, or a file, such as a .csv, .xlsx or .parquet one).

    TABLE may also be the query of a table of counts, as "select region, count(*) from visits group
    by cube(region)": the policy then publishes its counts.

    Without TABLE, one policy is drafted for all tables of the database whose rows lead to a person;
    with several, for these tables or files. The table of the persons, keys and links are found from
    declarations, else from names and values.

    Roles are guessed from names, types and counts, each with its reason as a comment. Review them
    before you run the policy: only you know what others know. No value of a table is shown.
    """
    from pathlib import Path

    from anonymizer.review.draft.counts_draft import draft_table_or_query
    from anonymizer.review.draft.schema_draft import TablesDraft, draft_tables
    from anonymizer.review.draft.table_draft import Draft

    if target is not None and Path(target).exists():
        raise TargetError.at("-o", f"{Path(target).name} exists", hint="name a new file")
    check_target(target)
    base = Path(target).parent if target is not None else Path()
    found: Draft | TablesDraft
    if len(tables) == 1:
        found = draft_table_or_query(tables[0], database, base=base, limits=limits)
    else:
        found = draft_tables(database, tables=tables, base=base, limits=limits)
    if target is None:
        output.result(found.as_dict(), [found.text.rstrip("\n")])
        return
    write_text(target, found.text)
    source = f" --database {database}" if database else ""
    reviewed = "the role of every column"
    if isinstance(found, TablesDraft):
        reviewed = f"every link, and {reviewed}"
    for column, why in found.spoilt.items() if not isinstance(found, TablesDraft) else ():
        output.warn(f"{column} {why}")
    untold, without = {}, {}
    if isinstance(found, TablesDraft):
        untold, without = found.not_linked, found.left_out
        for table, why in found.orphans.items():
            output.warn(f"{table}: {why}; such rows are left out (orphans: drop)")
    output.done(
        {**found.as_dict(), "file": target},
        [
            *(f"left out: {table} {said}" for table, said in without.items()),
            *(f"not linked: in {table}, {said}" for table, said in untold.items()),
            f"wrote {Path(target).name}: review {reviewed}, then",
            f"  anonymizer plan {target}{source}",
            f"  anonymizer run {target}{source}",
        ],
    )


# `anonymizer schema`: the JSON Schema of a policy.


@click.command()
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE instead.")
@output_options
def schema_command(output: Output, target: str | None) -> None:
    """Print the JSON Schema (2020-12) of a policy, so that editors can complete and check it.

    For the YAML extensions of VS Code and JetBrains: write it beside the policy and begin the
    policy with the line `# yaml-language-server: $schema=policy.schema.json`.
    """
    import json

    from anonymizer.policy import Policy

    check_target(target)
    schema = Policy.json_schema()
    if target is None:
        output.result(schema, [json.dumps(schema, indent=2)])
        return
    write_text(target, json.dumps(schema, indent=2) + "\n")
    output.done({"file": target}, [f"wrote {target}"])
