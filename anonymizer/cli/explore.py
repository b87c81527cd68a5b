"""`anonymizer explore`: try out a policy on a local page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.options import check_target, database_option, limit_options, output_options
from anonymizer.cli.output import Output

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits


@click.command()
@click.argument("subject", metavar="POLICY|TABLE")
@database_option("Database file of the source; not needed for file sources.")
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    help="Where the page saves; must be new. Default: POLICY, or policy.yml for a TABLE.",
)
@click.option("--show-rows", is_flag=True, help="Show a few raw rows of the source on the page.")
@limit_options
@output_options
def explore_command(
    output: Output,
    subject: str,
    database: str | None,
    target: str | None,
    show_rows: bool,
    limits: Limits,
) -> None:
    """Try out a policy on a local page: roles, hierarchies, k, l, t, and what they cost.

    POLICY is a policy file (.yml, .yaml); for a TABLE (or a data file) a policy is drafted. The
    page is served on this machine only, at an address that is printed; anyone who has the address
    can use the page. Every change is tried on a sample and then on the whole table, in scratch
    tables. Nothing is published, and nothing is written except the policy when you save it, and an
    approval. Stop with Ctrl-C. Of a policy of counts the page shows the table with its hidden
    figures, and what an attack finds before and after (with the extra aggregate); of several
    tables, who is found by knowing rows, and what each column costs.
    """
    from anonymizer.explore.server import refuse_without_extra

    refuse_without_extra()
    check_target(target)

    from anonymizer.explore.counts_desk import CountsDesk
    from anonymizer.explore.desk import (
        desk_input,
        open_desk,
        place_to_save,
        policy_of,
        refuse_engine,
    )
    from anonymizer.explore.server import AnyDesk, serve
    from anonymizer.explore.tables_desk import open_tables_desk

    output.say("reading the table ...")

    def show(desk: AnyDesk, file: str) -> None:
        desk.begin()

        def ready(address: str, server: Any) -> None:
            lines = [f"open {address}", "end it with Ctrl-C"]
            output.result({"address": address, "file": file}, lines)

        serve(desk, ready)

    policy, path = policy_of(subject), Path(subject)
    if policy is not None and (policy.counts is not None or policy.several):
        refuse_engine(policy, database)
    if policy is not None and policy.counts is not None:
        show(CountsDesk(policy.counts, path.name, database, limits), subject)
        return
    if policy is not None and policy.several:
        saved = place_to_save(path, target)
        show(open_tables_desk(policy, path, saved, database, limits), str(saved))
        return
    begun = desk_input(subject, database, target, limits)
    with open_desk(begun, database, show_rows=show_rows, limits=limits) as desk:
        show(desk, str(begun.target))
