"""The drive itself: use of its dies and buses, programmed pages by cause, and its blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from ssdlab.render.figures.base import Figure, Run, inline_data, rounded
from ssdlab.render.figures.run_lines import Axis, run_lines
from ssdlab.render.figures.stacked_bars import Bars, stacked_values

_CAUSES = {
    "host": ("host", "#0072b2"),
    "gc": ("garbage collection", "#d55e00"),
    "wl": ("wear leveling", "#009e73"),
    "migration": ("migration", "#cc79a7"),
    "mapping": ("page map", "#e69f00"),
    "rmw": ("read-modify-write", "#56b4e9"),
    "refresh": ("refresh", "#7f7f7f"),
}

_PROGRAMS = Bars(
    "programs",
    "Write amplification and garbage collection",
    "What was programmed",
    "Pages programmed by cause, for each one of the host; the bar's length is the WAF.",
    "Pages programmed a page of the host",
)


def programs(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the programmed pages by cause, if the host is not the only cause."""
    bars = []
    for run in runs:
        counts = run.result.ops.get("program", {})
        host = counts.get("host", 0)
        if host:
            bars += [(run.label, cause, count / host) for cause, count in counts.items() if count]
    causes = [cause for cause in _CAUSES if any(cause == found for _, found, _ in bars)]
    if len(causes) < 2:
        return
    values = [(bar, _CAUSES[cause][0], pages) for bar, cause, pages in bars]
    labels = [run.label for run in runs]
    yield stacked_values(labels, _PROGRAMS, [_CAUSES[cause] for cause in causes], values)


def utilization(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the shares of the time in which each die and each bus was in service."""
    yield _ranked(runs, "dies", "Dies", "Die, the busiest first", "die_busy")
    yield _ranked(runs, "buses", "Buses", "Bus, the busiest first", "bus_busy")


def _ranked(runs: Sequence[Run], name: str, title: str, axis: str, field: str) -> Figure:
    rows: list[dict[str, Any]] = []
    most = 1
    for run in runs:
        shares = sorted(getattr(run.detail, field), reverse=True)
        most = max(most, len(shares))
        for at, share in enumerate(shares):
            rows.append({"label": run.label, "rank": at, "busy": rounded(share, 4)})
        # Makes the last step as wide as the others.
        rows += [{**rows[-1], "rank": len(shares)}] if shares else []
    highest = max((row["busy"] for row in rows), default=1.0)
    lines = run_lines(runs, rows, Axis("rank", 0, most), Axis("busy", 0, highest))
    chart = (
        alt.Chart(inline_data(lines.rows))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X(
                "rank:Q",
                scale=alt.Scale(domain=[0, most], nice=False),
                axis=alt.Axis(title=axis, tickCount=min(most, 6), grid=False, format="d"),
            ),
            y=alt.Y(
                "busy:Q",
                scale=alt.Scale(zero=True),
                axis=alt.Axis(title="Time in service", tickCount=5, format="~%"),
            ),
            **lines.channels,
        )
    )
    what = f"Share of the time in which each was in service: {title.lower()} sorted by it."
    what += lines.note
    return Figure(f"busy-{name}", "Utilization", title, what, chart, lines.keys)


_MAPS = (
    ("erases", "P/E cycles", "Mean P/E cycles of the blocks of a cell.", ",.3~r"),
    ("valid", "Valid pages", "Mean share of the pages of a cell that hold valid data.", "~%"),
    (
        "rber",
        "Raw bit error rate",
        "Mean true RBER of the worst pages of blocks that hold data; grey where none do.",
        ".1e",
    ),
)
SECTION = "Blocks at the end"
_NOTHING = alt.ViewBackground(fill="#888888", fillOpacity=0.25)
"""The background where no block of a cell has a value, visible on black and on white."""


def blocks(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the blocks as maps with one scale for all runs. Skip a value that all blocks share."""
    for name, title, what, shape in _MAPS:
        grids = [(run, grid) for run in runs if (grid := getattr(run.detail.blocks, name))]
        values = [v for _, grid in grids for row in grid for v in row if v is not None]
        if not values or min(values) == max(values):
            continue
        domain = [float(f"{edge:.6g}") for edge in (min(values), max(values))]
        for run, grid in grids:
            whose = f": {run.label}" if len(runs) > 1 else ""
            chart = _map(run, grid, domain, title, shape)
            named = f"blocks-{name}{run.slug(runs)}"
            yield Figure(named, SECTION, title + whose, what, chart, many=True)


def uniform_blocks(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a sentence for each value that all blocks share, which has no map."""
    for name, title, _, _ in _MAPS:
        grids = [grid for run in runs if (grid := getattr(run.detail.blocks, name))]
        values = {v for grid in grids for row in grid for v in row if v is not None}
        if len(values) == 1:
            yield f"{title}: {values.pop():g} everywhere."


def _axis(title: str, count: int) -> alt.Axis:
    # With more ticks than things to count, some ticks would lie between whole numbers.
    return alt.Axis(title=title, grid=False, tickCount=min(count, 5), format="d")


def _map(
    run: Run,
    grid: Sequence[Sequence[float | None]],
    domain: list[float],
    title: str,
    shape: str,
) -> alt.Chart:
    planes, many = run.detail.blocks.planes, run.detail.blocks.blocks
    across, down = len(grid[0]), len(grid)
    cells = [{"v": rounded(value, 4)} for row in grid for value in row]
    x_scale = alt.Scale(domain=[0, many], nice=False)
    y_scale = alt.Scale(domain=[0, planes], nice=False, reverse=True)
    scale = alt.Scale(domain=domain, scheme="viridis")
    tone = alt.Color(
        "v:Q",
        scale=scale,
        legend=alt.Legend(
            title=title,
            orient="top",
            direction="horizontal",
            type="gradient",
            format=shape,
            values=[domain[0], sum(domain) / 2, domain[1]],
        ),
    )
    # Cells overlap a little. With edge beside edge, the background would show through.
    chart: alt.Chart = (
        alt.Chart(inline_data(cells))
        .transform_window(row="row_number()")
        .transform_calculate(
            x=f"floor((datum.row - 1) % {across} * {many} / {across})",
            x2=f"floor(((datum.row - 1) % {across} + 1) * {many} / {across}) + {many / across / 5}",
            y=f"floor(floor((datum.row - 1) / {across}) * {planes} / {down})",
            y2=f"floor((floor((datum.row - 1) / {across}) + 1) * {planes} / {down})"
            f" + {planes / down / 5}",
        )
        .transform_filter("isValid(datum.v)")
        .mark_rect(clip=True)
        .encode(
            x=alt.X("x:Q", scale=x_scale, axis=_axis("Block of a plane", many)),
            x2="x2:Q",
            y=alt.Y("y:Q", scale=y_scale, axis=_axis("Plane", planes)),
            y2="y2:Q",
            color=tone,
            tooltip=[
                alt.Tooltip("y:Q", title="from plane"),
                alt.Tooltip("x:Q", title="from block"),
                alt.Tooltip("v:Q", title=title, format=shape),
            ],
        )
    )
    if any(value is None for row in grid for value in row):
        chart = chart.properties(view=_NOTHING)
    return chart
