"""``ssdlab reproduce``: the claims of the five papers, recomputed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ssdlab import escaping
from ssdlab.arguments import MAX_COUNT
from ssdlab.cli import exit_codes
from ssdlab.cli.messages import print_error
from ssdlab.cli.outputs import check_outputs, printed_to
from ssdlab.cli.parameters import WholeNumber
from ssdlab.errors import one_line
from ssdlab.files import File, OutputFolder
from ssdlab.signals import held_back
from ssdlab.sweeps import MAX_RUNS
from ssdlab_reproduction import ledger_text
from ssdlab_reproduction.claim import SYSTEMS
from ssdlab_reproduction.ledger import ALL, SEEDS, reproduce

_OUT = "ssdlab-reproduction"
_TEXTS = ("ledger.md", "ledger.json", "report.html")
_ENDINGS = (".md", ".json", ".html", ".pdf")


@click.command(name="reproduce")
@click.argument("names", nargs=-1, metavar=f"[{'|'.join(SYSTEMS)}|{ALL}|CLAIM]...")
@click.option("--quick", is_flag=True, help="Take a first look in minutes: short runs, one seed.")
@click.option("--traces", metavar="DIR", help="Replace twins by the real traces in this folder.")
@click.option(
    "--out",
    metavar="DIR",
    default=_OUT,
    show_default=True,
    help="Keep the ledger and finished runs here; a stopped command resumes from them.",
)
@click.option(
    "--jobs",
    type=WholeNumber(1),
    metavar="N",
    help="Run N at a time (default: as many as cores and memory allow).",
)
@click.option(
    "--seeds",
    type=WholeNumber(1),
    metavar="N",
    help=f"Run with seeds 1 to N (default: {SEEDS}, with --quick 1).",
)
@click.option(
    "--max-runs",
    type=WholeNumber(1, MAX_COUNT),
    metavar="N",
    default=MAX_RUNS,
    show_default=True,
    help="Refuse a ledger of more runs; rulings seen both ways come on top.",
)
def reproduce_command(names: tuple[str, ...], **options: Any) -> int:
    """Recompute the papers' claims beside the published figures.

    Name systems or single claims (R14 P1); without names, recompute all.
    docs/ledger.md has the last result and explains it.
    """
    found = [] if options["traces"] is None else Path(options["traces"]).glob("*")
    real: list[File] = [("--traces", file) for file in found]
    folder = OutputFolder("--out", options["out"], [*real, *printed_to()], _ENDINGS)
    check_outputs(real, [("--out", Path(options["out"], name)) for name in _TEXTS])
    try:
        ledger = reproduce(names or [ALL], **options)
    except KeyboardInterrupt:
        kept = one_line(options["out"])
        print_error(f"interrupted: finished runs are kept in {kept}, and the same command goes on")
        return exit_codes.INTERRUPTED
    with held_back():
        from ssdlab.render.figures import drawing  # noqa: PLC0415  loaded only to draw
        from ssdlab_reproduction import ledger_figures, ledger_page  # noqa: PLC0415  as above

    data = json.dumps(ledger.to_dict(), indent=2, ensure_ascii=False) + "\n"
    markdown = escaping.escape(ledger_text.ledger_markdown(ledger))
    texts = dict(zip(_TEXTS, (markdown, data, ledger_page.ledger_page(ledger)), strict=True))
    drawings = drawing.figure_files(ledger_figures.ledger_figures(ledger), ["pdf"])
    # A byte of a file name that is not UTF-8 becomes an escape that is valid in JSON, too.
    written = {name: text.encode(errors="backslashreplace") for name, text in texts.items()}
    folder.write({**written, **drawings})
    click.echo(escaping.escape(ledger_text.ledger_text(ledger)))
    return 0
