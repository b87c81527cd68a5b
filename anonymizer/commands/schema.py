"""`anonymizer schema`: the JSON Schema of a policy."""

from __future__ import annotations

import click

from anonymizer.commands.options import check_target, output_options
from anonymizer.commands.output import Output
from anonymizer.process.files import write_text


@click.command()
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE instead.")
@output_options
def command(output: Output, target: str | None) -> None:
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
