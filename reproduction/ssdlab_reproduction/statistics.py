"""The statistics of claims."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from statistics import fmean

from ssdlab.result import ReplayResult, Result
from ssdlab_reproduction.registry import QUANTILES, Rows


def percent(new: float, old: float) -> float:
    """Return a change in percent."""
    return 100 * (new / old - 1)


def reads(part: Result | ReplayResult) -> float:
    """Return the mean latency of reads, in microseconds."""
    return part.read.latency_us.mean


def writes(part: Result | ReplayResult) -> float:
    """Return the mean latency of writes, in microseconds."""
    return part.write.latency_us.mean


def quantiles(counts: Sequence[float]) -> list[float]:
    """Return the quantiles of a histogram with so many counts at 0, 1 and so on."""
    upto = list(accumulate(counts))
    return [float(bisect_left(upto, share * upto[-1])) for share in QUANTILES]


def box_ends(points: Iterable[Sequence[float]]) -> list[float]:
    """Return the quantiles of rising points, each a value and the share at or below it."""
    rising = list(points)
    return [next(value for value, upto in rising if upto >= share) for share in QUANTILES]


def relative(changes: Mapping[str, Mapping[str, float]]) -> Rows:
    """Return changes in percent as ratios to draw, by series and place, with their means."""
    return [
        (place, series, 1 + change / 100)
        for series, each in changes.items()
        for place, change in {**each, "mean": fmean(each.values())}.items()
    ]
