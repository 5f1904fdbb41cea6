"""``ssdlab ldpc``: what codes decode, derived from threshold voltages."""

from __future__ import annotations

from typing import Any

import click

from ssdlab import codes
from ssdlab.cli import exits, options
from ssdlab.cli.lines import Number, Whole, tell
from ssdlab.cli.outputs import Telling
from ssdlab.errors import InputError
from ssdlab.progress import Line
from ssdlab.values import COUNT_MOST


@click.command()
@click.option(
    "--cell",
    default=codes.CELLS[0],
    show_default=True,
    metavar="NAME",
    help=f"Bits in a cell: {' or '.join(codes.CELLS)}.",
)
@click.option(
    "--shift",
    type=float,
    default=0.0,
    show_default=True,
    metavar="X",
    help="Voltage that the highest state has lost, in distances between states.",
)
@click.option("--frames", type=Whole(1), help="Measure, at most so many frames at each point.")
@click.option("--seconds", type=Number(), help="Measure for so long.")
@click.option("--seed", type=Whole(0), default=1, show_default=True, help="Of what is measured.")
@click.option("--jobs", type=Whole(1, COUNT_MOST), help="Threads; as many as cores if not given.")
@click.option("--json", metavar="FILE", help="Write the figures as JSON, - for stdout.")
@options.add(options.DRAWN)
def ldpc(**given: Any) -> int:
    """Derive what LDPC and BCH codes decode, from voltages up.

    Raw bit error rates at a failure of 1e-15 by sensing levels, decoder and page, beside what a
    paper prints; with --frames or --seconds, how often frames of a real code fail. docs/ldpc.md
    says how.
    """
    if given["frames"] is not None and given["seconds"] is not None:
        raise InputError.at("--frames", "beside --seconds: expected one or the other")
    telling = Telling(given)
    names = ("cell", "shift", "frames", "seconds", "seed", "jobs")
    code = 0
    try:
        with Line(unit="frames") as line:
            told = codes.ldpc(**{name: given[name] for name in names}, progress=line)
    except codes.Stopped as stopped:
        told, code = stopped.partial, exits.INTERRUPTED
    except KeyboardInterrupt:
        # Before the table stood: click would put an empty line before the word.
        tell("interrupted")
        return exits.INTERRUPTED
    telling.write(told)
    return code
