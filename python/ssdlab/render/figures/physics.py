"""The true properties of a device's blocks, beside the values of papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from ssdlab.physics import Anchor, Group, Physics, Point
from ssdlab.render.figures.base import (
    Figure,
    Key,
    color,
    dash,
    dash_keys,
    inline_data,
    rounded,
    run_keys,
)
from ssdlab.render.formatting import digits, span
from ssdlab.render.text.physics import anchor_figure, anchor_label

ERRORS, READS, MADE = "Raw bit errors", "Reads", "Blocks as manufactured"
DIRECT, CLIMB = "start at the step needed", "start at the first step"
_RULES = 8
"""The maximum number of levels that are drawn."""

_Points = Callable[[Group], Sequence[Point]]
_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A group of blocks, drawn as a line, and its name in the figures."""

    label: str
    group: Group


def physics_figures(physics: Physics) -> list[Figure]:
    """Return the figures of the blocks, in the order of a report."""
    lines = [Line(group.name, group) for group in physics.groups]
    return [
        *_errors_over_age(physics, lines),
        *_errors_over_cycles(physics, lines),
        *_capability(physics),
        *_levels(physics, lines),
        *_times_over_age(physics, lines),
        *_times_over_errors(physics),
        *_base(physics),
        *_programs(physics),
    ]


def _anchors(physics: Physics, what: str) -> list[Anchor]:
    return [anchor for anchor in physics.anchors if anchor.what == what]


def _keys(lines: Sequence[Line], dashes: Sequence[str], *, papers: bool) -> list[Key]:
    """Return the legend: the groups' colors, the dashes, and the mark for values of papers."""
    keys = run_keys(lines)
    keys += dash_keys(dashes)
    return [*keys, Key("from a paper", mark="shape1")] if papers else keys


def _of_kind(kind: str) -> str:
    return f"datum.kind === '{kind}'"


def _marked(anchors: Sequence[Anchor], **fields: Callable[[Anchor], Any]) -> list[_Row]:
    """Return the points of anchors, each with its label and its full description."""
    return [
        {
            "kind": "anchor",
            "side": "below",
            **{name: field(anchor) for name, field in fields.items()},
            "paper": f"{anchor.source}: {anchor_figure(anchor, anchor.paper)}",
            "model": anchor_figure(anchor, anchor.model),
            "what": anchor_label(anchor),
        }
        for anchor in anchors
    ]


_SIDES: dict[str, dict[str, Any]] = {
    "below": {"align": "left", "dx": 6, "dy": 9},
    "above": {"align": "right", "dx": -5, "dy": -7},
    "beside": {"align": "left", "dx": 6},
}
"""The position of a point's label."""


def _diamonds(x: str, y: str) -> list[alt.Chart]:
    """Draw the values of papers: a diamond each, with its label beside it."""
    position = {"x": alt.X(x), "y": alt.Y(y)}
    tooltip = [
        alt.Tooltip("what:N", title="what"),
        alt.Tooltip("paper:N", title="paper"),
        alt.Tooltip("model:N", title="model"),
    ]
    points = alt.Chart().mark_point(shape="diamond", filled=True, opacity=1, style="anchor")
    layers = [points.transform_filter(_of_kind("anchor")).encode(tooltip=tooltip, **position)]
    for side, place in _SIDES.items():
        words = alt.Chart().mark_text(style="note", **place)
        only = words.transform_filter(f"{_of_kind('anchor')} && datum.side === '{side}'")
        layers.append(only.encode(text="note:N", **position))
    return layers


def _layers(rows: list[_Row], *layers: alt.Chart) -> alt.LayerChart:
    return alt.LayerChart(layer=list(layers), data=inline_data(rows))


def _rows_of(lines: Sequence[Line], points_of: _Points) -> list[_Row]:
    return [
        {
            "kind": "line",
            "label": line.label,
            "x": rounded(point.at),
            "rber": rounded(point.rber, 4),
            "needed": point.needed,
            DIRECT: point.direct_us,
            CLIMB: point.climb_us,
            "lost": rounded(point.lost, 3),
        }
        for line in lines
        for point in points_of(line.group)
    ]


def _age(lines: Sequence[Line]) -> alt.X:
    end = lines[0].group.over_age[-1].at
    axis = alt.Axis(title="Age of the data (days)", tickCount=6, grid=False)
    return alt.X("x:Q", scale=alt.Scale(domain=[0, end], nice=False), axis=axis)


def _cycles() -> alt.X:
    axis = alt.Axis(title="P/E cycles", tickCount=6, grid=False, format=",d")
    return alt.X("x:Q", scale=alt.Scale(nice=False), axis=axis)


def _rate(most: float, name: str = "rber:Q") -> alt.Y:
    axis = alt.Axis(title="Raw bit error rate", tickCount=5, grid=False, format="~g")
    return alt.Y(name, scale=alt.Scale(domain=[0, most], nice=False), axis=axis)


def _limits(physics: Physics, most: float) -> list[_Row]:
    """Return the error rates that the levels correct, as rows of horizontal lines with names."""
    levels = [level for level in physics.levels if level.capability <= most]
    step = max(1, -(-len(levels) // _RULES))
    rows: list[_Row] = []
    for at, level in enumerate(levels):
        if at % step == 0:
            noun = {"levels": "level", "retries": "retry"}[physics.model]
            one = f"{level.needed} {noun if level.needed == 1 else physics.model}"
            name = one if not rows else str(level.needed)
            rows.append({"kind": "limit", "x": 0, "rber": level.capability, "note": name})
    return rows


def _ruled(most: float) -> list[alt.Chart]:
    """Draw the error rates that the levels correct: a line each, with its name at its start."""
    rules = alt.Chart().mark_rule(style="limit", strokeDash=[2, 2])
    words = alt.Chart().mark_text(style="faint", align="left", dx=2, dy=-4)
    y = _rate(most)
    return [
        rules.transform_filter(_of_kind("limit")).encode(y=y),
        words.transform_filter(_of_kind("limit")).encode(x=alt.X("x:Q"), y=y, text="note:N"),
    ]


def _top(physics: Physics, rows: Sequence[_Row]) -> float:
    """Return the end of an axis of error rates: above all lines, or a bit above the last level."""
    highest = max(row["rber"] for row in rows)
    last = physics.levels[-1].capability
    near = next((level.capability for level in physics.levels if level.capability >= highest), last)
    return float(f"{1.12 * max(near, min(highest, 1.1 * last)):.3g}")


def _errors_over_age(physics: Physics, lines: Sequence[Line]) -> Iterator[Figure]:
    """Draw the raw bit error rate over the age of the data."""
    if not physics.heeds_age:
        return
    rows = _rows_of(lines, lambda group: group.over_age)
    anchors = _anchors(physics, "rber_at_age")
    most, middle = _top(physics, rows), rows[-1]["x"] / 2
    rows += _limits(physics, most)
    rows += _marked(
        anchors,
        x=lambda anchor: anchor.at,
        rber=lambda anchor: anchor.paper,
        note=lambda anchor: f"{anchor.paper:g} at {anchor.at:g} d",
        # The label must not pass the end of the axis.
        side=lambda anchor: "above" if anchor.at > middle else "below",
    )
    line = alt.Chart().mark_line(clip=True).transform_filter(_of_kind("line"))
    chart = _layers(
        rows,
        line.encode(x=_age(lines), y=_rate(most), color=color(lines)),
        *_ruled(most),
        *_diamonds("x:Q", "rber:Q"),
    )
    what = f"{_whose(physics)}, after {physics.pe_cycles:,} P/E cycles. Dashed: the rate up to"
    what += f" which so many {physics.model} decode."
    keys = _keys(lines, (), papers=bool(anchors))
    title = "Raw bit error rate over the age of the data"
    yield Figure("physics-rber-age", ERRORS, title, what, chart, keys)


def _whose(physics: Physics) -> str:
    """Return which block of a group a line stands for."""
    if len(physics.base.classes) == 1:
        return "Quantiles of all blocks"
    return "The median block of each class"


def _errors_over_cycles(physics: Physics, lines: Sequence[Line]) -> Iterator[Figure]:
    """Draw the raw bit error rate over P/E cycles."""
    rows = _over_cycles(lines)
    if not rows:
        return
    ages = list(dict.fromkeys(row["age"] for row in rows))
    most = _top(physics, rows)
    rows += _limits(physics, most)
    line = alt.Chart().mark_line(clip=True).transform_filter(_of_kind("line"))
    chart = _layers(
        rows,
        line.encode(x=_cycles(), y=_rate(most), color=color(lines), strokeDash=dash(ages, "age")),
        *_ruled(most),
    )
    what = f"{_whose(physics)}, with data of different ages. Dashed across: the rate up"
    what += f" to which so many {physics.model} decode."
    keys = _keys(lines, ages, papers=False)
    title = "Raw bit error rate over P/E cycles"
    yield Figure("physics-rber-cycles", ERRORS, title, what, chart, keys)


def _over_cycles(lines: Sequence[Line]) -> list[_Row]:
    rows = []
    for at, over in enumerate(lines[0].group.over_cycles):
        age = {"age": f"{over.age_days:g} days old"}
        found = _rows_of(lines, lambda group, at=at: group.over_cycles[at].points)  # type: ignore[misc]
        rows += [{**row, **age} for row in found]
    return rows


def _capability(physics: Physics) -> Iterator[Figure]:
    """Draw the error rate that each sensing level corrects."""
    anchors = _anchors(physics, "capability")
    if physics.model != "levels" or len(physics.levels) == 1:
        return
    rows = [{"kind": "line", "x": r.needed, "rber": r.capability} for r in physics.levels]
    most = float(f"{1.15 * physics.levels[-1].capability:.3g}")
    rows += _marked(
        anchors,
        x=lambda anchor: anchor.at,
        rber=lambda anchor: anchor.paper,
        note=lambda anchor: f"{anchor.paper:g}",
    )
    last = physics.levels[-1].needed
    axis = alt.Axis(title="Sensing levels", tickMinStep=1, grid=False, format="d")
    x = alt.X("x:Q", scale=alt.Scale(domain=[0.5, last + 1], nice=False), axis=axis)
    points = alt.OverlayMarkDef(style="first")
    line = alt.Chart().mark_line(point=points, style="first").transform_filter(_of_kind("line"))
    chart = _layers(rows, line.encode(x=x, y=_rate(most)), *_diamonds("x:Q", "rber:Q"))
    what = "Raw bit error rate up to which so many sensing levels decode."
    keys = [Key("from a paper", mark="shape1")] if anchors else []
    yield Figure("physics-capability", ERRORS, "Correctable raw bit error rate", what, chart, keys)


def _levels(physics: Physics, lines: Sequence[Line]) -> Iterator[Figure]:
    """Draw the levels or retries needed, over age and over P/E cycles."""
    noun = {"levels": "Levels needed", "retries": "Retries needed"}[physics.model]
    axis = alt.Axis(title=noun, tickMinStep=1, tickCount=7, format="d")
    step = alt.Chart().mark_line(interpolate="step-after", clip=True)
    if physics.heeds_age:
        rows = _rows_of(lines, lambda group: group.over_age)
        anchors = _anchors(physics, "level_start")
        rows += _starts(anchors)
        y = alt.Y("needed:Q", scale=_needed(rows), axis=axis)
        line = step.transform_filter(_of_kind("line")).encode(
            x=_age(lines), y=y, color=color(lines)
        )
        chart = _layers(rows, line, *_diamonds("x:Q", "needed:Q"))
        what = f"{_whose(physics)}; a line ends where no step decodes."
        if anchors:
            what += " Diamonds: the age at which the paper's tables change to a level."
        keys = _keys(lines, (), papers=bool(anchors))
        yield Figure("physics-needed-age", READS, f"{noun} by age", what, chart, keys)
    rows = _over_cycles(lines)
    if rows:
        ages = list(dict.fromkeys(row["age"] for row in rows))
        y = alt.Y("needed:Q", scale=_needed(rows), axis=axis)
        line = step.encode(x=_cycles(), y=y, color=color(lines), strokeDash=dash(ages, "age"))
        what = f"{_whose(physics)}, with data of different ages."
        keys = _keys(lines, ages, papers=False)
        title = f"{noun} by P/E cycles"
        yield Figure("physics-needed-cycles", READS, title, what, _layers(rows, line), keys)


def _needed(rows: Sequence[_Row]) -> alt.Scale:
    most = max(row["needed"] or 0 for row in rows)
    return alt.Scale(domain=[0, most + 0.5], nice=False)


def _starts(anchors: Sequence[Anchor]) -> list[_Row]:
    """Return the days from which a paper's tables use a level, a point per class.

    The last point of a level has the label, with the days of all classes.
    """
    rows = _marked(
        anchors,
        x=lambda anchor: anchor.paper,
        needed=lambda anchor: anchor.at,
        label=lambda anchor: anchor.group,
    )
    for row in rows:
        same = [other for other in rows if other["needed"] == row["needed"]]
        days = " / ".join(f"{other['x']:g}" for other in same)
        names = " / ".join(other["label"] for other in same)
        first = row["needed"] == rows[0]["needed"]
        row["note"] = (f"{days} d ({names})" if first else days) if row is same[-1] else ""
    return rows


def _times_over_age(physics: Physics, lines: Sequence[Line]) -> Iterator[Figure]:
    """Draw the time of a read over the age of the data."""
    if not physics.heeds_age:
        return
    rows = _rows_of(lines, lambda group: group.over_age)
    chart = (
        alt.Chart(inline_data(rows))
        .transform_fold([DIRECT, CLIMB], as_=["way", "us"])
        .transform_filter("datum.us !== null")
        .mark_line(interpolate="step-after")
        .encode(
            x=_age(lines),
            y=alt.Y("us:Q", axis=alt.Axis(title="Read time (µs)", tickCount=5)),
            color=color(lines),
            strokeDash=dash([DIRECT, CLIMB], "way"),
        )
    )
    what = f"Sensing, transfer and decoding of a page on an idle drive. {_whose(physics)}. Where"
    what += " no step decodes, the chart shows only the failed attempts from the first step."
    keys = _keys(lines, (DIRECT, CLIMB), papers=False)
    title = "Read time over the age of the data"
    yield Figure("physics-read-age", READS, title, what, chart, keys)


def _times_over_errors(physics: Physics) -> Iterator[Figure]:
    """Draw the time of a read over the raw bit error rate."""
    rows: list[_Row] = []
    for way, attribute in ((DIRECT, "direct_us"), (CLIMB, "climb_us")):
        start = 0.0
        for level in physics.levels:
            us = getattr(level, attribute)
            ends = (start, level.capability)
            rows += [{"kind": "line", "way": way, "x": rounded(x), "us": us} for x in ends]
            start = level.capability
    anchors = _anchors(physics, "read_time")
    rows += _marked(
        anchors,
        x=lambda anchor: anchor.at,
        us=lambda anchor: anchor.paper,
        note=lambda anchor: f"{anchor.paper:g} µs",
        # There is room between the two lines.
        side=lambda anchor: "above" if anchor.at <= physics.levels[0].capability else "beside",
    )
    most = physics.levels[-1].capability
    axis = alt.Axis(title="Raw bit error rate", tickCount=6, grid=False, format="~g")
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, rounded(most * 1.02)], nice=False), axis=axis)
    y = alt.Y("us:Q", axis=alt.Axis(title="Read time (µs)", tickCount=5))
    ways = dash([DIRECT, CLIMB], "way")
    line = alt.Chart().mark_line(style="first").transform_filter(_of_kind("line"))
    chart = _layers(
        rows,
        line.encode(x=x, y=y, strokeDash=ways),
        *_diamonds("x:Q", "us:Q"),
    )
    what = "Sensing, transfer and decoding of a page on an idle drive."
    if anchors:
        what += " The paper's times are those of an example chip, not of this drive's."
    keys = _keys([], (), papers=bool(anchors))
    keys = [*dash_keys([DIRECT, CLIMB]), *keys]
    title = "Read time over the raw bit error rate"
    yield Figure("physics-read-rber", READS, title, what, chart, keys)


def _base(physics: Physics) -> Iterator[Figure]:
    """Draw the distribution of the initial error rates of blocks."""
    base = physics.base
    lines = [Line(name, physics.groups[0]) for name in base.classes]
    rows: list[_Row] = []
    for part in base.bins:
        below = 0.0
        for name, count in zip(base.classes, part.blocks, strict=True):
            upto = below + count / physics.blocks
            ends = {"x": part.least, "end": part.most, "below": below, "upto": upto}
            cell = {key: rounded(value) for key, value in ends.items()}
            below = upto
            rows += [{"kind": "bar", "label": name, **cell}] if count else []
    rows += [
        {"kind": "limit", "x": rounded(at), "note": f"{name} up to {at:.2e}"}
        for name, at in zip(base.classes, base.boundaries, strict=False)
    ]
    axis = alt.Axis(
        title="Raw bit error rate as manufactured", tickCount=5, grid=False, format=".1e"
    )
    bars = alt.Chart().mark_rect(stroke=None).transform_filter(_of_kind("bar"))
    rules = (
        alt.Chart().mark_rule(style="limit", strokeDash=[2, 2]).transform_filter(_of_kind("limit"))
    )
    words = alt.Chart().mark_text(style="note", align="right", dx=-4, baseline="top", y=0)
    x = alt.X("x:Q", scale=alt.Scale(zero=False, nice=False), axis=axis)
    share = alt.Axis(title="Share of blocks", tickCount=5, format="~%")
    chart = _layers(
        rows,
        bars.encode(
            x=x,
            x2="end:Q",
            y=alt.Y("below:Q", axis=share),
            y2="upto:Q",
            color=color(lines, "square"),
        ),
        rules.encode(x=x),
        words.transform_filter(_of_kind("limit")).encode(x=x, text="note:N"),
    )
    what = "Worst page of each block: no wear, fresh data, normal program mode."
    title = "Raw bit error rate as manufactured"
    yield Figure("physics-base", MADE, title, what, chart, run_keys(lines))


def _programs(physics: Physics) -> Iterator[Figure]:
    """Draw the cost of a faster program in raw bit errors."""
    anchors = _anchors(physics, "program_time")
    normal = physics.programs[0]
    if len(physics.programs) == 1 and not anchors:
        return
    rows: list[_Row] = [
        {
            "kind": "line",
            "x": rounded(program.program_us / normal.program_us),
            "rber": rounded(program.base_factor),
            "note": f"{program.name}, {span(program.program_us)}",
        }
        for program in physics.programs
    ]
    rows += _marked(
        anchors,
        x=lambda anchor: anchor.paper,
        rber=lambda anchor: anchor.at,
        note=lambda anchor: f"×{digits(anchor.paper)}, ×{digits(anchor.at)}",
    )
    most = max(row["x"] for row in rows)
    axis = alt.Axis(title="Program time, relative to normal", tickCount=5, grid=False)
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 1.4 * most], nice=False), axis=axis)
    y = alt.Y(
        "rber:Q",
        scale=alt.Scale(domain=[0, 1.2 * max(row["rber"] for row in rows)], nice=False),
        axis=alt.Axis(title="RBER as manufactured, relative", tickCount=5),
    )
    points = (
        alt.Chart().mark_point(size=60, opacity=1, style="first").transform_filter(_of_kind("line"))
    )
    words = alt.Chart().mark_text(style="note", align="left", dx=7, dy=-9)
    chart = _layers(
        rows,
        points.encode(x=x, y=y),
        words.transform_filter(_of_kind("line")).encode(x=x, y=y, text="note:N"),
        *_diamonds("x:Q", "rber:Q"),
    )
    what = "Circles: the program modes of this config."
    keys = [Key("from a paper", mark="shape1")] if anchors else []
    title = "Raw bit errors by program time"
    yield Figure("physics-programs", MADE, title, what, chart, keys)
