"""ReadGuard's figures of drives; :mod:`.readguard_chips` has those of chips and predictor."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from statistics import fmean

from ssdlab.result import Result
from ssdlab_reproduction.pictures import readguard_chips  # noqa: F401  registers its pictures
from ssdlab_reproduction.registry import EXTREMES, Rows, picture
from ssdlab_reproduction.runs import Runs
from ssdlab_reproduction.statistics import box_ends, quantiles, writes
from ssdlab_reproduction.systems.readguard import (
    ACROSS,
    BASE,
    BASE_PLUS,
    CYCLES,
    LAST_SEEN,
    MIX_A,
    NO_PREEMPTION,
    OLD,
    RGFTL,
    RGFTL_PLUS,
    STAGES,
    YCSB,
    Figure,
    apart_by,
    life,
    lives,
    long_mixes,
    means,
    mixes,
    on,
    retry_spread,
    tails,
    waits,
)

_APPS = ("high", "mid", "low")
_TRIES = "Retries, of the most"


_IDEAL = ("sense", "transfer", "decode")
"""The parts of the latency of a read that neither waits nor retries."""


def _by_app(runs: Runs, scheme: str, figure: Figure) -> Rows:
    """Return a figure of each application on the old drive, by load."""
    return [
        (load, app, value)
        for load in runs.names(2)
        for app, value in zip(_APPS, figure(runs[scheme, OLD, load]), strict=True)
    ]


@picture(
    "readguard",
    "Fig. 1",
    "Reads under the baseline",
    on(YCSB, BASE, stages=STAGES),
    kind="boxes",
    y="Latency (µs)",
)
def fig_1(runs: Runs) -> Rows:
    """Latencies of each application's reads by stage of life."""
    rows = []
    for stage in STAGES:
        detail = runs[BASE, stage, YCSB].detail
        assert detail is not None
        reads = {one.queue: one.points for one in detail.distributions if one.kind == "read"}
        rows += [(stage, app, at) for nth, app in enumerate(_APPS) for at in box_ends(reads[nth])]
    return rows


@picture(
    "readguard",
    "Fig. 5",
    "Waits under the baseline",
    on(YCSB, BASE),
    kind="bars",
    y="Wait for the command (µs)",
)
def fig_5(runs: Runs) -> Rows:
    """Mean time that each application's reads wait for their command on the old drive."""
    return _by_app(runs, BASE, waits)


def _spread(runs: Runs, scheme: str) -> Rows:
    """Return the quantiles of each application's retries by stage, relative to the maximum."""
    of = {
        (stage, app): queue.read_retries
        for name, stage, load in runs
        if name == scheme
        for app, queue in zip(_APPS, runs[name, stage, load].queues, strict=True)
    }
    most = max(at for counts in of.values() for at, count in enumerate(counts) if count) or 1
    return [(at, app, one / most) for (at, app), counts in of.items() for one in quantiles(counts)]


@picture(
    "readguard",
    "Fig. 7",
    "Retries under the baseline",
    on(YCSB, BASE, stages=STAGES),
    kind="boxes",
    y=_TRIES,
)
def fig_7(runs: Runs) -> Rows:
    """Retries of the pages that each application reads by stage of life."""
    return _spread(runs, BASE)


def _ideal(result: Result) -> list[float]:
    """Return each application's mean latency of reads without delays, in microseconds."""
    return [sum(queue.read.blame_us[part] for part in _IDEAL) for queue in result.queues]


def _of(rows: Rows, app: str, scheme: str) -> list[float]:
    """Return the values of an application under a scheme, over the mixes."""
    return [value for at, name, value in rows if str(at).endswith(f", {app}") and name == scheme]


def _of_mixes(
    number: str,
    axes: tuple[str, str],
    schemes: Sequence[str],
    figure: Figure,
    over: tuple[str, Figure],
) -> None:
    """Register pictures of each application's figure relative to a scheme, one per stage."""
    (title, y), (other, of_other) = axes, over
    for stage in STAGES:

        def rows(runs: Runs, stage: str = stage) -> Rows:
            each = [
                (f"{mix}, {app}", scheme, own / base)
                for mix in runs.names(2)
                for scheme in schemes
                for app, own, base in zip(
                    _APPS,
                    figure(runs[scheme, stage, mix]),
                    of_other(runs[other, stage, mix]),
                    strict=True,
                )
            ]
            return each + [
                (f"mean, {app}", scheme, fmean(_of(each, app, scheme)))
                for scheme in schemes
                for app in _APPS
            ]

        rows.__doc__ = f"{title}: each application's reads on the {stage} drive."
        runs = mixes(*dict.fromkeys((other, *schemes)), stages=[stage])
        picture("readguard", f"{number}, {stage}", title, runs, kind="bars", y=y)(rows)


_OWN = (RGFTL, NO_PREEMPTION, LAST_SEEN)
_LATENCY = ("Mean latency over that without waits and retries", "Of the ideal")
_of_mixes("Fig. 14", _LATENCY, (BASE, *_OWN), means, (BASE, _ideal))
_of_mixes("Fig. 15", ("99th percentile", "Of the baseline's"), _OWN, tails, (BASE, tails))


@picture(
    "readguard",
    "Fig. 16",
    "Retries under rgFTL",
    on(MIX_A, RGFTL, stages=STAGES),
    kind="boxes",
    y=_TRIES,
)
def fig_16(runs: Runs) -> Rows:
    """Retries of the pages that each application of MixA reads by stage of life."""
    return _spread(runs, RGFTL)


_PLUS = (BASE_PLUS, RGFTL_PLUS)
_SHORTENED = ("Mean latency with fewer and shorter retries", "Of the ideal")
_of_mixes("Fig. 17", _SHORTENED, _PLUS, means, (BASE_PLUS, _ideal))


@picture(
    "readguard",
    "Fig. 19a",
    "Latency of writes",
    long_mixes,
    kind="bars",
    y="Mean, of the baseline's",
)
def fig_19a(runs: Runs) -> Rows:
    """Mean latency of writes on the old drive, over the baseline's."""
    each = [
        (load, scheme, writes(runs[scheme, stage, load]) / writes(runs[BASE, stage, load]))
        for scheme, stage, load in runs
    ]
    means = {name: fmean(one for _, own, one in each if own == name) for _, name, _ in each}
    return each + [("mean", name, mean) for name, mean in means.items()]


@picture("readguard", "Fig. 19b", "Write amplification", long_mixes, kind="bars", y="WAF")
def fig_19b(runs: Runs) -> Rows:
    """Pages programmed for each that the host wrote, on the old drive."""
    return [(load, scheme, runs[scheme, stage, load].waf or 1.0) for scheme, stage, load in runs]


@picture(
    "readguard",
    "Fig. 18",
    "Blocks and their pages apart",
    lives,
    kind="bars",
    x="P/E cycles at the start",
    y="Retries",
)
def fig_18(runs: Runs) -> Rows:
    """Most retries apart under rgFTL on MixA: the worst pages of blocks, and the pages of one.

    Of one in 256 pages that are read.
    """
    found = {stage: retry_spread(runs[scheme, stage, mix]) for scheme, stage, mix in runs}
    return [
        (f"{CYCLES[stage]:,}", name, retries)
        for stage, one in found.items()
        for name, retries in (("blocks", one.blocks), ("pages of a block", one.pages))
    ]


@picture(
    "readguard",
    "Fig. 20",
    "Wear by priority",
    life,
    kind="boxes",
    x="Written by the host",
    y="P/E cycles",
    ends=EXTREMES,
    from_zero=False,
)
def fig_20(runs: Runs) -> Rows:
    """P/E cycles of the blocks with each priority's data, from the least to the most.

    On a drive of 32 GB that MixD is replayed on, at the ends of four replays. After the first of
    them, blocks are further apart than leveling across priorities allows, or furthest. The others
    are the last replay and two between.
    """
    replays = runs[RGFTL,].replays
    spreads = [apart_by(one.wear) for one in replays]
    first = next((nth for nth, one in enumerate(spreads) if one > ACROSS), None)
    if first is None:
        first = spreads.index(max(spreads))
    last = len(replays) - 1
    written = list(accumulate(one.write.bytes / 1e12 for one in replays))
    return [
        (f"{written[at]:.3f} TB", name, cycles)
        for at in dict.fromkeys(first + (last - first) * part // 3 for part in range(4))
        for name, worn in zip(_APPS, replays[at].wear.priorities or (), strict=True)
        for cycles in (worn.min, worn.quarter, worn.median, worn.three_quarters, worn.max)
    ]
