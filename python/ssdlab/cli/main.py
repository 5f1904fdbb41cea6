"""The command ``ssdlab``."""

from __future__ import annotations

import atexit
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import click

from ssdlab import _native, blas
from ssdlab._native import __version__
from ssdlab.cli import (
    catalog,
    config,
    doctor,
    exit_codes,
    fit,
    ldpc,
    physics,
    reproduce,
    run,
    state,
    trace,
    workload,
)
from ssdlab.cli.ending import Ending
from ssdlab.cli.messages import drop_unwritable, print_error, usage_error_line
from ssdlab.cli.parameters import CommandGroup
from ssdlab.cli.streams import wait_for_readers
from ssdlab.errors import InputError, InternalError, one_line


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="ssdlab %(version)s")
def ssdlab() -> None:
    """Simulate solid-state drives: replay traces, compare schemes and settings.

    Try a generated workload, a twin of a published trace, and a comparison:

    \b
    ssdlab run --workload zipf --limit 100000
    ssdlab run --workload dlv/hm0 --limit 100000
    ssdlab compare --workload zipf --limit 50000 --vary scheduler=fifo,read_first

    To replay a trace of yours, give --trace FILE in place of --workload.
    """  # noqa: D301


for command in (run.run, run.compare, state.state, catalog.preset, catalog.scheme):
    ssdlab.add_command(command)
ssdlab.add_command(config.config)
ssdlab.add_command(physics.physics_command)
ssdlab.add_command(ldpc.ldpc_command)
ssdlab.add_command(fit.fit_command)
ssdlab.add_command(trace.trace)
ssdlab.add_command(workload.workload)
ssdlab.add_command(reproduce.command())
ssdlab.add_command(doctor.doctor_command)


def main() -> None:
    """Run the command line and exit with one of the codes of ``exit_codes``, or 0."""
    ending = Ending()
    try:
        ending.begin()
        code = exit_code(ending.has_begun)
    except KeyboardInterrupt:
        # The signal arrived before the command began, or again while it reported an error.
        print_error("interrupted")
        code = exit_codes.INTERRUPTED
    code = ending.exit_code(code)
    for stream in (sys.stdout, sys.stderr):
        drop_unwritable(stream)
    sys.exit(code)


def _prepare() -> None:
    """Prepare the process for all commands."""
    # A signal may end the process while it writes a file.
    atexit.register(_native.remove_unfinished)
    _native.end_without_memory()
    blas.start_with_one_thread()
    wait_for_readers()


def exit_code(is_interrupted: Callable[[], bool] = lambda: False) -> int:
    """Run the command line; return the exit code. An error is one line on stderr."""
    try:
        _prepare()
        code = ssdlab.main(standalone_mode=False, prog_name="ssdlab")
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # The reader of stdout is gone; click then exits with 1. Discard what Python would still
        # flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
        if is_interrupted():
            # Ctrl-C also ended the reader, so nobody has seen that the results are partial.
            print_error("interrupted")
            code = exit_codes.INTERRUPTED
    except OSError as error:
        if error.filename is not None:
            message = one_line(f"{os.fsdecode(error.filename)}: {error.strerror}")
        else:
            # Printing failed: a disk is full, or a terminal is gone.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            message = f"output: cannot be written: {error.strerror}"
        print_error(message)
        return exit_codes.INPUT
    except (
        *(click.ClickException, click.Abort),
        *(InputError, InternalError, KeyboardInterrupt, MemoryError),
    ) as error:
        message, code = _message_and_code(error)
        print_error(message)
        return code
    except Exception as error:  # noqa: BLE001  a traceback tells a user nothing
        if reason := _why_no_library(error):
            print_error(one_line(f"ssdlab: a library cannot be loaded: {reason}"))
            return exit_codes.INPUT
        place = traceback.extract_tb(error.__traceback__)[-1]
        found = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        print_error(one_line(_internal_error(found)))
        return exit_codes.INTERNAL
    return code if isinstance(code, int) else 0


def _why_no_library(error: BaseException) -> str:
    """Return why a library could not be loaded; an empty string for any other error."""
    if not isinstance(error, ImportError):
        return ""
    # numpy wraps the system's message in a page of its own.
    first: BaseException = error
    while isinstance(deeper := first.__cause__ or first.__context__, ImportError):
        first = deeper
    is_ours = isinstance(first, ImportError) and (first.name or "").startswith("ssdlab")
    return "" if is_ours else str(first)


def _internal_error(found: str) -> str:
    return f"ssdlab {__version__}: internal error, please report: {found}"


def _message_and_code(error: BaseException) -> tuple[str, int]:
    """Return the message for an error, and the exit code."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            return error.format_message(), exit_codes.INPUT
        case click.ClickException():
            return one_line(usage_error_line(error)), exit_codes.INPUT
        case InputError():
            return str(error), exit_codes.INPUT
        case InternalError():
            return _internal_error(str(error)), exit_codes.INTERNAL
        case MemoryError():
            return "out of memory", exit_codes.INPUT
        case _:
            return "interrupted", exit_codes.INTERRUPTED
