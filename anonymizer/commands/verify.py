"""`anonymizer verify`: judge a release again."""

from __future__ import annotations

import click

from anonymizer.commands.options import database_option, load_policy, output_options, preset_option
from anonymizer.commands.output import Output


@click.command()
@click.argument("policy", metavar="[POLICY]", required=False)
@database_option("Database file of the release; default: publish.database of POLICY.")
@preset_option
@output_options
def command(output: Output, policy: str | None, database: str | None, preset: str | None) -> None:
    """Judge a release from its own rows, at any time.

    With POLICY its guarantees are judged; without it those that every manifest in the database
    states. Exit code 1 if one does not hold.
    """
    from anonymizer.api import verify
    from anonymizer.commands.checks import check_lines, failed_checks
    from anonymizer.commands.failures import Unfulfilled, UsageError
    from anonymizer.errors import Problem

    if policy is None and database is None:
        raise UsageError(Problem("POLICY", "is missing", hint="or name a release: --database FILE"))
    found = verify(load_policy(policy, preset) if policy is not None else None, database)
    result = {
        "database": database,
        "policy": policy,
        "passed": found.passed,
        "verification": found.as_dict(),
    }
    if not found.passed:
        if not output.json:
            output.result(result, check_lines(found))
        raise Unfulfilled(failed_checks(found), 1, result)
    output.result(result, check_lines(found))
