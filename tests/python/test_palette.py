"""Colors of runs: told apart in gray, by readers who see no red or no green, and from the page."""

import math
import re
from collections.abc import Iterable
from itertools import combinations, pairwise
from pathlib import Path

import example_results
import pytest
from command import ROOT

from ssdlab.render.figures import blame, drive, levels, page_types, queues
from ssdlab.render.figures.base import DARK, LIGHT
from ssdlab.render.figures.drawing import PAPER
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


@pytest.mark.parametrize("name", PALETTES)
def test_lines_stand_out_from_the_page(name: str) -> None:
    tones, page = PALETTES[name]
    for tone in tones:
        high, low = sorted((times(XYZ, linear(each))[1] for each in (tone, page)), reverse=True)
        # WCAG 2 asks for this much of what is no text.
        assert (high + 0.05) / (low + 0.05) > 3, tone


BARS = {
    "blame": [*(part.color for part in blame.PARTS.values()), blame.part_of(blame.OTHER).color],
    "causes": [tone for _, tone in drive._CAUSES.values()],
    "page types": page_types._TONES,
    "levels": levels._TONES,
    "waiting": [tone for _, tone in queues._WAITING],
}
# The parts of most bars: reads and writes, with garbage collection and retries.
COMMON = (
    *("host_queue", "buffer", "die_host", "die_gc", "bus", "sense", "retry", "transfer"),
    *("program", blame.OTHER),
)


def least_step(tones: Iterable[str]) -> float:
    """Return the least difference in lightness of any two, so that a bar may leave parts out."""
    lightness = [lab(linear(tone))[0] for tone in tones]
    return min(abs(one - other) for one, other in combinations(lightness, 2))


@pytest.mark.parametrize("name", BARS)
def test_a_gray_print_tells_the_neighbors_in_a_bar_apart(name: str) -> None:
    lightness = [lab(linear(tone))[0] for tone in BARS[name]]
    assert min(abs(one - other) for one, other in pairwise(lightness)) > 7, lightness
    # The parts of blame are too many to be as far apart as those of the other bars.
    assert least_step(BARS[name]) > (3 if name == "blame" else 7)


def test_a_gray_print_tells_any_two_parts_of_most_bars_apart() -> None:
    assert least_step(blame.part_of(name).color for name in COMMON) > 6
    # These meet in nearly every report, where a short part between them is left out, too.
    reads, writes = ("die_host", "bus", "sense", "transfer"), ("die_host", "transfer", "program")
    for names in (reads, writes, ("die_host", "die_gc", "program", blame.OTHER)):
        for pair in (*pairwise(names), (names[0], names[2])):
            assert least_step(blame.part_of(name).color for name in pair) > 12, pair


@pytest.mark.parametrize("page", [page for _, page in PALETTES.values()])
def test_parts_of_bars_are_seen_on_the_page(page: str) -> None:
    for name in blame.PARTS:
        assert least_step([page, blame.part_of(name).color]) > 9, name


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
    today = {*LIGHT, *(part.color for part in blame.PARTS.values())}
    today |= set(re.findall("#[0-9a-f]{6}", str(PAPER)))
    drawn = re.findall("#[0-9a-f]{6}", path.read_text(encoding="utf-8"))
    assert drawn
    assert not set(drawn) - today, "draw it anew: make docs, make fit or scale_table.py --draw"
