"""HIRE's figures."""

from __future__ import annotations

from collections.abc import Callable

from ssdlab.result import Result
from ssdlab_reproduction.registry import Rows, picture
from ssdlab_reproduction.runs import Runs
from ssdlab_reproduction.statistics import reads, relative, writes
from ssdlab_reproduction.systems.hire import (
    BASE,
    SCHEMES,
    STARTS,
    changes,
    replays,
    schemes,
    weight,
)

_OF_BASELINE = "Of the baseline's"


def _relative(runs: Runs, figure: Callable[[Result], float]) -> Rows:
    return relative({scheme: changes(runs, scheme, figure) for scheme in SCHEMES})


@picture("hire", "Fig. 3", "Latency of reads", schemes, kind="bars", y=_OF_BASELINE)
def fig_3(runs: Runs) -> Rows:
    """Mean latency of reads under each scheme, in parts of the baseline's."""
    return _relative(runs, reads)


@picture("hire", "Fig. 4", "Wearing weight", schemes, kind="bars", y=_OF_BASELINE)
def fig_4(runs: Runs) -> Rows:
    """Wearing weight of all programs under each scheme, in parts of the baseline's."""
    return _relative(runs, weight)


@picture("hire", "Fig. 5", "Latency of writes", schemes, kind="bars", y=_OF_BASELINE)
def fig_5(runs: Runs) -> Rows:
    """Mean latency of writes under each scheme, in parts of the baseline's.

    Of workloads that the buffer holds whole, too, which H3 leaves out.
    """
    return _relative(runs, writes)


@picture(
    "hire",
    "Convergence",
    "Reads from both starts",
    replays,
    kind="lines",
    x="Replay",
    y=_OF_BASELINE,
)
def convergence(runs: Runs) -> Rows:
    """Mean latency of reads under HIRE, replay by replay, in parts of the baseline's.

    From a start at normal voltages, HIRE has to earn what the other start knows (H1).
    """
    return [
        (nth, f"{name}, {start}", reads(own) / reads(base))
        for name in runs.names(1)
        for start in STARTS
        for nth, (own, base) in enumerate(
            zip(runs[start, name].replays, runs[BASE, name].replays, strict=True), start=1
        )
    ]
