"""A command with subcommands: a name that is none of them is told with those that are."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

import click


class Group(click.Group):
    """Refuses a subcommand that it does not have."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        allowed = self.list_commands(ctx)
        if args and args[0] not in allowed and not args[0].startswith("-"):
            from anonymizer.commands.failures import UsageError

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
