"""ReadGuard's figures of drives; those of chips and predictor are in :mod:`.readguard_chips`."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.claims.pictures import readguard_chips  # noqa: F401  it adds its pictures
from ssdlab.claims.readguard import (
    BASE,
    BASE_PLUS,
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
from ssdlab.claims.sums import quantiles, writes
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


def _spread(runs: Runs, scheme: str, part: int) -> Rows:
    """Return where the quantiles of each application's retries lie, by that part of runs' names."""
    return [
        (key[part], app, at)
        for key in runs
        if key[0] == scheme
        for app, queue in zip(_APPS, runs[key].queues, strict=True)
        for at in quantiles(queue.read_retries)
    ]


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
    return _spread(runs, BASE, 1)


def _ideal(result: Result) -> list[float]:
    """Return each application's mean latency of reads that nothing delays, in microseconds."""
    return [sum(queue.read.blame_us[part] for part in _IDEAL) for queue in result.queues]


def _of_mixes(
    number: str,
    axes: tuple[str, str],
    schemes: Sequence[str],
    figure: Figure,
    over: tuple[str, Figure],
) -> None:
    """Draw a figure of each application over one of a scheme, a picture a stage of life."""
    (title, y), (other, of_other) = axes, over
    for stage in STAGES:

        def rows(runs: Runs, stage: str = stage) -> Rows:
            return [
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

        rows.__doc__ = f"{title}: each application's reads on the {stage} drive."
        runs = mixes(*dict.fromkeys((other, *schemes)), stages=[stage])
        picture("readguard", f"{number}, {stage}", title, runs, kind="bars", y=y)(rows)


_OWN = (RGFTL, NO_PREEMPTION, LAST_SEEN)
_LATENCY = ("Mean latency over that without waits and retries", "Of the ideal")
_of_mixes("Fig. 14", _LATENCY, (BASE, *_OWN), means, (BASE, _ideal))
_of_mixes("Fig. 15", ("99th percentile", "Of the baseline's"), _OWN, tails, (BASE, tails))


@picture("readguard", "Fig. 16", "Retries under rgFTL", mixes(RGFTL), kind="boxes", y=_TRIES)
def fig_16(runs: Runs) -> Rows:
    """Retries of the pages that each application reads on the old drive."""
    return _spread(runs, RGFTL, 2)


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
    return [
        (load, scheme, writes(runs[scheme, stage, load]) / writes(runs[BASE, stage, load]))
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
