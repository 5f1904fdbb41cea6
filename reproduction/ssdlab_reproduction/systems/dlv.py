"""The claims of DLV: a scheduler that knows how long each page takes, on twenty workloads.

The workloads are offered at their own times (``open``). With 64 requests outstanding (``closed``)
the response is 64 over the throughput, which shows no scheduling: those figures are shown only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import fmean

from ssdlab.result import Result
from ssdlab_reproduction.registry import NeverRanError, claim
from ssdlab_reproduction.runs import Runs
from ssdlab_reproduction.statistics import percent
from ssdlab_reproduction.systems.dlv_runs import (
    ALLOCATION,
    BASE,
    BUFFERS,
    CLOSED,
    DLV,
    LAST,
    OPEN,
    OWN_CHIPS,
    QUEUES,
    READING,
    REORDER,
    ROO,
    TABLES,
    WAYS,
    WOO,
    WRITING,
    buffers,
    chips,
    example,
    four_classes,
    lengths,
    schemes,
)

_LIMIT_US = 2000
_STEP_NS = 10
"""The time in which a controller examines one expected end; assumed."""
_KIB = 1024
_SATURATED = 0.95
"""The share of the longest queue's gain from which a length counts as saturated."""
_ORDER = (2, 4, 1, 0, 5, 3)
"""The writes of the worked example, in the paper's order of their ends."""


def mean(result: Result, kind: str = "all") -> float:
    """Return the mean latency of reads, of writes or of all, in microseconds."""
    of_kind = {"all": result.all, "read": result.read, "write": result.write}[kind]
    return of_kind.latency_us.mean


def changes(runs: Runs, way: str, scheme: str, kind: str = "all") -> dict[str, float]:
    """Return a scheme's changes of the mean latency against the baseline, by workload."""
    return {
        name: percent(mean(runs[way, scheme, name], kind), mean(runs[way, BASE, name], kind))
        for name in runs.names(2)
    }


def changed(runs: Runs, way: str, scheme: str, kind: str = "all") -> float:
    """Return the mean of a scheme's changes over the workloads."""
    return fmean(changes(runs, way, scheme, kind).values())


def gains(
    runs: Runs, scheme: str, rate: Callable[[Result], float] | None = None
) -> dict[str, float]:
    """Return by how much a scheme does more in percent, by workload.

    Without ``rate``, it is one over the mean response at the workloads' own times; else a rate with
    64 requests outstanding.
    """
    way, done = (OPEN, _speed) if rate is None else (CLOSED, rate)
    return {
        name: percent(done(runs[way, scheme, name]), done(runs[way, BASE, name]))
        for name in runs.names(2)
    }


def _speed(result: Result) -> float:
    """Return one over the mean response."""
    return 1 / mean(result)


def iops(result: Result) -> float:
    """Return requests a second."""
    return result.iops


def bandwidth(result: Result) -> float:
    """Return megabytes a second."""
    return result.bandwidth_mb_s


def _grown(found: Mapping[str, float]) -> list[float]:
    """Return the mean, proj3, hm1, and how many gain more than proj3 or less than hm1."""
    most, least = found["proj3"], found["hm1"]
    more, less = (one > most for one in found.values()), (one < least for one in found.values())
    return [fmean(found.values()), most, least, sum(more), sum(less)]


@claim("D1", schemes(DLV))
def more_bandwidth(runs: Runs) -> list[float]:
    """Return by how much bandwidth grows."""
    return _grown(gains(runs, DLV)) + _grown(gains(runs, DLV, bandwidth))


@claim("D2", schemes(DLV))
def more_iops(runs: Runs) -> list[float]:
    """Return by how much requests a second grow."""
    return _grown(gains(runs, DLV)) + _grown(gains(runs, DLV, iops))


@claim("D3", schemes(DLV))
def faster(runs: Runs) -> list[float]:
    """Return by how much the mean response changes."""
    return [changed(runs, way, DLV) for way in WAYS]


@claim("D4", schemes(WOO, ROO, DLV))
def faster_than_halves(runs: Runs) -> list[float]:
    """Return DLV's advantage over its halves in response, in points and relative to them."""
    found = []
    for way in WAYS:
        own = changed(runs, way, DLV)
        found += [changed(runs, way, half) - own for half in (WOO, ROO)]
        for half in (WOO, ROO):
            pairs = [(runs[way, DLV, name], runs[way, half, name]) for name in runs.names(2)]
            found.append(fmean(-percent(mean(dlv), mean(other)) for dlv, other in pairs))
    return found


def points(result: Result, kind: str) -> list[tuple[float, float]]:
    """Return rising latencies of a kind in microseconds, and the share at or below each."""
    assert result.detail is not None
    found = [one.points for one in result.detail.distributions if one.kind == kind]
    if not found:
        raise NeverRanError(f"no {kind} among the requests")
    return [(latency, share) for latency, share in found[0]]


def within(curve: Sequence[tuple[float, float]], limit_us: float) -> float:
    """Return the share in percent that took at most so long, interpolated between two points."""
    at = bisect_left(curve, (limit_us, 0.0))
    if at == len(curve):
        return 100.0
    (before, low), (after, high) = curve[at - 1] if at else (0.0, 0.0), curve[at]
    return 100 * (low + (high - low) * (limit_us - before) / (after - before))


@claim("D5", schemes(WOO, ROO, DLV, workloads=["hm0"]))
def in_time(runs: Runs) -> list[float]:
    """Return the shares of hm0's writes within 2 ms, and of the pairs of schemes in order."""
    found = []
    for way in WAYS:
        shares = [
            within(points(runs[way, scheme, "hm0"], "write"), _LIMIT_US)
            for scheme in (DLV, BASE, WOO, ROO)
        ]
        dlv, base, woo, roo = shares
        found += [
            *shares,
            100 * fmean(one > other for one, other in pairwise((dlv, woo, roo, base))),
        ]
    return found


@claim("D6", schemes(WOO, REORDER, ALLOCATION))
def faster_writes(runs: Runs) -> list[float]:
    """Return by how much writes are faster, with the range of the last scheme."""
    found = []
    for way in WAYS:
        found += [changed(runs, way, scheme, "write") for scheme in (WOO, REORDER, ALLOCATION)]
        ends = changes(runs, way, ALLOCATION, "write").values()
        found += [max(ends), min(ends)]
    return found


@claim("D7", schemes(ROO, TABLES, LAST))
def faster_reads(runs: Runs) -> list[float]:
    """Return by how much reads are faster."""
    return [changed(runs, way, scheme, "read") for way in WAYS for scheme in (ROO, TABLES, LAST)]


def _saturates(lengths: Sequence[int], means: Sequence[float]) -> int:
    """Return the length at which a queue is saturated."""
    needed = _SATURATED * (1 - means[-1])
    pairs = zip(lengths, means, strict=True)
    return next(length for length, one in pairs if 1 - one >= needed)


@claim("D8", lengths)
def longer_queue(runs: Runs) -> list[float]:
    """Return the gain of a queue of 16, and the length from which a longer one gains no more."""
    counts = [int(length) for length in runs.names(1)]
    found = []
    for queue in QUEUES:

        def normalized(name: str, length: int, queue: str = queue) -> float:
            return mean(runs[queue, str(length), name]) / mean(runs[queue, "1", name])

        means = [fmean(normalized(name, length) for name in runs.names(2)) for length in counts]
        found += [100 * (normalized("rsrch0", 16) - 1), _saturates(counts, means)]
    return found


def _in_order(gained: Iterable[tuple[float, float]]) -> float:
    """Return in what share of pairs the workload with fewer IOPS gains more, in percent."""
    pairs = combinations(sorted(gained), 2)
    return 100 * fmean(slower[1] > faster[1] for slower, faster in pairs)


@claim("D9", chips)
def more_chips(runs: Runs) -> list[float]:
    """Return src12's gain, and the shares of harmless doublings and of pairs in order of IOPS."""
    counts = runs.names(1)
    found = []
    for way in WAYS:
        means = {name: [mean(runs[way, count, name]) for count in counts] for name in runs.names(2)}
        steps = [after <= before for one in means.values() for before, after in pairwise(one)]
        gained = [
            (iops(runs[way, str(OWN_CHIPS), name]), 1 - last / first)
            for name, (first, *_, last) in means.items()
        ]
        src12 = means["src12"]
        found += [percent(src12[1], src12[0]), 100 * fmean(steps), _in_order(gained)]
    return found


@claim("D10", buffers)
def behind_buffers(runs: Runs) -> list[float]:
    """Return by how much the response changes behind each buffer."""
    return [
        fmean(
            percent(mean(runs[way, DLV, name, evict]), mean(runs[way, BASE, name, evict]))
            for name in runs.names(2)
        )
        for way in WAYS
        for evict in BUFFERS
    ]


@claim("D11", schemes(WOO, ways=[OPEN], workloads=["rsrch0", "mds0"]))
def overtaking_writes(runs: Runs) -> list[float]:
    """Return the shares of prioritized writes of two workloads."""
    shares = {}
    for name in runs.names(2):
        prioritized = runs[OPEN, WOO, name].prioritized
        shares[name] = 100 * prioritized.write
    if not any(shares.values()):
        raise NeverRanError("no write overtook another")
    return [shares["rsrch0"], shares["mds0"]]


@claim("D12", example, seeds=1)
def worked_example(runs: Runs) -> list[float]:
    """Return the example's mean response in two orders, and the ends in the paper's order."""
    ends = runs[WOO,]
    order = sorted(range(len(ends)), key=ends.__getitem__)
    right = sum(one == other for one, other in zip(order, _ORDER, strict=True))
    return [fmean(ends), fmean(runs[BASE,]), right]


@claim("D13", schemes(WOO, REORDER, workloads=["proj0"]))
def strong_where_needed(runs: Runs) -> list[float]:
    """Return by how many points WOO gains more on proj0's writes than PV+reorder."""
    return [
        changes(runs, way, REORDER, "write")["proj0"] - changes(runs, way, WOO, "write")["proj0"]
        for way in WAYS
    ]


@claim("D14", schemes(WOO, ROO))
def each_where_it_helps(runs: Runs) -> list[float]:
    """Return the share of workloads of each kind on which the half made for it has more IOPS."""
    found = []
    for rate in (None, iops):
        woo, roo = gains(runs, WOO, rate), gains(runs, ROO, rate)
        found += [
            100 * fmean(one[name] > other[name] for name in names if name in woo)
            for one, other, names in ((woo, roo, WRITING), (roo, woo, READING))
        ]
    return found


@claim("D15", schemes(DLV), four_classes)
def overhead(runs: Runs, four: Runs) -> list[float]:
    """Return the largest share of a response that choosing takes, and DLV's metadata in KiB."""
    shares = []
    for way in WAYS:
        for name in runs.names(2):
            result = runs[way, DLV, name]
            if not result.scheduling_steps:
                raise NeverRanError("nothing was chosen")
            steps_us = _STEP_NS / 1000 * result.scheduling_steps / result.requests
            shares.append(100 * steps_us / mean(result))
    two, more = runs[OPEN, DLV, "hm0"].metadata_bytes, four["four",].metadata_bytes
    kept = (two["block_classes"], more["block_classes"], more["plane_counters"])
    return [max(shares), *(one / _KIB for one in kept)]


@claim("D16", schemes(ROO, DLV, workloads=["hm0"]))
def same_reads(runs: Runs) -> list[float]:
    """Return the largest distance between hm0's distributions of reads, in points."""
    found = []
    for way in WAYS:
        one, other = (points(runs[way, scheme, "hm0"], "read") for scheme in (ROO, DLV))
        limits = [latency for latency, _ in (*one, *other)]
        found.append(max(abs(within(one, limit) - within(other, limit)) for limit in limits))
    return found


@claim("D17", schemes(WOO, REORDER, ALLOCATION))
def each_step_gains(runs: Runs) -> list[float]:
    """Return by how many points writes gain more by each step of WOO."""
    found = []
    for way in WAYS:
        woo, reorder, allocation = (
            changed(runs, way, scheme, "write") for scheme in (WOO, REORDER, ALLOCATION)
        )
        found += [reorder - woo, allocation - reorder]
    return found


@claim("D18", schemes(REORDER, ALLOCATION, workloads=["rsrch0", "mds0"]))
def more_where_more_overtake(runs: Runs) -> list[float]:
    """Return how many points PV+reorder gains over PV+allocation, on rsrch0 and on mds0."""
    found = []
    for way in WAYS:
        reorder, allocation = (
            changes(runs, way, scheme, "write") for scheme in (REORDER, ALLOCATION)
        )
        more = {name: allocation[name] - reorder[name] for name in reorder}
        found += [more["rsrch0"], abs(more["mds0"])]
    return found


@claim("D19", schemes(WOO, REORDER))
def fewer_strong_pages(runs: Runs) -> list[float]:
    """Return how many strong pages WOO takes less than PV+reorder, and where it takes more."""
    found = []
    for way in WAYS:
        pairs = [
            (runs[way, WOO, name].strong_share, runs[way, REORDER, name].strong_share)
            for name in runs.names(2)
        ]
        if not any(reorder for _, reorder in pairs):
            raise NeverRanError("no page went to a strong block")
        changed_by = [percent(woo, reorder) for woo, reorder in pairs if reorder]
        found += [fmean(changed_by), sum(woo > reorder for woo, reorder in pairs)]
    return found
