"""Arguments and options that several commands share, and commands with subcommands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from anonymizer.cli.output import Output
from anonymizer.errors import Problem, TargetError

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.policy import AnyPolicy, Policy
    from anonymizer.process.secret import Seed


class Group(click.Group):
    """Refuses a subcommand that it does not have."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        allowed = self.list_commands(ctx)
        if args and args[0] not in allowed and not args[0].startswith("-"):
            from anonymizer.cli.failures import UsageError

            near = get_close_matches(args[0], allowed, n=1) or [*self._meant(ctx, args[0])]
            raise UsageError.at(
                ctx.command_path,
                f"{args[0]} is not a command",
                allowed=", ".join(allowed),
                hint=f"did you mean {' or '.join(near)}?" if near else None,
            )
        return super().resolve_command(ctx, args)

    def _meant(self, ctx: click.Context, given: str) -> Iterator[str]:
        """The subcommands whose description begins with the word: `list` for `show`."""
        for name in self.list_commands(ctx):
            says = self.says(ctx, name)
            if says.lower().startswith(f"{given.lower()} "):
                yield name

    def says(self, ctx: click.Context, name: str) -> str:
        """The description of a subcommand."""
        command = self.get_command(ctx, name)
        return command.get_short_help_str(limit=200) if command is not None else ""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands with their whole first sentence."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.says(ctx, name)) for name in self.list_commands(ctx)])


F = TypeVar("F", bound=Callable[..., Any])

DEFAULTS = ".anonymizer.toml"
"""The file of this folder with defaults of options."""


class Defaulted(click.Option):
    """An option whose default may be in the environment, or else in `.anonymizer.toml`."""

    def __init__(self, *given: Any, **more: Any) -> None:
        name = given[0][0].lstrip("-").replace("-", "_").upper()
        super().__init__(*given, envvar=f"ANONYMIZER_{name}", **more)

    def get_default(self, ctx: click.Context, call: bool = True) -> Any:
        """The default of the file, or that of the option."""
        named = defaults().get(self.opts[0].lstrip("-"))
        return super().get_default(ctx, call) if named is None else named

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value as the option takes it. Of a wrong one from the file, the file is named."""
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter as error:
            if value is not None and value == defaults().get(self.opts[0].lstrip("-")):
                error.param_hint = f"{DEFAULTS}: {self.opts[0].lstrip('-')}"
            raise


DEFAULTED = ("database", "threads", "memory-limit", "temp-size", "workers")
"""The options that may have a default in the file."""


@cache
def defaults() -> dict[str, str | int]:
    """The defaults of this folder. Raises UsageError for a file that has anything else."""
    import tomllib

    from anonymizer.cli.failures import UsageError

    file = Path(DEFAULTS)
    if not file.is_file():
        return {}
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        said = "is not a TOML file that can be read"
        raise UsageError.at(DEFAULTS, said, hint='lines such as database = "w.duckdb"') from error
    allowed = ", ".join(DEFAULTED)
    UsageError.refuse(
        Problem(f"{DEFAULTS}: {name}", "is not an option with a default", allowed=allowed)
        for name in found
        if name not in DEFAULTED
    )
    UsageError.refuse(
        Problem(f"{DEFAULTS}: {name}", "must be a text or a whole number")
        for name, value in found.items()
        if isinstance(value, bool) or not isinstance(value, str | int)
    )
    return found


def files(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Let the shell complete names of files."""
    return [CompletionItem(begun, type="file")]


policy_argument = click.argument("policy", metavar="POLICY", shell_complete=files)

preset_option = click.option(
    "--preset",
    type=click.Choice(["internal", "external", "safe_harbor"]),
    help="Defaults for what the policy omits: k=5, l=2; k=11, l=3; or 45 CFR 164.514(b)(2).",
)


source_option = click.option(
    "--source",
    "source_file",
    metavar="FILE",
    shell_complete=files,
    help="A file of the same form, such as next month's, instead of source.file.",
)


def database_option(says: str = "Database file of the source.", **more: Any) -> Callable[[F], F]:
    """`--database FILE`, of the source."""
    given: dict[str, Any] = {"cls": Defaulted, "shell_complete": files, **more}
    return click.option("--database", metavar="FILE", help=says, **given)


release_option = database_option(
    "Database of the release: a file, or postgresql://...; default: publish.database of POLICY.",
    cls=click.Option,
)
population_option = click.option(
    "--population",
    metavar="FILE",
    help="Judge k_map and delta_presence of POLICY with this population (parquet, csv, json).",
)

engine_option = click.option(
    "--engine",
    type=click.Choice(["duckdb", "postgres", "spark"]),
    help="Engine of the run; default: that of --database, else of the policy.",
)


approvals_option = click.option(
    "--approvals",
    metavar="LEDGER",
    help="The ledger beside which approvals are kept; default: ledger of POLICY.",
)


def output_options(command: F, forms: Sequence[str] = ("text", "json")) -> F:
    """`--format`, `--quiet` and `--debug`; passes the command an `Output` as `output`."""

    @click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        default="text",
        show_default=True,
        help="Text, or one JSON object on standard output (errors too).",
    )
    @click.option("--quiet", is_flag=True, help="No progress on standard error.")
    @click.option("--debug", is_flag=True, help="Show tracebacks; they may quote data values.")
    @wraps(command)
    def wrapped(*args: Any, form: str, quiet: bool, debug: bool, **options: Any) -> Any:
        return command(*args, output=Output(form, quiet=quiet, debug=debug), **options)

    return wrapped  # type: ignore[return-value]


def limit_options(command: F) -> F:
    """`--threads`, `--memory-limit`, `--temp-size`; passes the command `Limits` as `limits`."""

    @click.option(
        "--threads", cls=Defaulted, type=click.IntRange(min=1), help="Threads of the engine."
    )
    @click.option(
        "--memory-limit", cls=Defaulted, metavar="SIZE", help="Memory of the engine, such as 4GB."
    )
    @click.option(
        "--temp-size", cls=Defaulted, metavar="SIZE", help="Disk for spilled data, such as 20GB."
    )
    @wraps(command)
    def wrapped(
        *args: Any,
        threads: int | None,
        memory_limit: str | None,
        temp_size: str | None,
        **options: Any,
    ) -> Any:
        from anonymizer.engines.base import Limits

        limits: Limits = Limits(threads, memory_limit, temp_size)
        return command(*args, limits=limits, **options)

    return wrapped  # type: ignore[return-value]


def workers_option(command: F) -> F:
    """`--workers`; added to the `Limits` from `limit_options`."""

    @click.option(
        "--workers",
        cls=Defaulted,
        type=click.IntRange(min=1),
        help="Parts of a large table that are solved at a time; the release is the same.",
    )
    @wraps(command)
    def wrapped(*args: Any, limits: Limits, workers: int | None, **options: Any) -> Any:
        return command(*args, limits=replace(limits, workers=workers), **options)

    return wrapped  # type: ignore[return-value]


def seed_options(command: F) -> F:
    """`--seed-file` and `--test-seed`; passes the command a `Seed` as `seed`."""

    @click.option(
        "--seed-file",
        metavar="FILE",
        help="The run's secret, 64 hexadecimal digits, for a run that can be repeated"
        " (or ANONYMIZER_SEED). Default: a fresh secret, forgotten afterwards.",
    )
    @click.option(
        "--test-seed",
        metavar="N",
        type=int,
        help="A number instead of a secret, for tests; the release is marked as such.",
    )
    @wraps(command)
    def wrapped(*args: Any, seed_file: str | None, test_seed: int | None, **options: Any) -> Any:
        from anonymizer.cli.failures import UsageError
        from anonymizer.process.secret import Seed

        if seed_file is not None and test_seed is not None:
            raise UsageError.at("--test-seed", "cannot be combined with --seed-file")
        seed: Seed = Seed.choose(Path(seed_file) if seed_file is not None else None, test_seed)
        return command(*args, seed=seed, **options)

    return wrapped  # type: ignore[return-value]


def load_policy(path: str, preset: str | None = None, source: str | None = None) -> Policy:
    """Load the policy of a file, for another `source` file if one is named. Raises PolicyError with
    all problems found.
    """
    from anonymizer.policy import Policy

    loaded = Policy.load(path, preset)
    return loaded if source is None else loaded.with_file(source)


def without_password(database: str | None) -> str | None:
    """A database as it may be shown: an address without its password."""
    if database is None or "://" not in database:
        return database
    scheme, rest = database.split("://", 1)
    return f"{scheme}://{rest.rsplit('@', 1)[-1]}"


def check_target(
    path: str | None,
    option: str = "-o",
    *,
    suffixes: Sequence[str] = (),
    policies: Sequence[AnyPolicy] = (),
) -> None:
    """Raises TargetError for a file that cannot be written, before the result is computed.

    `suffixes` are those that select a format. The target must not be a file of the `policies`, nor
    one that another argument of the command names.
    """
    import os

    from anonymizer.policy.referenced_files import refuse_files

    if path is None:
        return
    target = Path(path)
    folder = target.parent
    problem = None
    if suffixes and target.suffix.lower() not in suffixes:
        allowed = ", ".join(f"*{suffix}" for suffix in suffixes)
        problem = Problem(option, "has an unknown format", allowed=allowed)
    elif not folder.is_dir():
        hint = f"mkdir -p {folder}"
        problem = Problem(option, f"{path} is in a folder that does not exist", hint=hint)
    elif not os.access(folder, os.W_OK):
        problem = Problem(
            option, f"{path} is in a folder that cannot be written", hint="name another folder"
        )
    elif target.is_dir():
        problem = Problem(option, f"{path} is a folder", hint="name a file in it")
    if problem is not None:
        raise TargetError(problem)
    refuse_files(target, policies, _other_arguments(option), option)


def _other_arguments(option: str) -> list[str]:
    """The values of all other arguments and options, including file names."""
    context = click.get_current_context()
    return [
        value
        for parameter in context.command.params
        if option not in parameter.opts and isinstance(parameter.type, click.types.StringParamType)
        for value in [context.params.get(parameter.name or "")]
        if isinstance(value, str)
    ]
