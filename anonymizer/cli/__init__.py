"""The command `anonymizer`: finds the subcommand, and maps every outcome to an exit code."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from anonymizer.cli.options import Group
from anonymizer.cli.output import ERRORS, Output, open_streams, wanted_format
from anonymizer.process import run_folder
from anonymizer.process.interrupts import ENDING, abandoning, forget, has_published
from anonymizer.version import __version__

# To add a verb: write a click command (or group) named `<verb>_command` in a module here, and add
# it to `VERBS`. The module imports click and `anonymizer.cli.options` at its top, and everything
# heavier inside the function. A command that shows something passes it to `output.result(data,
# text)`; one that writes something reports it by `output.done`, which changes no exit code. A
# command warns with `output.warn`, raises an `AnonymizerError` for errors that the user can fix,
# and returns an exit code (None is 0). A command that prints data in addition to its errors passes
# both to `output.verdict`.


@dataclass(frozen=True, slots=True)
class Verb:
    """The module of a verb, and its line of help."""

    module: str
    says: str


VERBS: dict[str, Verb] = {
    "demo": Verb("demo", "Anonymize a bundled real table, and show every step."),
    "init": Verb(
        "draft", "Draft a policy for a table or a database, with its reasons as comments."
    ),
    "assess": Verb("assess", "Assess risk and diversity of any table, as it is."),
    "plan": Verb("plan", "Show what a run would do, and what cannot work; writes nothing."),
    "compare": Verb(
        "compare", "Show the effect of a change of policy, or risk and utility over a grid."
    ),
    "explore": Verb("explore", "Try out a policy on a local page, and save it; publishes nothing."),
    "compile": Verb("run", "Print every SQL statement of a run, in order."),
    "run": Verb("run", "Anonymize, verify, and publish only what holds."),
    "verify": Verb("verify", "Judge a release again, from its own rows."),
    "certify": Verb("report", "Sign a certificate of a release, separate from the release."),
    "approve": Verb("keys", "Record who accepts the remaining risks of a policy, until when."),
    "report": Verb("report", "Write a report on a release: HTML with charts, Markdown, JSON."),
    "attack": Verb("attack", "Try to find persons in a release, and their values."),
    "export": Verb("report", "Write a release as Parquet or CSV, with its manifest."),
    "hierarchy": Verb("hierarchy", "Suggest, show and export generalization hierarchies."),
    "ledger": Verb("keys", "List the releases or approvals in a ledger, or remove a release."),
    "key": Verb("keys", "Make keys for signing releases and for persistent tokens."),
    "clean": Verb("clean", "Remove leftovers of killed runs, or the bytes of dropped data."),
    "schema": Verb("draft", "Print the JSON Schema of a policy, for editors."),
}
"""Verbs in the order of the help."""

RETIRED = {
    "diff": "compare OLD NEW",
    "sweep": "compare POLICY --vary NAME=V,V",
    "lattice": "plan POLICY --lattice",
    "lineage": "report POLICY --as openlineage",
    "rewrite": "clean --rewrite --database FILE",
    "key secret": "key new --secret FILE",
    "hierarchy import": "hierarchy export, of a policy with `hierarchy: {file: FILE}`",
    "verify --plain": "verify --independent",
}
"""Replacements for verbs and options of earlier versions."""


def load(name: str) -> click.Command:
    """The command of a verb."""
    command: click.Command = getattr(
        import_module(f"anonymizer.cli.{VERBS[name].module}"), f"{name}_command"
    )
    command.name = name
    return command


# Exit codes: 0 success; 1 a guarantee does not hold; 2 the command could not run; 130 interrupted;
# 70 a bug in the tool.


INTERRUPTED = 130
SHOWN_CURSOR = "\x1b[?25h"


class Interruption(BaseException):
    """A signal came. Not a KeyboardInterrupt: one that passes through `exec`, as in the making of
    a dataclass, makes Python 3.11 end by the signal whatever exit code is asked for.
    """


class Application(Group):
    """The group of all verbs. Called, it runs one and exits; no exception passes it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in VERBS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        _refuse_bytes(args)
        _refuse_empty(args)
        _refuse_retired(args)
        name, command, rest = super().resolve_command(ctx, args)
        _refuse_repeated(command, rest)
        return name, command, rest

    def says(self, ctx: click.Context, name: str) -> str:
        """(from the register: no module of a verb is imported for it)"""
        return VERBS[name].says

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = "anonymizer",
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the verb that `args` (default: the command line) names, and exit."""
        given = list(sys.argv[1:] if args is None else args)
        if args is None:
            open_streams()
        # nothing is left for Ctrl-C to interrupt at interpreter exit: the exit code stays
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        sys.exit(self._run(given, prog_name, complete_var, extra, ours=args is None))

    def _run(
        self,
        given: list[str],
        prog_name: str | None,
        complete_var: str | None,
        extra: dict[str, Any],
        *,
        ours: bool,
    ) -> int:
        from anonymizer.cli.failures import failure

        if not given:
            super().main(["--help"], prog_name, complete_var, False, **extra)
            return 2
        output = Output(wanted_format(given), debug="--debug" in given)
        # the process of somebody who calls this from Python is never given up
        ending = _exit_on_deaf_engine(output) if ours else nullcontext()
        with _signals() as interrupted, ending:
            try:
                done = super().main(given, prog_name, complete_var, False, **extra)
            except BaseException as error:
                if interrupted or isinstance(error, KeyboardInterrupt | click.Abort):
                    run_folder.remove_left()
                    output.report_interruption(error)
                    return INTERRUPTED
                if isinstance(error, SystemExit):
                    if isinstance(error.__context__, BrokenPipeError):
                        return 0  # the reader of our output closed the pipe
                    raise
                found = failure(error)
                output.fail(found.problems, error, found.result)
                return found.exit_code
        return done if isinstance(done, int) else 0


def _refuse_bytes(given: Sequence[str]) -> None:
    """Raises UsageError for names that are no text: the engine can open no file of such a name."""
    from anonymizer.cli.failures import UsageError

    named = [("anonymizer", "an argument has", one) for one in given]
    with suppress(OSError):  # a folder that is gone
        named.append(("this folder", "has", str(Path.cwd())))
    for place, has, name in named:
        if any("\ud800" <= char <= "\udfff" for char in name):
            said = f"{has} a name that is no text in the encoding of this system"
            hint = "rename it, or set LANG to a locale of its encoding"
            raise UsageError.at(place, said, hint=hint)


def _refuse_empty(given: Sequence[str]) -> None:
    """Raises UsageError for an argument or option without a text: as a path it is this folder."""
    from anonymizer.cli.failures import UsageError

    for before, one in zip(("", *given), given, strict=False):
        option = before if one == "" else one.removesuffix("=")
        if one == "" or (one.startswith("--") and one.endswith("=") and one.count("=") == 1):
            named = option.startswith("-")
            said = "is empty" if named else "an argument is empty"
            hint = "leave it out, or name something; is a variable of the shell not set?"
            raise UsageError.at(option if named else "anonymizer", said, hint=hint)


def _refuse_retired(given: Sequence[str]) -> None:
    """Raises UsageError for a verb or option of an earlier version."""
    from anonymizer.cli.failures import UsageError

    for name, instead in RETIRED.items():
        verb, *rest = name.split()
        listed = given[1:] if rest and rest[0].startswith("-") else given[1:2]
        if given[:1] == [verb] and all(word in listed for word in rest):
            raise UsageError.at(f"anonymizer {name}", "is retired", hint=f"anonymizer {instead}")


def _refuse_repeated(command: click.Command | None, given: Sequence[str]) -> None:
    """Raises UsageError for an option that is given twice and counts once: the first would be
    ignored.
    """
    from anonymizer.cli.failures import UsageError

    rest = list(given)
    while isinstance(command, click.Group) and rest and rest[0] in command.commands:
        command = command.commands[rest.pop(0)]
    if command is None or isinstance(command, click.Group):
        return
    with suppress(click.ClickException):  # (said when it is read)
        order = command.make_parser(click.Context(command)).parse_args(rest)[2]
        for one, times in Counter(order).items():
            once = isinstance(one, click.Option) and not (one.multiple or one.is_flag or one.count)
            if once and times > 1:
                listed = one.metavar is not None and "," in one.metavar
                hint = "name all after it, with commas between them" if listed else "give it once"
                raise UsageError.at(one.opts[-1], "is given twice", hint=hint)


def _exit_on_deaf_engine(output: Output) -> AbstractContextManager[None]:
    """Ends the process where a statement of the engine ignores every interruption: as after any
    Ctrl-C there is a message, an exit code, and nothing left over.
    """

    def end() -> None:
        try:
            run_folder.remove_own()
            run_folder.remove_own_locks()
            if sys.stderr.isatty():
                sys.stderr.write(SHOWN_CURSOR)  # a bar that shows progress hides it
            output.report_interruption(Interruption())
        finally:
            os._exit(INTERRUPTED)

    return abandoning(end)


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Ctrl-C, SIGTERM and SIGHUP end the run through its clean-up; the list records one.

    The engine turns signals into its own exceptions, so the exception's type does not show this.
    """
    came: list[int] = []
    forget()
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def interrupt(number: int, frame: object) -> None:
        if has_published():
            return  # the command has finished, and only prints its result now
        came.append(number)
        raise Interruption

    before = {}
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            before[number] = signal.signal(number, interrupt)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@click.group(
    cls=Application,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"Exit codes: {ERRORS}.",
)
@click.version_option(__version__, prog_name="anonymizer")
def main() -> None:
    """Anonymize a table of people inside the database: a policy in, a verified release out.

    \b
    anonymizer demo                                see every step on real data
    anonymizer plan policy.yml --database db       what would happen; writes nothing
    anonymizer run policy.yml --database db        run, verify, publish
    """  # noqa: D301 (click looks for the character itself, so the text cannot be raw)
