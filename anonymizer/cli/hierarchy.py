"""`anonymizer hierarchy`: suggest hierarchies, show them, and export them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonymizer.cli import options
from anonymizer.cli.options import Group
from anonymizer.cli.output import Output
from anonymizer.errors import PolicyError, SourceError
from anonymizer.process.text import many

if TYPE_CHECKING:
    from anonymizer.compile import Table
    from anonymizer.engines.base import Limits
    from anonymizer.policy import Policy

policy_option = click.option(
    "--policy", metavar="POLICY", required=True, help="The policy that defines the columns."
)
SOURCE = "Database file of the source; not needed if the policy names a file."


@click.group(cls=Group, no_args_is_help=False)
def hierarchy_command() -> None:
    """Suggest, show and export generalization hierarchies."""


@hierarchy_command.command()
@click.argument("columns", nargs=-1, metavar="[COLUMN]...")
@policy_option
@options.database_option(SOURCE)
@click.option("--published", is_flag=True, help="Distortions as in Table 4 of Yaseen et al.")
@click.option(
    "--children",
    metavar="N",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    help="Nodes drawn under a node.",
)
@options.limit_options
@options.output_options
def show(
    output: Output,
    columns: tuple[str, ...],
    policy: str,
    database: str | None,
    published: bool,
    children: int,
    limits: Limits,
) -> None:
    """Draw the hierarchies of COLUMNs (default: all) with counts and distortion per level."""
    from io import StringIO

    from rich.console import Console

    from anonymizer.review.hierarchies import built

    with built(options.load_policy(policy), database, columns, limits) as made:
        found = [one.drawing(published=published) for one in made]
    lines: list[str] = []
    for one in found:
        drawn = StringIO()
        console = Console(file=drawn, width=120, color_system=None)
        console.print(one.table())
        console.print(one.tree(children))
        lines += drawn.getvalue().splitlines()
    output.result({"hierarchies": [one.as_dict() for one in found]}, lines)


@hierarchy_command.command()
@click.argument("target", metavar="TABLE|POLICY")
@options.database_option("Database file of the table; not needed for a data file.")
@click.option("--column", "columns", multiple=True, metavar="COLUMN", help="A column; repeatable.")
@options.limit_options
@options.output_options
def suggest(
    output: Output, target: str, database: str | None, columns: tuple[str, ...], limits: Limits
) -> None:
    """Suggest hierarchies for columns, with examples and the loss of each level.

    TABLE is a table, a view or a data file, whose quasi-identifiers are guessed as by `init`; a
    POLICY (.yml) names its own. `--column` selects other columns. Values of the table are shown.
    """
    from anonymizer.policy import Policy
    from anonymizer.review.draft.table_draft import draft
    from anonymizer.review.hierarchies import suggest as suggested

    if target.lower().endswith((".yml", ".yaml")):
        policy = _with_or_without(target)
    else:
        policy = Policy.loads(draft(target, database, limits=limits).text)
    found = suggested(policy, database, columns, limits)
    if not found:
        raise SourceError.at("columns", "none has role quasi", hint="--column COLUMN")
    lines = [line for one in found for line in one.lines()]
    output.result({"suggestions": [one.as_dict() for one in found]}, lines)


def _with_or_without(path: str) -> Policy:
    """Load a policy that may still lack the hierarchies that its algorithm needs.

    Only problems with columns are tolerated, since another algorithm may not cause them.
    """
    from anonymizer.policy import Policy, yaml_text

    try:
        return options.load_policy(path)
    except PolicyError as error:
        given = yaml_text.read(Path(path))
        of_columns = all(problem.path.startswith("columns.") for problem in error.problems)
        if of_columns and isinstance(given, dict):
            with suppress(PolicyError):
                given = {**given, "algorithm": {"name": "mondrian"}}
                return Policy.model_validate(given, context={"base": Path(path).parent})
        raise error from None


@hierarchy_command.command()
@click.argument("column", metavar="COLUMN")
@policy_option
@options.database_option(SOURCE)
@click.option("-o", "--output", "target", metavar="FILE", help="Write CSV, `;` between levels.")
@click.option("--table", "table", metavar="NAME", help="Write a table of the database instead.")
@click.option("--replace", is_flag=True, help="Replace a hierarchy that was stored before.")
@options.limit_options
@options.output_options
def export(
    output: Output,
    column: str,
    policy: str,
    database: str | None,
    target: str | None,
    table: str | None,
    replace: bool,
    limits: Limits,
) -> None:
    """Write the hierarchy of COLUMN as a CSV file (ARX's layout) or as a table.

    Both can be given to any policy, as `hierarchy: {file: …}` or `hierarchy: {table: …}`.
    """
    from anonymizer.cli.failures import UsageError
    from anonymizer.review.hierarchies import built, store

    if (target is None) == (table is None):
        raise UsageError.at("hierarchy export", "needs one target", "-o FILE or --table NAME")
    loaded = options.load_policy(policy)
    options.check_target(target, policies=[loaded])
    if table is not None and database is None:
        raise UsageError.at("--database", "is needed for a table")
    with built(loaded, database, (column,), limits) as made:
        nested = made[0].nested
        if target is not None:
            count, said = made[0].to_csv(Path(target)), target
        else:
            wide = made[0].wide()
    if table is not None and database is not None:
        count, said = len(wide.rows), table
        store(wide, Path(database), _table_of_name(table), replace_it=replace)
    data = {"column": column, "values": count, "written": said, "nested": nested}
    lines = [f"wrote {many(count, 'value')} of {column} to {said}"]
    if not nested:
        lines.append("its levels need not nest: give nested: false beside it where it is used")
    output.done(data, lines)


def _table_of_name(given: str) -> Table:
    from anonymizer.cli.failures import UsageError
    from anonymizer.compile import Table
    from anonymizer.policy.values import table_parts

    parts = table_parts(given)
    if not 1 <= len(parts) <= 2:
        raise UsageError.at("--table", "is not a name", hint="name, or schema.name")
    return Table(parts[-1], parts[0] if len(parts) == 2 else None)
