"""A paper's figures with our data: bars and boxes by group, lines, shares of a whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from ssdlab.render.figures import stacked_bars
from ssdlab.render.figures.base import (
    Figure,
    Key,
    inline_data,
    palette,
    ramp_fills,
    rounded,
)
from ssdlab.render.figures.log_axes import log_axis
from ssdlab_reproduction import digits
from ssdlab_reproduction.claim import SYSTEMS
from ssdlab_reproduction.ledger import Ledger
from ssdlab_reproduction.registry import Picture, Rows

_BARS = 0.9
"""The share of its place that a group of bars takes."""
_BOX = 16
"""The width of a box in pixels."""
_DIAMOND = 70
"""The area of a mark of the paper's, in square pixels."""


def ledger_figures(ledger: Ledger) -> list[Figure]:
    """Return the papers' figures with the ledger's data."""
    return [_KINDS[picture.kind](picture, rows) for picture, rows in ledger.pictures]


def _grouped(frame: Picture, rows: Rows) -> Figure:
    """Draw grouped bars: a group per place, a bar per series."""
    places, series = _order(rows)
    tones = _tones(len(series))
    encoding = {
        "x": _places(frame, places),
        "xOffset": alt.XOffset("series:N", sort=series),
        "tooltip": _tooltip(frame, "x:N"),
    }
    bars = alt.Chart().mark_bar().encode(y=_y(frame), color=_color(series, "square"), **encoding)
    return _with_digits(frame, rows, bars, encoding, (series, tones, "box"))


def _boxes(frame: Picture, rows: Rows) -> Figure:
    """Draw grouped boxes with whiskers: a group per place, a box per series."""
    places, series = _order(rows)
    tones = _tones(len(series))
    found: dict[tuple[str, str], list[float]] = {}
    for at, name, value in rows:
        found.setdefault((str(at), name), []).append(value)
    data = [
        {"x": at, "series": name, "values": ", ".join(f"{value:g}" for value in values)}
        | {f"at{nth}": rounded(value) for nth, value in enumerate(values)}
        for (at, name), values in found.items()
    ]
    tooltip = alt.Tooltip("values:N", title=", ".join(frame.ends))
    boxes = alt.Chart().encode(
        x=_places(frame, places),
        xOffset=alt.XOffset("series:N", sort=series),
        color=_color(series, "square"),
        tooltip=[alt.Tooltip("x:N", title="of"), alt.Tooltip("series:N"), tooltip],
    )
    axis = alt.Axis(title=frame.y, tickCount=6, format=frame.number)
    middle = boxes.mark_tick(size=_BOX, thickness=2).encode(y="at2:Q")
    has_inside = alt.datum.at1 < alt.datum.at3
    layers = [
        boxes.mark_rule().encode(
            y=alt.Y("at0:Q", axis=axis, scale=alt.Scale(zero=frame.from_zero)), y2="at4:Q"
        ),
        # A box with equal borders is a line.
        middle,
        boxes.mark_bar(size=_BOX).encode(y="at1:Q", y2="at3:Q"),
        middle.transform_filter(has_inside).encode(color=alt.value("white")),
    ]
    chart = alt.LayerChart(layer=layers, data=inline_data(data))
    return _figure(frame, chart, series, tones)


def _places(frame: Picture, places: Sequence[str]) -> alt.X:
    """Return an axis of places, in their order."""
    return alt.X(
        "x:N",
        sort=places,
        scale=alt.Scale(paddingInner=1 - _BARS),
        axis=alt.Axis(title=frame.x or None, labelAngle=-50, labelOverlap=False),
    )


def _lines(frame: Picture, rows: Rows) -> Figure:
    """Draw a line per series over numbers."""
    _, series = _order(rows)
    tones = _tones(len(series))
    numbers = [float(at) for at, _, _ in rows]
    axis: dict[str, Any] = {
        "scale": alt.Scale(nice=False, zero=False),
        "axis": alt.Axis(title=frame.x, tickCount=6),
    }
    if frame.logarithmic:
        axis = log_axis(frame.x, min(numbers), max(numbers))
    encoding = {"x": alt.X("x:Q", **axis), "tooltip": _tooltip(frame, "x:Q")}
    lines = alt.Chart().mark_line(point=len(set(numbers)) <= 16)
    lines = lines.encode(y=_y(frame), color=_color(series, "stroke"), **encoding)
    return _with_digits(frame, rows, lines, encoding, (series, tones, "line"))


def _with_digits(
    frame: Picture,
    rows: Rows,
    chart: alt.Chart,
    encoding: Mapping[str, Any],
    legend: tuple[Sequence[str], Sequence[str | int], str],
) -> Figure:
    """Return a figure of these rows with a mark for each value that the paper's text gives."""
    data = _data(rows)
    of_text = {(at, series): value for at, series, value in digits.beside(frame, rows)}
    if not of_text:
        return _figure(frame, chart.properties(data=inline_data(data)), *legend)
    for row in data:
        row["paper"] = of_text.get((row["x"], row["series"]))
    marks = alt.Chart().mark_point(
        shape="diamond", size=_DIAMOND, strokeWidth=2, color="currentColor", opacity=1
    )
    marks = marks.encode(y="paper:Q", **encoding).transform_filter("isValid(datum.paper)")
    both = alt.LayerChart(layer=[chart, marks], data=inline_data(data))
    captioned = replace(frame, what=f"{frame.what} Diamonds: values in the paper's text.")
    return _figure(captioned, both, *legend)


def _stacked(frame: Picture, rows: Rows) -> Figure:
    """Draw parts of a whole: a bar per place, with the series end to end."""
    places, series = _order(rows)
    parts = list(zip(series, ramp_fills(len(series)), strict=True))
    kind = stacked_bars.Bars(*_caption(frame), frame.y, frame.number)
    values = [(str(at), part, value) for at, part, value in rows]
    return stacked_bars.stacked_values(places, kind, parts, values)


def _figure(
    frame: Picture,
    chart: alt.Chart | alt.LayerChart,
    series: Sequence[str],
    tones: Sequence[str | int],
    mark: str = "box",
) -> Figure:
    keys = [Key(name, tone, mark) for name, tone in zip(series, tones, strict=True)]
    legend = keys if len(keys) > 1 else []
    return Figure(*_caption(frame), chart, legend)


def _caption(frame: Picture) -> tuple[str, str, str, str]:
    """Return name, section, title, and caption."""
    system = SYSTEMS[frame.system]
    name = re.sub(r"[^a-z0-9]+", "-", f"{frame.system} {frame.figure}".lower()).strip("-")
    return name, system, f"{system}, {frame.figure}: {frame.title}", frame.what


def _order(rows: Rows) -> tuple[list[str], list[str]]:
    """Return the places and the series, each once, in their order."""
    places = list(dict.fromkeys(str(at) for at, _, _ in rows))
    return places, list(dict.fromkeys(name for _, name, _ in rows))


def _data(rows: Rows) -> list[dict[str, Any]]:
    return [{"x": at, "series": name, "value": rounded(value)} for at, name, value in rows]


def _tones(count: int) -> Sequence[str | int]:
    """Return colors of the legend: places in the theme's, where it has enough."""
    return palette(count) or range(count)


def _y(frame: Picture) -> alt.Y:
    return alt.Y(
        "value:Q",
        scale=alt.Scale(zero=frame.from_zero),
        axis=alt.Axis(title=frame.y, tickCount=6, format=frame.number),
    )


def _color(series: Sequence[str], symbol: str) -> alt.Color:
    legend = alt.Legend(title=None, symbolType=symbol) if len(series) > 1 else None
    # Without a range, the page takes the colors of its theme: others on a dark page.
    own = palette(len(series))
    scale = alt.Scale(domain=list(series), range=own) if own else alt.Scale(domain=list(series))
    return alt.Color("series:N", scale=scale, legend=legend)


def _tooltip(frame: Picture, x: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip(x, title=frame.x or "of"),
        alt.Tooltip("series:N"),
        alt.Tooltip("value:Q", format=frame.number),
    ]


_KINDS = {"bars": _grouped, "boxes": _boxes, "lines": _lines, "shares": _stacked}
