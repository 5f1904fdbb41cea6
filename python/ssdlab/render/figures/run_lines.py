"""The lines of a figure, one a run: each with a dash of its own, so that a grey print tells them.

Runs of the same line are drawn as one. Of lines that cover one another all but the first leave
gaps, so that each of them is seen.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import altair as alt

from ssdlab import escaping
from ssdlab.render.figures.base import (
    DASHES,
    SAME,
    Key,
    Labelled,
    colour_names,
    dash_legend,
    dash_of,
    run_keys,
)

NOTE = " Where lines cover one another, their colours alternate."
_PLACES = 80
"""Lines are compared at so many places."""
_NEAR = 0.01
"""Lines that are nearer than this, of the axis, cover one another: about a line's width."""
_MOSTLY = 0.9
_PIECE = 6
"""Of each of the lines that lie on one another so much is seen at a time."""


class Axis(NamedTuple):
    """The field that an axis shows, and the values at its ends."""

    field: str
    low: float
    high: float
    log: bool = False

    @classmethod
    def from_log_axis(cls, field: str, shape: dict[str, Any]) -> Axis:
        """Return the axis of which :func:`.base.log_axis` gave the shape."""
        low, high = shape["scale"].domain
        return cls(field, low, high, log=True)

    def part(self, value: float) -> float:
        """Return where a value lies, from 0 to 1."""
        low, high, value = (
            (math.log(max(each, 1e-300)) for each in (self.low, self.high, value))
            if self.log
            else (self.low, self.high, value)
        )
        return (value - low) / (high - low or 1.0)


Line = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class RunLines:
    """How the lines are drawn: their rows, what encodes their runs, the legend, and a remark."""

    rows: list[dict[str, Any]]
    channels: dict[str, Any]
    keys: list[Key]
    note: str


def run_lines(
    runs: Sequence[Labelled], rows: Sequence[dict[str, Any]], x: Axis, y: Axis
) -> RunLines:
    """Return how to draw a line a run, which has the same colour and dash in all figures."""
    points: dict[str, list[tuple[Any, Any]]] = {run.label: [] for run in runs}
    for row in rows:
        points[row["label"]].append((row[x.field], row[y.field]))
    groups = list(_same(list(points.values())))
    labels, notes = _joined([run.label for run in runs], groups), []
    drawn = [group[0] for group in groups]
    lines = [
        [(x.part(at), y.part(up)) for at, up in line if at is not None and up is not None]
        for line in points.values()
    ]
    dashes = [dash_of(at) for at, _ in enumerate(runs)]
    if _alternate(dashes, lines, drawn):
        notes.append(NOTE)
    if len(drawn) < len(runs):
        rows = _renamed(rows, {runs[at].label: labels[at] for at in drawn}, x.field, y.field)
        same = "; ".join(labels[group[0]] for group in groups if len(group) > 1)
        notes.append(f" Runs that share a line: {same}.")
    keys = [
        replace(key, label=labels[at], dash=dashes[at])
        for at, key in enumerate(run_keys(runs))
        if at in drawn
    ]
    channels = _channels(labels, dashes, [labels[at] for at in drawn])
    return RunLines(list(rows), channels, keys, "".join(notes))


def _same(lines: Sequence[Sequence[Any]]) -> Iterator[list[int]]:
    """Group the lines that are the same; there may be several that have no point."""
    left = list(range(len(lines)))
    while left:
        first = left[0]
        group = [at for at in left if lines[at] and lines[at] == lines[first]] or [first]
        left = [at for at in left if at not in group]
        yield group


def _joined(names: Sequence[str], groups: Sequence[Sequence[int]]) -> list[str]:
    """Return the names, the first of a group with those of all of it."""
    labels = list(names)
    for group in groups:
        labels[group[0]] = SAME.join(names[at] for at in group)
    return escaping.make_distinct(labels)


def _renamed(
    rows: Sequence[dict[str, Any]], names: dict[str, str], *fields: str
) -> list[dict[str, Any]]:
    """Return the rows of these runs under other names, with what a figure draws of them."""
    return [
        {"label": names[row["label"]], **{field: row[field] for field in fields}}
        for row in rows
        if row["label"] in names
    ]


def _channels(
    labels: Sequence[str], dashes: Sequence[Sequence[int]], shown: Sequence[str]
) -> dict[str, Any]:
    if len(labels) == 1:
        return {"color": colour_names(labels, None)}
    # A colour belongs to a place: names that are not drawn keep theirs.
    values = {"values": list(shown)} if len(shown) < len(labels) else {}
    legend = dash_legend(labelExpr="split(datum.label, / (?== )/)", **values)
    scale = alt.Scale(domain=list(labels), range=[list(each) for each in dashes])
    return {
        "color": colour_names(labels, legend),
        "strokeDash": alt.StrokeDash("label:N", scale=scale, legend=legend),
    }


def _alternate(dashes: list[list[int]], lines: Sequence[Line], drawn: Sequence[int]) -> bool:
    """Dash lines that cover one another so that those drawn later leave gaps to those below."""
    left = [at for at in drawn if lines[at]]
    found = False
    while left:
        first, *rest = left
        group = [first, *(at for at in rest if _cover(lines[first], lines[at]))]
        left = [at for at in rest if at not in group]
        if len(group) > 1:
            found = True
            dashes[first] = DASHES[0]
        for place, at in enumerate(group[1:], start=1):
            dashes[at] = [_PIECE * (len(group) - place), _PIECE * place]
    return found


def _cover(one: Line, other: Line) -> bool:
    """Tell whether two lines lie in the same place nearly everywhere."""
    begin, end = min(one[0][0], other[0][0]), max(one[-1][0], other[-1][0])
    places = [begin + (end - begin) * at / (_PLACES - 1) for at in range(_PLACES)]
    near = sum(abs(_at(one, place) - _at(other, place)) < _NEAR for place in places)
    return near >= _MOSTLY * len(places)


def _at(line: Line, place: float) -> float:
    """Return how high a line is at a place, by its last point before."""
    at = bisect_right(line, place, key=lambda point: point[0])
    return line[max(at - 1, 0)][1]
