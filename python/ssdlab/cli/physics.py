"""``ssdlab physics``: the true properties of a device's blocks."""

from __future__ import annotations

from typing import Any

import click

from ssdlab import api
from ssdlab.cli import completion, options
from ssdlab.cli.outputs import AnalysisOutputs, write_each
from ssdlab.errors import InputError
from ssdlab.physics import physics


@click.command(name="physics")
@click.argument("device", shell_complete=completion.device)
@options.add(options.DRIVE_SETTINGS)
@click.option("--json", metavar="FILE", help="Write the figures as JSON, - for stdout.")
@options.add(options.DRAWING)
def physics_command(**parameters: Any) -> None:
    """Show the true error rates and read times of blocks.

    Print raw bit errors and read times by the age of the data and by P/E cycles, for each class of
    blocks, beside the figures of papers. The documentation's page "Physics of blocks" explains
    them.
    """
    try:
        plan = options.plan_from(parameters)
        outputs = AnalysisOutputs(parameters, api.input_files([plan]))
        found = physics(plan)
    except InputError as error:
        if error.file != "--device":
            raise
        # Other commands take the device as an option.
        raise InputError.at("DEVICE", error.message) from None
    write_each(outputs.steps(found))
