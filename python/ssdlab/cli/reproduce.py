"""``ssdlab reproduce``: what the five papers claim, recomputed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ssdlab import shown
from ssdlab.claims import SYSTEMS, words
from ssdlab.claims.ledger import ALL, SEEDS, reproduce
from ssdlab.cli import exits
from ssdlab.cli.lines import Whole, tell
from ssdlab.files import Folder

_OUT = "ssdlab-reproduction"
_ENDINGS = (".md", ".json", ".html", ".pdf")


@click.command(name="reproduce")
@click.argument("names", nargs=-1, metavar=f"[{'|'.join(SYSTEMS)}|{ALL}|CLAIM]...")
@click.option("--quick", is_flag=True, help="A first look in minutes: short runs, one seed.")
@click.option("--traces", metavar="DIR", help="Real traces, which take the place of their twins.")
@click.option(
    "--out",
    metavar="DIR",
    default=_OUT,
    show_default=True,
    help="Where the ledger goes, and finished runs: what was stopped goes on there.",
)
@click.option(
    "--jobs",
    type=Whole(1),
    metavar="N",
    help="Runs at a time; as cores and memory allow if not given.",
)
@click.option(
    "--seeds",
    type=Whole(1),
    metavar="N",
    help=f"Seeds from 1 on; {SEEDS} if not given, 1 with --quick.",
)
def reproduce_command(names: tuple[str, ...], **given: Any) -> int:
    """Recompute what the papers claim, beside what they print.

    Of all systems, of those that are named, or single claims (R14 P1).
    docs/reproduction.md has the last result, and says what there is to see.
    """
    real = [] if given["traces"] is None else Path(given["traces"]).glob("*")
    folder = Folder("--out", given["out"], [("--traces", file) for file in real], _ENDINGS)
    try:
        ledger = reproduce(names or [ALL], **given)
    except KeyboardInterrupt:
        tell(f"interrupted: finished runs are kept in {given['out']}, and the same command goes on")
        return exits.INTERRUPTED
    from ssdlab.claims import drawn, page  # noqa: PLC0415  loaded when something is to be drawn
    from ssdlab.figures import render  # noqa: PLC0415  as above

    data = json.dumps(ledger.to_dict(), indent=2, ensure_ascii=False) + "\n"
    texts = {
        "ledger.md": shown.text(words.markdown(ledger)),
        "ledger.json": data,
        "report.html": page.html(ledger),
    }
    drawings = render.files(drawn.of_ledger(ledger), ["pdf"])
    # A byte of a file's name that is no UTF-8 is an escape, of which JSON knows the same form.
    written = {name: text.encode(errors="backslashreplace") for name, text in texts.items()}
    folder.write({**written, **drawings})
    click.echo(shown.text(words.text(ledger)))
    return 0
