"""``ssdlab reproduce``: the ledger, which is a separate package beside the wheel."""

from __future__ import annotations

import click

from ssdlab.errors import InputError

_PACKAGE = "ssdlab_reproduction"


@click.command(
    name="reproduce",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def _not_installed(**_: object) -> None:
    """Recompute the papers' claims beside the published figures."""
    expected = "run `pip install ./reproduction` in a checkout of ssdlab"
    raise InputError(f"ssdlab reproduce: the package {_PACKAGE} is not installed: {expected}")


def command() -> click.Command:
    """Return the ledger's command, or a command that says which package to install."""
    try:
        from ssdlab_reproduction.command import reproduce_command  # noqa: PLC0415  it may be absent
    except ModuleNotFoundError as error:
        if error.name != _PACKAGE:
            raise
        return _not_installed
    return reproduce_command
