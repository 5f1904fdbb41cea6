"""``ssdlab config``: check and explain settings."""

from __future__ import annotations

import json
from typing import Any

import click

from ssdlab import _native, api
from ssdlab.cli import options
from ssdlab.cli.outputs import check_outputs
from ssdlab.cli.parameters import CommandGroup
from ssdlab.plan import to_json


@click.group(cls=CommandGroup)
def config() -> None:
    """Validate settings and list all keys."""


@config.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--show", is_flag=True, help="List every setting and where its value comes from.")
@click.option("--toml", is_flag=True, help="Print the whole config as one TOML file.")
@options.add(options.DRIVE)
def validate(files: tuple[str, ...], **parameters: Any) -> None:
    """Validate settings over a device and a scheme.

    FILEs hold settings in TOML, as for --config. --set goes over them.
    """
    parameters["config"] = (*parameters["config"], *files)
    plan = options.plan_from(parameters)
    check_outputs(api.input_files([plan]), [])
    toml, listing, digest = _native.effective(to_json(plan))
    if parameters["toml"]:
        click.echo(toml.rstrip())
        return
    if parameters["show"]:
        click.echo(listing.rstrip())
        click.echo()
    click.echo(f"valid: {plan.device}, {plan.scheme}, config {digest}")


@config.command()
def schema() -> None:
    """Print the JSON Schema of a config."""
    click.echo(json.dumps(json.loads(_native.schema()), indent=2, ensure_ascii=False))


@config.command()
def keys() -> None:
    """Print every key: meaning, unit, default and source.

    The output is Markdown, as on the documentation's page "Config keys".
    """
    click.echo(_native.keys_markdown().rstrip())
