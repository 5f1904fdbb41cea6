"""The run over time: latency, load, write amplification, garbage collection, utilization."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import altair as alt

from ssdlab.labels import PAGE_TYPES
from ssdlab.render.figures.base import (
    KINDS,
    Figure,
    Run,
    rounded,
    time_unit_s,
)
from ssdlab.render.figures.log_axes import latency_axis, log_axis
from ssdlab.render.figures.page_types import SECTION, types_of
from ssdlab.render.figures.run_lines import Axis, RunLines, run_lines
from ssdlab.result.detail import SeriesInterval

ROWS_MOST = (200, 100)
"""The maximum number of drawn intervals per run: for one run, and for several runs."""


def rows_most(runs: Sequence[Run]) -> int:
    """Return the maximum number of drawn intervals per run."""
    return ROWS_MOST[len(runs) > 1]


def time_series(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw all figures over time that have content."""
    rows = rows_of(runs)
    if len({row["t"] for row in rows}) < 2:
        return
    for kind in KINDS:
        for figure in _FIGURES:
            yield from _latency(runs, rows, kind, figure)
    yield from _waf(runs, rows)
    for line in _LINES:
        if any(row[line.field] for row in rows):
            yield _line(runs, rows, line)
    for at, name in enumerate(types_of(runs)):
        what = f"Free {name} pages of the drive at the end of each interval."
        title = f"Free {name} pages"
        yield _line(
            runs, rows, _Line(f"free-{at}", SECTION, title, what, f"free_{at}", "Free pages")
        )


_LOAD = "Load"
_GC = "Write amplification and garbage collection"
_RETRIES = "Read retries"
_BUSY = "Utilization"
_FREE = tuple(f"free_{at}" for at in range(max(PAGE_TYPES)))


@dataclass(frozen=True, slots=True)
class _Line:
    """A figure with one line per run."""

    name: str
    section: str
    title: str
    what: str
    field: str
    axis: str
    percent: bool = False

    @property
    def shape(self) -> dict[str, Any]:
        """Return the number format of the axis."""
        return {"format": "~%"} if self.percent else {}


_LINES = (
    _Line(
        *("load-requests", _LOAD, "Completed requests per second", "Rate in each interval."),
        *("requests", "Requests per second (IOPS)"),
    ),
    _Line(
        *("load-bandwidth", _LOAD, "Bandwidth", "Bytes read and written."),
        *("mb", "Bandwidth (MB/s)"),
    ),
    _Line(
        *("load-in-system", _LOAD, "Outstanding requests", "At the end of each interval."),
        *("in_system", "Outstanding requests"),
    ),
    _Line(
        *("gc-blocks", _GC, "Blocks collected per second", "By garbage collection."),
        *("gc_blocks", "Blocks per second"),
    ),
    _Line(
        *("gc-pages", _GC, "Valid pages moved per second", "By garbage collection."),
        *("gc_pages", "Pages per second"),
    ),
    _Line(
        *("retries", _RETRIES, "Read retries per second", "Read attempts after the first."),
        *("retries", "Retries per second"),
    ),
    _Line(
        *("dies", _BUSY, "Die utilization over time", "Mean share of time in service."),
        *("dies", "Die utilization"),
        percent=True,
    ),
    _Line(
        *("buses", _BUSY, "Bus utilization over time", "Mean share of time in service."),
        *("buses", "Bus utilization"),
        percent=True,
    ),
)


def joined(series: Sequence[SeriesInterval], most: int) -> list[SeriesInterval]:
    """Return a run in at most ``most`` intervals, by joining neighbors.

    Counts are added. Means are weighted by their counts. The percentile of joined intervals is the
    largest of theirs.
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
    summed |= {name: getattr(last, name) for name in ("in_system", *_FREE)}
    return replace(first, end_s=last.end_s, **summed)


def _known(values: Iterator[float | None]) -> Iterator[float]:
    return (value for value in values if value is not None)


def rows_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return a row per run and interval: the middle of the interval, and rates per second."""
    unit = clock(runs)[1]
    return [
        {"label": run.label, **_row(one, unit)}
        for run in runs
        for one in joined(run.detail.series, rows_most(runs))
        if one.end_s > one.start_s
    ]


def _row(one: SeriesInterval, unit: float) -> dict[str, Any]:
    span = one.end_s - one.start_s
    return {
        "t": rounded((one.start_s + one.end_s) / 2 / unit),
        "read_mean": rounded(one.read_mean_us, 4),
        "read_p99": rounded(one.read_p99_us, 4),
        "write_mean": rounded(one.write_mean_us, 4),
        "write_p99": rounded(one.write_p99_us, 4),
        "requests": rounded((one.reads + one.writes) / span, 4),
        "mb": rounded(one.mb / span, 4),
        "in_system": one.in_system,
        "waf": rounded(one.waf, 5),
        "gc_blocks": rounded(one.gc_blocks / span, 4),
        "gc_pages": rounded(one.gc_pages / span, 4),
        "retries": rounded(one.retries / span, 4),
        "dies": rounded(one.die_busy, 4),
        "buses": rounded(one.bus_busy, 4),
        **{name: getattr(one, name) for name in _FREE},
    }


# A line breaks at an interval without requests; dots keep single intervals visible.
_DOTTED = alt.MarkDef(type="line", strokeWidth=1.2, point=alt.OverlayMarkDef(size=6, filled=True))


def clock(runs: Sequence[Run]) -> tuple[str, float]:
    """Return the unit of the time axes, and its length in seconds."""
    ends = (one.end_s for run in runs for one in run.detail.series)
    return time_unit_s(max(ends, default=1.0))


def _end(runs: Sequence[Run]) -> float:
    """Return the end of the time axes, in their unit."""
    return max(one.end_s for run in runs for one in run.detail.series) / clock(runs)[1]


def _run_lines(runs: Sequence[Run], rows: list[dict[str, Any]], y: Axis) -> RunLines:
    return run_lines(runs, rows, Axis("t", 0, _end(runs)), y)


def _time(runs: Sequence[Run]) -> alt.X:
    axis = alt.Axis(title=f"Time ({clock(runs)[0]})", tickCount=6, grid=False)
    scale = alt.Scale(domain=[0, rounded(_end(runs))], nice=False)
    return alt.X("t:Q", scale=scale, axis=axis)


def _latency(
    runs: Sequence[Run], rows: list[dict[str, Any]], kind: str, figure: str
) -> Iterator[Figure]:
    known = [row[f"{kind}_{figure}"] for row in rows if row[f"{kind}_{figure}"]]
    if not known:
        return
    title = _TITLES[figure].format(kind)
    y = latency_axis(title, min(known), max(known), upright=True)
    field = f"{kind}_{figure}"
    lines = _run_lines(runs, rows, Axis.from_log_axis(field, y))
    chart = lines.chart(_DOTTED, x=_time(runs), y=alt.Y(f"{field}:Q", **y))
    what = _FIGURES[figure].format(kind) + lines.note
    if figure == "p99" and any(len(run.detail.series) > rows_most(runs) for run in runs):
        what += " A merged interval has the largest percentile of its parts."
    name = f"time-{figure}-{kind}"
    yield Figure(name, "Latency over time", title, what, chart, lines.keys)


_FIGURES = {
    "mean": "Mean latency of the {}s that complete in an interval.",
    "p99": "99th-percentile latency of the {}s that complete in an interval.",
}
_TITLES = {"mean": "Mean {} latency", "p99": "p99 {} latency"}


def _line(runs: Sequence[Run], rows: list[dict[str, Any]], line: _Line) -> Figure:
    highest = max(row[line.field] for row in rows)
    lines = _run_lines(runs, rows, Axis(line.field, 0, highest))
    chart = lines.chart(
        alt.MarkDef(type="line", strokeWidth=1.2),
        x=_time(runs),
        y=alt.Y(
            f"{line.field}:Q",
            scale=alt.Scale(zero=True),
            axis=alt.Axis(title=line.axis, tickCount=5, **line.shape),
        ),
    )
    what = line.what + lines.note
    return Figure(f"time-{line.name}", line.section, line.title, what, chart, lines.keys)


def _waf(runs: Sequence[Run], rows: list[dict[str, Any]]) -> Iterator[Figure]:
    """Draw write amplification, if there is any; on a logarithmic axis if it varies widely."""
    known = [row["waf"] for row in rows if row["waf"]]
    if not known or max(known) <= 1:
        return
    wide = max(known) > 10 * min(known)
    y: dict[str, Any] = {
        "scale": alt.Scale(zero=False, domainMin=1),
        "axis": alt.Axis(title="WAF", tickCount=5),
    }
    if wide:
        y = log_axis("WAF", max(1, min(known)), max(known), upright=True)
    lines = _run_lines(runs, rows, Axis("waf", max(1, min(known)), max(known), log=wide))
    chart = lines.chart(_DOTTED, x=_time(runs), y=alt.Y("waf:Q", **y))
    what = "Flash pages programmed per host page." + lines.note
    yield Figure("time-waf", _GC, "Write amplification factor (WAF)", what, chart, lines.keys)
