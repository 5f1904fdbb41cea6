"""Latency distributions: CDFs, tails, and percentiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from ssdlab.render.figures.base import (
    KINDS,
    SHAPES,
    Figure,
    Key,
    Run,
    color,
    dash,
    dash_keys,
    inline_data,
    rounded,
    run_keys,
    shape_of,
)
from ssdlab.render.figures.log_axes import latency_axis, log_axis
from ssdlab.render.figures.run_lines import STEPS, Axis, RunLines, run_lines
from ssdlab.result import KindResult
from ssdlab.result.detail import Distribution

SECTION = "Latency"
PERCENTILES = (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99.9", "p999"), ("max", "max"))


def distributions(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the CDF, the tail and the percentiles of the reads' and of the writes' latencies."""
    for kind in KINDS:
        found = _of_kind(runs, kind)
        if found:
            yield cdf(runs, kind)
            yield tail(runs, kind)
            yield percentiles(runs, kind)


def _of_kind(runs: Sequence[Run], kind: str) -> list[tuple[Run, Distribution]]:
    each = [(run, one) for run in runs for one in run.detail.distributions]
    return [(run, one) for run, one in each if one.kind == kind and one.points]


def _queues(found: Sequence[tuple[Run, Distribution]]) -> list[str]:
    return [_queue(number) for number in sorted({one.queue for _, one in found})]


def _queue(number: int) -> str:
    return f"queue {number}"


def _axis(kind: str, found: Sequence[tuple[Run, Distribution]]) -> dict[str, Any]:
    least = min(one.points[0][0] for _, one in found)
    most = max(one.points[-1][0] for _, one in found)
    return latency_axis(f"{kind.capitalize()} latency", least, most)


def _line(one: Distribution) -> list[tuple[float, float]]:
    """Return the points of a line that rises from zero at the lowest latency."""
    return [(one.points[0][0], 0.0), *((us, share) for us, share in one.points)]


_SEEN = 0.005
"""A smaller rise is invisible on a linear axis."""


def _thinned(line: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Drop points that only a tail shows, so that a page of many runs stays small."""
    last = -1.0
    for us, share in line:
        if share - last >= _SEEN or share == 1:
            last = share
            yield us, share


def _lines(
    runs: Sequence[Run], queues: Sequence[str], rows: list[dict[str, Any]], x: Any, y: Axis
) -> RunLines:
    """Dash by queue; where there is but one, by run."""
    if len(queues) == 1:
        return run_lines(runs, rows, Axis.from_log_axis("us", x), y, stepped=True)
    channels = {"color": color(runs), "strokeDash": dash(queues, "queue")}
    return RunLines(rows, channels, [*run_keys(runs), *dash_keys(queues)], "")


def cdf(runs: Sequence[Run], kind: str) -> Figure:
    """Draw the share of requests that took at most so long."""
    found = _of_kind(runs, kind)
    queues = _queues(found)
    x = _axis(kind, found)
    rows = [
        {
            "label": run.label,
            "queue": _queue(one.queue),
            "us": rounded(us),
            "share": rounded(share, 9),
        }
        for run, one in found
        for us, share in _thinned(_line(one))
    ]
    lines = _lines(runs, queues, rows, x, Axis("share", 0, 1))
    chart = lines.distribution(alt.X("us:Q", **x), f"Share of {kind}s")
    what = f"Share of {kind}s that complete within a latency." + lines.note
    title = f"{kind.capitalize()} latency CDF"
    return Figure(f"latency-cdf-{kind}", SECTION, title, what, chart, lines.keys)


def tail(runs: Sequence[Run], kind: str) -> Figure:
    """Draw the share of requests that took longer, down to a single one."""
    found = _of_kind(runs, kind)
    queues = _queues(found)
    rows = [
        {
            "label": run.label,
            "queue": _queue(one.queue),
            "us": rounded(us),
            "share": rounded(max(1 - share, 1 / one.requests)),
        }
        for run, one in found
        for us, share in _line(one)
    ]
    least = min(1 / one.requests for _, one in found)
    x = _axis(kind, found)
    y = log_axis(f"Share of {kind}s above", least, 1.0, _PERCENT, upright=True)
    lines = _lines(runs, queues, rows, x, Axis.from_log_axis("share", y))
    chart = lines.chart(STEPS, x=alt.X("us:Q", **x), y=alt.Y("share:Q", **y))
    what = f"Share of {kind}s above a latency (CCDF); both axes are logarithmic."
    what += lines.note
    title = f"{kind.capitalize()} latency tail"
    return Figure(f"latency-tail-{kind}", SECTION, title, what, chart, lines.keys)


_SIDE_BY_SIDE = 3
_PERCENT = "format(datum.value * 100, '~g') + '%'"


def percentiles(runs: Sequence[Run], kind: str) -> Figure:
    """Draw the percentiles as dots; bars would need a zero, which a logarithmic axis lacks."""
    rows: list[dict[str, Any]] = []
    queues = _queues(_of_kind(runs, kind))
    for run in runs:
        for queue, part in parts_of(run, kind):
            for name, attribute in PERCENTILES:
                us = rounded(getattr(part.latency_us, attribute))
                place = {"what": name, "lane": _lane(run, queue)}
                rows.append({"label": run.label, "queue": queue, **place, "us": us})
    values = [row["us"] for row in rows]
    title = f"{kind.capitalize()} latency"
    # The queues of a run stand below one another, so that equal values stay visible.
    lanes = [_lane(run, queue) for run in runs for queue in queues]
    channels: dict[str, Any] = {}
    if len(lanes) > 1:
        channels["yOffset"] = alt.YOffset(
            "lane:N", scale=alt.Scale(domain=lanes, paddingOuter=0.35)
        )
    if len(queues) > 1:
        channels["shape"] = _shapes(queues, "queue:N", alt.Legend(title=None))
    elif len(runs) > 1:
        legend = alt.Legend(title=None, symbolType="circle", symbolOpacity=1)
        channels["shape"] = _shapes([run.label for run in runs], "label:N", legend)
    chart = (
        alt.Chart(inline_data(rows))
        .mark_point(filled=True, size=45 if len(lanes) <= _SIDE_BY_SIDE else 28, opacity=1)
        .encode(
            x=alt.X("us:Q", **latency_axis(title, min(values), max(values))),
            y=alt.Y(
                "what:N",
                sort=[name for name, _ in PERCENTILES],
                axis=alt.Axis(title=None, grid=True),
            ),
            color=color(runs, "circle"),
            tooltip=[
                alt.Tooltip("label:N", title="run"),
                alt.Tooltip("queue:N", title="queue"),
                alt.Tooltip("what:N", title="percentile"),
                alt.Tooltip("us:Q", title="latency in µs", format=",.4~g"),
            ],
            **channels,
        )
    )
    names = f"{kind.capitalize()} latency percentiles"
    keys = run_keys(runs)
    if len(queues) > 1:
        keys += [Key(name, mark=_mark(at)) for at, name in enumerate(queues)]
    else:
        keys = [replace(key, mark=_mark(at)) for at, key in enumerate(keys)]
    what = f"Percentiles and maximum of the {kind} latency."
    # High enough for the dots of many runs and queues.
    high = len(PERCENTILES) if len(lanes) > _SIDE_BY_SIDE else 0
    return Figure(
        *(f"percentiles-{kind}", SECTION, names, what, chart, keys), lanes=high, marks=len(lanes)
    )


def _shapes(names: Sequence[str], field: str, legend: alt.Legend) -> alt.Shape:
    ranged = [shape_of(at) for at, _ in enumerate(names)]
    return alt.Shape(field, scale=alt.Scale(domain=list(names), range=ranged), legend=legend)


def _mark(at: int) -> str:
    return f"shape{at % len(SHAPES)}"


def _lane(run: Run, queue: str) -> str:
    return f"{run.label}, {queue}"


def parts_of(run: Run, kind: str) -> Iterator[tuple[str, KindResult]]:
    """Yield the requests of a kind by queue."""
    parts: Sequence[Any] = run.result.queues or [run.result]
    for number, part in enumerate(parts):
        found: KindResult = getattr(part, kind)
        if found.requests:
            yield _queue(number), found
