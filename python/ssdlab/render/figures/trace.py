"""The properties of traces: sizes, load, gaps, bursts, footprint, reuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import altair as alt

from ssdlab import escaping
from ssdlab.render.figures.base import (
    KINDS,
    Figure,
    color,
    inline_data,
    rounded,
    run_keys,
    time_unit_s,
)
from ssdlab.render.figures.log_axes import count_axis, latency_axis, log_axis
from ssdlab.render.figures.run_lines import Axis, RunLines, run_lines
from ssdlab.render.text.burstiness import window_notes
from ssdlab.render.text.traces import short_paths, size
from ssdlab.traces.infos import Info

PAGE_BYTES = 4096
SIZES, LOAD, REUSE = "Request sizes", "Requests over time", "Footprint and reuse"
BURSTS = "Burstiness and run lengths"


@dataclass(frozen=True, slots=True)
class Trace:
    """A drawn trace, and its name in the figures."""

    label: str
    info: Info


def traces_of(infos: Sequence[Info]) -> list[Trace]:
    """Return the traces to draw, each with its own name."""
    files = [info["trace"] for info in infos]
    names = [PurePath(file).name for file in files]
    if len(set(names)) < len(set(files)):
        names = short_paths(files)
    return [
        Trace(label, info)
        for label, info in zip(escaping.display_labels(names), infos, strict=True)
    ]


def trace_figures(infos: Sequence[Info]) -> list[Figure]:
    """Return the figures of traces that :func:`ssdlab.traces.info` returned."""
    return figures(traces_of(infos))


def figures(traces: Sequence[Trace]) -> list[Figure]:
    """Return the figures of traces, in the order of a report."""
    return [
        *(*_sizes(traces), *_load(traces), *_gaps(traces)),
        *(*_dispersion(traces), *_runs(traces)),
        *(*_growth(traces), *_reuse(traces)),
    ]


def _sizes(traces: Sequence[Trace]) -> Iterator[Figure]:
    """Draw the shares of requests by size, for reads and for writes."""
    for kind in KINDS:
        sized = [trace for trace in traces if trace.info[f"{kind}_size"] is not None]
        if not sized:
            continue
        rows = [row for trace in sized for row in _shares(trace, kind)]
        bounds = [row["bytes"] for row in rows]
        octaves = range(min(bounds).bit_length() - 1, max(bounds).bit_length())
        sizes = [size(1 << octave) for octave in octaves]
        channels: dict[str, Any] = {}
        if len(traces) > 1:
            lanes = [trace.label for trace in traces]
            channels["xOffset"] = alt.XOffset("label:N", scale=alt.Scale(domain=lanes))
        chart = (
            alt.Chart(inline_data(rows))
            .mark_bar(stroke=None)
            .encode(
                x=alt.X(
                    "size:N",
                    sort=sizes,
                    scale=alt.Scale(domain=sizes),
                    axis=alt.Axis(title="Request size, up to", labelAngle=-45, grid=False),
                ),
                y=alt.Y(
                    "share:Q",
                    scale=alt.Scale(zero=True),
                    axis=alt.Axis(title=f"Share of {kind}s", format="~%", tickCount=5),
                ),
                color=color(traces, "square"),
                tooltip=[
                    alt.Tooltip("label:N", title="trace"),
                    alt.Tooltip("size:N", title="size, up to"),
                    alt.Tooltip("share:Q", title=f"share of {kind}s", format=".3~%"),
                ],
                **channels,
            )
        )
        title = f"{kind.capitalize()} sizes"
        what = f"Share of {kind}s by size. A bar counts sizes above half of its label, up to it."
        yield Figure(f"trace-sizes-{kind}", SIZES, title, what, chart, run_keys(traces))


def _shares(trace: Trace, kind: str) -> Iterator[dict[str, Any]]:
    whole = trace.info[f"{kind}s"]
    for row in trace.info[f"{kind}_size"]["histogram"]:
        bound = row["up_to_bytes"]
        share = rounded(row["requests"] / whole)
        yield {"label": trace.label, "bytes": bound, "size": size(bound), "share": share}


def _clock(traces: Sequence[Trace]) -> tuple[str, float]:
    return time_unit_s(max(trace.info["span_s"] for trace in traces))


_FAR = 10
"""Values that differ by a larger factor do not share a linear axis from zero."""


def _time(traces: Sequence[Trace]) -> dict[str, Any]:
    ends = [_ends(trace)[-1] / _unit(traces, trace) for trace in traces if trace.info["requests"]]
    axis = alt.Axis(title=f"Time ({_clock(traces)[0]})", tickCount=6, grid=False)
    if _own_time(traces):
        axis = alt.Axis(title="Share of each trace's span", tickCount=6, grid=False, format="~%")
    scale = alt.Scale(domain=[0, rounded(max(ends))], nice=False)
    return {"scale": scale, "axis": axis}


def _own_time(traces: Sequence[Trace]) -> bool:
    """Tell whether one trace is so much longer that another would shrink to a stroke beside it."""
    ends = [_ends(trace)[-1] for trace in traces if trace.info["requests"]]
    return max(ends) > _FAR * min(ends)


def _unit(traces: Sequence[Trace], trace: Trace) -> float:
    """Return the seconds in a unit of a trace's time axis."""
    return _ends(trace)[-1] if _own_time(traces) else _clock(traces)[1]


def _ends(trace: Trace) -> list[float]:
    """Return the ends, in seconds, of the intervals in which a trace's load is counted."""
    load = trace.info["load"]
    return [load["interval_s"] * (at + 1) for at in range(len(load["requests"]))]


def _over_time(
    traces: Sequence[Trace],
    rows: list[dict[str, Any]],
    field: str,
    title: str,
    mark: alt.MarkDef,
) -> tuple[alt.Chart | alt.LayerChart, RunLines]:
    """Draw a line for each trace, from zero up; on powers of ten where they are far apart."""
    y: dict[str, Any] = {
        "scale": alt.Scale(zero=True),
        "axis": alt.Axis(title=title, tickCount=5),
    }
    tops: dict[str, float] = {}
    for row in rows:
        tops[row["label"]] = max(tops.get(row["label"], 0.0), row[field])
    above = [top for top in tops.values() if top > 0]
    time, up = _time(traces), Axis(field, 0, max(above, default=1.0))
    if above and max(above) > _FAR * min(above):
        least = min(row[field] for row in rows if row[field] > 0)
        y = log_axis(title, least, max(above), upright=True)
        # A logarithmic axis has no zero, so zeros stand at its start.
        low = y["scale"].domain[0]
        rows = [{**row, field: max(row[field], low)} for row in rows]
        up = Axis.from_log_axis(field, y)
    along, stepped = Axis("t", 0, time["scale"].domain[1]), mark["interpolate"] == "step-after"
    lines = run_lines(traces, rows, along, up, stepped=stepped)
    return lines.chart(mark, x=alt.X("t:Q", **time), y=alt.Y(f"{field}:Q", **y)), lines


def _load(traces: Sequence[Trace]) -> Iterator[Figure]:
    """Draw the reads and the writes per second."""
    if max(len(trace.info["load"]["requests"]) for trace in traces) < _LEAST:
        return
    for kind in KINDS:
        rows: list[dict[str, Any]] = [
            {
                "label": trace.label,
                "t": rounded(start / _unit(traces, trace)),
                "rate": rounded(rate, 4),
            }
            for trace in traces
            for start, rate in _rates(trace, kind, 1 if len(traces) == 1 else 2)
        ]
        if not any(row["rate"] for row in rows):
            continue
        mark = alt.MarkDef(type="line", interpolate="step-after", strokeWidth=1.2)
        chart, lines = _over_time(traces, rows, "rate", f"{kind.capitalize()}s per second", mark)
        title = f"{kind.capitalize()}s per second"
        what = f"Arrival rate of {kind}s in each interval." + lines.note
        yield Figure(f"trace-load-{kind}", LOAD, title, what, chart, lines.keys)


_LEAST = 2
"""With fewer intervals, there is no course to draw."""


def _rates(trace: Trace, kind: str, every: int) -> Iterator[tuple[float, float]]:
    """Yield the start in seconds and the rate of each interval, after joining ``every`` of them."""
    load = trace.info["load"]
    step, rate = load["interval_s"], 0.0
    pairs = zip(load["requests"], load["reads"], strict=True)
    counts = [reads if kind == "read" else whole - reads for whole, reads in pairs]
    for at in range(0, len(counts), every):
        part = counts[at : at + every]
        rate = sum(part) / (step * len(part))
        yield at * step, rate
    # The end of the last step.
    yield len(load["requests"]) * step, rate


def _gaps(traces: Sequence[Trace]) -> Iterator[Figure]:
    """Draw the cumulative distribution of the times between requests."""
    found = [(trace, trace.info["gap_points"]) for trace in traces]
    axis, rows = _curves(found)
    if not rows:
        return
    x = latency_axis("Interarrival time", *axis)
    chart, lines = _cdf(traces, rows, x, "Share of requests")
    what = "Share of requests that arrive within a time of the previous request."
    what += " A curve that starts above 0 has simultaneous requests." * _has_zero(found)
    what += lines.note
    title = "Interarrival time CDF"
    yield Figure("trace-gaps", LOAD, title, what, chart, lines.keys)


def _dispersion(traces: Sequence[Trace]) -> Iterator[Figure]:
    """Draw the index of dispersion over the window, beside that of a Poisson process."""
    found = [
        (trace, row["window_s"] * 1e6, row["dispersion"])
        for trace in traces
        for row in trace.info["burstiness"]["windows"]
    ]
    # A logarithmic axis has no zero: the same number of requests in each window.
    above = [dispersion for _, _, dispersion in found if dispersion > 0]
    if not above:
        return
    lengths = [length for _, length, _ in found]
    ends = min(1.0, *above) / 2, max(1.0, *above)
    up = log_axis("Index of dispersion", *ends, upright=True)
    low = up["scale"].domain[0]
    rows = [
        {"label": trace.label, "x": rounded(length), "dispersion": rounded(max(dispersion, low))}
        for trace, length, dispersion in found
    ]
    along = latency_axis("Window length", min(lengths), max(lengths))
    axes = Axis.from_log_axis("x", along), Axis.from_log_axis("dispersion", up)
    lines = run_lines(traces, rows, *axes)
    chart = lines.over_level(
        alt.MarkDef(type="line", point=True),
        1.0,
        alt.X("x:Q", **along),
        alt.Y("dispersion:Q", **up),
    )
    what = "Variance over mean of the number of requests in a window. Dotted: a Poisson process."
    if notes := window_notes([(trace.label, trace.info) for trace in traces]):
        what += f" No value: {'; '.join(notes)}."
    what += lines.note
    yield Figure(
        "trace-dispersion", BURSTS, "Index of dispersion by window length", what, chart, lines.keys
    )


def _runs(traces: Sequence[Trace]) -> Iterator[Figure]:
    """Draw the cumulative distribution of runs of reads and of writes."""
    for kind in KINDS:
        runs = [(trace, trace.info["burstiness"][f"{kind}_runs"]) for trace in traces]
        found = [(trace, each["points"] if each else []) for trace, each in runs]
        axis, rows = _curves(found)
        if not rows:
            continue
        x = count_axis(f"Consecutive {kind}s", *axis)
        chart, lines = _cdf(traces, rows, x, "Share of runs")
        what = f"Share of runs of consecutive {kind}s up to a length." + lines.note
        title = f"{kind.capitalize()} run length CDF"
        yield Figure(f"trace-runs-{kind}", BURSTS, title, what, chart, lines.keys)


def _growth(traces: Sequence[Trace]) -> Iterator[Figure]:
    """Draw how many bytes the trace has touched since its start."""
    if max(len(trace.info["load"]["requests"]) for trace in traces) < _LEAST:
        return
    most = max(trace.info["footprint_pages"] for trace in traces) * PAGE_BYTES
    unit, factor = next((name, factor) for name, factor in _UNITS if most >= factor or factor == 1)
    rows = [
        {
            "label": trace.label,
            "t": rounded(end / _unit(traces, trace)),
            "touched": rounded(touched / factor, 5),
        }
        for trace in traces
        for end, touched in _touched(trace)
    ]
    mark = alt.MarkDef(type="line")
    chart, lines = _over_time(traces, rows, "touched", f"Footprint ({unit})", mark)
    what = "Distinct pages of 4 KiB read or written since the first request."
    what += lines.note
    yield Figure("trace-footprint", REUSE, "Footprint", what, chart, lines.keys)


_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1))


def _touched(trace: Trace) -> Iterator[tuple[float, float]]:
    """Yield the end of each interval in seconds, and the bytes touched until then."""
    yield 0.0, 0.0
    for end, pages in zip(_ends(trace), trace.info["load"]["footprint_pages"], strict=True):
        yield end, pages * PAGE_BYTES


def _reuse(traces: Sequence[Trace]) -> Iterator[Figure]:
    """Draw the cumulative distribution of reuse distances."""
    found = [(trace, (trace.info["reuse"] or {"points": []})["points"]) for trace in traces]
    axis, rows = _curves(found)
    if not rows:
        return
    x = count_axis("Reuse distance (distinct 4 KiB pages)", *axis)
    chart, lines = _cdf(traces, rows, x, "Share of repeated accesses")
    what = "Share of repeated accesses to a 4 KiB page with at most so many other pages in between."
    what += " A curve that starts above 0 has immediate repeats." * _has_zero(found)
    what += lines.note
    title = "Reuse distance CDF"
    yield Figure("trace-reuse", REUSE, title, what, chart, lines.keys)


_Curves = Sequence[tuple[Trace, Sequence[tuple[float, float]]]]


def _has_zero(found: _Curves) -> bool:
    return any(points and points[0][0] == 0 for _, points in found)


def _curves(found: _Curves) -> tuple[tuple[float, float], list[dict[str, Any]]]:
    """Return the range of the axis of these curves, and their points.

    A value of zero stands at the start of a logarithmic axis.
    """
    values = [value for _, points in found for value, _ in points]
    if not values:
        return (1.0, 1.0), []
    above = [value for value in values if value > 0] or [1.0]
    least, most = min(above), max(above)
    if _has_zero(found):
        least /= 2
    rows = []
    for trace, points in found:
        # A curve rises from zero, unless its first value is at the start of the axis.
        start = [(value, 0.0) for value, _ in points[:1] if value > 0]
        rows += [
            {"label": trace.label, "x": rounded(max(value, least)), "share": rounded(share)}
            for value, share in [*start, *points]
        ]
    return (least, most), rows


def _cdf(
    traces: Sequence[Trace], rows: list[dict[str, Any]], x: dict[str, Any], title: str
) -> tuple[alt.Chart | alt.LayerChart, RunLines]:
    along, up = Axis.from_log_axis("x", x), Axis("share", 0, 1)
    lines = run_lines(traces, rows, along, up, stepped=True)
    return lines.distribution(alt.X("x:Q", **x), title), lines
