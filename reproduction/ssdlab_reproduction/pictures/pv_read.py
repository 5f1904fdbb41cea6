"""PV-read's figures."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from ssdlab.result import Result
from ssdlab_reproduction.registry import Rows, picture
from ssdlab_reproduction.runs import Runs
from ssdlab_reproduction.statistics import percent, relative
from ssdlab_reproduction.systems.pv_read import (
    BASE,
    THREE,
    THRESHOLDS,
    aged_blocks,
    gain,
    gains_drawn,
    ideal_reads,
    ideal_wear,
    mean_moved,
    moves,
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

_OF_UNAWARE = "Of the unaware drive's"


def _relative(runs: Runs, base: Runs) -> Rows:
    """Return each drive's reads relative to the unaware drive's, by workload and on average."""
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
    """Mean response of reads under wear leveling and under ideal placement."""
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


def _levels(*each: Runs) -> Rows:
    """Return the levels at which pages decoded: a bar per workload and drive, and the means."""
    shares = {key: _shares(runs[key]) for runs in each for key in runs}
    names, loads = (list(dict.fromkeys(key[at] for key in shares)) for at in (0, 1))
    for name in names:
        of_all = zip(*(shares[name, load] for load in loads), strict=True)
        shares[name, "mean"] = [fmean(one) for one in of_all]
    return [
        (f"{load} {name}", f"level {level}", share)
        for load in (*loads, "mean")
        for name in names
        for level, share in enumerate(shares[name, load], start=1)
    ]


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
    """Shares of the pages read that decoded at each level."""
    return _levels(base, runs)


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
    """Shares of the pages read that decoded at each level."""
    return _levels(runs)


_COST: Mapping[str, Any] = {"kind": "shares", "y": "Moved, of requests (%)"}


def _costs(runs: Runs) -> Rows:
    """Return the pages that moved in and out: a bar per workload and drive, and the means."""
    names, loads = runs.names(0), runs.names(1)
    found = {key: moves(runs[key]) for key in runs}
    for name in names:
        of_all = zip(*(found[name, load] for load in loads), strict=True)
        found[name, "mean"] = tuple(fmean(one) for one in of_all)
    return [
        (f"{load} {name}", way, cost)
        for load in (*loads, "mean")
        for name in names
        for way, cost in zip(("in", "out"), found[name, load], strict=True)
    ]


@picture("pv-read", "Fig. 10a", "Cost of moves, by groups", numbers_of_groups, **_COST)
def fig_10a(runs: Runs) -> Rows:
    """Pages that moved in and out by the number of groups."""
    return _costs(runs)


@picture("pv-read", "Fig. 10b", "Cost of moves, by what is set apart", shares_apart, **_COST)
def fig_10b(runs: Runs) -> Rows:
    """Pages that moved in and out by how much of each of three groups is set apart."""
    return _costs(runs)


def _of_kinds(runs: Runs) -> Rows:
    """Return the reads with three groups relative to the unaware drive's, by kind of blocks."""
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


@picture(
    "pv-read",
    "Fig. 11b",
    "Stages of life",
    stages,
    kind="bars",
    y="Of the first unaware drive's",
)
def fig_11b(runs: Runs) -> Rows:
    """Mean response of reads on blocks with rates of such mean and deviation, over the first's."""
    kinds = runs.names(1)
    first = reads(runs, BASE, kinds[0])
    return [
        (kind.replace(" ", " ± "), name, 1 + gain(reads(runs, name, kind), first) / 100)
        for kind in kinds
        for name in (BASE, THREE)
    ]


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
