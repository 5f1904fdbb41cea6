"""ReadGuard's figures; those of its chips and predictor are drawn by ``ssdlab fit``."""

from __future__ import annotations

from statistics import fmean

from ssdlab.claims.readguard import (
    BASE,
    BASE_PLUS,
    CYCLES,
    LAST_SEEN,
    NO_PREEMPTION,
    OLD,
    RGFTL,
    RGFTL_PLUS,
    STAGES,
    YCSB,
    Figure,
    life,
    long_mixes,
    means,
    mixes,
    on,
    retries,
    tails,
    waits,
)
from ssdlab.claims.rules import Rows, picture
from ssdlab.claims.runs import Runs

_APPS = ("high", "mid", "low")


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
    kind="bars",
    y="Mean latency (µs)",
)
def fig_1(runs: Runs) -> Rows:
    """Mean latency of each application's reads by stage of life."""
    return [
        (stage, app, value)
        for stage in STAGES
        for app, value in zip(_APPS, means(runs[BASE, stage, YCSB]), strict=True)
    ]


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


@picture("readguard", "Fig. 7", "Retries under the baseline", on(YCSB, BASE), kind="bars", y="Mean")
def fig_7(runs: Runs) -> Rows:
    """Mean retries of the pages that each application reads on the old drive."""
    return _by_app(runs, BASE, retries)


def _against_base(runs: Runs, figure: Figure) -> Rows:
    """Return each scheme's figure of each application over the baseline's, means of the mixes."""
    found = []
    for stage in STAGES:
        for scheme in (RGFTL, NO_PREEMPTION, LAST_SEEN):
            pairs = [
                zip(figure(runs[scheme, stage, mix]), figure(runs[BASE, stage, mix]), strict=True)
                for mix in runs.names(2)
            ]
            ratios = [[own / base for own, base in pair] for pair in pairs]
            by_app = [fmean(app) for app in zip(*ratios, strict=True)]
            found += [
                (f"{stage}, {app}", scheme, ratio) for app, ratio in zip(_APPS, by_app, strict=True)
            ]
    return found


_ALL = mixes(BASE, RGFTL, NO_PREEMPTION, LAST_SEEN, stages=STAGES)


@picture("readguard", "Fig. 14", "Mean latency", _ALL, kind="bars", y="Of the baseline's")
def fig_14(runs: Runs) -> Rows:
    """Mean latency of each application's reads over the baseline's, means of the mixes."""
    return _against_base(runs, means)


@picture("readguard", "Fig. 15", "99th percentile", _ALL, kind="bars", y="Of the baseline's")
def fig_15(runs: Runs) -> Rows:
    """99th percentile of each application's reads over the baseline's, means of the mixes."""
    return _against_base(runs, tails)


@picture("readguard", "Fig. 16", "Retries under rgFTL", mixes(RGFTL), kind="bars", y="Mean")
def fig_16(runs: Runs) -> Rows:
    """Mean retries of the pages that each application reads on the old drive."""
    return _by_app(runs, RGFTL, retries)


@picture(
    "readguard",
    "Fig. 17",
    "With fewer and shorter retries",
    mixes(BASE_PLUS, RGFTL_PLUS, stages=STAGES),
    kind="bars",
    y="Mean latency of reads (µs)",
)
def fig_17(runs: Runs) -> Rows:
    """Mean latency of each application's reads, means of the mixes."""
    return [
        (f"{stage}, {app}", scheme, fmean(means(runs[scheme, stage, mix])[at] for mix in mix_names))
        for mix_names in [runs.names(2)]
        for stage in CYCLES
        for scheme in (BASE_PLUS, RGFTL_PLUS)
        for at, app in enumerate(_APPS)
    ]


@picture("readguard", "Fig. 19a", "Latency of writes", long_mixes, kind="bars", y="Mean (µs)")
def fig_19a(runs: Runs) -> Rows:
    """Mean latency of writes on the old drive."""
    return [
        (load, scheme, runs[scheme, stage, load].write.latency_us.mean)
        for scheme, stage, load in runs
    ]


@picture("readguard", "Fig. 19b", "Write amplification", long_mixes, kind="bars", y="WAF")
def fig_19b(runs: Runs) -> Rows:
    """Pages programmed for each that the host wrote, on the old drive."""
    return [(load, scheme, runs[scheme, stage, load].waf or 1.0) for scheme, stage, load in runs]


@picture(
    "readguard",
    "Fig. 20",
    "Spread of wear",
    life,
    kind="lines",
    x="Replay of MixD",
    y="P/E cycles between the most and the least worn",
)
def fig_20(runs: Runs) -> Rows:
    """Spread of P/E cycles over all blocks at the end of each replay, on a drive of 32 GB."""
    replays = runs[RGFTL,].replays
    return [
        (float(nth), "all blocks", one.wear.max - one.wear.min)
        for nth, one in enumerate(replays, start=1)
    ]
