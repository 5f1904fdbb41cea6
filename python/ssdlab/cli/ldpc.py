"""``ssdlab ldpc``: the error rates that codes correct, derived from threshold voltages."""

from __future__ import annotations

from typing import Any

import click

from ssdlab.arguments import MAX_COUNT
from ssdlab.cli import exit_codes, options
from ssdlab.cli.messages import print_error
from ssdlab.cli.outputs import AnalysisOutputs, write_each
from ssdlab.cli.parameters import PositiveNumber, WholeNumber
from ssdlab.errors import InputError
from ssdlab.ldpc import CELLS, LdpcInterrupted, ldpc
from ssdlab.progress import ProgressLine
from ssdlab.signals import deferred


@click.command(name="ldpc")
@click.option(
    "--cell",
    default=CELLS[0],
    show_default=True,
    metavar="NAME",
    help=f"Set the bits of a cell: {' or '.join(CELLS)}.",
)
@click.option(
    "--shift",
    type=float,
    default=0.0,
    show_default=True,
    metavar="X",
    help="Set the voltage that the highest state has lost, in distances between states.",
)
@click.option("--frames", type=WholeNumber(1), help="Measure at most N frames at each point.")
@click.option("--seconds", type=PositiveNumber(), help="Measure for X seconds in all.")
@click.option(
    "--seed", type=WholeNumber(0), default=1, show_default=True, help="Seed the measurement."
)
@click.option(
    "--jobs", type=WholeNumber(1, MAX_COUNT), help="Run N threads (default: as many as cores)."
)
@click.option("--json", metavar="FILE", help="Write the figures as JSON, - for stdout.")
@options.add(options.DRAWING)
def ldpc_command(**parameters: Any) -> int:
    """Derive the error rates that LDPC and BCH codes decode.

    Print the raw bit error rates at which one frame in 1e15 fails, by sensing levels, decoder and
    page, beside those of a paper. With --frames or --seconds, also measure how often frames of a
    real code fail. The documentation's page "Error rates that codes decode" explains the
    derivation.
    """
    if parameters["frames"] is not None and parameters["seconds"] is not None:
        raise InputError.at("--frames", "beside --seconds: expected one or the other")
    outputs = AnalysisOutputs(parameters)
    names = ("cell", "shift", "frames", "seconds", "seed", "jobs")
    code = 0
    with deferred():
        try:
            with ProgressLine(unit="frames") as line:
                found = ldpc(**{name: parameters[name] for name in names}, progress=line)
        except LdpcInterrupted as stopped:
            found, code = stopped.partial, exit_codes.INTERRUPTED
        except KeyboardInterrupt:
            # There is no result yet. Printed here, because click would print an empty line first.
            print_error("interrupted")
            return exit_codes.INTERRUPTED
        write_each(outputs.steps(found))
    return code
