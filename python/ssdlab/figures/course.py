"""The run over time: latency, load, write amplification, garbage collection, utilisation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import altair as alt

from ssdlab.details import SeriesInterval
from ssdlab.figures.base import (
    KINDS,
    Figure,
    Run,
    clock_of,
    colour,
    latency_axis,
    log_axis,
    paleness,
    paleness_keys,
    run_keys,
    short,
    table,
)

ROWS_MOST = 500
"""A run in more intervals than this is drawn in fewer, each of several."""


def course(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw what there is to see over time."""
    rows = rows_of(runs)
    if len({row["t"] for row in rows}) < 2:
        return
    for kind in KINDS:
        if any(row[f"{kind}_mean"] for row in rows):
            yield _latency(runs, rows, kind)
    yield from _waf(runs, rows)
    for line in _LINES:
        if any(row[line.field] for row in rows):
            yield _line(runs, rows, line)
    yield _busy(runs, rows)


_LOAD = "Load"
_GC = "Write amplification and garbage collection"
_RETRIES = "Read retries"


@dataclass(frozen=True, slots=True)
class _Line:
    """A figure of one line a run."""

    name: str
    section: str
    title: str
    what: str
    field: str
    axis: str


_LINES = (
    _Line(
        *("load-requests", _LOAD, "Requests ended", "Requests that ended, a second."),
        *("requests", "Requests a second"),
    ),
    _Line(
        *("load-bandwidth", _LOAD, "Bandwidth", "Bytes read and written."),
        *("mb", "Megabytes a second"),
    ),
    _Line(
        *("load-in-system", _LOAD, "Requests in the system", "Arrived and not ended."),
        *("in_system", "Requests"),
    ),
    _Line(
        *("gc-blocks", _GC, "Blocks collected", "Blocks that garbage collection emptied."),
        *("gc_blocks", "Blocks a second"),
    ),
    _Line(
        *("gc-pages", _GC, "Pages moved", "Valid pages that garbage collection moved."),
        *("gc_pages", "Pages a second"),
    ),
    _Line(
        *("retries", _RETRIES, "Read retries", "Attempts of reads after the first."),
        *("retries", "Retries a second"),
    ),
)


def joined(series: Sequence[SeriesInterval], most: int = ROWS_MOST) -> list[SeriesInterval]:
    """Return a run in at most so many intervals: neighbours are joined.

    Counts add up, means weigh by their counts; a percentile of several is the largest of theirs.
    """
    every = -(-len(series) // most)
    return [_join(series[at : at + every]) for at in range(0, len(series), every or 1)]


def _join(parts: Sequence[SeriesInterval]) -> SeriesInterval:
    if len(parts) == 1:
        return parts[0]
    first, last = parts[0], parts[-1]
    sums = ("reads", "writes", "mb", "host_pages", "pages", "gc_blocks", "gc_pages", "erases")
    summed: dict[str, Any] = {
        name: sum(getattr(part, name) for part in parts) for name in (*sums, "retries")
    }
    for name in (slot.name for slot in fields(SeriesInterval)):
        if name.endswith(("p99_us", "max_us")):
            summed[name] = max(_known(getattr(part, name) for part in parts), default=None)
    for kind in KINDS:
        pairs = [(getattr(part, f"{kind}_mean_us"), getattr(part, f"{kind}s")) for part in parts]
        whole = sum((mean or 0.0) * count for mean, count in pairs)
        count = summed[f"{kind}s"]
        summed[f"{kind}_mean_us"] = whole / count if count else None
    host, span = summed["host_pages"], last.end_s - first.start_s
    summed["waf"] = summed["pages"] / host if host else None
    for name in ("die_busy", "bus_busy"):
        busy = sum(getattr(part, name) * (part.end_s - part.start_s) for part in parts)
        summed[name] = busy / span if span else 0.0
    return replace(first, end_s=last.end_s, in_system=last.in_system, **summed)


def _known(values: Iterator[float | None]) -> Iterator[float]:
    return (value for value in values if value is not None)


def rows_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return a row a run and interval: the middle of the interval, and rates a second."""
    unit = clock(runs)[1]
    return [
        {"label": run.label, **_row(one, unit)}
        for run in runs
        for one in joined(run.detail.series)
        if one.end_s > one.start_s
    ]


def _row(one: SeriesInterval, unit: float) -> dict[str, Any]:
    span = one.end_s - one.start_s
    return {
        "t": short((one.start_s + one.end_s) / 2 / unit),
        "read_mean": short(one.read_mean_us, 4),
        "read_p99": short(one.read_p99_us, 4),
        "write_mean": short(one.write_mean_us, 4),
        "write_p99": short(one.write_p99_us, 4),
        "requests": short((one.reads + one.writes) / span, 4),
        "mb": short(one.mb / span, 4),
        "in_system": one.in_system,
        "waf": short(one.waf, 5),
        "gc_blocks": short(one.gc_blocks / span, 4),
        "gc_pages": short(one.gc_pages / span, 4),
        "retries": short(one.retries / span, 4),
        "dies": short(one.die_busy, 4),
        "buses": short(one.bus_busy, 4),
    }


# Where nothing ended in an interval, the line breaks; what stands alone is still to be seen.
_DOT = alt.OverlayMarkDef(size=3, filled=True)


def clock(runs: Sequence[Run]) -> tuple[str, float]:
    """Return the unit of the axes of time, and its length in seconds."""
    ends = (one.end_s for run in runs for one in run.detail.series)
    return clock_of(max(ends, default=1.0))


def _time(runs: Sequence[Run]) -> alt.X:
    unit, length = clock(runs)
    end = max(one.end_s for run in runs for one in run.detail.series)
    axis = alt.Axis(title=f"Time ({unit})", tickCount=6, grid=False)
    scale = alt.Scale(domain=[0, short(end / length)], nice=False)
    return alt.X("t:Q", scale=scale, axis=axis)


def _latency(runs: Sequence[Run], rows: list[dict[str, Any]], kind: str) -> Figure:
    values = [row[f"{kind}_{what}"] for row in rows for what in ("mean", "p99")]
    known = [value for value in values if value]
    names = ("mean", "p99")
    chart = (
        alt.Chart(table(rows))
        .transform_fold([f"{kind}_mean", f"{kind}_p99"], as_=["field", "us"])
        .transform_calculate(what=f"datum.field == '{kind}_p99' ? 'p99' : 'mean'")
        .mark_line(strokeWidth=1.2, point=_DOT)
        .encode(
            x=_time(runs),
            y=alt.Y("us:Q", **latency_axis(f"{kind.capitalize()} latency", min(known), max(known))),
            color=colour(runs),
            opacity=paleness(names, "what"),
        )
    )
    title = f"{kind.capitalize()} latency over time"
    what = f"Mean and 99th percentile of the {kind}s that ended in an interval."
    keys = [*run_keys(runs), *paleness_keys(names)]
    return Figure(f"time-latency-{kind}", "Latency over time", title, what, chart, keys)


def _line(runs: Sequence[Run], rows: list[dict[str, Any]], line: _Line) -> Figure:
    chart = (
        alt.Chart(table(rows))
        .mark_line(strokeWidth=1.2)
        .encode(
            x=_time(runs),
            y=alt.Y(
                f"{line.field}:Q",
                scale=alt.Scale(zero=True),
                axis=alt.Axis(title=line.axis, tickCount=5),
            ),
            color=colour(runs),
        )
    )
    keys = run_keys(runs)
    return Figure(f"time-{line.name}", line.section, line.title, line.what, chart, keys)


def _waf(runs: Sequence[Run], rows: list[dict[str, Any]]) -> Iterator[Figure]:
    """Draw write amplification, if there is any; on powers of ten if it spans several."""
    known = [row["waf"] for row in rows if row["waf"]]
    if not known or max(known) <= 1:
        return
    wide = max(known) > 10 * min(known)
    y: dict[str, Any] = {
        "scale": alt.Scale(zero=False, domainMin=1),
        "axis": alt.Axis(title="WAF", tickCount=5),
    }
    if wide:
        y = log_axis("WAF", max(1, min(known)), max(known), "format(datum.value, '~g')")
    chart = (
        alt.Chart(table(rows))
        .mark_line(strokeWidth=1.2, point=_DOT)
        .encode(x=_time(runs), y=alt.Y("waf:Q", **y), color=colour(runs))
    )
    what = "Pages programmed for each page programmed for the host."
    yield Figure("time-waf", _GC, "Write amplification", what, chart, run_keys(runs))


def _busy(runs: Sequence[Run], rows: list[dict[str, Any]]) -> Figure:
    names = ("dies", "buses")
    chart = (
        alt.Chart(table(rows))
        .transform_fold(list(names), as_=["what", "busy"])
        .mark_line(strokeWidth=1.2)
        .encode(
            x=_time(runs),
            y=alt.Y(
                "busy:Q",
                scale=alt.Scale(zero=True),
                axis=alt.Axis(title="Time in service", tickCount=5, format="~%"),
            ),
            color=colour(runs),
            opacity=paleness(names, "what"),
        )
    )
    keys = [*run_keys(runs), *paleness_keys(names)]
    what = "Mean share of the time in which dies and buses were in service."
    return Figure("time-utilisation", "Utilisation", "Utilisation over time", what, chart, keys)
