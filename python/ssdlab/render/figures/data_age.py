"""The age of data when it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from ssdlab.render.figures.base import Figure, Run, rounded
from ssdlab.render.figures.run_lines import STEPS, Axis, run_lines

DAY_S = 86_400.0


def read_ages(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the share of flash reads whose data was at most so old."""
    found = [(run, run.detail.read_ages) for run in runs if run.detail.read_ages]
    if not found:
        return
    rows = [
        {"label": run.label, "days": rounded(age / DAY_S, 6), "share": rounded(share, 9)}
        for run, points in found
        for age, share in [(points[0][0], 0.0), *points]
    ]
    most = max(points[-1][0] for _, points in found) / DAY_S
    lines = run_lines(runs, rows, Axis("days", 0, most), Axis("share", 0, 1), stepped=True)
    chart = lines.chart(
        STEPS,
        x=alt.X(
            "days:Q", scale=alt.Scale(zero=True), axis=alt.Axis(title="Age of the data (days)")
        ),
        y=alt.Y(
            "share:Q",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(title="Share of flash reads", format="%", tickCount=5),
        ),
    )
    what = "Share of flash reads (host and controller) whose data is at most this old."
    title = "Data age at read, CDF"
    yield Figure("read-ages", "Page reads", title, f"{what}{lines.note}", chart, lines.keys)
