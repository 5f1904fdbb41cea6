"""Draw README's picture, two charts of the report on the runs that README shows."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import ssdlab
from ssdlab_reproduction.tables.common import DOCS, ROOT

PICTURE = DOCS / "images" / "report.svg"
CHARTS = ("latency-tail-read", "blame-read")
WIDTH = 880
"""Pixels of the picture, the width of a README on GitHub."""
MARGIN = 12
"""Room in points left of the labels, for a reader without the font that the figure is laid out in.

A fallback such as DejaVu Sans is wider.
"""
_SIZE = re.compile(
    r'width="([\d.]+)in" height="(\S+)in" viewBox="0 0 ([\d.]+) ([\d.]+)">'
    r'(.*?)<rect width="[\d.]+" height="[\d.]+"',
    re.DOTALL,
)
_ROOT = re.compile(r'<svg [^>]*viewBox="(\S+ \S+) ([\d.]+) ([\d.]+)">')
_NAMED = re.compile(r'(\bid="|url\(#|href="#)')
TITLE = "Read latency and its parts under four settings of a drive"


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


def side_by_side(charts: Sequence[str]) -> str:
    """Return charts as one picture, each with its own names of clips."""
    parts: list[str] = []
    right, bottom = 0.0, 0.0
    for number, chart in enumerate(charts):
        found = _ROOT.match(chart)
        if found is None:
            message = f"{PICTURE.name}: no size and view as figures have them"
            raise ValueError(message)
        own = _NAMED.sub(rf"\g<1>c{number}-", chart[found.end() :])
        width, height = float(found[2]), float(found[3])
        parts.append(
            f'<svg x="{right:g}" width="{width:g}" height="{height:g}"'
            f' viewBox="{found[1]} {width:g} {height:g}">{own}'
        )
        right, bottom = right + width, max(bottom, height)
    size = f'width="{WIDTH}" height="{WIDTH * bottom / right:.0f}"'
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' {size} viewBox="0 0 {right:g} {bottom:g}">'
        f'<title>{TITLE}</title><rect width="{right:g}" height="{bottom:g}" fill="white"/>'
        f"{''.join(parts)}</svg>"
    )


def draw() -> str:
    """Run the plans and return the picture."""
    # The picture names the trace as a reader in a checkout does.
    os.chdir(ROOT)
    plan = ssdlab.Plan(trace="examples/office.csv.xz", detail=True)
    vary = {"scheduler": ["fifo", "read_first"], "suspend": ["none", "program_erase"]}
    with tempfile.TemporaryDirectory() as folder:
        ssdlab.save_figures(ssdlab.compare(ssdlab.sweep(plan, vary=vary)), folder)
        files = [Path(folder) / f"{name}.svg" for name in CHARTS]
        drawn = [with_margin(file.read_text(encoding="utf-8")) for file in files]
    return side_by_side(drawn)


def main() -> None:
    """Write the picture."""
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
