"""Colors of runs and bars: distinct in gray, for all readers, and from the page."""

import math
import re
from itertools import combinations
from pathlib import Path

import example_results
import pytest
from command import ROOT

from ssdlab.render.figures import base, blame, drawing, drive, fills, queues
from ssdlab.render.figures.base import DARK, LIGHT
from ssdlab.render.figures.drawing import PAPER
from ssdlab.render.figures.fills import Fill
from ssdlab.render.figures.report import comparison_figures
from ssdlab.result import Comparison

PALETTES = {"light": (LIGHT, "#ffffff"), "dark": (DARK, "#14171a")}
# Machado, Oliveira and Fernandes 2009, severity 1: linear RGB as it is seen.
SIGHTS = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
Triple = tuple[float, ...]
XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE = (0.95047, 1.0, 1.08883)


def times(matrix: tuple[Triple, ...], vector: Triple) -> Triple:
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)


def linear(tone: str) -> Triple:
    parts = [int(part, 16) / 255 for part in re.findall("[0-9a-f]{2}", tone)]
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)


def lab(rgb: Triple) -> Triple:
    """Lightness from 0 to 100, and the two axes of hue, of CIE 1976."""
    x, y, z = (
        math.cbrt(part / white)
        if part / white > 216 / 24389
        else (841 / 108 * part / white + 4 / 29)
        for part, white in zip(times(XYZ, rgb), WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(tone: str, sight: str) -> Triple:
    return lab(tuple(min(1.0, max(0.0, c)) for c in times(SIGHTS[sight], linear(tone))))


@pytest.mark.parametrize("name", PALETTES)
def test_a_gray_print_tells_the_colors_of_runs_apart(name: str) -> None:
    lightness = [lab(linear(tone))[0] for tone in PALETTES[name][0]]
    for least, count in ((8, 4), (4, 8)):
        assert min(abs(a - b) for a, b in combinations(lightness[:count], 2)) > least, lightness


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("name", PALETTES)
def test_every_reader_tells_the_colors_of_runs_apart(name: str, sight: str) -> None:
    found = [seen(tone, sight) for tone in PALETTES[name][0]]
    for least, count in ((18, 4), (11, 8)):
        assert min(math.dist(a, b) for a, b in combinations(found[:count], 2)) > least


def contrast(one: str, other: str) -> float:
    """The contrast of two colors after WCAG 2, from 1 to 21."""
    high, low = sorted((times(XYZ, linear(each))[1] for each in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


LEAST_CONTRAST = 3
"""WCAG 2 asks for this much of what is no text."""


@pytest.mark.parametrize("name", PALETTES)
def test_lines_stand_out_from_the_page(name: str) -> None:
    tones, page = PALETTES[name]
    for tone in [*tones, *base.ramp(20)]:
        assert contrast(tone, page) > LEAST_CONTRAST, tone


BARS = {
    "blame": [*(part.fill for part in blame.PARTS.values()), blame.part_of(blame.OTHER).fill],
    "causes": [fill for _, fill in drive._CAUSES.values()],
    "page types": list(fills.PAGE_TYPES),
    "levels": list(fills.LEVELS),
    "waiting": [fill for _, fill in queues._WAITING],
    "papers": base.ramp_fills(6),
}
FAR = 14
"""Bars of the same hatch differ by this much in lightness, of 100."""


def test_the_pages_have_the_tested_colors() -> None:
    style = (ROOT / "python/ssdlab/render/html/page.css").read_text(encoding="utf-8")
    assert re.findall("--back: (#[0-9a-f]{6});", style) == [page for _, page in PALETTES.values()]


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("name", BARS)
def test_bars_stand_out_from_the_page(name: str, theme: str) -> None:
    # The lines of a hatch have the color of the page, so that they stand out from the bar, too.
    for fill in BARS[name]:
        assert contrast(getattr(fill, theme), PALETTES[theme][1]) > LEAST_CONTRAST, fill


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("name", BARS)
def test_a_gray_print_tells_any_two_bars_apart(name: str, theme: str) -> None:
    # Bars leave parts out, so that any two may be neighbors.
    for one, other in combinations(BARS[name], 2):
        shades = [lab(linear(getattr(fill, theme)))[0] for fill in (one, other)]
        assert one.hatch != other.hatch or abs(shades[0] - shades[1]) > FAR, (one, other)


def test_hatches_are_different_lines() -> None:
    assert {fill.hatch for each in BARS.values() for fill in each} == set(fills.HATCHES)
    drawn = {
        fills._pattern(Fill("#000000", "#000000", hatch), "", "", "") for hatch in fills.HATCHES
    }
    outlines = {re.findall(' d="([^"]+)"', each)[-1] for each in drawn}
    assert len(outlines) == len(fills.HATCHES)


def test_a_figure_has_the_patterns_of_its_hatched_bars() -> None:
    found = {one.name: one for one in comparison_figures(Comparison([example_results.busy()]))}
    for name in ("blame-read", "blame-write", "programs", "slowest"):
        svg = drawing.draw(found[name])["svg"].decode()
        hatched = {fill.id for fill in found[name].fills if fill.hatch}
        assert hatched, name
        assert set(re.findall('<pattern id="([^"]+)"', svg)) == hatched
        used = re.findall(r'<path[^>]*fill="url\(#([^)]+)\)"', svg)
        assert set(used) == hatched
        assert f"stroke: {PAPER['background']}" in svg
    assert "<pattern" not in drawing.draw(found["latency-cdf-read"])["svg"].decode()


def test_parts_of_bars_are_parted_by_the_page_s_own_color() -> None:
    for figure in comparison_figures(Comparison([example_results.one(), example_results.busy()])):
        spec = figure.chart.to_dict()
        if spec["encoding"].get("x", {}).get("stack") == "zero":
            assert spec["mark"] == {"type": "bar", "style": "part"}, figure.name
    assert PAPER["style"]["part"]["stroke"] == PAPER["background"]


DRAWN = [
    path
    for folder in ("images", "guides/calibrate", "project/performance")
    for path in sorted((ROOT / "docs" / folder).glob("*.svg"))
]
"""The pictures of the pages that a generator draws."""


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.stem)
def test_the_pictures_of_pages_have_the_tones_of_today(path: Path) -> None:
    today = {*LIGHT, *(fill.light for fill in BARS["blame"])}
    today |= set(re.findall("#[0-9a-f]{6}", str(PAPER)))
    drawn = re.findall("#[0-9a-f]{6}", path.read_text(encoding="utf-8"))
    assert drawn
    assert not set(drawn) - today, "draw it anew: make docs, make fit or scale_table.py --draw"
