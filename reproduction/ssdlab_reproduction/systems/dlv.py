"""The claims of DLV: a scheduler that knows how long each page takes, on twenty workloads.

The paper does not say how it issues the requests. Bandwidth can only grow if requests are kept
outstanding (``closed``). How often requests are reordered is a property of the workload only at its
own times (``open``). Changes of the response are found in both ways.
"""

from __future__ import annotations

import csv
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from ssdlab import api, traces
from ssdlab.plan import Plan
from ssdlab.result import Result
from ssdlab_reproduction.registry import NeverRanError, Set, claim
from ssdlab_reproduction.runs import Job, Jobs, Runs
from ssdlab_reproduction.scope import Scope
from ssdlab_reproduction.statistics import percent

DEVICE = "dlv-mlc-128g"
BASE, WOO, ROO, DLV = "baseline", "woo", "roo", "dlv"
REORDER, ALLOCATION = "pv-reorder", "pv-allocation"
TABLES, LAST = "lv-ldpc", "laldpc"
WRITING = ("fin1", "mds0", "prn0", "proj0", "rsrch0", "src12", "src20", "stg0", "ts0")
READING = ("fin2", "hm1", "mds1", "proj3", "src21", "web2")
WORKLOADS = (*WRITING, *READING, "hm0", "rsrch2", "stg1", "usr0", "web0")
CLOSED, OPEN = WAYS = ("closed", "open")
_QUICK = ("mds0", "proj0", "rsrch0", "hm1", "proj3", "hm0")
_CUT, _SWEPT_CUT, _QUICK_CUT = 200_000, 50_000, 20_000

DRAWN = ("rsrch0", "fin1", "src12", "proj3", "hm0")
"""The workloads whose lines are drawn; all twenty would be indistinguishable."""
LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_QUICK_LENGTHS = (1, 2, 4, 8, 16, 32, 512)
_SATURATED = 0.95
"""The share of the longest queue's gain from which a length counts as saturated."""
# NVMe's largest queue.
_NO_LIMIT = 65_535
COUNTS, WAITS = QUEUES = ("requests under way", "what waits")
"""The content of a queue."""

_CHANNELS = 4
CHIPS = (4, 8, 16, 32, 64, 128)
_OWN_CHIPS = 16

BUFFERS = ("lru", "cflru", "lru_wsr", "ccf_lru", "pt_lru")
_BUFFER_SIZE = "50MB"

_LIMIT_US = 2000
_STEP_NS = 10
"""The time in which a controller examines one expected end; assumed."""
_KIB = 1024

_UNIT_US = 50_000
"""The example's unit of time: a program on a strong page, much longer than all transfers."""
_STEPS = {"normal": 0.3, "strong": 0.6}
_READ = 5
"""The units of a plane's read. These reads keep the example's planes busy until these times."""
_BUSY_UNTIL = (4, 1, 0, 3)
_WRITES = ((0, 2), (3, 1), (1, 2), (0, 6), (1, 1), (0, 2))
"""For each write of the example: its first plane, and its number of pages."""
_ROW = 16
_PAGE = 4096
_KINDS = {"R": "read", "W": "write"}
_ORDER = (2, 4, 1, 0, 5, 3)


def _plan(
    scope: Scope, way: str, scheme: str, workload: str, cut: int | None, **options: Any
) -> Plan:
    return scope.plan(
        DEVICE,
        f"dlv/{scheme}",
        f"dlv/{workload}",
        limit=scope.cut(cut, _QUICK_CUT),
        closed=64 if way == CLOSED else None,
        **options,
    )


def schemes(*names: str, ways: Sequence[str] = WAYS, workloads: Sequence[str] = ()) -> Set:
    """Return the set of the baseline and these schemes; hm0's results hold distributions.

    Without ``workloads``, all run; a quick ledger runs some.
    """

    def runs(scope: Scope) -> Jobs:
        return {
            (way, scheme, name): _plan(scope, way, scheme, name, _CUT, detail=name == "hm0")
            for way in ways
            for scheme in (BASE, *names)
            for name in workloads or scope.some(WORKLOADS, _QUICK)
        }

    return runs


def weeks(scope: Scope) -> Jobs:
    """Return the baseline on each whole workload at its own times; data ages for a week."""
    if scope.quick:
        return {}
    return {(name,): _plan(scope, OPEN, BASE, name, None, detail=True) for name in WORKLOADS}


def lengths(scope: Scope) -> Jobs:
    """Return DLV at the workloads' times with a queue of each length, in both meanings."""
    return {
        (queue, str(length), name): _plan(scope, OPEN, DLV, name, _SWEPT_CUT, set=settings)
        for length in (_QUICK_LENGTHS if scope.quick else LENGTHS)
        for queue, settings in {
            COUNTS: {"host.queue_depth": length},
            WAITS: {"host.queue_depth": _NO_LIMIT, "scheduler.dlv.window": length},
        }.items()
        for name in scope.some(WORKLOADS, ("rsrch0",))
    }


def chips(scope: Scope) -> Jobs:
    """Return DLV on drives with so many chips; addresses are folded into the smaller drives."""
    return {
        (way, str(count), name): _plan(
            scope,
            way,
            DLV,
            name,
            _SWEPT_CUT,
            wrap=True,
            set={"geometry.chips": count // _CHANNELS},
        )
        for way in WAYS
        for count in CHIPS
        if not scope.quick or count <= _OWN_CHIPS
        for name in scope.some(WORKLOADS, ("rsrch0", "src12", "hm0"))
    }


def buffers(scope: Scope) -> Jobs:
    """Return the baseline and DLV behind each buffer; a quick ledger's requests do not fill one."""
    if scope.quick:
        return {}
    return {
        (way, scheme, name, evict): _plan(
            scope,
            way,
            scheme,
            name,
            _SWEPT_CUT,
            set={"buffer.size": _BUFFER_SIZE, "eviction": evict},
        )
        for way in WAYS
        for scheme in (BASE, DLV)
        for name in WORKLOADS
        for evict in BUFFERS
    }


def example(scope: Scope) -> Jobs:
    """Return the worked example under HWS alone, and in order of arrival."""
    small = ("channels=4", "chips=1", "dies=1", "planes=1", "blocks=64", "pages=64")
    settings = [*(f"geometry.{one}" for one in small), f"timing.read={_READ * _UNIT_US}us"]
    # All reads of the example take the same time.
    settings += [f"timing.program={2 * _UNIT_US}us", "read_start=highest_level"]
    normal, strong = (f'{{name="{name}",step_volts={volts}}}' for name, volts in _STEPS.items())
    voltages = {WOO: [f"timing.program_modes=[{normal},{strong}]"], BASE: []}
    return {
        (scheme,): Job(
            scope.plan(DEVICE, f"dlv/{scheme}", "random", set=[*settings, *own], detail=True),
            six_writes,
        )
        for scheme, own in voltages.items()
    }


def six_writes(plan: Plan) -> list[float]:
    """Return when each of the example's writes ends, in units of time."""
    reads = [(_READ + until, "read", plane, 1) for plane, until in enumerate(_BUSY_UNTIL)]
    # Each write has its own row of pages.
    writes = [
        (2 * _READ, "write", 4 * (_ROW * (number + 1)) + first, pages)
        for number, (first, pages) in enumerate(_WRITES)
    ]
    rows = [
        # Writes arrive just before the first plane becomes idle.
        f"{unit * _UNIT_US - (op == 'write')},0,{op},{page * _PAGE},{pages * _PAGE}"
        for unit, op, page, pages in [*sorted(reads), *writes]
    ]
    with TemporaryDirectory() as folder:
        trace = Path(folder) / "writes.csv"
        head = "time_us,dev,op,offset_bytes,size_bytes"
        trace.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
        result = api.run(replace(plan, workload=None, trace=trace))
    assert result.detail is not None
    slowest = result.detail.slowest
    ended = sorted((one.lba, one.latency_us) for one in slowest if one.kind == "write")
    return [latency / _UNIT_US for _, latency in ended]


def sizes(scope: Scope) -> Jobs:
    """Return the sizes of hm0's requests, second by second."""
    plan = _plan(scope, OPEN, BASE, "hm0", _SWEPT_CUT)
    return {("hm0",): Job(plan, by_second)}


def by_second(plan: Plan) -> list[tuple[int, str, int, float, int]]:
    """Return the largest, mean and smallest size in pages, by second and kind of request."""
    load = traces.App(str(plan.trace or plan.workload))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "requests.csv"
        traces.mix([load], path, reading=traces.Reading(seed=plan.seed, limit=plan.limit))
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["op"] in _KINDS]
    found: dict[tuple[int, str], list[int]] = {}
    for row in rows:
        second, offset = int(float(row["time_us"]) / 1e6), int(row["offset_bytes"])
        last = offset + int(row["size_bytes"]) - 1
        for kind in ("all", _KINDS[row["op"]]):
            found.setdefault((second, kind), []).append(last // _PAGE - offset // _PAGE + 1)
    return [(at, kind, max(of), fmean(of), min(of)) for (at, kind), of in sorted(found.items())]


def four_classes(scope: Scope) -> Jobs:
    """Return a few requests on a drive with four classes of blocks."""
    shares = {"metadata.block_class.factory.shares": [0.1, 0.2, 0.3]}
    return {("four",): scope.plan(DEVICE, "dlv/dlv", "dlv/hm0", limit=1000, set=shares)}


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


def gains(runs: Runs, scheme: str, rate: Callable[[Result], float]) -> dict[str, float]:
    """Return by how much a rate grows in percent with requests outstanding, by workload."""
    return {
        name: percent(rate(runs[CLOSED, scheme, name]), rate(runs[CLOSED, BASE, name]))
        for name in runs.names(2)
    }


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


@claim("D1", schemes(DLV, ways=[CLOSED]))
def more_bandwidth(runs: Runs) -> list[float]:
    """Return by how much bandwidth grows."""
    return _grown(gains(runs, DLV, bandwidth))


@claim("D2", schemes(DLV, ways=[CLOSED]))
def more_iops(runs: Runs) -> list[float]:
    """Return by how much requests a second grow."""
    return _grown(gains(runs, DLV, iops))


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
            (iops(runs[way, str(_OWN_CHIPS), name]), 1 - last / first)
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


@claim("D14", schemes(WOO, ROO, ways=[CLOSED]))
def each_where_it_helps(runs: Runs) -> list[float]:
    """Return the share of workloads of each kind on which the half made for it has more IOPS."""
    woo, roo = gains(runs, WOO, iops), gains(runs, ROO, iops)
    return [
        100 * fmean(one[name] > other[name] for name in names if name in woo)
        for one, other, names in ((woo, roo, WRITING), (roo, woo, READING))
    ]


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
