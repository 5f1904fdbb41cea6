"""ReadGuard's figures of drives; those of chips and predictor are in :mod:`.readguard_chips`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ssdlab.claims.pictures import readguard_chips  # noqa: F401  it adds its pictures
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
    tails,
    waits,
)
from ssdlab.claims.rules import Rows, picture
from ssdlab.claims.runs import Runs
from ssdlab.claims.sums import quantiles
from ssdlab.results import Result

_APPS = ("high", "mid", "low")
_TRIES = "Retries"


_IDEAL = ("sense", "transfer", "decode")
"""What a read takes that neither waits nor is tried again."""


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


def _spread(runs: Runs, scheme: str) -> Rows:
    """Return where the quantiles of each application's retries lie, by load."""
    return [
        (load, app, at)
        for load in runs.names(2)
        for app, queue in zip(_APPS, runs[scheme, OLD, load].queues, strict=True)
        for at in quantiles(queue.read_retries)
    ]


@picture(
    "readguard", "Fig. 7", "Retries under the baseline", on(YCSB, BASE), kind="boxes", y=_TRIES
)
def fig_7(runs: Runs) -> Rows:
    """Retries of the pages that each application reads on the old drive."""
    return _spread(runs, BASE)


def _ideal(result: Result) -> list[float]:
    """Return each application's mean latency of reads that nothing delays, in microseconds."""
    return [sum(queue.read.blame_us[part] for part in _IDEAL) for queue in result.queues]


def _of_mixes(
    number: str, axes: tuple[str, str], schemes: Sequence[str], figure: Figure, base: Figure
) -> None:
    """Draw a figure of each application over one of the baseline, a picture a stage of life."""
    title, y = axes
    for stage in STAGES:

        def rows(runs: Runs, stage: str = stage) -> Rows:
            return [
                (f"{mix}, {app}", scheme, own / other)
                for mix in runs.names(2)
                for scheme in schemes
                for app, own, other in zip(
                    _APPS,
                    figure(runs[scheme, stage, mix]),
                    base(runs[BASE, stage, mix]),
                    strict=True,
                )
            ]

        rows.__doc__ = f"{title}: each application's reads on the {stage} drive."
        runs = mixes(BASE, *_OWN, stages=[stage])
        picture("readguard", f"{number}, {stage}", title, runs, kind="bars", y=y)(rows)


_OWN = (RGFTL, NO_PREEMPTION, LAST_SEEN)
_LATENCY = ("Mean latency over that without waits and retries", "Of the ideal")
_of_mixes("Fig. 14", _LATENCY, (BASE, *_OWN), means, _ideal)
_of_mixes("Fig. 15", ("99th percentile", "Of the baseline's"), _OWN, tails, tails)


@picture("readguard", "Fig. 16", "Retries under rgFTL", mixes(RGFTL), kind="boxes", y=_TRIES)
def fig_16(runs: Runs) -> Rows:
    """Retries of the pages that each application reads on the old drive."""
    return _spread(runs, RGFTL)


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
    y="Spread of P/E cycles",
)
def fig_20(runs: Runs) -> Rows:
    """Spread of P/E cycles over all blocks at the end of each replay, on a drive of 32 GB."""
    replays = runs[RGFTL,].replays
    return [
        (float(nth), "all blocks", one.wear.max - one.wear.min)
        for nth, one in enumerate(replays, start=1)
    ]
