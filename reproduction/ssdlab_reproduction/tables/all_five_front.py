"""Draw the Pareto front of docs/systems/all-five.md: reads, writes and write amplification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from ssdlab.render.figures.base import Figure, Key, color_names, inline_data, shape_of
from ssdlab.render.figures.drawing import draw_all
from ssdlab.render.figures.log_axes import log_axis
from ssdlab_reproduction.tables.common import DOCS

IMAGES = DOCS / "systems" / "images"
DRAWN = {"writes": "Mean write", "waf": "Write amplification"}
"""What stands over the reads of each picture, by the end of its name."""
Point = Sequence[float]
"""High reads, writes and write amplification, as multiples of those without any part."""


def figures(points: Mapping[str, Point]) -> list[Figure]:
    """Return a picture of each figure over the reads of the highest priority."""
    return [_figure(points, at, *named) for at, named in enumerate(DRAWN.items(), start=1)]


def _figure(points: Mapping[str, Point], at: int, name: str, title: str) -> Figure:
    labels = list(points)
    rows = [{"label": label, "x": own[0], "y": own[at]} for label, own in points.items()]
    shapes = alt.Scale(domain=labels, range=[shape_of(each) for each in range(len(labels))])
    legend = alt.Legend(title=None, symbolType="circle", symbolOpacity=1)
    xs, ys = ([own[of] for own in points.values()] for of in (0, at))
    chart = (
        alt.Chart(inline_data(rows))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("x:Q", **log_axis("Mean high read (none = 1)", min(xs), max(xs))),
            y=alt.Y("y:Q", **log_axis(f"{title} (none = 1)", min(ys), max(ys), upright=True)),
            color=color_names(labels, legend),
            shape=alt.Shape("label:N", scale=shapes, legend=legend),
        )
    )
    what = f"{title} over the mean read of the highest priority; lower and further left is better."
    keys = [Key(label, place) for place, label in enumerate(labels)]
    return Figure(f"all-five-front-{name}", "Pareto front", f"{title} and reads", what, chart, keys)


def save(points: Mapping[str, Point]) -> None:
    """Write the pictures beside the page."""
    drawn = figures(points)
    for figure, files in zip(drawn, draw_all(drawn, ["svg"]), strict=True):
        (IMAGES / f"{figure.name}.svg").write_bytes(files["svg"])
