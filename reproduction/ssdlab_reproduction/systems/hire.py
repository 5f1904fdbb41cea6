"""The claims of HIRE: reads, writes and wear on seventeen workloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean

from ssdlab.result import Result
from ssdlab_reproduction.registry import NeverRanError, claim
from ssdlab_reproduction.runs import Jobs, Runs
from ssdlab_reproduction.scope import Scope
from ssdlab_reproduction.statistics import percent, reads, writes

DEVICE = "hire-mlc-128g"
BASE, HIGH, LOW, HIRE = SCHEMES = ("baseline", "hvc", "lvc", "hire")
WORKLOADS = (
    *("fin1", "fin2", "hm0", "hm1", "mds0", "prn0", "proj0", "rsrch0", "rsrch2"),
    *("src12", "src20", "stg0", "stg1", "ts0", "usr0", "wdev0", "web0"),
)
_QUICK = ("fin1", "fin2", "stg1")
_CUT, _QUICK_CUT = None, 100_000


def schemes(scope: Scope) -> Jobs:
    """Return the four schemes on each whole workload."""
    return {
        (scheme, workload): scope.plan(
            DEVICE, f"hire/{scheme}", f"hire/{workload}", limit=scope.cut(_CUT, _QUICK_CUT)
        )
        for workload in scope.some(WORKLOADS, _QUICK)
        for scheme in SCHEMES
    }


KNOWN, UNKNOWN = STARTS = ("start that knows the uses", "start at normal voltages")
"""What programmed the data of the start: the scheme, or the baseline."""
_REPLAYED = ("stg1", "fin1", "fin2")
_REPLAYS = 6


def replays(scope: Scope) -> Jobs:
    """Return workloads replayed after one another, under the baseline and HIRE from both starts."""
    if scope.quick:
        return {}
    starts = {KNOWN: {}, UNKNOWN: {"metadata.page_hotness.buffer.initial": "none"}}
    runs = {BASE: (BASE, {}), **{start: (HIRE, settings) for start, settings in starts.items()}}
    return {
        (name, workload): scope.plan(
            DEVICE, f"hire/{scheme}", f"hire/{workload}", replays=_REPLAYS, set=settings
        )
        for workload in _REPLAYED
        for name, (scheme, settings) in runs.items()
    }


def weight(result: Result) -> float:
    """Return the wearing weight, by programs."""
    assert result.wearing_weight is not None
    return result.wearing_weight


def changes(runs: Runs, scheme: str, figure: Callable[[Result], float]) -> dict[str, float]:
    """Return a scheme's changes against the baseline in percent, by workload.

    A workload is left out if the buffer holds it whole, so that the baseline programs nothing.
    """
    pairs = {name: (runs[scheme, name], runs[BASE, name]) for name in runs.names(1)}
    return {
        name: percent(figure(one), figure(base))
        for name, (one, base) in pairs.items()
        if figure(base)
    }


def mean_and_named(found: Mapping[str, float], *names: str) -> list[float]:
    """Return the mean change, and those of some workloads."""
    for name in names:
        if name not in found:
            raise NeverRanError(f"the buffer holds {name} whole: nothing of it was programmed")
    return [fmean(found.values()), *(found[name] for name in names)]


@claim("H1", schemes)
def faster_reads(runs: Runs) -> list[float]:
    """Return HIRE's changes of reads in percent: the mean, and two workloads."""
    return mean_and_named(changes(runs, HIRE, reads), "stg1", "fin1")


@claim("H2", schemes)
def less_wear(runs: Runs) -> list[float]:
    """Return HIRE's changes of wear in percent: the mean, and two workloads."""
    return mean_and_named(changes(runs, HIRE, weight), "stg1", "fin2")


@claim("H3", schemes)
def same_writes(runs: Runs) -> list[float]:
    """Return the changes of writes: HIRE's mean and maximum, and its rivals' means."""
    programmed = changes(runs, HIRE, weight)
    if not programmed:
        raise NeverRanError("the buffer holds all workloads whole: nothing was programmed")
    own, high, low = (
        [change for name, change in changes(runs, scheme, writes).items() if name in programmed]
        for scheme in (HIRE, HIGH, LOW)
    )
    return [abs(fmean(own)), max(map(abs, own)), abs(fmean(high)), abs(fmean(low))]


@claim("H4", schemes)
def order_of_schemes(runs: Runs) -> list[float]:
    """Return the percentage of workloads on which HVC and LVC are the ends of both scales."""
    fast, slow, own = (changes(runs, scheme, reads) for scheme in (HIGH, LOW, HIRE))
    more, less, mine = (changes(runs, scheme, weight) for scheme in (HIGH, LOW, HIRE))
    holds = [
        fast[name] <= min(0, own[name])
        and slow[name] >= max(0, own[name])
        and more[name] >= max(0, mine[name])
        and less[name] <= min(0, mine[name])
        for name in mine
        if name in own and name in fast and name in slow
    ]
    return [100 * fmean(holds)]


@claim("H5", schemes)
def always_faster(runs: Runs) -> list[float]:
    """Return the share of workloads on which HIRE reads faster than the baseline, in percent."""
    return [100 * fmean(change < 0 for change in changes(runs, HIRE, reads).values())]
