"""Submission queues side by side: the retries of their reads, and their waiting times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from ssdlab.render import queues
from ssdlab.render.figures.base import (
    LABEL_LINES_EXPR,
    Figure,
    Key,
    Run,
    inline_data,
    ramp,
    time_unit_us,
)
from ssdlab.render.figures.blame import SECTION
from ssdlab.render.figures.fills import FILLS
from ssdlab.render.figures.stacked_bars import Bars, stacked_values
from ssdlab.result import QueueResult

_QUANTILES = (("p1", 0.01), ("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("p99", 0.99))
_WAITING = (
    ("before the read command", FILLS["die_host"]),
    ("from the read command on", FILLS["sense"]),
)
_ROOM = 44
"""The number of characters of run names that fit side by side below a narrow figure."""


def _queues_of(run: Run) -> Iterator[tuple[int, str, QueueResult]]:
    """Yield the queues of a run that have reads: number, name, and result."""
    names = queues.queue_labels(run.result)
    for number, (name, queue) in enumerate(zip(names, run.result.queues, strict=True)):
        if queue.read.requests:
            yield number, f"queue {name}", queue


def _several(runs: Sequence[Run]) -> bool:
    """Tell whether any run has reads in several queues."""
    return any(len(list(_queues_of(run))) > 1 for run in runs)


def waiting(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the share of the mean read latency before the read's command, by run and queue."""
    if not _several(runs):
        return
    bars = [
        (", ".join([*[run.label] * (len(runs) > 1), name]), queue)
        for run in runs
        for _, name, queue in _queues_of(run)
    ]
    unit, length = time_unit_us(max(queue.read.latency_us.mean for _, queue in bars))
    values = []
    (before, _), (rest, _) = _WAITING
    for label, queue in bars:
        waited, whole = queue.read_waiting_us, queue.read.latency_us.mean
        values += [(label, before, waited / length), (label, rest, (whole - waited) / length)]
    shape = Bars(
        "queue-waiting",
        SECTION,
        "Read waiting time by queue",
        "Mean read latency of each queue, before and after the flash receives the read command.",
        f"Mean read latency ({unit})",
    )
    yield stacked_values([label for label, _ in bars], shape, _WAITING, values)


def retries(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the retries of the pages read, with a box per run and queue."""
    rows = [row for run in runs for row in _rows(run)]
    if not _several(runs) or not any(row["p99"] for row in rows):
        return
    drawn = [run for run in runs if any(row["label"] == run.label for row in rows)]
    names = _names(drawn)
    what = (
        "Retries per page read, by queue. Boxes: first to third quartile, with the median. Lines:"
        " 1st to 99th percentile."
    )
    keys = [Key(name, tone) for name, tone in zip(names, ramp(len(names)), strict=True)]
    chart = _boxes(rows, drawn, names)
    yield Figure("queue-retries", "Page reads", "Retries by queue", what, chart, keys)


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the drawn values of each queue of a run."""
    for _, name, queue in _queues_of(run):
        counts = queue.read_retries
        if len(counts) > 1 and any(counts):
            found = {key: queues.retry_quantile(counts, part) for key, part in _QUANTILES}
            yield {"label": run.label, "queue": name, **found, "pages": sum(counts)}


def _names(runs: Sequence[Run]) -> list[str]:
    """Return the names of the queues of all runs, in the order of their numbers."""
    found = {(number, name) for run in runs for number, name, _ in _queues_of(run)}
    return [name for _, name in sorted(found)]


def _boxes(rows: list[dict[str, Any]], runs: Sequence[Run], names: Sequence[str]) -> alt.LayerChart:
    labels = [run.label for run in runs]
    pieces = [max(map(len, label.split(", "))) for label in labels]
    angle = 0 if max(pieces) * len(labels) <= _ROOM else -40
    label_axis = (
        {"labelExpr": LABEL_LINES_EXPR, "labelAngle": angle} if len(runs) > 1 else {"labels": False}
    )
    axis = alt.Axis(title=None, grid=False, ticks=False, **label_axis)
    x = alt.X("label:N", sort=labels, axis=axis)
    beside = alt.XOffset("queue:N", scale=alt.Scale(domain=list(names), paddingInner=0.35))
    count = alt.Axis(title="Retries per page read", tickMinStep=1, tickCount=6, format="d")
    low = alt.Y("p1:Q", axis=count, scale=alt.Scale(zero=True))
    tone = alt.Color(
        "queue:N",
        scale=alt.Scale(domain=list(names), range=ramp(len(names))),
        legend=alt.Legend(title=None, symbolType="square"),
    )
    titles = {"label": "run", "queue": "queue", "pages": "pages read"}
    tooltip = [alt.Tooltip(f"{name}:N", title=head) for name, head in titles.items()]
    tooltip += [alt.Tooltip(f"{name}:Q") for name, _ in _QUANTILES]
    channels: dict[str, Any] = {"x": x, "xOffset": beside, "tooltip": tooltip}
    line = alt.Chart().mark_rule(strokeWidth=1.2)
    box = alt.Chart().mark_bar(fillOpacity=0.45)
    # A box without height is visible by its edge.
    edge = alt.Chart().mark_bar(filled=False, strokeWidth=1)
    across = alt.Chart().mark_tick(style="middle", thickness=1.5, opacity=1)
    return alt.LayerChart(
        data=inline_data(rows),
        layer=[
            line.encode(y=low, y2="q1:Q", color=tone, **channels),
            line.encode(y="q3:Q", y2="p99:Q", color=tone, **channels),
            box.encode(y="q1:Q", y2="q3:Q", color=tone, **channels),
            edge.encode(y="q1:Q", y2="q3:Q", color=tone, **channels),
            across.encode(y="median:Q", **channels),
        ],
    )
