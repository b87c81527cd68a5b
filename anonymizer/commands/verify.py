"""`anonymizer verify`: judge a release again."""

from __future__ import annotations

import click

from anonymizer.commands.options import (
    database_option,
    engine_option,
    load_policy,
    output_options,
    preset_option,
    shown,
)
from anonymizer.commands.output import Output


@click.command()
@click.argument("policy", metavar="[POLICY]", required=False)
@database_option(
    "Database of the release: a file, or postgresql://...; default: publish.database of POLICY."
)
@engine_option
@preset_option
@click.option(
    "--population",
    metavar="FILE",
    help="Judge k_map and delta_presence of POLICY with this population (parquet, csv, json).",
)
@output_options
def command(
    output: Output,
    policy: str | None,
    database: str | None,
    engine: str | None,
    preset: str | None,
    population: str | None,
) -> None:
    """Judge a release from its own rows, at any time.

    With POLICY its guarantees are judged; without it those that every manifest in the database
    states. Exit code 1 if one does not hold or the release has other columns or roles than POLICY
    asks for, 2 if there is nothing that can be judged.
    """
    from pathlib import Path

    from anonymizer.api import verify
    from anonymizer.commands.checks import check_lines, failed_checks
    from anonymizer.commands.failures import Unfulfilled, UsageError
    from anonymizer.errors import Problem

    if policy is None and database is None:
        raise UsageError(Problem("POLICY", "is missing", hint="or name a release: --database FILE"))
    loaded = load_policy(policy, preset) if policy is not None else None
    if population is not None:
        from anonymizer.population import with_population

        if loaded is None:
            raise UsageError(Problem("--population", "needs the POLICY that asks for it"))
        loaded = with_population(loaded, Path(population))
    found = verify(loaded, database, engine=engine)
    result = {
        "database": shown(database),
        "policy": policy,
        "passed": found.passed,
        "verification": found.as_dict(),
    }
    if not found.passed:
        if not output.json:
            output.result(result, check_lines(found))
        raise Unfulfilled(failed_checks(found), 1, result)
    output.result(result, check_lines(found))
