"""The lines of a figure, one a run, each with a dash that a gray print shows.

A run keeps its dash in all such figures. Equal lines are drawn as one. Lines that nearly cover one
another have markers in the shape of their run, each at a place of its own.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import altair as alt

from ssdlab import escaping
from ssdlab.render.figures.base import (
    SAME,
    SHAPES,
    Key,
    Labeled,
    color_names,
    dash_legend,
    dash_of,
    dashed_symbol,
    inline_data,
    rounded,
    run_keys,
    shape_of,
)

NOTE = " Lines that nearly cover one another have markers."
STEPS = alt.MarkDef(type="line", interpolate="step-after", clip=True)
_MARKS = "marks"
"""The field of the rows that are markers; the page leaves them out of a figure's data."""
_LEVEL = "level"
"""The field of the row that is a line across."""
_PLACES = 80
"""Lines are compared at so many places."""
_NEAR = 0.01
"""Lines that are nearer than this, of the axis, cover one another: about a line's width."""
_MOSTLY = 0.9
_MARKERS = 12
"""The lines that cover one another have about so many markers, and each at least two."""


class Axis(NamedTuple):
    """The field that an axis shows, and the values at its ends."""

    field: str
    low: float
    high: float
    log: bool = False

    @classmethod
    def from_log_axis(cls, field: str, shape: dict[str, Any]) -> Axis:
        """Return the axis with the ends that :mod:`.log_axes` chose."""
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

    def value(self, part: float) -> float:
        """Return the value that lies at a place from 0 to 1."""
        if self.log:
            return self.low * math.exp(part * math.log(self.high / self.low))
        return self.low + part * (self.high - self.low or 1.0)


Line = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class RunLines:
    """How the lines are drawn: their rows, what encodes their runs, the legend, and a remark.

    ``markers`` encodes the shapes of markers, if there are any.
    """

    rows: list[dict[str, Any]]
    channels: dict[str, Any]
    keys: list[Key]
    note: str
    markers: dict[str, Any] = field(default_factory=dict)

    def chart(self, line: alt.MarkDef, **axes: Any) -> alt.Chart | alt.LayerChart:
        """Draw the lines, and the markers on them."""
        data, channels = inline_data(self.rows), {**axes, **self.channels}
        if not self.markers:
            return alt.Chart(data, mark=line).encode(**channels)
        lines = alt.Chart(mark=line).transform_filter(f"!datum.{_MARKS}")
        point = alt.MarkDef(type="point", style="marker", filled=True, opacity=1)
        points = alt.Chart(mark=point).transform_filter(f"datum.{_MARKS}").encode(**self.markers)
        both: alt.LayerChart = alt.LayerChart(data=data, layer=[lines, points]).encode(**channels)
        return both

    def over_level(self, line: alt.MarkDef, level: float, x: alt.X, y: alt.Y) -> alt.LayerChart:
        """Draw the lines, and a dotted line across at this height."""
        # Its row is no value of a run, as those of markers are not.
        rows = [*self.rows, {"label": None, _LEVEL: level, _MARKS: True}]
        channels = {"x": x, "y": y, **self.channels}
        rule = alt.MarkDef(type="rule", style="limit", strokeDash=[2, 2])
        height = y.copy()
        height.shorthand = f"{_LEVEL}:Q"
        layers = [
            alt.Chart(mark=rule).transform_filter(f"datum.{_LEVEL}").encode(y=height),
            alt.Chart(mark=line).transform_filter(f"!datum.{_MARKS}").encode(**channels),
        ]
        if self.markers:
            point = alt.MarkDef(type="point", style="marker", filled=True, opacity=1)
            points = alt.Chart(mark=point).transform_filter(f"datum.{_MARKS} && !datum.{_LEVEL}")
            layers.append(points.encode(**channels, **self.markers))
        both: alt.LayerChart = alt.LayerChart(data=inline_data(rows), layer=layers)
        return both

    def distribution(self, x: alt.X, title: str) -> alt.Chart | alt.LayerChart:
        """Draw the lines as shares that rise in steps to all."""
        axis = alt.Axis(title=title, format="%", tickCount=5)
        y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)
        return self.chart(STEPS, x=x, y=y)


def run_lines(
    runs: Sequence[Labeled],
    rows: Sequence[dict[str, Any]],
    x: Axis,
    y: Axis,
    *,
    stepped: bool = False,
) -> RunLines:
    """Return how to draw a line a run, which has the same color and dash in all figures.

    A stepped line keeps its height until its next point.
    """
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
    covered = list(_covered(lines, drawn))
    marked = {at for group in covered for at in group}
    if len(drawn) < len(runs) or marked:
        rows = _renamed(rows, {runs[at].label: labels[at] for at in drawn}, x.field, y.field)
    if marked:
        notes.append(NOTE)
        pieces = {at: list(_pieces(points[runs[at].label], x, y, stepped)) for at in marked}
        rows = [
            *rows,
            *(
                {"label": labels[at], x.field: rounded(along), y.field: rounded(up), _MARKS: True}
                for at, part, height in _places(covered, pieces)
                for along, up in [(x.value(part), y.value(height))]
            ),
        ]
    if len(drawn) < len(runs):
        same = "; ".join(labels[group[0]] for group in groups if len(group) > 1)
        notes.append(f" Runs that share a line: {same}.")
    outlines = [SHAPES[shape_of(at)] if at in marked else "" for at, _ in enumerate(runs)]
    keys = [
        replace(key, label=labels[at], dash=dash_of(at), marker=outlines[at])
        for at, key in enumerate(run_keys(runs))
        if at in drawn
    ]
    channels, markers = _channels(labels, [labels[at] for at in drawn], outlines)
    return RunLines(list(rows), channels, keys, "".join(notes), markers)


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
    labels: Sequence[str], shown: Sequence[str], outlines: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what encodes the runs of lines, and of markers."""
    if len(labels) == 1:
        return {"color": color_names(labels, None)}, {}
    # A color belongs to a place: names that are not drawn keep theirs.
    values = {"values": list(shown)} if len(shown) < len(labels) else {}
    legend = dash_legend(labelExpr=f"split(datum.label, / (?={SAME.strip()} )/)", **values)
    dashes = [dash_of(at) for at, _ in enumerate(labels)]
    scale = alt.Scale(domain=list(labels), range=dashes)
    color = color_names(labels, legend)
    if not any(outlines):
        return {
            "color": color,
            "strokeDash": alt.StrokeDash("label:N", scale=scale, legend=legend),
        }, {}
    # Vega-Lite merges the legends of equal domains, even one that is off: the outlines of markers
    # would be dashed. So this domain has another order.
    scale = alt.Scale(domain=labels[::-1], range=dashes[::-1])
    dash = alt.StrokeDash("label:N", scale=scale, legend=None)
    # In the legend, a marker is on its line; without area, that is not to be seen of a point.
    symbols = [f"{dashed_symbol(one)}{each}" for one, each in zip(dashes, outlines, strict=True)]
    shapes = alt.Scale(domain=list(labels), range=symbols)
    shape = alt.Shape("label:N", scale=shapes, legend=legend)
    return {"color": color, "strokeDash": dash}, {"shape": shape}


def _covered(lines: Sequence[Line], drawn: Sequence[int]) -> Iterator[list[int]]:
    """Yield groups of lines each of which nearly covers another one of its group."""
    left = [at for at in drawn if lines[at]]
    while left:
        group = [left.pop(0)]
        for one in group:
            near = [at for at in left if _cover(lines[one], lines[at])]
            left = [at for at in left if at not in near]
            group += near
        if len(group) > 1:
            yield sorted(group)


Piece = tuple[float, float, float, float]


def _pieces(points: Sequence[tuple[Any, Any]], x: Axis, y: Axis, stepped: bool) -> Iterator[Piece]:
    """Yield the straight pieces of a line, which breaks where a value is missing."""
    for ends in pairwise(points):
        if any(value is None for end in ends for value in end):
            continue
        (left, start), (right, end) = ((x.part(at), y.part(up)) for at, up in ends)
        if stepped:
            yield left, start, right, start
            left = right
        yield left, start, right, end


def _places(
    covered: Sequence[Sequence[int]], pieces: Mapping[int, Sequence[Piece]]
) -> Iterator[tuple[int, float, float]]:
    """Yield the lines that have markers, and where: they take turns along the first of a group."""
    turns = sorted(at for group in covered for at in group)
    each = max(2, _MARKERS // max(1, len(turns)))
    for group in covered:
        for at in group:
            for count in range(each):
                share = (count + (turns.index(at) + 0.5) / len(turns)) / each
                if pieces[group[0]] and pieces[at]:
                    place = _nearest(pieces[at], _along(pieces[group[0]], share))
                    yield (at, *place)


def _along(pieces: Sequence[Piece], share: float) -> tuple[float, float]:
    """Return the place after this share of a line's length."""
    lengths = [math.hypot(right - left, end - start) for left, start, right, end in pieces]
    ends = list(accumulate(lengths))
    at = min(bisect_left(ends, share * ends[-1]), len(ends) - 1)
    left, start, right, end = pieces[at]
    part = 1 - (ends[at] - share * ends[-1]) / (lengths[at] or 1.0)
    return left + part * (right - left), start + part * (end - start)


def _nearest(pieces: Sequence[Piece], place: tuple[float, float]) -> tuple[float, float]:
    """Return the place on a line that is nearest to another."""
    found = []
    for left, start, right, end in pieces:
        wide, high = right - left, end - start
        part = ((place[0] - left) * wide + (place[1] - start) * high) / (wide**2 + high**2 or 1.0)
        part = min(1.0, max(0.0, part))
        found.append((left + part * wide, start + part * high))
    return min(found, key=lambda each: math.dist(each, place))


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
