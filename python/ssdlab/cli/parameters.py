"""Parameters of the command line; each mistake gives a one-line error."""

from __future__ import annotations

from typing import Any

import click

from ssdlab.arguments import MAX_INTEGER, expected_range
from ssdlab.errors import quoted
from ssdlab.suggestions import did_you_mean

_COMPARED = ("device", "stage", "scheme")
"""The options of ``compare`` that take several names."""


class CommandGroup(click.Group):
    """A group of commands that suggests the nearest name for an unknown command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            raise click.UsageError(
                f"no such command {quoted(name)}{did_you_mean(name, known)}", ctx=ctx
            )
        found, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_repeated(click.Context(command, info_name=found, parent=ctx), rest)
        return found, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Raise ``Abort`` on Ctrl-C, because click would print an empty line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None


def _refuse_repeated(ctx: click.Context, args: list[str]) -> None:
    """Refuse an option of one value that is given twice; click would take the last value."""
    command = ctx.command
    try:
        _, _, occurrences = command.make_parser(ctx).parse_args(list(args))
    except click.UsageError:
        # Click reports this error when it parses the arguments.
        return
    for param in command.params:
        is_single = isinstance(param, click.Option) and not (param.multiple or param.is_flag)
        if is_single and (times := occurrences.count(param)) > 1:
            is_list = command.name == "compare" and param.name in _COMPARED
            several = ", with commas between several names" if is_list else ""
            raise click.BadParameter(f"given {times} times, expected once{several}", ctx, param)


class WholeNumber(click.ParamType[int]):
    """An integer from ``minimum`` to ``maximum``."""

    name = "N"

    def __init__(self, minimum: int, maximum: int = MAX_INTEGER) -> None:
        """Accept integers between these bounds, both included."""
        self._minimum, self._maximum = minimum, maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer; ``1_000_000`` is valid, too."""
        try:
            number = int(value)
        except ValueError:
            number = -1
        if not self._minimum <= number <= self._maximum:
            expected = expected_range(number, self._minimum, self._maximum)
            self.fail(f"got {quoted(value)}, expected {expected}", param, ctx)
        return number


class PositiveNumber(click.ParamType[float]):
    """A number above zero."""

    name = "X"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, which must be finite."""
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            self.fail(f"got {quoted(value)}, expected a number above 0", param, ctx)
        return number
