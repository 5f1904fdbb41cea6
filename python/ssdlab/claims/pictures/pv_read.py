"""PV-read's figures."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from ssdlab.claims.pv_read import (
    APART,
    BASE,
    GROUPS,
    THREE,
    THRESHOLDS,
    aged_blocks,
    gains_drawn,
    ideal_reads,
    ideal_wear,
    mean_moved,
    migration,
    numbers_of_groups,
    read_counts,
    reads,
    shares_apart,
    stages,
    thresholds,
    unaware,
    varied_blocks,
    widths,
)
from ssdlab.claims.rules import Rows, picture
from ssdlab.claims.runs import Runs
from ssdlab.claims.sums import percent, relative
from ssdlab.results import Result

_OF_UNAWARE = "Of the unaware drive's"


def _relative(runs: Runs, base: Runs) -> Rows:
    """Return each drive's reads over the unaware drive's, by workload and on the mean."""
    unknowing = reads(base, BASE)
    return relative(
        {
            name: {one: percent(us, unknowing[one]) for one, us in reads(runs, name).items()}
            for name in runs.names(0)
        }
    )


@picture(
    "pv-read",
    "Fig. 4",
    "Three placements",
    unaware,
    ideal_wear,
    ideal_reads,
    kind="bars",
    y=_OF_UNAWARE,
)
def fig_4(base: Runs, wear: Runs, placed: Runs) -> Rows:
    """Mean response of reads under wear levelling and under ideal placement."""
    return [*_relative(wear, base), *_relative(placed, base)]


_COUNTS: Mapping[str, Any] = {
    "kind": "lines",
    "x": "Reads of a page",
    "logarithmic": True,
    "number": "~%",
}


@picture("pv-read", "Fig. 5a", "Pages that are read", read_counts, y="Share of pages", **_COUNTS)
def fig_5a(runs: Runs) -> Rows:
    """Share of the pages read that are read no more often."""
    return [(at, name, pages) for (name,) in runs for at, pages, _ in runs[name,]["curve"]]


@picture("pv-read", "Fig. 5b", "Their reads", read_counts, y="Share of reads", **_COUNTS)
def fig_5b(runs: Runs) -> Rows:
    """Share of the reads of pages that go to pages that are read no more often."""
    return [(at, name, reads) for (name,) in runs for at, _, reads in runs[name,]["curve"]]


@picture("pv-read", "Fig. 8a", "Groups", unaware, numbers_of_groups, kind="bars", y=_OF_UNAWARE)
def fig_8a(base: Runs, runs: Runs) -> Rows:
    """Mean response of reads with 2, 3, 4 and 7 groups."""
    return _relative(runs, base)


def _levels(runs: Runs, name: str, told: str) -> Rows:
    shares = [_shares(runs[key]) for key in runs if key[0] == name]
    means = [fmean(each) for each in zip(*shares, strict=True)]
    return [(told, f"level {level}", share) for level, share in enumerate(means, start=1)]


def _shares(result: Result) -> list[float]:
    counts = result.decoded_at
    return [count / sum(counts) for count in counts]


@picture(
    "pv-read",
    "Fig. 8b",
    "Levels of reads, by groups",
    unaware,
    numbers_of_groups,
    kind="shares",
    y="Share of the pages read",
    number="~%",
)
def fig_8b(base: Runs, runs: Runs) -> Rows:
    """Shares of the pages read that decoded at each level, means of the workloads."""
    found = [one for name in GROUPS for one in _levels(runs, name, name)]
    return [*_levels(base, BASE, BASE), *found]


@picture("pv-read", "Fig. 9a", "Set apart", unaware, shares_apart, kind="bars", y=_OF_UNAWARE)
def fig_9a(base: Runs, runs: Runs) -> Rows:
    """Mean response of reads by how much of each of three groups is set apart."""
    return _relative(runs, base)


@picture(
    "pv-read",
    "Fig. 9b",
    "Levels of reads, by what is set apart",
    shares_apart,
    kind="shares",
    y="Share of the pages read",
    number="~%",
)
def fig_9b(runs: Runs) -> Rows:
    """Shares of the pages read that decoded at each level, means of the workloads."""
    return [one for value in APART for one in _levels(runs, value, value)]


def _both_ways(runs: Runs, name: str) -> Rows:
    found = [runs[key] for key in runs if key[0] == name]
    return [
        (name, way, fmean(100 * getattr(migration(one), field) / one.requests for one in found))
        for way, field in (("moved in", "hot"), ("moved out", "cold"))
    ]


@picture(
    "pv-read",
    "Fig. 10",
    "Cost of moves",
    numbers_of_groups,
    shares_apart,
    kind="bars",
    y="Moved, of requests (%)",
)
def fig_10(groups: Runs, apart: Runs) -> Rows:
    """Pages that moved in and out, means of the workloads: by groups, and by what is set apart."""
    found = [one for name in GROUPS for one in _both_ways(groups, name)]
    return [*found, *(one for value in APART for one in _both_ways(apart, value))]


def _of_kinds(runs: Runs) -> Rows:
    """Return what three groups read in, over what the unaware drive does, by kind of blocks."""
    pairs = zip(runs.names(1), gains_drawn(runs), strict=True)
    return [(kind.replace(" ", " ± "), THREE, 1 + change / 100) for kind, change in pairs]


_BLOCKS: Mapping[str, Any] = {
    "kind": "lines",
    "x": "Raw bit error rate",
    "y": "Share of blocks",
    "number": "~%",
}


@picture("pv-read", "Fig. 11a", "Blocks by stage of life", aged_blocks, **_BLOCKS)
def fig_11a(runs: Runs) -> Rows:
    """Shares of the blocks of the five stages by their rates, whose mean and deviation is named."""
    return _spreads(runs)


@picture("pv-read", "Fig. 12a", "Blocks by width", varied_blocks, **_BLOCKS)
def fig_12a(runs: Runs) -> Rows:
    """Shares of blocks that vary more or less, by their rates."""
    return _spreads(runs)


def _spreads(runs: Runs) -> Rows:
    return [(at, name.replace(" ", " ± "), share) for (name,) in runs for at, share in runs[name,]]


@picture("pv-read", "Fig. 11b", "Stages of life", stages, kind="bars", y=_OF_UNAWARE)
def fig_11b(runs: Runs) -> Rows:
    """Mean response of reads with three groups on blocks with rates of such mean and deviation."""
    return _of_kinds(runs)


@picture("pv-read", "Fig. 12b", "Widths", widths, kind="bars", y=_OF_UNAWARE)
def fig_12b(runs: Runs) -> Rows:
    """Mean response of reads with three groups on blocks that vary more or less."""
    return _of_kinds(runs)


@picture(
    "pv-read", "Fig. 13a", "When a page is hot", unaware, thresholds, kind="bars", y=_OF_UNAWARE
)
def fig_13a(base: Runs, runs: Runs) -> Rows:
    """Mean response of reads by how many reads make a page hot."""
    return _relative(runs, base)


@picture(
    "pv-read",
    "Fig. 13b",
    "When a page is hot: moves",
    thresholds,
    kind="bars",
    y="Moved, of requests (%)",
)
def fig_13b(runs: Runs) -> Rows:
    """Pages that moved by how many reads make a page hot, means of the workloads."""
    return [(value, THREE, mean_moved(runs, value)) for value in THRESHOLDS]
