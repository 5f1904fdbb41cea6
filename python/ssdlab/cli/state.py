"""``ssdlab state``: save aged drives, and show the content of a saved drive."""

from __future__ import annotations

import json
from typing import Any

import click

from ssdlab import _native, api, arguments, escaping
from ssdlab.cli import exit_codes, options
from ssdlab.cli.messages import print_error
from ssdlab.cli.outputs import check_outputs
from ssdlab.cli.parameters import CommandGroup
from ssdlab.files import OutputFile
from ssdlab.plan import to_json
from ssdlab.progress import ProgressLine
from ssdlab.render.formatting import share
from ssdlab.render.text.notes import steadiness
from ssdlab.result import PreconditionResult


@click.group(cls=CommandGroup)
def state() -> None:
    """Save an aged drive, to start runs from (`run --state FILE`)."""


@state.command()
@click.argument("file")
@options.add(options.DRIVE, options.START, options.APPS)
def save(file: str, **parameters: Any) -> int:
    """Age a drive as the options say and save it to FILE.

    Where blocks are kept apart by priority (ReadGuard's schemes), --workload, --mix or --app
    assigns pages to priorities.
    """
    plan = options.plan_from(parameters)
    check_outputs(api.input_files([plan]), [("FILE", file)])
    OutputFile("FILE", file)
    with ProgressLine() as line:
        header, interrupted = _native.save_state(to_json(plan), file, line)
    saved = json.loads(header)
    if saved is not None:
        _print_header(file, saved)
    if interrupted:
        print_error("interrupted")
        return exit_codes.INTERRUPTED
    return 0


@state.command()
@click.argument("file")
def load(file: str) -> None:
    """Check a saved drive and say what it holds."""
    file = arguments.input_file("FILE", file)
    check_outputs([("FILE", file)], [])
    _print_header(file, json.loads(_native.load_state(file)))


def _print_header(file: str, header: dict[str, Any]) -> None:
    """Print the content of a state file, and how a run starts from it."""
    filled = header["mapped_pages"] / header["logical_pages"]
    names = ("device", "scheme", "version")
    device, scheme, version = (escaping.display_label(header[name]) for name in names)
    aged = f"{device}, aged under {scheme}, seed {header['seed']}"
    click.echo(f"{escaping.display_label(file)}: {aged}")
    click.echo(f"pages   {header['mapped_pages']:,} hold data, {share(filled)} of the drive")
    if header["steady"]:
        click.echo(f"start   {steadiness(PreconditionResult(**header['steady']))}")
    click.echo(f"config  {header['config_hash']}")
    click.echo(f"saved by ssdlab {version}, contents {header['contents_sha256']}")
