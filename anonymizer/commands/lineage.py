"""`anonymizer lineage`: an OpenLineage event of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonymizer.commands import options
from anonymizer.commands.output import Output
from anonymizer.process.files import write_text

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits


@click.command()
@options.policy_argument
@options.release_option
@options.engine_option
@options.preset_option
@click.option("-o", "--output", "target", metavar="FILE", help="Write the event to FILE.")
@click.option("--to", "address", metavar="URL", help="Send it to URL (HTTP POST), e.g. Marquez.")
@click.option(
    "--namespace",
    metavar="NAME",
    default="sql-anonymizer",
    show_default=True,
    help="OpenLineage namespace of the job and of the release.",
)
@click.option(
    "--source-namespace", metavar="NAME", help="Namespace of the source; default: --namespace."
)
@options.limit_options
@options.output_options
def command(
    output: Output,
    policy: str,
    database: str | None,
    engine: str | None,
    preset: str | None,
    target: str | None,
    address: str | None,
    namespace: str,
    source_namespace: str | None,
    limits: Limits,
) -> None:
    """Judge the release of POLICY again, and export the lineage of its columns.

    Makes an OpenLineage run event: for every published column, the source columns it is derived
    from, the transformation, and whether that masks them. It contains names, no values. The event
    is written with -o, sent with --to, and printed without either.
    """
    import json

    from anonymizer.process.http import check_address, post_json
    from anonymizer.run.verify import lineage

    loaded = options.load_policy(policy, preset)
    options.check_target(target, policies=[loaded])
    if address is not None:
        check_address(address, "--to")
    event = lineage(
        loaded,
        database,
        engine=engine,
        namespace=namespace,
        sources=source_namespace or namespace,
        limits=limits,
    )
    text = json.dumps(event, indent=2) + "\n"
    if target is not None:
        write_text(target, text)
        output.say(f"wrote {target}")
    if address is not None:
        status = post_json(address, text, "--to")
        output.say(f"sent, answered with status {status}")
    if target is None and address is None:
        output.result(event, text.splitlines())
    else:
        output.done({"event": event["run"]["runId"], "file": target, "sent": address is not None})
