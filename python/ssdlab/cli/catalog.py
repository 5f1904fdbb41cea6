"""``ssdlab preset`` and ``ssdlab scheme``: list and show drives and schemes."""

from __future__ import annotations

import click

from ssdlab import _native
from ssdlab.arguments import text
from ssdlab.cli import completion
from ssdlab.cli.parameters import CommandGroup


@click.group(cls=CommandGroup)
def preset() -> None:
    """List the drives that can be simulated, or show one."""


@preset.command("list")
def list_presets() -> None:
    """List the names for --device."""
    _list(_native.presets())


@preset.command("show")
@click.argument("name", shell_complete=completion.device)
def show_preset(name: str) -> None:
    """Show the settings of a drive, in TOML."""
    click.echo(_native.preset_text(text("NAME", name)).rstrip())


@click.group(cls=CommandGroup)
def scheme() -> None:
    """List the schemes that a drive can be run with, or show one."""


@scheme.command("list")
def list_schemes() -> None:
    """List the names for --scheme."""
    _list(_native.schemes())


@scheme.command("show")
@click.argument("name", shell_complete=completion.scheme)
def show_scheme(name: str) -> None:
    """Show the settings of a scheme, in TOML."""
    toml = _native.scheme_text(text("NAME", name)).rstrip()
    click.echo(toml or f"# {dict(_native.schemes())[name]}")


def _list(entries: list[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in entries)
    for name, summary in entries:
        click.echo(f"{name:<{width}}  {summary}")
