"""Dashes that keep lines visible where they cover one another."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from ssdlab.render.figures.base import DASHES, Labelled

NOTE = " Where lines cover one another, their colours alternate."
_PLACES = 80
"""The number of places at which lines are compared."""
_NEAR = 0.01
"""Lines that are nearer than this share of the axis cover one another: about a line's width."""
_MOSTLY = 0.9
_PIECE = 6
"""The length of the visible piece of each line that lies on another."""


class Axis(NamedTuple):
    """The field that an axis shows, and the values at its ends."""

    field: str
    low: float
    high: float
    log: bool = False

    @classmethod
    def from_log_axis(cls, field: str, shape: dict[str, Any]) -> Axis:
        """Return the axis that has a shape of :func:`.base.log_axis`."""
        low, high = shape["scale"].domain
        return cls(field, low, high, log=True)

    def part(self, value: float) -> float:
        """Return the position of a value on the axis, from 0 to 1."""
        low, high, value = (
            (math.log(max(each, 1e-300)) for each in (self.low, self.high, value))
            if self.log
            else (self.low, self.high, value)
        )
        return (value - low) / (high - low or 1.0)


Line = Sequence[tuple[float, float]]


def alternating_dashes(
    runs: Sequence[Labelled], rows: Sequence[dict[str, Any]], x: Axis, y: Axis
) -> dict[str, alt.StrokeDash]:
    """Return the additional encoding that keeps lines in the same place visible."""
    lines: dict[str, list[tuple[float, float]]] = {run.label: [] for run in runs}
    for row in rows:
        if row[x.field] is not None and row[y.field] is not None:
            lines[row["label"]].append((x.part(row[x.field]), y.part(row[y.field])))
    dashes = _dashes(list(lines.values()))
    if all(dash == DASHES[0] for dash in dashes):
        return {}
    scale = alt.Scale(domain=list(lines), range=dashes)
    return {"strokeDash": alt.StrokeDash("label:N", scale=scale, legend=None)}


def _dashes(lines: Sequence[Line]) -> list[list[int]]:
    """Return a dash for each line; a line drawn later leaves gaps for the lines below."""
    dashes = [DASHES[0]] * len(lines)
    left = [at for at, line in enumerate(lines) if line]
    while left:
        first, *rest = left
        group = [first, *(at for at in rest if _cover(lines[first], lines[at]))]
        left = [at for at in rest if at not in group]
        for place, at in enumerate(group[1:], start=1):
            dashes[at] = [_PIECE * (len(group) - place), _PIECE * place]
    return dashes


def _cover(one: Line, other: Line) -> bool:
    """Tell whether two lines lie in the same place nearly everywhere."""
    begin, end = min(one[0][0], other[0][0]), max(one[-1][0], other[-1][0])
    places = [begin + (end - begin) * at / (_PLACES - 1) for at in range(_PLACES)]
    near = sum(abs(_at(one, place) - _at(other, place)) < _NEAR for place in places)
    return near >= _MOSTLY * len(places)


def _at(line: Line, place: float) -> float:
    """Return the height of a line at a place: that of its last point before."""
    at = bisect_right(line, place, key=lambda point: point[0])
    return line[max(at - 1, 0)][1]
