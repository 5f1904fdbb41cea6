"""Draw README's picture, docs/images/blame-read.svg, from the runs that README shows."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import ssdlab
from ssdlab_reproduction.tables.common import DOCS, ROOT

PICTURE = DOCS / "images" / "blame-read.svg"
MARGIN = 12
"""Room in points left of the labels, for a reader without the font that the figure is laid out in.

A fallback such as DejaVu Sans is wider.
"""
_SIZE = re.compile(
    r'width="([\d.]+)in" height="(\S+)in" viewBox="0 0 ([\d.]+) ([\d.]+)">'
    r'(.*?)<rect width="[\d.]+" height="[\d.]+"',
    re.DOTALL,
)


def with_margin(svg: str) -> str:
    """Return a figure with room on its left."""

    def wider(found: re.Match[str]) -> str:
        points = float(found[3]) + MARGIN
        inches = float(found[1]) * points / float(found[3])
        return (
            f'width="{inches:.3f}in" height="{found[2]}in"'
            f' viewBox="-{MARGIN} 0 {points:g} {found[4]}">{found[5]}'
            f'<rect x="-{MARGIN}" width="{points:g}" height="{found[4]}"'
        )

    wide, count = _SIZE.subn(wider, svg, count=1)
    if not count:
        message = f"{PICTURE.name}: no size and background as figures have them"
        raise ValueError(message)
    return wide


def main() -> None:
    """Run the plans and draw the picture."""
    # The picture names the trace as a reader in a checkout does.
    os.chdir(ROOT)
    plan = ssdlab.Plan(trace="examples/office.csv.xz", detail=True)
    vary = {"scheduler": ["fifo", "read_first"], "suspend": ["none", "program_erase"]}
    with tempfile.TemporaryDirectory() as folder:
        ssdlab.save_figures(ssdlab.compare(ssdlab.sweep(plan, vary=vary)), folder)
        drawn = (Path(folder) / PICTURE.name).read_text(encoding="utf-8")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(with_margin(drawn), encoding="utf-8")


if __name__ == "__main__":
    main()
