"""The runs of DLV's claims: a scheduler that knows how long each page takes, twenty workloads.

The paper does not say how it issues the requests. Bandwidth can only grow if requests are kept
outstanding (``closed``). How often requests are reordered is a property of the workload only at its
own times (``open``). Changes of the response are found in both ways.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from ssdlab import api, traces
from ssdlab.plan import Plan
from ssdlab_reproduction.registry import Set
from ssdlab_reproduction.runs import Job, Jobs
from ssdlab_reproduction.scope import Scope

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
# NVMe's largest queue.
_NO_LIMIT = 65_535
_IN_ORDER = {"scheduler.dlv.reads": "fifo", "scheduler.dlv.writes": "fifo"}
COUNTS, WAITS = QUEUES = ("requests under way", "what waits")
"""The content of a queue."""

_CHANNELS = 4
CHIPS = (4, 8, 16, 32, 64, 128)
OWN_CHIPS = 16

BUFFERS = ("lru", "cflru", "lru_wsr", "ccf_lru", "pt_lru")
_BUFFER_SIZE = "50MB"

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

    At their own times, workloads run in full length. Without ``workloads``, all run; a quick ledger
    runs some.
    """

    def runs(scope: Scope) -> Jobs:
        return {
            (way, scheme, name): _plan(
                scope,
                way,
                scheme,
                name,
                _CUT if way == CLOSED else None,
                detail=name == "hm0" or (way, scheme) == (OPEN, BASE),
            )
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
    """Return DLV at the workloads' times with a queue of each length, in both meanings.

    One waiting request offers no choice: it is the baseline's order of arrival.
    """
    return {
        (queue, str(length), name): _plan(scope, OPEN, DLV, name, _SWEPT_CUT, set=settings)
        for length in (_QUICK_LENGTHS if scope.quick else LENGTHS)
        for queue, settings in {
            COUNTS: {"host.queue_depth": length},
            WAITS: {"host.queue_depth": _NO_LIMIT}
            | (_IN_ORDER if length == 1 else {"scheduler.dlv.window": length}),
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
        if not scope.quick or count <= OWN_CHIPS
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
