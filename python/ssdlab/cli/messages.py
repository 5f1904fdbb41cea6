"""Messages of the command on stderr, one line each."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import click

from ssdlab.plan import RENAMED
from ssdlab.suggestions import nearest


def print_error(line: str) -> None:
    """Write a line to stderr. If stderr is full or gone, the exit code has to suffice."""
    try:
        click.echo(line, err=True)
        sys.stderr.flush()
    except OSError:
        drop_unwritable(sys.stderr)


def drop_unwritable(stream: TextIO) -> None:
    """Redirect a standard stream to nowhere if it is full or gone.

    Otherwise Python would write to it again at exit, fail, and change the exit code.
    """
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def usage_error_line(error: click.ClickException) -> str:
    """Return a click error as one line: the place, the problem, and the nearest valid name."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    where = f"{ctx.command_path}: " if ctx else ""
    if isinstance(error, click.NoSuchOption) and ctx:
        options = [param for param in ctx.command.params if isinstance(param, click.Option)]
        known = [name for param in options for name in param.opts]
        bare = error.option_name.removeprefix("--")
        new = f"--{RENAMED.get(bare)}"
        if new in known:
            return f"{where}{error.option_name} is now called {new}"
        for param in ctx.command.params:
            if isinstance(param, click.Argument) and param.name == bare:
                usage = f"{ctx.command_path} {param.make_metavar(ctx)}"
                return f"{where}no such option {error.option_name}, expected an argument: {usage}"
        # Without the dashes, which all options share.
        near = nearest(bare, [name.removeprefix("--") for name in known])
        meant = f' (did you mean "--{near}"?)' if near else ""
        return f"{where}no such option {error.option_name}{meant}"
    if isinstance(error, click.MissingParameter) and error.param:
        is_option = isinstance(error.param, click.Option)
        name = max(error.param.opts, key=len) if is_option else error.param.human_readable_name
        return f"{where}missing {name}"
    if isinstance(error, click.BadParameter) and error.param:
        return f"{error.param.opts[0]}: {error.message}"
    message = error.format_message().rstrip(".")
    line = where + message[:1].lower() + message[1:]
    names = {name for param in ctx.command.params for name in param.opts} if ctx else set()
    if "unexpected extra argument" in message and {"--trace", "--workload"} <= names:
        line += ": expected --trace FILE or --workload NAME"
    return line
