"""The common parts of all figures: names and colors of runs, axes of time and of latency."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import PurePath
from typing import Any, Protocol

import altair as alt

from ssdlab import escaping
from ssdlab.errors import InputError
from ssdlab.render.figures.fills import HATCHES, Fill
from ssdlab.render.text.comparison import labeled_results
from ssdlab.result import Comparison, Result
from ssdlab.result.detail import Detail

KINDS = ("read", "write")
_MAX_FULL_LANES = 12
"""With more bars than this, each bar is thinner."""

# Hues after Okabe and Ito, each with a lightness of its own that stands out against the background.
# They differ in a gray print, and for a reader who sees no red or no green.
LIGHT = ("#0b45a5", "#ca5802", "#036e42", "#d66fae", "#533501", "#0576ad", "#858585", "#645401")
DARK = ("#3b9fe6", "#ff9858", "#1fe6b0", "#d93e9b", "#fed65c", "#68c9fe", "#a6a6a6", "#908d00")
# From dark to light; each stands out from a white page and from a dark one.
_RAMP = ("#745bb6", "#2375d1", "#088aa7", "#049878", "#6d9a38", "#b38d2a")
DASHES: tuple[list[int], ...] = (
    *([1, 0], [5, 3], [2, 2], [7, 2, 2, 2]),
    *([1, 3], [10, 3], [3, 2, 1, 2], [5, 2, 1, 2, 1, 2]),
)
# Shapes of points, each with its outline from -1 to 1.
SHAPES = {
    "circle": "M.9,0A.9,.9,0,1,1,-.9,0A.9,.9,0,1,1,.9,0Z",
    "diamond": "M0,-1.2L1.2,0L0,1.2L-1.2,0Z",
    "square": "M-.8,-.8H.8V.8H-.8Z",
    "triangle-up": "M0,-1L1.1,.9H-1.1Z",
    "cross": "M-.4,-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
    "triangle-down": "M0,1L1.1,-.9H-1.1Z",
    "triangle-right": "M1,0L-.9,1.1V-1.1Z",
    "triangle-left": "M-1,0L.9,1.1V-1.1Z",
}
SAME = " · "
"""Stands between the names of runs that are drawn as one; a legend breaks its lines there."""


@dataclass(frozen=True, slots=True)
class Run:
    """A drawn result, and its name in the figures."""

    label: str
    result: Result
    detail: Detail

    def slug(self, among: Sequence[Run]) -> str:
        """Return the suffix in the name of a figure that shows this run alone."""
        if len(among) == 1:
            return ""
        words = re.sub(r"[^a-z0-9]+", "-", self.label.lower()).strip("-")
        return f"-{among.index(self) + 1}-{words}"[:60].rstrip("-")


class Labeled(Protocol):
    """An object with a name in the figures: a run, a trace."""

    @property
    def label(self) -> str:
        """Return the name."""
        ...


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of a legend: its label, its color, and its mark.

    The color is that of a run by number, a color, or the fill of a bar.

    The mark of a line is its dash; ``marker`` is the outline of the points on it.
    """

    label: str
    color: str | int | Fill | None = None
    mark: str = "box"
    dash: Sequence[int] = ()
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its file name, section, title, caption and chart.

    ``keys`` is its legend, where the legend can stand outside the chart. ``lanes`` counts its bars,
    ``lines`` the lines of their labels, and ``marks`` the marks above one another in each bar.
    These three determine the height. ``many`` means so many marks that pixels suit better than
    outlines. ``subject`` names the runs of the figure.
    """

    name: str
    section: str
    title: str
    what: str
    chart: alt.Chart | alt.LayerChart
    keys: Sequence[Key] = field(default_factory=tuple)
    lanes: int = 0
    lines: int = 1
    marks: int = 1
    many: bool = False
    subject: str = ""

    @property
    def fills(self) -> list[Fill]:
        """Return the fills of the figure's bars, each once."""
        tones = dict.fromkeys(key.color for key in self.keys)
        return [tone for tone in tones if isinstance(tone, Fill)]

    def lane(self, least: int, thin: int, line: int, mark: int) -> int:
        """Return the height of a lane, from the heights of a line of its label and of a mark."""
        if self.lanes > _MAX_FULL_LANES and self.lines == self.marks == 1:
            return thin
        return max(least, line * self.lines + 5, mark * self.marks + 4)

    def center_labels(self, spec: dict[str, Any], line: int) -> None:
        """Center labels of several lines beside their bars; otherwise they would hang below."""
        if self.lines > 1:
            spec["encoding"]["y"]["axis"]["labelOffset"] = -line * (self.lines - 1) / 2


def runs_of(comparison: Comparison) -> list[Run]:
    """Return the runs to draw, each with its own name; of several seeds, only the first.

    Raises :class:`InputError` if a run has no detail.
    """
    named = labeled_results(comparison)
    if len({result.workload for _, result in named}) > 1:
        named = [(f"{label}, {PurePath(run.workload).name}", run) for label, run in named]
    runs = []
    for label, result in zip(
        escaping.display_labels(label for label, _ in named), named, strict=True
    ):
        if result[1].detail is None:
            raise InputError("a report needs runs with detail=True (Plan), got one without")
        runs.append(Run(label, result[1], result[1].detail))
    return runs


# Colors and dashes.


def run_keys(runs: Sequence[Labeled]) -> list[Key]:
    """Return the legend of the runs' colors; a single run needs none."""
    if len(runs) == 1:
        return []
    tones = palette(len(runs))
    return [Key(run.label, tones[at] if tones else at) for at, run in enumerate(runs)]


def dash_keys(names: Sequence[str]) -> list[Key]:
    """Return the legend of names that :func:`dash` dashes; nothing if there is but one."""
    if len(names) < 2:
        return []
    return [Key(name, dash=dash_of(at)) for at, name in enumerate(names)]


def dash_of(at: int) -> list[int]:
    """Return the dash of a run or of another name by its place."""
    return DASHES[at % len(DASHES)]


def shape_of(at: int) -> str:
    """Return the name of the shape of a run or of another name by its place."""
    return list(SHAPES)[at % len(SHAPES)]


def palette(count: int) -> list[str] | None:
    """Return ``count`` colors if the theme has fewer, else None."""
    if count <= len(LIGHT):
        return None
    return ramp(count)


def ramp(count: int) -> list[str]:
    """Return ``count`` colors from dark to light, none equal to a run's."""
    return [_between(_RAMP, at / max(1, count - 1)) for at in range(count)]


def ramp_fills(count: int) -> list[Fill]:
    """Return ``count`` fills from dark to light; neighbors differ in the hatch."""
    tones = enumerate(ramp(count))
    return [Fill(tone, tone, HATCHES[at % len(HATCHES)]) for at, tone in tones]


def _between(stops: Sequence[str], at: float) -> str:
    below = min(int(at * (len(stops) - 1)), len(stops) - 2)
    part = at * (len(stops) - 1) - below
    pairs = zip(bytes.fromhex(stops[below][1:]), bytes.fromhex(stops[below + 1][1:]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def color(runs: Sequence[Labeled], symbol: str = "stroke") -> alt.Color:
    """Color by run, the same all over the page; a legend shows it as a line or another symbol."""
    legend = None
    if len(runs) > 1:
        legend = alt.Legend(title=None, symbolType=symbol, symbolOpacity=1)
    return color_names([run.label for run in runs], legend)


def color_names(labels: Sequence[str], legend: alt.Legend | None) -> alt.Color:
    """Color runs of these names by their places."""
    scale: dict[str, Any] = {"domain": list(labels)}
    tones = palette(len(labels))
    if tones:
        scale["range"] = tones
    return alt.Color("label:N", scale=alt.Scale(**scale), legend=legend)


def dash(names: Sequence[str], fieldname: str) -> alt.StrokeDash:
    """Dash by what a field says."""
    scale = alt.Scale(domain=list(names), range=[dash_of(at) for at, _ in enumerate(names)])
    legend = dash_legend() if len(names) > 1 else None
    return alt.StrokeDash(f"{fieldname}:N", scale=scale, legend=legend)


def dash_legend(**options: Any) -> alt.Legend:
    """Return a legend whose lines are so long that a dash is to be seen.

    A longer symbol would be as high; this one sticks out on both sides, so that it is moved, and
    its label makes room.
    """
    return alt.Legend(
        title=None,
        symbolType=LINE_SYMBOL,
        symbolSize=SYMBOL**2,
        symbolOffset=(LEGEND_LINE - SYMBOL) / 2,
        labelOffset=(LEGEND_LINE - SYMBOL) / 2 + 4,
        symbolOpacity=1,
        **options,
    )


LEGEND_LINE = 24
"""The length of a line in a legend."""
SYMBOL = 6
"""The size of a symbol of which such a line is a part."""
LINE_SYMBOL = f"M{-LEGEND_LINE / SYMBOL:g},0H{LEGEND_LINE / SYMBOL:g}"
"""The outline of such a line; it has no area, so that as a point it is not to be seen."""


def dashed_symbol(dash: Sequence[int]) -> str:
    """Return the outline of such a line with its dashes as pieces of their own.

    A symbol has one dash for all of its outline: a marker beside the line would have it, too.
    """
    if not dash[1]:
        return LINE_SYMBOL
    unit, at, pieces = SYMBOL / 2, 0, ""
    for turn, length in enumerate(cycle(dash)):
        if at >= LEGEND_LINE:
            return pieces
        end = min(at + length, LEGEND_LINE)
        if turn % 2 == 0:
            left, right = ((one - LEGEND_LINE / 2) / unit for one in (at, end))
            pieces += f"M{left:.4g},0H{right:.4g}"
        at = end
    raise AssertionError


# Numbers, words and axes.


def label_lines(labels: Iterable[str]) -> int:
    """Return how many lines the labels of bars take; a label is broken at commas."""
    return max((label.count(", ") + 1 for label in labels), default=1)


LABEL_LINES_EXPR = "split(datum.label, ', ')"
"""The expression that breaks a label into lines."""


def rounded(value: float | None, digits: int = 6) -> float | None:
    """Round to significant digits: more than a drawing shows, fewer than a float has."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def inline_data(rows: list[dict[str, Any]]) -> alt.InlineData:
    """Return rows as the data of a chart."""
    return alt.InlineData(values=rows)


def time_unit_us(most_us: float) -> tuple[str, float]:
    """Return the unit that suits a time in microseconds, and the length of the unit in µs."""
    units = (("µs", 1.0), ("ms", 1e3), ("s", 1e6))
    fitting = [unit for unit in units if most_us >= unit[1]]
    return fitting[-1] if fitting else ("ns", 1e-3)


def time_unit_s(most_s: float) -> tuple[str, float]:
    """Return the unit that suits a time since the start, and the length of the unit in s."""
    units = (("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0))
    fitting = [unit for unit in units if most_s >= 1.5 * unit[1]]
    return fitting[-1] if fitting else units[0]
