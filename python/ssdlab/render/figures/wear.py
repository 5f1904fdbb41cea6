"""The spread of the blocks' wear, from one replay to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from ssdlab.render.figures.base import (
    Figure,
    Run,
    color,
    dash,
    dash_keys,
    inline_data,
    rounded,
    run_keys,
)
from ssdlab.render.figures.run_lines import Axis, run_lines
from ssdlab.result import ReplayResult, Wear

_ALL, _WITHIN = "all blocks", "within a priority"
_UNITS = (("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("PB", 1e15))


def replays(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the spread of P/E cycles after each replay, if priorities have their own blocks."""
    if not any(one.wear.priorities for run in runs for one in run.result.replays):
        return
    rows = [row for run in runs for row in _rows(run)]
    most = max(row["written"] for row in rows)
    unit, length = [one for one in _UNITS if one[1] <= max(most, _UNITS[0][1])][-1]
    for row in rows:
        row["written"] = rounded(row["written"] / length)
    cover = run_lines(
        runs,
        [row for row in rows if row["of"] == _ALL],
        Axis("written", 0, most / length),
        Axis("spread", 0, max(row["spread"] for row in rows)),
    )
    what = (
        "Largest minus smallest number of P/E cycles of a block, after each replay. Broad line: all"
        " blocks. Thin line: the blocks of the priority with the widest range."
    )
    what += " Where broad lines coincide, the chart shows the last run's." * bool(cover.note)
    keys = [*run_keys(runs), *dash_keys((_ALL, _WITHIN))]
    yield Figure(
        "wear-replays", "Wear", "P/E cycle range over replays", what, _lines(rows, runs, unit), keys
    )


def _lines(rows: list[dict[str, Any]], runs: Sequence[Run], unit: str) -> alt.LayerChart:
    """Draw the two lines of a run so that both are visible where they are equal."""
    along = alt.Axis(title=f"Written by the host ({unit})", tickCount=6, grid=False)
    up = alt.Axis(title="Range of P/E cycles", tickCount=5, tickMinStep=1, format=",d")
    channels = {
        "x": alt.X("written:Q", scale=alt.Scale(zero=True, nice=False), axis=along),
        "y": alt.Y("spread:Q", scale=alt.Scale(zero=True), axis=up),
        "color": color(runs),
        "strokeDash": dash((_ALL, _WITHIN), "of"),
    }
    points = alt.OverlayMarkDef(size=10, filled=True, opacity=1)
    broad = alt.Chart().mark_line(strokeWidth=4, opacity=0.4).encode(**channels)
    thin = alt.Chart().mark_line(strokeWidth=1.2, point=points).encode(**channels)
    return alt.LayerChart(
        data=inline_data(rows),
        layer=[
            broad.transform_filter(f"datum.of === '{_ALL}'"),
            thin.transform_filter(f"datum.of === '{_WITHIN}'"),
        ],
    )


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the points of a run's lines; the written amount is in bytes."""
    written = 0
    for one in run.result.replays:
        written += one.write.bytes
        place = {"label": run.label, "written": written}
        yield {**place, "of": _ALL, "spread": _spread(one.wear)}
        if one.wear.priorities:
            yield {**place, "of": _WITHIN, "spread": _widest(one)}


def _widest(one: ReplayResult) -> int:
    return max(map(_spread, one.wear.priorities or ()), default=0)


def _spread(worn: Wear) -> int:
    return worn.max - worn.min
