"""Stacked bars: one per run, or one per run and queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import altair as alt

from ssdlab.render.figures.base import (
    LABEL_LINES_EXPR,
    Figure,
    Key,
    Run,
    inline_data,
    label_lines,
    rounded,
)
from ssdlab.render.figures.fills import Fill


@dataclass(frozen=True, slots=True)
class Bars:
    """The name, title and caption of such a figure; ``axis`` and ``number`` are of bar lengths."""

    name: str
    section: str
    title: str
    what: str
    axis: str
    number: str = ",.4~g"


def stacked_shares(
    runs: Sequence[Run],
    bars: Bars,
    parts: Sequence[tuple[str, Fill]],
    counts: Callable[[Run], Sequence[int]],
) -> Iterator[Figure]:
    """Draw how the counts of each run divide into parts; skip runs that counted nothing."""
    values = []
    for run in runs:
        found = counts(run)
        if len(found) == len(parts) and any(found):
            named = zip((name for name, _ in parts), found, strict=True)
            values += [(run.label, name, count / sum(found)) for name, count in named]
    if values:
        yield stacked_values([run.label for run in runs], bars, parts, values)


def stacked_values(
    labels: Sequence[str],
    bars: Bars,
    parts: Sequence[tuple[str, Fill]],
    values: Sequence[tuple[str, str, float]],
) -> Figure:
    """Draw values, each with the label of its bar and the name of its part.

    ``parts`` lists the names and fills of the parts.
    """
    names, tones = [name for name, _ in parts], [fill.light for _, fill in parts]
    rows = [
        {"bar": bar, "part": part, "at": names.index(part), "value": rounded(value)}
        for bar, part, value in values
    ]
    one = len(labels) == 1
    chart = (
        alt.Chart(inline_data(rows))
        .mark_bar(style="part")
        .encode(
            x=alt.X(
                "value:Q",
                stack="zero",
                scale=alt.Scale(nice=False),
                axis=alt.Axis(title=bars.axis, tickCount=6, format=bars.number),
            ),
            y=alt.Y(
                "bar:N",
                sort=list(labels),
                axis=None if one else alt.Axis(title=None, labelExpr=LABEL_LINES_EXPR),
            ),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=names, range=tones),
                legend=alt.Legend(title=None),
            ),
            order=alt.Order("at:Q"),
            tooltip=[alt.Tooltip("part:N"), alt.Tooltip("value:Q", format=bars.number)],
        )
    )
    lines = 1 if one else label_lines(labels)
    keys = [Key(name, fill) for name, fill in parts]
    return Figure(bars.name, bars.section, bars.title, bars.what, chart, keys, len(labels), lines)
