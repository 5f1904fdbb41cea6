"""Where the time went: stacked bars that sum to the mean, and the slowest requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from ssdlab.render.figures.base import (
    KINDS,
    LABEL_LINES_EXPR,
    SAME,
    Figure,
    Key,
    Run,
    inline_data,
    label_lines,
    rounded,
    time_unit_us,
)
from ssdlab.render.figures.fills import FILLS, Fill
from ssdlab.render.figures.latency import parts_of
from ssdlab.result import KindResult

SECTION = "Latency breakdown"
SLOWEST = "Slowest requests"


class Part(NamedTuple):
    """A part of a latency: its name in figures, its meaning, and its fill."""

    name: str
    what: str
    fill: Fill


# In the order of a request's way.
_NAMES = {
    "host_queue": ("host queue", "queued at the host"),
    "page": ("same page", "behind an earlier request for the same page"),
    "buffer": ("buffer", "in the page buffer"),
    "map": ("map", "looking up the page map"),
    "die_host": ("die (host)", "waiting for a die busy with other requests"),
    "die_gc": ("die (GC)", "waiting for a die that collected garbage"),
    "die_wl": ("die (wear)", "waiting for a die that leveled wear"),
    "die_migration": ("die (moves)", "waiting for a die that moved data"),
    "die_mapping": ("die (map)", "waiting for a die busy with map pages"),
    "die_rmw": ("die (RMW)", "waiting for a die that read what a write changes"),
    "die_refresh": ("die (refresh)", "waiting for a die that refreshed data"),
    "bus": ("bus", "waiting for the bus"),
    "sense": ("sense", "reading the cells"),
    "retry": ("retries", "reading them again because of bit errors"),
    "decode": ("decode", "decoding, and waiting for it"),
    "transfer": ("transfer", "moving data over the bus"),
    "program": ("program", "programming the cells"),
}
PARTS = {part: Part(*names, FILLS[part]) for part, names in _NAMES.items()}
OTHER = "other"
_OTHER = Part("other", "parts below 1 % of every bar", FILLS[OTHER])
_LEAST = 0.01
"""A part that is smaller than this share of every bar is merged into ``other``."""

_VISIBLE = 1 / 200
"""A difference of less than this share of an axis is less than the width of a line."""
_SHARED = " Runs whose slowest requests look the same share one chart."

Bars = Sequence[tuple[str, Mapping[str, float]]]


def part_of(name: str) -> Part:
    """Return the name, the meaning and the fill of a part of a latency."""
    known = PARTS | {OTHER: _OTHER}
    return known.get(name, Part(name.replace("_", " "), "", _OTHER.fill))


def blame(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the mean latency of reads and of writes, with a bar per run and queue."""
    for kind in KINDS:
        bars = [(name, part.blame_us) for name, part in bars_of(runs, kind)]
        if not bars:
            continue
        chart, keys = _stacked(bars, f"Mean {kind} latency", "")
        what = f"The parts sum to the mean {kind} latency."
        title = f"Mean {kind} latency by part"
        lines = label_lines(bar for bar, _ in bars)
        yield Figure(f"blame-{kind}", SECTION, title, what, chart, keys, len(bars), lines)


def slowest(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw where the time of each run's slowest requests went, all along the same axis.

    Runs whose panels look the same share one.
    """
    panels = [
        (run, [(str(at + 1), slow.blame_us) for at, slow in enumerate(run.detail.slowest)])
        for run in runs
    ]
    longest = max(
        (sum(parts.values()) for _, bars in panels for _, parts in bars),
        default=0.0,
    )
    left = [each for each in panels if each[1]]
    while left:
        run, bars = left[0]
        alike = [other for other, its in left if _looks_same(its, bars, longest)]
        left = [each for each in left if each[0] not in alike]
        chart, keys = _stacked(bars, "Latency", "Rank (1 = slowest)", longest)
        whose, where = "", "."
        if len(runs) > 1:
            names = SAME.join(each.label for each in alike)
            whose = f": {names if len(alike) < len(runs) else 'alike in all runs'}"
            where = ". All runs share one axis." + _SHARED * (len(alike) > 1)
        yield Figure(
            f"slowest{run.slug(runs)}",
            SLOWEST,
            f"{SLOWEST}{whose}",
            f"Parts of the latency of each request{where}",
            chart,
            keys,
            len(bars),
        )


def _looks_same(bars: Bars, other: Bars, longest: float) -> bool:
    """Return whether no part of a bar differs by more than can be seen on an axis this long."""
    if len(bars) != len(other):
        return False
    return all(
        abs(mine.get(part, 0) - its.get(part, 0)) <= _VISIBLE * longest
        for (_, mine), (_, its) in zip(bars, other, strict=True)
        for part in {*mine, *its}
    )


def bars_of(runs: Sequence[Run], kind: str) -> Iterator[tuple[str, KindResult]]:
    """Yield the bars: the requests of a kind, by run and queue."""
    for run in runs:
        found = list(parts_of(run, kind))
        for queue, part in found:
            names = [run.label] * (len(runs) > 1) + [queue] * (len(found) > 1)
            yield ", ".join(names) or f"{kind}s", part


def rows_of(bars: Bars) -> list[dict[str, Any]]:
    """Return a row per bar and part. Small parts are merged, so that the sum stays the same."""
    wholes = [sum(parts.values()) or 1.0 for _, parts in bars]
    names = [*PARTS, *sorted({name for _, parts in bars for name in parts} - set(PARTS))]
    drawn_parts = [
        name
        for name in names
        if any(
            parts.get(name, 0) >= _LEAST * whole
            for (_, parts), whole in zip(bars, wholes, strict=True)
        )
    ]
    rows = []
    for bar, parts in bars:
        for order, name in enumerate(drawn_parts):
            rows.append({"bar": bar, "part": name, "us": parts.get(name, 0.0), "order": order})
        rest = sum(us for name, us in parts.items() if name not in drawn_parts)
        if rest > 0:
            rows.append({"bar": bar, "part": OTHER, "us": rest, "order": len(drawn_parts)})
    return rows


def _stacked(
    bars: Bars, title: str, axis: str, longest: float = 0.0
) -> tuple[alt.Chart, list[Key]]:
    """Draw the bars on an axis up to the longest of them, or of others beside them."""
    rows = rows_of(bars)
    wholes = {bar: sum(parts.values()) or 1.0 for bar, parts in bars}
    longest = max(longest, *wholes.values())
    unit, length = time_unit_us(longest)
    order = {row["part"]: row["order"] for row in rows}
    parts = sorted(order, key=lambda part: order[part])
    drawn = [part_of(part) for part in parts]
    data = [
        {
            "bar": row["bar"],
            "part": part_of(row["part"]).name,
            "at": row["order"],
            "t": rounded(row["us"] / length),
            "of": rounded(row["us"] / wholes[row["bar"]], 3),
        }
        for row in rows
        if row["us"] > 0
    ]
    chart = (
        alt.Chart(inline_data(data))
        .mark_bar(style="part")
        .encode(
            x=alt.X(
                "t:Q",
                stack="zero",
                scale=alt.Scale(domain=[0, rounded(longest / length)], nice=False),
                axis=alt.Axis(title=f"{title} ({unit})", tickCount=6),
            ),
            y=alt.Y(
                "bar:N",
                sort=[bar for bar, _ in bars],
                axis=alt.Axis(title=axis or None, labelExpr=LABEL_LINES_EXPR),
            ),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(
                    domain=[part.name for part in drawn],
                    range=[part.fill.light for part in drawn],
                ),
                legend=alt.Legend(title=None),
            ),
            order=alt.Order("at:Q"),
            tooltip=[
                alt.Tooltip("part:N"),
                alt.Tooltip("t:Q", title=unit, format=",.4~g"),
                alt.Tooltip("of:Q", title="share", format=".1%"),
            ],
        )
    )
    return chart, [Key(part.name, part.fill) for part in drawn]
