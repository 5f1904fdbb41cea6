"""``ssdlab state``: aged drives, saved and looked at."""

from __future__ import annotations

import json
from typing import Any

import click

from ssdlab import _native
from ssdlab.cli import options
from ssdlab.cli.lines import Group
from ssdlab.files import Target
from ssdlab.plans import to_json
from ssdlab.progress import Line


@click.group(cls=Group)
def state() -> None:
    """Save an aged drive, to start runs from (`run --state FILE`)."""


@state.command()
@click.argument("file")
@options.add(options.DRIVE, options.START)
def save(file: str, **given: Any) -> int:
    """Age a drive as the options say and save it to FILE."""
    Target("FILE", file)
    with Line() as line:
        interrupted = _native.save_state(to_json(options.plan_of(given)), file, line)
    if interrupted:
        raise KeyboardInterrupt
    click.echo(f"saved {file}")
    return 0


@state.command()
@click.argument("file")
def load(file: str) -> int:
    """Check a saved drive and say what it holds."""
    for name, value in json.loads(_native.load_state(file)).items():
        click.echo(f"{name:<16} {value}")
    return 0
