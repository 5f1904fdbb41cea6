"""What is wrong with a command line, in one line."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ssdlab.errors import quoted
from ssdlab.names import hint
from ssdlab.values import MOST, bounds


def tell(line: str) -> None:
    """Write a line to stderr. If that is full or gone, the exit code tells enough."""
    try:
        click.echo(line, err=True)
        sys.stderr.flush()
    except OSError:
        # Python would try once more at its end, and change the exit code.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


class Group(click.Group):
    """A group of commands that answers a wrong name with the nearest right one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            raise click.UsageError(f"no such command {quoted(name)}{hint(name, known)}", ctx=ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; on Ctrl-C click would put an empty line before the word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None


class Whole(click.ParamType[int]):
    """A whole number of at least ``least``, and of at most ``most``."""

    name = "N"

    def __init__(self, least: int, most: int = MOST) -> None:
        """Accept whole numbers between these, both included."""
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number; ``1_000_000`` is one, too."""
        try:
            number = int(value)
        except ValueError:
            number = -1
        if not self._least <= number <= self._most:
            self.fail(
                f"got {quoted(value)}, expected {bounds(number, self._least, self._most)}",
                param,
                ctx,
            )
        return number


class Number(click.ParamType[float]):
    """A number above zero."""

    name = "X"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the number, which must be finite."""
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            self.fail(f"got {quoted(value)}, expected a number above 0", param, ctx)
        return number


def line_of(error: click.ClickException) -> str:
    """Return what click has found wrong as one line: where, what, and the nearest right name."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    where = f"{ctx.command_path}: " if ctx else ""
    if isinstance(error, click.NoSuchOption) and ctx:
        known = [name for param in ctx.command.params for name in param.opts]
        return f"{where}no such option {error.option_name}{hint(error.option_name, known)}"
    if isinstance(error, click.MissingParameter) and error.param:
        return f"{where}missing {error.param.human_readable_name}"
    if isinstance(error, click.BadParameter) and error.param:
        return f"{error.param.opts[0]}: {error.message}"
    message = error.format_message().rstrip(".")
    return where + message[:1].lower() + message[1:]
