"""`anonymizer compile`: the SQL of a run."""

from __future__ import annotations

import click

from anonymizer.commands.options import (
    check_target,
    database_option,
    load_policy,
    output_options,
    policy_argument,
    preset_option,
    write_text,
)
from anonymizer.commands.output import Output


@click.command()
@policy_argument
@database_option("Database of the source: a file, or postgresql://...")
@click.option(
    "--dialect",
    type=click.Choice(["duckdb", "spark", "postgres"]),
    help="Dialect of the SQL; default: that of the engine which --database or the policy tells.",
)
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE instead.")
@preset_option
@output_options
def command(
    output: Output,
    policy: str,
    database: str | None,
    dialect: str | None,
    target: str | None,
    preset: str | None,
) -> None:
    """Print every statement that a run of POLICY would execute, in order.

    The source is read (what follows depends on its counts); nothing is written. The secret of a
    run is shown as $secret. For an engine other than that of --database, the file is taken for a
    copy of the table there.

    The header of a script for DuckDB says what to attach, and whether it is complete: loops and
    steps in Python, which the tool drives, are written down to be read, not to be run. Scripts
    for Postgres and Spark run as they are, or are refused.
    """
    from pathlib import Path

    from anonymizer.api import plan
    from anonymizer.elsewhere import plan_from_copy
    from anonymizer.engines.backend import script_of
    from anonymizer.engines.choice import chosen_engine, told_by
    from anonymizer.engines.duckdb_script import script

    check_target(target, inputs=(policy, database))
    loaded = load_policy(policy, preset)
    copied = dialect not in (None, "duckdb") and told_by(database) is None
    copied = copied and (database is not None or loaded.source.kind == "file")
    dialect = chosen_engine(loaded, database, dialect)
    if dialect == "spark":
        from anonymizer.engines.spark_script import driven

        loaded = driven(loaded)
    made = (
        plan_from_copy(loaded, database, dialect)
        if copied
        else plan(loaded, database, engine=dialect)
    )
    text = (
        script(made, loaded, database) if dialect == "duckdb" else script_of(dialect)(made, loaded)
    )
    if target is None:
        output.result({"dialect": dialect, "sql": text}, [text.rstrip("\n")])
        return
    write_text(target, text)
    output.result({"dialect": dialect, "file": target}, [f"wrote {Path(target).name}"])
