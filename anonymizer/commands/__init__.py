"""The subcommands of the command line, one module each, imported on use.

To add one: write `anonymizer/commands/<name>.py` with a click command (or group) named `command`,
and add it to `VERBS` with its line of help. The module imports click and
`anonymizer.commands.options` at its top, and everything heavier inside the function:

    @click.command()
    @policy_argument
    @database_option()
    @output_options
    def command(output: Output, policy: str, database: str | None) -> int | None:
        '''Say what it does; the first line of the help.'''

A command that shows something passes it to `output.result(data, text)`; one that writes something
tells it by `output.done`, which changes no exit code. A command warns with `output.warn`, raises an
`AnonymizerError` for errors that the user can fix, and returns an exit code (None is 0). A command
that prints data in addition to its errors passes both to `output.judged`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click


@dataclass(frozen=True, slots=True)
class Verb:
    """The module of a verb, and its line of help."""

    module: str
    says: str


VERBS: dict[str, Verb] = {
    "demo": Verb("demo", "Anonymize a bundled real table, and show every step."),
    "init": Verb("init", "Draft a policy for a table or a database, with its reasons as comments."),
    "assess": Verb("assess", "Assess risk and diversity of any table, as it is."),
    "plan": Verb("plan", "Show what a run would do, and what cannot work; writes nothing."),
    "diff": Verb("diff", "Show the effect of a change of policy; publishes nothing."),
    "explore": Verb("explore", "Try out a policy on a local page, and save it; publishes nothing."),
    "compile": Verb("compile", "Print every SQL statement of a run, in order."),
    "run": Verb("run", "Anonymize, verify, and publish only what holds."),
    "verify": Verb("verify", "Judge a release again, from its own rows."),
    "certify": Verb("certify", "Sign a certificate of a release, separate from the release."),
    "lineage": Verb("lineage", "Write or send the column lineage of a release (OpenLineage)."),
    "approve": Verb("approve", "Record who accepts the remaining risks of a policy, until when."),
    "sweep": Verb("sweep", "Compare risk and utility over a grid of options; publishes nothing."),
    "report": Verb("report", "Write a report on a release: HTML with charts, Markdown, JSON."),
    "attack": Verb("attack", "Try to find persons in a release, and their values."),
    "export": Verb("export", "Write a release as Parquet or CSV, with its manifest."),
    "hierarchy": Verb("hierarchy", "Suggest, show, export and import generalization hierarchies."),
    "lattice": Verb("lattice", "Judge every node of the generalization lattice."),
    "ledger": Verb("ledger", "List the releases or approvals in a ledger, or remove a release."),
    "key": Verb("key", "Make keys for signing releases and for persistent tokens."),
    "rewrite": Verb("rewrite", "Rewrite a database file without the bytes of dropped data."),
    "clean": Verb("clean", "Remove the leftovers of killed runs."),
    "schema": Verb("schema", "Print the JSON Schema of a policy, for editors."),
}
"""Verbs in the order of the help."""


def load(name: str) -> click.Command:
    """The command of a verb."""
    command: click.Command = import_module(f"anonymizer.commands.{VERBS[name].module}").command
    command.name = name
    return command
