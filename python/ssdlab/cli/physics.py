"""``ssdlab physics``: what the blocks of a device really are."""

from __future__ import annotations

from typing import Any

import click

from ssdlab import truth
from ssdlab.cli import options
from ssdlab.cli.outputs import STDOUT, Drawing, written
from ssdlab.files import Target


@click.command()
@click.argument("device")
@options.add(options.DRIVE[1:])
@click.option("--json", metavar="FILE", help="Write the figures as JSON, - for stdout.")
@options.add(options.DRAWN)
def physics(**given: Any) -> None:
    """Tell what the blocks of DEVICE really are; no workload is run.

    Raw bit errors and times of reads by the age of the data and by P/E cycles, for each class of
    blocks, beside what papers say of the same. docs/physics.md says what there is to see.
    """
    targets = [Target(f"--{name}", path) for name, path in written(given, ("json", "report"))]
    drawing = Drawing(given)
    told = truth.physics(options.plan_of(given))
    if given["json"] == STDOUT:
        click.echo(told.to_json())
    else:
        click.echo(str(told))
        if given["json"] is not None:
            targets[0].write(told.to_json() + "\n")
    if drawing.is_wanted:
        from ssdlab import figures, page  # noqa: PLC0415  loaded when something is to be drawn

        drawing.write(lambda: page.html_of_physics(told), lambda: figures.of_physics(told))
