"""``ssdlab state``: aged drives, saved and looked at."""

from __future__ import annotations

import json
from typing import Any

import click

from ssdlab import _native, api, report, shown
from ssdlab.cli import exits, options
from ssdlab.cli.lines import Group, tell
from ssdlab.files import Target, check_apart
from ssdlab.plans import to_json
from ssdlab.progress import Line
from ssdlab.results import PreconditionResult
from ssdlab.text import share


@click.group(cls=Group)
def state() -> None:
    """Save an aged drive, to start runs from (`run --state FILE`)."""


@state.command()
@click.argument("file")
@options.add(options.DRIVE, options.START, options.APPS)
def save(file: str, **given: Any) -> int:
    """Age a drive as the options say and save it to FILE.

    Where blocks are kept apart by priority (ReadGuard's schemes), --workload, --mix or --app says
    whose pages are whose.
    """
    plan = options.plan_of(given)
    check_apart(api.files_read([plan]), [("FILE", file)])
    Target("FILE", file)
    with Line() as line:
        header, interrupted = _native.save_state(to_json(plan), file, line)
    saved = json.loads(header)
    if saved is not None:
        _tell(file, saved)
    if interrupted:
        tell("interrupted")
        return exits.INTERRUPTED
    return 0


@state.command()
@click.argument("file")
def load(file: str) -> None:
    """Check a saved drive and say what it holds."""
    _tell(file, json.loads(_native.load_state(file)))


def _tell(file: str, header: dict[str, Any]) -> None:
    """Say what a state file holds, and how a run begins from it."""
    filled = header["mapped_pages"] / header["logical_pages"]
    names = ("device", "scheme", "version")
    device, scheme, version = (shown.label(header[name]) for name in names)
    aged = f"{device}, aged under {scheme}, seed {header['seed']}"
    click.echo(f"{shown.label(file)}: {aged}")
    click.echo(f"pages   {header['mapped_pages']:,} hold data, {share(filled)} of the drive")
    if header["steady"]:
        click.echo(f"start   {report.steadiness(PreconditionResult(**header['steady']))}")
    click.echo(f"config  {header['config_hash']}")
    click.echo(f"saved by ssdlab {version}, contents {header['contents_sha256']}")
