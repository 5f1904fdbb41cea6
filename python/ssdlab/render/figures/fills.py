"""Fills of bars: a color for a white page, one for a dark page, and a hatch for a gray print.

Each color stands out from its page. A hatch has lines in the color of the page, so that these stand
out from the color. Bars leave parts out, so that any two of them may be neighbors: they differ in
the hatch, or by far in lightness.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

_TILE, _STEP, _WIDTH = 30, 5, 0.6
"""The sides of a pattern, the distance of its lines, and their width, in points of a paper.

A side is a whole number of pixels at 300 dpi; otherwise a seam is visible between two tiles.
"""
_PAGE_SCALE = 1.5
"""The size of a pattern on a page, against that on paper."""


class Fill(NamedTuple):
    """The fill of a bar: its colors on a white and on a dark page, and the name of its hatch."""

    light: str
    dark: str
    hatch: str = ""

    @property
    def id(self) -> str:
        """Return the name of the pattern in a drawing."""
        return "-".join(filter(None, ["fill", self.light.removeprefix("#"), self.hatch]))

    @property
    def paint(self) -> str:
        """Return the reference to the pattern."""
        return f"url(#{self.id})"


FILLS = {
    "host_queue": Fill("#41454a", "#71757b", "slash"),
    "page": Fill("#c23259", "#ff708c", "backslash"),
    "buffer": Fill("#726391", "#a897c8", "dots"),
    "map": Fill("#5c3f12", "#916e40", "cross"),
    "die_host": Fill("#c48601", "#ffc164"),
    "die_gc": Fill("#b84600", "#ec834e", "slash"),
    "die_wl": Fill("#881608", "#c35037", "backslash"),
    "die_migration": Fill("#e96c4b", "#febda9", "cross"),
    "die_mapping": Fill("#6b370c", "#a3663a", "dots"),
    "die_rmw": Fill("#a09402", "#dece5c", "lines"),
    "die_refresh": Fill("#8e0219", "#c84946", "lines"),
    "bus": Fill("#099cd4", "#93d4fe", "dots"),
    "sense": Fill("#057959", "#39b289"),
    "retry": Fill("#c12b7f", "#f572b3", "lines"),
    "decode": Fill("#884ec2", "#bd88ed", "cross"),
    "transfer": Fill("#03467b", "#0777cc"),
    "program": Fill("#52a350", "#8ddf87", "backslash"),
    "other": Fill("#909295", "#caccd0", "slash"),
}
"""The fills of the parts of a latency."""

LEVELS = (
    Fill("#573479", "#8c62b4"),
    Fill("#3c4b93", "#707cd3", "slash"),
    Fill("#056297", "#0798e7", "dots"),
    Fill("#01748a", "#0eaecc"),
    Fill("#03876a", "#1cc49c", "slash"),
    Fill("#649046", "#98cb74", "dots"),
    Fill("#969642", "#d2d16f"),
)
"""The fills of sensing levels, from few levels to many."""

PAGE_TYPES = (
    Fill("#0b9dcf", "#89d5ff"),
    Fill("#a36b01", "#e3a140", "slash"),
    Fill("#a03e0e", "#df7240", "dots"),
    Fill("#8b0d11", "#c84b3d", "cross"),
)
"""The fills of page types, from the quickest to program to the slowest."""


def paint(spec: dict[str, Any], fills: Iterable[Fill]) -> None:
    """Make a drawing use the patterns of these fills in place of their light colors."""
    scale = (spec.get("encoding", {}).get("color") or {}).get("scale") or {}
    if isinstance(scale.get("range"), list):
        paints = {fill.light: fill.paint for fill in fills}
        scale["range"] = [paints.get(tone, tone) for tone in scale["range"]]


def paper_patterns(fills: Iterable[Fill], back: str) -> str:
    """Return the definitions of patterns for a drawing on paper of the color ``back``."""
    patterns = "".join(_pattern(fill, fill.light, back, "") for fill in fills)
    return f"<defs>{patterns}</defs>" if patterns else ""


def page_patterns(fills: Iterable[Fill]) -> str:
    """Return the definitions of patterns whose colors are variables of a page's style."""
    scale = f' patternTransform="scale({_PAGE_SCALE:g})"'
    return "".join(_pattern(fill, f"var(--{fill.id})", "var(--back)", scale) for fill in fills)


def _pattern(fill: Fill, tone: str, back: str, options: str) -> str:
    """Return a pattern: a square in the color, and lines across it in that of the page."""
    square = f'<path d="M0,0H{_TILE}V{_TILE}H0Z" style="fill: {tone}"/>'
    if fill.hatch:
        outline, width = _OUTLINES[fill.hatch]
        line = f"fill: none; stroke: {back}; stroke-width: {width:g}; stroke-linecap: round"
        square += f'<path d="{outline}" style="{line}"/>'
    size = f'width="{_TILE}" height="{_TILE}" patternUnits="userSpaceOnUse"'
    return f'<pattern id="{fill.id}" {size}{options}>{square}</pattern>'


def _places(start: float, step: float) -> Iterator[float]:
    """Yield places from ``start`` to the end of a square."""
    return (start + at * step for at in range(round((_TILE - start) / step) + 1))


def _diagonals(step: float, up: int) -> str:
    """Return lines that begin and end beyond the square, so that its corners are whole."""
    start, long = (_TILE + 1 if up < 0 else -1), _TILE + 2
    return "".join(f"M{x - 1:g},{start}l{long},{up * long}" for x in _places(-_TILE, step))


def _dots() -> str:
    """Return short lines with round ends, every other row of them moved by half their distance."""
    half = _STEP / 2
    return "".join(
        f"M{x:g},{y:g}h.01"
        for row, y in enumerate(_places(half / 2, half))
        for x in _places(half / 2 + row % 2 * half, _STEP)
    )


def _across() -> str:
    return "".join(f"M-1,{y:g}H{_TILE + 1}" for y in _places(0, _STEP))


_OUTLINES = {
    "slash": (_diagonals(_STEP, -1), _WIDTH),
    "lines": (_across(), _WIDTH),
    "dots": (_dots(), 2 * _WIDTH),
    "backslash": (_diagonals(_STEP, 1), _WIDTH),
    "cross": (_diagonals(1.5 * _STEP, -1) + _diagonals(1.5 * _STEP, 1), _WIDTH),
}
"""The lines of each hatch, and their width."""
HATCHES = ("", *_OUTLINES)
"""The names of all hatches; the first is none."""
