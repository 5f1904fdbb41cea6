"""DLV's figures: those of its evaluation, and one that describes a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from ssdlab.render.figures.data_age import DAY_S
from ssdlab.result import Result
from ssdlab_reproduction.registry import Rows, picture
from ssdlab_reproduction.runs import Runs
from ssdlab_reproduction.statistics import percent, relative
from ssdlab_reproduction.systems.dlv import bandwidth, changes, gains, iops, mean, points
from ssdlab_reproduction.systems.dlv_runs import (
    ALLOCATION,
    BASE,
    BUFFERS,
    COUNTS,
    DLV,
    DRAWN,
    LAST,
    OPEN,
    REORDER,
    ROO,
    TABLES,
    WAITS,
    WAYS,
    WOO,
    buffers,
    chips,
    lengths,
    schemes,
    sizes,
    weeks,
)

_OVER_BASELINE = "Of the baseline's"


def _latencies(runs: Runs, names: Sequence[str], kind: str) -> Rows:
    """Return each scheme's mean latency relative to the baseline, with the workloads' own times."""
    return relative({name: changes(runs, OPEN, name, kind) for name in names})


def _rates(runs: Runs, rate: Callable[[Result], float]) -> Rows:
    return relative({name: gains(runs, name, rate) for name in (WOO, ROO, DLV)})


_SIZES: Mapping[str, Any] = {
    "kind": "lines",
    "x": "Time (s)",
    "y": "Size (pages of 4 KiB)",
}
_SHOWN_S = 150


@picture("dlv", "Fig. 3a", "Sizes of requests", sizes, **_SIZES)
def fig_3a(runs: Runs) -> Rows:
    """Largest, mean and smallest of hm0's requests in each of its first 150 s."""
    return _sizes(runs, "all")


@picture("dlv", "Fig. 3b", "Sizes of writes", sizes, **_SIZES)
def fig_3b(runs: Runs) -> Rows:
    """Largest, mean and smallest of hm0's writes in each of its first 150 s."""
    return _sizes(runs, "write")


def _sizes(runs: Runs, kind: str) -> Rows:
    seconds = [row for row in runs["hm0",] if row[1] == kind and row[0] < _SHOWN_S]
    return [
        (row[0], name, row[at])
        for at, name in enumerate(("maximum", "average", "minimum"), start=2)
        for row in seconds
    ]


_DAYS = (1, 2, 3, 4, 5, 6, 7)


@picture(
    "dlv",
    "Fig. 5",
    "Ages of what is read",
    weeks,
    kind="shares",
    y="Share of the flash reads",
    number="~%",
)
def fig_5(runs: Runs) -> Rows:
    """How old data is when it is read from flash, collection's own reads too, by days.

    In a whole run of each workload under the baseline. Data that lies there when the run begins is
    up to 90 days old by then, which is a ruling. In the paper most of what src21 reads is younger
    than four days.
    """
    rows = []
    for name in runs.names(0):
        detail = runs[name,].detail
        assert detail is not None
        if not detail.read_ages:
            continue
        upto = [_no_older(detail.read_ages, day * DAY_S) for day in _DAYS]
        names = [f"up to {day} {'day' if day == 1 else 'days'}" for day in _DAYS] + ["older"]
        parts = [after - before for before, after in pairwise([0.0, *upto, 1.0])]
        rows += [(name, part, share) for part, share in zip(names, parts, strict=True)]
    return rows


def _no_older(points: Sequence[Sequence[float]], age_s: float) -> float:
    """Return the share of reads whose data was at most so old, from points that rise in steps."""
    return max((share for age, share in points if age <= age_s), default=0.0)


@picture("dlv", "Fig. 9", "Bandwidth", schemes(WOO, ROO, DLV), kind="bars", y=_OVER_BASELINE)
def fig_9(runs: Runs) -> Rows:
    """Bandwidth under each scheme with 64 requests outstanding, over the baseline's."""
    return _rates(runs, bandwidth)


@picture("dlv", "Fig. 10", "IOPS", schemes(WOO, ROO, DLV), kind="bars", y=_OVER_BASELINE)
def fig_10(runs: Runs) -> Rows:
    """IOPS under each scheme with 64 requests outstanding, over the baseline's."""
    return _rates(runs, iops)


@picture("dlv", "Fig. 11", "Response", schemes(WOO, ROO, DLV), kind="bars", y=_OVER_BASELINE)
def fig_11(runs: Runs) -> Rows:
    """Mean response at the workloads' own times, over the baseline's."""
    return _latencies(runs, (WOO, ROO, DLV), "all")


def _curves(runs: Runs, kind: str) -> Rows:
    return [
        (latency, scheme, share)
        for scheme in (BASE, WOO, ROO, DLV)
        for latency, share in points(runs[OPEN, scheme, "hm0"], kind)
        if latency > 0
    ]


_CURVES = {
    "kind": "lines",
    "x": "Latency (µs)",
    "y": "Share of the requests",
    "logarithmic": True,
    "number": "~%",
}
_HM0 = schemes(WOO, ROO, DLV, workloads=["hm0"])


@picture("dlv", "Fig. 12a", "hm0's writes", _HM0, **_CURVES)
def fig_12a(runs: Runs) -> Rows:
    """Share of hm0's writes that took no longer, at the workload's own times."""
    return _curves(runs, "write")


@picture("dlv", "Fig. 12b", "hm0's reads", _HM0, **_CURVES)
def fig_12b(runs: Runs) -> Rows:
    """Share of hm0's reads that took no longer, at the workload's own times."""
    return _curves(runs, "read")


@picture(
    "dlv",
    "Fig. 13",
    "Latency of writes",
    schemes(WOO, REORDER, ALLOCATION),
    kind="bars",
    y=_OVER_BASELINE,
)
def fig_13(runs: Runs) -> Rows:
    """Mean latency of writes at the workloads' own times, over the baseline's."""
    return _latencies(runs, (WOO, REORDER, ALLOCATION), "write")


@picture(
    "dlv",
    "Fig. 14",
    "Prioritized requests",
    schemes(WOO, ROO, DLV),
    kind="bars",
    y="Of the requests of that kind",
    number="~%",
)
def fig_14(runs: Runs) -> Rows:
    """Shares of writes, and of reads, that overtake another, at the workloads' own times."""
    return [
        (name, f"{kind}s, {scheme}", getattr(runs[OPEN, scheme, name].prioritized, kind))
        for kind, half in (("write", WOO), ("read", ROO))
        for scheme in (half, DLV)
        for name in runs.names(2)
    ]


@picture(
    "dlv", "Fig. 15", "Latency of reads", schemes(ROO, TABLES, LAST), kind="bars", y=_OVER_BASELINE
)
def fig_15(runs: Runs) -> Rows:
    """Mean latency of reads at the workloads' own times, over the baseline's."""
    return _latencies(runs, (ROO, TABLES, LAST), "read")


_BY_LENGTH: Mapping[str, Any] = {
    "kind": "lines",
    "x": "Length",
    "y": "Response, over that of length 1",
    "logarithmic": True,
}


@picture("dlv", "Fig. 16a", "Length of a queue of what is under way", lengths, **_BY_LENGTH)
def fig_16a(runs: Runs) -> Rows:
    """Mean response under DLV, over that with a queue of 1 that holds what is under way, too."""
    return _by_length(runs, COUNTS)


@picture("dlv", "Fig. 16b", "Length of a queue of what waits", lengths, **_BY_LENGTH)
def fig_16b(runs: Runs) -> Rows:
    """Mean response under DLV, over that with a queue of 1 that holds what waits alone."""
    return _by_length(runs, WAITS)


def _by_length(runs: Runs, queue: str) -> Rows:
    return _some(runs, lambda of, name: _over(runs, queue, of, "1", name))


def _over(runs: Runs, kind: str, of: str, first: str, name: str) -> float:
    return mean(runs[kind, of, name]) / mean(runs[kind, first, name])


def _some(runs: Runs, figure: Callable[[str, str], float]) -> Rows:
    """Return a figure by the swept value, for the drawn workloads and for the mean of all."""
    names, swept = runs.names(2), runs.names(1)
    own = [(float(of), name, figure(of, name)) for name in names if name in DRAWN for of in swept]
    if set(names) <= set(DRAWN):
        return own
    title = f"mean of {len(names)}"
    return own + [(float(of), title, fmean(figure(of, name) for name in names)) for of in swept]


@picture(
    "dlv",
    "Fig. 17",
    "Number of chips",
    chips,
    kind="lines",
    x="Chips",
    y="Response, over that of 4 chips",
    logarithmic=True,
)
def fig_17(runs: Runs) -> Rows:
    """Mean response under DLV at the workloads' own times, over that with 4 chips."""
    return _some(runs, lambda of, name: _over(runs, OPEN, of, "4", name))


@picture("dlv", "Fig. 18", "Policies of the buffer", buffers, kind="bars", y="Change (%)")
def fig_18(runs: Runs) -> Rows:
    """Change of the mean response under DLV against the baseline behind the same buffer."""
    ways = dict(zip(WAYS, ("64 outstanding", "at their times"), strict=True))
    return [
        (evict, label, fmean(_change(runs, way, name, evict) for name in runs.names(2)))
        for way, label in ways.items()
        for evict in BUFFERS
    ]


def _change(runs: Runs, way: str, name: str, evict: str) -> float:
    return percent(mean(runs[way, DLV, name, evict]), mean(runs[way, BASE, name, evict]))
