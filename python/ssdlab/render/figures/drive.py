"""The drive itself: what its dies and buses did, and what was programmed why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from ssdlab.render.figures.base import Figure, Run, rounded
from ssdlab.render.figures.fills import FILLS
from ssdlab.render.figures.run_lines import Axis, run_lines
from ssdlab.render.figures.stacked_bars import Bars, stacked_values

_CAUSES = {
    "host": ("host", FILLS["transfer"]),
    "gc": ("garbage collection", FILLS["die_gc"]),
    "wl": ("wear leveling", FILLS["die_wl"]),
    "migration": ("migration", FILLS["die_migration"]),
    "mapping": ("page map", FILLS["die_mapping"]),
    "rmw": ("read-modify-write", FILLS["die_rmw"]),
    "refresh": ("refresh", FILLS["die_refresh"]),
}

_PROGRAMS = Bars(
    "programs",
    "Write amplification and garbage collection",
    "Flash pages programmed by cause",
    "The length of a bar is the write amplification factor (WAF).",
    "Flash pages programmed per host page (WAF)",
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
    yield _ranked(runs, "dies", "Die", "Dies, busiest first", "die_busy")
    yield _ranked(runs, "buses", "Bus", "Buses, busiest first", "bus_busy")


def _ranked(runs: Sequence[Run], name: str, kind: str, axis: str, field: str) -> Figure:
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
    x, y = Axis("rank", 0, most), Axis("busy", 0, highest)
    lines = run_lines(runs, rows, x, y, stepped=True)
    chart = lines.chart(
        alt.MarkDef(type="line", interpolate="step-after"),
        x=alt.X(
            "rank:Q",
            scale=alt.Scale(domain=[0, most], nice=False),
            axis=alt.Axis(title=axis, tickCount=min(most, 6), grid=False, format="d"),
        ),
        y=alt.Y(
            "busy:Q",
            scale=alt.Scale(zero=True),
            axis=alt.Axis(title=f"{kind} utilization", tickCount=5, format="~%"),
        ),
    )
    what = f"Share of time in which each {kind.lower()} is in service." + lines.note
    title = f"{kind} utilization, sorted"
    return Figure(f"busy-{name}", "Utilization", title, what, chart, lines.keys)
